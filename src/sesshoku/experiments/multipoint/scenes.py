"""Scenes and landings that the experiments and tests of `multipoint` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku.methods.registry import Method, make
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Box, Sphere
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle

G = 9.8
FOOT = 1e-7  # m: radius of a rod's foot
RESOLVED: dict[str, Any] = {"friction_coupling": "resolve", "stick_target": "zero"}


def multipoint(**options: Any) -> Method:
    """The method with some options changed."""
    return make("multipoint", options)


def planar_crate(speed: float = 0.0, *, edge: float = 0.2, static: float = 0.3, kinetic: float | None = None) -> Scene:
    """A cube of 1 kg on the floor that can slide along x, rise and tip about y, and nothing else."""
    scene, material = Scene(gravity=(0, 0, -G), name="planar crate"), Material(static, kinetic)
    scene.add_ground(material=material)
    nothing = Inertial(1e-9, matrix=np.eye(3) * 1e-12)
    scene.add_body(
        "x", joint=Joint("prismatic", axis=(1, 0, 0), velocity=speed), inertial=nothing, position=(0, 0, edge / 2)
    )
    scene.add_body("z", parent="x", joint=Joint("prismatic", axis=(0, 0, 1)), inertial=nothing)
    scene.add_body(
        "crate",
        parent="z",
        joint=Joint("continuous", axis=(0, 1, 0)),
        inertial=Inertial(1.0, matrix=np.eye(3) * edge**2 / 6),
        geometries=[Geometry(Box((edge, edge, edge)), material=material)],
    )
    return scene


def rod(inertia: float, angle: float = np.pi / 4, *, friction: float = 0.0, restitution: float = 0.0) -> Scene:
    """A rod of 1 kg and half length l = 0.5 m whose lower end is on the floor, without gravity.

    inertia: about its centre, in units of m l^2 (uniform: 1/3).
    """
    scene, material = Scene(gravity=(0, 0, 0), name="rod"), Material(friction, None, restitution)
    scene.add_ground(material=material)
    scene.add_body(
        "rod",
        position=(0.5 * np.cos(angle), 0, 0.5 * np.sin(angle) + FOOT),
        rotation=axis_angle(np.array([0.0, 1.0, 0.0]), -angle),
        inertial=Inertial(1.0, matrix=np.eye(3) * 0.25 * inertia),
        geometries=[Geometry(Sphere(FOOT), position=(-0.5, 0, 0), material=material)],
    )
    return scene


def flat_cube(*, edge: float = 0.2, friction: float = 0.3, restitution: float = 0.0) -> Scene:
    """A cube of 1 kg with four corners on the floor, without gravity: landings are given as velocities."""
    scene, material = Scene(gravity=(0, 0, 0), name="flat cube"), Material(friction, None, restitution)
    scene.add_ground(material=material)
    scene.add_box("cube", size=(edge, edge, edge), mass=1.0, position=(0, 0, edge / 2), material=material)
    return scene


@dataclass
class Landings:
    """One step each of many random landings of a cube on its four corners."""

    ratio: np.ndarray  # kinetic energy after over before
    approach: np.ndarray  # fastest approach of a corner that carries nothing, m/s (positive: approaching)
    passes: np.ndarray


def land(method: str | Method, count: int, *, friction: float = 0.3, restitution: float = 0.0,
         seed: int = 1) -> Landings:  # fmt: skip
    """Random landings: v_z uniform in [-1, 0] m/s, tumbling at 3 rad/s (each axis normal) about horizontal axes."""
    sim = Simulation(flat_cube(friction=friction, restitution=restitution), method, 1e-3)
    rng, q = np.random.default_rng(seed), sim.q.copy()
    H = np.diag(sim.mass_matrix())
    found = Landings(np.empty(count), np.zeros(count), np.empty(count, dtype=int))
    for n in range(count):
        v = np.array([0, 0, -rng.random(), *(3.0 * rng.normal(size=2)), 0.0])
        sim.set_state(q=q, v=v)
        sim.step()
        after = sim.v
        found.ratio[n] = (H @ after**2) / (H @ v**2)
        for contact in sim.contacts:
            if contact.normal_force <= 0.0:
                arm = contact.point - (0, 0, 0.1)
                found.approach[n] = max(found.approach[n], -float(after[2] + np.cross(after[3:], arm)[2]))
        found.passes[n] = sim.report.iterations
    return found
