"""Impacts of lone bodies at the instant at which they touch: when that is, where, and the rows of that pose.

The equation of a step is that of its middle, but a body that hits another one there in passing would be pushed along a
normal, and with arms, that the two never had: angular momentum would be lost at first order. So the narrow phase is
asked again, with both shapes where free motion brings them, until the gap of the point is closed (Newton's method).

    E = R_s R_M^T       the turn of a body from the middle to the instant s, by `rotor`
    row                 (n, E^T (arm x n)): force along the normal of the instant, torque in the axes of the middle, in
                        which the inertia is known. G and the speed of approach are those of the instant then
The impulse acts on positions from s on (`impact_longer`), which is where r(s) + arm is one point for both bodies: their
angular momenta change by opposite amounts. A side may be a lone free body, the world or a scripted body; impacts on
links of mechanisms stay in the middle.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS, OVERFLOW
from sesshoku.collision.points.bundles import load_bundle
from sesshoku.collision.points.detect import tangents
from sesshoku.collision.points.fields import collide_field
from sesshoku.collision.points.narrow import collide_shapes
from sesshoku.compiled.jit import jit
from sesshoku.integrate.midpoint import script_lead
from sesshoku.integrate.rotor import rotor
from sesshoku.methods.exact.free_islands import comes_alone, contact_is_free
from sesshoku.methods.exact.spin import turn, turn_back, turn_from_middle
from sesshoku.methods.exact.work import FOUND, FREE_ISLANDS, IMPACTS
from sesshoku.model.arrays import SHAPE_FIELD
from sesshoku.solvers.problem import diagonal_block
from sesshoku.spatial.algebra import cross, turn_quaternion

# `met`: an impact with the geometry of the middle, or of its instant; it passes by, or arrives after the step
LANDS, MET, PASSES, COMES = 1, 2, 3, 4
NEVER = 1e300  # s
# m: a smaller gap counts as closed; the corners of a face that rests ask for the same then. If those that overlap asked
# for nothing and others to close what a step leaves open (dt^3 times a jerk), they would contradict each other, and
# the corners of a foot whose leg moves on would part and land in turns
TOUCHING = 1e-7
ROUNDS = 40  # of Newton's method for the instant; three or four are common
SETTLED = 1e-15  # of the step: the instant is known
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
def meet_impacts(model, data, work, dt):
    """Tell the impacts of the step, and give those of lone bodies the geometry and the rows of their instants.

    Needs `contact_rows` and `split_free`. Leaves `met` and `instant` of the contacts, and tree_instant: the first
    impact of a body. A problem that is built again in a step has the same impacts.
    """
    if work.impacts[FOUND] == 0:
        find_impacts(model, data, work, dt)
        work.impacts[FOUND] = 1
    if work.impacts[IMPACTS] == 0:
        return
    for t in range(model.tree_count):
        if work.tree_instant[t] < NEVER:
            frame_body(model, data, work, dt, t)
    for c in range(work.contacts.counts[CONTACTS]):
        if work.met[c] == MET:
            instant_rows(model, data, work, c)


@jit
def find_impacts(model, data, work, dt):
    """Which contacts are impacts, when, and the geometry of those of lone bodies."""
    contacts, problem = work.contacts, work.problem
    count, some = contacts.counts[CONTACTS], 0
    for c in range(count):
        work.met[c], work.later[c] = 0, 0.0
        if lands(work, dt, c):
            before, after = problem.velocity[c, 2], problem.free[c, 2]
            work.met[c], some = LANDS, some + 1
            work.instant[c] = closing_time(contacts.gap[c] - 0.5 * dt * before, before, (after - before) / dt, dt)
        elif comes(model, data, work, c):
            work.met[c] = COMES
    work.impacts[IMPACTS] = some
    if some == 0:
        return
    for t in range(model.tree_count):
        work.tree_instant[t] = NEVER
    for c in range(count):
        if work.met[c] == LANDS and comes_alone(model, data, work, c, 0) and comes_alone(model, data, work, c, 1):
            meet(model, data, work, dt, c)
            for side in range(2 if work.met[c] == MET else 0):
                if problem.body[c, side] >= 0:
                    t = model.link_tree[contacts.link[c, side]]
                    work.tree_instant[t] = min(work.tree_instant[t], work.instant[c])
    if work.impacts[FREE_ISLANDS] > 0:
        share_instants(model, data, work, dt)
    for t in range(model.tree_count):
        work.crowded[t] = 0
    for c in range(count):
        if work.met[c] <= LANDS and may_carry(work, dt, c):
            for side in range(2):
                if contacts.link[c, side] >= 0:
                    work.crowded[model.link_tree[contacts.link[c, side]]] = 1


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
def from_middle_to(model, data, work, dt, link, t):
    """Where the tree's origin is after t seconds of free motion, and the turn (quaternion) from the middle to there."""
    if link < 0:
        return (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
    tree = model.link_tree[link]
    o, h = data.tree_origin[tree], t - 0.5 * dt
    if work.tree_lone[tree] == 0:
        w = data.velocity[link]
        return ((o[0] + h * w[0], o[1] + h * w[1], o[2] + h * w[2]),
                turn_quaternion(h * w[3], h * w[4], h * w[5]))
    k, v, new_v, fall = model.link_dof[link], data.v, data.new_v, 0.5 * t * t / dt
    x = o[0] + h * v[k] + fall * (new_v[k] - v[k])
    y = o[1] + h * v[k + 1] + fall * (new_v[k + 1] - v[k + 1])
    z = o[2] + h * v[k + 2] + fall * (new_v[k + 2] - v[k + 2])
    _, _, _, dw, dx, dy, dz = rotor(data.inertia[link], v[k + 3], v[k + 4], v[k + 5], t)
    return (x, y, z), turn_from_middle(model, data, tree, dt, (dw, dx, dy, dz))


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
        if away and t >= dt:
            work.met[c] = PASSES
            return
        if away:
            low = t
        else:
            high = t
        speed = closing_speed(model, data, work, dt, c, t) if found else 0.0
        following = t - gap / speed if speed < 0.0 else NEVER
        if not low <= following <= min(high, dt):  # it turns on the way: look at the end, then halve
            following = dt if away and high == NEVER else 0.5 * (low + min(high, dt)) if low > 0.0 else 0.0
        if abs(following - t) <= SETTLED * dt:
            break
        t = following
    work.met[c] = MET
    take_geometry(model, data, work, dt, c, t, found, gap)


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


@jit
def touch(model, data, work, dt, c, t):
    """Narrow phase of the shapes of contact c at instant t: whether there is a point, and its gap.

    work.touch: that point, the one nearest to the contact's, and the normal. Shapes are put back.
    """
    contacts = work.contacts
    a, b, left_out = contacts.shape[c, 0], contacts.shape[c, 1], contacts.counts[OVERFLOW]
    margin = work.options.margin + contacts.shape_reach[a] + contacts.shape_reach[b]
    for side in range(2):
        move_shape(model, data, work, dt, c, side, t)
    best, gap = NEVER, 0.0
    if model.shape_type[a] == SHAPE_FIELD or model.shape_type[b] == SHAPE_FIELD:
        first = model.shape_type[a] == SHAPE_FIELD
        field, other = (a, b) if first else (b, a)
        for k in range(collide_field(model, contacts, field, other, margin)):
            count = load_bundle(contacts, k, 1.0 if first else -1.0)
            best, gap = nearest_point(model, data, work, dt, c, t, count, best, gap)
    else:
        count = collide_shapes(model, contacts, a, b, margin)
        best, gap = nearest_point(model, data, work, dt, c, t, count, best, gap)
    for side in range(2):
        g, kept = contacts.shape[c, side], work.kept_pose[side]
        for d in range(3):
            contacts.shape_position[g, d] = kept[d, 3]
            for e in range(3):
                contacts.shape_rotation[g, d, e] = kept[d, e]
    contacts.counts[OVERFLOW] = left_out
    return best < NEVER, gap


@jit
def move_shape(model, data, work, dt, c, side, t):
    """Put a shape of contact c where free motion brings it at instant t; kept_pose keeps where it was."""
    contacts = work.contacts
    g, link, kept = contacts.shape[c, side], contacts.link[c, side], work.kept_pose[side]
    p, R = contacts.shape_position[g], contacts.shape_rotation[g]
    for d in range(3):
        kept[d, 3] = p[d]
        for e in range(3):
            kept[d, e] = R[d, e]
    if link < 0:
        return
    o = data.tree_origin[model.link_tree[link]]
    at, E = from_middle_to(model, data, work, dt, link, t)
    x, y, z = turn(E, p[0] - o[0], p[1] - o[1], p[2] - o[2])
    p[0], p[1], p[2] = at[0] + x, at[1] + y, at[2] + z
    for e in range(3):
        R[0, e], R[1, e], R[2, e] = turn(E, kept[0, e], kept[1, e], kept[2, e])


@jit
def nearest_point(model, data, work, dt, c, t, count, best, gap):
    """The manifold's point that moved least on either body since the middle, into work.touch if nearer than `best`.

    Returns the distance and the gap.
    """
    contacts = work.contacts
    n, here = contacts.manifold_normal, contacts.point[c]
    for k in range(count):
        p, least = contacts.manifold_point[k], NEVER
        for side in range(2):
            x, y, z = p[0], p[1], p[2]
            link = contacts.link[c, side]
            if link >= 0:
                o = data.tree_origin[model.link_tree[link]]
                at, E = from_middle_to(model, data, work, dt, link, t)
                x, y, z = turn_back(E, x - at[0], y - at[1], z - at[2])
                x, y, z = x + o[0], y + o[1], z + o[2]
            least = min(least, (x - here[0]) ** 2 + (y - here[1]) ** 2 + (z - here[2]) ** 2)
        if least < best:
            best, gap = least, contacts.manifold_gap[k]
            for d in range(3):
                work.touch[0, d], work.touch[1, d] = p[d], n[d]
    return best, gap


@jit
def closing_speed(model, data, work, dt, c, t):
    """Rate of the gap at work.touch at instant t, m/s."""
    p, n, speed = work.touch[0], work.touch[1], 0.0
    for side in range(2):
        x, y, z = speed_at(model, data, work, dt, work.contacts.link[c, side], t, (p[0], p[1], p[2]))
        sign = 1.0 if side else -1.0
        speed += sign * (n[0] * x + n[1] * y + n[2] * z)
    return speed


@jit
def speed_at(model, data, work, dt, link, t, p):
    """Velocity of a link's point p (world, at instant t), in free motion."""
    if link < 0:
        return 0.0, 0.0, 0.0
    tree = model.link_tree[link]
    o, _ = from_middle_to(model, data, work, dt, link, t)
    if work.tree_lone[tree] == 0:
        w = data.velocity[link]
        x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        return x + w[0], y + w[1], z + w[2]
    k, v, new_v, s = model.link_dof[link], data.v, data.new_v, t / dt
    x, y, z = cross(v[k + 3], v[k + 4], v[k + 5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
    return (x + v[k] + s * (new_v[k] - v[k]), y + v[k + 1] + s * (new_v[k + 1] - v[k + 1]),
            z + v[k + 2] + s * (new_v[k + 2] - v[k + 2]))


@jit
def carried_point(model, data, work, dt, c, t):
    """The point of contact c, found in the middle, at instant t: midway between where both bodies bring it."""
    contacts = work.contacts
    p, x, y, z = contacts.point[c], 0.0, 0.0, 0.0
    for side in range(2):
        link = contacts.link[c, side]
        if link < 0:
            x, y, z = x + 0.5 * p[0], y + 0.5 * p[1], z + 0.5 * p[2]
            continue
        o = data.tree_origin[model.link_tree[link]]
        at, E = from_middle_to(model, data, work, dt, link, t)
        rx, ry, rz = turn(E, p[0] - o[0], p[1] - o[1], p[2] - o[2])
        x, y, z = x + 0.5 * (at[0] + rx), y + 0.5 * (at[1] + ry), z + 0.5 * (at[2] + rz)
    return x, y, z


@jit
def frame_body(model, data, work, dt, t):
    """E of lone tree t at its first impact, and its spin there, in the axes of the middle.

    Where other contacts carry it as well, it has the axes of the middle, and what gyroscopic torque does in the step is
    done before: all its rows act on one velocity.
    """
    i = model.tree_link[t]
    k, v, E = model.link_dof[i] + 3, data.v, work.frame[t]
    if work.crowded[t] == 1:
        E[0], E[1], E[2], E[3] = 1.0, 0.0, 0.0, 0.0
        for d in range(k, k + 3):
            work.instant_spin[d] = v[d] + work.gyration[d]
        return
    x, y, z, dw, dx, dy, dz = rotor(data.inertia[i], v[k], v[k + 1], v[k + 2], work.tree_instant[t])
    work.instant_spin[k], work.instant_spin[k + 1], work.instant_spin[k + 2] = x, y, z
    E[0], E[1], E[2], E[3] = turn_from_middle(model, data, t, dt, (dw, dx, dy, dz))


@jit
def instant_rows(model, data, work, c):
    """Rows and free velocity of impact c at its instant, in place of those of the middle."""
    contacts, problem = work.contacts, work.problem
    before, forced = problem.velocity[c], work.forced[c]
    for d in range(3):
        before[d] = forced[d] = 0.0
    for side in range(2):
        link, sign = contacts.link[c, side], 1.0 if side else -1.0
        if link < 0:
            continue
        if problem.body[c, side] >= 0:
            lone_side(model, data, work, c, side)
            continue
        o, p, w = data.tree_origin[model.link_tree[link]], contacts.point[c], data.velocity[link]
        x, y, z = cross(w[3], w[4], w[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
        lx, ly, lz = script_lead(model, data, link, p)
        x, y, z = x + w[0] + lx, y + w[1] + ly, z + w[2] + lz
        for d in range(3):
            axis = problem.axes[c, d]
            before[d] += sign * (axis[0] * x + axis[1] * y + axis[2] * z)
    for d in range(3):
        work.unaided[c, d] = problem.free[c, d] = before[d] + forced[d]
    diagonal_block(model.row_dof, problem, c)


@jit
def lone_side(model, data, work, c, side):
    """The share of a lone body: as `contact_rows.lone_body_rows`, with the torque of the instant."""
    contacts, problem = work.contacts, work.problem
    k, t, arm = problem.body[c, side], model.link_tree[contacts.link[c, side]], work.arm[c, side]
    E, sign = work.frame[t], 1.0 if side else -1.0
    five, four = data.factor[model.dof_row[k + 5] :], data.factor[model.dof_row[k + 4] :]
    s54, s53, s43 = five[4], five[3], four[3]
    old, new, root = data.v[k : k + 6], data.new_v[k : k + 6], problem.root_dinv[k : k + 6]
    spin, gyration = work.instant_spin[k : k + 6], work.gyration[k : k + 6]
    at = problem.span[c, side, 2]
    rows = problem.half[at : at + 18]
    for d in range(3):
        axis = problem.axes[c, d]
        fx, fy, fz = sign * axis[0], sign * axis[1], sign * axis[2]
        x, y, z = cross(arm[0], arm[1], arm[2], fx, fy, fz)
        nx, ny, nz = turn_back(E, x, y, z)
        problem.velocity[c, d] += (fx * old[0] + fy * old[1] + fz * old[2] + nx * spin[3] + ny * spin[4]
                                   + nz * spin[5])
        work.forced[c, d] += (
            fx * (new[0] - old[0]) + fy * (new[1] - old[1]) + fz * (new[2] - old[2])
            + nx * (new[3] - old[3] - gyration[3]) + ny * (new[4] - old[4] - gyration[4])
            + nz * (new[5] - old[5] - gyration[5]))
        ny -= s54 * nz
        nx -= s53 * nz + s43 * ny
        rows[6 * d], rows[6 * d + 1], rows[6 * d + 2] = root[0] * fx, root[1] * fy, root[2] * fz
        rows[6 * d + 3], rows[6 * d + 4], rows[6 * d + 5] = root[3] * nx, root[4] * ny, root[5] * nz
