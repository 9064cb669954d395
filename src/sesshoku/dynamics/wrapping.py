"""Cords round spheres and cylinders: where a taut cord between two points meets a shape and leaves it.

Both come down to a circle in a plane. Of a sphere the plane holds its centre and the two points, and the cord lies on a
great circle. Of a cylinder it is the plane across its axis; along the axis the cord climbs evenly with the way in that
plane, a helix where it lies on the shape. A cord whose straight way misses the shape is straight, else it takes the
short way round; a side that lies opposite to the angle between the two points sends it the far way in both cases. A
side within the shape makes it a ring: the cord runs through it, touches it at one point at most, and is straight where
it passes freely.
"""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

from sesshoku.compiled.jit import jit
from sesshoku.spatial.algebra import cross

STRAIGHT = -1.0  # in place of an arc's length
TOUCHING = 1e-9  # rad: an arc that is shorter, or longer than a full turn by rounding, is none
HALVINGS = 60


@jit
def wrap_sphere(p, q, r, sided, s):
    """Arc length, and the points where a cord from p to q meets and leaves a sphere of radius r about the origin.

    s: a place on the side it passes, if `sided`. The length is STRAIGHT where the cord does not touch the shape.
    """
    px, py, pz = p
    qx, qy, qz = q
    size = sqrt(px * px + py * py + pz * pz)
    nx, ny, nz = cross(px, py, pz, qx, qy, qz)
    across = sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        return STRAIGHT, p, q
    if across < 1e-12 * size * size:  # through the centre: any plane will do
        nx, ny, nz = (0.0, -pz, py) if abs(px) < 0.6 * size else (-py, px, 0.0)
        across = sqrt(nx * nx + ny * ny + nz * nz)
    ex, ey, ez = px / size, py / size, pz / size
    fx, fy, fz = cross(nx / across, ny / across, nz / across, ex, ey, ez)
    side = s[0] * ex + s[1] * ey + s[2] * ez, s[0] * fx + s[1] * fy + s[2] * fz
    inside = sided and s[0] * s[0] + s[1] * s[1] + s[2] * s[2] < r * r
    other = qx * ex + qy * ey + qz * ez, qx * fx + qy * fy + qz * fz
    arc, a, b = wrap_circle((size, 0.0), other, r, sided, inside, side)
    return (arc, (a[0] * ex + a[1] * fx, a[0] * ey + a[1] * fy, a[0] * ez + a[1] * fz),
            (b[0] * ex + b[1] * fx, b[0] * ey + b[1] * fy, b[0] * ez + b[1] * fz))


@jit
def wrap_cylinder(p, q, r, sided, s):
    """The same round a cylinder about the z axis, without ends."""
    inside = sided and s[0] * s[0] + s[1] * s[1] < r * r
    arc, a, b = wrap_circle((p[0], p[1]), (q[0], q[1]), r, sided, inside, (s[0], s[1]))
    if arc < 0.0:
        return arc, p, q
    to, off = distance(p[0], p[1], a[0], a[1]), distance(q[0], q[1], b[0], b[1])
    climb = (q[2] - p[2]) / (to + arc + off) if to + arc + off > 0.0 else 0.0
    rise = climb * arc
    return (sqrt(arc * arc + rise * rise), (a[0], a[1], p[2] + climb * to),
            (b[0], b[1], p[2] + climb * (to + arc)))


@jit
def wrap_circle(p, q, r, sided, inside, s):
    """Arc length, and the points where a cord from p to q in a plane meets and leaves a circle about the origin."""
    px, py = p
    qx, qy = q
    pp, qq = px * px + py * py, qx * qx + qy * qy
    dx, dy = qx - px, qy - py
    dd = dx * dx + dy * dy
    if pp < r * r or qq < r * r or dd == 0.0 or r <= 0.0:
        return STRAIGHT, p, q
    t = min(max(-(px * dx + py * dy) / dd, 0.0), 1.0)
    nx, ny = px + t * dx, py + t * dy  # the nearest point of the straight way
    near = nx * nx + ny * ny
    if inside:
        if near < r * r:
            return STRAIGHT, p, q
        x, y = through_ring(px, py, qx, qy, r)
        return 0.0, (x, y), (x, y)
    far = sided and goes_far(p, q, s)
    if near > r * r and not far:
        return STRAIGHT, p, q
    left = px * qy - py * qx
    if left == 0.0:  # through the centre
        left = s[1] * px - s[0] * py if sided else 1.0
    sense = 1.0 if (left > 0.0) != far else -1.0
    ax, ay, bx, by = tangents(px, py, qx, qy, r, sense)
    turn = sense * atan2(ax * by - ay * bx, ax * bx + ay * by)
    if turn < -TOUCHING:
        turn += 2.0 * pi
    return r * max(turn, 0.0), (ax, ay), (bx, by)


@jit
def goes_far(p, q, s):
    """Whether a cord goes the far way round to pass on the side of s: where what is opposite to s lies between p and q.

    -s = a p + b q with positive a and b.
    """
    area = p[0] * q[1] - p[1] * q[0]
    a, b = s[1] * q[0] - s[0] * q[1], s[0] * p[1] - s[1] * p[0]
    return a * area > 0.0 and b * area > 0.0


@jit
def tangents(px, py, qx, qy, r, sense):
    """Where cords from p and to q touch the circle if they go round it counter-clockwise (sense 1) or clockwise."""
    pp, qq = px * px + py * py, qx * qx + qy * qy
    a, b = sense * sqrt(pp - r * r), sense * sqrt(qq - r * r)
    return (r * (r * px - a * py) / pp, r * (r * py + a * px) / pp,
            r * (r * qx + b * qy) / qq, r * (r * qy - b * qx) / qq)


@jit
def through_ring(px, py, qx, qy, r):
    """The point of the circle on the shortest way from p over it to q: both parts meet it at the same angle."""
    first = atan2(py, px)
    turn = atan2(px * qy - py * qx, px * qx + py * qy)
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        angle = first + middle * turn
        x, y = r * cos(angle), r * sin(angle)
        # rate of the way along the circle, in the sense from p to q
        rate = (py * x - px * y) / distance(px, py, x, y) + (qy * x - qx * y) / distance(qx, qy, x, y)
        if rate * turn < 0.0:
            high = middle
        else:
            low = middle
    angle = first + 0.5 * (low + high) * turn
    return r * cos(angle), r * sin(angle)


@jit
def distance(ax, ay, bx, by):
    return sqrt((ax - bx) ** 2 + (ay - by) ** 2)
