"""The stabiliser's kernels: from what a robot can sense to corrected foot and body targets.

Sensed: joint positions and speeds, orientation and turning rate of the base, force and moment at each foot. State
estimate, capture point (DCM) law, distribution to the feet, ankles, body; `stabilise` lists them.

With w = sqrt(g / z) the capture point xi = c + c'/w leaves its reference as e' = w (e - dp), where dp is the shift of
the ZMP; dp = (1 + k) e makes it decay with w k. The ZMP itself follows the ankles with a lag of 1/bandwidth, so the
error obeys s^2 + (b - w) s + w b k = 0: stable if b > w and k > 0.
"""

from __future__ import annotations

from math import atan2, cos, sin

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array
from sesshoku.control.posture import posture, rotation_of
from sesshoku.dynamics.centroid import center_of_mass, momentum
from sesshoku.dynamics.jacobian import point_velocity
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.spatial.algebra import cross

LEFT, RIGHT, BOTH = 0, 1, 2
# places in `gains`
(CAPTURE, BANDWIDTH, LEAK, LOAD_FILTER, VELOCITY_FILTER, TARGET_FILTER, MARGIN, INVERT, BODY, BODY_RATE, FREQUENCY,
 WEIGHT, LARGEST_ANGLE, LARGEST_SHIFT, LEVEL, LEVEL_FILTER) = range(16)
GAIN_COUNT = 16
# columns of a row of the plan
COM, COM_VELOCITY, ZMP, SHARE, FEET, BASE = 0, 3, 6, 8, 9, 21
ROW = 24


class Balance(Record):
    """Memory of a stabiliser. Index 0: left foot, 1: right foot. Q coordinates, V dofs of the whole scene."""

    gains = array(float, GAIN_COUNT)
    stiffness = array(float, 2, 3)  # roll, pitch, vertical
    q = array(float, "Q")  # as sensed
    v = array(float, "V")
    target = array(float, "Q")  # posture wanted at the end of the step
    load = array(float, 2, 3)  # vertical force, roll and pitch moment about the pivot's ground point, filtered
    com = array(float, 3)  # centre of mass in the plan's frame, estimated
    velocity = array(float, 3)  # its velocity, filtered
    started = array(int, 1)
    error = array(float, 2)  # capture point less its reference
    zmp = array(float, 2)  # wanted
    share = array(float, 2)  # of the weight, wanted
    foot_zmp = array(float, 2, 2)  # wanted
    loop = array(float, 2, 2)  # ankle angles of the moment loop: roll, pitch
    spring = array(float, 2, 2)  # of the inverted springs
    sag = array(float, 2)  # by which a foot is pushed down
    shift = array(float, 2)  # of the centre of mass
    shift_velocity = array(float, 2)
    level = array(float, 2, 6)  # by which a swing foot is moved and turned against a body that is off its plan
    feet = array(float, 2, 6)  # corrected targets
    work = array(float, 4, 3)


@jit
def stabilise(model, data, legs, balance, wrench, plan, dt):
    """Write balance.target (Q) for the end of the step.

    wrench (2, 6): force and moment about the world's origin by contact. now, ahead (ROW): the plan at the start and at
    the end of the step; support: LEFT, RIGHT or BOTH. balance.q, v: the sensed state.
    """
    now, support, ahead = plan
    kinematics(model, data, balance.q)
    link_velocities(model, data, balance.v)
    filter_loads(data, legs, balance, wrench, dt)
    estimate(model, data, legs, balance, now, support, dt)
    capture_law(balance, now)
    distribute(legs, balance, now, support)
    bend_ankles(legs, balance, ahead, dt)
    level_swing(data, legs, balance, now, support, dt)
    move_body(legs, balance, now, dt)
    work = balance.work
    for a in range(3):
        work[0, a], work[1, a] = ahead[COM + a], ahead[BASE + a]
    work[0, 0] += balance.shift[0]
    work[0, 1] += balance.shift[1]
    posture(model, data, legs, balance.target, work[0], work[1], balance.feet, 3, 1e-7)


@jit
def foot_heading(data, legs, side):
    """Yaw of a foot's sole."""
    R, R0 = data.rotation[legs.foot_link[side]], legs.sole_rotation[side]
    x = R[0, 0] * R0[0, 0] + R[0, 1] * R0[1, 0] + R[0, 2] * R0[2, 0]
    y = R[1, 0] * R0[0, 0] + R[1, 1] * R0[1, 0] + R[1, 2] * R0[2, 0]
    return atan2(y, x)


