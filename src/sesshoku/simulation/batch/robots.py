"""A robot of a batch as arrays: positions, velocities and commands of all worlds, in the order of `RobotView`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.scene.calls import checked
from sesshoku.scene.names import unknown
from sesshoku.scene.scene import Robot
from sesshoku.simulation.batch.numbers import numbers_of, quaternions_to_matrices
from sesshoku.simulation.robot_views import COMMAND_COLUMN, RobotView

if TYPE_CHECKING:
    from sesshoku.simulation.batch.reading import BatchReading
    from sesshoku.simulation.batch.views import BodyBatch


@checked
class RobotBatch:
    """A robot in all worlds: `robot = batch.robots["go1"]`.

    q, v, command: (worlds, n), in the order and the coordinates of `RobotView`: joints as in `joint_names`, of a free
    base the position and rotation of its body. What is read is a copy; assign to change: `robot.command = actions`.
    """

    __slots__ = ("_batch", "_columns", "_like", "_rows", "actuator_names", "dofs", "joint_names", "name", "places")

    def __init__(self, batch: BatchReading, name: str) -> None:
        self._batch, self.name, self._like = batch, name, batch._first.robots[name]
        like: RobotView = self._like
        self.joint_names, self.actuator_names = like.joint_names, like.actuator_names
        self.places, self.dofs = like.places, like.dofs
        self._rows = [batch.compiled.actuator_index[actuator] for actuator in self.actuator_names]
        self._columns = [COMMAND_COLUMN.get(batch.scene.actuators[actuator].kind, 0)
                         for actuator in self.actuator_names]

    def __repr__(self) -> str:
        return (f"RobotBatch({self.name!r}, {len(self.joint_names)} joints, {len(self.actuator_names)} actuators, "
                f"{self._batch.worlds} worlds)")

    @property
    def base(self) -> BodyBatch:
        """The body that the others hang on."""
        return self._batch.bodies[self._batch.scene.robots[self.name].bodies[0]]

    def _free(self) -> Iterator[tuple[str, BodyBatch]]:
        """Free joints and their bodies: coordinates are of the centre of mass, users speak of the body."""
        for joint in self.joint_names:
            if self._batch.scene.joint(joint).kind == "free":
                yield joint, self._batch.bodies[self._batch.compiled.link_names[self._batch.compiled.joint_link[joint]]]

    @property
    def q(self) -> np.ndarray:
        """(worlds, n) positions of the joints, rad or m."""
        found = self._batch.q[:, self._like._q].copy()
        for joint, body in self._free():
            found[:, self.places[joint]] = self._batch._xp.concatenate([body.position, body.rotation], axis=1)
        return found

    @q.setter
    def q(self, value: Any) -> None:
        given = self._array(value, "q", self._like._sizes[0])
        whole = self._batch.q.copy()
        whole[:, self._like._q] = given
        model = self._batch.model
        whole = self._batch._coordinates(whole)
        for _, body in self._free():
            at = int(model.link_coordinate[body.link])
            turn = quaternions_to_matrices(whole[:, at + 3:at + 7])
            whole[:, at:at + 3] -= turn @ self._batch._xp.asarray(model.frame_position[body._frame])
        self._batch.q[:] = whole

    @property
    def v(self) -> np.ndarray:
        """(worlds, n) velocities of the joints, rad/s or m/s."""
        found = self._batch.v[:, self._like._v].copy()
        for joint, body in self._free():
            found[:, self.dofs[joint]] = self._batch._xp.concatenate([body.velocity, body.angular_velocity],
                                                                       axis=1)
        return found

    @v.setter
    def v(self, value: Any) -> None:
        given = self._array(value, "v", self._like._sizes[1])
        whole, model, xp = self._batch.v.copy(), self._batch.model, self._batch._xp
        whole[:, self._like._v] = given
        for _, body in self._free():
            k = int(model.link_dof[body.link])
            arm = body.rotation_matrix @ xp.asarray(model.frame_position[body._frame])
            whole[:, k:k + 3] -= xp.cross(whole[:, k + 3:k + 6], arm)
        self._batch.v[:] = whole

    @property
    def command(self) -> np.ndarray:
        """(worlds, n) what the actuators follow: target positions, target velocities or forces, by their kind."""
        return self._batch.actuator_command[:, self._rows, self._columns]

    @command.setter
    def command(self, value: Any) -> None:
        given = self._array(value, "command", len(self.actuator_names))
        self._batch.actuator_command[:, self._rows, self._columns] = given

    def _array(self, value: Any, what: str, size: int) -> Any:
        return numbers_of(value, self._batch._xp.empty((self._batch.worlds, size)), what, f"robot {self.name!r}")


class RobotBatches(Mapping[str, RobotBatch]):
    """name, or the Robot that `scene.load` returned -> its view."""

    def __init__(self, batch: BatchReading) -> None:
        self._batch = batch

    def __getitem__(self, robot: str | Robot) -> RobotBatch:
        name = robot.name if isinstance(robot, Robot) else robot
        if not isinstance(name, str) or name not in self._batch.scene.robots:
            raise unknown("robot", name, self._batch.scene.robots)
        return RobotBatch(self._batch, name)

    def __contains__(self, robot: object) -> bool:
        return (robot.name if isinstance(robot, Robot) else robot) in self._batch.scene.robots

    def __iter__(self) -> Iterator[str]:
        return iter(self._batch.scene.robots)

    def __len__(self) -> int:
        return len(self._batch.scene.robots)

    def __repr__(self) -> str:
        return f"robots: {', '.join(self) or 'none'}"
