"""Small mechanisms with known answers, and one scene with everything a step handles."""

from __future__ import annotations

from typing import Any

import numpy as np

import sesshoku as ss

INTEGRATORS = ("semi-implicit", "euler", "rk4", "rkg")
BLOCK = ss.Inertial(2.0, (0, 0, 0), np.diag([0.5, 0.5, 0.5]))


def simulate(scene: ss.Scene, integrator: str = "semi-implicit", dt: float = 1e-3) -> ss.Simulation:
    return ss.Simulation(scene, ss.methods.none(integrator=integrator), dt=dt)


def wheel(gravity: Any = (0, 0, 0), inertial: ss.Inertial = BLOCK, kind: Any = "revolute", **joint: Any) -> ss.Scene:
    """One body on the wall by one joint called "wheel": inertia 0.5 kg m^2 about z, or 2 kg along it."""
    scene = ss.Scene(gravity=gravity)
    scene.add_body("wall", fixed=True)
    scene.add_body("wheel", parent="wall", joint=ss.Joint(kind, **joint), inertial=inertial)
    return scene


def pendulum(length: float = 0.5, mass: float = 1.0, inertia: float = 0.02, parent: dict[str, Any] | None = None,
             **joint: Any) -> ss.Scene:
    """A rod below a pivot at the origin, turning about y; zero position hangs straight down."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("pivot", **(parent or {"fixed": True}))
    scene.add_body("rod", parent="pivot", joint=ss.Joint(joint.pop("kind", "revolute"), axis=(0, 1, 0), **joint),
                   inertial=ss.Inertial(mass, (0, 0, -length), np.diag([inertia, inertia, inertia])))
    return scene


def four_bar(loop: Any, speed: float = 0.0, **options: Any) -> ss.Scene:
    """Three rods of 1 m and 1 kg between two pivots 1 m apart, closed at the second crank: a parallelogram."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("frame", fixed=True)
    for name, x in (("left", 0.0), ("right", 1.0)):
        scene.add_box(name, size=(0.05, 0.05, 1), mass=1.0, parent="frame", position=(x, 0, -0.5),
                      joint=ss.Joint("continuous", axis=(0, 1, 0), anchor=(0, 0, 0.5), velocity=speed))
    scene.add_box("coupler", size=(1, 0.05, 0.05), mass=1.0, parent="left", position=(0.5, 0, -0.5),
                  joint=ss.Joint("continuous", axis=(0, 1, 0), anchor=(-0.5, 0, 0), velocity=-speed))
    scene.add_loop(loop, "coupler", "right", position=(0.5, 0, 0), axis=(0, 1, 0), **options)
    return scene


def up_and_down(t: float) -> tuple[Any, Any]:
    return (0, 0, 0.1 * np.sin(3 * t)), (1, 0, 0, 0)


def everything() -> ss.Scene:
    """Limits, joint friction, springs, servos, a mimic, loops, a script, a pushed body and every joint kind."""
    scene = ss.Scene(gravity=(0.2, 0, -9.8))
    scene.add_body("lift", kinematic=True, motion=up_and_down)
    scene.add_body("belt", kinematic=True, position=(0, 3, 0), velocity=(0.1, 0, 0), angular_velocity=(0, 0.3, 0))
    parent = "lift"
    for n in range(4):
        joint = ss.Joint("revolute", axis=(0, 1, 0), lower=-0.6, upper=0.6, static_friction=0.2, kinetic_friction=0.1,
                         stiffness=3.0, viscous=0.1, position=0.1 * n)
        scene.add_body(f"arm{n}", parent=parent, position=(0.3, 0, 0), joint=joint,
                       inertial=ss.Inertial(1.0, (0.15, 0, 0), 0.02 * np.eye(3)))
        parent = f"arm{n}"
    scene.add_mimic("arm1", "arm0", 0.5, 0.1)
    scene.add_actuator("arm2", "position", kp=40.0, kd=2.0, effort=5.0, target=0.3)
    scene.add_actuator("arm3", "torque", name="push", feed_forward=0.4)
    scene.add_body("hung", position=(0.9, 0, -0.2), inertial=ss.Inertial(0.5, (0.05, 0, 0), 0.01 * np.eye(3)),
                   angular_velocity=(0, 2, 0))
    scene.add_loop("hinge", "hung", "arm3", axis=(0, 1, 0))
    scene.add_body("ball", parent="belt", position=(0.5, 0, 0), joint=ss.Joint("spherical", static_friction=0.05,
                                                                               velocity=(1, 2, 3)),
                   inertial=ss.Inertial(1.0, (0.1, 0.2, 0.1), 0.03 * np.eye(3)))
    scene.add_body("puck", position=(5, 0, 0), inertial=ss.Inertial(0.7, (0.1, 0, 0), 0.02 * np.eye(3)),
                   joint=ss.Joint("planar", axis=(0.1, 0, 1), viscous=0.05, velocity=(1, 0, 4)))
    scene.add_body("slider", parent="puck", joint=ss.Joint("prismatic", axis=(1, 0, 0), lower=-0.1, upper=0.1),
                   inertial=ss.Inertial(0.3, (0, 0, 0.1), 0.01 * np.eye(3)))
    scene.add_actuator("slider", "velocity", kd=3.0, target_velocity=0.2)
    scene.add_body("rock", position=(8, 0, 0), inertial=ss.Inertial(1.0, (0.1, 0, 0), np.diag([0.1, 0.2, 0.25])),
                   angular_velocity=(0.1, 4, 0.1), velocity=(0, 0, 5))
    return scene


def slope(sizes: Any, errors: Any) -> float:
    """Order of convergence: the slope of log error over log step size."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def turntable() -> ss.Scene:
    """A table that turns at 1 rad/s about a post, and a box that stands on it and moves with it."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("post", fixed=True)
    scene.add_box("table", size=(1, 1, 0.1), mass=2.0, parent="post", position=(1, 0, 0),
                  joint=ss.Joint("continuous", axis=(0, 0, 1), anchor=(-1, 0, 0), velocity=1.0))
    scene.add_box("box", size=(0.2, 0.2, 0.2), mass=0.5, position=(1.1, 0.1, 0.15), velocity=(-0.1, 1.1, 0),
                  angular_velocity=(0, 0, 1))
    return scene
