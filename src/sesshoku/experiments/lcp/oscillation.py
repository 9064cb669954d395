"""The large humanoid stands on its bush feet, tilted about their pitch axis, and is let go (Fig. 5 of the paper).

Joints are locked (a statue on bushes), for the closed form supposes stiff ones: above the bushes' axis an inverted
pendulum of mass M, height l and inertia I on two springs,
    I th'' = -(2 k - M g l) th - 2 c th',   w^2 = (2 k - M g l) / I,  decay 2 c / (2 I).
With the walking servos in series the same robot swings slower; that is reported beside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sesshoku import control
from sesshoku.control.humanoids import LARGE, stage
from sesshoku.control.measure import foot_wrenches
from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.walking import draw_frames
from sesshoku.recording import Recorder, Recording
from sesshoku.robots.bush import Bush
from sesshoku.scene.elements import Joint
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix

TITLE = "the humanoid tilted on its bush feet: period and decay of the ankles' moment (Fig. 5)"
TILT, G, PERIODS, PICTURES = 0.015, 9.8, 5, 7
#: how far frequency and decay may be from the formula, by method
WITHIN = {"lcp": (0.05, 0.12), "lcp:recommended": (5e-3, 0.08), "exact": (4e-3, 8e-3)}
SERVOS = (0.835, 0.02), (0.70, 0.05)  # of the formula's, with the walking servos in series, and within


@dataclass
class Release:
    """What came of it: rows by name (time, moment at the left ankle, forces of the feet, bush angle), and pictures."""

    scene: Scene
    recording: Recording
    frames: list[tuple[float, dict[str, np.ndarray]]]
    rows: dict[str, np.ndarray]


def standing() -> tuple[Scene, control.Biped, np.ndarray]:
    """The robot on bushes with its centre of mass over them, and its coordinates."""
    scene = stage("large_bush", friction=0.8)
    biped = control.humanoids.biped(scene)
    feet = np.zeros((2, 6))
    feet[:, 1] = 0.5 * LARGE.width, -0.5 * LARGE.width
    return scene, biped, biped.posture(np.array([biped.legs.pivot[0, 0], 0.0, LARGE.com_height]), feet)


def statue(scene: Scene, biped: control.Biped, q: np.ndarray) -> Scene:
    """The scene with every joint but the base's and the bushes' frozen as it stands in q."""
    frozen = stage("large_bush", friction=0.8)
    for name, link in biped.compiled.joint_link.items():
        body = frozen.bodies[biped.compiled.link_names[link]]
        if "_bush_" in name or body.joint.kind == "free":
            continue
        turn = axis_angle(np.asarray(body.joint.axis), float(q[biped.model.link_coordinate[link]]))
        body.rotation = multiply(np.asarray(body.rotation), turn)
        body.joint = Joint("fixed", name=name)
    frozen.actuators.clear()
    return frozen


def release(sim: Simulation, biped: control.Biped, seconds: float) -> Release:
    """Tilt the robot as a whole about the bushes' pitch axis, put the bushes where they then are, let go, and log."""
    scale = Bush().springs()
    pivot = biped.legs.pivot[0]
    axis_place, turn = np.array([pivot[0], 0.0, pivot[2]]), axis_angle(np.array([0.0, 1.0, 0.0]), TILT)
    root = biped.compiled.link_names[biped.root]
    pelvis = sim.bodies[root]
    above = biped.mass - sum(sim.bodies[f"{side}_sole"].mass for side in ("left", "right"))
    sag = 0.5 * above * G / scale["z"][0]
    place = axis_place + quaternion_to_matrix(turn) @ (pelvis.position - axis_place) - [0.0, 0.0, sag]
    pelvis.set_pose(place, multiply(turn, pelvis.rotation))
    for side in ("left", "right"):
        sim.joints[f"{side}_bush_pitch"].position = -TILT
        sim.joints[f"{side}_bush_z"].position = sag
    ankle = sim.bodies["left_foot"].position
    rows, film = [], Recorder(sim, rate=50)
    frames, left = [], [0.0, *(0.25 * n * seconds / PERIODS for n in range(1, PICTURES))]  # quarters of a period
    for n in range(round(seconds / sim.dt)):
        if n % film.stride == 0:
            film.sample(sim)
        if left and sim.time >= left[0] - 1e-9:
            frames.append((sim.time, dict(zip(sim.compiled.frame_names, sim.body_poses()))))
            left.pop(0)
        sim.step()
        wrench = foot_wrenches(sim, biped)
        pitch = wrench[0, 4] - np.cross(ankle, wrench[0, :3])[1]  # about the ankle
        rows.append((sim.time, pitch, wrench[0, 2], wrench[1, 2], float(sim.joints["left_bush_pitch"].position)))
    return Release(sim.scene, film.finish(), frames, dict(zip(("time", "moment", "left", "right", "bush"),
                                                               np.array(rows).T)))


def pendulum(sim: Simulation, biped: control.Biped) -> tuple[float, float, float]:
    """Mass, height and inertia of what is above the bushes' pitch axis, both bushes' armatures included."""
    soles = {f"{side}_{part}" for side in ("left", "right") for part in ("sole", "bush_z", "bush_pitch")}
    pivot = np.array([biped.legs.pivot[0, 0], 0.0, biped.legs.pivot[0, 2]])
    mass = height = inertia = 0.0
    for name, body in sim.scene.bodies.items():
        if name in soles or body.inertial is None:
            continue
        view = sim.bodies[name]
        R = view.rotation_matrix
        arm = view.position + R @ np.asarray(body.inertial.center) - pivot
        mass += body.inertial.mass
        height += body.inertial.mass * arm[2]
        inertia += (R @ np.asarray(body.inertial.matrix) @ R.T)[1, 1] + body.inertial.mass * (arm[0]**2 + arm[2]**2)
    return mass, height / mass, inertia + 2.0 * Bush().springs()["pitch"][2]


