"""Posing the problem of a step: axes, rows, wanted velocities, and the start of the solve."""

from __future__ import annotations

from math import floor

from sesshoku.collision.contacts import CONTACTS, SMOOTH
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import lead_scripts, script_lead
from sesshoku.methods.exact.impacts.instant import COMES, MET, PASSES, TOUCHING
from sesshoku.methods.exact.impacts.instant_rows import meet_impacts
from sesshoku.methods.exact.impacts.until import carry_until_impacts
from sesshoku.methods.exact.momenta.free_islands import contact_is_free, find_free_islands
from sesshoku.methods.exact.momenta.spin import split_free
from sesshoku.methods.exact.options import MIDPOINT
from sesshoku.methods.exact.points import note_points
from sesshoku.methods.exact.rate_terms import link_rates, measure_rates, turn_blocks, turn_contact, turn_loops
from sesshoku.methods.exact.work import BOUNCE, GAINED, GIVEN, IMPACTS, INSTANT, SPEED, SUPPORT, TAKEN
from sesshoku.solvers.problem import CHAIN, JOINT_ROWS, ROLLING, push_contact, read_normal
from sesshoku.stages.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.stages.joint_rows import joint_rows
from sesshoku.stages.rolling_rows import choose_rolling, rolling_rows

# m: as TOUCHING, for a contact that carried load in the step before; as its leg moves on its gap drifts by hundredths
# of a micrometre per step, and every time it was closed the corners would part and land in turns
CARRYING = 1e-6
ALONE = 1e-9  # impacts are alone where others make less of a velocity than this share of what its own impulse makes
BACKED = 0.5  # cosine between an impulse and what holds against it
NO_SIDE = -1  # ends a list of `list_sides`
EVEN, GRAIN = 1e-8, 2.0**-38  # m: gaps of a pair that differ by less count as the same; of other pairs by rounding
NOT_YET = 1e30  # free velocity of a contact that is to bounce but has not arrived


@jit
def frame_contacts(model, data, work, dt):
    """(E25): Axes (t1, t2, n) of every contact, and its velocity along them. Needs `link_velocities` of v.

    The midpoint rule's new velocity is that of the step's end, and so is that of scripted bodies here.
    """
    contacts, problem, options = work.contacts, work.problem, work.options
    if options.integrator == MIDPOINT:
        link_rates(model, data)
    for c in range(contacts.counts[CONTACTS]):
        axes, n, t = problem.axes[c], contacts.normal[c], contacts.tangent[c]
        vx, vy, vz = contact_velocity(model, data, contacts, c)
        for side in range(2):
            if options.integrator == MIDPOINT and contacts.link[c, side] >= 0:
                x, y, z = script_lead(model, data, contacts.link[c, side], contacts.point[c])
                sign = 1.0 if side else -1.0
                vx, vy, vz = vx + sign * x, vy + sign * y, vz + sign * z
        for a in range(3):
            axes[0, a], axes[1, a], axes[2, a] = t[0, a], t[1, a], n[a]
        for d in range(3):
            work.start_velocity[c, d] = axes[d, 0] * vx + axes[d, 1] * vy + axes[d, 2] * vz
        if options.integrator == MIDPOINT:
            measure_rates(model, data, work, dt, c)
    choose_rolling(model, data, contacts, problem)
    if options.integrator == MIDPOINT:
        turn_blocks(model, data, contacts, problem, dt)


