"""What users hold of a simulation: bodies, joints and actuators by name."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.model.arrays import FREE, KINEMATIC
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.names import unknown
from sesshoku.simulation.contacts import Contact
from sesshoku.simulation.pushes import Push
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation


class Energy(NamedTuple):
    """Energy of a simulation, J. potential: of gravity and joint springs."""

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


class Views(Mapping[str, Any]):
    """name -> view; an unknown name is an error that suggests the nearest one. A view is made once."""

    def __init__(self, sim: Any, index: dict[str, int], view: Callable[..., Any], what: str) -> None:
        self._sim, self._index, self._view, self._what = sim, index, view, what
        self._made: dict[Any, Any] = {}

    def __getitem__(self, name: str) -> Any:
        try:
            return self._made[name]
        except (KeyError, TypeError):
            if not isinstance(name, str) or name not in self._index:
                raise unknown(self._what, name, self._index) from None
        made = self._made[name] = self._view(self._sim, name, self._index[name])
        return made

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._index

    def __iter__(self) -> Iterator[str]:
        return iter(self._index)

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"{self._what} views: {', '.join(list(self._index)[:12])}{' ...' if len(self._index) > 12 else ''}"


@checked
class BodyView:
    """A body in a simulation. World axes; `position`, `rotation`, `velocity` are of the body's own frame.

    What is read is a copy. `push` begins a force that stands until a time or until `release`.
    """

    __slots__ = ("_along", "_angular", "_center", "_frame", "_linear", "_place", "_sim", "_turn", "link",
                 "name")  # a misspelt assignment is an error

    def __init__(self, sim: Simulation, name: str, frame: int) -> None:
        self._sim, self.name, self._frame = sim, name, frame
        self.link = int(sim.model.frame_link[frame])
        poses, velocities, centers = sim._observed
        self._place, self._turn = poses[frame, :3], poses[frame, 3:]
        self._linear, self._angular = velocities[frame, :3], velocities[frame, 3:]
        self._center = poses[frame, :3] if self.link < 0 else centers[self.link]
        self._along = bool((sim.model.frame_rotation[frame] == np.eye(3)).all())  # its axes are its link's

    def __repr__(self) -> str:
        return f"BodyView({self.name!r}, position={np.round(self.position, 6).tolist()})"

    @property
    def position(self) -> np.ndarray:
        """Position of the body frame (3), m."""
        self._sim._observe()
        return self._place.copy()

    def _link_rotation(self) -> np.ndarray:
        """R_world_link (3, 3), live."""
        self._sim._observe()
        R: np.ndarray = self._sim.data.rotation[self.link]
        return R

    @property
    def rotation_matrix(self) -> np.ndarray:
        """R_world_body (3, 3)."""
        R0 = self._sim.model.frame_rotation[self._frame]
        if self.link < 0:
            return R0.copy()
        return self._link_rotation().copy() if self._along else self._link_rotation() @ R0

    @property
    def rotation(self) -> np.ndarray:
        """Orientation as a quaternion w x y z."""
        self._sim._observe()
        return self._turn.copy()

    @property
    def velocity(self) -> np.ndarray:
        """Velocity of the body frame's origin (3), m/s."""
        self._sim._observe()
        return self._linear.copy()

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity (3), rad/s."""
        self._sim._observe()
        return self._angular.copy()

    @property
    def mass(self) -> float:
        """Mass of the body itself (without bodies fixed to it), kg."""
        inertial = self._sim.scene.bodies[self.name].inertial
        return 0.0 if inertial is None else inertial.mass

    @property
    def center_of_mass(self) -> np.ndarray:
        """Centre of mass of the rigid link the body belongs to (with everything fixed to it), world, m."""
        self._sim._observe()
        return self._center.copy()

    @property
    def center_of_mass_velocity(self) -> np.ndarray:
        """Its velocity (3), m/s."""
        self._sim._observe()
        velocity: np.ndarray = self._linear + np.cross(self._angular, self._center - self._place)
        return velocity

    # ---- forces

    def push(self, force: Any, torque: Any = (0, 0, 0), point: Any = None, until: float | None = None) -> Push:
        """Begin a standing force: world axes, N and N m, at the link's centre of mass or a world point it then carries.

        until: simulated time at which it ends, s; None: it acts until it is released.
        """
        element = f"push of body {self.name!r}"
        self._sim._check_movable(self, element)
        f, t = check.vector(force, "force", element), check.vector(torque, "torque", element)
        at = None if point is None else check.vector(point, "point", element)
        end = math.inf if until is None else check.number(until, "until", element, infinite=True)
        if end <= self._sim.time:
            raise SceneError("a push must end later than now", element=element, value=end,
                             remedy=f"it is {self._sim.time:g} s; `until` is a time of the simulation, not a duration")
        return self._sim._pushes.add(self, f, t, at, end)

    def release(self) -> None:
        """End all standing forces on this body."""
        self._sim._pushes.release(lambda number, row: row.frame == self._frame)

    @property
    def contacts(self) -> list[Contact]:
        """The contacts of this body in the last step."""
        return [contact for contact in self._sim.contacts if self.name in contact.bodies]

    # ---- setting: free and kinematic bodies only

    def set_pose(self, position: Any = None, rotation: Any = None) -> None:
        """Place a free or kinematic body (the frame of this body); others move by their joints."""
        element = f"body {self.name!r}"
        kind = self._movable(element)
        p = self.position if position is None else check.vector(position, "position", element)
        R = quaternion_to_matrix(self.rotation if rotation is None else check.quaternion(rotation, "rotation", element))
        model, data = self._sim.model, self._sim.data
        R_link = R @ model.frame_rotation[self._frame].T
        pose = [*(p - R_link @ model.frame_position[self._frame]), *matrix_to_quaternion(R_link)]
        at = int(model.link_coordinate[self.link])
        self._sim._read_sensors()
        (data.q[at:at + 7] if kind == FREE else data.kinematic_pose[self.link])[:] = pose
        self._sim._stale = True

    def set_velocity(self, velocity: Any = None, angular_velocity: Any = None) -> None:
        """Set the velocity of a free or kinematic body's frame, world axes."""
        element = f"body {self.name!r}"
        kind = self._movable(element)
        v = self.velocity if velocity is None else check.vector(velocity, "velocity", element)
        w = self.angular_velocity if angular_velocity is None else \
            check.vector(angular_velocity, "angular_velocity", element)
        here, data = self.position, self._sim.data
        origin = data.tree_origin[self._sim.model.link_tree[self.link]] + data.offset[self.link]
        at_link = v + np.cross(w, origin - here)
        first = int(self._sim.model.link_dof[self.link])
        self._sim._read_sensors()
        (data.v[first:first + 6] if kind == FREE else data.kinematic_velocity[self.link])[:] = [*at_link, *w]
        self._sim._stale = True

    def _movable(self, element: str) -> int:
        kind = -1 if self.link < 0 else int(self._sim.model.link_joint[self.link])
        if kind not in (FREE, KINEMATIC):
            raise SceneError("only a free or kinematic body can be placed", element=element,
                             remedy="set the position of its joint instead")
        return kind


