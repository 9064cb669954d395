"""A scene that holds every kind of element, and how two scenes are compared."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from sesshoku.scene.elements import (
    Actuator,
    Body,
    Geometry,
    Inertial,
    Joint,
    Loop,
    Material,
    Mimic,
    Motion,
    RobotDescription,
)
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.shapes import Box, Capsule, Mesh, Sphere
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle

TETRAHEDRON = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]])
TETRAHEDRON_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
#: an L-shaped prism: concave, with two boxes as its pieces
L_OUTLINE = np.array([[0, 0], [0.2, 0], [0.2, 0.1], [0.1, 0.1], [0.1, 0.2], [0, 0.2]])


def l_prism() -> Mesh:
    vertices = np.array([[x, y, z] for z in (0.0, 0.1) for x, y in L_OUTLINE])
    cap = [[0, 1, 3], [1, 2, 3], [0, 3, 4], [0, 4, 5]]
    faces = [[c, b, a] for a, b, c in cap] + [[a + 6, b + 6, c + 6] for a, b, c in cap]
    for i in range(6):
        j = (i + 1) % 6
        faces += [[i, j, j + 6], [i, j + 6, i + 6]]
    whole = mesh.triangle_mesh(vertices, faces, decompose=False)
    pieces = tuple(mesh.convex_mesh([[x, y, z] for x in xs for y in ys for z in (0.0, 0.1)])
                   for xs, ys in (((0, 0.2), (0, 0.1)), ((0, 0.1), (0.1, 0.2))))
    return Mesh(whole.vertices, whole.faces, pieces)


def unit(rng: np.random.Generator, size: int) -> np.ndarray:
    direction = rng.normal(size=size)
    return direction / np.linalg.norm(direction)


def inertial(rng: np.random.Generator, mass: float) -> Inertial:
    points = rng.normal(size=(6, 3)) * 0.1
    points -= points.mean(axis=0)
    second = mass / 6 * points.T @ points
    return Inertial(mass, rng.normal(size=3) * 0.05, np.trace(second) * np.eye(3) - second)


def arm(rng: np.random.Generator) -> RobotDescription:
    """A chain with every joint kind that hangs on another body, a loop, a mimic and all actuators."""
    joints = [
        Joint("fixed", name="base mount"),
        Joint("revolute", axis=unit(rng, 3), anchor=rng.normal(size=3), lower=-1.1, upper=2.0 / 3.0, effort=40.0,
              velocity_limit=7.0, viscous=0.1, static_friction=0.3, kinetic_friction=0.1, position=0.4, velocity=-0.2),
        Joint("prismatic", axis=unit(rng, 3), lower=-0.2, stiffness=31.0, rest=0.05, armature=0.01, position=0.07),
        Joint("spherical", anchor=rng.normal(size=3), position=unit(rng, 4), velocity=rng.normal(size=3), viscous=0.02),
        Joint("planar", axis=unit(rng, 3), anchor=rng.normal(size=3), position=[0.1, -0.2, 0.7], velocity=[1, 2, 3]),
        Joint("continuous", axis=unit(rng, 3), position=4.0, implicit=False, static_friction=0.5),
        Joint("revolute", axis=(0, 1, 0), lower=-3.0, upper=3.0, position=0.5 * 0.4 + 0.1),
    ]
    bodies, parent = [], None
    for number, joint in enumerate(joints):
        name = f"link{number}"
        bodies.append(Body(name, parent, joint, rng.normal(size=3) * 0.2, unit(rng, 4), inertial(rng, 1.0 + number),
                           [Geometry(Capsule(0.02, 0.1), rng.normal(size=3), unit(rng, 4), category=2, mask=5)]))
        parent = name
    joint_of = [body.joint.name for body in bodies]
    return RobotDescription(
        "arm", bodies,
        [Actuator("push", "link1", "position", kp=100.0, kd=5.0, effort=20.0, target=0.3, target_velocity=0.1,
                  feed_forward=2.0),
         Actuator("slide", "link2", "velocity", kd=3.0, target_velocity=0.5, implicit=False),
         Actuator("spin", str(joint_of[5]), "torque", gear=12.0, effort=3.0)],
        [Loop("tie", "ball", "link6", "link1", position=(0.1, 0, 0), correction=0.3)],
        [Mimic("link6", "link1", 0.5, 0.1)], [("link0", "link3")], [("link2", "link4")])


def every_kind() -> Scene:
    """One of everything a scene can hold, with random numbers that have no short decimal form."""
    rng = np.random.default_rng(7)
    ice, rubber = Material(0.1, 0.05, 0.3, name="ice"), Material(0.8, 0.5, stiffness=1e5, damping=30.0, name="rubber")
    scene = Scene(gravity=(0.1, 0, -9.81), material=Material(0.6, 0.6, 0.1), name="every kind")
    scene.time_step = 1 / 700
    scene.add_ground(height=-0.5, material=rubber, rotation=axis_angle(np.array([0, 1.0, 0]), 0.1))
    scene.add_box("crate", size=(0.1, 0.2, 1 / 3), mass=1.7, position=unit(rng, 3), rotation=unit(rng, 4),
                  velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3), material=ice, color=(1.0, 0.5,
                                                                                                         0.25, 1.0))
    scene.add_sphere("ball", radius=0.1, density=300.0, position=(2, 0, 1), material=Material(0.8, 0.2))
    scene.add_capsule("pill", radius=0.1, length=0.3, mass=0.3, position=(3, 0, 1), material=Material(0.3, name="ice"))
    scene.add_cylinder("can", radius=0.1, length=0.3, mass=0.4, position=(4, 0, 1))
    scene.add_convex("wedge", TETRAHEDRON, mass=0.5, position=(5, 0, 1))
    scene.add_mesh("block", TETRAHEDRON, faces=TETRAHEDRON_FACES, density=100.0, position=(6, 0, 1))
    scene.add_body("bracket", position=(7, 0, 1), inertial=inertial(rng, 2.0),
                   geometries=[Geometry(l_prism(), unit(rng, 3), unit(rng, 4)),
                               Geometry(Sphere(0.03), name="knob", collides=False), Geometry(Box((1, 2, 3)),
                                                                                             visible=False)])
    scene.add_box("wall", size=(1, 1, 1), fixed=True, position=(0, 9, 0))
    scene.add_box("lift", size=(1, 1, 1), kinematic=True, position=(0, 12, 0), motion=Motion(
        [0.0, 1 / 3, 2.0], rng.normal(size=(3, 3)), [unit(rng, 4) for _ in range(3)]))
    scene.add_box("belt", size=(1, 1, 0.1), kinematic=True, position=(0, 15, 0), velocity=(0.3, 0, 0))
    scene.add_robot(arm(rng), position=(0, -3, 1), rotation=unit(rng, 4))
    scene.add_robot(arm(rng), position=(0, -6, 1), name="second")
    scene.add_actuator("second/link6", name="extra", kind="torque", feed_forward=0.2)
    scene.robots["second"].actuators.remove("extra")  # a robot may leave out what drives it
    scene.add_loop("hinge", "second/link6", "second/link4", axis=unit(rng, 3), position=(0, 0.1, 0))
    scene.add_loop("weld", "can", None, name="holder")
    scene.add_force_sensor("grip", joint="second/link1", rotation=unit(rng, 4), force_noise=0.1, torque_noise=0.2,
                           force_bias=rng.normal(size=3), torque_bias=rng.normal(size=3), seed=3)
    scene.add_force_sensor("plate", "wall", position=(0.1, 0, 0))
    scene.add_imu("imu", "crate", position=unit(rng, 3), rotation=unit(rng, 4), acceleration_noise=0.3, gyro_noise=0.4,
                  acceleration_bias=rng.normal(size=3), gyro_bias=rng.normal(size=3))
    scene.friction("crate", "ground", static=0.9, kinetic=0.7)
    scene.friction("ball", "crate", static=0.4, restitution=0.5)
    scene.exclude_collision("crate", "can")
    scene.include_collision("pill", "second/link5")
    scene.self_collision("second")
    scene.notes.append("made for tests")
    scene.unsupported.append("arm.xml: <tendon> 'rope'")
    scene.run = {"method": "none", "dt": 0.002, "time": 3.0, "options": {"sweeps": 20}}
    return scene


def assert_equal(a: Any, b: Any, where: str = "scene") -> None:
    """Field by field, floats exactly. `Inertial.element` is a label for error messages, no part of the scene."""
    if is_dataclass(a):
        assert type(a) is type(b), where
        for field in fields(a):
            if field.name not in ("element", "source"):
                assert_equal(getattr(a, field.name), getattr(b, field.name), f"{where}.{field.name}")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            assert_equal(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), where
        for number, (one, other) in enumerate(zip(a, b, strict=True)):
            assert_equal(one, other, f"{where}[{number}]")
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), f"{where}: {a} {b}"
    else:
        assert a == b and type(a) is type(b), f"{where}: {a!r} {b!r}"


def assert_same_scene(a: Scene, b: Scene) -> None:
    assert_equal(a._gravity, b._gravity, "gravity")
    for key in ("name", "time_step", "material", "bodies", "actuators", "loops", "mimics", "sensors", "pair_friction",
                "excluded_pairs",
                "forced_pairs", "self_colliding", "notes", "unsupported", "run"):
        assert_equal(getattr(a, key), getattr(b, key), key)
    assert_equal({name: vars(robot) for name, robot in a.robots.items()},
                 {name: vars(robot) for name, robot in b.robots.items()}, "robots")