@jit
def build_problem(model, data, work, dt):
    """(E25): rows, wanted velocities and start of every contact and joint row, at new_q, where contacts were found."""
    contacts, problem, options = work.contacts, work.problem, work.options
    start_problem(model, data, problem)
    for c in range(contacts.counts[CONTACTS]):
        for d in range(3):
            problem.velocity[c, d] = work.start_velocity[c, d]
    contact_rows(model, data, work, data.new_v)
    split_free(model, data, work)
    if options.integrator == MIDPOINT:
        find_free_islands(model, data, work)
        meet_impacts(model, data, work, dt)
        if work.impacts[IMPACTS] > 0:
            list_sides(model, work)
        carry_until_impacts(model, data, work, dt)
    note_points(model, data, work)
    rolling_rows(model, data, work, data.new_v)
    if options.integrator == MIDPOINT:
        turn_loops(model, data, dt)
        lead_scripts(model, data, 1.0)
    joint_rows(model, data, problem, data.new_q, data.new_v, dt, True)
    if options.integrator == MIDPOINT:
        lead_scripts(model, data, -1.0)
    for c in range(contacts.counts[CONTACTS]):
        impact = work.impact[c]
        for n in range(len(impact)):
            impact[n] = 0.0
        problem.correction[c], work.free_normal[c], work.held[c] = 0.0, problem.free[c, 2], 0
        if options.integrator == MIDPOINT:
            want_velocity(work, dt, c)
            lands = work.impact[c, SPEED] != 0.0
            if work.held[c] == 0 and (not lands or work.impact[c, BOUNCE] == 0.0 and on_tree(problem, c)):
                turn_contact(work, c)
        else:
            want_velocity_at_end(work, dt, c)
        start_contact(model, work, c)
        if options.anchor > 0.0:
            hold_anchor(model, data, work, options.anchor / dt, c)
    start_rolling(work)
    for j in range(problem.counts[JOINT_ROWS]):
        if work.tree_jammed[problem.joint_tree[j]]:
            problem.joint_impulse[j] = 0.0


@jit(into_callers=True)
def on_tree(problem, c):
    """Whether a side of contact c is a body that hangs on others."""
    return problem.body[c, 0] == CHAIN or problem.body[c, 1] == CHAIN


@jit
def want_velocity(work, dt, c):
    """(E29): Subtract the wanted normal velocity from the free one, for contacts found in the middle of the step.

    The target of an impact (`instant`) is what remains at the step's end of a ballistic rebound, forces acting on to
    the end. What gyroscopic torque does in the step counts as done before the impact: e = 1 then keeps the energy.
    Others may close half their gap (the next half step closes the rest: all of it would overlap by as much, and rattle
    on), or undo part of an overlap.
    """
    contacts, problem, options = work.contacts, work.problem, work.options
    free, gap, old, after = problem.free[c], even_gap(work, c), contacts.previous[c], problem.free[c, 2]
    fresh = old < 0 or work.old_parted[old] == 1
    touching = TOUCHING if fresh else CARRYING
    if work.met[c] == PASSES:
        free[2] = NOT_YET
    elif work.met[c] == COMES or work.later[c] > 0.0:
        free[2], work.held[c] = NOT_YET, 1
    elif work.met[c] > 0:
        t, impact = work.instant[c], work.impact[c]
        gained = work.forced[c, 2] * (1.0 - t / dt)
        speed = after - gained
        # what drives the bodies apart is left out: it may be the turning of a body that turns far in a step
        impact[INSTANT], impact[SPEED], impact[GAINED] = t, speed, min(gained, 0.0)
        impact[BOUNCE] = contacts.material[c, 2] if speed < -options.restitution_speed else 0.0
        set_rebound(work, c, 1.0)
    elif gap > TOUCHING and fresh and contacts.material[c, 2] > 0.0:
        free[2], work.held[c] = NOT_YET, 1  # `late_impacts` of solve.py looks whether it arrives all the same
    elif gap > touching:
        free[2] += gap / dt
    else:
        problem.correction[c] = correction_speed(work, dt, gap)
        free[2] -= problem.correction[c]


@jit
def even_gap(work, c):
    """The gap of contact c as it counts: the mean of those of its pair of shapes that differ from it by less than EVEN,
    open ones in whole multiples of GRAIN.

    Ends of an edge that comes down level ask for the same then. Rounding of their places, divided by the step, would be
    a speed that contacts elsewhere do not allow, and all of the load would go to one end.
    """
    contacts, total, found = work.contacts, 0.0, 0
    gap, shape, e = contacts.gap[c], contacts.shape, c
    while e > 0 and shape[e - 1, 0] == shape[c, 0] and shape[e - 1, 1] == shape[c, 1]:
        e -= 1
    while e < contacts.counts[CONTACTS] and shape[e, 0] == shape[c, 0] and shape[e, 1] == shape[c, 1]:
        if abs(contacts.gap[e] - gap) < EVEN and work.met[e] != MET:
            total, found = total + contacts.gap[e], found + 1
        e += 1
    gap = total / found if found > 1 else gap
    return GRAIN * floor(gap / GRAIN) if gap > TOUCHING else gap


@jit
def correction_speed(work, dt, gap):
    """(E29): Normal velocity that is asked for to undo an overlap, m/s."""
    options = work.options
    return min(options.correction * max(-gap - options.slop, 0.0) / dt, options.correction_speed)


