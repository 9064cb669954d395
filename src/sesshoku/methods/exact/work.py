"""What `exact` keeps from step to step, and its work space."""

from __future__ import annotations

from dataclasses import replace

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import COUNTER, Record, array, part
from sesshoku.dynamics.data import row_total
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.exact.options import RELATIVE, Numbers, Options
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.proximal.work import NewtonNumbers, NewtonOptions, NewtonWork, make_newton_work, newton_numbers

FEW_STEPS, MORE_STEPS, COMPLIANT = 8, 60, 0.1  # of islands without solution


class Work(Record):
    """C contacts, E rolling blocks (C or none), J joint rows, V dofs, T trees."""

    options = part(Numbers)
    contacts = part(Contacts)
    problem = part(Problem)
    newton = part(NewtonWork)
    less_effort = part(NewtonNumbers)  # the solver's options for islands that were not solved for some steps,
    more_effort = part(NewtonNumbers)  # and for trying again
    # ---- contacts of this step
    law = array(int, "C")  # Coulomb's cone, all of them
    mu = array(float, "C")  # the coefficient in force
    slips = array(int, "C")  # 1: kinetic friction
    locked = array(int, "C")  # broke away in this step: stays kinetic; or was tried at rest already
    impact = array(float, "C", 6)  # of contacts that close in this step, see below
    free_normal = array(float, "C")  # normal velocity at the end without contacts, targets left aside
    unaided = array(float, "C", 3)  # velocity at the end without contacts, by the rows alone, along the axes
    forced = array(float, "C", 3)  # what forces change it by in the step; the rest is gyroscopic
    turn = array(float, "C", 3)  # what half a step of turning adds to the velocity, along the axes
    held = array(int, "C")  # 1: held open, would rebound if it arrived
    anchor = array(float, "C", 2, 3)  # where the links touched when the contact began to stick, in their frames
    anchored = array(int, "C")
    impulse_world = array(float, "C", 3)
    # ---- of the step before
    old_impulse = array(float, "C", 3, saved=True)  # world axes
    old_torque = array(float, "E", 3, saved=True)  # impulses of the rolling blocks, world axes
    old_slips = array(int, "C", saved=True, within=(0, 1))
    # 1: carries nothing into the next step, by no impulse or by a rebound
    old_parted = array(int, "C", saved=True, within=(0, 1))
    old_anchor = array(float, "C", 2, 3, saved=True)
    old_anchored = array(int, "C", saved=True, within=(0, 1))
    tree_jammed = array(int, "T", saved=True, within=(0, 1))  # in an island without solution
    tree_unsolved = array(int, "T", saved=True, within=COUNTER)  # steps in a row in which its island was not solved
    tree_failed = array(int, "T")  # 1: nor was it in this step
    # ---- joint friction, see `locks`
    tree_rubs = array(int, "T")  # 1: it has joints with friction
    tree_rows = array(int, "T", saved=True, within=COUNTER)  # steps for which friction of its joints will be rows
    tree_wait = array(int, "T", saved=True, within=COUNTER)  # how many that were when locks failed last
    tree_restless = array(int, "T", saved=True, within=COUNTER)  # steps in a row in which a joint of it went to and fro
    lock_free = array(float, "V")  # free velocity without friction of joints
    lock_diagonal = array(float, "V")  # implicit_diagonal without locks
    lock_switches = array(int, "V")  # how often a joint changed its state in this step
    lock_work = array(float, "V")
    # ---- work
    start_velocity = array(float, "C", 3)  # velocity of the contacts at the start, along the axes
    joint_locked = array(int, "J")
    joint_list = array(int, "J")  # joint rows, island by island
    joint_start = array(int, "T + 2")
    dof_list = array(int, "T", 2)
    block_list = array(int, "2 * E")  # an island's contacts, then its rolling blocks; none without those
    y_before = array(float, "V")
    y_direction = array(float, "V")
    shift = array(float, "V")  # displacement: impacts act from their own instant
    turned = array(float, "V")  # turns of lone bodies by that, along which their spin went after the solve
    gyration = array(float, "V")  # change of a lone body's spin by gyroscopic torque


# places in `impact`: when (s), velocity then, what free motion adds until the end, restitution; and of the velocity
# that the impulse makes the impact's part, and the part that carries load from then on
INSTANT, SPEED, GAINED, BOUNCE, TAKEN, SUPPORT = range(6)


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Contacts, the problem's rows and the solver's work space, for as many contacts as a scene may have."""
    m = compiled.model
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    C, W, V, T = contacts.capacity, row_total(m), m.dof_count, m.tree_count
    E = C if m.has_rolling else 0
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1, rolling=E > 0,
                           basis=int(m.cluster_start[-1, 1]))
    newton = NewtonOptions(tolerance=options.tolerance, cap=options.newton_cap, cap_many=options.newton_cap,
                           relative=RELATIVE)
    work = Work.sized({"C": C, "E": E, "J": W, "V": V, "T": T}, options=as_numbers(Numbers, options), contacts=contacts,
                      problem=problem, newton=make_newton_work(C + E, W, V, T, newton),
                      less_effort=small_budget(newton, FEW_STEPS), more_effort=small_budget(newton, MORE_STEPS))
    work.law[:] = DISC
    work.tree_rubs[m.link_tree[m.dof_link[m.rubbing_dofs]]] = 1
    return work


def small_budget(options: NewtonOptions, steps: int) -> NewtonNumbers:
    """The solver's options for an island that has no solution, it seems: few steps, from a compliant start."""
    return newton_numbers(replace(options, cap=min(options.cap, steps), sigma=COMPLIANT, rescue=0))
