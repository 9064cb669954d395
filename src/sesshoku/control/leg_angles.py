"""Closed-form kinematics of a leg: hip yaw z, roll x, pitch y in one point; knee y; ankle pitch y, roll x in one point.

R_foot = R_base Rz(q1) Rx(q2) Ry(q3) Ry(q4) Ry(q5) Rx(q6), thigh A and shank B along -z at zero angles. Seen from the
ankle in the foot's axes the hip is at r = R_foot^T (hip - ankle):
    knee         law of cosines, |r|^2 = A^2 + B^2 + 2 A B cos q4, bent forward (q4 >= 0)
    ankle roll   undone, r lies in the x-z plane: q6 = atan2(r_y, r_z)
    ankle pitch  in that plane the hip is at (-B sin q5 - A sin(q4 + q5), B cos q5 + A cos(q4 + q5))
    hip          R_base^T R_foot Rx(-q6) Ry(-q4 - q5) = Rz(q1) Rx(q2) Ry(q3)
"""

from __future__ import annotations

from math import acos, atan2, cos, hypot, pi, sin, sqrt

from sesshoku.compiled.jit import jit

LEAST_KNEE = 0.03  # rad: a straighter knee is refused, speeds go to infinity there


@jit
def leg_angles(A, B, hip, R_base, ankle, R_foot, angles_out):
    """Angles (6) of a leg from hip centre and ankle (3, world) and the rotations of base and foot (3, 3).

    Returns by how much (m) the foot is out of reach; the leg then points at it, as straight as LEAST_KNEE.
    """
    dx, dy, dz = hip[0] - ankle[0], hip[1] - ankle[1], hip[2] - ankle[2]
    rx = R_foot[0, 0] * dx + R_foot[1, 0] * dy + R_foot[2, 0] * dz
    ry = R_foot[0, 1] * dx + R_foot[1, 1] * dy + R_foot[2, 1] * dz
    rz = R_foot[0, 2] * dx + R_foot[1, 2] * dy + R_foot[2, 2] * dz
    farthest = sqrt(A * A + B * B + 2.0 * A * B * cos(LEAST_KNEE))
    distance = sqrt(rx * rx + ry * ry + rz * rz)
    reach = max(min(distance, farthest), abs(A - B) + 1e-6)
    knee = acos(min(max((reach * reach - A * A - B * B) / (2.0 * A * B), -1.0), 1.0))
    shank = atan2(A * sin(knee), B + A * cos(knee))  # angle at the ankle between shank and the line to the hip
    roll = atan2(ry, rz)
    if roll > 0.5 * pi:
        roll -= pi
    elif roll < -0.5 * pi:
        roll += pi
    pitch = -atan2(rx, hypot(ry, rz) if rz >= 0.0 else -hypot(ry, rz)) - shank
    # rows 0..2 of R_base^T R_foot, then Rx(-roll) Ry(-knee - pitch) from the right
    c6, s6, c, s = cos(roll), sin(roll), cos(knee + pitch), sin(knee + pitch)
    r01 = r11 = r21 = r20 = r22 = 0.0
    for a in range(3):
        f0 = R_base[0, a] * R_foot[0, 0] + R_base[1, a] * R_foot[1, 0] + R_base[2, a] * R_foot[2, 0]
        f1 = R_base[0, a] * R_foot[0, 1] + R_base[1, a] * R_foot[1, 1] + R_base[2, a] * R_foot[2, 1]
        f2 = R_base[0, a] * R_foot[0, 2] + R_base[1, a] * R_foot[1, 2] + R_base[2, a] * R_foot[2, 2]
        g1, g2 = c6 * f1 - s6 * f2, s6 * f1 + c6 * f2
        if a == 0:
            r01 = g1
        elif a == 1:
            r11 = g1
        else:
            r20, r21, r22 = c * f0 + s * g2, g1, c * g2 - s * f0
    yaw = atan2(-r01, r11)
    angles_out[0] = yaw
    angles_out[1] = atan2(r21, -r01 * sin(yaw) + r11 * cos(yaw))
    angles_out[2] = atan2(-r20, r22)
    angles_out[3], angles_out[4], angles_out[5] = knee, pitch, roll
    return max(distance - farthest, 0.0)
