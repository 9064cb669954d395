"""Patches at rest: of all splits of what two links press on each other with, the smallest.

The motion determines the wrench between two links, not how their points of contact split it. What a crate's corners are
left with when it has slid to rest, friction of one against friction of another, would stay with them for ever: it obeys
the law. So where nothing of a patch moves its wrench is split anew, with the least sum of g |x|^2:

    g_i x_i = a + b x (p_i - o),      o the mean of the points p_i with weights 1/g_i        (E31)

a follows from the force and b from the torque about o, three equations each. No wrench changes, so no motion does.
Where that would leave the cone of a point, the patch goes as far as it can, and on with the other points.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.islands import contact_trees
from sesshoku.compiled.jit import jit
from sesshoku.methods.exact.work import GIVEN, SPEED
from sesshoku.solvers.problem import ROLLING, read_contact
from sesshoku.spatial.algebra import cross

LEFT_ALONE = 16  # steps until a patch that has the smallest split is looked at again
AT_REST = 1e-9  # m/s: a point that moves by less at the end of the step does not; the law's residual is no larger then
CHANGED = 1e-9  # of the largest impulse: a smaller change is none
WITHIN = 0.99  # of its friction: points are not taken farther, so that they go on sticking
LEAST = 1e-3  # of the mean normal impulse: none is taken below it
HALVINGS = 10  # of the way that leaves a cone
RIDGE = 1e-6  # points on one line resist no torque about it
REFINEMENTS = 4
BALANCED = 1e-14
NONE = -1


@jit
def ease_patches(model, work):
    """(E31): impulses of the contacts between two links that rest on each other, with the wrench that they have."""
    contacts = work.contacts
    count, some = contacts.counts[CONTACTS], False
    for c in range(count):
        old = contacts.previous[c]
        work.eased[c] = max(work.old_eased[old] - 1, 0) if old >= 0 else 0
        some = some or work.eased[c] == 0 and rested(work, c)
    if some and work.impacts[GIVEN] == 0:
        list_by_link(model, work)
        for c in range(count):
            if work.eased[c] == 0 and rested(work, c):
                size, still = gather_patch(model, work, c)
                left = 1
                if still and size > 1:
                    left = 1 if split_anew(work, size) else LEFT_ALONE
                for n in range(size):
                    work.eased[work.patch[n]] = left
    for c in range(count):
        work.old_eased[c] = work.eased[c]


@jit(into_callers=True)
def rested(work, c):
    """Whether contact c carries load, and did not move when the step began."""
    v, slow = work.problem.velocity[c], work.options.slip_speed
    return work.problem.impulse[c, 2] > 0.0 and abs(v[0]) <= slow and abs(v[1]) <= slow and abs(v[2]) <= slow


@jit
def owner(model, contacts, c):
    """The link under which contact c is listed: one that moves, of two the later one."""
    a, b = contact_trees(model, contacts, c)
    return contacts.link[c, 0] if b < 0 or a >= 0 and contacts.link[c, 0] > contacts.link[c, 1] else contacts.link[c, 1]


@jit
def list_by_link(model, work):
    """patch_first (L), patch_next (C): contacts of every link, in their order."""
    contacts, first, following = work.contacts, work.patch_first, work.patch_next
    for i in range(model.link_count):
        first[i] = NONE
    for c in range(contacts.counts[CONTACTS] - 1, -1, -1):
        i = owner(model, contacts, c)
        following[c], first[i] = first[i], c


@jit
def gather_patch(model, work, c):
    """work.patch: the contacts between the links of contact c that may carry load; how many, and whether all rest.

    Points that touch without load count if nothing moves there at all: the law's residual stays what it is.
    """
    contacts, problem, slow = work.contacts, work.problem, min(AT_REST, work.options.slip_speed)
    tiny, size, still = max(1e-12, 10.0 * work.options.tolerance), 0, True
    e = work.patch_first[owner(model, contacts, c)]
    while e != NONE:
        if contacts.link[e, 0] == contacts.link[c, 0] and contacts.link[e, 1] == contacts.link[c, 1]:
            x, y, z = read_contact(model.row_dof, problem, e, problem.y)
            x, y, z = abs(x + problem.free[e, 0]), abs(y + problem.free[e, 1]), abs(z + problem.free[e, 2])
            if problem.impulse[e, 2] > 0.0:
                still = still and max(x, y, z) <= slow and work.impact[e, SPEED] == 0.0 and work.met[e] == 0
                work.patch[size] = e
                size += 1
                still = still and (problem.counts[ROLLING] == 0 or turns_slowly(model, problem, e, slow))
            elif max(x, y, z) <= tiny and work.met[e] == 0 and work.held[e] == 0:
                work.patch[size] = e
                size += 1
        e = work.patch_next[e]
    return size, still


@jit
def turns_slowly(model, problem, c, slow):
    """Whether nothing turns at contact c: a torque at its bound would change with the normal impulse."""
    p = problem.contact_capacity + c
    if problem.rolling_bound[c, 0] <= 0.0 and problem.rolling_bound[c, 1] <= 0.0:
        return True
    x, y, z = read_contact(model.row_dof, problem, p, problem.y)
    return max(abs(x + problem.free[p, 0]), abs(y + problem.free[p, 1]), abs(z + problem.free[p, 2])) <= slow


@jit
def split_anew(work, size):
    """Split the wrench of the first `size` contacts of work.patch; whether that changed anything.

    Points whose cones end the way stay where they are, moved behind the others.
    """
    problem, patch, split = work.problem, work.patch, work.split
    changed, free = False, size
    least, largest = least_normal(work, size), 0.0
    for _ in range(size):
        if free < 2 or not find_split(work, free):
            break
        way, change = 1.0, 0.0
        for n in range(free):
            c = patch[n]
            way = min(way, allowed_way(work, c, least))
            x = problem.impulse[c]
            largest = max(largest, abs(x[0]), abs(x[1]), abs(x[2]))
            for d in range(3):
                change = max(change, abs(split[c, d] - x[d]))
        if change <= CHANGED * largest:
            break
        n = 0
        while n < free:  # who ends the way stays
            c = patch[n]
            stays = way < 1.0 and allowed_way(work, c, least) <= way
            for d in range(3):
                problem.impulse[c, d] += way * (split[c, d] - problem.impulse[c, d])
            if stays:
                free -= 1
                patch[n], patch[free] = patch[free], c
                if n < free:
                    continue
            n += 1
        changed = changed or way > 0.0
        if way == 1.0:
            break
    return changed


@jit
def least_normal(work, size):
    """Normal impulse below which no point of the patch is taken."""
    total = 0.0
    for n in range(size):
        total += work.problem.impulse[work.patch[n], 2]
    return LEAST * total / size


@jit
def find_split(work, size):
    """(E31): work.split (C, 3) of the first `size` contacts of the patch, along their axes.

    False where they are one point, or so near one line that the torque would not be the same to rounding.
    """
    contacts, problem, patch = work.contacts, work.problem, work.patch
    ox = oy = oz = total = 0.0
    for n in range(size):
        p, w = contacts.point[patch[n]], ease_of(problem, patch[n])
        ox, oy, oz, total = ox + w * p[0], oy + w * p[1], oz + w * p[2], total + w
    if not total > 0.0:
        return False
    ox, oy, oz = ox / total, oy / total, oz / total
    fx = fy = fz = mx = my = mz = xx = yy = zz = xy = xz = yz = 0.0
    for n in range(size):
        c = patch[n]
        p, w, (px, py, pz) = contacts.point[c], ease_of(problem, c), impulse_in_world(problem, c)
        x, y, z = p[0] - ox, p[1] - oy, p[2] - oz
        tx, ty, tz = cross(x, y, z, px, py, pz)
        fx, fy, fz, mx, my, mz = fx + px, fy + py, fz + pz, mx + tx, my + ty, mz + tz
        xx, yy, zz = xx + w * (y * y + z * z), yy + w * (x * x + z * z), zz + w * (x * x + y * y)
        xy, xz, yz = xy - w * x * y, xz - w * x * z, yz - w * y * z
    ridge = RIDGE * (xx + yy + zz)
    if not ridge > 0.0:
        return False
    bx, by, bz, rx, ry, rz = 0.0, 0.0, 0.0, mx, my, mz
    for _ in range(REFINEMENTS):  # what the ridge leaves over
        dx, dy, dz = solve_symmetric((xx + ridge, yy + ridge, zz + ridge, xy, xz, yz), rx, ry, rz)
        bx, by, bz = bx + dx, by + dy, bz + dz
        rx = mx - (xx * bx + xy * by + xz * bz)
        ry = my - (xy * bx + yy * by + yz * bz)
        rz = mz - (xz * bx + yz * by + zz * bz)
    arm = sqrt((xx + yy + zz) / total)
    if max(abs(rx), abs(ry), abs(rz)) > BALANCED * arm * (abs(fx) + abs(fy) + abs(fz)):
        return False
    for n in range(size):
        c = patch[n]
        p, w, axes = contacts.point[c], ease_of(problem, c), problem.axes[c]
        x, y, z = cross(bx, by, bz, p[0] - ox, p[1] - oy, p[2] - oz)
        x, y, z = fx * w / total + w * x, fy * w / total + w * y, fz * w / total + w * z
        for d in range(3):
            work.split[c, d] = axes[d, 0] * x + axes[d, 1] * y + axes[d, 2] * z
    return True


@jit(into_callers=True)
def ease_of(problem, c):
    """1/g of a contact: the solver's own weights, so that it keeps the split that it is given."""
    W = problem.block[c]
    g = max(W[0, 0], W[1, 1], W[2, 2])
    return 1.0 / g if g > 0.0 else 0.0