@jit
def foot_point(data, legs, side, x, y, z):
    """World place of the point (x, y, z) of the sole's axes, from the tree's origin."""
    link, p, R0 = legs.foot_link[side], legs.sole_position[side], legs.sole_rotation[side]
    R, r = data.rotation[link], data.offset[link]
    lx = p[0] + R0[0, 0] * x + R0[0, 1] * y + R0[0, 2] * z
    ly = p[1] + R0[1, 0] * x + R0[1, 1] * y + R0[1, 2] * z
    lz = p[2] + R0[2, 0] * x + R0[2, 1] * y + R0[2, 2] * z
    return (r[0] + R[0, 0] * lx + R[0, 1] * ly + R[0, 2] * lz, r[1] + R[1, 0] * lx + R[1, 1] * ly + R[1, 2] * lz,
            r[2] + R[2, 0] * lx + R[2, 1] * ly + R[2, 2] * lz)


@jit
def filter_loads(data, legs, balance, wrench, dt):
    """Vertical force and roll, pitch moments of each foot about the ground below its pivot, in the foot's heading."""
    load, origin = balance.load, data.tree_origin[legs.tree]
    rate = min(1.0, dt / balance.gains[LOAD_FILTER])
    for side in range(2):
        yaw = foot_heading(data, legs, side)
        c, s = cos(yaw), sin(yaw)
        h, bx, by = legs.length[side, 2], legs.pivot[side, 0], legs.pivot[side, 1]
        ax, ay, az = foot_point(data, legs, side, 0.0, 0.0, h)  # the ankle
        gx, gy, gz = origin[0] + ax + c * bx - s * by, origin[1] + ay + s * bx + c * by, origin[2] + az - h
        w = wrench[side]
        mx, my, _ = cross(gx, gy, gz, w[0], w[1], w[2])
        mx, my = w[3] - mx, w[4] - my
        load[side, 0] += (w[2] - load[side, 0]) * rate
        load[side, 1] += (c * mx + s * my - load[side, 1]) * rate
        load[side, 2] += (-s * mx + c * my - load[side, 2]) * rate


@jit
def estimate(model, data, legs, balance, now, support, dt):
    """Centre of mass and its velocity as seen from the standing feet's pivots: slip of the feet never enters."""
    origin, center, mass_motion, com, velocity = (data.tree_origin[legs.tree], balance.work[2], legs.motion,
                                                  balance.com, balance.work[3])
    mass = center_of_mass(model, data, legs.first_link, legs.last_link, center)
    momentum(model, data, legs.first_link, legs.last_link, center, mass_motion)
    left, right = max(balance.load[0, 0], 0.0), max(balance.load[1, 0], 0.0)
    weight = now[SHARE] if left + right < 1.0 else left / (left + right)
    if support != BOTH:
        weight = 1.0 if support == LEFT else 0.0
    for a in range(3):
        com[a] = velocity[a] = 0.0
    for side in range(2):
        part = weight if side == LEFT else 1.0 - weight
        if part <= 0.0:
            continue
        p, at = legs.pivot[side], FEET + 6 * side
        bx, by, bz = foot_point(data, legs, side, p[0], p[1], p[2])
        ux, uy, uz = point_velocity(data.velocity, legs.foot_link[side], bx, by, bz)
        turn = now[at + 5] - foot_heading(data, legs, side)
        c, s = cos(turn), sin(turn)
        dx, dy, dz = center[0] - origin[0] - bx, center[1] - origin[1] - by, center[2] - origin[2] - bz
        vx, vy, vz = mass_motion[0] / mass - ux, mass_motion[1] / mass - uy, mass_motion[2] / mass - uz
        cp, sp = cos(now[at + 5]), sin(now[at + 5])
        com[0] += part * (c * dx - s * dy + now[at] + cp * p[0] - sp * p[1])
        com[1] += part * (s * dx + c * dy + now[at + 1] + sp * p[0] + cp * p[1])
        com[2] += part * (dz + now[at + 2] + p[2])
        velocity[0] += part * (c * vx - s * vy)
        velocity[1] += part * (s * vx + c * vy)
        velocity[2] += part * vz
    rate = min(1.0, dt / balance.gains[VELOCITY_FILTER]) if balance.started[0] else 1.0
    balance.started[0] = 1
    for a in range(3):
        balance.velocity[a] += (velocity[a] - balance.velocity[a]) * rate


@jit
def capture_law(balance, now):
    """ZMP that brings the capture point back to its reference."""
    w, gain = balance.gains[FREQUENCY], 1.0 + balance.gains[CAPTURE]
    for a in range(2):
        e = balance.com[a] - now[COM + a] + (balance.velocity[a] - now[COM_VELOCITY + a]) / w
        balance.error[a] = e
        balance.zmp[a] = now[ZMP + a] + gain * e


