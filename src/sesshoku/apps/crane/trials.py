"""Scripted trials of the grip: what a crane game must be able to do, measured for any method.

Boxes are held by friction alone, a heart by a finger in its notch; jerks beyond the bound of friction drop a box,
gentle ones do not. A trial is its own small scene: the crane, one thing on the floor.
"""

from __future__ import annotations

import time as wall
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sesshoku.apps.crane.game import TIME_STEP, game_method
from sesshoku.apps.crane.motion import Inputs, Limits, Path
from sesshoku.apps.crane.pilot import ABOVE, HANG
from sesshoku.apps.crane.robot import CLOSE_TORQUE, FINGERS, OPEN_TORQUE, PAIRS, add_crane, grip_torque
from sesshoku.apps.crane.round import drive
from sesshoku.apps.crane.scene import FRICTION, materials
from sesshoku.apps.crane.shapes import heart
from sesshoku.errors import SesshokuError
from sesshoku.methods.registry import Method
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

BOX, MASS, GRAVITY = 0.8, 0.7, 9.8
CLOSE_SECONDS, LIFT, LIFT_SPEED, HOLD_SECONDS = 1.6, 1.0, 0.5, 3.0


@dataclass
class Watch:
    """What is kept of every step."""

    penetration: float = 0.0
    step_seconds: list[float] = field(default_factory=list)
    frames: list[tuple[float, dict[str, np.ndarray]]] = field(default_factory=list)


class Trial:
    """The crane above one thing: `run(seconds, inputs)` with some pairs of fingers closed."""

    def __init__(self, method: str | Method, add: Callable[[Scene, Any], None], *, start: Any,
                 friction: float = FRICTION, dt: float = TIME_STEP, limits: Limits | None = None) -> None:
        self.path = Path(start, limits or Limits())
        self.scene = Scene(gravity=(0, 0, -GRAVITY), name="grip")
        rubber, skin, wood = materials(friction)
        floor = wood if friction > 0.0 else replace(wood, static_friction=0.0, kinetic_friction=0.0)
        self.scene.add_ground(material=floor)
        add(self.scene, skin)
        add_crane(self.scene, self.path, rubber)
        self.sim = Simulation(self.scene, game_method(method), dt)
        self.sim.step(0)  # compiles, which is no part of a step's time
        self.watch = Watch()

    def run(self, seconds: float, inputs: Inputs | None = None, closed: tuple[str, ...] = ("x", "y"), *,
            force: float | None = None) -> None:
        """Hold some inputs for a while, these pairs of fingers closed and the others open.

        force: N that each closed finger presses with, by its hip's torque; None: as in the game.
        """
        shut = [finger for pair in closed for finger in PAIRS[pair]]
        for _ in range(round(seconds / self.sim.dt)):
            drive(self.sim, OPEN_TORQUE, [finger for finger in FINGERS if finger not in shut])
            for finger in shut:
                at = [self.sim.joints[f"{finger}_{part}"].position for part in ("hip", "knee")]
                hip = CLOSE_TORQUE[0] if force is None else grip_torque(at[0], at[1], force)
                drive(self.sim, (hip, CLOSE_TORQUE[1]), [finger])
            self.path.aim(inputs or Inputs(), self.sim.dt)
            begin = wall.process_time()
            self.sim.step()
            self.watch.step_seconds.append(wall.process_time() - begin)
            self.path.advance(self.sim.dt)
            self.watch.penetration = max(self.watch.penetration, self.sim.report.penetration)

    def place(self, body: str = "prize") -> np.ndarray:
        """Where a body is, seen from the crane (3), m."""
        return self.sim.bodies[body].position - self.path.position

    def height(self, body: str = "prize") -> float:
        return float(self.sim.bodies[body].position[2])

    def picture(self) -> None:
        """Keep the poses of now for a picture."""
        poses = self.sim.body_poses()
        self.watch.frames.append((self.sim.time, dict(zip(self.sim.compiled.frame_names, poses, strict=True))))

    def pressing(self, fingers: tuple[str, str]) -> float:
        """Normal force of the weaker of two fingers on the prize, N."""
        sums = dict.fromkeys(fingers, 0.0)
        for contact in self.sim.contacts:
            for finger in fingers:
                if "prize" in contact.bodies and any(name.startswith(finger) for name in contact.bodies):
                    sums[finger] += contact.normal_force
        return min(sums.values())


