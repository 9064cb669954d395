"""What `volume` keeps from step to step, and its work space."""

from __future__ import annotations

import numpy as np

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.overlap.overlaps import Overlaps, make_overlaps
from sesshoku.collision.overlap.polyhedra import Polyhedra, make_polyhedra
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.dynamics.data import row_total
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.volume.options import Numbers, Options
from sesshoku.model.arrays import MOVES, SHAPE_FIELD, Model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.cone_qp import ConeSpace, make_cone_space
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.simplex import SimplexSpace, make_simplex_space

DENSE = 180  # most unknowns of an island that is solved by dense matrices
DENSE_JOINTS = 240  # most joint rows of one
ROWS_PER_UNKNOWN = 6  # room for the rows of the cone
FREED, HELD, SLIDES = range(3)  # verdicts: no force, static friction, kinetic friction


# triangles of a height field that one shape, and all together, may overlap; those under the shape if they are fewer
ON_TERRAIN, ON_TERRAINS = 256, 1024


class Sparse(Record):
    """Of islands too large for dense matrices: V dofs, B trees, C overlaps, U unknowns (N of one overlap), M rows."""

    block_capacity = scalar()  # B
    info = array(int, 4)  # trees, numbers of the factor, rows
    block_start = array(int, "B")  # twice the first dof
    block_size = array(int, "B")  # twice the dofs
    dof_block = array(int, "V")
    dof_place = array(int, "V")
    touch = array(int, "B", "B")
    place = array(int, "B", "B")
    order = array(int, "B")
    degree = array(int, "B")
    done = array(int, "B")
    neighbour_start = array(int, "B + 1")
    neighbour = array(int, "pairs")
    arena = array(float, "arena")
    pivot = array(int, "2 * V")
    rhs = array(float, "2 * V")
    y = array(float, "V")
    eta = array(float, "V")
    y_step = array(float, "V")
    eta_step = array(float, "V")
    c1 = array(float, "V")
    g = array(float, "V")
    r1 = array(float, "V")
    r2 = array(float, "V")
    r3 = array(float, "U")
    h = array(float, "U")
    step = array(float, "U")
    slack = array(float, "M")
    dual = array(float, "M")
    slack_step = array(float, "M")
    dual_step = array(float, "M")
    correct = array(float, "M")
    weight = array(float, "C", 6, 6)  # W
    mean = array(float, "C")
    mean_normal = array(float, "C")
    first_row = array(int, "C + 1")
    moment = array(float, 6, 6)
    local = array(float, "N", "N")
    half_weight = array(float, 6, "N")
    small = array(float, 12)


class Work(Record):
    """C overlaps, W joint rows, V dofs, Q coordinates, T trees, K corners of all polygons, B columns, P edges of the
    pyramid; U unknowns and M rows of the cone of any island, D unknowns and J joint rows of a dense one.

    Wrenches and twists of an overlap are taken at its barycentre along (e1, e2, n): f1 f2 fn, then the torques.
    """

    options = part(Numbers)
    contacts = part(Contacts)
    polyhedra = part(Polyhedra)
    overlaps = part(Overlaps)
    problem = part(Problem)
    sparse = part(Sparse)
    cone = part(ConeSpace)
    simplex = part(SimplexSpace)
    dense = scalar()  # D
    row_capacity = scalar()
    joint_capacity = scalar()
    # ---- overlaps of this step
    wrench = array(float, "C", 6, saved=True)  # impulse on b, N s and N m s
    verdict = array(int, "C", saved=True, within=(FREED, SLIDES))  # FREED, HELD or SLIDES
    judged = array(int, "C")  # verdict of a round, not yet taken over
    moves = array(int, "C")  # 1: some corner slips before the step
    center = array(float, "C", 3, saved=True)  # barycentre, world: the polygon is about it
    corner_start = array(int, "C + 1")  # ranges of corner; a point contact has one, at its centre
    corner = array(float, "K + C", 2)  # (r1, r2)
    pull = array(float, "K + C", 6)  # wrench of a unit normal force with kinetic friction at a corner
    target = array(float, "C", 3)  # k times the depth moments, as (fn, t1, t2) of the normal error's gradient
    # ---- of the step before
    old_wrench = array(float, "C", 6, saved=True)
    old_v = array(float, "V", saved=True)  # velocities of joints with friction at the start of the step before
    # ---- islands
    block_list = array(int, "2 * C")  # blocks of three rows of an island
    alone = array(int, 1)  # a list of one overlap
    joint_list = array(int, "W")
    joint_start = array(int, "T + 2")
    dof_list = array(int, "T", 2)
    matrix = array(float, "D + J", "D + J")  # Delassus matrix of an island, joint rows last
    joint_matrix = array(float, "J", "J")
    joint_factor = array(float, "J", "J")
    joint_work = array(float, 8, "J")
    joint_state = array(int, 2, "J")
    joint_reach = array(float, "J", "D")  # rows of the clamped joints, whitened
    delassus = array(float, "D", "D")  # A: what contacts see, joints at work
    free = array(float, "6 * C")  # b
    gradient = array(float, "D", "D")  # Q A
    hessian = array(float, "D", "D")  # A Q A + regularisation
    linear = array(float, "linear")  # q
    ridge = array(float, "6 * C")  # the regularisation
    mixed = array(float, "D", "D")  # the Hessian in the unknowns that are solved for
    half_mixed = array(float, "D", "D")
    mixed_linear = array(float, "D")
    unknown = array(float, "U")
    unknown_start = array(int, "U + 1")  # by overlap of the island
    touching = array(int, "D // 6", "D // 6")  # whether overlaps of the island move each other
    impulse = array(float, "6 * C")  # wrenches of the island
    cone_row = array(float, "M", 6)
    cone_at = array(int, "M")
    cone_price = array(float, "M")
    # ---- friction programmes
    side = array(float, "P", 2)  # cosines and sines of the pyramid's edges
    column = array(float, "B", 6)
    cost = array(float, "B")
    weight = array(float, "B")
    load = array(float, 8)
    small = array(float, 2, 6)
    # ---- work
    y_before = array(float, "V")
    y_direction = array(float, "V")
    start_q = array(float, "Q")  # state at the start of a step in stages
    start_v = array(float, "V")