@jit(into_callers=True)
def impulse_in_world(problem, c):
    """The impulse of contact c, world axes."""
    x, axes = problem.impulse[c], problem.axes[c]
    return (axes[0, 0] * x[0] + axes[1, 0] * x[1] + axes[2, 0] * x[2],
            axes[0, 1] * x[0] + axes[1, 1] * x[1] + axes[2, 1] * x[2],
            axes[0, 2] * x[0] + axes[1, 2] * x[1] + axes[2, 2] * x[2])


@jit
def solve_symmetric(S, x, y, z):
    """S^-1 (x, y, z), S by its entries xx, yy, zz, xy, xz, yz."""
    xx, yy, zz, xy, xz, yz = S
    u0, u1, u2 = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    det = xx * u0 + xy * u1 + xz * u2
    v1, v2, w2 = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    return (u0 * x + u1 * y + u2 * z) / det, (u1 * x + v1 * y + v2 * z) / det, (u2 * x + v2 * y + w2 * z) / det


@jit
def allowed_way(work, c, least):
    """How much of the way to its split contact c may go: 1, or a half, a quarter, ... of it, or nothing.

    Its cone is taken a little narrower; a point outside that may go where it comes nearer.
    """
    x, goal, mu = work.problem.impulse[c], work.split[c], work.mu[c]
    need, way = normal_for_torque(work.problem, c), 1.0
    rim, low = max(sqrt(x[0] * x[0] + x[1] * x[1]) - WITHIN * mu * x[2], 0.0), min(least, x[2])
    for _ in range(HALVINGS):
        t, u = x[0] + way * (goal[0] - x[0]), x[1] + way * (goal[1] - x[1])
        n, size = x[2] + way * (goal[2] - x[2]), sqrt(t * t + u * u)
        if n >= low and n >= need and size <= mu * n and size - WITHIN * mu * n <= rim:
            return way
        way *= 0.5
    return 0.0


@jit
def normal_for_torque(problem, c):
    """Normal impulse that the torques of rolling and torsional friction at contact c need."""
    if problem.counts[ROLLING] == 0:
        return 0.0
    r, s, need = problem.rolling_bound[c, 0], problem.rolling_bound[c, 1], 0.0
    x = problem.impulse[problem.contact_capacity + c]
    if r > 0.0:
        need = sqrt(x[0] * x[0] + x[1] * x[1]) / r
    if s > 0.0:
        need = max(need, abs(x[2]) / s)
    return need