def fit(time: np.ndarray, values: np.ndarray, rate: float, decay: float) -> tuple[float, float, np.ndarray]:
    """Frequency and decay of a damped cosine fitted to values, and the fit itself."""
    from scipy.optimize import curve_fit

    def model(t: np.ndarray, a: float, b: float, c: float, d: float, w: float) -> np.ndarray:
        return (a * np.cos(w * t) + b * np.sin(w * t)) * np.exp(-d * t) + c

    start = [values[0] - values[-1], 0.0, values[-1], decay, rate]
    found, _ = curve_fit(model, time, values, start, maxfev=20_000)
    return float(found[4]), float(found[3]), model(time, *found)


def run(progress: Callable[[str], None], methods: tuple[str, ...] = ("lcp", "lcp:recommended", "exact")) -> Result:
    scene, biped, q = standing()
    k, c, _ = Bush().springs()["pitch"]
    frozen = statue(scene, biped, q)
    legs = control.humanoids.biped(scene)
    checks, traces, runs = [], {}, dict[str, Release]()
    for method in methods:
        progress(method)
        sim = Simulation(frozen, method, 1e-3)
        sim.bodies[biped.compiled.link_names[biped.root]].set_pose(_base(biped, q))
        M, l, I = pendulum(sim, biped)
        rate, decay = float(np.sqrt((2 * k - M * G * l) / I)), float(2 * c / (2 * I))
        own = _members(sim, legs)
        seen = runs[method] = release(sim, own, PERIODS * 2 * np.pi / rate)
        log = seen.rows
        w, d, curve = fit(log["time"][20:], log["moment"][20:], rate, decay)
        traces[method] = (log, curve)
        checks += [
            Check(f"{method}: frequency", w, rate, WITHIN[method][0] * rate, "rad/s"),
            Check(f"{method}: decay", d, decay, WITHIN[method][1] * decay, "1/s"),
            Check(f"{method}: least force of a foot", float(min(log["left"][20:].min(), log["right"][20:].min())) / (
                biped.mass * G), 0.49, 0.0, "of the weight", "at_least"),
        ]
    progress("with the walking servos")
    sim = Simulation(scene, methods[0], 1e-3)
    sim.set_state(q, np.zeros(sim.model.dof_count))
    sim.actuator_command[biped.actuator, 0] = q[biped.actuator_coordinate]
    standing_plan = control.walk(biped, [], LARGE)
    sim.actuator_command[biped.actuator, 2] = standing_plan.force[0, biped.actuator_dof]
    seen = runs["walking servos"] = release(sim, biped, PERIODS * 2 * np.pi / rate)
    log = seen.rows
    w, d, curve = fit(log["time"][20:], log["moment"][20:], 0.8 * rate, 0.7 * decay)
    traces["walking servos"] = (log, curve)
    checks += [Check("walking servos: frequency of the formula", w / rate, *SERVOS[0]),
               Check("walking servos: decay of the formula", d / decay, *SERVOS[1])]

    def draw(figure: Any) -> None:
        top, bottom = figure.subfigures(2, 1, height_ratios=(0.3, 1.0))
        shown = runs["walking servos"]
        draw_frames(top, shown.scene, shown.frames, biped)
        axes = bottom.subplots(len(traces), 1, sharex=True)
        for axis, (label, (log, curve)) in zip(axes, traces.items()):
            axis.plot(log["time"], log["moment"], label="moment at the left ankle")
            axis.plot(log["time"][20:], curve, color="#404040", linestyle=(0, (3, 2)), linewidth=0.9,
                      label="fitted damped cosine")
            axis.set_title(label if label == "walking servos" else f"{label}, joints locked")
            axis.set_ylabel("pitch moment [N m]")
        axes[0].legend(loc="upper right", ncols=2)
        axes[-1].set_xlabel("time [s]")

    return Result(checks, draw, {"mass": M, "height": l, "inertia": I, "formula_rate": rate, "formula_decay": decay},
                  figure_size=(9.0, 9.5), recordings={label: seen.recording for label, seen in runs.items()})


def _base(biped: control.Biped, q: np.ndarray) -> np.ndarray:
    """Place of the base's own frame (not of its centre of mass) at q."""
    at, frame = biped.legs.root_coordinate, biped.compiled.frame_index[biped.compiled.link_names[biped.root]]
    return np.asarray(q[at:at + 3] + quaternion_to_matrix(q[at + 3:at + 7]) @ biped.model.frame_position[frame])


class _Feet:
    """The legs of a robot as `foot_wrenches` and `release` need them, for a model with other links."""

    def __init__(self, sim: Simulation, biped: control.Biped) -> None:
        members = np.full(sim.model.link_count, -1)
        for side, name in enumerate(("left", "right")):
            for part in ("bush_z", "bush_pitch", "sole"):
                members[sim.bodies[f"{name}_{part}"].link] = side
        self.legs = type("Legs", (), {"foot_of_link": members, "pivot": biped.legs.pivot})()
        self.compiled, self.root, self.mass = biped.compiled, biped.root, biped.mass


def _members(sim: Simulation, biped: control.Biped) -> Any:
    return _Feet(sim, biped)
