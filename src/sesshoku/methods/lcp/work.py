"""Work space of `lcp`, and what it keeps from step to step."""

from __future__ import annotations

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.dynamics.data import row_total
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.lcp.options import NO_MATRIX, Numbers, Options, matrix_by
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs_bodies import PACKED
from sesshoku.solvers.problem import Problem, make_problem

DENSE_ROWS = 1200  # most rows of an island whose matrix is formed


class Work(Record):
    """C contacts, J joint rows, V dofs, T trees, L links, D rows of a dense matrix and M contacts in it."""

    options = part(Numbers)
    contacts = part(Contacts)
    problem = part(Problem)
    matrix_by = scalar()  # how an island's matrix is formed, if at all (options.py)
    dense_rows = scalar()
    law = array(int, "C")
    mu = array(float, "C")
    impulse_world = array(float, "C", 3)  # of this step, world axes: the next step's start
    old_impulse = array(float, "C", 3, saved=True)
    slip = array(float, "C", 3, saved=True)  # slip velocity at the start of this step, world axes
    old_slip = array(float, "C", 3)  # and of the step before
    old_v = array(float, "V", saved=True)  # velocities of joints with friction at the start of the step before
    moved = array(float, "C", 3)  # of the last sweep
    direction = array(float, "C", 3)  # NNCG
    joint_moved = array(float, "J")
    joint_direction = array(float, "J")
    pack = array(float, "C", PACKED)  # rows of contacts between free bodies
    pack_dof = array(int, "C", 2)
    y_before = array(float, "V")
    y_direction = array(float, "V")
    joint_list = array(int, "J")  # joint rows, island by island
    joint_start = array(int, "T + 2")
    dof_list = array(int, "T", 2)
    matrix = array(float, "D", "D")
    row_impulse = array(float, "D")
    row_velocity = array(float, "D")
    row_law = array(int, "D")
    row_mu = array(float, "D")
    row_low = array(float, "D")
    row_high = array(float, "D")
    response = array(float, 2, "V")  # to the test force of a column, of its two sides
    link_response = array(float, "L", 6)  # accelerations by it
    answered = array(int, "L")  # the column they belong to
    unit = array(float, "M", 2, 3, 6)  # wrenches of unit test forces: contact, side, axis
    small = array(float, 8, 8)




def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Contacts, the problem's rows and the method's memory, for as many contacts as a scene may have."""
    m = compiled.model
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    C, W, V, T = contacts.capacity, row_total(m), m.dof_count, m.tree_count
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1, basis=int(m.cluster_start[-1, 1]))
    by = matrix_by(options)
    D = min(3 * C + W, DENSE_ROWS) if by != NO_MATRIX else 0
    return Work.sized({"C": C, "J": W, "V": V, "T": T, "L": m.link_count, "D": D, "M": D // 3 + 1},
                      options=as_numbers(Numbers, options), contacts=contacts, problem=problem, matrix_by=by,
                      dense_rows=D)
