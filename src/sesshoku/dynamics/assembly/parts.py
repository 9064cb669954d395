"""Parts of an assembly: their responses Phi, joint by joint. Matrices only, which no right-hand side changes."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import find
from sesshoku.dynamics.assembly.laws import joint_law
from sesshoku.dynamics.assembly.work import JOINTS, MOST_HANDLES, OVERFLOW


@jit
def assemble(model, data, asm, diagonal):
    """All joints in order: laws, and the parts they make. False where the pool is too small."""
    used, listed = 42 * model.link_count, model.link_count
    for n in range(asm.counts[JOINTS]):
        used, listed = join(model, data, asm, asm.order[n], diagonal, used, listed)
        if used < 0:
            asm.counts[OVERFLOW] = 1
            return False
    return True


@jit
def place_of(asm, part, link):
    """Which handle of a part a link is."""
    first = asm.part_handle[part, 0]
    for n in range(asm.part_handle[part, 1]):
        if asm.handles[first + n] == link:
            return n
    return -1


@jit
def join(model, data, asm, j, diagonal, used, listed):
    """Assemble joint j: its law, then the part it makes. Returns what is used of pool and handles, -1: too much.

    Lambda: P_ii of eq. (4), implicit, the response of both ends together.
    """
    p, c, pool = asm.link[j, 0], asm.link[j, 1], asm.pool
    A = asm.part[find(asm.leader, p)] if p >= 0 else -1
    B = asm.part[find(asm.leader, c)] if c >= 0 else -1
    asm.joint_part[j, 0], asm.joint_part[j, 1] = A, B
    Lam = asm.work[0]
    for n in range(6):
        for m in range(6):
            Lam[n, m] = 0.0
    ip, ic = (place_of(asm, A, p) if A >= 0 else -1), (place_of(asm, B, c) if B >= 0 else -1)
    if A >= 0:
        add_response(asm, A, ip, ip, 1.0, Lam)
    if B >= 0:
        add_response(asm, B, ic, ic, 1.0, Lam)
    if A >= 0 and A == B:
        add_response(asm, A, ip, ic, -1.0, Lam)
        add_response(asm, A, ic, ip, -1.0, Lam)
    joint_law(model, data, asm, j, diagonal)
    for side in range(2):
        if asm.link[j, side] >= 0:
            asm.pending[asm.link[j, side]] -= 1
    first, count = listed, 0
    for side in range(2):
        part = A if side == 0 else B
        if part < 0 or (side == 1 and A == B):
            continue
        start_ = asm.part_handle[part, 0]
        for n in range(asm.part_handle[part, 1]):
            link = asm.handles[start_ + n]
            if asm.pending[link] > 0 or asm.keep[link] != 0:
                if first + count >= len(asm.handles):
                    return -1, -1
                asm.handles[first + count] = link
                count += 1
    block, rows = used, used + 36 * count * count + 6 * count
    if rows + 36 * count > len(pool):
        return -1, -1
    new = model.link_count + j
    asm.part_handle[new, 0], asm.part_handle[new, 1] = first, count
    asm.part_block[new], asm.joint_block[j] = block, rows
    asm.counts[MOST_HANDLES] = max(asm.counts[MOST_HANDLES], count)
    for n in range(count):
        joint_rows(asm, j, A, B, (ip, ic), asm.handles[first + n], pool[rows + 36 * n : rows + 36 * n + 36])
    new_part(asm, j, A, B, new)
    merge(asm, p, c, new)
    return rows + 36 * count, first + count


@jit
def merge(asm, p, c, new):
    """The parts of p and c are one from now on, `new`."""
    if p >= 0 and c >= 0:
        a, b = find(asm.leader, p), find(asm.leader, c)
        asm.leader[b] = a
        asm.part[a] = new
    elif p >= 0 or c >= 0:
        asm.part[find(asm.leader, p if p >= 0 else c)] = new


@jit
def add_response(asm, part, y, x, sign, A_out):
    """A += sign Phi_yx."""
    at = asm.part_block[part] + 36 * (y * asm.part_handle[part, 1] + x)
    block = asm.pool[at : at + 36]
    for n in range(6):
        for m in range(6):
            A_out[n, m] += sign * block[6 * n + m]


@jit
def joint_rows(asm, j, A, B, ends, link, R_out):
    """R_x = Phi_cx - Phi_px of handle x, each term only where x is in that part."""
    ip, ic = ends
    for n in range(36):
        R_out[n] = 0.0
    for side in range(2):
        part, at, sign = (A, ip, -1.0) if side == 0 else (B, ic, 1.0)
        if part < 0:
            continue
        x = place_of(asm, part, link)
        if x >= 0:
            start_ = asm.part_block[part] + 36 * (at * asm.part_handle[part, 1] + x)
            block = asm.pool[start_ : start_ + 36]
            for n in range(36):
                R_out[n] += sign * block[n]


@jit
def new_part(asm, j, A, B, new):
    """Phi_yx - R_y^T W R_x of the part that joint j makes."""
    first, count, pool, W = asm.part_handle[new, 0], asm.part_handle[new, 1], asm.pool, asm.W[j]
    block, rows, WR = asm.part_block[new], asm.joint_block[j], asm.work[5]
    for x in range(count):
        R = pool[rows + 36 * x : rows + 36 * x + 36]
        for n in range(6):
            for m in range(6):
                s = 0.0
                for k in range(6):
                    s += W[n, k] * R[6 * k + m]
                WR[n, m] = s
        part_x, place_x = old_place(asm, A, B, asm.handles[first + x])
        old_count = asm.part_handle[part_x, 1]
        for y in range(x + 1):
            Ry = pool[rows + 36 * y : rows + 36 * y + 36]
            to = pool[block + 36 * (y * count + x) : block + 36 * (y * count + x) + 36]
            mirror = pool[block + 36 * (x * count + y) : block + 36 * (x * count + y) + 36]
            part_y, place_y = old_place(asm, A, B, asm.handles[first + y])
            same = part_y == part_x
            at = asm.part_block[part_x] + 36 * (place_y * old_count + place_x) if same else 0
            old = pool[at : at + 36]
            for n in range(6):
                for m in range(6):
                    s = old[6 * n + m] if same else 0.0
                    for k in range(6):
                        s -= Ry[6 * k + n] * WR[k, m]
                    to[6 * n + m] = s
                    if x != y:
                        mirror[6 * m + n] = s


@jit
def old_place(asm, A, B, link):
    """The part a handle comes from, and its place there."""
    if A >= 0:
        place = place_of(asm, A, link)
        if place >= 0:
            return A, place
    return B, place_of(asm, B, link)


@jit
def kept_response(model, asm, links, response_out):
    """Phi (6 n, 6 n) of n kept links after `assemble`: wrenches at the common origin -> accelerations.

    The Delassus matrix of any rows on these links is one product away. Zero between links of different parts.
    """
    for y in range(len(links)):
        for x in range(len(links)):
            a, b = find(asm.leader, links[y]), find(asm.leader, links[x])
            part = asm.part[a]
            ready = a == b and asm.keep[links[y]] != 0 and asm.keep[links[x]] != 0
            at = 0
            if ready:
                at = asm.part_block[part] + 36 * (place_of(asm, part, links[y]) * asm.part_handle[part, 1]
                                                  + place_of(asm, part, links[x]))
            for n in range(6):
                for m in range(6):
                    response_out[6 * y + n, 6 * x + m] = asm.pool[at + 6 * n + m] if ready else 0.0
