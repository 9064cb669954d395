"""Options and work space of the proximal Newton method (newton.py)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sesshoku.compiled.table import Record, array, part, scalar
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.pgs_bodies import PACKED

AUTO, DUAL, PRIMAL, SWEEPS_FIRST = range(4)  # `form`: which linear system; SWEEPS_FIRST: NNCG, then some primal steps


@dataclass(frozen=True)
class NewtonOptions:
    """How hard to try. All budgets are counts, never times: a run repeats exactly."""

    tolerance: float = 1e-12  # m/s: the residual at which a solve ends (raised to the rounding floor)
    sigma: float = 1e-2  # first proximal parameter, as a share of each block's diagonal
    sigma_least: float = 1e-7
    shrink: float = 0.3  # of sigma after an outer pass that settled quickly
    inner: int = 8  # Newton steps per outer pass, of islands of up to `few` trees
    inner_many: int = 12  # and of larger ones
    outer: int = 200
    cap: int = 200  # Newton steps in all, of islands of up to `few` trees
    cap_many: int = 250
    few: int = 3  # trees; islands of more are many
    accept: float = 1e-8  # a residual that counts as solved where the cap was reached
    inner_accuracy: float = 0.01  # of an outer pass, as a share of the residual it began with
    form: int = AUTO
    most_flops: float = 2e6  # of one factorisation; dearer ones are not made
    rescue: int = 50  # sweeps with exact local solves where Newton failed
    relative: float = 0.0  # islands of many trees: a share of the first residual will do, up to a tenth of `accept`
    # piles
    crowd: int = 12  # trees; islands of more are solved to the following where that is above `tolerance`:
    moving: float = 0.0  # m/s: what is good enough in motion,
    share: float = 0.1  # if it is less than this share of the first residual: at rest that falls to rounding
    # large islands, see groups.py
    large: int = 250  # contacts above which an island of many trees is large
    quiet: float = 3e-4  # m/s: a start so good that sweeps are left out
    batch: int = 10  # sweeps between two looks at the residual
    batches: int = 12  # at most
    ahead: float = 6.0  # batches that sweeps may still need at their present rate; more: Newton
    rounds: int = 6  # over the groups
    group_flops: float = 3e5  # of one factorisation of a group; dearer ones are swept
    group_outer: int = 4  # passes of a group's visit
    group_inner: int = 8  # Newton steps of a pass
    group_cap: int = 20  # and of a visit
    group_accuracy: float = 0.1  # of a pass, as a share of the residual it began with


class NewtonNumbers(Record):
    """The same, for kernels to read."""

    tolerance = scalar(float)
    sigma = scalar(float)
    sigma_least = scalar(float)
    shrink = scalar(float)
    inner = scalar(int)
    inner_many = scalar(int)
    outer = scalar(int)
    cap = scalar(int)
    cap_many = scalar(int)
    few = scalar(int)
    accept = scalar(float)
    inner_accuracy = scalar(float)
    form = scalar(int)
    most_flops = scalar(float)
    rescue = scalar(int)
    relative = scalar(float)
    crowd = scalar(int)
    moving = scalar(float)
    share = scalar(float)
    large = scalar(int)
    quiet = scalar(float)
    batch = scalar(int)
    batches = scalar(int)
    ahead = scalar(float)
    rounds = scalar(int)
    group_flops = scalar(float)
    group_outer = scalar(int)
    group_inner = scalar(int)
    group_cap = scalar(int)
    group_accuracy = scalar(float)


def newton_numbers(options: NewtonOptions) -> NewtonNumbers:
    """What compiled code reads of the options."""
    return NewtonNumbers(**vars(options))


def group_numbers(options: NewtonOptions) -> NewtonNumbers:
    """The same for Newton's method of a group."""
    return newton_numbers(replace(options, outer=options.group_outer, inner=options.group_inner,
                                  inner_many=options.group_inner, cap=options.group_cap,
                                  inner_accuracy=options.group_accuracy))


