"""The contact states of the paper's Fig. 1: point, edge, face, and one that is none of these; all sets of points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.multipoint.scenes import G
from sesshoku.scene.elements import Geometry, Inertial, Material
from sesshoku.scene.geometry.shapes import Box
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix

TITLE = "the contact states of Fig. 1, point, edge, face and a mixed one, with the forces of a step"
EDGE = 0.2
FORCE = 0.14 / G  # m of arrow per newton
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * EDGE / 2


def tilted(rotation: np.ndarray) -> Scene:
    """A cube of 1 kg whose lowest corner or edge is on the floor, momentarily at rest."""
    scene = Scene(gravity=(0, 0, -G), name="cube")
    scene.add_ground(material=Material(1.0))
    low = float((quaternion_to_matrix(rotation) @ CORNERS.T)[2].min())
    scene.add_box("cube", size=(EDGE,) * 3, mass=1.0, position=(0, 0, -low), rotation=rotation, material=Material(1.0))
    return scene


def mixed() -> Scene:
    """A table on a blade and a pin, an edge and a point of one body, the pin on a step.

    Its centre of mass is over the triangle of the three points: a state that is neither point, edge nor face.
    """
    scene = Scene(gravity=(0, 0, -G), name="table")
    scene.add_ground(material=Material(1.0))
    scene.add_box("step", size=(0.2, 0.4, 0.05), position=(0.3, 0, 0.025), fixed=True, material=Material(1.0))
    edge_down = axis_angle(np.array([0.0, 1.0, 0.0]), np.pi / 4)
    point_down = multiply(
        axis_angle(np.array([0.0, 1.0, 0.0]), float(np.arctan(1 / np.sqrt(2)))),
        axis_angle(np.array([1.0, 0.0, 0.0]), np.pi / 4),
    )
    blade, pin = 0.06, 0.06
    drop = np.sqrt(2) * blade / 2
    reach = -float((quaternion_to_matrix(point_down) @ (CORNERS.T * pin / EDGE))[2].min())
    scene.add_body(
        "table",
        position=(0, 0, 0.3),
        inertial=Inertial(1.0, (0.02, 0, 0), np.eye(3) * 0.02),
        geometries=[
            Geometry(Box((0.6, 0.24, 0.03)), position=(0.1, 0, -0.05), material=Material(1.0)),
            Geometry(Box((0.02, 0.1, 0.17)), position=(-0.15, 0, -0.14), material=Material(1.0)),
            Geometry(Box((0.02, 0.02, 0.1)), position=(0.3, 0, -0.11), material=Material(1.0)),
            Geometry(
                Box((blade, 0.2, blade)), position=(-0.15, 0, -0.3 + drop), rotation=edge_down, material=Material(1.0)
            ),
            Geometry(
                Box((pin, pin, pin)), position=(0.3, 0, -0.25 + reach), rotation=point_down, material=Material(1.0)
            ),
        ],
    )
    return scene


#: name -> scene, points, least normal force (N)
STATES: dict[str, tuple[Callable[[], Scene], int, float]] = {
    "(A) point": (
        lambda: tilted(
            multiply(axis_angle(np.array([0.0, 1.0, 0.0]), 0.5), axis_angle(np.array([1.0, 0.0, 0.0]), 0.6))
        ),
        1, 9.0,
    ),
    "(B) edge": (lambda: tilted(axis_angle(np.array([0.0, 1.0, 0.0]), 0.5)), 2, 4.5),
    "(C) face": (lambda: tilted(np.array([1.0, 0, 0, 0])), 4, 2.449),
    "(D) none of these": (mixed, 3, 3.0),
}


def boxes_of(scene: Scene, name: str, position: np.ndarray, rotation: np.ndarray) -> list[np.ndarray]:
    """Corners (8, 3) of every box of a body."""
    R, found = quaternion_to_matrix(rotation), []
    for geometry in scene.bodies[name].geometries:
        size = np.asarray(geometry.shape.size) / EDGE  # type: ignore[union-attr]
        local = quaternion_to_matrix(np.asarray(geometry.rotation)) @ (CORNERS * size).T
        found.append((R @ (local + np.asarray(geometry.position)[:, None])).T + position)
    return found


def draw_boxes(axis: Any, corners: list[np.ndarray]) -> None:
    for box in corners:
        for a in range(8):
            for b in range(a + 1, 8):
                if np.sum(CORNERS[a] != CORNERS[b]) == 1:
                    axis.plot(*box[[a, b]].T, color="#3060a0", linewidth=0.9)


def run(progress: Callable[[str], None]) -> Result:
    checks, drawn = [], []
    for name, (make_scene, points, least) in STATES.items():
        progress(name)
        scene = make_scene()
        body = next(iter(n for n in scene.bodies if n in ("cube", "table")))
        sim = Simulation(scene, "multipoint", 1e-3)
        place, turn = sim.bodies[body].position.copy(), sim.bodies[body].rotation.copy()
        before = sim.momentum(about=(0, 0, 0))[:3]
        sim.step()
        contacts = sim.contacts
        impulse = 1e-3 * (sum((c.force for c in contacts), np.zeros(3)) + (0, 0, -G))
        change = sim.momentum(about=(0, 0, 0))[:3] - before
        at_points = max(float(np.linalg.norm(sim.jacobian(body, c.point)[:3] @ sim.v)) for c in contacts)
        checks += [
            Check(f"{name}: points", float(len(contacts)), points, 0.0),
            Check(f"{name}: momentum beyond the forces", float(np.abs(change - impulse).max()), 0.0, 1e-15, "N s"),
            Check(f"{name}: least normal force", min(c.normal_force for c in contacts), least, 0.0, "N", "at_least"),
            Check(f"{name}: the points stay", at_points, 0.0, 1e-7, "m/s"),
        ]
        if name.startswith(("(C)", "(D)")):
            checks.append(Check(f"{name}: carries the weight", sum(c.normal_force for c in contacts), G, 1e-9, "N"))
        drawn.append((name, boxes_of(scene, body, place, turn), contacts, body))

    def draw(figure: Any) -> None:
        for n, (name, boxes, contacts, body) in enumerate(drawn):
            axis = figure.add_subplot(1, 4, n + 1, projection="3d")
            draw_boxes(axis, boxes)
            if body == "table":
                step = CORNERS / (EDGE / 2) * (0.1, 0.2, 0.025) + (0.3, 0, 0.025)
                for a in range(8):
                    for b in range(a + 1, 8):
                        if np.sum(CORNERS[a] != CORNERS[b]) == 1:
                            axis.plot(*step[[a, b]].T, color="#909090", linewidth=0.7)
            for c in contacts:
                end = c.point + FORCE * c.force
                axis.plot(*np.array([c.point, end]).T, color="#d04020", linewidth=2.0)
                axis.plot(*c.point[:, None], "o", color="#202020", markersize=4)
                axis.text(*end, f" {c.normal_force:.2f} N", fontsize=8)
            everything = np.concatenate(boxes)
            low, high = everything.min(axis=0), everything.max(axis=0)
            middle, reach = 0.5 * (low + high), 0.55 * float((high - low).max())
            floor = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0), (-1, -1, 0)]) * 0.9 * reach
            axis.plot(*(floor + (middle[0], middle[1], 0)).T, color="#b0b0b0", linewidth=0.7)
            axis.set_xlim(middle[0] - reach, middle[0] + reach)
            axis.set_ylim(middle[1] - reach, middle[1] + reach)
            axis.set_zlim(0, 2 * reach)
            axis.set_box_aspect((1, 1, 1))
            axis.view_init(elev=16, azim=-62)
            axis.set_title(name)
            axis.set_axis_off()

    return Result(checks, draw, figure_size=(13.0, 3.8))
