"""Work space of `lcp`, and what it keeps from step to step."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.dynamics.data import row_total
from sesshoku.methods.lcp.options import DENSE, Options, parameters
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs_bodies import PACKED
from sesshoku.solvers.problem import Problem, make_problem

DENSE_ROWS = 1200  # most rows of an island whose matrix is formed


class Memory(Record):
    """What `lcp` keeps and works with: C contacts, J joint rows, V dofs, T trees, D rows of a dense matrix."""

    dense_rows = scalar()
    law = array(int, 1)  # (C)
    mu = array(float, 1)  # (C)
    impulse_world = array(float, 2)  # (C, 3) of this step, world axes: the next step's start
    old_impulse = array(float, 2)  # (C, 3)
    slip = array(float, 2)  # (C, 3) slip velocity at the start of this step, world axes
    old_slip = array(float, 2)  # (C, 3) and of the step before
    old_v = array(float, 1)  # (V) velocities of joints with friction at the start of the step before
    moved = array(float, 2)  # (C, 3) of the last sweep
    direction = array(float, 2)  # (C, 3) NNCG
    joint_moved = array(float, 1)  # (J)
    joint_direction = array(float, 1)
    pack = array(float, 2)  # (C, PACKED) rows of contacts between free bodies
    pack_dof = array(int, 2)  # (C, 2)
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)
    joint_list = array(int, 1)  # (J) joint rows, island by island
    joint_start = array(int, 1)  # (T + 2)
    dof_list = array(int, 2)  # (T, 2)
    matrix = array(float, 2)  # (D, D)
    row_impulse = array(float, 1)  # (D)
    row_velocity = array(float, 1)  # (D)
    row_law = array(int, 1)  # (D)
    row_mu = array(float, 1)  # (D)
    row_low = array(float, 1)  # (D)
    row_high = array(float, 1)  # (D)
    response = array(float, 2)  # (2, V)
    small = array(float, 2)  # (8, 8)


as_memory = viewer(Memory)


def make_memory(compiled: CompiledScene, contacts: Any, options: Options) -> tuple[Problem, Memory]:
    """The problem and the work space for as many contacts as `contacts` can hold."""
    m, C = compiled.model, contacts.capacity
    W, V, T = row_total(m), m.dof_count, m.tree_count
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1,
                           basis=int(m.cluster_start[-1, 1]))
    D = min(3 * C + W, DENSE_ROWS) if parameters(options)[DENSE] else 0
    shapes = {
        "law": C,
        "mu": C,
        "impulse_world": (C, 3),
        "old_impulse": (C, 3),
        "slip": (C, 3),
        "old_slip": (C, 3),
        "old_v": V,
        "moved": (C, 3),
        "direction": (C, 3),
        "joint_moved": W,
        "joint_direction": W,
        "pack": (C, PACKED),
        "pack_dof": (C, 2),
        "y_before": V,
        "y_direction": V,
        "joint_list": W,
        "joint_start": T + 2,
        "dof_list": (T, 2),
        "matrix": (D, D),
        "row_impulse": D,
        "row_velocity": D,
        "row_law": D,
        "row_mu": D,
        "row_low": D,
        "row_high": D,
        "response": (2, V),
        "small": (8, 8),
    }
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    return problem, Memory(dense_rows=D, **arrays)
