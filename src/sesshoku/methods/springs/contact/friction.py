"""What contact springs push with: stiffness by the stated rule, normal force, friction (sections 5.5, 5.6).

The rule. Where neither material gives a stiffness, spring i between bodies with n springs on the busier one gets
    k = rate / (dt^2 n x s),     x = the largest eigenvalue of E/m - r* I^-1 r*, summed over both bodies,
s = sqrt 2 if forces move both, 1 otherwise. Gershgorin's bound on M^-1 K, spring by spring, then says that no mode of
the bodies is faster than omega^2 dt^2 = rate; with dampers c = damping_steps k dt symplectic Euler is stable as long
as rate (1 + 2 damping_steps) < 4, whatever touches whatever. Bodies with joints leave half of that to their joints.
Where a step is divided, dt is the whole of it: stiffer springs in its parts would give back more than they took.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.filter import find_pair
from sesshoku.compiled.jit import jit
from sesshoku.methods.springs.bodies import point_velocity, times_inertia
from sesshoku.methods.springs.joint.joints import anchor_distance, world_anchor
from sesshoku.methods.springs.joint.pulling import add_force, damped_velocity, touch_at
from sesshoku.methods.springs.options import (
    COUPLED,
    DRAG,
    ISOTROPIC,
    PER_AREA,
    WITH_CONSTRAINT,
)
from sesshoku.methods.springs.solve.descent import BOTH_WAYS, ONE_WAY
from sesshoku.methods.springs.solve.inertia import add_reply, opening, respond
from sesshoku.methods.springs.work import ALL, JOINT_SHARE, KINETIC, PRESSES, STATIC
from sesshoku.spatial.algebra import cross

NO_SLIDE = 1e-12  # m/s: no direction of sliding below it
BLOW = 3.0  # times the bound of static friction: asked for more, a contact slides within the step
RUBBING_SWEEPS = 5  # over the contacts, at most
RUBBED_ENOUGH = 0.01  # of its bound: friction that changes less is found


@jit
def stiffen_contacts(work):
    """Stiffness and damping of every contact spring in this step."""
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    P, count, dt = presses, presses.counts[PRESSES], work.bodies.step[0]
    load = bodies.contact_springs
    for b in range(springs.body_count):
        load[b] = 0
    for c in range(count):
        load[springs.body[P.first + c, 0]] += 1
        load[springs.body[P.first + c, 1]] += 1
    for c in range(count):
        s = P.first + c
        k, d = given_stiffness(work, c)
        if k < 0.0:
            n, inverse, moved, share = 1, 0.0, 0, 1.0
            for side in range(2):
                b = springs.body[s, side]
                if bodies.inverse_mass[b] > 0.0:
                    n = max(n, load[b])
                    inverse += largest_inverse_mass(bodies, b, springs.local[s, side])
                    moved += 1
                    if bodies.joint_springs[b] > 0:
                        share = 1.0 - JOINT_SHARE
            k = share * options.rate / (dt * dt * n * inverse * (sqrt(2.0) if moved == 2 else 1.0))
        P.stiffness[c] = k
        P.damping[c] = d if d >= 0.0 else options.damping_steps * k * dt


@jit
def given_stiffness(work, c):
    """What the pair says, else the materials: springs in series, dampers in series; negative: nothing.

    Per area: a material's stiffness is a square metre's, and the smaller of the touching flat faces is shared by the
    springs of the two shapes.
    """
    breps, presses, options = work.breps, work.presses, work.options
    a, b = presses.shape[c, 0], presses.shape[c, 1]
    k, d = in_series(presses.given[a, 0], presses.given[b, 0]), in_series(presses.given[a, 1], presses.given[b, 1])
    pair = find_pair(breps, a, b)
    if pair >= 0:
        own = presses.pair_given[pair]
        k, d = own[0] if own[0] >= 0.0 else k, own[1] if own[1] >= 0.0 else d
    if options.stiffness_per == PER_AREA and (k > 0.0 or d > 0.0):
        n = 0
        for other in range(presses.counts[PRESSES]):
            o = presses.shape[other]
            if (o[0] == a and o[1] == b) or (o[0] == b and o[1] == a):
                n += 1
        share = min(facing_area(breps, presses, c, 0), facing_area(breps, presses, c, 1)) / n
        k, d = k * share if k > 0.0 else k, d * share if d > 0.0 else d
    return k, d


@jit
def in_series(a, b):
    if a < 0.0:
        return b
    if b < 0.0:
        return a
    return a * b / (a + b) if a + b > 0.0 else 0.0


@jit
def facing_area(breps, presses, c, side):
    """Area of the flat face of a shape that looks at the other one most squarely."""
    shape, n = presses.shape[c, side], presses.facing[c]
    sign = -1.0 if side == 0 else 1.0
    best, area = -2.0, 0.0
    for f in range(breps.shape_face[shape, 0], breps.shape_face[shape, 1]):
        m = breps.face_normal[f]
        along = sign * (m[0] * n[side, 0] + m[1] * n[side, 1] + m[2] * n[side, 2])
        if along > best + 1e-9:
            best, area = along, breps.patch_area[breps.face_patch[f]]
    return area


@jit
def largest_inverse_mass(bodies, b, local):
    """Largest eigenvalue of E/m - r* I^-1 r* for an anchor of body b: its turning part has rank two, so two invariants
    of A = r*^T I^-1 r* tell it. In the body's own axes."""
    I = bodies.own_inverse[b]
    x, y, z = local[0], local[1], local[2]
    ax, ay, az = times_inertia(I, 0.0, z, -y)  # I^-1 times the columns of r*
    bx, by, bz = times_inertia(I, -z, 0.0, x)
    cx, cy, _ = times_inertia(I, y, -x, 0.0)
    A00, A01, A02 = z * ay - y * az, -z * ax + x * az, y * ax - x * ay
    A11, A12, A22 = -z * bx + x * bz, y * bx - x * by, y * cx - x * cy
    trace = A00 + A11 + A22
    minors = A00 * A11 - A01 * A01 + A00 * A22 - A02 * A02 + A11 * A22 - A12 * A12
    return bodies.inverse_mass[b] + 0.5 * (trace + sqrt(max(0.0, trace * trace - 4.0 * minors)))


