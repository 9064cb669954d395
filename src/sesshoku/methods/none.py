"""`none`: motion without contact. Robots swing, tumble, rest on joint limits, close loops and follow servos.

Schemes (`integrator`):
    semi-implicit  (default) first order, symplectic; springs, dampers and servos implicit where they allow it; a lone
                   free body tumbles at second order, its energy and angular momentum kept to rounding
    euler          first order, explicit
    rk4, rkg       fourth order for smooth motion (classical, Gill); joint constraints act as one impulse per step,
                   spread evenly over it (position moves by half its velocity change), so motion with limits, friction
                   or loops is first order
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.errors import MethodError
from sesshoku.integrate import rk4, rkg
from sesshoku.integrate.fast_joints import FAST, RUNGE_KUTTA_FAST, find_fast
from sesshoku.integrate.position import move, move_kinematic
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.methods.registry import register
from sesshoku.model.arrays import as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.stages.free_motion import (
    EULER,
    EULER_SPIN,
    RUNGE_KUTTA,
    SEMI_IMPLICIT,
    SPIN,
    coast,
    finish,
    free_velocity,
    joint_space_inertia,
)
from sesshoku.stages.joint_constraints import constrain_joints

TABLEAUS = {"rk4": rk4.TABLEAU, "rkg": rkg.TABLEAU}
INTEGRATORS = ("semi-implicit", "euler", *TABLEAUS)


@dataclass(frozen=True)
class Options:
    """integrator: the scheme. tolerance: of the joint constraints, m/s or rad/s."""

    integrator: Literal["semi-implicit", "euler", "rk4", "rkg"] = "semi-implicit"
    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        if not isinstance(self.integrator, str) or self.integrator not in INTEGRATORS:
            raise MethodError("unknown integrator", element="method 'none'", value=self.integrator,
                              remedy=f"use one of {', '.join(INTEGRATORS)}")
        number = isinstance(self.tolerance, (int, float, np.number)) and not isinstance(self.tolerance, bool)
        if not number or not 0.0 < self.tolerance < 1.0:
            raise MethodError("tolerance must be a number between 0 and 1", element="method 'none'",
                              value=repr(self.tolerance) if self.tolerance is None else self.tolerance,
                              remedy="the default is 1e-10")


def parameters(options: Options) -> np.ndarray:
    """What compiled code takes of the options: scheme, tolerance, and the tableau (25)."""
    codes = {"semi-implicit": SEMI_IMPLICIT, "euler": EULER}
    tableau = TABLEAUS.get(options.integrator, np.zeros((5, 5)))
    return np.concatenate([[codes.get(options.integrator, RUNGE_KUTTA), options.tolerance], tableau.ravel()])


STATE: dict[str, tuple[str, ...]] = {}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Records beyond model and data: none."""
    return {}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: nothing but contact, which its name says."""
    return []


#: what the contract suite may hold the method to
GUARANTEES = {"books": lambda options: options.integrator not in TABLEAUS}

register(__name__)


@jit
def run(model_table, data_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data = as_model(model_table), as_data(data_table)
    for n in range(steps):
        if not step(model, data, options, dt):
            return n
    return steps


@jit
def step(model, data, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    scheme = options[0]
    if scheme == RUNGE_KUTTA:
        if find_fast(model, data, data.v, dt, RUNGE_KUTTA_FAST, False) == 0:
            smooth_motion(model, data, options, dt)
            constrain_end(model, data, options, dt)
            if find_fast(model, data, data.new_v, dt, RUNGE_KUTTA_FAST, False) == 0:
                return finish(model, data, scheme, dt)
            move_kinematic(model, data, -dt)
        scheme = SEMI_IMPLICIT  # joints turn too far for its stages
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    forces(model, data, dt if scheme == SEMI_IMPLICIT else 0.0)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN if scheme == SEMI_IMPLICIT else EULER_SPIN)
    if scheme == SEMI_IMPLICIT:
        coast(model, data, dt, FAST)
    constrain_joints(model, data, data.q, data.new_v, dt, options[1])
    return finish(model, data, scheme, dt)


@jit
def forces(model, data, implicit_dt):
    """Actuators, springs, external forces."""
    joint_forces(model, data, data.q, data.v, implicit_dt, 1.0)
    external_wrenches(model, data)


@jit
def smooth_motion(model, data, options, dt):
    """Runge-Kutta step of the motion without joint constraints, into new_q and new_v."""
    for k in range(model.dof_count):
        data.held_force[k] = 0.0  # no contacts: nothing is held
    runge_kutta(model, data, options[2:].reshape((5, 5)), dt, data.new_q, data.new_v)


@jit
def constrain_end(model, data, options, dt):
    """Joint constraints at the end of a Runge-Kutta step: v changes by their impulse, q by half a step of it."""
    if model.group_count == 0:
        constrain_joints(model, data, data.new_q, data.new_v, dt, options[1])  # clears the report
        return
    kinematics(model, data, data.new_q)
    link_velocities(model, data, data.new_v)
    for k in range(model.dof_count):
        data.implicit_diagonal[k] = 0.0
        data.rate_v[0, k] = -data.new_v[k]
    joint_space_inertia(model, data)
    constrain_joints(model, data, data.new_q, data.new_v, dt, options[1])
    for k in range(model.dof_count):
        data.rate_v[0, k] += data.new_v[k]
    move(model, data.new_q, data.rate_v[0], 0.5 * dt)


# ---- the same stages one by one, for `Simulation.profile` ----------------------------------------------------------


@jit
def stage_nothing(model, data, options, dt):
    """What a call of a stage costs."""


@jit
def stage_kinematics(model, data, options, dt):
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def stage_forces(model, data, options, dt):
    forces(model, data, dt if options[0] == SEMI_IMPLICIT else 0.0)


@jit
def stage_inertia(model, data, options, dt):
    joint_space_inertia(model, data)


@jit
def stage_free_velocity(model, data, options, dt):
    free_velocity(model, data, dt, SPIN if options[0] == SEMI_IMPLICIT else EULER_SPIN)
    if options[0] == SEMI_IMPLICIT:
        coast(model, data, dt, FAST)


@jit
def stage_constraints(model, data, options, dt):
    constrain_joints(model, data, data.q, data.new_v, dt, options[1])


@jit
def stage_finish(model, data, options, dt):
    finish(model, data, options[0], dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function (model, data, parameters, dt), in the order of `step`."""
    if options.integrator in TABLEAUS:
        return {"smooth motion": smooth_motion, "joint constraints": constrain_end, "take over": stage_finish}
    return {"kinematics": stage_kinematics, "forces": stage_forces, "mass matrix": stage_inertia,
            "free velocity": stage_free_velocity, "joint constraints": stage_constraints, "take over": stage_finish}
