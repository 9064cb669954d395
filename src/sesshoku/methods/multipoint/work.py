"""Work space of `multipoint`. It keeps nothing from step to step: a step depends on the state alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.dynamics.data import row_total
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.minimum_norm import NormWork, make_norm_work
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem

DENSE_ROWS = 900  # most rows of an island whose matrix is formed
#: what a point or joint row is to the solve: taking part, removed because it pulled, at the bound of its friction, or
#: not to be touched in this step
IN, REMOVED, HELD, AWAY = range(4)


class Memory(Record):
    """C contacts, J joint rows, V dofs, T trees, R = 3 C + J rows, D rows of an island's matrix."""

    dense_rows = scalar()
    # ---- contacts
    law = array(int, 1)  # (C) Coulomb's cone, all of them
    mu = array(float, 1)  # (C) the coefficient in force
    slips = array(int, 1)  # (C) 1: kinetic friction in this step
    jammed = array(int, 1)  # (C) 1: sliding had no answer (Painlevé), taken as sticking
    tried = array(int, 1)  # (C) 1: was stopped in this step, and not again
    away = array(int, 1)  # (C) 1: would rebound when it arrives, which is not in this step
    speed = array(float, 1)  # (C) slip before the step, m/s
    against = array(float, 2)  # (C, 2) d: kinetic friction is -mu_k f_n d, along the tangential axes
    target = array(float, 2)  # (C, 3) velocity wanted after the step, along the axes
    impulse_world = array(float, 2)  # (C, 3)
    old_impulse = array(float, 2)  # (C, 3)
    # ---- an island: contacts 0 ... m - 1 with three rows each, then joint rows
    part = array(int, 1)  # (R) IN, REMOVED, HELD or AWAY, of contacts, then of joint rows
    matrix = array(float, 2)  # (D, D) M = J H^-1 J^T, joint rows scaled
    wanted = array(float, 1)  # (R) velocity change Delta a that the impulses must make
    impulse = array(float, 1)  # (R)
    scale = array(float, 1)  # (R) of joint rows: impulse = scale times the solve's
    rows = array(int, 1)  # (R) rows that take part
    keep = array(int, 1)  # (R)
    right = array(float, 1)  # (R)
    answer = array(float, 1)  # (R)
    reduced = array(float, 2)  # (D, D) the system with friction in it
    seen = array(int, 1)  # (D + 1) sets of points that were settled on
    image = array(float, 1)  # (R) conjugate gradients
    keep_push = array(float, 1)  # (C) normal impulses of the round before
    lines = array(float, 2)  # (3, V)
    # ---- work
    joint_list = array(int, 1)  # (J) joint rows, island by island
    joint_start = array(int, 1)  # (T + 2)
    dof_list = array(int, 2)  # (T, 2)
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)  # (V)


as_memory = viewer(Memory)


def make_memory(compiled: CompiledScene, contacts: Any) -> tuple[Problem, Memory, NormWork]:
    """The problem and the work space for as many contacts as `contacts` can hold."""
    m, C = compiled.model, contacts.capacity
    W, V, T = row_total(m), m.dof_count, m.tree_count
    R = 3 * C + W
    D = min(R, DENSE_ROWS)
    shapes = {"law": C, "mu": C, "slips": C, "jammed": C, "tried": C, "away": C, "speed": C, "against": (C, 2),
              "target": (C, 3), "impulse_world": (C, 3), "old_impulse": (C, 3), "part": R, "matrix": (D, D),
              "wanted": R, "impulse": R, "scale": R, "rows": R, "keep": R, "right": R, "answer": R, "reduced": (D, D),
              "seen": D + 1, "image": R, "keep_push": C, "lines": (3, V), "joint_list": W, "joint_start": T + 2,
              "dof_list": (T, 2), "y_before": V, "y_direction": V}
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["law"][:] = DISC
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1,
                           basis=int(m.cluster_start[-1, 1]))
    return problem, Memory(dense_rows=D, **arrays), make_norm_work(D)