@jit
def clip_to_sole(legs, now, side, margin, x, y):
    """The point of a planted sole, shrunk by a margin, nearest to (x, y) along its axes."""
    at, box = FEET + 6 * side, legs.sole_box[side]
    c, s = cos(now[at + 5]), sin(now[at + 5])
    dx, dy = x - now[at], y - now[at + 1]
    lx = min(max(c * dx + s * dy, box[0] + margin), box[1] - margin)
    ly = min(max(-s * dx + c * dy, box[2] + margin), box[3] - margin)
    return now[at] + c * lx - s * ly, now[at + 1] + s * lx + c * ly


@jit
def distribute(legs, balance, now, support):
    """Share of the weight and ZMP of each foot that together give the wanted ZMP, as far as soles reach."""
    share, place, zmp, margin = balance.share, balance.foot_zmp, balance.zmp, balance.gains[MARGIN]
    mid = balance.work
    for side in range(2):  # middle of each sole: where a foot's ZMP belongs
        at, box = FEET + 6 * side, legs.sole_box[side]
        x, y = 0.5 * (box[0] + box[1]), 0.5 * (box[2] + box[3])
        c, s = cos(now[at + 5]), sin(now[at + 5])
        mid[side, 0], mid[side, 1] = now[at] + c * x - s * y, now[at + 1] + s * x + c * y
        place[side, 0], place[side, 1] = mid[side, 0], mid[side, 1]
    if support != BOTH:
        share[support], share[1 - support] = 1.0, 0.0
        place[support, 0], place[support, 1] = clip_to_sole(legs, now, support, margin, zmp[0], zmp[1])
        zmp[0], zmp[1] = place[support, 0], place[support, 1]
        return
    dx, dy = mid[0, 0] - mid[1, 0], mid[0, 1] - mid[1, 1]
    left = ((zmp[0] - mid[1, 0]) * dx + (zmp[1] - mid[1, 1]) * dy) / (dx * dx + dy * dy)
    left = min(max(left, 0.0), 1.0)
    rest_x = zmp[0] - left * mid[0, 0] - (1.0 - left) * mid[1, 0]
    rest_y = zmp[1] - left * mid[0, 1] - (1.0 - left) * mid[1, 1]
    share[0], share[1] = left, 1.0 - left
    for side in range(2):
        place[side, 0], place[side, 1] = clip_to_sole(
            legs, now, side, margin, mid[side, 0] + rest_x, mid[side, 1] + rest_y)
    zmp[0] = left * place[0, 0] + (1.0 - left) * place[1, 0]
    zmp[1] = left * place[0, 1] + (1.0 - left) * place[1, 1]


@jit
def bend_ankles(legs, balance, ahead, dt):
    """Foot targets that give each foot its ZMP and its load.

    A moment tau on the ground through a stiffness k needs the foot's bracket turned by -tau / k. Springs below the
    ankle are inverted (INVERT); what remains is found by a loop on the measured moment.
    """
    gains, feet, load = balance.gains, balance.feet, balance.load
    smooth, most = min(1.0, dt / gains[TARGET_FILTER]), gains[LARGEST_ANGLE]
    for side in range(2):
        at, p = FEET + 6 * side, legs.pivot[side]
        yaw = ahead[at + 5]
        c, s = cos(yaw), sin(yaw)
        push = balance.share[side] * gains[WEIGHT]
        dx = balance.foot_zmp[side, 0] - ahead[at] - c * p[0] + s * p[1]
        dy = balance.foot_zmp[side, 1] - ahead[at + 1] - s * p[0] - c * p[1]
        lx, ly = c * dx + s * dy, -s * dx + c * dy
        loaded = balance.share[side] > 0.0
        for axis in range(2):
            k = balance.stiffness[side, axis]
            wanted = ly * push if axis == 0 else -lx * push
            goal = 0.0
            if loaded:
                missing, bent = wanted - load[side, 1 + axis], balance.loop[side, axis]
                balance.loop[side, axis] -= dt * (gains[BANDWIDTH] / k * missing + gains[LEAK] * bent)
                goal = -gains[INVERT] * wanted / k
            else:
                balance.loop[side, axis] -= dt * 10.0 * balance.loop[side, axis]
            balance.spring[side, axis] += (goal - balance.spring[side, axis]) * smooth
        sag = -gains[INVERT] * push / balance.stiffness[side, 2]
        balance.sag[side] += (sag - balance.sag[side]) * smooth
        roll = min(max(balance.loop[side, 0] + balance.spring[side, 0], -most), most)
        pitch = min(max(balance.loop[side, 1] + balance.spring[side, 1], -most), most)
        turn_about_pivot(feet[side], ahead, at, p, c, s, (roll, pitch))
        feet[side, 2] += balance.sag[side]


