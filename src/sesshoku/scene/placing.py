"""The part of `Scene` that reads robots from files and places them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, UnsupportedFeature, in_file
from sesshoku.scene import check
from sesshoku.scene.bodies import Bodies
from sesshoku.scene.contents import Robot, RobotPose, listed
from sesshoku.scene.elements import Body, Joint, RobotDescription
from sesshoku.scene.elements.actuators import Actuator, holding_control, with_control
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.elements.frames import NamedPlaces
from sesshoku.scene.elements.sensors import SensorMounts
from sesshoku.scene.elements.state_sensors import StateSensors
from sesshoku.scene.elements.tendon_paths import PathPoint
from sesshoku.scene.io.unsupported import Item, summary
from sesshoku.scene.materials import ContactPairs
from sesshoku.scene.mechanisms import Mechanisms
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix


class RobotPlacing(Bodies, Mechanisms, ContactPairs, SensorMounts, StateSensors, NamedPlaces):
    """Robots: all that a description holds, under names and at a place of this scene."""

    _gravity: np.ndarray | None
    _fluid: Fluid | None
    time_step: float | None

    def load(self, path: str | Path, *, position: Any = None, rotation: Any = None, fixed_base: bool | None = None,
             name: str | None = None, pose: str | None = None,
             package_paths: str | Path | Iterable[str | Path] = (), repair_inertia: bool = False) -> Robot:
        """Load a robot file: URDF, MJCF, USD, Choreonoid's .body, or "robot_descriptions:NAME".

        `name` becomes a prefix of all its names ("left/knee"): needed to load it twice.

        The base is free unless `fixed_base` (URDF) or the file itself fixes it (MJCF without a free joint); `position`
        and `rotation` place it. `pose`: start in that keyframe of the file (MJCF), with its velocities and commands;
        where it states no commands, position servos are aimed at it.
        `repair_inertia`: replace inertias that no body can have by the nearest possible ones, instead of an error.
        What the file uses and sesshoku does not (and what was repaired) is told in one warning, what changes the
        motion first; `unsupported` lists it all.
        """
        from sesshoku.scene.io.spec import load_robot

        path = check.path(path, "load")
        with in_file(path):
            check.flag(repair_inertia, "repair_inertia", "load")
            check.text(pose, "pose", "load")
            description = load_robot(path, package_paths=package_paths, repair_inertia=repair_inertia)
            if pose is not None:
                description = in_pose(description, pose)
            robot = self.add_robot(description, position=position, rotation=rotation, fixed_base=fixed_base, name=name)
        if description.unsupported:
            items = [item if isinstance(item, Item) else Item(item) for item in description.unsupported]
            self.unsupported += [item.within(Path(path).name) for item in items]
            lines = "\n  - ".join(summary(items))
            warnings.warn(f"{path}: not supported, left out or changed:\n  - {lines}", UnsupportedFeature,
                          stacklevel=3)  # this, the check of the call, the caller
        return robot

    def add_robot(self, description: RobotDescription, *, position: Any = None, rotation: Any = None,
                  fixed_base: bool | None = None, name: str | None = None) -> Robot:
        """Place a robot description; all or nothing: on an error the scene is as before."""
        kept = {key: copy(getattr(self, key))
                for key in ("bodies", "_joint_owner", "actuators", "tendons", "loops", "mimics", "sensors",
                            "state_sensors", "frames", "cameras", "robots")}
        others = {key: type(getattr(self, key))(getattr(self, key))
                  for key in ("excluded_pairs", "forced_pairs", "geometry_pairs", "notes")}
        try:
            return self._place(description, position, rotation, fixed_base, name)
        except SceneError:
            for key, value in {**kept, **others}.items():
                setattr(self, key, value)
            raise

    def _place(self, description: RobotDescription, position: Any, rotation: Any, fixed_base: bool | None,
               name: str | None) -> Robot:
        robot_name = description.name if name is None else check.name(name, "name of a robot", "load")
        if fixed_base is not None:
            check.flag(fixed_base, "fixed_base", f"robot {robot_name!r}")
        if robot_name in self.robots:
            raise SceneError("the name is taken already", element=f"robot {robot_name!r}", remedy="load it with name=")
        prefix = f"{name}/" if name else ""
        for body in description.bodies:
            body = replace(body, name=prefix + body.name, robot=robot_name,
                           parent=None if body.parent is None else prefix + body.parent,
                           joint=replace(body.joint, name=prefix + (body.joint.name or body.name)))
            if body.parent is None:
                floats = description.floats if fixed_base is None else not fixed_base
                body = self._place_root(body, position, rotation, fixed_base, floats)
            self._insert(body)
        bodies = [prefix + body.name for body in description.bodies]
        joints = [self.bodies[body].joint.name for body in bodies if self.bodies[body].joint.kind != "fixed"]
        for tendon in description.tendons:
            joints_of = {prefix + joint: arm for joint, arm in tendon.joints.items()}
            self._insert_tendon(replace(tendon, name=prefix + tendon.name, joints=joints_of,
                                        path=[placed_point(point, prefix, position, rotation)
                                              for point in tendon.path]))
        for actuator in description.actuators:
            named = {key: prefix + getattr(actuator, key) for key in ("name", "joint", "tendon", "body", "base")
                     if getattr(actuator, key) is not None}
            self._insert_actuator(replace(actuator, **named))
        for loop in description.loops:
            self._insert_loop(replace(loop, name=prefix + loop.name, body_a=prefix + loop.body_a,
                                      body_b=None if loop.body_b is None else prefix + loop.body_b))
        for mimic in description.mimics:
            self._insert_mimic(replace(mimic, joint=prefix + mimic.joint, source=prefix + mimic.source))
        for sensor in description.sensors:
            self._insert_sensor(replace(sensor, name=prefix + sensor.name, body=prefix + sensor.body))
        self._insert_places(description, prefix, position, rotation)
        for a, b in description.excluded_pairs:
            self.exclude_collision(prefix + a, prefix + b)
        for a, b in description.forced_pairs:
            self.include_collision(prefix + a, prefix + b)
        for ((a, i), (b, j)), material in description.geometry_pairs.items():
            self.add_geometry_pair(prefix + a, i, prefix + b, j, material)
        if description.gravity is not None and self._gravity is None:
            self._gravity = check.vector(description.gravity, "gravity", f"robot {robot_name!r}")
            unsaid = "" if description.gravity_stated else ", MuJoCo's default: the file states none"
            self.notes.append(f"gravity {self._gravity.tolist()} taken from {robot_name}{unsaid}")
        if description.time_step is not None and self.time_step is None:
            self.time_step = description.time_step
            unsaid = "" if description.time_step_stated else ", MuJoCo's default: the file states none"
            self.notes.append(f"time step {self.time_step:g} s taken from {robot_name} where none is given{unsaid}")
        if description.fluid is not None and self._fluid is None:
            self._fluid = description.fluid
            self.notes.append(f"fluid taken from {robot_name}: {self._fluid}")
        poses = {pose: self._placed_pose(description, pose, prefix, position, rotation, fixed_base)
                 for pose in description.poses}
        robot = Robot(robot_name, bodies, [joint for joint in joints if joint is not None],
                      [prefix + actuator.name for actuator in description.actuators],
                      [prefix + sensor.name for sensor in (*description.sensors, *description.state_sensors)], poses)
        self.robots[robot_name] = robot
        return robot

    def _placed_pose(self, description: RobotDescription, pose: str, prefix: str, position: Any, rotation: Any,
                     fixed_base: bool | None) -> RobotPose:
        """A named pose of a robot where it was placed: what the scene would start with, had it been loaded so."""
        wanted, found = in_pose(description, pose), RobotPose()
        for body in wanted.bodies:
            placed = self.bodies[prefix + body.name]
            name = str(placed.joint.name)
            if placed.joint.kind == "free":
                root = self._place_root(body, position, rotation, fixed_base, True)
                found.positions[name] = np.concatenate([root.position, root.rotation])
                found.velocities[name] = np.concatenate([root.velocity, root.angular_velocity])
            elif placed.joint.kind != "fixed" and body.joint.kind == placed.joint.kind:
                found.positions[name], found.velocities[name] = body.joint.position, body.joint.velocity
        for actuator in wanted.actuators:
            found.commands[prefix + actuator.name] = (actuator.target, actuator.target_velocity, actuator.feed_forward)
        return found

    def _insert_places(self, description: RobotDescription, prefix: str, position: Any, rotation: Any) -> None:
        """The description's frames, cameras and state sensors; those of its world placed as its fixed bodies are."""
        element = f"robot {description.name!r}"
        turn = np.array([1.0, 0, 0, 0]) if rotation is None else check.quaternion(rotation, "rotation", element)
        shift = np.zeros(3) if position is None else check.vector(position, "position", element)

        def placed(place: Any, body: str, before: str = "") -> Any:
            """The place with its body's new name; in no body, moved with the file's world."""
            if getattr(place, body) is not None:
                return replace(place, **{body: prefix + getattr(place, body)})
            at, turned = (getattr(place, before + key) for key in ("position", "rotation"))
            return replace(place, **{before + "position": shift + quaternion_to_matrix(turn) @ at,
                                     before + "rotation": multiply(turn, turned)})

        for frame in description.frames:
            self._insert_place(placed(replace(frame, name=prefix + frame.name), "body"), self.frames, "frame")
        for camera in description.cameras:
            target = None if camera.target is None else prefix + camera.target
            camera = placed(replace(camera, name=prefix + camera.name, target=target), "body")
            self._insert_place(camera, self.cameras, "camera")
        for state in description.state_sensors:
            of = None if state.of is None else prefix + state.of
            state = placed(replace(state, name=prefix + state.name, of=of), "body")
            self._insert_state_sensor(placed(state, "reference", "reference_"))

    def _place_root(self, body: Body, position: Any, rotation: Any, fixed_base: bool | None, floats: bool) -> Body:
        """Give a robot's root its joint and its pose: the placement in front of the file's own pose."""
        kind = body.joint.kind
        if fixed_base is True and kind == "free":
            kind = "fixed"
        elif floats and kind == "fixed":
            kind = "free"
        element = f"body {body.name!r}"
        turn = np.array([1.0, 0, 0, 0]) if rotation is None else check.quaternion(rotation, "rotation", element)
        shift = np.zeros(3) if position is None else check.vector(position, "position", element)
        joint = body.joint if kind == body.joint.kind else Joint(kind, name=body.joint.name)
        moving = kind == "free" or body.kinematic  # the velocities of a pose turn with the placement
        speed, spin = (quaternion_to_matrix(turn) @ vector if moving else np.zeros(3)
                       for vector in (body.velocity, body.angular_velocity))
        body = replace(body, velocity=speed, angular_velocity=spin)
        if kind == "free" and position is not None:  # a free base stands where the user says, not where it was drawn
            return replace(body, joint=joint, position=shift, rotation=multiply(turn, body.rotation))
        return replace(body, joint=joint, position=shift + quaternion_to_matrix(turn) @ body.position,
                       rotation=multiply(turn, body.rotation))


