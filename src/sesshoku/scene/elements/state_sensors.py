"""`StateSensor`: a quantity of the state read by name, by the words of MJCF's sensors.

What it reads, and of what:

| kind | of | reads |
|---|---|---|
| jointpos, jointvel | a joint of one axis | position, velocity |
| jointactuatorfrc | a joint of one axis | what its actuators drive it with |
| jointlimitpos, jointlimitvel, jointlimitfrc | a joint of one axis | how far it is beyond the limit (negative), velocity away from it, its force; zero while no limit acts |
| ballquat, ballangvel | a spherical joint | quaternion, angular velocity in the body's axes |
| tendonpos, tendonvel | a tendon | length, its rate |
| actuatorpos, actuatorvel, actuatorfrc | an actuator of a joint or tendon | `scale` times position and velocity of that; force over `scale` |
| framepos, framequat, framexaxis, frameyaxis, framezaxis | a place | pose in the world, or in the reference's frame |
| framelinvel, frameangvel | a place | velocity in world axes, or against the reference, in its axes |
| framelinacc, frameangacc | a place | acceleration less gravity, angular acceleration; world axes, mean over the last step |
| velocimeter, gyro, accelerometer | a place | velocity, angular velocity, acceleration less gravity, in its own axes |
| force, torque, accelerometer, gyro | a mounted sensor | its part of that sensor's reading, noise and bias included |
| subtreecom, subtreelinvel, subtreeangmom | a body | centre of mass, its velocity, angular momentum about it, of all that hangs on the body |
| touch | a body and a zone | sum of the normal forces on the body whose contacts are in the zone, or see it straight out of the body |
| insidesite | a place, and a zone in the reference's frame | 1 where the place is inside |
| clock, e_potential, e_kinetic | | time, energies of the whole scene |

A place is a position and rotation in a body's frame (None: the world).
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.contents import Contents

Clip = Literal["real", "positive", ""]


class Kind(NamedTuple):
    """What a kind of sensor reads of: numbers in a reading, how a cutoff clips them, whether it takes a reference."""

    of: Literal["joint", "ball", "tendon", "actuator", "place", "mounted", "tree", "zone", "inside", "scene"]
    size: int = 1
    clip: Clip = "real"
    relative: bool = False


KINDS: dict[str, Kind] = {
    "jointpos": Kind("joint"), "jointvel": Kind("joint"), "jointactuatorfrc": Kind("joint"),
    "jointlimitpos": Kind("joint"), "jointlimitvel": Kind("joint"), "jointlimitfrc": Kind("joint", clip="positive"),
    "ballquat": Kind("ball", 4, ""), "ballangvel": Kind("ball", 3),
    "tendonpos": Kind("tendon"), "tendonvel": Kind("tendon"),
    "actuatorpos": Kind("actuator"), "actuatorvel": Kind("actuator"), "actuatorfrc": Kind("actuator"),
    "framepos": Kind("place", 3, relative=True), "framequat": Kind("place", 4, "", True),
    "framexaxis": Kind("place", 3, "", True), "frameyaxis": Kind("place", 3, "", True),
    "framezaxis": Kind("place", 3, "", True), "framelinvel": Kind("place", 3, relative=True),
    "frameangvel": Kind("place", 3, relative=True), "framelinacc": Kind("place", 3), "frameangacc": Kind("place", 3),
    "velocimeter": Kind("place", 3), "gyro": Kind("mounted", 3), "accelerometer": Kind("mounted", 3),
    "force": Kind("mounted", 3), "torque": Kind("mounted", 3),
    "subtreecom": Kind("tree", 3), "subtreelinvel": Kind("tree", 3), "subtreeangmom": Kind("tree", 3),
    "touch": Kind("zone", 1, "positive"), "insidesite": Kind("inside", 1, "", True),
    "clock": Kind("scene"), "e_potential": Kind("scene"), "e_kinetic": Kind("scene"),
}
ACCELERATIONS = ("framelinacc", "frameangacc")  # those that need the step's motion
AT_A_PLACE = ("gyro", "accelerometer")  # also without a mounted sensor, in the world
NAMED = ("joint", "ball", "tendon", "actuator")  # what is read of something with a name
ZONES = ("sphere", "capsule", "ellipsoid", "cylinder", "box")


@checked
@dataclass
class StateSensor:
    """A quantity of the state, read as `sim.sensors[name].value`; `scene.state_sensors` lists the kinds.

    of: name of the joint, the actuator or the mounted sensor. body, position, rotation: the place it reads, in the
    body's frame (None: the world). relative: against a reference, the place reference_position and reference_rotation
    of the body `reference` (None: the world). zone, zone_size: where touches count: radius; radius and half length;
    half axes; half edges. scale: length of an actuator per position of its joint. cutoff: readings are clipped to it,
    0: they are not.
    """

    name: str
    kind: str
    of: str | None = None
    body: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    relative: bool = False
    reference: str | None = None
    reference_position: Any = (0.0, 0.0, 0.0)
    reference_rotation: Any = (1.0, 0.0, 0.0, 0.0)
    zone: str | None = None
    zone_size: Any = (0.005, 0.005, 0.005)
    scale: float = 1.0
    cutoff: float = 0.0

    def __post_init__(self) -> None:
        element = f"sensor {check.name(self.name, 'name of a sensor')!r}"
        if self.kind not in KINDS:
            raise SceneError("unknown kind of sensor", element=element, value=self.kind,
                             remedy=f"kinds: {', '.join(KINDS)}")
        for attribute in ("of", "body", "reference"):
            check.text(getattr(self, attribute), attribute, element)
        for prefix in ("", "reference_"):
            for key, checked_as in (("position", check.vector), ("rotation", check.quaternion)):
                setattr(self, prefix + key, checked_as(getattr(self, prefix + key), prefix + key, element))
        self.relative = check.flag(self.relative, "relative", element)
        self.zone_size = check.vector(self.zone_size, "zone_size", element)
        self.scale = check.number(self.scale, "scale", element)
        self.cutoff = check.number(self.cutoff, "cutoff", element, least=0.0)
        self._check_kind(element)

    def _check_kind(self, element: str) -> None:
        kind = KINDS[self.kind]
        named = kind.of in NAMED or (kind.of == "mounted" and self.kind not in AT_A_PLACE)
        if named and self.of is None:
            raise SceneError(f"a {self.kind} sensor needs the {_spoken(kind)} it reads", element=element,
                             remedy="give of=")
        if self.of is not None and kind.of not in (*NAMED, "mounted"):
            raise SceneError(f"a {self.kind} sensor reads a place, not a name", element=element, value=self.of,
                             remedy="give body= and position=")
        if self.relative and not kind.relative:
            raise SceneError(f"a {self.kind} sensor has no reference", element=element, value=self.reference,
                             remedy="leave relative=True out")
        if (self.zone is not None) != (kind.of in ("zone", "inside")) or (
                self.zone is not None and (self.zone not in ZONES or (self.zone_size <= 0.0).any())):
            raise SceneError("a zone belongs to the kinds touch and insidesite", element=element,
                             value=(self.zone, self.zone_size.tolist()),
                             remedy=f"give zone= one of {', '.join(ZONES)} with sizes above zero, or leave it out")


def _spoken(kind: Kind) -> str:
    return {"ball": "spherical joint", "mounted": "mounted sensor"}.get(kind.of, kind.of)


class StateSensors(Contents):
    """The part of `Scene` that holds state sensors."""

    @property
    def read_in_steps(self) -> bool:
        """Whether some state sensor needs the motion of the step: an acceleration."""
        return any(sensor.kind in ACCELERATIONS for sensor in self.state_sensors.values())

    def add_sensor(self, name: str, kind: str, of: str | None = None, *, body: str | None = None,
                   position: Any = (0, 0, 0), rotation: Any = (1, 0, 0, 0), relative: bool = False,
                   reference: str | None = None, reference_position: Any = (0, 0, 0),
                   reference_rotation: Any = (1, 0, 0, 0), zone: str | None = None,
                   zone_size: Any = (0.005, 0.005, 0.005), scale: float = 1.0, cutoff: float = 0.0) -> StateSensor:
        """Read a quantity by name: `add_sensor("knee", "jointpos", "left_knee")`; see `StateSensor`."""
        return self._insert_state_sensor(StateSensor(
            name, kind, of, body, position, rotation, relative, reference, reference_position, reference_rotation,
            zone, zone_size, scale, cutoff))

    def _insert_state_sensor(self, sensor: StateSensor) -> StateSensor:
        element = f"sensor {sensor.name!r}"
        if sensor.name in self.sensors or sensor.name in self.state_sensors:
            raise SceneError("the name is taken already", element=element, remedy="give every sensor its own name")
        self._check_state_sensor(sensor)
        self.state_sensors[sensor.name] = sensor
        return sensor

    def _check_state_sensor(self, sensor: StateSensor) -> None:
        """Whether what a state sensor names is there."""
        element, of = f"sensor {sensor.name!r}", KINDS[sensor.kind].of
        for body in (sensor.body, sensor.reference):
            if body is not None:
                self._body(body, element)
        if of in ("joint", "ball"):
            kinds = ("spherical",) if of == "ball" else ("revolute", "continuous", "prismatic")
            if self.joint(str(sensor.of)).kind not in kinds:
                raise SceneError(f"a {sensor.kind} sensor reads a joint of the kind {' or '.join(kinds)}",
                                 element=element, value=sensor.of)
        tables: dict[str, Any] = {"actuator": self.actuators, "tendon": self.tendons, "mounted": self.sensors}
        if of in tables and sensor.of is not None and sensor.of not in tables[of]:
            raise SceneError(f"no such {_spoken(KINDS[sensor.kind])}", element=element, value=sensor.of,
                             remedy=f"there are {', '.join(list(tables[of])[:12]) or 'none'}")
        if of == "actuator" and self.actuators[str(sensor.of)].body is not None:
            raise SceneError(f"a {sensor.kind} sensor reads an actuator of a joint or tendon", element=element,
                             value=sensor.of, remedy="this one pushes a body")
