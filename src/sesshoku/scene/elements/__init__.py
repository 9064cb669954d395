"""What a scene is made of: bodies and joints, materials, actuators, sensors, named places, the fluid around them.

In: numbers of a user or a file. Out: plain data, checked when made; nothing here knows the scene it is added to.
"""

from sesshoku.scene.elements.actuators import Actuator, Tendon
from sesshoku.scene.elements.body import Body, Geometry, GeometryPair, Inertial, Motion, is_physical
from sesshoku.scene.elements.description import RobotDescription
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.elements.frames import Camera, Frame
from sesshoku.scene.elements.joint import JOINT_SIZES, SINGLE_AXIS, Joint, JointKind, Loop, Mimic
from sesshoku.scene.elements.material import Material
from sesshoku.scene.elements.sensors import ForceSensor, Imu, Sensor
from sesshoku.scene.elements.state_sensors import StateSensor
from sesshoku.scene.elements.tendon_paths import PathPoint

__all__ = [
    "JOINT_SIZES", "SINGLE_AXIS", "Actuator", "Body", "Camera", "Fluid", "ForceSensor", "Frame", "Geometry",
    "GeometryPair", "Imu", "Inertial", "Joint", "JointKind", "Loop", "Material", "Mimic", "Motion", "PathPoint",
    "RobotDescription", "Sensor", "StateSensor", "Tendon", "is_physical",
]  # fmt: skip
