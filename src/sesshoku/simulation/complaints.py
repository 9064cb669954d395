"""What a user is told of a simulation: that it cannot start so, or why a step failed."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from sesshoku.errors import OpenLoop, SceneError, SimulationDiverged
from sesshoku.stages.deep_overlaps import deep_overlap
from sesshoku.stages.report import LIGHT

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation

OPEN_LOOP = 5e-3  # m: a smaller gap is closed without a word


def check_inertia(sim: Simulation) -> None:
    """Every joint must move some inertia, or its acceleration is not defined."""
    from sesshoku.dynamics.crba import mass_matrix
    from sesshoku.dynamics.factor import factorize

    if sim.model.dof_count == 0:
        return
    sim.refresh()
    mass_matrix(sim.model, sim.data, sim.data.mass_matrix)
    sim.data.implicit_diagonal[:] = 0.0
    factorize(sim.model, sim.data.mass_matrix, sim.data.implicit_diagonal, sim.data.factor,
              sim.data.factor_dinv)
    pivots = 1.0 / sim.data.factor_dinv
    diagonal = sim.data.mass_matrix[sim.model.dof_row[1:] - 1]
    bad = np.flatnonzero(~(pivots > 1e-13 * np.maximum(np.abs(diagonal), 1e-280)))
    if len(bad):
        link = sim.model.dof_link[bad[-1]]  # the factor runs from leaves to roots: the ones above only inherit it
        raise SceneError("nothing with inertia moves with the joint",
                         element=f"joint {sim.compiled.joint_names[link]!r}", value=float(pivots[bad[-1]]),
                         remedy="give the bodies below it mass and inertia, or the joint armature")


def tell_open_loops(sim: Simulation) -> None:
    """Warn of loops whose ends start apart: they will be moved together, and springs be stretched by it."""
    model, data = sim.model, sim.data
    for n, name in enumerate(sim.compiled.loop_names):
        ends = [model.loop_position[n, side] if link < 0 else data.tree_origin[model.link_tree[link]]
                + data.offset[link] + data.rotation[link] @ model.loop_position[n, side]
                for side, link in enumerate(model.loop_link[n].tolist())]
        gap = float(np.linalg.norm(ends[0] - ends[1]))
        if gap > OPEN_LOOP:
            warnings.warn(f"loop {name!r} starts open by {gap:.3g} m: its bodies are moved together, by up to "
                          "10 m/s; start in a pose in which it is closed (a keyframe of the file: pose=...)",
                          OpenLoop, stacklevel=5)


def diverged(sim: Simulation) -> SimulationDiverged:
    """The error of a step that failed: where, and what to try."""
    bad = np.flatnonzero(~(np.abs(sim.data.new_v) <= LIGHT))
    for name in ("friction_impulse", "limit_impulse", "mimic_impulse", "loop_impulse", "tendon_impulse"):
        getattr(sim.data, name)[:] = 0.0  # the failed solve's: no place for the next one to start from
    link = int(sim.model.dof_link[bad[0]]) if len(bad) else None
    body = None if link is None else sim.compiled.link_names[link]
    where = f" at body {body!r}" if body else ""
    turn = 0.0 if body is None else sim.dt * float(np.linalg.norm(sim.bodies[body].angular_velocity))
    if turn > 1.0:
        where += f", which turned by {turn:.3g} rad per step"
    return SimulationDiverged(
        f"the state stopped being one that can be (finite, slower than light) at t = {sim.time:.6g} s{where}; the last "
        "good state is kept. "
        f"Try a smaller dt (now {sim.dt:g} s), implicit springs and servos, or more armature.",
        time=sim.time, body=body)


def tell_deep_overlap(sim: Simulation) -> bool:
    """Say why steps do not converge, where bodies are too deep inside each other; whether it was said."""
    found = deep_overlap(sim.compiled, sim.work.contacts)
    if found is None:
        return False
    warnings.warn(f"method {sim.method.keyword!r}, at {sim.time:g} s: {found}", type(found), stacklevel=3)
    return True
