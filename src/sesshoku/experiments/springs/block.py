"""A block on the floor: the scene of the thesis's friction experiments, and what it does there.

The thesis gives neither stiffness, damping, sizes, the speed of rest nor the start height. Here: a block of 2 x 2 x
0.5 m and 1 kg on four springs of 245 N/m and 5 N s/m, mu = 0.5, g = 9.8, starting where its weight has pressed it in by
1 cm, at rest below 1 cm/s. Shape, springs and that speed were picked because they give the thesis's Table 8.1, so
agreement with it is a calibration; a 1 m cube slips earlier, by geometry (`threshold`), and is shown beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.methods.registry import Method, make
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

G, MU, MASS, STIFFNESS, DAMPING, LIMIT = 9.8, 0.5, 1.0, 245.0, 5.0, 0.05
STICK_SPEED = 0.01  # m/s: of a contact that rests; 0.005 to 0.02 give all of Table 8.1
SLAB, CUBE = (2.0, 2.0, 0.5), (1.0, 1.0, 1.0)
DEPTH = MASS * G / (4.0 * STIFFNESS)  # m: pressed in by its weight


def block_scene(speed: float = 0.0, size: tuple[float, float, float] = SLAB, depth: float = DEPTH) -> Scene:
    """The block, thrown along x at `speed`."""
    scene = Scene(gravity=(0, 0, -G), name="block on the floor")
    scene.add_ground(material=Material(MU))
    scene.add_box("block", size=size, mass=MASS, position=(0, 0, 0.5 * size[2] - depth), velocity=(speed, 0, 0),
                  material=Material(MU, stiffness=STIFFNESS, damping=DAMPING))
    return scene


def method(keyword: str = "springs", **options: Any) -> Method:
    """The method with the experiments' limit of 5 cm, which the block's springs stay within, and speed of rest."""
    return make(keyword, {"limit": LIMIT, "stick_speed": STICK_SPEED} | options)


def slide(speed: float, dt: float, how: Method, rest: float = 1.0) -> np.ndarray:
    """Rows of time, x, y until `rest` seconds after the ideal stop."""
    sim = Simulation(block_scene(speed), how, dt)
    rows = [(0.0, 0.0, 0.0)]
    for _ in range(round((speed / (MU * G) + rest) / dt)):
        sim.step()
        place = sim.bodies["block"].position
        rows.append((sim.time, place[0], place[1]))
    return np.array(rows)


def ideal(speed: float, time: np.ndarray) -> np.ndarray:
    """(8.1) and (8.2): x of a block that Coulomb friction brings to rest."""
    t = np.minimum(time, speed / (MU * G))
    return np.asarray(speed * t - 0.5 * MU * G * t**2)


def drag(force: float, dt: float, how: Method, size: tuple[float, float, float] = SLAB, duration: float = 15.0,
         stop: float = 0.1) -> np.ndarray:
    """Rows of time and x while a force grows to `force` over 2 s and stays; ends where x passes `stop`."""
    sim = Simulation(block_scene(0.0, size), how, dt)
    rows = [(0.0, 0.0)]
    for _ in range(round(duration / dt)):
        sim.apply_force("block", (force * min(1.0, sim.time / 2.0), 0.0, 0.0))
        sim.step()
        x = float(sim.bodies["block"].position[0])
        rows.append((sim.time, x))
        if abs(x) >= stop:
            break
    return np.array(rows)


def slips(force: float, dt: float, how: Method, size: tuple[float, float, float] = SLAB) -> bool:
    """Whether the block moves by 0.1 m within 15 s: the thesis's "dynamic"."""
    return bool(abs(drag(force, dt, how, size)[-1, 1]) >= 0.1)


def threshold(size: tuple[float, float, float]) -> float:
    """Force at which the rear springs, unloaded by the pull, first break loose: mu m g / (1 + 2 mu h / L), N."""
    return MU * MASS * G / (1.0 + 2.0 * MU * (0.5 * size[2]) / size[0])
