"""Broad phase of some dozens of shapes, as robots have them: boxes in line along one axis, each compared with those
that begin before it ends.

The line is that of the step before put in order again, which takes hardly more than a look at each box; the axis is
the one along which the scene is longest. What is found does not depend on either: pairs are sorted at the end.
"""

from __future__ import annotations

from sesshoku.collision.contacts import PAIR_OVERFLOW, PAIRS
from sesshoku.collision.filter import may_touch
from sesshoku.compiled.jit import jit

SHAPE = 6  # column of contacts.work behind the six bounds of a box: its shape


@jit
def sweep_axis(model, contacts):
    """Add the pairs of shapes (planes left aside) whose boxes overlap and that may touch; not where a bound is NaN."""
    count, axis = line_up(model, contacts)
    line, pair = contacts.work, contacts.pair
    second, third = (axis + 1) % 3, (axis + 2) % 3
    for i in range(count):
        mine = line[i]
        end, low_2, high_2, low_3, high_3 = (
            mine[3 + axis], mine[second], mine[3 + second], mine[third], mine[3 + third])
        j = i + 1
        while j < count and line[j, axis] <= end:
            other = line[j]
            if (other[second] <= high_2 and low_2 <= other[3 + second] and other[third] <= high_3
                    and low_3 <= other[3 + third]):
                a, b, n = int(mine[SHAPE]), int(other[SHAPE]), contacts.counts[PAIRS]
                if may_touch(model, a, b):
                    if n < contacts.pair_capacity:
                        pair[n, 0], pair[n, 1] = min(a, b), max(a, b)
                        contacts.counts[PAIRS] = n + 1
                    else:
                        contacts.counts[PAIR_OVERFLOW] += 1
            j += 1


@jit
def line_up(model, contacts):
    """Boxes into contacts.work in the order of their beginnings; how many, and along which axis."""
    line, order, low, high = contacts.work, contacts.line, contacts.shape_low, contacts.shape_high
    if model.shape_count > 1 and order[0] == order[1]:  # the first time
        for g in range(model.shape_count):
            order[g] = g
    count, axis, longest = 0, 0, -1.0
    for k in range(3):
        least = most = 0.0
        for g in range(model.shape_count):
            if model.shape_level[g] >= 0:
                least, most = min(least, low[g, k]), max(most, low[g, k])
        if most - least > longest:
            axis, longest = k, most - least
    for n in range(model.shape_count):
        g = order[n]
        key, place = low[g, axis], n
        while place > 0 and not low[order[place - 1], axis] <= key:  # NaN: anywhere, the others are in order
            order[place] = order[place - 1]
            place -= 1
        order[place] = g
    for n in range(model.shape_count):
        g = order[n]
        if model.shape_level[g] >= 0 and low[g, axis] == low[g, axis]:
            row = line[count]
            for k in range(3):
                row[k], row[3 + k] = low[g, k], high[g, k]
            row[SHAPE] = g
            count += 1
    return count, axis
