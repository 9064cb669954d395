"""What `exact` keeps from step to step, and its work space."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, viewer
from sesshoku.dynamics.data import row_total
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.proximal_work import NewtonWork, make_newton_work


class Memory(Record):
    """C contacts, J joint rows, V dofs, T trees."""

    # ---- contacts of this step
    law = array(int, 1)  # (C) Coulomb's cone, all of them
    mu = array(float, 1)  # (C) the coefficient in force
    slips = array(int, 1)  # (C) 1: kinetic friction
    locked = array(int, 1)  # (C) broke away in this step: stays kinetic; or was tried at rest already
    impact = array(float, 2)  # (C, 3) of contacts that close in this step: when (s); velocity the impact takes; support
    impulse_world = array(float, 2)  # (C, 3)
    # ---- of the step before
    old_impulse = array(float, 2)  # (C, 3) world axes
    old_slips = array(int, 1)  # (C)
    # ---- work
    joint_locked = array(int, 1)  # (J)
    joint_list = array(int, 1)  # (J) joint rows, island by island
    joint_start = array(int, 1)  # (T + 2)
    dof_list = array(int, 2)  # (T, 2)
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)  # (V)
    shift = array(float, 1)  # (V) displacement: impacts act from their own instant


as_memory = viewer(Memory)


def make_memory(compiled: CompiledScene, contacts: Any) -> tuple[Problem, Memory, NewtonWork]:
    """The problem and the work space for as many contacts as `contacts` can hold."""
    m, C = compiled.model, contacts.capacity
    W, V, T = row_total(m), m.dof_count, m.tree_count
    shapes = {"law": C, "mu": C, "slips": C, "locked": C, "impact": (C, 3), "impulse_world": (C, 3),
              "old_impulse": (C, 3), "old_slips": C, "joint_locked": W, "joint_list": W, "joint_start": T + 2,
              "dof_list": (T, 2), "y_before": V, "y_direction": V, "shift": V}
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["law"][:] = DISC
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1)
    return problem, Memory(**arrays), make_newton_work(C, W, V, T)