@checked
class JointView:
    """A joint in a simulation."""

    __slots__ = ("_kind", "_q", "_sim", "_v", "link", "name")

    def __init__(self, sim: Simulation, name: str, link: int) -> None:
        self._sim, self.name, self.link = sim, name, link
        self._kind = int(sim.model.link_joint[link])
        at, first, count = (int(getattr(sim.model, field)[link])
                            for field in ("link_coordinate", "link_dof", "link_dof_count"))
        self._q = slice(at, at + count + (1 if self._kind in (FREE, 3) else 0))
        self._v = slice(first, first + count)

    def __repr__(self) -> str:
        return f"JointView({self.name!r}, position={self.position})"

    def _body(self) -> BodyView:
        body: BodyView = self._sim.bodies[self._sim.compiled.link_names[self.link]]
        return body

    @property
    def position(self) -> Any:
        """A number for one axis; x, y, angle for planar; quaternion for spherical; position and quaternion for free."""
        if self._kind == FREE:
            body = self._body()
            return np.concatenate([body.position, body.rotation])
        value = self._sim.data.q[self._q]
        return float(value[0]) if len(value) == 1 else value.copy()

    @position.setter
    def position(self, value: Any) -> None:
        element = f"joint {self.name!r}"
        if self._kind == FREE:
            given = check.vector(value, "position", element, size=7)
            self._body().set_pose(given[:3], given[3:])
            return
        size = self._q.stop - self._q.start
        given = check.vector(np.atleast_1d(value), "position", element, size=size)
        self._sim._read_sensors()
        self._sim.data.q[self._q] = check.quaternion(given, "position", element) if self._kind == 3 else given
        self._sim._stale = True

    @property
    def velocity(self) -> Any:
        """A number for one axis; (3) for planar and spherical; velocity and angular velocity of the body for free."""
        if self._kind == FREE:
            body = self._body()
            return np.concatenate([body.velocity, body.angular_velocity])
        value = self._sim.data.v[self._v]
        return float(value[0]) if len(value) == 1 else value.copy()

    @velocity.setter
    def velocity(self, value: Any) -> None:
        element = f"joint {self.name!r}"
        given = check.vector(np.atleast_1d(value), "velocity", element, size=self._v.stop - self._v.start)
        if self._kind == FREE:
            self._body().set_velocity(given[:3], given[3:])
            return
        self._sim._read_sensors()
        self._sim.data.v[self._v] = given
        self._sim._stale = True

    @property
    def limits(self) -> tuple[float, float]:
        return float(self._sim.model.dof_lower[self._v][0]), float(self._sim.model.dof_upper[self._v][0])

    @property
    def limit_force(self) -> float:
        """Force of the limit in the last step, N or N m; positive pushes up."""
        return float(self._sim.data.limit_impulse[self._v][0]) / self._sim.dt

    @property
    def friction_force(self) -> Any:
        """Coulomb friction of the joint in the last step, N or N m."""
        value = self._sim.data.friction_impulse[self._v] / self._sim.dt
        return float(value[0]) if len(value) == 1 else value

    @property
    def slipping(self) -> bool:
        """Whether the joint's Coulomb friction is in its kinetic state."""
        return bool(self._sim.data.friction_slips[self._v].any())


