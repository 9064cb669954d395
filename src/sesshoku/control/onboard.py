"""`Onboard`: what a robot knows by its own sensors: a force sensor at each ankle, an IMU, and joint angles.

    walker = Walker(pattern, stabiliser=True, sensors=True)     # force sensors on the feet, an IMU on any body

The simulation's state is not looked at, but for joint angles and speeds (encoders). The trunk's orientation is followed
with the gyro and pulled towards the vertical that the accelerometer shows; the ground's force on a foot is what the
ankle sensor reads, less the foot's own weight. Noise and bias of the sensors (`scene.add_imu(..., gyro_noise=...)`) so
reach the stabiliser as they would on a robot.
"""

from __future__ import annotations

from math import cos, sin, sqrt

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record, array, scalar
from sesshoku.control.biped import Biped
from sesshoku.dynamics.frames import matrix_quaternion
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.errors import SceneError
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.simulation.sensors.memory import make_mounts
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.algebra import cross

PULL = 0.1  # 1/s: rate at which the accelerometer corrects what the gyro integrates
SIDES = ("left", "right")


class Senses(Record):
    """Where the sensors are, and the orientation that was estimated. Index 0: left foot, 1: right foot, 2: IMU."""

    imu_link = scalar()
    constants = array(float, 2)  # gravity, m/s^2; pull, 1/s
    position = array(float, 3, 3)  # in the links' frames
    rotation = array(float, 3, 3, 3)
    mass = array(float, 2)  # below each ankle sensor
    center = array(float, 2, 3)  # its centre, in the foot's link frame (springs below it at rest)
    attitude = array(float, 3, 3)  # R_world_imu
    work = array(float, 3, 3)


@jit
def follow_attitude(senses, reading, dt):
    """Turn the attitude by the gyro's angular velocity over a step, and towards the accelerometer's vertical."""
    R, new = senses.attitude, senses.work
    ax, ay, az = reading[0], reading[1], reading[2]
    size = sqrt(ax * ax + ay * ay + az * az)
    x, y, z = reading[3] * dt, reading[4] * dt, reading[5] * dt
    if size > 0.5 * senses.constants[0]:  # not in flight
        ex, ey, ez = cross(ax / size, ay / size, az / size, R[2, 0], R[2, 1], R[2, 2])
        gain = senses.constants[1] * dt
        x, y, z = x + gain * ex, y + gain * ey, z + gain * ez
    angle = sqrt(x * x + y * y + z * z)
    s, c = (sin(angle) / angle, (1.0 - cos(angle)) / (angle * angle)) if angle > 1e-8 else (1.0, 0.5)
    for a in range(3):  # R exp([x]): columns of R turned about its own axes
        r0, r1, r2 = R[a, 0], R[a, 1], R[a, 2]
        tx, ty, tz = cross(r0, r1, r2, x, y, z)  # r [x]
        ux, uy, uz = cross(tx, ty, tz, x, y, z)
        new[a, 0], new[a, 1], new[a, 2] = r0 + s * tx + c * ux, r1 + s * ty + c * uy, r2 + s * tz + c * uz
    for a in range(3):
        for b in range(3):
            R[a, b] = 1.5 * new[a, b]
            for k in range(3):  # stays a rotation: one step of R (3 - R^T R) / 2
                R[a, b] -= 0.5 * new[a, k] * (new[0, k] * new[0, b] + new[1, k] * new[1, b] + new[2, k] * new[2, b])


@jit
def sense_onboard(model, data, legs, balance, senses, read, dt, wrench_out):
    """Put what the sensors tell into balance.q, v (joints are there already) and wrench_out (2, 6).

    rows (3) of readings (S, 6): force and torque of the left and the right ankle; acceleration, angular velocity.
    """
    readings, rows = read
    q, v, at, first, link = balance.q, balance.v, legs.root_coordinate, legs.root_dof, senses.imu_link
    imu = readings[rows[2]]
    follow_attitude(senses, imu, dt)
    for a in range(3):
        v[first + a] = v[first + 3 + a] = 0.0
    q[at], q[at + 1], q[at + 2], q[at + 3], q[at + 4], q[at + 5], q[at + 6] = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    kinematics(model, data, q)
    link_velocities(model, data, v)
    # base = attitude times (IMU seen from the base) transposed
    A, B, R, W = senses.attitude, data.rotation[link], senses.rotation[2], senses.work
    for a in range(3):
        for b in range(3):
            W[a, b] = 0.0
            for k in range(3):  # (B R)^T
                seen = B[b, 0] * R[0, k] + B[b, 1] * R[1, k] + B[b, 2] * R[2, k]
                W[a, b] += A[a, k] * seen
    q[at + 3], q[at + 4], q[at + 5], q[at + 6] = matrix_quaternion(
        W[0, 0], W[0, 1], W[0, 2], W[1, 0], W[1, 1], W[1, 2], W[2, 0], W[2, 1], W[2, 2])
    for a in range(3):
        own = data.velocity[link]  # of the IMU's link by the joints below it, base axes
        v[first + 3 + a] = (A[a, 0] * imu[3] + A[a, 1] * imu[4] + A[a, 2] * imu[5]
                            - W[a, 0] * own[3] - W[a, 1] * own[4] - W[a, 2] * own[5])
    kinematics(model, data, q)
    for side in range(2):
        ground_wrench(data, legs, senses, side, readings[rows[side]], wrench_out[side])


