"""What `implicit` keeps from step to step, and its work space."""

from __future__ import annotations

import numpy as np

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.dynamics.assembly.work import Assembly, make_assembly
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.data import make_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.errors import MethodError
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.implicit.elastic import elastic_tables
from sesshoku.methods.implicit.options import Numbers, Options
from sesshoku.model.arrays import Model
from sesshoku.scene.compiler import CompiledScene

MOST_NUMBERS = 8_000_000  # in the coupling matrix and in the rows of handles: an island of 2,800 dofs, all coupled
RIGID = 1e7  # loops, mimics, limits and sticking joints: implicit laws so many times stiffer than what they hold

# places in `counts`
GROUPS, PAIRS, PORTS, UNSETTLED, COUPLING_OVERFLOW, PASSES, COUPLED, LOOP_ROWS = range(8)
# states of a joint's limit and of its Coulomb friction
LIMIT_OFF, LIMIT_ON = range(2)


class Work(Record):
    """C contacts, L links, V dofs, T trees, G shapes, N loops, M mimics, P = C + N + M pairs of moving links, R ports.

    pairs: those with materials of their own; rows, numbers: room for the rows of handles and the coupling matrix.
    """

    options = part(Numbers)
    contacts = part(Contacts)
    assembly = part(Assembly)
    matrix_capacity = scalar()
    row_capacity = scalar()
    counts = array(int, 8)
    # ---- elasticity (see `elastic`)
    shape_elastic = array(float, "G", 2)  # stiffness, damping of a shape's material, -1: not given
    pair_elastic = array(float, "pairs", 2)
    default_elastic = array(float, 2)
    tree_mass = array(float, "T")  # kg
    tree_inertia = array(float, "T")  # kg m^2, a rough scale
    tree_looped = array(int, "T")  # 1: a loop holds it
    damping_table = array(float, 101)
    dof_inertia = array(float, "V")  # diagonal of the mass matrix at the start
    # ---- contacts of this step
    elastic = array(float, "C", 2)  # stiffness, damping
    before = array(float, "C", 3)  # velocity of b relative to a at the start, world axes
    drift = array(float, "C", 3)  # what the turning of its links takes off it where the point does not turn with them
    points = array(int, "C")  # contacts of its two links
    after = array(float, "C", 3)  # at the end
    offset = array(float, "C")  # m: of the depth, at which the spring is without load
    stretch = array(float, "C", 3)  # from the point to its anchor along the surface, world axes
    on = array(int, "C")  # 1: it pushes
    slides = array(int, "C")
    damper = array(float, "C")  # of sliding friction, N s/m
    normal = array(float, "C")  # normal force of the last pass, N
    force = array(float, "C", 3)  # on b, world axes
    pair = array(int, "C")  # its pair of moving links, -1: one side is the world or a script
    # ---- of the step before
    old_stretch = array(float, "C", 3, saved=True)  # in the frame of link a
    old_on = array(int, "C", saved=True, within=(0, 1))
    old_offset = array(float, "C", saved=True)
    old_count_on = array(int, 1)
    # ---- joints
    limit_on = array(int, "V", 2)  # lower, upper
    joint_slides = array(int, "V")
    joint_tried = array(int, "V")  # broke away in this step
    joint_damper = array(float, "V")
    extra = array(float, "V")  # what laws of joints add to the diagonal
    extra_force = array(float, "V")
    none = array(float, "V")  # zeros
    # ---- links
    stiff = array(float, "L", 21)  # G of contacts with the world
    stiffened = array(int, "L")
    push = array(float, "L", 6)  # f* + G reference
    reference = array(float, "L", 6)  # the acceleration (without gravity's part) at which velocities do not change
    rate = array(float, "L", 6)  # and what that of joints at rest is beyond it: J' v
    bias = array(float, "L", 6)  # v x* I v - external wrench
    total = array(float, "L", 6)  # push and the wrenches of pairs
    # ---- groups: trees that touch, or that loops and mimics join
    tree_group = array(int, "T")
    group_tree = array(int, "T")
    group_tree_start = array(int, "T + 1")
    group_contact = array(int, "C")
    group_contact_start = array(int, "T + 1")
    # ---- pairs of moving links: contacts between them, loops, mimics
    pair_link = array(int, "P", 2)  # links; of mimics dofs
    pair_kind = array(int, "P")
    pair_group = array(int, "P")
    pair_port = array(int, "P", 2)
    pair_aa = array(float, "P", 36)
    pair_bb = array(float, "P", 36)
    pair_ba = array(float, "P", 36)
    pair_push = array(float, "P", 2, 6)  # f* on a and on b
    pair_force = array(float, "P", 2, 6)
    # ---- coupling
    link_port = array(int, "L")
    dof_port = array(int, "V")
    port = array(int, "R", 6)  # tree, link or dof, size, first row in the tree, place of its rows, kind
    port_K = array(float, "R", 36)
    port_x = array(float, "R", 6)
    tree_rows = array(int, "T")
    tree_size = array(int, "T")  # unknowns
    tree_at = array(int, "T")  # first unknown
    tree_first = array(int, "T")  # first unknown it is coupled to
    tree_place = array(int, "T")  # where its rows stand
    rows = array(float, "rows")
    row_work = array(float, "rows")
    matrix = array(float, "numbers")
    matrix_row = array(int, "V + 1")
    unknown = array(float, "V")
    loop_mark = array(int, "N")  # pair of the loop, -1: joined to the world
    # ---- loops that are closed exactly (`loops`): rows of all of them
    loop_port = array(int, "N", 2)  # handles, -1: the world or a script
    loop_force = array(float, "N", 6)  # multipliers: on b along the rows
    loop_index = array(int, "6 * N")  # 6 n + d of a row
    loop_column = array(float, "6 * N", "V")
    loop_right = array(float, "6 * N")
    loop_scale = array(float, "6 * N")
    loop_order = array(int, "6 * N")
    loop_answer = array(float, "6 * N")
    loop_matrix = array(float, "6 * N", "6 * N")
    mimic_mark = array(int, "M")
    work = array(float, 8, 36)


