"""Contacts between lone free bodies pair by pair: products with their rows.

All points of a pair of bodies see one motion, that of b relative to a, and push with one wrench. So a pair is visited
once, in twists (velocity of the centre of mass, spin) instead of half coordinates, and a contact costs no more than a
cross product and its axes. T takes a lone body's six numbers y to its twist; with the origin at the centre of mass

    T = L^-1 D^-1/2      L: 1 but for s43, s53, s54 among the turns (`lower`)
    row of a contact     its axis at the point r:  axis . (v + w x r)

Blocks of the primal system are in twists as well (pair_blocks.py).

A method says which contacts have rows of that kind (`pointed`; others, an impact in the geometry of its instant say,
go by their rows), and `lone` which bodies. Nothing is assumed of the rest: robots, joint rows and rolling blocks stand
beside them in half coordinates.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.solvers.problem import push_contact, read_contact
from sesshoku.solvers.proximal.work import CONTACT_BLOCKS, RUNS
from sesshoku.spatial.algebra import cross


@jit
def find_runs(problem, contact_list, work):
    """Ranges of the list whose contacts belong to one pair of lone bodies, or are none of that kind."""
    m0, run, count = work.info[CONTACT_BLOCKS], work.run, 0
    for i in range(m0):
        c = contact_list[i]
        if i > 0:
            before = contact_list[i - 1]
            same = work.pointed[c] == work.pointed[before] and (
                work.pointed[c] == 0
                or problem.body[c, 0] == problem.body[before, 0] and problem.body[c, 1] == problem.body[before, 1])
            if same:
                continue
        run[count] = i
        count += 1
    run[count] = m0
    work.info[RUNS] = count


@jit(into_callers=True)
def twist_of(problem, lower, k, y):
    """Twist of the lone body with dofs k, ..., k + 5 by y (V)."""
    root = problem.root_dinv
    a = root[k + 3] * y[k + 3]
    b = root[k + 4] * y[k + 4] - lower[k + 3] * a
    c = root[k + 5] * y[k + 5] - lower[k + 4] * a - lower[k + 5] * b
    return root[k] * y[k], root[k + 1] * y[k + 1], root[k + 2] * y[k + 2], a, b, c


@jit(into_callers=True)
def add_wrench(problem, lower, k, wrench, y_out):
    """y += T^T wrench of a lone body."""
    root = problem.root_dinv
    fx, fy, fz, nx, ny, nz = wrench
    ny -= lower[k + 5] * nz
    nx -= lower[k + 4] * nz + lower[k + 3] * ny
    y_out[k] += root[k] * fx
    y_out[k + 1] += root[k + 1] * fy
    y_out[k + 2] += root[k + 2] * fz
    y_out[k + 3] += root[k + 3] * nx
    y_out[k + 4] += root[k + 4] * ny
    y_out[k + 5] += root[k + 5] * nz


@jit(into_callers=True)
def between(work, c):
    """From the centre of a to that of b, the two bodies of contact c."""
    a, b = work.arm[c, 0], work.arm[c, 1]
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jit
def read_pairs(chains, problem, contact_list, work, y, u_out):
    """u = Z y of an island's contacts."""
    run = work.run
    for n in range(work.info[RUNS]):
        first, last = run[n], run[n + 1]
        c = contact_list[first]
        if work.pointed[c] == 0:
            for i in range(first, last):
                u_out[3 * i], u_out[3 * i + 1], u_out[3 * i + 2] = read_contact(chains, problem, contact_list[i], y)
            continue
        a, b = problem.body[c, 0], problem.body[c, 1]
        at = 1 if b >= 0 else 0
        vx = vy = vz = wx = wy = wz = 0.0
        if b >= 0:
            vx, vy, vz, wx, wy, wz = twist_of(problem, work.lower, b, y)
        if a >= 0:
            x, z, w, p, q, r = twist_of(problem, work.lower, a, y)
            if b >= 0:
                dx, dy, dz = between(work, c)
                ex, ey, ez = cross(p, q, r, dx, dy, dz)
                x, z, w = x + ex, z + ey, w + ez
            vx, vy, vz, wx, wy, wz = vx - x, vy - z, vz - w, wx - p, wy - q, wz - r
        for i in range(first, last):
            c = contact_list[i]
            arm, axes = work.arm[c, at], problem.axes[c]
            x, z, w = cross(wx, wy, wz, arm[0], arm[1], arm[2])
            x, z, w = x + vx, z + vy, w + vz
            for d in range(3):
                u_out[3 * i + d] = axes[d, 0] * x + axes[d, 1] * z + axes[d, 2] * w


@jit
def push_pairs(chains, problem, contact_list, work, x, y_out):
    """y += Z^T x over an island's contacts."""
    run = work.run
    for n in range(work.info[RUNS]):
        first, last = run[n], run[n + 1]
        c = contact_list[first]
        if work.pointed[c] == 0:
            for i in range(first, last):
                k = 3 * i
                if x[k + 2] != 0.0 or x[k] != 0.0 or x[k + 1] != 0.0:
                    push_contact(chains, problem, contact_list[i], x[k], x[k + 1], x[k + 2], y_out)
            continue
        a, b = problem.body[c, 0], problem.body[c, 1]
        at, some = 1 if b >= 0 else 0, False
        fx = fy = fz = nx = ny = nz = 0.0
        for i in range(first, last):
            k = 3 * i
            if x[k + 2] == 0.0 and x[k] == 0.0 and x[k + 1] == 0.0:
                continue
            e, some = contact_list[i], True
            arm, axes = work.arm[e, at], problem.axes[e]
            gx = axes[0, 0] * x[k] + axes[1, 0] * x[k + 1] + axes[2, 0] * x[k + 2]
            gy = axes[0, 1] * x[k] + axes[1, 1] * x[k + 1] + axes[2, 1] * x[k + 2]
            gz = axes[0, 2] * x[k] + axes[1, 2] * x[k + 1] + axes[2, 2] * x[k + 2]
            tx, ty, tz = cross(arm[0], arm[1], arm[2], gx, gy, gz)
            fx, fy, fz, nx, ny, nz = fx + gx, fy + gy, fz + gz, nx + tx, ny + ty, nz + tz
        if not some:
            continue
        if b >= 0:
            add_wrench(problem, work.lower, b, (fx, fy, fz, nx, ny, nz), y_out)
            if a >= 0:
                dx, dy, dz = between(work, c)
                tx, ty, tz = cross(dx, dy, dz, fx, fy, fz)
                nx, ny, nz = nx + tx, ny + ty, nz + tz
        if a >= 0:
            add_wrench(problem, work.lower, a, (-fx, -fy, -fz, -nx, -ny, -nz), y_out)
