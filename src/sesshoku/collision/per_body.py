"""Contacts summed up by body, for recordings."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit

NORMAL, FRICTION, LIMIT, SLIP_SPEED, STICKING, SLIPPING = range(6)  # columns of what comes out


@jit
def sum_by_body(count, shape, force, normal, material, state, slip, row, friction, out):
    """Normal forces, size of the summed friction, what friction may reach, fastest slip, how many stick, how many slip.

    Of the first `count` contacts. force (C, 3) on the second shape, N. row (shapes): the body's row in out (B, 6), -1:
    not asked for. friction (B, 3) is work space. Contacts that carry no force count for nothing.
    """
    for b in range(len(out)):
        for i in range(6):
            out[b, i] = 0.0
        for i in range(3):
            friction[b, i] = 0.0
    for c in range(count):
        if state[c] == RELEASED:
            continue
        push = force[c, 0] * normal[c, 0] + force[c, 1] * normal[c, 1] + force[c, 2] * normal[c, 2]
        mu = material[c, 1] if state[c] == SLIP else material[c, 0]
        for side in range(2):
            b = row[shape[c, side]]
            if b < 0:
                continue
            out[b, NORMAL] += push
            out[b, LIMIT] += mu * push
            out[b, SLIP_SPEED] = max(out[b, SLIP_SPEED], slip[c])
            out[b, STICKING] += state[c] == STICK
            out[b, SLIPPING] += state[c] == SLIP
            for i in range(3):
                friction[b, i] += (1.0 if side else -1.0) * (force[c, i] - push * normal[c, i])
    for b in range(len(out)):
        f = friction[b]
        out[b, FRICTION] = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