class NewtonWork(Record):
    """C contacts and rolling blocks, W joints, N = 3 C + W rows, V dofs, T trees; B blocks, D dense rows."""

    options = part(NewtonNumbers)
    group_options = part(NewtonNumbers)
    dense_rows = scalar()  # D
    block_capacity = scalar()  # B
    info = array(int, 10)  # see the constants below
    # of the problem, by a method that knows it, see pairs.py; without that contacts go by their rows
    lone = array(int, "V")  # 1 at the first dof of lone free bodies
    lower = array(float, "V")  # theirs: s43, s53, s54 at the dofs of turning
    pointed = array(int, "C")  # 1: rows are those of a point between lone bodies, or one and the world
    arm = array(float, "C", 2, 3)  # of these: from the centres of mass to the point, world
    # rows of the island being solved, block by block (contacts, then their rolling blocks), then joint rows
    mu = array(float, "C")  # of rolling blocks: the rolling coefficient, m
    torsion = array(float, "C")  # torsional coefficient of rolling blocks, m
    owner = array(int, "C")  # of rolling blocks: the contact's number in the island
    scale = array(float, "C + W")  # g: largest diagonal entry of each block
    low = array(float, "W")
    high = array(float, "W")
    free = array(float, "N")  # velocity at zero impulse
    impulse = array(float, "N")
    kept = array(float, "N")  # the best so far
    center = array(float, "N")  # of the proximal term
    image = array(float, "N")  # impulses that belong to the velocities
    speed = array(float, "N")  # velocities
    change = array(float, "N")  # of the velocities along the Newton direction
    settled = array(float, "N")  # dual form: impulses whose velocities are `speed`
    step = array(float, "N")  # their Newton direction
    trial = array(float, "N")
    mismatch = array(float, "N")  # velocities of the images minus the velocities
    run = array(int, "C + 1")  # where ranges of contacts begin that belong to one pair
    state = array(int, "C + W")  # OPEN, STICK, SLIP
    slope = array(float, "C", 7)  # D of each block, see local.py
    # dofs
    y_image = array(float, "V")  # Z^T image
    y_gap = array(float, "V")  # y_image - y
    y_step = array(float, "V")  # Newton direction
    dof_block = array(int, "V")  # number of the tree within the island
    dof_place = array(int, "V")  # number of the dof within its tree
    # dual form
    matrix = array(float, "D", "D")  # Z Z^T of the island
    system = array(float, "D", "D")
    right = array(float, "D")
    active_row = array(int, "D")
    pivot = array(int, "pivots")  # (max(D, V))
    # primal form
    block_size = array(int, "B")
    block_dof = array(int, "B")  # first dof
    twists = array(int, "B")  # 1: it is kept in twists
    touch = array(int, "B", "B")
    place = array(int, "B", "B")
    order = array(int, "B")
    degree = array(int, "B")
    done = array(int, "B")
    neighbour_start = array(int, "B + 1")
    neighbour = array(int, "pairs")
    arena = array(float, "arena")
    small = array(float, "small")  # D Z of one contact along a chain
    side_rows = array(float, 36)  # rows of one contact over twists
    stiffness = array(float, 72)  # of a pair
    # groups of a large island; trees by their first dof
    best = array(float, "N")  # impulses
    y_rest = array(float, "V")  # what others do to a group's trees
    tree_first = array(int, "V")  # first dof of the tree
    parent = array(int, "V")  # another tree of the group, or itself
    member = array(int, "V")  # 1: a row of the group acts on it
    violation = array(float, "V")  # m/s: the largest of its group
    group = array(int, "C", 2)  # of a contact's sides
    taken = array(int, "C")
    group_contact = array(int, "C")
    group_joint = array(int, "W")
    group_dof = array(int, "T", 2)
    # sweeps (see pgs.solve_rows)
    law = array(int, "C")
    moved = array(float, "C", 3)
    direction = array(float, "C", 3)
    joint_moved = array(float, "W")
    joint_direction = array(float, "W")
    y_before = array(float, "V")
    y_direction = array(float, "V")
    pack = array(float, "C", PACKED)
    pack_dof = array(int, "C", 2)


# of `info`
NEWTON_STEPS, OUTER_PASSES, FORM_USED, SWEEPS_USED, TRIALS, FACTOR_SIZE, CONTACT_BLOCKS, SYMMETRIC, RUNS, \
    GROUPS_VISITED = range(10)
DENSE_ROWS = 240  # most rows of an island in dual form
BLOCKS = 400  # most trees of an island in primal form
ARENA = 400_000  # most numbers in a sparse factor: 3.2 MB


def make_newton_work(contacts: int, joint_rows: int, dofs: int, trees: int, options: NewtonOptions) -> NewtonWork:
    """Work space for islands of up to so many contacts (and rolling blocks), joint rows, dofs and trees."""
    C, W, V, B = contacts, joint_rows, dofs, min(trees, BLOCKS)
    D = min(3 * C + W, DENSE_ROWS)
    # a robot of many dofs is one dense block, however large
    sizes = {"C": C, "W": W, "N": 3 * C + W, "V": V, "D": D, "B": B, "T": trees, "pivots": max(D, V),
             "small": max(6 * V, 9), "pairs": min(B * (B - 1) // 2, ARENA // 72),
             "arena": min(dofs * dofs, ARENA) if trees <= BLOCKS else ARENA}
    work = NewtonWork.sized(sizes, options=newton_numbers(options),
                            group_options=group_numbers(options), dense_rows=D, block_capacity=B)
    work.law[:] = DISC
    return work
