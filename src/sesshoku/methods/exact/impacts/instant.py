"""Impacts of lone bodies at the instant at which they touch: when that is, and where.

The equation of a step is that of its middle, but a body that hits another one there in passing would be pushed along a
normal, and with arms, that the two never had: angular momentum would be lost at first order. So the narrow phase is
asked again, with both shapes where free motion brings them, until the gap of the point is closed (Newton's method).

A side may be a lone free body, the world or a scripted body; impacts on links of mechanisms stay in the middle.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.points.detect import tangents
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.impacts.flight import carried_point, closing_speed, from_middle_to, touch
from sesshoku.methods.exact.impacts.until import expect_support
from sesshoku.methods.exact.momenta.free_islands import NOBODY, SEVERAL, comes_alone, contact_is_free, tree_of
from sesshoku.methods.exact.work import FREE_ISLANDS, IMPACTS, NEVER
from sesshoku.solvers.problem import read_normal

# `met`: an impact with the geometry of the middle, or of its instant; it passes by, or arrives after the step
LANDS, MET, PASSES, COMES = 1, 2, 3, 4
# m: a smaller gap counts as closed; the corners of a face that rests ask for the same then. If those that overlap asked
# for nothing and others to close what a step leaves open (dt^3 times a jerk), they would contradict each other, and
# the corners of a foot whose leg moves on would part and land in turns
TOUCHING = 1e-7
BESIDE = 1e-6  # m: bodies so near each other touch
ROUNDS = 40  # of Newton's method for the instant; three or four are common
SETTLED = 1e-15  # of the step: the instant is known
# ends of an edge that comes down level touch at one instant: those that differ by so much of the step, or, if they are
# slow, by the time for LEVEL (m), up to more of it
TOGETHER, NEARLY_TOGETHER, LEVEL = 1e-6, 1e-3, 1e-9
CLOSED = 1e-15  # of the pair's size: the gap is closed


@jit
def lands(work, dt, c):
    """Whether contact c, found in the middle of the step, is an impact in it.

    It was not loaded, or parted in a rebound, and closes within the step. Without restitution what comes no faster than
    a step's forces make it is no impact, unless it is through in the middle of the step already (it was too far away to
    be found before): corners of a face that is pressed on would land in turns, and a grip creep.
    """
    contacts, problem = work.contacts, work.problem
    gap, before, old = contacts.gap[c], problem.velocity[c, 2], contacts.previous[c]
    if old >= 0 and work.old_parted[old] == 0:
        return False
    rate = (problem.free[c, 2] - before) / dt
    closes = gap + 0.5 * dt * before + 0.5 * dt * dt * rate < 0.0 and before + min(rate, 0.0) * dt < 0.0
    slow = contacts.material[c, 2] == 0.0 and before >= -abs(rate) * dt and gap >= -work.options.slop
    return closes and not slow


@jit
def comes(model, data, work, c):
    """Whether lone bodies are on their way to an impact after the step, which must not slow them down before.

    Slower ones are stopped as they arrive.
    """
    contacts, problem = work.contacts, work.problem
    old, before, after = contacts.previous[c], problem.velocity[c, 2], problem.free[c, 2]
    if contacts.gap[c] <= 0.0 or before >= -abs(after - before) or old >= 0 and work.old_parted[old] == 0:
        return False
    return comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1)


@jit
def closing_time(gap, speed, rate, dt):
    """(E26): first t in [0, dt] with gap + speed t + rate t^2/2 = 0; 0 where it is closed already."""
    if gap <= 0.0:
        return 0.0
    square = speed * speed - 2.0 * rate * gap
    if square < 0.0:
        return dt
    return min(dt, 2.0 * gap / max(sqrt(square) - speed, 1e-300))


@jit
def find_impacts(model, data, work, dt):
    """Which contacts are impacts, when, and the geometry of those of lone bodies."""
    contacts, problem = work.contacts, work.problem
    count, some, coming = contacts.counts[CONTACTS], 0, 0
    for c in range(count):
        work.met[c], work.later[c] = 0, 0.0
        if lands(work, dt, c):
            before, after = problem.velocity[c, 2], problem.free[c, 2]
            work.met[c], some = LANDS, some + 1
            work.instant[c] = closing_time(contacts.gap[c] - 0.5 * dt * before, before, (after - before) / dt, dt)
        elif comes(model, data, work, c):
            work.met[c], coming = COMES, coming + 1
    work.impacts[IMPACTS] = some
    if some + coming == 0:
        return
    for t in range(model.tree_count):
        work.tree_instant[t], work.tree_approach[t], work.tree_hit_by[t] = NEVER, NEVER, NOBODY
    carried = expect_support(model, data, work)
    for c in range(count if some > 0 else 0):
        if work.met[c] == LANDS and comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1):
            meet(model, data, work, dt, c)
            if work.met[c] == MET:
                meet_together(model, data, work, dt, c)
                time_bodies(model, data, work, dt, c)
    if some > 0 and work.impacts[FREE_ISLANDS] > 0:
        share_instants(model, data, work, dt)
    stop_before_others(model, work)
    if carried:
        wait_with_others(model, data, work, dt)
    for t in range(model.tree_count):
        work.crowded[t] = 0
    for c in range(count):
        if work.met[c] <= LANDS and may_carry(work, dt, c):
            for side in range(2):
                if contacts.link[c, side] >= 0:
                    work.crowded[model.link_tree[contacts.link[c, side]]] = 1


@jit
def time_bodies(model, data, work, dt, c):
    """tree_instant of the bodies of impact c, if it is the one that counts.

    In free islands that is the first; elsewhere the fastest. Points of a face that slaps down close at instants that
    differ by what the step leaves open, those nearest to what the body stands on first: they take none of the load.
    """
    contacts, problem, free = work.contacts, work.problem, contact_is_free(model, work, c)
    p, n = contacts.point[c], contacts.normal[c]
    speed = 0.0 if free else closing_speed(model, data, work, dt, c, work.instant[c], p, n)
    for side in range(2):
        if problem.body[c, side] >= 0:
            t, other = model.link_tree[contacts.link[c, side]], tree_of(model, contacts.link[c, 1 - side])
            by = work.tree_hit_by[t]
            work.tree_hit_by[t] = other if by == NOBODY or by == other else SEVERAL
            if free:
                work.tree_instant[t] = min(work.tree_instant[t], work.instant[c])
            elif work.tree_instant[t] == NEVER or speed < work.tree_approach[t]:
                work.tree_instant[t], work.tree_approach[t] = work.instant[c], speed


@jit
def stop_before_others(model, work):
    """Without restitution what comes to a body that touches a third one is no impact to wait for: stopped on its way.

    The third body would have to be hit in the same instant; its contact lasts, and acts from the middle of the step.
    """
    contacts, partner = work.contacts, work.tree_partner
    for t in range(model.tree_count):
        partner[t] = NOBODY
    for c in range(contacts.counts[CONTACTS]):
        old = contacts.previous[c]
        if work.met[c] == 0 and (contacts.gap[c] <= BESIDE or old >= 0 and work.old_parted[old] == 0):
            for side in range(2):
                link, other = contacts.link[c, side], tree_of(model, contacts.link[c, 1 - side])
                if link >= 0:
                    t = model.link_tree[link]
                    partner[t] = other if partner[t] == NOBODY or partner[t] == other else SEVERAL
    for c in range(contacts.counts[CONTACTS]):
        if work.met[c] == COMES and contacts.material[c, 2] == 0.0:
            for side in range(2):
                link, other = contacts.link[c, side], tree_of(model, contacts.link[c, 1 - side])
                if link >= 0:
                    has = partner[model.link_tree[link]]
                    if has != NOBODY and has != other:
                        work.met[c] = 0


@jit
def wait_with_others(model, data, work, dt):
    """Slow points of a face that turns about what carries its body wait as its fast ones do (COMES), if still open.

    Stopped on their way, as slow ones are (`want_velocity`), they would carry the body before it slaps down.
    """
    contacts, problem = work.contacts, work.problem
    for t in range(model.tree_count):
        work.tree_waits[t] = 0
    for c in range(contacts.counts[CONTACTS]):
        for side in range(2 if work.met[c] == COMES and is_carried(model, work, c) else 0):
            if problem.body[c, side] >= 0:
                work.tree_waits[model.link_tree[contacts.link[c, side]]] = 1
    for c in range(contacts.counts[CONTACTS]):
        old, waits = contacts.previous[c], False
        if work.met[c] != 0 or contacts.gap[c] <= TOUCHING or old >= 0 and work.old_parted[old] == 0:
            continue
        for side in range(2):
            waits = waits or problem.body[c, side] >= 0 and work.tree_waits[
                model.link_tree[contacts.link[c, side]]] == 1
        if waits and comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1):
            made = read_normal(model.row_dof, problem, c, work.given_y)
            if contacts.gap[c] + 0.5 * dt * (problem.free[c, 2] + made) > 0.0:
                work.met[c] = COMES


@jit
def may_carry(work, dt, c):
    """Whether contact c, no impact or one of a mechanism, may be loaded in this step."""
    contacts, gap, old = work.contacts, work.contacts.gap[c], work.contacts.previous[c]
    if old >= 0 and work.old_parted[old] == 0 or gap <= TOUCHING:
        return True
    return contacts.material[c, 2] == 0.0 and work.problem.free[c, 2] + gap / dt < 0.0


@jit
def share_instants(model, data, work, dt):
    """In free islands impacts that share a body take the instant of the first of them.

    Between two of them the first impulse would have moved the bodies on: neither energy nor angular momentum would be
    kept to the digit. Those that are still open then (`later`, m) wait for what the first ones make of them.
    """
    contacts = work.contacts
    count, changed = contacts.counts[CONTACTS], True
    while changed:
        changed = False
        for c in range(count):
            if work.met[c] == MET and contact_is_free(model, work, c):
                a, b = model.link_tree[contacts.link[c, 0]], model.link_tree[contacts.link[c, 1]]
                first = min(work.tree_instant[a], work.tree_instant[b])
                changed = changed or work.tree_instant[a] != first or work.tree_instant[b] != first
                work.tree_instant[a] = work.tree_instant[b] = first
    for c in range(count):
        if work.met[c] == MET and contact_is_free(model, work, c):
            t = work.tree_instant[model.link_tree[contacts.link[c, 0]]]
            if t != work.instant[c]:
                found, gap = touch(model, data, work, dt, c, t)
                take_geometry(model, data, work, dt, c, t, found, gap)
                work.later[c] = gap if found and gap > TOUCHING else 0.0


@jit
def meet(model, data, work, dt, c):
    """Instant, point and normal of impact c, by Newton's method on the gap of its point; MET or PASSES.

    Where the narrow phase finds nothing there (a normal that turned over), the point goes along with the bodies.
    """
    contacts = work.contacts
    a, b = contacts.shape[c, 0], contacts.shape[c, 1]
    closed = CLOSED * (min(model.shape_radius[a], 1e3) + min(model.shape_radius[b], 1e3))
    t, low, high, found, gap = work.instant[c], 0.0, NEVER, False, 0.0
    for _ in range(ROUNDS):
        found, gap = touch(model, data, work, dt, c, t)
        if found and (abs(gap) <= closed or gap <= 0.0 and t <= 0.0):
            break
        away = not found or gap > 0.0
        if away and t >= dt:  # what carries a body may yield: it arrives all the same then (`late_impacts`)
            work.met[c] = COMES if is_carried(model, work, c) else PASSES
            return
        if away:
            low = t
        else:
            high = t
        speed = closing_speed(model, data, work, dt, c, t, work.touch[0], work.touch[1]) if found else 0.0
        following = t - gap / speed if speed < 0.0 else NEVER
        if not low <= following <= min(high, dt):  # it turns on the way: look at the end, then halve
            following = dt if away and high == NEVER else 0.5 * (low + min(high, dt)) if low > 0.0 else 0.0
        if abs(following - t) <= SETTLED * dt:
            break
        t = following
    work.met[c] = MET
    take_geometry(model, data, work, dt, c, t, found, gap)


@jit
def meet_together(model, data, work, dt, c):
    """Impact c takes the instant of an earlier one on the same body that rounding parts it from."""
    contacts, t = work.contacts, work.instant[c]
    speed = closing_speed(model, data, work, dt, c, t, contacts.point[c], contacts.normal[c])
    near = max(TOGETHER, min(LEVEL / max(-speed * dt, 1e-300), NEARLY_TOGETHER)) * dt
    for e in range(c):
        if work.met[e] == MET and t != work.instant[e] and abs(t - work.instant[e]) < near:
            if shares_link(contacts, c, e):
                found, gap = touch(model, data, work, dt, c, work.instant[e])
                take_geometry(model, data, work, dt, c, work.instant[e], found, gap)
                return


@jit
def shares_link(contacts, c, e):
    """Whether contacts c and e have a link in common that is not the world."""
    a, b = contacts.link[c, 0], contacts.link[c, 1]
    return a >= 0 and (a == contacts.link[e, 0] or a == contacts.link[e, 1]) or b >= 0 and (
        b == contacts.link[e, 0] or b == contacts.link[e, 1])


@jit
def is_carried(model, work, c):
    """Whether something carries a body of contact c until its impact."""
    for side in range(2):
        k = work.problem.body[c, side]
        for d in range(k, k + 6 if k >= 0 else k):
            if work.support[d] != 0.0:
                return True
    return False


@jit
def take_geometry(model, data, work, dt, c, t, found, gap):
    """Impact c takes place at instant t: point and normal of work.touch if there are any, gap, axes and arms."""
    contacts, axes = work.contacts, work.problem.axes[c]
    n, tangent, p, near = contacts.normal[c], contacts.tangent[c], contacts.point[c], work.touch
    work.instant[c] = t
    if found and near[1, 0] * n[0] + near[1, 1] * n[1] + near[1, 2] * n[2] > 0.0:
        contacts.gap[c] = gap
        for d in range(3):
            p[d], n[d] = near[0, d], near[1, d]
    else:
        p[0], p[1], p[2] = carried_point(model, data, work, dt, c, t)
    (tangent[0, 0], tangent[0, 1], tangent[0, 2], tangent[1, 0], tangent[1, 1],
     tangent[1, 2]) = tangents(n[0], n[1], n[2])
    for d in range(3):
        axes[0, d], axes[1, d], axes[2, d] = tangent[0, d], tangent[1, d], n[d]
    for side in range(2):
        o, _ = from_middle_to(model, data, work, dt, contacts.link[c, side], work.instant[c])
        for d in range(3):
            work.arm[c, side, d] = p[d] - o[d]
