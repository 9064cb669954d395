"""Random scenes of every kind for long runs: robots, loops, mimics, servos, meshes, terrain, paddles, extreme sizes.

`wild_scene(seed)` is one of them, the same for the same seed. Lengths lie between 1e-3 and 1e3 m, masses between 1e-6
and 1e6 kg; half of the scenes are of ordinary size, so that not everything is out of proportion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import sesshoku as ss
from every_kind import L_OUTLINE, unit

#: an L-shaped prism as a closed mesh: concave
L_VERTICES = np.array([[x, y, z] for z in (0.0, 0.1) for x, y in L_OUTLINE])
_CAP = [[0, 1, 3], [1, 2, 3], [0, 3, 4], [0, 4, 5]]
L_FACES = np.array([[c, b, a] for a, b, c in _CAP] + [[a + 6, b + 6, c + 6] for a, b, c in _CAP]
                   + [face for i in range(6) for j in [(i + 1) % 6] for face in ([i, j, j + 6], [i, j + 6, i + 6])])


@dataclass(frozen=True)
class Wild:
    """A scene, its step, and whether nothing in it may bring energy (no servos, scripts, springs)."""

    scene: ss.Scene
    dt: float
    passive: bool


def wild_scene(seed: Any, calm: bool = False) -> Wild:
    """calm: without what may bring energy; the same scene otherwise."""
    rng = np.random.default_rng(seed)
    ordinary = rng.random() < 0.5
    size = 0.3 if ordinary else float(10 ** rng.uniform(-3, 3))
    mass = 1.0 if ordinary else float(10 ** rng.uniform(-6, 6))
    bounce = float(rng.choice([0.0, 0.0, 0.5]))
    material = ss.Material(float(rng.uniform(0.0, 1.2)), None, bounce)
    pace = float(np.sqrt(size / 0.3))  # falls of larger things take longer
    scene = ss.Scene(gravity=(0, 0, -9.8 * float(rng.choice([1.0, 1.0, 0.0]))))
    passive = True
    if rng.random() < 0.15:
        heights = size * rng.uniform(0.0, 0.5, (5, 5))
        scene.add_height_field("ground", heights, size=(20 * size, 20 * size), material=material)
    else:
        scene.add_ground(material=material)
    if rng.random() < 0.3:
        passive, speed = calm, rng.uniform(0.5, 3) * size / pace
        if not calm:
            scene.add_box("paddle", size=size * np.array([0.5, 6.0, 3.0]), position=(-5 * size, 0, 1.5 * size),
                          velocity=(speed, 0, 0), material=material, kinematic=True)
    for n in range(int(rng.integers(0, 5))):
        add_body(scene, rng, f"b{n}", size, mass, material)
    for n in range(int(rng.integers(0, 3))):
        passive = add_robot(scene, rng, f"r{n}", size, mass, material, calm) and passive
    if not scene.bodies.keys() - {"ground", "paddle"}:
        add_body(scene, rng, "b0", size, mass, material)
    return Wild(scene, float(10 ** rng.uniform(-3.5, -2)) * pace, passive)


def placed(rng: np.random.Generator, size: float) -> dict[str, Any]:
    """Where a body starts, and how fast."""
    speed = float(rng.choice([0.0, 1.0, 10.0])) * np.sqrt(size)
    return {"position": (*size * rng.uniform(-4, 4, 2), size * rng.uniform(1.5, 6.0)), "rotation": unit(rng, 4),
            "velocity": speed * rng.normal(size=3),
            "angular_velocity": rng.normal(size=3) * float(rng.choice([0.0, 3.0])) / np.sqrt(size)}


def add_body(scene: ss.Scene, rng: np.random.Generator, name: str, size: float, mass: float, material: Any) -> None:
    size *= float(10 ** rng.uniform(-0.7, 0.3))
    common: dict[str, Any] = {"mass": mass * float(10 ** rng.uniform(-2, 2)), "material": material,
                              **placed(rng, size)}
    match int(rng.integers(7)):
        case 0:
            scene.add_box(name, size=size * rng.uniform(0.1, 1.0, 3), **common)
        case 1:
            scene.add_sphere(name, radius=0.5 * size, **common)
        case 2:
            scene.add_capsule(name, radius=0.2 * size, length=size, **common)
        case 3:
            scene.add_cylinder(name, radius=0.4 * size, length=size * float(rng.uniform(0.1, 1)), **common)
        case 4:
            scene.add_ellipsoid(name, radii=size * rng.uniform(0.2, 0.6, 3), **common)
        case 5:
            scene.add_convex(name, size * rng.uniform(-0.5, 0.5, (int(rng.integers(6, 30)), 3)), **common)
        case _:
            scene.add_mesh(name, 5 * size * L_VERTICES, faces=L_FACES, **common)


def add_robot(scene: ss.Scene, rng: np.random.Generator, name: str, size: float, mass: float, material: Any,
              calm: bool) -> bool:
    """A tree of capsules that floats, or hangs on the world; True: nothing in it brings energy, as where calm."""
    fixed, passive = rng.random() < 0.4, True
    start = placed(rng, size)
    if fixed:
        start = {"position": start["position"], "rotation": start["rotation"], "fixed": True}
    scene.add_capsule(f"{name}.0", radius=0.15 * size, length=0.5 * size, mass=mass, material=material, **start)
    links = [f"{name}.0"]
    for n in range(1, int(rng.integers(2, 8))):
        kind = str(rng.choice(["revolute", "revolute", "continuous", "prismatic", "spherical"]))
        reach = size if kind == "prismatic" else 1.0
        torque = mass * 9.8 * size if kind != "prismatic" else mass * 9.8
        joint: dict[str, Any] = {"armature": 1e-3 * mass * (1.0 if kind == "prismatic" else size**2)}
        if kind in ("revolute", "prismatic"):
            joint |= {"lower": -reach * float(rng.uniform(0.2, 1)), "upper": reach * float(rng.uniform(0.2, 1))}
        if kind != "spherical":
            joint["axis"] = unit(rng, 3)
        if rng.random() < 0.4:
            joint["static_friction"] = 0.1 * torque * float(rng.random())
        if rng.random() < 0.4:
            joint["viscous"] = 0.05 * torque
        if rng.random() < 0.2 and kind != "spherical" and not calm:
            joint["stiffness"], passive = torque / reach, False
        link = f"{name}.{n}"
        scene.add_capsule(link, radius=0.1 * size, length=0.4 * size, mass=mass * float(10 ** rng.uniform(-1, 0)),
                          material=material, parent=str(rng.choice(links)), position=0.5 * size * unit(rng, 3),
                          rotation=unit(rng, 4), joint=ss.Joint(kind, **joint))
        if kind != "spherical" and rng.random() < 0.5:
            target, passive = reach * float(rng.uniform(-0.5, 0.5)), calm and passive
            if not calm:
                scene.add_actuator(link, "position", kp=3 * torque / reach, kd=0.3 * torque / reach, effort=5 * torque,
                                   target=target)
        links.append(link)
    bend = [link for link in links[1:] if scene.bodies[link].joint.kind in ("revolute", "continuous")]
    if len(bend) >= 2 and rng.random() < 0.3:
        scene.add_mimic(bend[1], bend[0], float(rng.uniform(-1, 1)))
    if len(links) > 3 and rng.random() < 0.3:
        scene.add_loop(str(rng.choice(["ball", "hinge"])), links[-1], links[0] if rng.random() < 0.5 else None,
                       axis=unit(rng, 3))
    return passive