def box(scene: Scene, material: Any) -> None:
    scene.add_box("prize", size=(BOX, BOX, BOX), mass=MASS, position=(0, 0, BOX / 2), material=material,
                  color=(0.25, 0.55, 0.85, 1.0))


def over_box(above: float = ABOVE) -> tuple[float, float, float]:
    """Where the crane starts: its toes at a box's middle and a little above."""
    return (0.0, 0.0, BOX / 2 + above + HANG)


def lift(trial: Trial, closed: tuple[str, ...] = ("x", "y")) -> None:
    """Up by LIFT at LIFT_SPEED."""
    speed = LIFT_SPEED / trial.path.limits.speed[2]
    trial.run(LIFT / LIFT_SPEED, Inputs(z=speed), closed)


@dataclass(frozen=True)
class Lifted:
    """A box closed in on, lifted, held, let go."""

    rise: float  # m, at the end of the hold
    slip: float  # m, against the crane from the lift's begin to the hold's end
    fallen: float  # m it lost when the fingers opened
    penetration: float  # m, largest
    step_seconds: float  # longest step
    frames: list[tuple[float, dict[str, np.ndarray]]]
    scene: Scene


def lift_box(method: str | Method, friction: float = FRICTION, dt: float = TIME_STEP) -> Lifted:
    """(a) with friction, (b) without, (c) what opening does."""
    trial = Trial(method, box, start=over_box(), friction=friction, dt=dt)
    trial.run(0.4, closed=())
    begin = trial.height()
    trial.picture()
    trial.run(CLOSE_SECONDS)
    trial.picture()
    held = trial.place()
    lift(trial)
    trial.run(0.5 * HOLD_SECONDS)
    trial.picture()
    trial.run(0.5 * HOLD_SECONDS)
    top, slip = trial.height(), float(np.linalg.norm(trial.place() - held))
    trial.run(0.5, closed=())
    trial.picture()
    trial.run(1.0, closed=())
    trial.picture()
    return Lifted(top - begin, slip, top - trial.height(), trial.watch.penetration, max(trial.watch.step_seconds),
                  trial.watch.frames, trial.scene)


@dataclass(frozen=True)
class Jerked:
    """A box held by two fingers, moved sideways along their faces."""

    force: float  # N of each finger
    bound: float  # 2 mu N, N
    acceleration: float  # m/s^2
    drop: float  # m it sank against the crane
    held: bool
    frames: list[tuple[float, dict[str, np.ndarray]]]
    scene: Scene


def jerk_box(method: str | Method, share: float, dt: float = TIME_STEP, force: float = 10.0,
             seconds: float = 0.2) -> Jerked:
    """(d) m sqrt(g^2 + a^2) = share * 2 mu N: holds for share < 1, drops for share > 1."""
    trial = Trial(method, box, start=over_box(), dt=dt)
    trial.run(0.4, closed=())
    trial.run(CLOSE_SECONDS, closed=("x",), force=force)
    trial.run(LIFT / LIFT_SPEED, Inputs(z=LIFT_SPEED), ("x",), force=force)
    trial.run(1.0, closed=("x",), force=force)
    pressed = []
    for _ in range(10):
        trial.run(dt, closed=("x",), force=force)
        pressed.append(trial.pressing(PAIRS["x"]))
    measured = float(np.mean(pressed))
    bound = 2.0 * FRICTION * measured
    a = float(np.sqrt(max((share * bound / MASS) ** 2 - GRAVITY**2, 0.0)))
    trial.path.limits = Limits(speed=(100.0, 100.0, 1.0), acceleration=max(a, 1e-6))
    held = trial.place()
    trial.picture()
    trial.run(seconds, Inputs(y=1.0), ("x",), force=force)
    trial.picture()
    trial.path.limits = Limits(speed=tuple(np.maximum(np.abs(trial.path.velocity), 1e-9)), acceleration=max(a, 1e-6))
    trial.run(0.3, Inputs(y=1.0), ("x",), force=force)
    trial.picture()
    trial.run(0.3, Inputs(y=1.0), ("x",), force=force)
    trial.picture()
    drop = float((held - trial.place())[2])
    return Jerked(measured, bound, a, drop, drop < 0.2 * BOX, trial.watch.frames, trial.scene)


