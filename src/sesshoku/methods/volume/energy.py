"""What energy the wrenches of an island may add: no more than the recovery of depth asks for (`energy="bounded"`).

The wrenches p change the kinetic energy of the free motion by p . b + 1/2 p . A p. A law that weighs errors by inertia
keeps this below p . t, t the twists that the depths ask for; least squares over areas do not. Where they add more, all
wrenches of the island are scaled down by one share, which leaves every one of them within its cone.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.methods.volume.work import FREED
from sesshoku.stages.passivity import correction_energy, share_within

TOLERANCE = 1e-3  # of |y|^2: what is left to rounding at the end
SINGULAR = 1e-12  # of the product of its diagonal: a smaller determinant of the area's moments is none


@jit
def recovery_power(work, c, p):
    """p . t of overlap c: the wrench p (6) times the twist that its depths ask for, (fn, t1, t2) with (vn, w1, w2)."""
    S, target = work.overlaps.area_moment[c], work.target[c]
    s, m1, m2, a, b, d = S[0], S[1], S[2], S[3], S[4], S[5]
    if not s > 0.0:
        return 0.0
    f, g, h = target[0], target[1], target[2]
    # rows (s, m2, -m1), (m2, d, -b), (-m1, -b, a)
    det = s * (d * a - b * b) - m2 * (m2 * a - b * m1) - m1 * (d * m1 - m2 * b)
    if not det > SINGULAR * s * d * a:
        return p[2] * f / s
    v = (f * (d * a - b * b) - m2 * (g * a + b * h) - m1 * (-g * b - d * h)) / det
    w1 = (s * (g * a + b * h) - f * (m2 * a - b * m1) - m1 * (m2 * h + g * m1)) / det
    w2 = (s * (d * h + g * b) - m2 * (m2 * h + g * m1) + f * (-m2 * b + d * m1)) / det
    return p[2] * v + p[3] * w1 + p[4] * w2


@jit
def dense_share(work, contact_list):
    """The share of work.impulse that adds no more than it may, by work.delassus and work.free."""
    A, b, p, n = work.delassus, work.free, work.impulse, 6 * len(contact_list)
    linear = square = allowed = 0.0
    for r in range(n):
        linear += p[r] * b[r]
        for s in range(n):
            square += p[r] * A[r, s] * p[s]
    for i in range(len(contact_list)):
        allowed += recovery_power(work, contact_list[i], p[6 * i : 6 * i + 6])
    return share_within(linear, square, allowed)


@jit
def sparse_share(work, contact_list, dof_list, y):
    """The same of work.wrench in a large island, y = Z^T p."""
    linear = square = allowed = 0.0
    for i in range(len(contact_list)):
        p = work.wrench[contact_list[i]]
        for a in range(6):
            linear += p[a] * work.free[6 * i + a]
        allowed += recovery_power(work, contact_list[i], p)
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            square += y[k] * y[k]
    return share_within(linear, square, allowed)


@jit
def bound_all(model, work, contact_list, joint_list, dof_list):
    """At the end, joint rows too: their impulses and work.wrench scaled to what adds no energy; False: nothing to do.

    By y of all of them, which tells where a matrix without the held joints was no more than rounding.
    """
    problem, linear, square, allowed, speed = work.problem, 0.0, 0.0, 0.0, 0.0
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            square += problem.y[k] * problem.y[k]
    for i in range(len(contact_list)):
        c = contact_list[i]
        p = work.wrench[c]
        for a in range(3):
            linear += p[a] * problem.free[2 * c, a] + p[3 + a] * problem.free[2 * c + 1, a]
        allowed += recovery_power(work, c, p)
        if work.overlaps.area_moment[c, 0] > 0.0:
            speed = max(speed, work.target[c, 0] / work.overlaps.area_moment[c, 0])
    for j in range(len(joint_list)):
        linear += problem.joint_impulse[joint_list[j]] * problem.joint_free[joint_list[j]]
    if allowed > 0.0 and linear + 0.5 * square > 0.0:
        allowed = min(allowed, correction_energy(model, dof_list, speed))
    if linear + (0.5 - TOLERANCE) * square <= allowed:
        return False
    share = share_within(linear, square, allowed)
    for i in range(len(contact_list)):
        c = contact_list[i]
        for a in range(6):
            work.wrench[c, a] *= share
        if share == 0.0:
            work.verdict[c] = FREED
    for j in range(len(joint_list)):
        problem.joint_impulse[joint_list[j]] *= share
    for n in range(len(dof_list)):
        for k in range(dof_list[n, 0], dof_list[n, 1]):
            problem.y[k] *= share
    return True
