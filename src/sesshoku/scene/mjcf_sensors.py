"""Sensors of MJCF files, both ways.

A force and a torque sensor of one site are one `ForceSensor` here, an accelerometer and a gyro one `Imu`; it has the
site's name. Where only one of the two is in the file, the other is measured as well.

MuJoCo's force sensor reads what the site's parent passes to the site's body, as ours does. `noise` is the standard
deviation here, as MuJoCo documents it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.mjcf_places import PlaceWriter
from sesshoku.scene.sensors import ForceSensor, Imu, Sensor
from sesshoku.scene.spec import Names, Unsupported
from sesshoku.scene.to_mjcf_text import Lost, Naming, Xml
from sesshoku.scene.unsupported import Grade

#: MuJoCo's kind -> our element and the quantity it reads
KINDS: dict[str, tuple[type, str]] = {
    "mjSENS_FORCE": (ForceSensor, "force"), "mjSENS_TORQUE": (ForceSensor, "torque"),
    "mjSENS_ACCELEROMETER": (Imu, "acceleration"), "mjSENS_GYRO": (Imu, "gyro"),
}
ELEMENTS = {"force": "force", "torque": "torque", "acceleration": "accelerometer", "gyro": "gyro"}


def is_carried(spec: Any, kind: str, item: Any) -> bool:
    """Whether a sensor of an MjSpec is read, or a site is there for one that is."""
    if kind == "sensor":
        return item.type.name in KINDS and item.objname not in {site.name for site in spec.worldbody.sites}
    return kind == "site" and any(sensor.objname == item.name and is_carried(spec, "sensor", sensor)
                                  for sensor in spec.sensors)


def read_sensors(model: Any, names: Any, unsupported: Unsupported) -> list[Sensor]:
    """Force sensors and IMUs of a compiled model, one per site and kind, in the order of the file."""
    import mujoco

    def site_name(i: int) -> str:
        return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SITE, i) or f"site{i}"

    found: dict[tuple[int, type], dict[str, float]] = {}
    for i in range(model.nsensor):
        kind = mujoco.mjtSensor(int(model.sensor_type[i])).name
        site = int(model.sensor_objid[i])
        if kind not in KINDS or int(model.site_bodyid[site]) == 0:
            continue
        element, quantity = KINDS[kind]
        label = f"sensor {mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) or site_name(site)!r}"
        if model.sensor_cutoff[i] != 0.0:
            unsupported.add(f"cutoff of {label}", Grade.LOOKS)
        found.setdefault((site, element), {})[f"{quantity}_noise"] = float(model.sensor_noise[i])
    fresh = Names().fresh
    sensors: list[Sensor] = []
    for (site, element), noise in found.items():
        rotation = model.site_quat[site] / np.linalg.norm(model.site_quat[site])
        body = names.body[int(model.site_bodyid[site])]
        sensors.append(element(fresh(site_name(site)), body, model.site_pos[site].copy(), rotation, **noise))
    return sensors


def write_sensors(sensors: dict[str, Sensor], places: PlaceWriter, names: Naming, lost: Lost) -> Xml:
    """The section <sensor>; the sites it needs are added to `places`."""
    xml = Xml()
    for sensor in sensors.values():
        site = places.site(sensor.name, sensor.body, sensor.position, sensor.rotation)
        for quantity in ("force", "torque") if isinstance(sensor, ForceSensor) else ("acceleration", "gyro"):
            xml.add(ELEMENTS[quantity], name=names.fresh("sensor", f"{sensor.name}/{ELEMENTS[quantity]}"), site=site,
                    noise=getattr(sensor, f"{quantity}_noise") or None)
            if getattr(sensor, f"{quantity}_bias").any():
                lost.add("bias of sensors", sensor.name)
        if sensor.seed:
            lost.add("seeds of sensors", sensor.name)
    return xml