BLOCKS = 400  # most trees of an island in one factorisation
ARENA = 3_000_000  # most numbers of its factor


def overlap_capacity(model: Model) -> int:
    """How many overlaps to make room for: a third of what contact points would need, or every pair there is.

    And for moving shapes on terrain, which overlap it triangle by triangle.
    """
    pairs = len(model.allowed_pair) if model.pairs_listed else contact_capacity(model)
    moving = int(model.shape_filter[:, MOVES].sum())
    radii = model.shape_radius[(model.shape_filter[:, MOVES] == 1) & (model.shape_type != SHAPE_FIELD)]
    terrain = sum(min(2 * int(2.0 * r / x + 2.0) * int(2.0 * r / y + 2.0), ON_TERRAIN)
                  for x, y, _ in model.shape_size[model.shape_type == SHAPE_FIELD] for r in radii)
    return max(1, min(pairs, max(64, 8 * moving))) + min(terrain, ON_TERRAINS)


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Overlaps, rows and the solvers' work space, for as many overlaps as a scene may have."""
    m = compiled.model
    contacts = make_contacts(m, overlap_capacity(m), pair_capacity(m))
    polyhedra = make_polyhedra(m)
    overlaps = make_overlaps(contacts, polyhedra)
    C, W, V, T, K = contacts.capacity, row_total(m), m.dof_count, m.tree_count, overlaps.polygon_capacity
    D, J, P = min(6 * C, DENSE), min(W, DENSE_JOINTS), options.pyramid_sides
    R = max(ROWS_PER_UNKNOWN * D, 2 * polyhedra.most_faces + 34)  # the rows of any one overlap fit, however round
    M, U = max(R, K + 2 * C), max(D, 6 * C + K)
    B = max(2 * polyhedra.most_faces, 8) * P + 8  # a section has at most one corner per face of the two shapes
    problem = make_problem(2 * C, W, V, int(max(m.dof_depth, default=-1)) + 1, basis=int(m.cluster_start[-1, 1]))
    sizes = {"C": C, "W": W, "V": V, "T": T, "Q": m.coordinate_count, "K": K, "D": D, "J": J, "M": M, "U": U, "P": P,
             "B": B, "linear": max(D, 6 * C)}
    work = Work.sized(sizes, options=as_numbers(Numbers, options), contacts=contacts, polyhedra=polyhedra,
                      overlaps=overlaps, problem=problem, sparse=make_sparse(m, sizes, polyhedra.most_faces),
                      cone=make_cone_space(D, R, 6), simplex=make_simplex_space(B), dense=D, row_capacity=R,
                      joint_capacity=J)
    angle = 2.0 * np.pi * np.arange(P) / P
    work.side[:] = np.c_[np.cos(angle), np.sin(angle)]  # (27)
    return work


def make_sparse(model: Model, sizes: dict[str, int], most_faces: int) -> Sparse:
    """Work space of large islands; next to nothing where no island can be large."""
    C, V, B, U, M = sizes["C"], sizes["V"], min(model.tree_count, BLOCKS), sizes["U"], sizes["M"]
    arena, N = min(4 * V * V, ARENA), max(2 * most_faces, 8)
    if sizes["D"] >= 6 * C and sizes["W"] <= DENSE_JOINTS:
        V, B, U, M, C, arena, N = 1, 0, 0, 0, 0, 0, 0
    return Sparse.sized({"V": V, "B": B, "U": U, "M": M, "C": C, "N": N, "arena": arena, "pairs": B * B // 2 + 1},
                        block_capacity=B)
