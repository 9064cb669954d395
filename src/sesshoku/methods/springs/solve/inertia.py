"""Inertia of bodies that implicit forces couple, M + sum J^T S J: blocks (6, 6) of a body and of it with its parent.

A force that looks at the end of the step, f = f0 - S (change of velocity along J) / dt, resists every further change of
velocity as an inertia S would. Between a body and its parent in a tree such terms make a block matrix with the tree's
own pattern: eliminated from the leaves to the root it fills nothing in (`factor_groups`), so that the answer of all
bodies of a group to a force costs one pass down and one up (`solve_group`).

A group is a set of bodies coupled that way, named by its first body; children come after parents. Bodies of no group
(`group` -1) move by their own mass and inertia.

Ties are terms between any two points of a group that do not follow its tree: with T the tree's matrix, J the ties'
velocities and S their inertias, (T + J^T S J)^-1 = T^-1 - W (S^-1 + J W)^-1 W^T with W = T^-1 J^T (Woodbury), three
columns a tie (`factor_ties`). A tie may join trees, whose bodies are one group then.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit


@jit
def factor_groups(springs):
    """Block Cholesky factors of all groups: `factor` (lower), `link` = factor^-1 cross."""
    group, block, factor, B = springs.group, springs.block, springs.factor, springs.body_count
    for i in range(B):
        if group[i] >= 0:
            for a in range(6):
                for b in range(a + 1):
                    factor[i, a, b] = block[i, a, b]
    for i in range(B - 1, -1, -1):
        if group[i] < 0:
            continue
        L, X, A, p = factor[i], springs.link[i], springs.cross[i], springs.above[i]
        for a in range(6):
            for b in range(a + 1):
                s = L[a, b]
                for k in range(b):
                    s -= L[a, k] * L[b, k]
                L[a, b] = sqrt(s) if a == b else s / L[b, b]
        if p >= 0:
            for c in range(6):
                for a in range(6):
                    s = A[a, c]
                    for k in range(a):
                        s -= L[a, k] * X[k, c]
                    X[a, c] = s / L[a, a]
            for a in range(6):
                for b in range(a + 1):
                    s = 0.0
                    for k in range(6):
                        s += X[k, a] * X[k, b]
                    factor[p, a, b] -= s
    for top in range(B):
        if group[top] == top and springs.group_tie[top, 0] < springs.group_tie[top, 1]:
            factor_ties(springs, top)


@jit
def factor_ties(springs, top):
    """W into `tie_columns`, and the Cholesky factor of S^-1 + J W into `tie_factor`, of the ties of group `top`."""
    first, last = springs.group_tie[top, 0], springs.group_tie[top, 1]
    size, u, y = springs.group_end[top] - top, springs.tie_reply, springs.tie_speed
    for n in range(3 * (last - first)):
        t, axis = first + n // 3, n % 3
        for i in range(top, springs.group_end[top]):
            for a in range(6):
                u[i, a] = 0.0
        for side in range(2):
            b, r = springs.tie_body[t, side], springs.tie_arm[t, side]
            if springs.group[b] == top:
                f = 1.0 if side == 1 else -1.0
                u[b, axis] += f
                u[b, 3 + (axis + 1) % 3] += f * r[(axis + 2) % 3]
                u[b, 3 + (axis + 2) % 3] -= f * r[(axis + 1) % 3]
        solve_tree(springs, top, u)
        at = springs.tie_column[t] + axis * 6 * size
        for i in range(top, springs.group_end[top]):
            for a in range(6):
                springs.tie_columns[at] = u[i, a]
                at += 1
        L = springs.tie_factor[3 * first + n]
        for m in range(n // 3 + 1):
            tie_velocity(springs, top, first + m, u, y)
            for a in range(3):
                if 3 * m + a <= n:
                    L[3 * m + a] = y[a]
        L[n] += 1.0 / springs.tie_inertia[t]
        for m in range(n + 1):
            K, s = springs.tie_factor[3 * first + m], L[m]
            for k in range(m):
                s -= L[k] * K[k]
            L[m] = sqrt(s) if m == n else s / K[m]


@jit
def tie_velocity(springs, top, t, u, out):
    """Velocity of the second end of tie t against the first by velocities u (B, 6), into out (3)."""
    out[0] = out[1] = out[2] = 0.0
    for side in range(2):
        b, r = springs.tie_body[t, side], springs.tie_arm[t, side]
        if springs.group[b] == top:
            w, f = u[b], 1.0 if side == 1 else -1.0
            out[0] += f * (w[0] + w[4] * r[2] - w[5] * r[1])
            out[1] += f * (w[1] + w[5] * r[0] - w[3] * r[2])
            out[2] += f * (w[2] + w[3] * r[1] - w[4] * r[0])


@jit
def heed_ties(springs, top, x):
    """What the tree of group `top` answers without its ties becomes the answer with them."""
    first, last = springs.group_tie[top, 0], springs.group_tie[top, 1]
    y, L, count = springs.tie_speed, springs.tie_factor, 3 * (last - first)
    for t in range(first, last):
        tie_velocity(springs, top, t, x, y[3 * (t - first):])
    for n in range(count):
        s = y[n]
        for k in range(n):
            s -= L[3 * first + n, k] * y[k]
        y[n] = s / L[3 * first + n, n]
    for n in range(count - 1, -1, -1):
        s = y[n]
        for k in range(n + 1, count):
            s -= L[3 * first + k, n] * y[k]
        y[n] = s / L[3 * first + n, n]
    at = springs.tie_column[first]
    for n in range(count):
        for i in range(top, springs.group_end[top]):
            for a in range(6):
                if springs.group[i] == top:
                    x[i, a] -= y[n] * springs.tie_columns[at]
                at += 1


@jit
def solve_group(springs, top, x):
    """x (B, 6), forces and torques on the bodies of group `top`, becomes the change of velocity per second."""
    solve_tree(springs, top, x)
    if springs.group_tie[top, 0] < springs.group_tie[top, 1]:
        heed_ties(springs, top, x)


@jit
def solve_tree(springs, top, x):
    """The same without the group's ties."""
    group, above, end = springs.group, springs.above, springs.group_end[top]
    for i in range(end - 1, top - 1, -1):
        y = x[i]
        if group[i] != top or (y[0] == 0.0 and y[1] == 0.0 and y[2] == 0.0 and y[3] == 0.0 and y[4] == 0.0
                               and y[5] == 0.0):
            continue
        L, X, p = springs.factor[i], springs.link[i], above[i]
        for a in range(6):
            s = y[a]
            for k in range(a):
                s -= L[a, k] * y[k]
            y[a] = s / L[a, a]
        if p >= 0:
            for a in range(6):
                s = x[p, a]
                for k in range(6):
                    s -= X[k, a] * y[k]
                x[p, a] = s
    for i in range(top, end):
        if group[i] != top:
            continue
        y, L, X, p = x[i], springs.factor[i], springs.link[i], above[i]
        if p >= 0:
            for a in range(6):
                s = y[a]
                for k in range(6):
                    s -= X[a, k] * x[p, k]
                y[a] = s
        for a in range(5, -1, -1):
            s = y[a]
            for k in range(a + 1, 6):
                s -= L[k, a] * y[k]
            y[a] = s / L[a, a]


