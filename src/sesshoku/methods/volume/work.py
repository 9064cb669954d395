"""What `volume` keeps from step to step, and its work space."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.dynamics.data import row_total
from sesshoku.methods.volume.options import Options
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.cone_qp import ConeSpace, make_cone_space
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.simplex import SimplexSpace, make_simplex_space

DENSE = 180  # most unknowns of an island that is solved by dense matrices
DENSE_JOINTS = 240  # most joint rows of one
ROWS_PER_UNKNOWN = 6  # room for the rows of the cone
FREED, HELD, SLIDES = range(3)  # verdicts: no force, static friction, kinetic friction


class Memory(Record):
    """C overlaps, W joint rows, V dofs, T trees, K corners of all polygons, B columns; D unknowns and J joint rows of a
    dense island.

    Wrenches and twists of an overlap are taken at its barycentre along (e1, e2, n): f1 f2 fn, then the torques.
    """

    dense = scalar()  # D
    row_capacity = scalar()
    joint_capacity = scalar()
    # ---- overlaps of this step
    wrench = array(float, 2)  # (C, 6) impulse on b, N s and N m s
    verdict = array(int, 1)  # (C) FREED, HELD or SLIDES
    judged = array(int, 1)  # (C) verdict of a round, not yet taken over
    moves = array(int, 1)  # (C) 1: some corner slips before the step
    center = array(float, 2)  # (C, 3) barycentre, world: the polygon is about it
    corner_start = array(int, 1)  # (C + 1) ranges of corner; a point contact has one, at its centre
    corner = array(float, 2)  # (K + C, 2) (r1, r2)
    pull = array(float, 2)  # (K + C, 6) wrench of a unit normal force with kinetic friction at a corner
    target = array(float, 2)  # (C, 3) k times the depth moments, as (fn, t1, t2) of the normal error's gradient
    # ---- of the step before
    old_wrench = array(float, 2)  # (C, 6)
    old_v = array(float, 1)  # (V) velocities of joints with friction at the start of the step before
    # ---- islands
    block_list = array(int, 1)  # (2 C) blocks of three rows of an island
    alone = array(int, 1)  # (1) a list of one overlap
    joint_list = array(int, 1)  # (W)
    joint_start = array(int, 1)  # (T + 2)
    dof_list = array(int, 2)  # (T, 2)
    matrix = array(float, 2)  # (D + J, D + J) Delassus matrix of an island, joint rows last
    joint_matrix = array(float, 2)  # (J, J)
    joint_factor = array(float, 2)  # (J, J)
    joint_work = array(float, 2)  # (8, J)
    joint_state = array(int, 2)  # (2, J)
    joint_reach = array(float, 2)  # (J, D) rows of the clamped joints, whitened
    delassus = array(float, 2)  # (D, D) A: what contacts see, joints at work
    free = array(float, 1)  # (D) b
    gradient = array(float, 2)  # (D, D) Q A
    hessian = array(float, 2)  # (D, D) A Q A + regularisation
    linear = array(float, 1)  # (D) q
    ridge = array(float, 1)  # (D) the regularisation
    mixed = array(float, 2)  # (D, D) the Hessian in the unknowns that are solved for
    half_mixed = array(float, 2)  # (D, D)
    mixed_linear = array(float, 1)  # (D)
    unknown = array(float, 1)  # (D)
    unknown_start = array(int, 1)  # (D + 1) by overlap of the island
    touching = array(int, 2)  # (D / 6, D / 6) whether overlaps of the island move each other
    impulse = array(float, 1)  # (D) wrenches of the island
    cone_row = array(float, 2)  # (M, 6)
    cone_at = array(int, 1)  # (M)
    cone_price = array(float, 1)  # (M)
    # ---- friction programmes
    side = array(float, 2)  # (P, 2) cosines and sines of the pyramid's edges
    column = array(float, 2)  # (B, 6)
    cost = array(float, 1)  # (B)
    weight = array(float, 1)  # (B)
    load = array(float, 1)  # (8)
    small = array(float, 2)  # (2, 6)
    # ---- work
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)  # (V)
    start_q = array(float, 1)  # (coordinates) state at the start of a step in stages
    start_v = array(float, 1)  # (V)


as_memory = viewer(Memory)


class Sparse(Record):
    """Of islands too large for dense matrices: V dofs, B trees, C overlaps, U unknowns (N of one overlap), M rows."""

    block_capacity = scalar()  # B
    info = array(int, 1)  # (4) trees, numbers of the factor, rows
    block_start = array(int, 1)  # (B) twice the first dof
    block_size = array(int, 1)  # (B) twice the dofs
    dof_block = array(int, 1)  # (V)
    dof_place = array(int, 1)  # (V)
    touch = array(int, 2)  # (B, B)
    place = array(int, 2)  # (B, B)
    order = array(int, 1)  # (B)
    degree = array(int, 1)  # (B)
    done = array(int, 1)  # (B)
    neighbour_start = array(int, 1)  # (B + 1)
    neighbour = array(int, 1)
    arena = array(float, 1)
    pivot = array(int, 1)  # (2 V)
    rhs = array(float, 1)  # (2 V)
    y = array(float, 1)  # (V)
    eta = array(float, 1)  # (V)
    y_step = array(float, 1)  # (V)
    eta_step = array(float, 1)  # (V)
    c1 = array(float, 1)  # (V)
    g = array(float, 1)  # (V)
    r1 = array(float, 1)  # (V)
    r2 = array(float, 1)  # (V)
    r3 = array(float, 1)  # (U)
    h = array(float, 1)  # (U)
    step = array(float, 1)  # (U)
    slack = array(float, 1)  # (M)
    dual = array(float, 1)  # (M)
    slack_step = array(float, 1)  # (M)
    dual_step = array(float, 1)  # (M)
    correct = array(float, 1)  # (M)
    weight = array(float, 3)  # (C, 6, 6) W
    mean = array(float, 1)  # (C)
    mean_normal = array(float, 1)  # (C)
    first_row = array(int, 1)  # (C + 1)
    moment = array(float, 2)  # (6, 6)
    local = array(float, 2)  # (N, N)
    half_weight = array(float, 2)  # (6, N)
    small = array(float, 1)  # (12)


as_sparse = viewer(Sparse)
BLOCKS = 400  # most trees of an island in one factorisation
ARENA = 3_000_000  # most numbers of its factor


def make_sparse(compiled: CompiledScene, memory: Memory, contacts: Any, polyhedra: Any) -> Sparse:
    """Work space; next to nothing where no island can be large."""
    m, C = compiled.model, contacts.capacity
    large = memory.dense < 6 * C or row_total(m) > DENSE_JOINTS
    V, B, U, M = m.dof_count, min(m.tree_count, BLOCKS), len(memory.unknown), len(memory.cone_at)
    arena = min(4 * V * V, ARENA)
    N = max(2 * polyhedra.most_faces, 8)
    if not large:
        V, B, U, M, C, arena, N = 1, 0, 0, 0, 0, 0, 0
    shapes: dict[str, Any] = {
        "info": 4, "block_start": B, "block_size": B, "dof_block": V, "dof_place": V, "touch": (B, B), "place": (B, B),
        "order": B, "degree": B, "done": B, "neighbour_start": B + 1, "neighbour": B * B // 2 + 1, "arena": arena,
        "pivot": 2 * V, "rhs": 2 * V, "r3": U, "h": U, "step": U, "slack": M, "dual": M, "slack_step": M,
        "dual_step": M, "correct": M, "weight": (C, 6, 6), "mean": C, "mean_normal": C, "first_row": C + 1,
        "moment": (6, 6), "local": (N, N), "half_weight": (6, N), "small": 12,
    }
    shapes |= {name: V for name in Sparse.fields if name not in shapes and name != "block_capacity"}
    return Sparse(block_capacity=B, **{
        name: np.zeros(shape, dtype=np.int64 if Sparse.fields[name].dtype is int else np.float64)
        for name, shape in shapes.items()})


def make_memory(compiled: CompiledScene, contacts: Any, overlaps: Any, polyhedra: Any,
                options: Options) -> tuple[Problem, Memory, ConeSpace, SimplexSpace]:
    """Rows, memory and the solvers' work space for as many overlaps as `contacts` can hold."""
    m, C = compiled.model, contacts.capacity
    W, V, T, K = row_total(m), m.dof_count, m.tree_count, overlaps.polygon_capacity
    D, J, P = min(6 * C, DENSE), min(W, DENSE_JOINTS), options.pyramid_sides
    R = max(ROWS_PER_UNKNOWN * D, 2 * polyhedra.most_faces + 34)  # the rows of any one overlap fit, however round
    M, U = max(R, K + 2 * C), max(D, 6 * C + K)
    B = max(2 * polyhedra.most_faces, 8) * P + 8  # a section has at most one corner per face of the two shapes
    shapes: dict[str, Any] = {
        "wrench": (C, 6), "verdict": C, "judged": C, "moves": C, "center": (C, 3), "corner_start": C + 1,
        "corner": (K + C, 2), "pull": (K + C, 6), "target": (C, 3), "old_wrench": (C, 6), "old_v": V,
        "block_list": 2 * C, "alone": 1, "joint_list": W, "joint_start": T + 2, "dof_list": (T, 2),
        "matrix": (D + J, D + J), "joint_matrix": (J, J), "joint_factor": (J, J), "joint_work": (8, J),
        "joint_state": (2, J), "joint_reach": (J, D), "delassus": (D, D), "free": 6 * C, "gradient": (D, D),
        "hessian": (D, D), "linear": max(D, 6 * C), "ridge": 6 * C, "mixed": (D, D), "half_mixed": (D, D),
        "mixed_linear": D, "unknown": U, "unknown_start": U + 1, "impulse": 6 * C, "touching": (D // 6, D // 6),
        "cone_row": (M, 6), "cone_at": M, "cone_price": M, "side": (P, 2), "column": (B, 6), "cost": B, "weight": B,
        "load": 8,
        "small": (2, 6), "y_before": V, "y_direction": V, "start_q": m.coordinate_count, "start_v": V,
    }
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    angle = 2.0 * np.pi * np.arange(P) / P
    arrays["side"][:] = np.c_[np.cos(angle), np.sin(angle)]
    problem = make_problem(2 * C, W, V, int(max(m.dof_depth, default=-1)) + 1,
                           basis=int(m.cluster_start[-1, 1]))
    memory = Memory(dense=D, row_capacity=R, joint_capacity=J, **arrays)
    return problem, memory, make_cone_space(D, R, 6), make_simplex_space(B)
