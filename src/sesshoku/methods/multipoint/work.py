"""Work space of `multipoint`. It keeps nothing from step to step: a step depends on the state alone."""

from __future__ import annotations

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.dynamics.data import row_total
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.multipoint.options import Numbers, Options
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.minimum_norm import NormWork, make_norm_work
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem

DENSE_ROWS = 900  # most rows of an island whose matrix is formed
# the same where friction is cut after the solve, which conjugate gradients do as well: they take few steps in islands
# of loose bodies (a stack of ten boxes a sixth of the time), more where chains of joints are among them
LOOSE_ROWS, JOINED_ROWS = 100, 360
#: what a point or joint row is to the solve: taking part, removed because it pulled, at the bound of its friction, or
#: not to be touched in this step
IN, REMOVED, HELD, AWAY = range(4)


class Work(Record):
    """C contacts, J joint rows, V dofs, T trees, R = 3 C + J rows, D rows of an island's matrix."""

    options = part(Numbers)
    contacts = part(Contacts)
    problem = part(Problem)
    norm = part(NormWork)
    dense_rows = scalar()
    # ---- contacts
    law = array(int, "C")  # Coulomb's cone, all of them
    mu = array(float, "C")  # the coefficient in force
    slips = array(int, "C")  # 1: kinetic friction in this step
    jammed = array(int, "C")  # 1: sliding had no answer (Painlevé), taken as sticking
    tried = array(int, "C")  # 1: was stopped in this step, and not again
    away = array(int, "C")  # 1: would rebound when it arrives, which is not in this step
    speed = array(float, "C")  # slip before the step, m/s
    threshold = array(float, "C")  # epsilon, m/s: faster points slip
    share = array(float, "C")  # root of a sticking point's share in friction that is not determined
    against = array(float, "C", 2)  # d: kinetic friction is -mu_k f_n d, along the tangential axes
    new_against = array(float, "C", 2)
    target = array(float, "C", 3)  # velocity wanted after the step, along the axes
    impulse_world = array(float, "C", 3)
    old_impulse = array(float, "C", 3)
    # ---- an island: contacts 0 ... m - 1 with three rows each, then joint rows
    part = array(int, "R")  # IN, REMOVED, HELD or AWAY, of contacts, then of joint rows
    matrix = array(float, "D", "D")  # M = J H^-1 J^T, joint rows scaled
    wanted = array(float, "R")  # velocity change Delta a that the impulses must make
    impulse = array(float, "R")
    scale = array(float, "R")  # of joint rows: impulse = scale times the solve's
    turned = array(int, "J")  # of joint friction: how often it was stopped, because it pushed along the motion
    rows = array(int, "R")  # rows that take part
    keep = array(int, "R")
    right = array(float, "R")
    answer = array(float, "R")
    reduced = array(float, "D", "D")  # the system with friction in it
    seen = array(int, "D + 1")  # sets of points that were settled on
    image = array(float, "R")  # conjugate gradients
    keep_push = array(float, "C")  # normal impulses of the round before
    lines = array(float, 3, "V")
    # ---- work
    joint_list = array(int, "J")  # joint rows, island by island
    joint_start = array(int, "T + 2")
    dof_list = array(int, "T", 2)
    y_before = array(float, "V")
    y_direction = array(float, "V")




def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Contacts, the problem's rows and the solver's work space, for as many contacts as a scene may have."""
    m = compiled.model
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    C, W, V, T = contacts.capacity, row_total(m), m.dof_count, m.tree_count
    R = 3 * C + W
    D = min(R, DENSE_ROWS)
    if options.friction_coupling != "resolve":
        D = min(D, LOOSE_ROWS if m.link_count == m.tree_count and W == 0 else JOINED_ROWS)
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1, basis=int(m.cluster_start[-1, 1]))
    work = Work.sized({"C": C, "J": W, "V": V, "T": T, "R": R, "D": D}, options=as_numbers(Numbers, options),
                      contacts=contacts, problem=problem, norm=make_norm_work(D), dense_rows=D)
    work.law[:] = DISC
    return work
