"""Which shapes may touch: the rule of `scene.filters`, on the arrays of the model."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.sets import first_from
from sesshoku.model.arrays import APART, FAMILY, GROUP, HANGS_ON, MOVES, NO_RULE, PAIRED, RULED, TOGETHER


@jit
def may_touch(model, a, b):
    """Whether shapes a and b may touch; the numbers are those of the rules in `scene.filters`."""
    A, B = model.shape_filter[a], model.shape_filter[b]
    if A[GROUP] == B[GROUP] or (A[MOVES] == 0 and B[MOVES] == 0):  # 1
        return False
    if A[RULED] == 1 and B[RULED] == 1:  # 2, and loops of 3
        place = find_pair(model, a, b)
        rule = NO_RULE if place < 0 else model.pair_rule[place]
        if rule == APART:
            return False
        if rule == TOGETHER:
            return True
    if A[HANGS_ON] == B[GROUP] or B[HANGS_ON] == A[GROUP]:  # 3
        return False
    if A[FAMILY] >= 0 and A[FAMILY] == B[FAMILY]:  # 4
        return False
    category, mask = model.shape_category, model.shape_mask
    return (category[a] & mask[b]) != 0 or (category[b] & mask[a]) != 0  # 5


@jit
def find_pair(model, a, b):
    """Place of shapes a and b, or else of their bodies, in the table of pairs with their own rules; -1: not there."""
    bodies = model.frame_count
    if model.shape_filter[a, PAIRED] == 1 and model.shape_filter[b, PAIRED] == 1:
        place = find_key(model.pair_key, bodies * bodies + min(a, b) * model.shape_count + max(a, b))
        if place >= 0:
            return place
    first, second = model.shape_frame[a], model.shape_frame[b]
    return find_key(model.pair_key, min(first, second) * bodies + max(first, second))


@jit
def find_key(keys, key):
    """Place of a key in the sorted keys, -1: not there."""
    place = first_from(keys, len(keys), key)
    return place if place < len(keys) and keys[place] == key else -1
