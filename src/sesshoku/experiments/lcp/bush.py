"""A heavy body on a rubber bush over a sole: static sag M g / k and period 2 pi sqrt((M + armature) / k)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.robots.bush import rotor
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Box
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

TITLE = "rubber bush: sag and period of a heavy body on a sole (section 5 of the paper)"
MASS, STIFFNESS, DAMPING, GRAVITY = 58.0, 2.4e5, 4800.0, 9.8
ARMATURE = rotor(STIFFNESS, DAMPING)  # kg: what RK4 needs at 1 ms


def tower(damping: float) -> Scene:
    """A sole on the ground and 58 kg above it on a vertical bush."""
    scene = Scene(gravity=(0, 0, -GRAVITY), name="bush")
    scene.add_ground(material=Material(0.8))
    scene.add_box("sole", size=(0.4, 0.3, 0.03), mass=1.0, position=(0, 0, 0.015), material=Material(0.8))
    bush = Joint("prismatic", name="bush", axis=(0, 0, 1), stiffness=STIFFNESS, viscous=damping, armature=ARMATURE)
    scene.add_body("top", parent="sole", joint=bush, position=(0, 0, 0.1), inertial=Inertial(MASS, matrix=np.eye(3)),
                   geometries=[Geometry(Box((0.2, 0.2, 0.1)), collides=False)])
    return scene


def run(progress: Callable[[str], None]) -> Result:
    dt = 1e-4
    progress("sag")
    sim = Simulation(tower(DAMPING), "lcp", 1e-3)
    sim.step(1500)
    sag = -float(sim.joints["bush"].position)
    progress("period")
    sim = Simulation(tower(0.0), "lcp", dt)
    rest = MASS * GRAVITY / STIFFNESS
    sim.joints["bush"].position = -rest * 1.5  # swings between 0.5 and 1.5 of the sag: never pulls the sole up
    times, places = [], []
    for _ in range(8000):
        sim.step()
        times.append(sim.time)
        places.append(float(sim.joints["bush"].position) + rest)
    t, x = np.array(times), np.array(places)
    rising = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    crossings = t[rising] - x[rising] * dt / (x[rising + 1] - x[rising])
    period = float(np.diff(crossings).mean())
    expected = 2 * np.pi * np.sqrt((MASS + ARMATURE) / STIFFNESS)
    bare = 2 * np.pi * np.sqrt(MASS / STIFFNESS)
    checks = [Check("sag", sag, rest, 1e-4 * rest, "m"), Check("period", period, expected, 5e-3 * expected, "s"),
              Check("what the rotor adds to the period", 100 * (expected / bare - 1.0), 2.0, 0.0, "%", "at_most")]

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        axis.plot(t[:3000], 1e3 * x[:3000], label="simulated, dt 0.1 ms")
        axis.plot(t[:3000], -0.5e3 * rest * np.cos(2 * np.pi / expected * t[:3000]), color="#404040", linewidth=1.0,
                  linestyle=(0, (4, 3)), label="formula")
        axis.set_xlabel("time [s]")
        axis.set_ylabel("height above rest [mm]")
        axis.set_title(f"period {1e3 * period:.2f} ms (formula {1e3 * expected:.2f} ms), "
                       f"sag {1e3 * sag:.3f} mm (formula {1e3 * rest:.3f} mm)")
        figure.legend(*axis.get_legend_handles_labels(), loc="outside right upper")

    return Result(checks, draw, {"sag": sag, "period": period}, figure_size=(9.0, 3.4))
