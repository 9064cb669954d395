"""The paper's box, the loads on it, and the limits its friction can have.

Loads are given in units of what friction can do: force f / (mu_s N), torque t / (mu_s N r), r half the diagonal of the
square base; so the box's size and mass, which only the lost Fig. 7 shows, do not matter. Its height does, a little: the
regularised solution lets a loaded box creep and lean, and one as tall as half its base leans so far, against a depth of
0.25 um, that the overlap no longer covers the base.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.contacts import STICK
from sesshoku.methods.registry import Method
from sesshoku.methods.volume.friction import judge
from sesshoku.methods.volume.work import HELD
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

EDGE, HEIGHT, MASS, G = 0.2, 0.05, 1.0, 9.8
STATIC, KINETIC = 0.5, 0.3
WEIGHT, RADIUS = MASS * G, EDGE / np.sqrt(2.0)
#: corners of the region that forces in pyramids of 8 sides can carry: square base along e1, load at its centre
PYRAMID = np.array([[0.0, 1.0], [np.sqrt(2) / 4, (2 + np.sqrt(2)) / 4], [(2 + np.sqrt(2)) / 4, np.sqrt(2) / 4],
                    [1.0, 0.0]])


def box_scene() -> Scene:
    """A box at rest on the ground."""
    rubber = Material(static_friction=STATIC, kinetic_friction=KINETIC)
    scene = Scene(gravity=(0, 0, -G), name="box")
    scene.add_ground(material=rubber)
    scene.add_box("box", size=(EDGE, EDGE, HEIGHT), mass=MASS, position=(0, 0, 0.5 * HEIGHT), material=rubber)
    return scene


def load(sim: Simulation, force: float, torque: float) -> None:
    """Push the centre of the bottom face along x and turn it about the vertical; in units of the limits."""
    body = sim.bodies["box"]
    sim.apply_force("box", (force * STATIC * WEIGHT, 0.0, 0.0), torque=(0.0, 0.0, torque * STATIC * WEIGHT * RADIUS),
                    point=(float(body.position[0]), float(body.position[1]), 0.0))


def sticks(sim: Simulation) -> bool:
    """Whether static friction was declared in the last step."""
    contacts: Any = sim.records["contacts"]
    return int(contacts.counts[0]) == 1 and int(contacts.state[0]) == STICK


def exact_curve(count: int = 400) -> np.ndarray:
    """Limits (n, 2) of a round cone at every point of the square base, load at its centre, force along an edge."""
    a = b = 0.5
    beta = np.concatenate([np.linspace(0, 2, count), np.geomspace(2, 1e5, count)])
    near, far = np.hypot(beta - b, a), np.hypot(beta + b, a)
    force = 0.5 * ((beta - b) / near + (beta + b) / far)
    torque = 0.5 * ((a * a - b * (beta - b)) / near + (a * a + b * (beta + b)) / far)
    return np.c_[force, torque / np.hypot(a, b)]


def limit_along(polyline: np.ndarray, angle: float) -> float:
    """How far a ray from the origin goes until it meets a line of points (n, 2)."""
    c, s = np.cos(angle), np.sin(angle)
    across = polyline[:, 1] * c - polyline[:, 0] * s
    for k in range(len(polyline) - 1):
        if across[k] * across[k + 1] <= 0.0 and across[k] != across[k + 1]:
            share = across[k] / (across[k] - across[k + 1])
            return float((polyline[k] + share * (polyline[k + 1] - polyline[k])) @ (c, s))
    raise ValueError(f"no limit along {angle}")


def quarter_area(angles: np.ndarray, radii: np.ndarray) -> float:
    """Area between the axes and a boundary given by rays from 0 to 90 degrees."""
    x, y = radii * np.cos(angles), radii * np.sin(angles)
    return float(0.5 * np.abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])))


def settled(method: Method, dt: float = 1e-3, steps: int = 40) -> Simulation:
    """The box after some steps at rest."""
    sim = Simulation(box_scene(), method, dt)
    sim.step(steps)
    return sim


def ramp(method: Method, angle: float, expected: float, steps: int = 600, dt: float = 1e-3) -> float:
    """Raise a load along a ray of the plane from 0 to 1.2 of what is expected; where the box lets go."""
    sim = settled(method, dt)
    for share in np.linspace(0.0, 1.2, steps + 1):
        load(sim, share * expected * np.cos(angle), share * expected * np.sin(angle))
        sim.step()
        if not sticks(sim):
            return float(share * expected)
    return float("nan")


def verdict(sim: Simulation, force: float, torque: float) -> bool:
    """Whether the friction test alone, without motion, lets the settled box carry such a load."""
    records: dict[str, Any] = sim.records
    spin = torque * STATIC * WEIGHT * RADIUS
    wrench = np.array([-force * STATIC * WEIGHT, 0.0, WEIGHT, 0.0, 0.0, -spin])
    overlaps = records["overlaps"]
    wrench[5] *= overlaps.polygon_radius[0] / RADIUS  # of the polygon as it is, to rounding
    return bool(judge(records["contacts"], overlaps, records["memory"], records["simplex"],
                      sim.method.module.parameters(sim.method.options), 0, wrench, 0.0) == HELD)


def bisect(sim: Simulation, angle: float) -> float:
    """The limit of the friction test alone along a ray."""
    low, high = 0.0, 2.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        if verdict(sim, middle * np.cos(angle), middle * np.sin(angle)):
            low = middle
        else:
            high = middle
    return low
