"""Sensors of a scene as MJCF."""

from __future__ import annotations

from typing import Any

from sesshoku.scene.elements.sensors import ForceSensor
from sesshoku.scene.elements.state_sensors import KINDS, StateSensor
from sesshoku.scene.io.mjcf.places import PlaceWriter
from sesshoku.scene.io.mjcf.write_text import Lost, Naming, Xml
from sesshoku.scene.scene import Scene

ELEMENTS = {"force": "force", "torque": "torque", "acceleration": "accelerometer", "gyro": "gyro"}


class SensorWriter:
    """The section <sensor>; the sites it needs are added to `places`."""

    def __init__(self, scene: Scene, places: PlaceWriter, names: Naming, lost: Lost, bodies: dict[str, str],
                 joints: dict[str, str]) -> None:
        self.scene, self.places, self.names, self.lost = scene, places, names, lost
        self.bodies, self.joints = bodies, joints
        self.sites: dict[str, str] = {}  # mounted sensor -> its site

    def write(self) -> Xml:
        xml = Xml()
        for sensor in self.scene.sensors.values():
            site = self.places.site(sensor.name, sensor.body, sensor.position, sensor.rotation)
            self.sites[sensor.name] = site
            for quantity in ("force", "torque") if isinstance(sensor, ForceSensor) else ("acceleration", "gyro"):
                xml.add(ELEMENTS[quantity], name=self.names.fresh("sensor", f"{sensor.name}/{ELEMENTS[quantity]}"),
                        site=site, noise=getattr(sensor, f"{quantity}_noise") or None)
                if getattr(sensor, f"{quantity}_bias").any():
                    self.lost.add("bias of sensors", sensor.name)
            if sensor.seed:
                self.lost.add("seeds of sensors", sensor.name)
        for state in self.scene.state_sensors.values():
            objects = self.object(state)
            if objects is not None:
                xml.add(state.kind, name=self.names.fresh("sensor", state.name), **objects, cutoff=state.cutoff or None)
        return xml

    def object(self, sensor: StateSensor) -> dict[str, Any] | None:
        """The attributes that say what a state sensor reads; None where MJCF cannot say it."""
        of = KINDS[sensor.kind].of
        if of in ("joint", "ball"):
            return {"joint": self.joints[str(sensor.of)]}
        if of == "actuator":
            actuator = self.scene.actuators[str(sensor.of)]
            if sensor.scale != actuator.gear:
                self.lost.add("scales of actuator sensors (MuJoCo takes the gear)", sensor.name)
            return {"actuator": sensor.of}
        if of == "tendon":
            return {"tendon": sensor.of}
        if of == "tree":
            return {"body": "world" if sensor.body is None else self.bodies[sensor.body]}
        if of == "scene":
            return {}
        if of == "mounted" and sensor.of is not None:
            return {"site": self.sites[sensor.of]}
        if of == "inside":
            return {"site": self.zone(sensor, sensor.reference, sensor.reference_position, sensor.reference_rotation),
                    "objtype": "site", "objname": self.site(sensor)}
        if of == "zone":
            return {"site": self.zone(sensor, sensor.body, sensor.position, sensor.rotation)}
        if of == "mounted" or sensor.kind == "velocimeter":
            return {"site": self.site(sensor)}
        objects = {"objtype": "site", "objname": self.site(sensor)}
        if sensor.relative:
            objects |= {"reftype": "site", "refname": self.places.site(
                f"{sensor.name}/reference", sensor.reference, sensor.reference_position, sensor.reference_rotation)}
        return objects

    def site(self, sensor: StateSensor) -> str:
        return self.places.site(f"{sensor.name}/place", sensor.body, sensor.position, sensor.rotation)

    def zone(self, sensor: StateSensor, body: str | None, position: Any, rotation: Any) -> str:
        return self.places.site(f"{sensor.name}/zone", body, position, rotation, type=sensor.zone,
                                size=sensor.zone_size)
