"""Contacts summed up by body, for recordings."""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross

NORMAL, FRICTION, LIMIT, SLIP_SPEED, STICKING, SLIPPING, TORQUE = range(7)  # columns of what comes out


@jit
def sum_by_body(count, shape, force, torque, normal, material, state, slip, row, total, out):
    """Normal forces, size of the summed friction, what friction may reach, fastest slip, how many stick, how many slip,
    size of the summed torque of rolling and torsional friction.

    Of the first `count` contacts. force, torque (C, 3) on the second shape, N and N m. row (shapes): the body's row in
    out (B, 7), -1: not asked for. total (B, 6) is work space. Contacts that carry no force count for nothing.
    """
    for b in range(len(out)):
        for i in range(7):
            out[b, i] = 0.0
        for i in range(6):
            total[b, i] = 0.0
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
            sign = 1.0 if side else -1.0
            for i in range(3):
                total[b, i] += sign * (force[c, i] - push * normal[c, i])
                total[b, 3 + i] += sign * torque[c, i]
    for b in range(len(out)):
        f = total[b]
        out[b, FRICTION] = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2])
        out[b, TORQUE] = sqrt(f[3] * f[3] + f[4] * f[4] + f[5] * f[5])


@jit
def wrench_by_body(count, shape, point, force, torque, row, out):
    """Summed contact force on each body and its torque about the world's origin, world axes: out (B, 6)."""
    for b in range(len(out)):
        for i in range(6):
            out[b, i] = 0.0
    for c in range(count):
        fx, fy, fz = force[c, 0], force[c, 1], force[c, 2]
        tx, ty, tz = cross(point[c, 0], point[c, 1], point[c, 2], fx, fy, fz)
        for side in range(2):
            b, sign = row[shape[c, side]], 1.0 if side else -1.0
            if b < 0:
                continue
            out[b, 0] += sign * fx
            out[b, 1] += sign * fy
            out[b, 2] += sign * fz
            out[b, 3] += sign * (tx + torque[c, 0])
            out[b, 4] += sign * (ty + torque[c, 1])
            out[b, 5] += sign * (tz + torque[c, 2])