def placed_point(point: PathPoint, prefix: str, position: Any, rotation: Any) -> PathPoint:
    """A place on a tendon's path under the names of a scene; one of the file's world goes where that is placed."""
    turn = np.array([1.0, 0, 0, 0]) if rotation is None else check.quaternion(rotation, "rotation", "load")
    shift = np.zeros(3) if position is None else check.vector(position, "position", "load")
    moved: dict[str, Any] = {}
    if point.body is not None:
        moved["body"] = prefix + point.body
    elif point.kind != "pulley":
        moved |= {"position": shift + quaternion_to_matrix(turn) @ point.position,
                  "rotation": multiply(turn, np.array(point.rotation))}
    if point.side_body is not None:
        moved["side_body"] = prefix + point.side_body
    elif point.side is not None:
        moved["side"] = shift + quaternion_to_matrix(turn) @ point.side
    return replace(point, **moved)


def in_pose(description: RobotDescription, pose: str) -> RobotDescription:
    """The description with its joints, free bodies and actuators' commands in one of its named poses."""
    if pose not in description.poses:
        raise SceneError("no such pose", element=f"robot {description.name!r}", value=pose,
                         remedy=f"poses: {listed(description.poses)}")
    wanted, moving = description.poses[pose], description.pose_velocities.get(pose, {})
    bodies = []
    for body in description.bodies:
        name = str(body.joint.name)
        value, velocity = wanted.get(body.name if body.kinematic else name), moving.get(name)
        free = body.joint.kind == "free"
        if value is not None and (free or body.kinematic):
            body = replace(body, position=value[:3], rotation=value[3:])
        elif value is not None:
            body = replace(body, joint=replace(body.joint, position=value))
        if velocity is not None and free:
            body = replace(body, velocity=velocity[:3], angular_velocity=velocity[3:])
        elif velocity is not None:
            body = replace(body, joint=replace(body.joint, velocity=velocity))
        bodies.append(body)
    commands = description.pose_commands.get(pose)
    lengths = {tendon.name: sum(arm * float(wanted.get(joint, 0.0)) for joint, arm in tendon.joints.items())
               for tendon in description.tendons if tendon.joints} | description.pose_lengths.get(pose, {})
    activations = description.pose_activations.get(pose, {})
    actuators = [replace(_commanded(actuator, wanted, lengths, commands),
                         activation=activations.get(actuator.name, actuator.activation))
                 for actuator in description.actuators]
    return replace(description, bodies=bodies, actuators=actuators)


def _commanded(actuator: Actuator, joints: Mapping[str, Any], lengths: Mapping[str, float],
               commands: Mapping[str, float] | None) -> Actuator:
    """The actuator with a pose's command; where the pose has none, a servo holds its joint or tendon in the pose."""
    if commands is not None:
        return with_control(actuator, commands[actuator.name]) if actuator.name in commands else actuator
    length = joints.get(actuator.joint) if actuator.joint is not None else lengths.get(str(actuator.tendon))
    control = None if length is None else holding_control(actuator, float(length))
    return actuator if control is None else with_control(actuator, control)