@jit
def set_rebound(work, c, share):
    """(E7): Target of an impact with `share` of its restitution, and which of its impulse is impact, which support."""
    problem = work.problem
    impact = work.impact[c]
    speed, bounce = impact[SPEED], share * impact[BOUNCE]
    rebound = -bounce * speed + impact[GAINED]
    target = max(0.0, rebound)
    impact[TAKEN], impact[SUPPORT] = max(0.0, -(1.0 + bounce) * speed), target - rebound
    problem.free[c, 2] = work.free_normal[c] - target


@jit
def add_impact(model, work, c, y_out):
    """y += Z^T x of contact c if it is an impact."""
    problem = work.problem
    x, impact = problem.impulse[c], work.impact[c]
    if x[2] > 0.0 and (impact[TAKEN] > 0.0 or impact[SUPPORT] > 0.0):
        push_contact(model.row_dof, problem, c, x[0], x[1], x[2], y_out)


@jit
def impact_longer(model, work, dt, c, y):
    """(E27): How much longer than half a step the impulse of contact c acts on positions, s: 0 but for impacts.

    Only the share of it that its own approach speed explains is an impact; what carries load from then on acts through
    the rest of the step. y: of all impacts (`add_impact`). Where nothing but impacts moves the contact, what they make
    of each other counts; where others hold against them only what the impulse itself would make, since theirs are not
    shifted. A body with something at its back (`is_backed`) is not displaced, the one that hits it by all of it.
    """
    problem = work.problem
    t, taken, support = work.impact[c, INSTANT], work.impact[c, TAKEN], work.impact[c, SUPPORT]
    if work.met[c] == MET and problem.impulse[c, 2] > 0.0 and contact_is_free(model, work, c):
        return 0.5 * dt - t  # arms are those of t: all of the impulse acts then, or angular momentum would be lost
    if work.impacts[GIVEN] > 0 and work.given[c, 2] > 0.0:
        return -0.5 * work.instant[c]
    if not problem.impulse[c, 2] > 0.0 or taken <= 0.0 and support <= 0.0:
        return 0.0
    made, all_made = read_normal(model.row_dof, problem, c, y), read_normal(model.row_dof, problem, c, problem.y)
    own = problem.block[c, 2, 2] * problem.impulse[c, 2]
    if is_backed(model, work, c, 0) or is_backed(model, work, c, 1):
        made = 0.0
    elif not abs(all_made - made) <= ALONE * own:
        made = own
    whole = max(made, taken + support)  # others may carry part of both
    return taken / whole * (0.5 * dt - t) - support / whole * 0.5 * t


@jit
def is_backed(model, work, c, side):
    """Whether another contact holds the lone body on a side of impact c, without restitution, against its impulse.

    It passes the impact on in the same instant: what both do to the body cancels. Needs `list_sides`.
    """
    contacts, problem = work.contacts, work.problem
    if problem.body[c, side] < 0 or work.met[c] != MET or work.impact[c, BOUNCE] > 0.0:
        return False
    t, n = model.link_tree[contacts.link[c, side]], problem.axes[c, 2]
    if work.crowded[t] == 0:
        return False
    at = work.tree_side[t]
    while at >= 0:
        e, other = at // 2, at % 2
        at = work.next_side[e, other]
        if e != c and problem.impulse[e, 2] > 0.0 and work.met[e] != MET:
            m, sign = problem.axes[e, 2], 1.0 if other == side else -1.0
            if sign * (n[0] * m[0] + n[1] * m[1] + n[2] * m[2]) < -BACKED:
                return True
    return False


@jit
def list_sides(model, work):
    """Lists of the contacts of every tree: tree_side, the first one, and next_side; a side of c is 2 c + side."""
    contacts = work.contacts
    for t in range(model.tree_count):
        work.tree_side[t] = NO_SIDE
    for c in range(contacts.counts[CONTACTS] - 1, -1, -1):
        for side in range(2):
            if contacts.link[c, side] >= 0:
                t = model.link_tree[contacts.link[c, side]]
                work.next_side[c, side], work.tree_side[t] = work.tree_side[t], 2 * c + side


