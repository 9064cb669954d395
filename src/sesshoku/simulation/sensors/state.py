"""What state sensors read (`scene.state_sensors`): found when somebody asks, from the state or the last step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.dynamics.observe import observe_energy, observe_tendon
from sesshoku.scene.calls import checked
from sesshoku.scene.elements.state_sensors import ACCELERATIONS, KINDS, StateSensor
from sesshoku.simulation.sensors.memory import Part, bodies_below, link_parts
from sesshoku.simulation.sensors.places import Place
from sesshoku.simulation.sensors.zones import inside, ray_hits
from sesshoku.spatial.rotation import matrix_to_quaternion

Read = Callable[[Any, StateSensor], Any]
REACHED = 1e-9  # rad or m from a limit that count as at it


@checked
class StateSensorView:
    """A state sensor in a simulation."""

    __slots__ = ("_sim", "kind", "name")

    def __init__(self, sim: Any, name: str) -> None:
        self._sim, self.name, self.kind = sim, name, sim.scene.state_sensors[name].kind

    @property
    def value(self) -> Any:
        """The reading: a number, or (3) or (4) numbers, clipped by the sensor's cutoff."""
        sensor = self._sim.scene.state_sensors[self.name]
        value, clip = READ[sensor.kind](self._sim, sensor), KINDS[sensor.kind].clip
        if sensor.cutoff > 0.0 and clip:
            value = np.clip(value, -np.inf if clip == "positive" else -sensor.cutoff, sensor.cutoff)
        return np.asarray(value, dtype=np.float64) if KINDS[sensor.kind].size > 1 else float(value)

    def __repr__(self) -> str:
        return f"StateSensorView({self.name!r}, {self.kind}, value={np.round(self.value, 6).tolist()})"


# ---- joints and actuators ------------------------------------------------------------------------------------------


def _limit(sim: Any, sensor: StateSensor) -> tuple[float, float, float]:
    """Distance from the limit that acts (negative: beyond), velocity away from it, its force; zeros where none acts."""
    view = sim.joints[sensor.of]
    lower, upper = view.limits
    force, q = view.limit_force, view.position
    near_lower = q - lower <= upper - q
    distance, sign = (q - lower, 1.0) if near_lower else (upper - q, -1.0)
    if distance > REACHED and force == 0.0:
        return 0.0, 0.0, 0.0
    return distance, sign * view.velocity, abs(force)


def _driven(sim: Any, sensor: StateSensor) -> float:
    """What all actuators together drive a joint with."""
    return float(sim.data.drive_force[sim.model.link_dof[sim.compiled.joint_link[sensor.of]]])


def _motion(sim: Any, sensor: StateSensor) -> tuple[float, float]:
    """Length and rate of the sensor's tendon, or position and velocity of its actuator."""
    tendon, scale, joint = sensor.of, 1.0, None
    if KINDS[sensor.kind].of == "actuator":
        tendon, scale, joint = sim.scene.actuators[sensor.of].tendon, sensor.scale, sim.scene.actuators[sensor.of].joint
    if joint is not None:
        return scale * sim.joints[joint].position, scale * sim.joints[joint].velocity
    sim.refresh()
    length, rate = observe_tendon(sim.model.table, sim.data.table, list(sim.scene.tendons).index(tendon))
    return scale * length, scale * rate


# ---- places --------------------------------------------------------------------------------------------------------


def place_of(sim: Any, sensor: StateSensor) -> Place:
    return Place(sim, sensor.body, sensor.position, sensor.rotation)


def reference_of(sim: Any, sensor: StateSensor) -> Place:
    return Place(sim, sensor.reference, sensor.reference_position, sensor.reference_rotation)


def _pose(sim: Any, sensor: StateSensor) -> tuple[np.ndarray, np.ndarray]:
    """Position and rotation matrix, in the world or in the reference's frame."""
    at, R = place_of(sim, sensor).position, place_of(sim, sensor).rotation_matrix
    if not sensor.relative:
        return at, R
    base = reference_of(sim, sensor)
    B = base.rotation_matrix
    return B.T @ (at - base.position), B.T @ R


def _velocity(sim: Any, sensor: StateSensor) -> tuple[np.ndarray, np.ndarray]:
    """Velocity and angular velocity, in world axes, or against the reference in its axes."""
    place = place_of(sim, sensor)
    v, w = place.velocity, place.angular_velocity
    if not sensor.relative:
        return v, w
    base = reference_of(sim, sensor)
    B, spin = base.rotation_matrix, base.angular_velocity
    return B.T @ (v - base.velocity - np.cross(spin, place.position - base.position)), B.T @ (w - spin)


def _acceleration(sim: Any, sensor: StateSensor) -> np.ndarray:
    """Acceleration less gravity, and angular acceleration (6): a row behind those of the mounted sensors."""
    row = len(sim.scene.sensors) + [name for name, other in sim.scene.state_sensors.items()
                                    if other.kind in ACCELERATIONS].index(sensor.name)
    reading: np.ndarray = sim.sensor_readings[row]
    return reading


def _local(sim: Any, sensor: StateSensor, vector: np.ndarray) -> np.ndarray:
    turned: np.ndarray = place_of(sim, sensor).rotation_matrix.T @ vector
    return turned


def _inside(sim: Any, sensor: StateSensor) -> float:
    base = reference_of(sim, sensor)
    at = base.rotation_matrix.T @ (place_of(sim, sensor).position - base.position)
    return float(inside(str(sensor.zone), sensor.zone_size, at))


