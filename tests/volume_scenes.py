"""Scenes and helpers of the tests of `volume`."""

from __future__ import annotations

import numpy as np

import sesshoku as ss
from sesshoku.methods.registry import make
from sesshoku.methods.volume.dense import least_squares
from sesshoku.methods.volume.work import HELD

G, DT = 9.8, 1e-3
RUBBER = ss.Material(static_friction=0.5, kinetic_friction=0.3)


def box(size=(0.1, 0.1, 0.1), mass=1.0, depth=0.0, gravity=G, method="volume", dt=DT, material=RUBBER, **more):
    """One box on (or `depth` in) the ground."""
    scene = ss.Scene(gravity=(0, 0, -gravity))
    scene.add_ground(material=material)
    more.setdefault("position", (0, 0, 0.5 * size[2] - depth))
    scene.add_box("box", size=size, mass=mass, material=material, **more)
    return ss.Simulation(scene, method, dt)


def volume(**options):
    return make("volume", options)


def wrench(sim, c=0):
    """f1 f2 fn t1 t2 tn of overlap c in N and N m, along (e1, e2, n) at its barycentre."""
    return sim.records["memory"].wrench[c] / sim.dt


def polygon(sim, c=0):
    shapes = sim.records["overlaps"]
    return shapes.polygon[shapes.polygon_start[c] : shapes.polygon_start[c + 1]].copy()


def inside(corners, point, tolerance=0.0):
    """Whether a point of the plane is in a convex polygon, by the angles it sees: no rows involved."""
    d = np.roll(corners, -1, axis=0) - corners
    r = point - corners
    return bool((d[:, 0] * r[:, 1] - d[:, 1] * r[:, 0] >= -tolerance * np.hypot(*d.T)).all())


def parameters(sim):
    return sim.method.module.parameters(sim.method.options)


def turn(x, y, z):
    """A unit quaternion along (1, x, y, z)."""
    q = np.array([1.0, x, y, z])
    return q / np.linalg.norm(q)


def stack_problem(sign=-1.0):
    """Two overlaps in one island: simulation with its matrices filled, the error E(p) by its definition, unknowns."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    scene.add_box("low", size=(0.3, 0.2, 0.1), mass=2.0, position=(0, 0, 0.0493), rotation=turn(0.002, 0.001, 0),
                  velocity=(0.3, 0.1, -0.2), material=RUBBER)
    scene.add_box("high", size=(0.1, 0.15, 0.1), mass=0.7, position=(0.03, 0.02, 0.1482),
                  rotation=turn(0.003, -0.002, 1), angular_velocity=(0.1, 0.2, 2.0), material=RUBBER)
    sim = ss.Simulation(scene, "volume", DT)
    sim.step()
    records = sim.records
    memory, shapes, contacts, n = records["memory"], records["overlaps"], np.array([0, 1]), 12
    memory.verdict[:2] = HELD
    least_squares(shapes, memory, parameters(sim), contacts, True)
    A, b = memory.delassus[:n, :n].copy(), memory.free[:n].copy()

    def E(p):
        v, total = A @ p + b, 0.5 * 1e-3 * p @ p
        for i in range(2):
            S, m1, m2, R11, R12, R22 = shapes.area_moment[i]
            V, mh1, mh2 = shapes.depth_moment[i]
            v1, v2, vn, w1, w2, wn = v[6 * i : 6 * i + 6]
            normal = S * vn**2 + 2 * vn * (w1 * m2 - w2 * m1) + w1**2 * R22 - 2 * w1 * w2 * R12 + w2**2 * R11
            along = S * (v1**2 + v2**2) + 2 * wn * (v2 * m1 - v1 * m2) + wn**2 * (R11 + R22)
            total += 0.5 * (normal + along) + sign * 1000.0 * (vn * V + w1 * mh2 - w2 * mh1)
        return total

    return sim, E, n
