"""What `exact` keeps from step to step, and its work space."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sesshoku.collision.contacts import Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.table import COUNTER, Record, array, part
from sesshoku.dynamics.data import row_total
from sesshoku.integrate.rk4 import TABLEAU
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.exact.options import RELATIVE, Numbers, Options
from sesshoku.model.arrays import FREE, Model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.proximal.work import NewtonNumbers, NewtonOptions, NewtonWork, make_newton_work, newton_numbers

FEW_STEPS, MORE_STEPS, COMPLIANT = 8, 60, 0.1  # of islands without solution


class Work(Record):
    """C contacts, E rolling blocks (C or none), J joint rows, V dofs, Q coordinates, L links, T trees."""

    options = part(Numbers)
    contacts = part(Contacts)
    problem = part(Problem)
    newton = part(NewtonWork)
    less_effort = part(NewtonNumbers)  # the solver's options for islands that were not solved for some steps,
    more_effort = part(NewtonNumbers)  # and for trying again
    careful = part(NewtonNumbers)  # for islands with restitution, whose errors add up to energy: no `pile_tolerance`
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
    met = array(int, "C")  # whether and how it is an impact, see `instant`
    instant = array(float, "C")  # s: when it closes; of impacts
    later = array(float, "C")  # m: gap of an impact at the instant of an earlier one that shares a body
    given = array(float, "C", 3)  # impulse until an impact, along the axes, see `until`
    given_y = array(float, "V")
    support = array(float, "V")  # what those of a whole step change velocities by
    given_energy = array(float, 1)
    arm = array(float, "C", 2, 3)  # of impacts of lone bodies: from their centres of mass to the point then, world
    longer = array(float, "C")  # s: how much longer than half a step the impulse acts
    held = array(int, "C")  # 1: held open, would rebound if it arrived
    anchor = array(float, "C", 2, 3)  # where the links touched when the contact began to stick, in their frames
    anchored = array(int, "C")
    impulse_world = array(float, "C", 3)
    eased = array(int, "C")  # steps for which the split of its load is left alone, see `resting`
    split = array(float, "C", 3)  # impulses of the smallest split, along the axes
    patch = array(int, "C")
    patch_next = array(int, "C")
    patch_first = array(int, "L")
    # ---- of the step before
    old_impulse = array(float, "C", 3, saved=True)  # world axes
    old_torque = array(float, "E", 3, saved=True)  # impulses of the rolling blocks, world axes
    old_slips = array(int, "C", saved=True, within=(0, 1))
    # 1: carries nothing into the next step, by no impulse or by a rebound
    old_parted = array(int, "C", saved=True, within=(0, 1))
    old_anchor = array(float, "C", 2, 3, saved=True)
    old_anchored = array(int, "C", saved=True, within=(0, 1))
    old_eased = array(int, "C", saved=True, within=COUNTER)
    tree_jammed = array(int, "T", saved=True, within=(0, 1))  # in an island without solution
    # steps in a row in which its island was not solved; negative: was solved without its depth corrections
    tree_unsolved = array(int, "T", saved=True, within=(-COUNTER[1], COUNTER[1]))
    tree_shaken = array(int, "T", saved=True, within=(0, 1))  # 1: there was an impact in its island
    tree_failed = array(int, "T")  # the same of this step: 1 not solved, 2 without corrections
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
    # ---- lone bodies, see `instant` and `momentum`
    tree_lone = array(int, "T")  # 1: a free body by itself, in no loop
    impacts = array(int, 5)  # counts, see below
    tree_instant = array(float, "T")  # s: of its impact, of several the first or the fastest, see `time_bodies`
    tree_approach = array(float, "T")  # m/s: how fast it comes there
    tree_hit_by = array(int, "T")  # what its impacts are with
    tree_partner = array(int, "T")  # what it touches, see `stop_before_others`
    tree_waits = array(int, "T")  # 1: something carries it, and an impact comes after the step
    tree_side = array(int, "T")  # its contacts as lists, see `list_sides`
    next_side = array(int, "C", 2)
    crowded = array(int, "T")  # 1: other contacts may carry it beside its impacts
    frame = array(float, "T", 4)  # quaternion: its turn from the middle to then
    instant_spin = array(float, "V")  # its spin then, axes of the middle
    touch = array(float, 2, 3)  # point and normal of a pair at some instant
    kept_pose = array(float, 2, 3, 4)  # of its shapes: rotation and position
    touched = array(int, "T")
    torque = array(float, "V")  # torque impulses of contacts, world axes
    hit_torque = array(float, "V")  # the same in the axes of the middle
    late = array(float, "V")
    spin_goal = array(float, "V")  # angular momentum about its centre of mass at the end, world axes
    fall = array(float, "T", 3)  # acceleration without contacts
    far = array(int, "T")  # 1: it turns too far in the step to have a middle
    island_bound = array(int, "T")  # see `free_islands`
    tree_floats = array(int, "T")  # 1: it hangs on a free joint, and no loop ties it to the world
    start_q = array(float, "Q")  # state at the start of the step, of floating islands
    start_v = array(float, "V")
    island_loaded = array(int, "T")  # 1: a floating one with contacts that carry load
    island_place = array(float, "T", 3)
    # ---- depth at the end of the step, see `settle`
    end_gap = array(float, "C")  # m
    push = array(float, "C")  # displacing impulses, kg m
    middle_q = array(float, "Q")
    island_enters = array(int, "T")  # 1: contacts may have gone in
    # ---- free motion at fourth order, see `smooth`
    tableau = array(float, 5, 5)
    smooth_q = array(float, "Q")  # state at the end if nothing touches
    smooth_v = array(float, "V")
    tree_rough = array(int, "T")  # 1: loops, mimics or friction of joints are in it
    tree_smooth = array(int, "T")  # 1: nothing touched it in this step
    part = array(float, 6)
    due = array(float, "T", 6)  # momentum and angular momentum of free islands without impulses
    sums = array(float, 6)
    island_inertia = array(float, 10)


# places in `impact`: when (s), velocity then, what free motion adds until the end, restitution; and of the velocity
# that the impulse makes the impact's part, and the part that carries load from then on
INSTANT, SPEED, GAINED, BOUNCE, TAKEN, SUPPORT = range(6)
# places in `impacts`: how many; islands of lone bodies alone; 1: they are found; contacts with given impulses; floating
# islands
IMPACTS, FREE_ISLANDS, FOUND, GIVEN, FLOATING_ISLANDS = range(5)
NEVER = 1e300  # s


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """Contacts, the problem's rows and the solver's work space, for as many contacts as a scene may have."""
    m = compiled.model
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    C, W, V, T = contacts.capacity, row_total(m), m.dof_count, m.tree_count
    E = C if m.has_rolling else 0
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1, rolling=E > 0,
                           basis=int(m.cluster_start[-1, 1]))
    newton = NewtonOptions(tolerance=options.tolerance, cap=options.newton_cap, cap_many=options.newton_cap,
                           relative=RELATIVE, moving=options.pile_tolerance)
    sizes = {"C": C, "E": E, "J": W, "V": V, "Q": m.coordinate_count, "L": m.link_count, "T": T}
    work = Work.sized(sizes, options=as_numbers(Numbers, options), contacts=contacts, problem=problem,
                      newton=make_newton_work(C + E, W, V, T, newton),
                      less_effort=small_budget(newton, FEW_STEPS), more_effort=small_budget(newton, MORE_STEPS),
                      careful=newton_numbers(replace(newton, moving=0.0)))
    work.law[:] = DISC
    work.tree_lone[:] = lone_bodies(m)
    work.newton.lone[m.tree_dof[:-1][single_bodies(m)]] = 1
    work.tree_floats[:] = floating_trees(m)
    work.tree_rubs[m.link_tree[m.dof_link[m.rubbing_dofs]]] = 1
    work.tree_rough[:] = rough_trees(m)
    work.tableau[:] = TABLEAU
    return work


def single_bodies(model: Model) -> np.ndarray:
    """True for trees of one free link."""
    alone: np.ndarray = (np.diff(model.tree_link) == 1) & (model.link_joint[model.tree_link[:-1]] == FREE)
    return alone


def lone_bodies(model: Model) -> np.ndarray:
    """1 for trees of one free link that no loop, mimic, tendon or armature takes hold of."""
    single = single_bodies(model)
    joined = np.bincount(model.tree_joined, minlength=model.tree_count)[model.tree_joined] > 1
    heavy = np.zeros(model.tree_count, bool)
    np.logical_or.at(heavy, model.link_tree[model.dof_link], model.dof_armature > 0.0)
    return (single & ~joined & ~heavy & ~pulled_trees(model)).astype(int)


def pulled_trees(model: Model) -> np.ndarray:
    """Whether a spatial tendon may move each tree as a whole: by its free joint."""
    pulled = np.zeros(model.tree_count, bool)
    links = model.dof_link[model.tendon_dof]
    pulled[model.link_tree[links[model.link_joint[links] == FREE]]] = True
    return pulled


def floating_trees(model: Model) -> np.ndarray:
    """1 for trees on a free joint without armature that no loop ties to the world or to a scripted body, and no tendon
    to anything else."""
    roots = model.tree_link[:-1]
    floats = (model.link_joint[roots] == FREE) & ~pulled_trees(model)
    for t in np.flatnonzero(floats):
        k = model.link_dof[roots[t]]
        floats[t] = not np.any(model.dof_armature[k : k + 6] > 0.0)
    for a, b in model.loop_link:
        for link, other in ((a, b), (b, a)):
            if link >= 0 and (other < 0 or model.link_joint[roots[model.link_tree[other]]] != FREE):
                floats[model.link_tree[link]] = False
    return floats.astype(int)


def rough_trees(model: Model) -> np.ndarray:
    """1 for trees whose joints have friction, or that loops join to others: their motion is not smooth by itself."""
    rough = np.bincount(model.tree_joined, minlength=model.tree_count)[model.tree_joined] > 1
    rough[model.link_tree[model.dof_link[model.rubbing_dofs]]] = True
    return rough.astype(int)


def small_budget(options: NewtonOptions, steps: int) -> NewtonNumbers:
    """The solver's options for an island that has no solution, it seems: few steps, from a compliant start."""
    return newton_numbers(replace(options, cap=min(options.cap, steps), sigma=COMPLIANT, rescue=0))