def _touch(sim: Any, sensor: StateSensor) -> float:
    """Normal forces of the contacts of the body whose ray out of the body meets the zone."""
    place, total = place_of(sim, sensor), 0.0
    at, R = place.position, place.rotation_matrix
    for contact in sim.contacts:
        if sensor.body in contact.bodies and contact.normal_force > 0.0:
            outward = -contact.normal if contact.bodies[1] == sensor.body else contact.normal
            if ray_hits(str(sensor.zone), sensor.zone_size, R.T @ (contact.point - at), R.T @ outward):
                total += contact.normal_force
    return total


# ---- what hangs on a body ------------------------------------------------------------------------------------------


def _parts(sim: Any, body: str | None) -> list[Part]:
    """Masses of a body and all that hangs on it, link by link; None: of all bodies. Kept by the simulation."""
    kept: dict[str | None, list[Part]] = sim._subtrees
    if body not in kept:
        names = list(sim.scene.bodies) if body is None else bodies_below(sim.compiled, body)
        kept[body] = link_parts(sim.compiled, names, False)
    return kept[body]


def _subtree(sim: Any, sensor: StateSensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre of mass, its velocity, and angular momentum about it."""
    sim.refresh()
    model, data = sim.model, sim.data
    mass, moment, momentum = 0.0, np.zeros(3), np.zeros(3)
    spins, points = np.zeros(3), []
    for part in _parts(sim, sensor.body):
        at, v = part.center, np.zeros(3)
        if part.link >= 0:
            origin = data.tree_origin[model.link_tree[part.link]]
            R, spatial = data.rotation[part.link], data.velocity[part.link]
            at = origin + data.offset[part.link] + R @ part.center
            v = spatial[:3] + np.cross(spatial[3:], at - origin)
            spins = spins + R @ part.inertia @ R.T @ spatial[3:]
        mass, moment, momentum = mass + part.mass, moment + part.mass * at, momentum + part.mass * v
        points.append((part.mass, at, v))
    if mass == 0.0:
        return (place_of(sim, sensor).position, np.zeros(3), np.zeros(3))
    center, speed = moment / mass, momentum / mass
    orbits = [m * np.cross(at - center, v - speed) for m, at, v in points]
    return center, speed, spins + np.sum(orbits, axis=0)


def _energy(sim: Any) -> tuple[float, float]:
    sim.refresh()
    kinetic, potential = observe_energy(sim.model.table, sim.data.table)
    return float(kinetic), float(potential)


READ: dict[str, Read] = {
    "jointpos": lambda sim, s: sim.joints[s.of].position,
    "jointvel": lambda sim, s: sim.joints[s.of].velocity,
    "jointactuatorfrc": _driven,
    "jointlimitpos": lambda sim, s: _limit(sim, s)[0],
    "jointlimitvel": lambda sim, s: _limit(sim, s)[1],
    "jointlimitfrc": lambda sim, s: _limit(sim, s)[2],
    "ballquat": lambda sim, s: sim.joints[s.of].position,
    "ballangvel": lambda sim, s: sim.joints[s.of].velocity,
    "tendonpos": lambda sim, s: _motion(sim, s)[0],
    "tendonvel": lambda sim, s: _motion(sim, s)[1],
    "actuatorpos": lambda sim, s: _motion(sim, s)[0],
    "actuatorvel": lambda sim, s: _motion(sim, s)[1],
    "actuatorfrc": lambda sim, s: sim.actuators[s.of].force / s.scale if s.scale else 0.0,
    "framepos": lambda sim, s: _pose(sim, s)[0],
    "framequat": lambda sim, s: matrix_to_quaternion(_pose(sim, s)[1]),
    "framexaxis": lambda sim, s: _pose(sim, s)[1][:, 0],
    "frameyaxis": lambda sim, s: _pose(sim, s)[1][:, 1],
    "framezaxis": lambda sim, s: _pose(sim, s)[1][:, 2],
    "framelinvel": lambda sim, s: _velocity(sim, s)[0],
    "frameangvel": lambda sim, s: _velocity(sim, s)[1],
    "framelinacc": lambda sim, s: _acceleration(sim, s)[:3].copy(),
    "frameangacc": lambda sim, s: _acceleration(sim, s)[3:].copy(),
    "velocimeter": lambda sim, s: _local(sim, s, place_of(sim, s).velocity),
    "gyro": lambda sim, s: (_local(sim, s, place_of(sim, s).angular_velocity) if s.of is None
                            else sim.sensors[s.of].angular_velocity),
    "accelerometer": lambda sim, s: (_local(sim, s, -sim.model.gravity) if s.of is None
                                     else sim.sensors[s.of].acceleration),
    "force": lambda sim, s: sim.sensors[s.of].force,
    "torque": lambda sim, s: sim.sensors[s.of].torque,
    "subtreecom": lambda sim, s: _subtree(sim, s)[0],
    "subtreelinvel": lambda sim, s: _subtree(sim, s)[1],
    "subtreeangmom": lambda sim, s: _subtree(sim, s)[2],
    "touch": _touch,
    "insidesite": _inside,
    "clock": lambda sim, s: sim.time,
    "e_potential": lambda sim, s: _energy(sim)[1],
    "e_kinetic": lambda sim, s: _energy(sim)[0],
}