@jit
def ground_wrench(data, legs, senses, side, reading, wrench_out):
    """Force and moment about the world's origin (6) of the ground on a foot at rest, from its ankle sensor."""
    link = legs.foot_link[side]
    F, r, origin = data.rotation[link], data.offset[link], data.tree_origin[legs.tree]
    R, p, c = senses.rotation[side], senses.position[side], senses.center[side]
    for part in range(2):  # the foot's share of force, then of torque, reversed, in world axes
        at = 3 * part
        lx = R[0, 0] * reading[at] + R[0, 1] * reading[at + 1] + R[0, 2] * reading[at + 2]
        ly = R[1, 0] * reading[at] + R[1, 1] * reading[at + 1] + R[1, 2] * reading[at + 2]
        lz = R[2, 0] * reading[at] + R[2, 1] * reading[at + 1] + R[2, 2] * reading[at + 2]
        for a in range(3):
            wrench_out[at + a] = -(F[a, 0] * lx + F[a, 1] * ly + F[a, 2] * lz)
    sx = origin[0] + r[0] + F[0, 0] * p[0] + F[0, 1] * p[1] + F[0, 2] * p[2]
    sy = origin[1] + r[1] + F[1, 0] * p[0] + F[1, 1] * p[1] + F[1, 2] * p[2]
    sz = origin[2] + r[2] + F[2, 0] * p[0] + F[2, 1] * p[1] + F[2, 2] * p[2]
    mx, my, mz = cross(sx, sy, sz, wrench_out[0], wrench_out[1], wrench_out[2])
    weight = senses.mass[side] * senses.constants[0]
    cx = origin[0] + r[0] + F[0, 0] * c[0] + F[0, 1] * c[1] + F[0, 2] * c[2]
    cy = origin[1] + r[1] + F[1, 0] * c[0] + F[1, 1] * c[1] + F[1, 2] * c[2]
    wrench_out[2] += weight
    wrench_out[3] += mx + cy * weight
    wrench_out[4] += my - cx * weight
    wrench_out[5] += mz


class Onboard:
    """Reads the sensors of a simulation for a stabiliser. One for each walk: it follows the trunk's orientation."""

    def __init__(self, biped: Biped, imu: str | None = None) -> None:
        compiled, model = biped.compiled, biped.model
        scene, mounts = compiled.scene, make_mounts(compiled)
        names = list(scene.sensors)
        links = [int(link) for link in biped.legs.foot_link]
        found = [[i for i, sensor in enumerate(scene.sensors.values()) if isinstance(sensor, ForceSensor)
                  and int(mounts.link[i]) == link] for link in links]
        for side, (joint, at) in enumerate(zip((biped.map.left[-1], biped.map.right[-1]), found)):
            if not at:
                raise SceneError(f"no force sensor at the {SIDES[side]} ankle", element=f"joint {joint!r}",
                                 remedy=f"scene.add_force_sensor(\"{SIDES[side]}_ankle\", joint={joint!r})")
        imus = [i for i, sensor in enumerate(scene.sensors.values()) if isinstance(sensor, Imu)
                and (imu is None or sensor.name == imu)
                and biped.legs.first_link <= mounts.link[i] < biped.legs.last_link]
        if not imus:
            raise SceneError("the robot has no such IMU" if imu else "the robot has no IMU", element="walker, sensors",
                             value=imu, remedy=f"scene.add_imu(\"trunk\", {compiled.link_names[biped.root]!r})")
        self.index = np.array([found[0][0], found[1][0], imus[0]])
        self.names = [names[i] for i in self.index]
        mass, center = np.zeros(2), np.zeros((2, 3))
        kinematics(model, biped.data, biped.legs.home)
        data = biped.data
        for side, i in enumerate(self.index[:2]):
            for part in range(mounts.part_start[i], mounts.part_start[i + 1]):
                m, link = mounts.part_mass[part], mounts.part_link[part]
                place = data.offset[link] + data.rotation[link] @ mounts.part_center[part]
                mass[side] += m
                center[side] += m * data.rotation[links[side]].T @ (place - data.offset[links[side]])
            center[side] /= max(mass[side], 1e-12)
        self.senses = Senses.sized(
            {}, imu_link=int(mounts.link[imus[0]]), constants=np.array([biped.gravity, PULL]),
            position=mounts.position[self.index].copy(), rotation=mounts.rotation[self.index].copy(),
            mass=mass, center=center, attitude=np.eye(3))
        self.biped, self.wrench = biped, np.zeros((2, 6))

    def start(self, sim: Simulation) -> None:
        """The robot is placed by hand: the filter begins with the truth."""
        kinematics(self.biped.model, self.biped.data, sim.q)
        self.senses.attitude[:] = self.biped.data.rotation[self.senses.imu_link] @ self.senses.rotation[2]
        self.wrench[:] = 0.0


__all__ = ["Onboard"]