@checked
class ActuatorView:
    """An actuator in a simulation; assigning takes effect with the next step."""

    __slots__ = ("_index", "_sim", "name")

    def __init__(self, sim: Simulation, name: str, index: int) -> None:
        self._sim, self.name, self._index = sim, name, index

    def __repr__(self) -> str:
        return f"ActuatorView({self.name!r}, target={self.target}, force={self.force})"

    def _set(self, column: int, value: Any, what: str) -> None:
        if type(value) is not float or not math.isfinite(value):
            value = check.number(value, what, f"actuator {self.name!r}")
        self._sim.data.actuator_command[self._index, column] = value

    @property
    def target(self) -> float:
        """Position wanted (position servo), force wanted (torque), or the command of a general actuator."""
        return float(self._sim.data.actuator_command[self._index, 0])

    @target.setter
    def target(self, value: float) -> None:
        self._set(0, value, "target")

    @property
    def target_velocity(self) -> float:
        return float(self._sim.data.actuator_command[self._index, 1])

    @target_velocity.setter
    def target_velocity(self, value: float) -> None:
        self._set(1, value, "target_velocity")

    @property
    def feed_forward(self) -> float:
        return float(self._sim.data.actuator_command[self._index, 2])

    @feed_forward.setter
    def feed_forward(self, value: float) -> None:
        self._set(2, value, "feed_forward")

    @property
    def force(self) -> float:
        """Force given in the last step along the joint or tendon, after clipping and gear; of one that pushes a body,
        by which its wrench is multiplied."""
        return float(self._sim.data.actuator_force[self._index])

    @property
    def activation(self) -> float:
        """What a general actuator with dynamics takes for its command."""
        return float(self._sim.data.activation[self._index])

    @activation.setter
    def activation(self, value: float) -> None:
        self._sim.data.activation[self._index] = check.number(value, "activation", f"actuator {self.name!r}")


def three(value: Any) -> tuple[float, float, float] | None:
    """A vector's three finite numbers without ado; None where `check.vector` must look at it."""
    if type(value) is np.ndarray and value.shape == (3,) and value.dtype.char == "d":
        value = value.tolist()
    elif type(value) not in (tuple, list) or len(value) != 3:
        return None
    x, y, z = value
    for number in value:
        if type(number) is not float and type(number) is not int:
            return None
    return (x, y, z) if abs(x) + abs(y) + abs(z) < math.inf else None
