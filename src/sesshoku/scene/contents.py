"""What a scene holds, as its parts see it: the tables by name, and how a name is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sesshoku.errors import SceneError
from sesshoku.scene.calls import checked
from sesshoku.scene.names import Named, unknown

if TYPE_CHECKING:
    from sesshoku.scene.elements import Body, GeometryPair, Joint, Loop, Material, Mimic
    from sesshoku.scene.elements.actuators import Actuator, Tendon
    from sesshoku.scene.elements.frames import Camera, Frame
    from sesshoku.scene.elements.sensors import Sensor
    from sesshoku.scene.elements.state_sensors import StateSensor


@dataclass
class RobotPose:
    """A named start of a robot where it was placed.

    positions, velocities: joint -> position and velocity; of a free joint those of the body, world axes. commands:
    actuator -> target, target velocity and feed-forward.
    """

    positions: dict[str, Any] = field(default_factory=dict)
    velocities: dict[str, Any] = field(default_factory=dict)
    commands: dict[str, tuple[float, float, float]] = field(default_factory=dict)


@checked
class Robot:
    """A robot placed in a scene: the names of its bodies, joints, actuators and sensors there.

    poses: the file's named starts, as they are where the robot was placed; `sim.reset(pose=name)` takes one. In a
    simulation, `sim.robots[robot]` has its positions, velocities and commands.
    """

    def __init__(self, name: str, bodies: list[str], joints: list[str], actuators: list[str],
                 sensors: Iterable[str] = (), poses: Mapping[str, RobotPose] | None = None) -> None:
        self.name, self.bodies, self.joints, self.actuators = name, bodies, joints, actuators
        self.sensors = list(sensors)
        self.poses: dict[str, RobotPose] = Named("pose")
        self.poses.update(poses or {})

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints)"


class Contents:
    """The tables of a `Scene`; the classes that add to them are parts of it, and `Scene` checks their calls."""

    material: Material
    bodies: dict[str, Body]
    _joint_owner: dict[str, str]  # joint name -> body name
    actuators: dict[str, Actuator]
    tendons: dict[str, Tendon]
    loops: dict[str, Loop]
    mimics: dict[str, Mimic]
    sensors: dict[str, Sensor]
    state_sensors: dict[str, StateSensor]
    frames: dict[str, Frame]
    cameras: dict[str, Camera]
    robots: dict[str, Robot]
    pair_friction: dict[tuple[str, str], Material]
    excluded_pairs: set[tuple[str, str]]
    forced_pairs: set[tuple[str, str]]
    geometry_pairs: dict[GeometryPair, Material | None]
    self_colliding: set[str]
    notes: list[str]  # what was taken from files (gravity, time step), for `info`
    unsupported: list[str]

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name in self._joint_owner:
            return self.bodies[self._joint_owner[name]].joint
        raise unknown("joint", name, (str(body.joint.name) for body in self.bodies.values()
                                      if body.joint.kind != "fixed"))

    def _body(self, name: str, element: str) -> Body:
        if name not in self.bodies:
            raise SceneError("no such body", element=element, value=name, remedy=f"bodies: {listed(self.bodies)}")
        return self.bodies[name]

    def _pair(self, a: str, b: str) -> tuple[str, str]:
        self._body(a, "pair")
        self._body(b, "pair")
        return (a, b) if a <= b else (b, a)

    def _note(self, note: str | None) -> None:
        if note is not None and note not in self.notes:
            self.notes.append(note)


def listed(names: Iterable[Any], most: int = 12) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "") or "none"