@jit
def press_contacts(work, dt):
    """Forces of all contact springs onto the bodies' sums; how each enters the descent."""
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    P = presses
    for c in range(P.counts[PRESSES]):
        s = P.first + c
        held = P.state[c] == STATIC and options.friction_anchor != DRAG
        if held and friction_excess(bodies, springs, P, c, s, P.held[c]) > 1.0:
            let_go(bodies, springs, P, c, s)
        springs.holds[s] = BOTH_WAYS if P.state[c] == STATIC and options.friction_anchor != DRAG else ONE_WAY
        springs.limit[s] = P.limit[c]
        for a in range(3):
            springs.normal[s, a] = P.normal[c, a]
            springs.held[s, a] = P.rubbing[c, a] = 0.0
        if options.max_correction_speed < 1e300:
            dx, dy, dz = anchor_distance(bodies, springs, s)
            now = sqrt(dx * dx + dy * dy + dz * dz) if springs.holds[s] == BOTH_WAYS else P.depth[c]
            springs.limit[s] = max(P.limit[c], now - options.max_correction_speed * dt)
        if springs.holds[s] == BOTH_WAYS:
            press_static(work, c, s)
        else:
            press_sliding(work, c, s)
        x, f, h = P.point[c], P.push[c], P.held[c]
        touch_at(bodies, springs.body[s, 0], (x[0], x[1], x[2]), (f[0] + h[0], f[1] + h[1], f[2] + h[2]))
        touch_at(bodies, springs.body[s, 1], (x[0], x[1], x[2]), (-f[0] - h[0], -f[1] - h[1], -f[2] - h[2]))


@jit
def free_contacts(work):
    """Static springs that the forces just found pull at, or ask for BLOW times the bound, become kinetic at once.

    True if any does. Less than BLOW waits for the next step: the descent spreads forces over springs as it finds them,
    and one that is overloaded beside others that are not still holds a grip.
    """
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    if options.friction_anchor == DRAG:
        return False
    freed = False
    for c in range(presses.counts[PRESSES]):
        s = presses.first + c
        if presses.state[c] == STATIC and (friction_excess(bodies, springs, presses, c, s, springs.held[s]) > BLOW
                                           or normal_force(springs, presses, c, s) < 0.0):
            let_go(bodies, springs, presses, c, s)
            freed = True
    return freed


