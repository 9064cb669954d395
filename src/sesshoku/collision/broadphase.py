"""Broad phase: the pairs of shapes whose bounding boxes overlap and that may touch, sorted by (a, b), a < b.

Where few pairs may touch at all (a robot on the ground), the list made at compile time is walked. Otherwise shapes
are put into grids, one per **level** of like sizes, with cells in proportion to the largest box of the level at that
moment. A shape stands in the cell of its lower corner alone; what overlaps it stands in the cells its box covers, or
at most one size before. Levels of few shapes need no grid: everything is compared with them. The cells live in one
hash table, filled by a counting sort: time and memory grow linearly with the number of shapes, however they are spread
(if not all in one place), and the outcome depends on nothing but where the shapes are.

Planes are apart: they meet every moving shape whose box reaches below them.
"""

from __future__ import annotations

from math import floor

from sesshoku.collision.contacts import LEVELS, PAIR_OVERFLOW, PAIRS
from sesshoku.collision.filter import may_touch
from sesshoku.compiled.jit import jit
from sesshoku.compiled.matrix import as_matrix
from sesshoku.model.arrays import MOVES, SHAPE_PLANE

FEW = 12  # members of a level that needs no grid
FAR = 2**17  # cells from the origin; what is beyond is put into the last cell
BITS = 19  # of a coordinate of a cell in a key: 0 .. 2 FAR + 2
CELL = 1.5  # edge of a cell, by the longest edge of a box of its level: fewer cells to look at, more shapes in them
ROUNDING = 1.0 + 1e-9


@jit
def find_pairs(model, contacts, margin):
    """Write contacts.pair and counts[PAIRS]; what does not fit is counted in counts[PAIR_OVERFLOW]."""
    contacts.counts[PAIRS] = 0
    contacts.counts[PAIR_OVERFLOW] = 0
    if model.pairs_listed:
        walk_list(model, contacts, margin)
        return
    pairs_with_planes(model, contacts, margin)
    measure_levels(model, contacts)
    fill_grid(model, contacts)
    pairs_with_few(model, contacts)
    for g in range(model.shape_count):
        pairs_in_grids(model, contacts, g)
    sort_pairs(model, contacts)


# ---- tests of two shapes ------------------------------------------------------------------------------------------


@jit
def walk_list(model, contacts, margin):
    """Test the boxes of all pairs that may touch. The list is sorted already."""
    allowed, kind = model.allowed_pair, model.shape_type
    for k in range(len(allowed)):
        a, b = allowed[k, 0], allowed[k, 1]
        if not overlap(contacts, a, b):  # boxes of planes are infinite
            continue
        if kind[a] == SHAPE_PLANE and not reaches_plane(contacts, a, b, margin):
            continue
        if kind[b] != SHAPE_PLANE or reaches_plane(contacts, b, a, margin):
            add_pair(contacts, a, b)


@jit
def overlap(contacts, a, b):
    """Whether two bounding boxes overlap or touch; not where a bound is NaN."""
    low, high = contacts.shape_low, contacts.shape_high
    return (low[a, 0] <= high[b, 0] and low[b, 0] <= high[a, 0] and low[a, 1] <= high[b, 1] and low[b, 1] <= high[a, 1]
            and low[a, 2] <= high[b, 2] and low[b, 2] <= high[a, 2])


@jit
def reaches_plane(contacts, plane, g, margin):
    """Whether the bounding box of shape g (margin / 2 included) comes within margin / 2 of the half-space."""
    R, p = contacts.shape_rotation[plane], contacts.shape_position[plane]
    low, high = contacts.shape_low[g], contacts.shape_high[g]
    height = 0.0  # of the lowest corner
    for k in range(3):
        n = R[k, 2]
        height += n * ((low[k] if n > 0.0 else high[k]) - p[k])
    return height <= 0.5 * margin


