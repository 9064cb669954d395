"""What users hold of a batch: bodies, joints and actuators by name, of all worlds at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import FREE, SPHERICAL
from sesshoku.scene.calls import checked
from sesshoku.simulation.batch.numbers import numbers_of, quaternions_to_matrices
from sesshoku.simulation.robot_views import COMMAND_COLUMN

if TYPE_CHECKING:
    from sesshoku.simulation.batch.reading import BatchReading


@checked
class BodyBatch:
    """A body in all worlds. World axes; what is read is a copy, (worlds, n)."""

    __slots__ = ("_batch", "_frame", "link", "name")

    def __init__(self, batch: BatchReading, name: str, frame: int) -> None:
        self._batch, self.name, self._frame = batch, name, frame
        self.link = int(batch.model.frame_link[frame])

    def __repr__(self) -> str:
        return f"BodyBatch({self.name!r}, {self._batch.worlds} worlds)"

    @property
    def position(self) -> np.ndarray:
        """(worlds, 3) of the body frame, m."""
        return self._batch._observed.now()[0][:, self._frame, :3].copy()

    @property
    def rotation(self) -> np.ndarray:
        """(worlds, 4) quaternions w x y z."""
        return self._batch._observed.now()[0][:, self._frame, 3:].copy()

    @property
    def rotation_matrix(self) -> np.ndarray:
        """(worlds, 3, 3) R_world_body."""
        return quaternions_to_matrices(self.rotation)

    @property
    def velocity(self) -> np.ndarray:
        """(worlds, 3) of the body frame's origin, m/s."""
        return self._batch._observed.now()[1][:, self._frame, :3].copy()

    @property
    def angular_velocity(self) -> np.ndarray:
        """(worlds, 3) rad/s."""
        return self._batch._observed.now()[1][:, self._frame, 3:].copy()

    @property
    def center_of_mass(self) -> np.ndarray:
        """(worlds, 3) of the rigid link the body belongs to, m."""
        poses, _, centers = self._batch._observed.now()
        return (poses[:, self._frame, :3] if self.link < 0 else centers[:, self.link]).copy()

    def push(self, *given: Any, **options: Any) -> None:
        """Not in a batch: standing forces are of simulations."""
        raise SceneError("a batch has no standing forces", element=f"push of body {self.name!r}",
                         remedy="call batch.apply_force before each step(n) in which it is to act")

    @property
    def contact_force(self) -> np.ndarray:
        """(worlds, 3) sum of the contact forces on the body in the last step, N."""
        return self._batch.contact_force(self.name)


@checked
class JointBatch:
    """A joint in all worlds; `position` and `velocity` are views of `q` and `v`: what is written to them holds.

    (worlds) for one axis; (worlds, n) for others. Of a free joint they are of its body's centre of mass, as in `q`.
    """

    __slots__ = ("_batch", "_q", "_v", "link", "name")

    def __init__(self, batch: BatchReading, name: str, link: int) -> None:
        self._batch, self.name, self.link = batch, name, link
        model = batch.model
        at, first, count = (int(getattr(model, field)[link])
                            for field in ("link_coordinate", "link_dof", "link_dof_count"))
        turns = int(model.link_joint[link] in (FREE, SPHERICAL))
        self._q: Any = at if count + turns == 1 else slice(at, at + count + turns)
        self._v: Any = first if count == 1 else slice(first, first + count)

    def __repr__(self) -> str:
        return f"JointBatch({self.name!r}, {self._batch.worlds} worlds)"

    @property
    def position(self) -> np.ndarray:
        """Coordinates of the joint, live."""
        return self._batch.q[:, self._q]

    @position.setter
    def position(self, value: Any) -> None:
        whole = self._batch.q.copy()
        whole[:, self._q] = numbers_of(value, self.position, "position", f"joint {self.name!r}")
        self._batch.q[:] = self._batch._coordinates(whole)

    @property
    def velocity(self) -> np.ndarray:
        """Velocities of the joint, live."""
        return self._batch.v[:, self._v]

    @velocity.setter
    def velocity(self, value: Any) -> None:
        self.velocity[:] = numbers_of(value, self.velocity, "velocity", f"joint {self.name!r}")


@checked
class ActuatorBatch:
    """An actuator in all worlds; all but `force` are live (worlds) arrays: `actuators["knee"].command[:] = 0.3`."""

    __slots__ = ("_batch", "_column", "_index", "name")

    def __init__(self, batch: BatchReading, name: str, index: int) -> None:
        self._batch, self.name, self._index = batch, name, index
        self._column = COMMAND_COLUMN.get(batch.scene.actuators[name].kind, 0)

    def __repr__(self) -> str:
        return f"ActuatorBatch({self.name!r}, {self._batch.worlds} worlds)"

    @property
    def command(self) -> np.ndarray:
        """What it is to follow, by its kind: a position, a velocity or a force."""
        return self._batch.actuator_command[:, self._index, self._column]

    @command.setter
    def command(self, value: Any) -> None:
        self.command[:] = numbers_of(value, self.command, "command", f"actuator {self.name!r}")

    @property
    def target(self) -> np.ndarray:
        """Position wanted (position servo), force wanted (torque), or the command of a general actuator."""
        return self._batch.actuator_command[:, self._index, 0]

    @target.setter
    def target(self, value: Any) -> None:
        self.target[:] = numbers_of(value, self.target, "target", f"actuator {self.name!r}")

    @property
    def target_velocity(self) -> np.ndarray:
        """Velocity wanted of a servo."""
        return self._batch.actuator_command[:, self._index, 1]

    @target_velocity.setter
    def target_velocity(self, value: Any) -> None:
        self.target_velocity[:] = numbers_of(value, self.target_velocity, "target_velocity", f"actuator {self.name!r}")

    @property
    def feed_forward(self) -> np.ndarray:
        """Force added to a servo's."""
        return self._batch.actuator_command[:, self._index, 2]

    @feed_forward.setter
    def feed_forward(self, value: Any) -> None:
        self.feed_forward[:] = numbers_of(value, self.feed_forward, "feed_forward", f"actuator {self.name!r}")

    @property
    def activation(self) -> np.ndarray:
        """What a general actuator with dynamics takes for its command."""
        return self._batch._memory.arrays["data.activation"][:, self._index]

    @activation.setter
    def activation(self, value: Any) -> None:
        self.activation[:] = numbers_of(value, self.activation, "activation", f"actuator {self.name!r}")

    @property
    def force(self) -> np.ndarray:
        """Force given in the last step along the joint or tendon, after clipping and gear; a copy."""
        return self._batch._memory.arrays["data.actuator_force"][:, self._index].copy()