@jit
def friction_excess(bodies, springs, presses, c, s, f):
    """(5.16): friction asked of a static spring over its bound; beyond 1 it slides. f is f_c, of the solve made last.

    In print f_c - (f_c . N) has no second N.
    """
    dx, dy, dz = anchor_distance(bodies, springs, s)
    n, k = presses.normal[c], presses.stiffness[c]
    along = n[0] * dx + n[1] * dy + n[2] * dz  # (5.14), (5.15): l_v is along, l_h is across; swapped in print
    held = n[0] * f[0] + n[1] * f[1] + n[2] * f[2]
    across = sqrt((dx - along * n[0]) ** 2 + (dy - along * n[1]) ** 2 + (dz - along * n[2]) ** 2)
    pulled = sqrt((f[0] - held * n[0]) ** 2 + (f[1] - held * n[1]) ** 2 + (f[2] - held * n[2]) ** 2)
    asked, bound = k * across + pulled, presses.mu[c, 0] * (k * along + held)
    if not asked > bound:
        return 0.0
    return asked / bound if bound > 0.0 else 1e300


@jit
def normal_force(springs, presses, c, s):
    """All that a contact pushes the guest with along its normal, N: spring, damper and constraint force."""
    n, f, g = presses.normal[c], presses.push[c], springs.held[s]
    return n[0] * (f[0] + g[0]) + n[1] * (f[1] + g[1]) + n[2] * (f[2] + g[2])


@jit
def let_go(bodies, springs, presses, c, s):
    """A static spring becomes kinetic: attached anew below its guest point, its history cleared."""
    h, n, depth = presses.foot[c], presses.normal[c], presses.depth[c]
    presses.state[c], presses.age[c] = KINETIC, 0
    for side in range(2):
        body, back = springs.body[s, side], depth if side == 0 else 0.0
        R, x, out = bodies.rotation[body], bodies.position[body], springs.local[s, side]
        px, py, pz = h[0] - back * n[0] - x[0], h[1] - back * n[1] - x[1], h[2] - back * n[2] - x[2]
        for a in range(3):
            out[a] = R[0, a] * px + R[1, a] * py + R[2, a] * pz


@jit
def relative_velocity(work, s, x, y, z):
    """Velocity of the guest against the host at a world point."""
    bodies, springs = work.bodies, work.springs
    ux, uy, uz = point_velocity(bodies, springs.body[s, 0], x, y, z)
    wx, wy, wz = point_velocity(bodies, springs.body[s, 1], x, y, z)
    return ux - wx, uy - wy, uz - wz


@jit
def store_push(presses, c, at, force):
    """What users see of a contact: where and how it pushes."""
    x, y, z = at
    fx, fy, fz = force
    presses.point[c, 0], presses.point[c, 1], presses.point[c, 2] = x, y, z
    presses.push[c, 0], presses.push[c, 1], presses.push[c, 2] = fx, fy, fz


@jit
def press_static(work, c, s):
    """k d and a damper at held anchors, eqs. (2.30), (2.33), (5.13); as a whole it never pulls."""
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    a, b, k, n = springs.body[s, 0], springs.body[s, 1], presses.stiffness[c], presses.normal[c]
    x0, y0, z0 = world_anchor(bodies, springs, s, 0)
    x1, y1, z1 = world_anchor(bodies, springs, s, 1)
    dx, dy, dz = x1 - x0, y1 - y0, z1 - z0
    ux, uy, uz = point_velocity(bodies, a, x0, y0, z0)
    wx, wy, wz = point_velocity(bodies, b, x1, y1, z1)
    isotropic = options.static_damping == ISOTROPIC
    vx, vy, vz = damped_velocity(isotropic, ALL, n, (dx, dy, dz), (wx - ux, wy - uy, wz - uz))
    damp = presses.damping[c]
    fx, fy, fz = k * dx + damp * vx, k * dy + damp * vy, k * dz + damp * vz
    if fx * n[0] + fy * n[1] + fz * n[2] <= 0.0:
        fx = fy = fz = 0.0
    if isotropic:  # not along the spring: a pair at one point keeps angular momentum
        x0, y0, z0 = x1, y1, z1 = 0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.5 * (z0 + z1)
    add_force(bodies, a, (x0, y0, z0), (fx, fy, fz))
    add_force(bodies, b, (x1, y1, z1), (-fx, -fy, -fz))
    store_push(presses, c, (x0, y0, z0), (fx, fy, fz))


