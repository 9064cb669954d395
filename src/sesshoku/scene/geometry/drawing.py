"""A scene as something to draw: bodies with their visible shapes, colours and meshes, as JSON can hold it.

Recordings keep it, so that they can be played without the scene; the viewer sends it to each browser once.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.scene.elements.frames import Camera
from sesshoku.scene.geometry import shapes
from sesshoku.scene.geometry.surfaces import surface
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix

if TYPE_CHECKING:
    from sesshoku.scene.scene import Scene

PALETTE = ((0.30, 0.47, 0.66), (0.95, 0.56, 0.17), (0.35, 0.63, 0.31), (0.88, 0.34, 0.35), (0.46, 0.72, 0.70),
           (0.69, 0.48, 0.63), (0.93, 0.79, 0.28), (0.61, 0.46, 0.37))
GROUND = (0.80, 0.82, 0.85)
FIXED = (0.62, 0.65, 0.69)


def drawing(scene: Scene, poses: np.ndarray) -> dict[str, Any]:
    """name; bodies: name, robot, moves, parent, mass, centre of mass; shapes: body (number), kind, sizes, pose, colour,
    mesh (number); meshes; poses; cameras.

    poses: (F, 7) of the bodies at the start: where things are, for the first view.
    """
    bodies, drawn = [], []
    meshes: list[dict[str, str]] = []
    numbers: dict[int, int] = {}  # id of a mesh -> its place in the list: many bodies may share one
    moving: set[str] = set()
    hues: dict[str, int] = {}
    names = list(scene.bodies)
    for n, body in enumerate(scene.bodies.values()):
        moves = body.joint.kind != "fixed" or body.kinematic or body.parent in moving
        if moves:
            moving.add(body.name)
        hue = PALETTE[hues.setdefault(body.robot or body.name, len(hues)) % len(PALETTE)] if moves else FIXED
        bodies.append({"name": body.name, "robot": body.robot, "moves": moves, "kinematic": bool(body.kinematic),
                       "parent": None if body.parent is None else names.index(body.parent),
                       "mass": 0.0 if body.inertial is None else body.inertial.mass,
                       "center": [0.0] * 3 if body.inertial is None else body.inertial.center.tolist()})
        for geometry in body.geometries:
            if not geometry.visible:
                continue
            shape = geometry.shape
            usual = GROUND if isinstance(shape, shapes.Plane | shapes.HeightField) else hue
            color = list(geometry.color) if geometry.color else [*usual, 1.0]
            described = {"body": n, "kind": shape.kind, "color": color, "position": geometry.position.tolist(),
                         "rotation": geometry.rotation.tolist(), **_sizes(shape)}
            if isinstance(shape, shapes.ConvexMesh | shapes.Mesh | shapes.HeightField):
                if id(shape) not in numbers:
                    numbers[id(shape)] = len(meshes)
                    vertices, faces = surface(shape)
                    meshes.append({"vertices": _text(vertices, np.float32), "faces": _text(faces, np.uint32)})
                described["mesh"] = numbers[id(shape)]
            drawn.append(described)
    return {"name": scene.name, "gravity": scene.gravity.tolist(), "mass": _usual_mass(scene), "bodies": bodies,
            "shapes": drawn, "meshes": meshes, "poses": np.round(poses, 6).tolist(),
            "cameras": [_camera(scene, camera, names) for camera in scene.cameras.values()]}


def _camera(scene: Scene, camera: Camera, names: list[str]) -> dict[str, Any]:
    """A camera with the numbers of its bodies; one that tracks has the poses of all where joints are at zero."""
    zero = zero_poses(scene).tolist() if camera.mode.startswith("track") else None
    return {"name": camera.name, "body": None if camera.body is None else names.index(camera.body),
            "position": camera.position.tolist(), "rotation": camera.rotation.tolist(), "mode": camera.mode,
            "target": None if camera.target is None else names.index(camera.target), "fovy": camera.fovy,
            "orthographic": camera.orthographic, "zero": zero}


def zero_poses(scene: Scene) -> np.ndarray:
    """Poses (F, 7) of bodies where joints are at zero."""
    poses: dict[str, np.ndarray] = {}
    for body in scene.bodies.values():
        p, q = np.asarray(body.position, dtype=float), np.asarray(body.rotation, dtype=float)
        if body.parent is not None:
            above = poses[body.parent]
            p, q = above[:3] + quaternion_to_matrix(above[3:]) @ p, multiply(above[3:], q)
        poses[body.name] = np.concatenate([p, q])
    return np.array(list(poses.values())).reshape(-1, 7)


def _sizes(shape: shapes.Shape) -> dict[str, Any]:
    if isinstance(shape, shapes.Box):
        return {"size": list(shape.size)}
    if isinstance(shape, shapes.Sphere):
        return {"radius": shape.radius}
    if isinstance(shape, shapes.Ellipsoid):
        return {"radii": list(shape.radii)}
    if isinstance(shape, shapes.Capsule | shapes.Cylinder):
        return {"radius": shape.radius, "length": shape.length}
    return {}


def _text(values: np.ndarray, kind: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()


def _usual_mass(scene: Scene) -> float:
    """What a thing in this scene weighs, kg, for the length of force arrows: the median of free bodies and robots."""
    masses: dict[str, float] = {}
    for body in scene.bodies.values():
        if body.inertial is not None and (body.robot or body.joint.kind != "fixed"):
            owner = body.robot or body.name
            masses[owner] = masses.get(owner, 0.0) + body.inertial.mass
    return float(np.median([mass for mass in masses.values() if mass > 0.0] or [1.0]))