@jit
def through_inertia(springs, b, force, out):
    """out (6) = M^-1 force (6) for body b by itself; out may be force."""
    m, I = springs.inverse_mass[b], springs.inverse_inertia[b]
    x, y, z = force[3], force[4], force[5]
    for a in range(3):
        out[a] = m * force[a]
    out[3] = I[0] * x + I[3] * y + I[4] * z
    out[4] = I[3] * x + I[1] * y + I[5] * z
    out[5] = I[4] * x + I[5] * y + I[2] * z


@jit
def clear_reply(springs, b, out):
    """Zero `out` where a force on body b can be felt."""
    top = springs.group[b]
    for i in range(b if top < 0 else top, b + 1 if top < 0 else springs.group_end[top]):
        for a in range(6):
            out[i, a] = 0.0


@jit
def felt_before(springs, touched, n):
    """Whether body n of a list, or another of its group, stands earlier in it."""
    top, found = springs.group[touched[n]], False
    for m in range(n):
        found = found or touched[m] == touched[n] or (top >= 0 and springs.group[touched[m]] == top)
    return found


@jit
def answer(springs, touched, count, out):
    """Forces on the `count` bodies listed in `touched` become what they move: out (B, 6), their groups' bodies."""
    for n in range(count):
        if felt_before(springs, touched, n):
            continue
        b, top = touched[n], springs.group[touched[n]]
        if top >= 0:
            solve_group(springs, top, out)
        else:
            through_inertia(springs, b, out[b], out[b])


@jit
def add_reply(springs, touched, count, scale, reply, out):
    """out += scale reply over all bodies that `answer` moved."""
    for n in range(count):
        if felt_before(springs, touched, n):
            continue
        b, top = touched[n], springs.group[touched[n]]
        for i in range(b if top < 0 else top, b + 1 if top < 0 else springs.group_end[top]):
            if top < 0 or springs.group[i] == top:
                for a in range(6):
                    out[i, a] += scale * reply[i, a]


@jit
def respond(springs, s, x, y, z, out):
    """What a force (x, y, z) at anchor 0 of spring s and its opposite at anchor 1 move, at the predicted poses.

    Returns the number of bodies in `springs.touched` that feel it directly.
    """
    touched, count = springs.touched, 0
    for side in range(2):
        b = springs.body[s, side]
        if springs.inverse_mass[b] > 0.0:
            touched[count] = b
            count += 1
            clear_reply(springs, b, out)
    for side in range(2):
        b = springs.body[s, side]
        if springs.inverse_mass[b] == 0.0:
            continue
        sign, r, o = 1.0 if side == 0 else -1.0, springs.arm[s, side], out[b]
        o[0] += sign * x
        o[1] += sign * y
        o[2] += sign * z
        o[3] += sign * (r[1] * z - r[2] * y)
        o[4] += sign * (r[2] * x - r[0] * z)
        o[5] += sign * (r[0] * y - r[1] * x)
    answer(springs, touched, count, out)
    return count


@jit
def opening(springs, s, u, x, y, z):
    """Speed of anchor 0 of spring s against anchor 1 along (x, y, z), by velocities u (B, 6); immovable bodies rest."""
    speed = 0.0
    for side in range(2):
        b = springs.body[s, side]
        if springs.inverse_mass[b] == 0.0:
            continue
        w, r = u[b], springs.arm[s, side]
        along = (x * (w[0] + w[4] * r[2] - w[5] * r[1]) + y * (w[1] + w[5] * r[0] - w[3] * r[2])
                 + z * (w[2] + w[3] * r[1] - w[4] * r[0]))
        speed += along if side == 0 else -along
    return speed
