"""What the materials of two shapes combine to: the rule of `scene.materials` on the model's arrays, for all methods.

A pair with coefficients of its own has those. Otherwise the shape of higher priority decides alone; of equals friction
is the geometric mean, or the larger of the two where one of them asks for the maximum (files of MuJoCo do), and the
number of directions in which friction acts (`condim`: 1 none, 3 sliding, 4 turning about the normal too, 6 rolling too)
is the larger one. Restitution is always the larger.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.filter import find_pair
from sesshoku.compiled.jit import jit
from sesshoku.model.arrays import COMBINE, CONDIM, MAXIMUM, PRIORITY, RULED


@jit
def pair_coefficients(model, a, b):
    """Static and kinetic friction and restitution of two shapes."""
    if model.shape_filter[a, RULED] == 1 and model.shape_filter[b, RULED] == 1:
        place = find_pair(model, a, b)
        if place >= 0 and model.pair_material[place, 0] >= 0.0:
            pair = model.pair_material[place]
            return pair[0], pair[1], pair[2]
    A, B = model.shape_material[a], model.shape_material[b]
    R, S = model.shape_rule[a], model.shape_rule[b]
    bounce = max(A[2], B[2])
    if pair_condim(R, S) < 3:
        return 0.0, 0.0, bounce
    if R[PRIORITY] > S[PRIORITY]:
        return A[0], A[1], bounce
    if R[PRIORITY] < S[PRIORITY]:
        return B[0], B[1], bounce
    if R[COMBINE] == MAXIMUM or S[COMBINE] == MAXIMUM:
        return max(A[0], B[0]), max(A[1], B[1]), bounce
    kinetic = sqrt(A[1] * B[1])
    return max(sqrt(A[0] * B[0]), kinetic), kinetic, bounce


@jit
def rolling_coefficients(model, a, b):
    """Torsional and rolling coefficient of two shapes (m)."""
    if model.shape_filter[a, RULED] == 1 and model.shape_filter[b, RULED] == 1:
        place = find_pair(model, a, b)
        if place >= 0 and model.pair_rolling[place, 0] >= 0.0:
            return model.pair_rolling[place, 0], model.pair_rolling[place, 1]
    A, B = model.shape_rolling[a], model.shape_rolling[b]
    R, S = model.shape_rule[a], model.shape_rule[b]
    condim = pair_condim(R, S)
    torsional, rolling = max(A[0], B[0]), max(A[1], B[1])
    if R[PRIORITY] > S[PRIORITY]:
        torsional, rolling = A[0], A[1]
    elif R[PRIORITY] < S[PRIORITY]:
        torsional, rolling = B[0], B[1]
    return torsional if condim >= 4 else 0.0, rolling if condim >= 6 else 0.0


@jit
def pair_condim(R, S):
    """In how many directions two shapes of these rules rub, the normal one counted."""
    if R[PRIORITY] == S[PRIORITY]:
        return max(R[CONDIM], S[CONDIM])
    return R[CONDIM] if R[PRIORITY] > S[PRIORITY] else S[CONDIM]