@jit
def press_sliding(work, c, s):
    """Normal force k depth + damper, never pulling; friction against sliding, eq. (5.9), or of a dragged anchor.

    Both act at the guest point. Where the normal force is nothing, friction is nothing.
    """
    bodies, springs, presses, options = work.bodies, work.springs, work.presses, work.options
    n, k, damp = presses.normal[c], presses.stiffness[c], presses.damping[c]
    x, y, z = world_anchor(bodies, springs, s, 0)
    vx, vy, vz = relative_velocity(work, s, x, y, z)
    closing = n[0] * vx + n[1] * vy + n[2] * vz
    spring = k * presses.depth[c]
    normal = max(0.0, spring - damp * closing)
    tx, ty, tz = vx - closing * n[0], vy - closing * n[1], vz - closing * n[2]
    speed = sqrt(tx * tx + ty * ty + tz * tz)
    presses.slide[c] = speed
    bears = spring
    if options.friction_normal == WITH_CONSTRAINT:
        f = presses.held[c]
        bears += max(0.0, f[0] * n[0] + f[1] * n[1] + f[2] * n[2])
    elif options.friction_normal == COUPLED:
        bears = normal
    if normal == 0.0:
        bears = 0.0
    if options.friction_anchor == DRAG:
        fx, fy, fz = dragged(work, c, s, (x, y, z), (tx, ty, tz), bears)
    else:
        size = -presses.mu[c, 1] * bears / speed if speed > NO_SLIDE else 0.0  # (5.9): k l_v is bears
        fx, fy, fz = size * tx, size * ty, size * tz
    fx, fy, fz = fx + normal * n[0], fy + normal * n[1], fz + normal * n[2]
    add_force(bodies, springs.body[s, 0], (x, y, z), (fx, fy, fz))
    add_force(bodies, springs.body[s, 1], (x, y, z), (-fx, -fy, -fz))
    store_push(presses, c, (x, y, z), (fx, fy, fz))


@jit
def dragged(work, c, s, at, tangent, bears):
    """Friction of an anchor that the host drags along: k l_t - c v_t, capped; at the cap the anchor follows.

    It follows to where the spring alone gives the capped force, so that a sliding contact that stops holds at once.
    """
    x, y, z = at
    tx, ty, tz = tangent
    bodies, springs, presses = work.bodies, work.springs, work.presses
    b, n, k, damp = springs.body[s, 1], presses.normal[c], presses.stiffness[c], presses.damping[c]
    R, o, local = bodies.rotation[b], bodies.position[b], presses.drag[c]
    dx = o[0] + R[0, 0] * local[0] + R[0, 1] * local[1] + R[0, 2] * local[2] - x
    dy = o[1] + R[1, 0] * local[0] + R[1, 1] * local[1] + R[1, 2] * local[2] - y
    dz = o[2] + R[2, 0] * local[0] + R[2, 1] * local[1] + R[2, 2] * local[2] - z
    along = n[0] * dx + n[1] * dy + n[2] * dz
    dx, dy, dz = dx - along * n[0], dy - along * n[1], dz - along * n[2]
    fx, fy, fz = k * dx - damp * tx, k * dy - damp * ty, k * dz - damp * tz
    size = sqrt(fx * fx + fy * fy + fz * fz)
    if size <= (presses.mu[c, 0] if presses.state[c] == STATIC else presses.mu[c, 1]) * bears:
        presses.state[c] = STATIC
    else:
        presses.state[c] = KINETIC
        scale = presses.mu[c, 1] * bears / size
        fx, fy, fz = scale * fx, scale * fy, scale * fz
        inverse = 1.0 / k if k > 0.0 else 0.0
        dx, dy, dz = inverse * fx, inverse * fy, inverse * fz
    h = presses.foot[c]  # the anchor keeps to the host's surface
    px, py, pz = h[0] + dx - o[0], h[1] + dy - o[1], h[2] + dz - o[2]
    for a in range(3):
        local[a] = R[0, a] * px + R[1, a] * py + R[2, a] * pz
    return fx, fy, fz


@jit
def rub_after(work, dt):
    """Friction of the constraint forces, once they are known: against the sliding that is left, within mu times each.

    Contact by contact in a few sweeps, each impulse kept within its circle. True if there was any.
    """
    springs, presses = work.springs, work.presses
    some = False
    for _ in range(RUBBING_SWEEPS):
        changed = False
        for c in range(presses.counts[PRESSES]):
            s, n, f = presses.first + c, presses.normal[c], springs.held[presses.first + c]
            bears = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
            if bears > 0.0 and springs.holds[s] == ONE_WAY:
                change = rub_contact(work, dt, c, s, bears)
                some = some or change > 0.0
                changed = changed or change > RUBBED_ENOUGH * dt * presses.mu[c, 1] * bears
        if not changed:
            break
    return some


