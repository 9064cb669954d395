"""Section 5.4.2, which face an edge is pushed by: boxes that rest and slide on edges, under three readings of the rule.

A crossing of two edges whose direction lies outside the wedge of an edge's faces cannot be the real contact. The thesis
says that pushing along it makes a sliding cube stumble, that dropping it makes boxes stacked at their edges shake and
sink, and so pushes by a face beside the edge. Which one is unclear in print: `side_face="nearest"`, our reading, takes
the face whose normal is nearest to the direction of the crossing, "literal" the other one, "off" none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result, Table
from sesshoku.methods.registry import make
from sesshoku.recording.picture import draw as draw_scene
from sesshoku.scene.elements import Material
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle

TITLE = "boxes on edges (section 5.4.2): overhang, corner, bridge, crossed beams, a seam; three readings"
READINGS = ("nearest", "literal", "off")
MU, SLIDE, SPEED, G = 0.5, 0.3, 1.0, 9.8
UP = np.array([0.0, 0.0, 1.0])
Vector = tuple[float, float, float]


def pile(*fixed: tuple[Vector, Vector], top: tuple[Vector, Vector], turn: float = 0.0, mu: float = MU,
         velocity: Vector = (0, 0, 0)) -> Scene:
    """Fixed boxes (size, place) and a loose one of 1 kg, `top`, turned about the vertical."""
    scene = Scene(gravity=(0, 0, -G), name="boxes on edges")
    scene.add_ground(material=Material(mu))
    for n, (size, place) in enumerate(fixed):
        scene.add_box(f"fixed{n}", size=size, position=place, fixed=True, material=Material(mu))
    scene.add_box("top", size=top[0], mass=1.0, position=top[1], rotation=axis_angle(UP, turn), velocity=velocity,
                  material=Material(mu))
    return scene


CUBE = (0.2, 0.2, 0.2)
RESTING: dict[str, Callable[[], Scene]] = {
    "overhang": lambda: pile(((0.6, 0.6, 0.2), (0, 0, 0.1)), top=(CUBE, (0.28, 0, 0.3)), turn=0.4),
    "corner": lambda: pile((CUBE, (0, 0, 0.1)), top=(CUBE, (0.06, 0.03, 0.3))),
    "bridge": lambda: pile(((0.1, 0.1, 0.2), (-0.3, 0, 0.1)), ((0.1, 0.1, 0.2), (0.3, 0, 0.1)),
                           top=((0.9, 0.06, 0.05), (0, 0, 0.225))),
    "crossed beams": lambda: pile(((0.5, 0.1, 0.1), (0, 0, 0.05)), top=((0.1, 0.5, 0.1), (0, 0, 0.15))),
}


def seam() -> Scene:
    """A cube thrown across the diagonal that divides the top face of a box in two triangles."""
    return pile(((4.0, 4.0, 0.2), (0, 0, 0.1)), top=(CUBE, (-0.1, 0.02, 0.3)), turn=0.2, mu=SLIDE,
                velocity=(SPEED, 0, 0))


def rest(scene: Scene, reading: str) -> tuple[int, float, float, float]:
    """Springs, sinking (mm), shaking of the height over the second second (mm), way along the floor (mm)."""
    sim = Simulation(scene, make("springs", {"side_face": reading}), 1e-3)
    start = sim.bodies["top"].position.copy()
    sim.step(1000)
    places = []
    for _ in range(1000):
        sim.step()
        places.append(sim.bodies["top"].position.copy())
    track = 1e3 * (np.array(places) - start)
    return len(sim.contacts), float(-track[-1, 2]), float(np.ptp(track[:, 2])), float(np.linalg.norm(track[-1, :2]))


def cross_seam(merged: bool, reading: str) -> tuple[float, float, float]:
    """Where it stops, its largest sideways speed (m/s), and the most horizontal part of a contact's normal."""
    sim = Simulation(seam(), make("springs", {"side_face": reading, "merge_coplanar": merged}), 1e-3)
    body, sideways, slant = sim.bodies["top"], 0.0, 0.0
    for _ in range(500):
        sim.step()
        sideways = max(sideways, abs(float(body.velocity[1])))
        slant = max([slant, *(float(np.abs(contact.normal[:2]).max()) for contact in sim.contacts)])
    return float(body.position[0]) + 0.1, sideways, slant


def run(progress: Callable[[str], None]) -> Result:
    found, checks = {}, []
    for name, scene in RESTING.items():
        for reading in READINGS:
            progress(f"{name}, {reading}")
            found[name, reading] = rest(scene(), reading)
        _, sinks, shakes, goes = found[name, "nearest"]
        checks += [Check(f"{name}: sinks", sinks, 0.06, 0.0, "mm", "at_most"),
                   Check(f"{name}: shakes", shakes, 0.0, 1e-6, "mm", "at_most"),
                   Check(f"{name}: creeps", goes, 0.08, 0.0, "mm", "at_most")]
    for reading in READINGS[1:]:
        _, _, shakes, goes = found["overhang", reading]
        checks += [Check(f"overhang, {reading}: shakes", shakes, 0.06, 0.0, "mm", "at_least"),
                   Check(f"overhang, {reading}: creeps", goes, 1.0, 0.0, "mm", "at_least")]
    ideal = SPEED**2 / (2 * SLIDE * G)
    for merged in (True, False):
        progress(f"seam, {'merged' if merged else 'as an edge'}")
        stop, sideways, slant = cross_seam(merged, "nearest")
        label = f"seam, {'left out of the edges' if merged else 'an edge like any other'}"
        checks += [Check(f"{label}: stops", stop, ideal, 1e-3, "m"),
                   Check(f"{label}: sideways speed", sideways, 1e-6 if merged else 5e-3, 0.0, "m/s", "at_most"),
                   Check(f"{label}: most horizontal part of a normal", slant, 0.0 if merged else 1e-3, 1e-6, "",
                         "at_most")]

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1, height_ratios=(0.9, 1.0))
        for n, (name, scene) in enumerate(RESTING.items()):
            axis = top.add_subplot(1, len(RESTING), n + 1, projection="3d")
            made = scene()
            poses = {body: np.r_[view.position, view.rotation] for body, view in made.bodies.items()}
            draw_scene(made, poses, axis, (np.array([-0.5, -0.5, -0.35]), np.array([0.5, 0.5, 0.65])))
            axis.set_title(name, loc="center")
        axes = bottom.subplots(1, 2)
        for axis, column, title in ((axes[0], 2, "shaking of the height [mm]"), (axes[1], 3, "creep in 2 s [mm]")):
            for k, reading in enumerate(READINGS):
                axis.bar([n + 0.25 * (k - 1) for n in range(len(RESTING))],
                         [max(found[name, reading][column], 1e-6) for name in RESTING], 0.25, label=f'"{reading}"')
            axis.set_yscale("log")
            axis.set_xticks(range(len(RESTING)), list(RESTING))
            axis.set_title(title)
        axes[0].legend(title="side_face")

    rows = [[name, reading, *(values if isinstance(values, int) else float(f"{values:.3g}") for values in numbers)]
            for (name, reading), numbers in found.items()]
    return Result(checks, draw, figure_size=(10.5, 6.4),
                  tables=[Table("at rest", ["boxes", "side_face", "springs", "sinks, mm", "shakes, mm", "creeps, mm"],
                                rows)])