@dataclass(frozen=True)
class Endured:
    """A box taken up, set down and let go, over and over."""

    seconds: float
    cycles: int
    penetration: float  # m, largest
    step_seconds: float  # longest step
    highest: float  # m the box rose in the last cycle


def endure(method: str | Method, seconds: float = 60.0, dt: float = TIME_STEP) -> Endured:
    """(f), (g): nothing fails for a minute, contacts stay within their limit, every step is fast."""
    trial = Trial(method, box, start=over_box(), dt=dt)
    cycles, highest = 0, 0.0
    while trial.sim.time < seconds:
        trial.run(0.8, closed=())
        trial.run(CLOSE_SECONDS)
        begin = trial.height()
        lift(trial)
        trial.run(0.6)
        highest = trial.height() - begin
        trial.run(LIFT / LIFT_SPEED, Inputs(z=-LIFT_SPEED / trial.path.limits.speed[2]))
        trial.run(0.4)
        cycles += 1
    return Endured(trial.sim.time, cycles, trial.watch.penetration, max(trial.watch.step_seconds), highest)


# ---- the heart -----------------------------------------------------------------------------------------------------

HEART_MASS = 0.8
#: the heart stands on a lobe, its notch to the right and its tip to the left; a post keeps it so until it is held
AXIS_HEIGHT, CRANE_AT = 0.4495, (-0.17, 0.0, 1.67)


def heart_on_edge(hull: bool) -> Callable[[Scene, Any], None]:
    """Adds the heart, or its convex hull, standing in the x-z plane with its axis level."""

    def add(scene: Scene, material: Any) -> None:
        vertices, faces = heart()
        half = np.sqrt(0.5)
        place = {"position": (0.0, 0.0, AXIS_HEIGHT), "rotation": (half, 0.0, half, 0.0), "mass": HEART_MASS,
                 "material": material, "color": (0.95, 0.30, 0.55, 1.0)}
        if hull:
            scene.add_convex("prize", vertices, **place)
        else:
            scene.add_mesh("prize", vertices, faces=faces, **place)
        scene.add_box("post", size=(0.1, 0.3, 0.2), position=(-0.25, 0.0, 0.1), fixed=True, material=material,
                      color=(0.5, 0.5, 0.5, 1.0))

    return add


@dataclass(frozen=True)
class Hooked:
    """A frictionless heart or its hull, closed in on and lifted."""

    rise: float  # m
    frames: list[tuple[float, dict[str, np.ndarray]]]
    scene: Scene


def hook_heart(method: str | Method, hull: bool = False, dt: float = TIME_STEP, friction: float = 0.0,
               force: float = 6.0) -> Hooked:
    """(e) without friction a heart rises by a finger in its notch; its hull, which has none, does not."""
    trial = Trial(method, heart_on_edge(hull), start=CRANE_AT, friction=friction, dt=dt)
    begin = trial.height()
    trial.picture()
    trial.run(CLOSE_SECONDS, force=force)
    trial.picture()
    for _ in range(2):
        trial.run(0.5 * LIFT / LIFT_SPEED, Inputs(z=LIFT_SPEED), force=force)
        trial.picture()
    trial.run(1.0, force=force)
    trial.picture()
    return Hooked(trial.height() - begin, trial.watch.frames, trial.scene)


def tried(trial: Callable[[], Any]) -> tuple[Any, str]:
    """The result of a trial and "", or None and why it failed."""
    try:
        return trial(), ""
    except SesshokuError as error:
        return None, str(error)


__all__ = ["Endured", "Hooked", "Jerked", "Lifted", "Trial", "endure", "hook_heart", "jerk_box", "lift_box", "tried"]