@jit
def rub_contact(work, dt, c, s, bears):
    """Change the friction of one contact's constraint force so that it slides no more, or is at its bound; N s."""
    springs, presses = work.springs, work.presses
    n, f, rub, mu = presses.normal[c], springs.held[s], presses.rubbing[c], presses.mu[c, 1]
    ax, ay, az = arm_velocity(springs.velocity[springs.body[s, 0]], springs.arm[s, 0])
    bx, by, bz = arm_velocity(springs.velocity[springs.body[s, 1]], springs.arm[s, 1])
    vx, vy, vz = ax - bx, ay - by, az - bz
    closing = n[0] * vx + n[1] * vy + n[2] * vz
    vx, vy, vz = vx - closing * n[0], vy - closing * n[1], vz - closing * n[2]
    speed = sqrt(vx * vx + vy * vy + vz * vz)
    if speed < NO_SLIDE:
        return 0.0
    ux, uy, uz = vx / speed, vy / speed, vz / speed
    bound = dt * mu * bears
    count, inverse, left, lift = across_inverse(springs, s, n, ux, uy, uz)
    impulse = speed / left if left > 1e-9 * inverse else 2.0 * bound
    # the wanted impulse, brought back into the circle, is where the change leads to
    wx, wy, wz = dt * rub[0] - impulse * ux, dt * rub[1] - impulse * uy, dt * rub[2] - impulse * uz
    size = sqrt(wx * wx + wy * wy + wz * wz)
    if size > bound:
        wx, wy, wz = bound / size * wx, bound / size * wy, bound / size * wz
        ux, uy, uz = dt * rub[0] - wx, dt * rub[1] - wy, dt * rub[2] - wz
        impulse = sqrt(ux * ux + uy * uy + uz * uz)
        if not impulse > 0.0:
            return 0.0
        ux, uy, uz = ux / impulse, uy / impulse, uz / impulse
        count, inverse, left, lift = across_inverse(springs, s, n, ux, uy, uz)
    impulse *= circle_share((dt * rub[0], dt * rub[1], dt * rub[2]), (-impulse * ux, -impulse * uy, -impulse * uz),
                            bound, mu * lift * impulse)
    if not impulse > 0.0:
        return 0.0
    give_back = impulse * lift
    add_reply(springs, springs.touched, count, -impulse, springs.reply[0], springs.velocity)
    add_reply(springs, springs.touched, count, -impulse, springs.reply[0], springs.free)
    if give_back > 0.0:
        add_reply(springs, springs.touched, count, -give_back, springs.reply[1], springs.velocity)
    for k in range(3):
        f[k] -= give_back * n[k] / dt
        u = ux if k == 0 else (uy if k == 1 else uz)
        presses.push[c, k] -= impulse * u / dt
        rub[k] -= impulse * u / dt
    return impulse


@jit
def across_inverse(springs, s, n, ux, uy, uz):
    """Bodies touched; inverse inertia of a contact along u, and the same where its normal velocity is kept; by how
    much of friction's impulse the constraint force has less to do where that turns the bodies apart."""
    across, along = springs.reply[0], springs.reply[1]
    count = respond(springs, s, ux, uy, uz, across)
    inverse = opening(springs, s, across, ux, uy, uz)
    mixed = opening(springs, s, across, n[0], n[1], n[2])
    if not mixed < 0.0:
        return count, inverse, inverse, 0.0
    respond(springs, s, n[0], n[1], n[2], along)
    normal = opening(springs, s, along, n[0], n[1], n[2])
    lift = -mixed / normal
    return count, inverse, inverse - lift * lift * normal, lift


@jit
def circle_share(place, direction, bound, loss):
    """Largest share t <= 1 with |p + t d| <= bound - t loss."""
    px, py, pz = place
    dx, dy, dz = direction
    alpha = dx * dx + dy * dy + dz * dz - loss * loss
    beta = px * dx + py * dy + pz * dz + bound * loss
    gamma = min(0.0, px * px + py * py + pz * pz - bound * bound)
    rest = beta * beta - alpha * gamma
    share = 1.0 if loss <= bound else bound / loss
    if rest < 0.0:
        return share
    root = sqrt(rest)
    if beta <= 0.0 and alpha > 0.0:
        return min(share, (root - beta) / alpha)
    return min(share, -gamma / (beta + root)) if beta + root > 0.0 else share


@jit
def arm_velocity(u, r):
    """Velocity of the end of an arm from the centre of mass."""
    x, y, z = cross(u[3], u[4], u[5], r[0], r[1], r[2])
    return u[0] + x, u[1] + y, u[2] + z