@jit
def add_pair(contacts, a, b):
    n = contacts.counts[PAIRS]
    if n >= contacts.pair_capacity:
        contacts.counts[PAIR_OVERFLOW] += 1
        return
    contacts.pair[n, 0] = min(a, b)
    contacts.pair[n, 1] = max(a, b)
    contacts.counts[PAIRS] = n + 1


@jit
def pairs_with_planes(model, contacts, margin):
    for plane in range(model.shape_count):
        if model.shape_type[plane] != SHAPE_PLANE:
            continue
        for g in range(model.shape_count):
            if (model.shape_filter[g, MOVES] == 1 and reaches_plane(contacts, plane, g, margin)
                    and may_touch(model, plane, g)):
                add_pair(contacts, plane, g)


# ---- the grid -----------------------------------------------------------------------------------------------------


@jit
def measure_levels(model, contacts):
    """Cells per metre of every level; 0 for levels of few shapes. Writes counts[LEVELS] (0: no grid at all)."""
    per_metre, size, members = contacts.level_scale, contacts.level_size, contacts.level_members
    levels = model.level_count
    for level in range(levels):
        size[level] = 1e-100
        members[level] = 0
    low, high = contacts.shape_low, contacts.shape_high
    for g in range(model.shape_count):
        level = model.shape_level[g]
        if level >= 0:
            members[level] += 1
            size[level] = max(size[level], high[g, 0] - low[g, 0], high[g, 1] - low[g, 1], high[g, 2] - low[g, 2])
    contacts.counts[LEVELS] = 0
    for level in range(levels):
        per_metre[level] = 0.0
        if members[level] > FEW:
            size[level] *= ROUNDING
            per_metre[level] = 1.0 / (CELL * size[level])
            contacts.counts[LEVELS] = level + 1


@jit
def cell(x, per_metre):
    """Number of the cell that x (m) is in, along one axis."""
    c = floor(x * per_metre)
    if c >= FAR:
        return FAR
    if c > -FAR:
        return int(c)
    return -FAR  # NaN too


@jit
def cell_key(level, x, y, z):
    """One number per cell of a level."""
    half = FAR + 1
    return (((((level << BITS) + x + half) << BITS) + y + half) << BITS) + z + half


@jit
def bucket_of(contacts, level, x, y, z):
    """Place of a cell in the hash table, whose size is a power of two."""
    half = FAR + 1
    mixed = ((x + half) * 73856093) ^ ((y + half) * 19349663) ^ ((z + half) * 83492791) ^ (level * 50331653)
    return (mixed ^ (mixed >> 17)) & (contacts.bucket_count - 1)


@jit
def fill_grid(model, contacts):
    """Sort the shapes of all levels with a grid by their buckets: grid_start, grid_shape, grid_key."""
    start, buckets = contacts.grid_start, contacts.bucket_count
    bucket, low = contacts.iwork, contacts.shape_low
    for k in range(buckets + 1):
        start[k] = 0
    if contacts.counts[LEVELS] == 0:
        return
    for g in range(model.shape_count):
        level = model.shape_level[g]
        s = contacts.level_scale[level] if level >= 0 else 0.0
        bucket[g] = -1
        if s > 0.0:
            x, y, z = cell(low[g, 0], s), cell(low[g, 1], s), cell(low[g, 2], s)
            bucket[g] = bucket_of(contacts, level, x, y, z)
            start[bucket[g]] += 1
    total = 0
    for k in range(buckets):
        total += start[k]
        start[k] = total
    start[buckets] = total
    for g in range(model.shape_count - 1, -1, -1):
        if bucket[g] >= 0:
            level = model.shape_level[g]
            s = contacts.level_scale[level]
            start[bucket[g]] -= 1
            place = start[bucket[g]]
            contacts.grid_shape[place] = g
            contacts.grid_key[place] = cell_key(level, cell(low[g, 0], s), cell(low[g, 1], s), cell(low[g, 2], s))