@jit
def want_velocity_at_end(work, dt, c):
    """(E29): the same for contacts found at the start of a semi-implicit step, which the new velocity moves all of."""
    contacts, problem, options = work.contacts, work.problem, work.options
    free, gap, before = problem.free[c], contacts.gap[c], problem.velocity[c, 2]
    bounce = contacts.material[c, 2]
    if before < -options.restitution_speed and bounce > 0.0:
        if gap > 0.0:
            free[2] = NOT_YET
        else:
            work.impact[c, SPEED], work.impact[c, BOUNCE] = before, bounce
            set_rebound(work, c, 1.0)
    elif gap > TOUCHING:
        free[2] += gap / dt
    else:
        problem.correction[c] = correction_speed(work, dt, gap)
        free[2] -= problem.correction[c]


@jit
def start_contact(model, work, c):
    """Begin with the last step's impulse of the same contact, and in its state; new contacts at zero, at rest.

    Impulses of a squeeze without solution are no start, they would grow from step to step; nor are those of a rebound.
    """
    contacts, problem = work.contacts, work.problem
    x, old = problem.impulse[c], contacts.previous[c]
    x[0] = x[1] = x[2] = 0.0
    work.slips[c] = work.locked[c] = 0
    if old >= 0:
        f, jammed = work.old_impulse[old], False
        for side in range(2):
            link = contacts.link[c, side]
            jammed = jammed or link >= 0 and work.tree_jammed[model.link_tree[link]] == 1
        if not jammed and work.old_parted[old] == 0:
            for d in range(3):
                axis = problem.axes[c, d]
                x[d] = axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2]
        work.slips[c] = work.old_slips[old]
        if work.impacts[GIVEN] > 0:
            for d in range(3):
                x[d] -= work.given[c, d]
    work.mu[c] = contacts.material[c, work.slips[c]]


@jit
def start_rolling(work):
    """(E9): The same for rolling blocks, which begin at zero where their contacts do."""
    contacts, problem = work.contacts, work.problem
    for n in range(problem.counts[ROLLING]):
        p = problem.rolling[n]
        c = p - problem.contact_capacity
        x, old = problem.impulse[p], contacts.previous[c]
        x[0] = x[1] = x[2] = 0.0
        if old >= 0 and problem.impulse[c, 2] > 0.0:
            f = work.old_torque[old]
            for d in range(3):
                axis = problem.axes[c, d]
                x[d] = axis[0] * f[0] + axis[1] * f[1] + axis[2] * f[2]


@jit
def hold_anchor(model, data, work, rate, c):
    """Ask a contact that has been sticking to undo its drift at `rate` (1/s) times the way from its anchor.

    An anchor is where both links touched when the contact began to stick. Not of round surfaces, which roll on.
    """
    contacts, problem = work.contacts, work.problem
    old = contacts.previous[c]
    work.anchored[c] = 0
    if old < 0 or work.old_anchored[old] == 0 or work.slips[c] == 1 or contacts.kind[c] == SMOOTH:
        return
    work.anchored[c] = 1
    x = y = z = 0.0
    for side in range(2):
        p, link, sign = work.old_anchor[old, side], contacts.link[c, side], 1.0 if side else -1.0
        for a in range(3):
            work.anchor[c, side, a] = p[a]
        if link < 0:
            x, y, z = x + sign * p[0], y + sign * p[1], z + sign * p[2]
            continue
        R, r, o = data.rotation[link], data.offset[link], data.tree_origin[model.link_tree[link]]
        x += sign * (o[0] + r[0] + R[0, 0] * p[0] + R[0, 1] * p[1] + R[0, 2] * p[2])
        y += sign * (o[1] + r[1] + R[1, 0] * p[0] + R[1, 1] * p[1] + R[1, 2] * p[2])
        z += sign * (o[2] + r[2] + R[2, 0] * p[0] + R[2, 1] * p[1] + R[2, 2] * p[2])
    for d in range(2):
        axis = problem.axes[c, d]
        problem.free[c, d] += rate * (axis[0] * x + axis[1] * y + axis[2] * z)


@jit
def keep_anchors(work):
    """Anchors for the next step: contacts that stick keep theirs, or set one where they are."""
    contacts, problem = work.contacts, work.problem
    for c in range(contacts.counts[CONTACTS]):
        sticks = problem.impulse[c, 2] > 0.0 and work.old_slips[c] == 0 and contacts.kind[c] != SMOOTH
        for side in range(2):
            for a in range(3):
                here = work.anchor[c, side, a] if work.anchored[c] else contacts.local[c, side, a]
                work.old_anchor[c, side, a] = here
        work.old_anchored[c] = 1 if sticks else 0