CONTACT_PAIR, LOOP_PAIR, MIMIC_PAIR = range(3)


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Contacts and work space, for as many contacts as a scene may have; room for another order of assembly where it is
    asked."""
    m = compiled.model
    refuse_joined(m, options)
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    C = contacts.capacity
    L, V, T, N, M = m.link_count, m.dof_count, m.tree_count, m.loop_count, m.mimic_count
    P = C + N + M
    R = min(2 * P + N, L + V)
    links = np.diff(m.tree_link)
    dofs = np.diff(m.tree_dof)
    rows = int(min(MOST_NUMBERS, np.sum((6 * links + dofs) * dofs) + 36 * T + 36)) if P else 0
    numbers = int(min(MOST_NUMBERS, V * (V + 1) // 2 + V)) if P else 0
    balanced = options.schedule == "balanced"
    spare = min(C + L, 2 * L + 64) if balanced else 0
    assembly = make_assembly(m, "balanced" if balanced else "leaves", spare_contacts=spare,
                             spare_pool=min(4_000_000, 36 * 64 * (spare + len(links)) + 36 * 16 * L) if balanced else 0)
    work = Work.sized(
        {"C": C, "L": L, "V": V, "T": T, "N": N, "M": M, "P": P, "R": R, "rows": rows, "numbers": numbers},
        options=as_numbers(Numbers, options), contacts=contacts, assembly=assembly, matrix_capacity=numbers,
        row_capacity=rows, **inertia_scales(compiled),
        **elastic_tables(compiled, options.depth, options.damping_ratio))
    work.tree_looped[m.link_tree[m.loop_link[m.loop_link >= 0]]] = 1
    return work


def refuse_joined(model: Model, options: Options) -> None:
    """Options that cannot carry what joins links beside their joints are errors."""
    joined = bool(model.loop_count or model.mimic_count)
    if options.coupling == "frozen" and joined:
        raise MethodError("coupling 'frozen' cannot carry loops and mimics", element="method 'implicit'",
                          remedy="use coupling='assembled'")
    if options.integrator == "rk4" and (joined or len(model.limited_dofs) or len(model.rubbing_dofs)):
        raise MethodError("integrator 'rk4' cannot carry joint limits, joint friction, loops and mimics",
                          element="method 'implicit'", remedy="use integrator='implicit'")


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
