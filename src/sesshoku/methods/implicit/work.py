"""What `implicit` keeps from step to step, and its work space."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer
from sesshoku.dynamics.assembly.work import Assembly, make_assembly
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.data import make_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.methods.implicit.elastic import elastic_tables
from sesshoku.methods.implicit.options import Options
from sesshoku.scene.compiler import CompiledScene

MOST_NUMBERS = 8_000_000  # in the coupling matrix and in the rows of handles: an island of 2,800 dofs, all coupled
RIGID = 1e7  # loops, mimics, limits and sticking joints: implicit laws so many times stiffer than what they hold

# places in `counts`
GROUPS, PAIRS, PORTS, UNSETTLED, COUPLING_OVERFLOW, PASSES, COUPLED = range(7)
# states of a joint's limit and of its Coulomb friction
LIMIT_OFF, LIMIT_ON = range(2)


class Memory(Record):
    """C contacts, L links, V dofs, T trees, N loops, M mimics, P = C + N + M pairs of moving links, R ports."""

    matrix_capacity = scalar()
    row_capacity = scalar()
    counts = array(int, 1)  # (8)
    # ---- elasticity (see `elastic`)
    shape_elastic = array(float, 2)  # (G, 2) stiffness, damping of a shape's material, -1: not given
    pair_elastic = array(float, 2)  # (rows of pair_key, 2)
    default_elastic = array(float, 1)  # (2)
    tree_mass = array(float, 1)  # (T) kg
    tree_inertia = array(float, 1)  # (T) kg m^2, a rough scale
    tree_looped = array(int, 1)  # (T) 1: a loop holds it
    damping_table = array(float, 1)  # (101)
    dof_inertia = array(float, 1)  # (V) diagonal of the mass matrix at the start
    # ---- contacts of this step
    elastic = array(float, 2)  # (C, 2) stiffness, damping
    before = array(float, 2)  # (C, 3) velocity of b relative to a at the start, world axes
    after = array(float, 2)  # (C, 3) at the end
    stretch = array(float, 2)  # (C, 3) from the point to its anchor along the surface, world axes
    on = array(int, 1)  # (C) 1: it pushes
    slides = array(int, 1)  # (C)
    damper = array(float, 1)  # (C) of sliding friction, N s/m
    normal = array(float, 1)  # (C) normal force of the last pass, N
    force = array(float, 2)  # (C, 3) on b, world axes
    pair = array(int, 1)  # (C) its pair of moving links, -1: one side is the world or a script
    # ---- of the step before
    old_stretch = array(float, 2)  # (C, 3) in the frame of link a
    old_on = array(int, 1)  # (C)
    old_count_on = array(int, 1)  # (1)
    # ---- joints
    limit_on = array(int, 2)  # (V, 2) lower, upper
    joint_slides = array(int, 1)  # (V)
    joint_tried = array(int, 1)  # (V) broke away in this step
    joint_damper = array(float, 1)  # (V)
    extra = array(float, 1)  # (V) what laws of joints add to the diagonal
    extra_force = array(float, 1)  # (V)
    none = array(float, 1)  # (V) zeros
    # ---- links
    stiff = array(float, 2)  # (L, 21) G of contacts with the world
    stiffened = array(int, 1)  # (L)
    push = array(float, 2)  # (L, 6) f* + G reference
    reference = array(float, 2)  # (L, 6) the acceleration (without gravity's part) at which velocities do not change
    bias = array(float, 2)  # (L, 6) v x* I v - external wrench
    total = array(float, 2)  # (L, 6) push and the wrenches of pairs
    # ---- groups: trees that touch, or that loops and mimics join
    tree_group = array(int, 1)  # (T)
    group_tree = array(int, 1)  # (T)
    group_tree_start = array(int, 1)  # (T + 1)
    group_contact = array(int, 1)  # (C)
    group_contact_start = array(int, 1)  # (T + 1)
    # ---- pairs of moving links: contacts between them, loops, mimics
    pair_link = array(int, 2)  # (P, 2) links; of mimics dofs
    pair_kind = array(int, 1)  # (P)
    pair_group = array(int, 1)  # (P)
    pair_port = array(int, 2)  # (P, 2)
    pair_aa = array(float, 2)  # (P, 36)
    pair_bb = array(float, 2)  # (P, 36)
    pair_ba = array(float, 2)  # (P, 36)
    pair_push = array(float, 3)  # (P, 2, 6) f* on a and on b
    pair_force = array(float, 3)  # (P, 2, 6)
    # ---- coupling
    link_port = array(int, 1)  # (L)
    dof_port = array(int, 1)  # (V)
    port = array(int, 2)  # (R, 6) tree, link or dof, size, first row in the tree, place of its rows, kind
    port_K = array(float, 2)  # (R, 36)
    port_x = array(float, 2)  # (R, 6)
    tree_rows = array(int, 1)  # (T)
    tree_size = array(int, 1)  # (T) unknowns
    tree_at = array(int, 1)  # (T) first unknown
    tree_first = array(int, 1)  # (T) first unknown it is coupled to
    tree_place = array(int, 1)  # (T) where its rows stand
    rows = array(float, 1)
    row_work = array(float, 1)
    matrix = array(float, 1)
    matrix_row = array(int, 1)  # (V + 1)
    unknown = array(float, 1)  # (V)
    loop_mark = array(int, 1)  # (N) pair of the loop, -1: joined to the world
    mimic_mark = array(int, 1)  # (M)
    work = array(float, 2)  # (8, 36)


as_memory = viewer(Memory)
CONTACT_PAIR, LOOP_PAIR, MIMIC_PAIR = range(3)


def make_memory(compiled: CompiledScene, contacts: Any, options: Options) -> tuple[Memory, Assembly]:
    """Work space for as many contacts as `contacts` can hold; room for another order of assembly where it is asked."""
    m, C = compiled.model, contacts.capacity
    L, V, T, N, M = m.link_count, m.dof_count, m.tree_count, m.loop_count, m.mimic_count
    P = C + N + M
    R = min(2 * P, L + V)
    links = np.diff(m.tree_link)
    dofs = np.diff(m.tree_dof)
    rows = int(min(MOST_NUMBERS, np.sum((6 * links + dofs) * dofs) + 36 * T + 36)) if P else 0
    numbers = int(min(MOST_NUMBERS, V * (V + 1) // 2 + V)) if P else 0
    shapes = {"counts": 8, "elastic": (C, 2), "before": (C, 3), "after": (C, 3), "stretch": (C, 3), "on": C,
              "slides": C, "damper": C, "normal": C, "force": (C, 3), "pair": C, "old_stretch": (C, 3), "old_on": C,
              "old_count_on": 1, "limit_on": (V, 2), "joint_slides": V, "joint_tried": V, "joint_damper": V,
              "extra": V, "extra_force": V, "none": V, "stiff": (L, 21), "stiffened": L, "push": (L, 6),
              "reference": (L, 6), "bias": (L, 6), "total": (L, 6), "tree_looped": T, "tree_group": T, "group_tree": T,
              "group_tree_start": T + 1, "group_contact": C, "group_contact_start": T + 1, "pair_link": (P, 2),
              "pair_kind": P, "pair_group": P, "pair_port": (P, 2), "pair_aa": (P, 36), "pair_bb": (P, 36),
              "pair_ba": (P, 36), "pair_push": (P, 2, 6), "pair_force": (P, 2, 6), "link_port": L, "dof_port": V,
              "port": (R, 6), "port_K": (R, 36), "port_x": (R, 6), "tree_rows": T, "tree_size": T, "tree_at": T,
              "tree_first": T, "tree_place": T, "rows": rows, "row_work": rows, "matrix": numbers,
              "matrix_row": V + 1, "unknown": V, "loop_mark": N, "mimic_mark": M, "work": (8, 36)}
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["tree_looped"][m.link_tree[m.loop_link[m.loop_link >= 0]]] = 1
    memory = Memory(matrix_capacity=numbers, row_capacity=rows, **inertia_scales(compiled), **arrays,
                    **elastic_tables(compiled, options.depth, options.damping_ratio))
    balanced = options.schedule == "balanced"
    spare = min(C + L, 2 * L + 64) if balanced else 0
    assembly = make_assembly(m, "balanced" if balanced else "leaves", spare_contacts=spare,
                             spare_pool=min(4_000_000, 36 * 64 * (spare + len(links)) + 36 * 16 * L) if balanced else 0)
    return memory, assembly


def inertia_scales(compiled: CompiledScene) -> dict[str, np.ndarray]:
    """dof_inertia and tree_inertia: how heavy joints and whole trees turn, at the start's pose."""
    m = compiled.model
    data = make_data(compiled)
    kinematics(m, data, data.q)
    mass_matrix(m, data, data.mass_matrix)
    diagonal = data.mass_matrix[m.dof_row[:-1] + m.dof_depth] if m.dof_count else np.zeros(0)
    turning = data.inertia[:, 4:7].sum(axis=1)
    trees = np.array([turning[a:b].sum() for a, b in zip(m.tree_link[:-1], m.tree_link[1:], strict=True)])
    return {"dof_inertia": diagonal, "tree_inertia": trees}