@jit
def turn_about_pivot(foot_out, ahead, at, p, c, s, tilt):
    """A planned foot (x, y, z, roll, pitch, yaw) turned by roll and pitch about its pivot p."""
    roll, pitch = tilt
    cr, sr, cp, sp = cos(roll), sin(roll), cos(pitch), sin(pitch)
    # Ry(pitch) Rx(roll) p, in the foot's heading
    y, z = cr * p[1] - sr * p[2], sr * p[1] + cr * p[2]
    x, z = cp * p[0] + sp * z, cp * z - sp * p[0]
    dx, dy = p[0] - x, p[1] - y
    foot_out[0] = ahead[at] + c * dx - s * dy
    foot_out[1] = ahead[at + 1] + s * dx + c * dy
    foot_out[2] = ahead[at + 2] + p[2] - z
    foot_out[3], foot_out[4], foot_out[5] = roll, pitch, ahead[at + 5]


@jit
def level_swing(data, legs, balance, now, support, dt):
    """Keep the swing foot where the world wants it, level, though the body leans and is off its plan.

    Postures are made for an upright body on its plan; one that leans carries the swing foot along. Seen from the centre
    of mass, the foot belongs at R (foot - c), R = R_plan R_body^T, instead of foot - c_plan.
    """
    gains, level, R = balance.gains, balance.level, legs.R_sole
    if gains[LEVEL] == 0.0:
        return
    rate = min(1.0, dt / gains[LEVEL_FILTER])
    for side in range(2):
        for a in range(6):
            legs.motion[a] = 0.0
        if support != BOTH and side != support:
            at = FEET + 6 * side
            turn = now[FEET + 6 * support + 5] - foot_heading(data, legs, support)
            body, plan = data.rotation[legs.root], legs.R_base
            rotation_of(now[BASE], now[BASE + 1], now[BASE + 2], plan)
            c, s = cos(turn), sin(turn)
            for b in range(3):  # R = plan (Rz(turn) body)^T
                x, y, z = (c * body[0, b] - s * body[1, b]), (s * body[0, b] + c * body[1, b]), body[2, b]
                for a in range(3):
                    if b == 0:
                        R[a, 0] = R[a, 1] = R[a, 2] = 0.0
                    R[a, 0] += plan[a, b] * x
                    R[a, 1] += plan[a, b] * y
                    R[a, 2] += plan[a, b] * z
            dx, dy, dz = now[at] - balance.com[0], now[at + 1] - balance.com[1], now[at + 2] - balance.com[2]
            for a in range(3):
                wanted = now[COM + a] + R[a, 0] * dx + R[a, 1] * dy + R[a, 2] * dz
                legs.motion[a] = gains[LEVEL] * (wanted - now[at + a])
            cy, sy = cos(now[at + 5]), sin(now[at + 5])
            wx, wy = R[2, 1], R[0, 2]  # a small turn, into the foot's heading
            legs.motion[3], legs.motion[4] = gains[LEVEL] * (cy * wx + sy * wy), gains[LEVEL] * (cy * wy - sy * wx)
        for a in range(6):
            level[side, a] += (legs.motion[a] - level[side, a]) * rate
            balance.feet[side, a] += level[side, a]


@jit
def move_body(legs, balance, now, dt):
    """Shift the centre of mass with the error of the ZMP: c'' = gain (p - p_wanted) - 2 r c' - r^2 c."""
    gain, rate, most = balance.gains[BODY], balance.gains[BODY_RATE], balance.gains[LARGEST_SHIFT]
    if gain == 0.0:
        return
    x = y = total = 0.0
    for side in range(2):
        at, p, f = FEET + 6 * side, legs.pivot[side], balance.load[side]
        if f[0] > 0.02 * balance.gains[WEIGHT]:
            c, s = cos(now[at + 5]), sin(now[at + 5])
            lx, ly = p[0] - f[2] / f[0], p[1] + f[1] / f[0]
            x += f[0] * (now[at] + c * lx - s * ly)
            y += f[0] * (now[at + 1] + s * lx + c * ly)
            total += f[0]
    ex = ey = 0.0
    if total > 0.0:
        ex, ey = x / total - balance.zmp[0], y / total - balance.zmp[1]
    for a in range(2):
        error = ex if a == 0 else ey
        push = gain * error - 2.0 * rate * balance.shift_velocity[a] - rate * rate * balance.shift[a]
        balance.shift_velocity[a] += dt * push
        balance.shift[a] = min(max(balance.shift[a] + dt * balance.shift_velocity[a], -most), most)


@jit
def sense(model, legs, balance, q, v):
    """What joint sensors and an IMU tell: joints, orientation and turning rate; joints without a motor are at home."""
    first = legs.root_dof
    for c in range(len(q)):
        balance.q[c] = q[c]
    for k in range(len(v)):
        balance.v[k] = v[k]
    for a in range(3):
        balance.v[first + a] = 0.0  # an IMU does not know where it is or how fast it goes
    for n in range(len(legs.free_coordinate)):
        balance.q[legs.free_coordinate[n]] = legs.home[legs.free_coordinate[n]]
        balance.v[legs.free_dof[n]] = 0.0
