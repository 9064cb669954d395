"""Islands of bodies that springs connect, or their inertias: what happens in one does not reach another."""

from __future__ import annotations

from sesshoku.compiled.jit import jit

# how a spring holds: its stretch in every direction, along its normal one way, across its normal, along it both ways,
# or not at all, in which case it connects nobody
BOTH_WAYS, ONE_WAY, ACROSS, ALONG, UNLIMITED = range(5)


@jit
def find_islands(springs):
    """Group bodies that springs or their inertias connect; what no force moves connects nobody. Lists are ascending."""
    root, body, count = springs.root, springs.body, springs.counts[0]
    B, inverse_mass = springs.body_count, springs.inverse_mass
    for b in range(B):
        root[b] = b
    for n in range(count + B):
        if n < count:
            a, b = body[n, 0], body[n, 1]
            if springs.holds[n] == UNLIMITED or inverse_mass[a] == 0.0 or inverse_mass[b] == 0.0:
                continue
        else:
            a, b = springs.above[n - count], n - count
            if springs.group[b] < 0 or a < 0:
                continue
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a < b:
            root[b] = a
        elif b < a:
            root[a] = b
    islands, label = 0, springs.iwork
    for b in range(B):
        top = b
        while root[top] != top:
            top = root[top]
        root[b] = top  # the smallest body of the island: already numbered
        if top == b:
            label[b] = islands
            islands += 1
    start, of_body = springs.island_body_start, springs.island_body
    for i in range(B + 1):
        start[i] = springs.island_spring_start[i] = 0
    for b in range(B):
        start[label[root[b]] + 1] += 1
    for s in range(count):
        b = side_that_moves(springs, s)
        if b >= 0:
            springs.island_spring_start[label[root[b]] + 1] += 1
    for i in range(B):
        start[i + 1] += start[i]
        springs.island_spring_start[i + 1] += springs.island_spring_start[i]
    for b in range(B - 1, -1, -1):  # from behind, counting the ends down: keeps the order
        i = label[root[b]] + 1
        start[i] -= 1
        of_body[start[i]] = b
    for s in range(count - 1, -1, -1):
        b = side_that_moves(springs, s)
        if b >= 0:
            i = label[root[b]] + 1
            springs.island_spring_start[i] -= 1
            springs.island_spring[springs.island_spring_start[i]] = s
    for i in range(B):  # the ends have become the starts
        start[i] = start[i + 1]
        springs.island_spring_start[i] = springs.island_spring_start[i + 1]
    start[B] = B
    total = 0
    for s in range(count):
        if side_that_moves(springs, s) >= 0:
            total += 1
    for i in range(islands, B + 1):
        start[i] = B
        springs.island_spring_start[i] = total
    springs.island_count[0] = islands


@jit
def side_that_moves(springs, s):
    """A body of spring s that forces move, -1: none, or the spring has no limit."""
    if springs.holds[s] == UNLIMITED:
        return -1
    a, b = springs.body[s, 0], springs.body[s, 1]
    if springs.inverse_mass[a] > 0.0:
        return a
    return b if springs.inverse_mass[b] > 0.0 else -1