@jit
def pairs_with_few(model, contacts):
    """Compare the members of levels without a grid with all shapes; each pair once."""
    for a in range(model.shape_count):
        level = model.shape_level[a]
        if level < 0 or contacts.level_scale[level] > 0.0:
            continue
        for b in range(model.shape_count):
            other = model.shape_level[b]
            if other < 0 or (contacts.level_scale[other] == 0.0 and b <= a):
                continue
            if overlap(contacts, a, b) and may_touch(model, a, b):
                add_pair(contacts, a, b)


@jit
def pairs_in_grids(model, contacts, g):
    """Overlaps of shape g with shapes of its own level and of coarser ones.

    A shape that overlaps it has its lower corner within its box or at most one size of the level before it. Within its
    own level it looks only at the cells behind its own (in the order x, y, z), and there at shapes behind it.
    """
    own = model.shape_level[g]
    if own < 0 or contacts.level_scale[own] == 0.0:
        return
    low, high = contacts.shape_low[g], contacts.shape_high[g]
    for level in range(own, contacts.counts[LEVELS]):
        s, size = contacts.level_scale[level], contacts.level_size[level]
        if s == 0.0:
            continue
        x0, y0, z0 = cell(low[0] - size, s), cell(low[1] - size, s), cell(low[2] - size, s)
        # no shape covers more cells; one that flew to infinity must not walk the whole grid
        x1, y1, z1 = min(cell(high[0], s), x0 + 5), min(cell(high[1], s), y0 + 5), min(cell(high[2], s), z0 + 5)
        if level > own:
            for x in range(x0, x1 + 1):
                for y in range(y0, y1 + 1):
                    for z in range(z0, z1 + 1):
                        pairs_in_cell(model, contacts, g, level, (x, y, z), -1)
            continue
        x, y, z = cell(low[0], s), cell(low[1], s), cell(low[2], s)
        pairs_in_cell(model, contacts, g, level, (x, y, z), g)
        for z2 in range(z + 1, z1 + 1):
            pairs_in_cell(model, contacts, g, level, (x, y, z2), -1)
        for y2 in range(y + 1, y1 + 1):
            for z2 in range(z0, z1 + 1):
                pairs_in_cell(model, contacts, g, level, (x, y2, z2), -1)
        for x2 in range(x + 1, x1 + 1):
            for y2 in range(y0, y1 + 1):
                for z2 in range(z0, z1 + 1):
                    pairs_in_cell(model, contacts, g, level, (x2, y2, z2), -1)


@jit
def pairs_in_cell(model, contacts, g, level, at, after):
    """Overlaps of shape g with the shapes in one cell whose numbers are above `after`."""
    x, y, z = at
    bucket = bucket_of(contacts, level, x, y, z)
    first, last = contacts.grid_start[bucket], contacts.grid_start[bucket + 1]
    if first == last:
        return
    key = cell_key(level, x, y, z)
    for place in range(first, last):
        other = contacts.grid_shape[place]
        if contacts.grid_key[place] == key and other > after and overlap(contacts, g, other):
            if may_touch(model, g, other):
                add_pair(contacts, g, other)


# ---- order --------------------------------------------------------------------------------------------------------


@jit
def sort_pairs(model, contacts):
    """Sort the pairs by (a, b): two stable counting sorts, by b, then by a."""
    n, shapes = contacts.counts[PAIRS], model.shape_count
    pair, work = contacts.pair, contacts.iwork
    other, start = as_matrix(work, n, 2), work[2 * n : 2 * n + shapes + 1]
    counting_sort(pair, other, n, 1, start)
    counting_sort(other, pair, n, 0, start)


@jit
def counting_sort(source, target_out, n, column, start):
    """Copy n pairs, sorted by one column; pairs alike in it keep their order."""
    for k in range(len(start)):
        start[k] = 0
    for k in range(n):
        start[source[k, column] + 1] += 1
    for k in range(1, len(start)):
        start[k] += start[k - 1]
    for k in range(n):
        place = start[source[k, column]]
        start[source[k, column]] += 1
        target_out[place, 0] = source[k, 0]
        target_out[place, 1] = source[k, 1]
