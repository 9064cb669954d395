"""A robot of a simulation as vectors: positions, velocities and commands, in a stated order with names beside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.elements import JOINT_SIZES
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Robot, RobotPose

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation
    from sesshoku.simulation.views import BodyView

COMMAND_COLUMN = {"velocity": 1}  # of actuator_command: what a kind follows; the others' target stands first


@checked
class RobotView:
    """A robot in a simulation: `robot = sim.robots["go1"]`, or `sim.robots[robot]` of what `scene.load` returned.

    q, v: positions and velocities of its joints one after the other, in the order of `joint_names` (the file's, parents
    first); a joint's part is what `sim.joints[name]` gives, so that a free base takes the first 7 of q (position and
    quaternion w x y z of the body) and the first 6 of v (velocity and angular velocity, world axes). `places` says
    where each joint stands in q, `dofs` where in v. command: one number an actuator, in the order of `actuator_names`:
    the position, velocity or force it is to follow. What is read is a copy that refuses
    writes; assign to change: `robot.q = home`.
    """

    __slots__ = ("_command", "_free", "_q", "_sim", "_sizes", "_v", "actuator_names", "dofs", "joint_names", "name",
                 "places")

    def __init__(self, sim: Simulation, name: str, robot: Robot) -> None:
        self._sim, self.name = sim, name
        links = sim.compiled.joint_link
        self.joint_names = [joint for joint in robot.joints if joint in links]
        self.actuator_names = [actuator for actuator in robot.actuators if actuator in sim.compiled.actuator_index]
        self.places: dict[str, slice] = {}
        self.dofs: dict[str, slice] = {}
        coordinates: list[int] = []
        velocities: list[int] = []
        self._free: list[tuple[slice, slice, np.ndarray, np.ndarray, str]] = []
        poses, twists, _ = sim._observed
        for joint in self.joint_names:
            link, kind = links[joint], sim.scene.joint(joint).kind
            size_v, size_q = JOINT_SIZES[kind]
            at, first = int(sim.model.link_coordinate[link]), int(sim.model.link_dof[link])
            self.places[joint] = slice(len(coordinates), len(coordinates) + size_q)
            self.dofs[joint] = slice(len(velocities), len(velocities) + size_v)
            coordinates += range(at, at + size_q)
            velocities += range(first, first + size_v)
            if kind == "free":  # coordinates are of the centre of mass, users speak of the body
                frame = sim.compiled.frame_index[sim.compiled.link_names[link]]
                self._free.append((self.places[joint], self.dofs[joint], poses[frame], twists[frame], joint))
        self._q, self._v = _places(coordinates), _places(velocities)
        self._sizes = len(coordinates), len(velocities)
        rows = [sim.compiled.actuator_index[actuator] for actuator in self.actuator_names]
        columns = [COMMAND_COLUMN.get(sim.scene.actuators[actuator].kind, 0) for actuator in self.actuator_names]
        width = sim.data.actuator_command.shape[1]
        self._command = _places([row * width + column for row, column in zip(rows, columns, strict=True)])

    def __repr__(self) -> str:
        return (f"RobotView({self.name!r}, {len(self.joint_names)} joints, {len(self.actuator_names)} actuators, "
                f"q of {self._sizes[0]}, v of {self._sizes[1]})")

    @property
    def base(self) -> BodyView:
        """The body that the others hang on."""
        from sesshoku.simulation.views import BodyView

        name = self._sim.scene.robots[self.name].bodies[0]
        return BodyView(self._sim, name, self._sim.compiled.frame_index[name])

    @property
    def q(self) -> np.ndarray:
        """Positions of the joints, rad or m."""
        found: np.ndarray = self._sim.data.q[self._q].copy()
        if self._free:
            self._sim._observe()
            for place, _, pose, _, _ in self._free:
                found[place] = pose
        return _shown(found)

    @q.setter
    def q(self, value: Any) -> None:
        sim, element = self._sim, f"robot {self.name!r}"
        given = check.vector(value, "q", element, size=self._sizes[0])
        kinds = {joint: sim.scene.joint(joint).kind for joint in self.joint_names}
        for joint, place in self.places.items():
            if kinds[joint] in ("free", "spherical"):
                check.quaternion(given[place][-4:], f"rotation of joint {joint!r}", element)
        sim._read_sensors()
        whole = sim.data.q.copy()
        whole[self._q] = given
        for joint, place in self.places.items():
            if kinds[joint] in ("free", "spherical"):  # of bodies, and to unit length
                sim.joints[joint].position = given[place]
                at = sim.joints[joint]._q
                whole[at] = sim.data.q[at]
        sim.data.q[:] = whole
        sim._stale = True

    @property
    def v(self) -> np.ndarray:
        """Velocities of the joints, rad/s or m/s."""
        found: np.ndarray = self._sim.data.v[self._v].copy()
        if self._free:
            self._sim._observe()
            for _, dofs, _, twist, _ in self._free:
                found[dofs] = twist
        return _shown(found)

    @v.setter
    def v(self, value: Any) -> None:
        sim = self._sim
        given = check.vector(value, "v", f"robot {self.name!r}", size=self._sizes[1])
        sim._read_sensors()
        whole = sim.data.v.copy()
        whole[self._v] = given
        for _, dofs, _, _, joint in self._free:
            sim.joints[joint].velocity = given[dofs]
            at = sim.joints[joint]._v
            whole[at] = sim.data.v[at]
        sim.data.v[:] = whole
        sim._stale = True

    @property
    def command(self) -> np.ndarray:
        """What the actuators follow: target positions, target velocities or forces, by their kind."""
        found: np.ndarray = self._sim._commands[self._command].copy()
        return _shown(found)

    @command.setter
    def command(self, value: Any) -> None:
        size = len(self.actuator_names)
        if not quick_vector(value, size):
            value = check.vector(value, "command", f"robot {self.name!r}", size=size)
        self._sim._commands[self._command] = value


def quick_vector(value: Any, size: int) -> bool:
    """Whether it is a finite float64 vector of that size beyond doubt; where not, `check.vector` says what is wrong."""
    if type(value) is not np.ndarray or value.dtype.char != "d" or value.shape != (size,):
        return False
    square = value.dot(value)
    return bool(square - square == 0.0)


def _shown(copy: np.ndarray) -> np.ndarray:
    """A copy that refuses writes: they would be lost."""
    copy.flags.writeable = False
    return copy


def _places(numbers: list[int]) -> slice | np.ndarray:
    """Indices as a slice where they stand together: cheaper to read."""
    if numbers and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        return slice(numbers[0], numbers[0] + len(numbers))
    return np.array(numbers, dtype=np.int64)


class RobotViews(Mapping[str, RobotView]):
    """name, or the Robot that `scene.load` returned -> its view."""

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim
        self._made: dict[str, RobotView] = {}

    def __getitem__(self, robot: str | Robot) -> RobotView:
        name = robot.name if isinstance(robot, Robot) else robot
        if not isinstance(name, str) or name not in self._sim.scene.robots:
            raise unknown("robot", name, self._sim.scene.robots)
        if name not in self._made:
            self._made[name] = RobotView(self._sim, name, self._sim.scene.robots[name])
        return self._made[name]

    def __contains__(self, robot: object) -> bool:
        return (robot.name if isinstance(robot, Robot) else robot) in self._sim.scene.robots

    def __iter__(self) -> Any:
        return iter(self._sim.scene.robots)

    def __len__(self) -> int:
        return len(self._sim.scene.robots)

    def __repr__(self) -> str:
        return f"robots: {', '.join(self) or 'none'}"


def find_pose(robots: Iterable[Robot], pose: Any) -> RobotPose:
    """A pose of the robots' files by its name, or joint -> position as it is given."""
    if isinstance(pose, Mapping):
        return RobotPose(positions=dict(pose))
    if not isinstance(pose, str):
        raise SceneError("a pose is a name, or joint -> position", element="pose", value=pose)
    known = [robot for robot in robots if robot.poses]
    if not any(pose in robot.poses for robot in known):
        raise unknown("pose", pose, dict.fromkeys(name for robot in known for name in robot.poses))
    found = RobotPose()
    for part in (robot.poses[pose] for robot in known if pose in robot.poses):
        found.positions |= part.positions
        found.velocities |= part.velocities
        found.commands |= part.commands
    return found
