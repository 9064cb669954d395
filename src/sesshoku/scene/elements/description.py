"""What a robot file says, before it is placed in a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.scene.elements.actuators import Actuator, Tendon
from sesshoku.scene.elements.body import Body, GeometryPair
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.elements.frames import Camera, Frame
from sesshoku.scene.elements.joint import Loop, Mimic
from sesshoku.scene.elements.material import Material
from sesshoku.scene.elements.sensors import Sensor
from sesshoku.scene.elements.state_sensors import StateSensor


@checked
@dataclass
class RobotDescription:
    """What a robot file says, before it is placed in a scene. Bodies come parents first.

    root bodies have parent None; their pose is the file's. `unsupported` lists what the file uses and we don't.
    floats: the file does not say how the base is held (URDF), so it is free unless the user bolts it down.
    geometry_pairs: see `Scene.add_geometry_pair`.
    poses: named start positions (MJCF keyframes): joint name -> position, free joints and scripted bodies as position
    and quaternion. pose_velocities: joint name -> velocity (free joints: world axes). pose_commands: actuator name ->
    command; a pose without them aims position servos at itself. pose_lengths: spatial tendon -> length.
    """

    name: str
    bodies: list[Body] = field(default_factory=list)
    actuators: list[Actuator] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    mimics: list[Mimic] = field(default_factory=list)
    excluded_pairs: list[tuple[str, str]] = field(default_factory=list)
    forced_pairs: list[tuple[str, str]] = field(default_factory=list)
    geometry_pairs: dict[GeometryPair, Material | None] = field(default_factory=dict)
    unsupported: list[str] = field(default_factory=list)
    gravity: np.ndarray | None = None
    gravity_stated: bool = True  # False: the format's default, which the file leaves unsaid
    time_step: float | None = None
    time_step_stated: bool = True
    fluid: Fluid | None = None
    floats: bool = False
    poses: dict[str, dict[str, Any]] = field(default_factory=dict)
    pose_velocities: dict[str, dict[str, Any]] = field(default_factory=dict)
    pose_commands: dict[str, dict[str, float]] = field(default_factory=dict)
    pose_activations: dict[str, dict[str, float]] = field(default_factory=dict)
    pose_lengths: dict[str, dict[str, float]] = field(default_factory=dict)
    sensors: list[Sensor] = field(default_factory=list)
    state_sensors: list[StateSensor] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)
    cameras: list[Camera] = field(default_factory=list)
    tendons: list[Tendon] = field(default_factory=list)
