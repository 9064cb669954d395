"""Sensors of MJCF files.

A force and a torque sensor of one site are one `ForceSensor` here, an accelerometer and a gyro one `Imu`; it has the
site's name. Where only one of the two is in the file, the other is measured as well. Each is also read by its own name,
as a `StateSensor`; so is every other kind that has a meaning here (`scene.state_sensors`). The rest is listed.

MuJoCo's force sensor reads what the site's parent passes to the site's body, as ours does. `noise` is the standard
deviation here, as MuJoCo documents it; state sensors have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.scene.elements.state_sensors import KINDS, StateSensor
from sesshoku.scene.io.mjcf.bodies import HINGE, SLIDE, ModelNames
from sesshoku.scene.io.mjcf.tendons import tendon_names
from sesshoku.scene.io.spec import Names
from sesshoku.scene.io.unsupported import Grade, Unsupported

#: the kinds that are mounted: our element, and the quantity it reads
MOUNTED: dict[str, tuple[type, str]] = {
    "force": (ForceSensor, "force"), "torque": (ForceSensor, "torque"),
    "accelerometer": (Imu, "acceleration"), "gyro": (Imu, "gyro"),
}
BODY, XBODY, GEOM, SITE, CAMERA = 1, 2, 5, 6, 7  # mjtObj
SITE_ZONES = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box"}  # mjtGeom
WORDS = {"jointactfrc": "jointactuatorfrc", "tendonactfrc": "tendonactuatorfrc"}  # what files say for mjtSensor
FIXED_CAMERA = 0  # mjCAMLIGHT_FIXED
WORLD_FORCE = "nothing passes a force to the world"


def read_sensors(model: Any, names: ModelNames, description: RobotDescription, unsupported: Unsupported) -> None:
    """Sensors of a compiled model: mounted ones first, one per site and kind, then all by their own names."""
    import mujoco

    kinds = [mujoco.mjtSensor(int(kind)).name.removeprefix("mjSENS_").lower() for kind in model.sensor_type]
    kinds = [WORDS.get(kind, kind) for kind in kinds]
    given = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_SENSOR, i) or "" for i in range(model.nsensor)]
    mounted = _read_mounted(model, names, kinds, description)
    taken = Names(sensor.name for sensor in description.sensors)
    for i, (kind, name) in enumerate(zip(kinds, given, strict=True)):
        label = f"sensor {name!r}" if name else f"{kind} sensor {i}"
        owner = mounted.get((int(model.sensor_objid[i]), kind)) if kind in MOUNTED else None
        if owner is not None and (not name or name in (owner, f"{owner}/{kind}")):
            if model.sensor_cutoff[i]:
                unsupported.add(f"cutoff of {label}", Grade.LOOKS)
            continue  # the mounted sensor itself says it
        found = {"of": owner} if owner is not None else _read_object(model, names, description, i, kind)
        if isinstance(found, str):
            unsupported.add(f"{label}: {found}", Grade.LOOKS)
            continue
        description.state_sensors.append(StateSensor(taken.fresh(name or f"{kind}{i}"), kind,
                                                     cutoff=float(model.sensor_cutoff[i]), **found))
        if owner is None and model.sensor_noise[i]:
            unsupported.add(f"noise of {label}", Grade.LOOKS)
        for attribute in ("delay", "interval", "history"):
            if np.any(getattr(model, f"sensor_{attribute}", np.zeros(model.nsensor))[i]):
                unsupported.add(f"{attribute} of {label}", Grade.LOOKS)


def _read_mounted(model: Any, names: ModelNames, kinds: list[str],
                  description: RobotDescription) -> dict[tuple[int, str], str]:
    """Force sensors and IMUs, in the order of the file; site and kind -> the name of the one that reads it."""
    found: dict[tuple[int, type], dict[str, float]] = {}
    for i, kind in enumerate(kinds):
        site = int(model.sensor_objid[i])
        if kind in MOUNTED and int(model.site_bodyid[site]) != 0:
            element, quantity = MOUNTED[kind]
            found.setdefault((site, element), {})[f"{quantity}_noise"] = float(model.sensor_noise[i])
    fresh = Names().fresh
    owners: dict[tuple[int, str], str] = {}
    for (site, element), noise in found.items():
        name = fresh(names.site[site])
        rotation = model.site_quat[site] / np.linalg.norm(model.site_quat[site])
        description.sensors.append(element(name, names.body[int(model.site_bodyid[site])], model.site_pos[site].copy(),
                                           rotation, **noise))
        owners |= {(site, kind): name for kind, (mount, _) in MOUNTED.items() if mount is element}
    return owners


def _read_object(model: Any, names: ModelNames, description: RobotDescription, i: int,
                 kind: str) -> dict[str, Any] | str:
    """What a state sensor reads, as keywords of `StateSensor`; or why it cannot be read."""
    if kind not in KINDS:
        return f"the kind {kind} is not known here"
    of, n = KINDS[kind].of, int(model.sensor_objid[i])
    if of in ("joint", "ball"):
        if of == "joint" and int(model.jnt_type[n]) not in (SLIDE, HINGE):
            return "its joint has more than one axis"
        return {"of": names.joint[n]}
    if of == "actuator":
        driven = {actuator.name for actuator in description.actuators if actuator.body is None}
        if names.actuator[n] not in driven:
            return "its actuator is not read, or drives no joint or tendon"
        return {"of": names.actuator[n], "scale": float(model.actuator_gear[n, 0])}
    if of == "tendon":
        name = tendon_names(model)[n]
        return {"of": name} if name in {tendon.name for tendon in description.tendons} else "its tendon is not read"
    if of == "mounted":  # at the world: those of bodies are mounted
        return WORLD_FORCE if kind in ("force", "torque") else _pose(model, names, SITE, n)
    if of == "tree":
        return {"body": names.body[n] if n else None}
    if of == "zone":
        return _pose(model, names, SITE, n) | _zone(model, n)
    if of not in ("place", "inside"):
        return {}
    ends = [(int(getattr(model, f"sensor_{end}type")[i]), int(getattr(model, f"sensor_{end}id")[i]))
            for end in ("obj", "ref")]
    if any(type_ == CAMERA and k >= 0 and int(model.cam_mode[k]) != FIXED_CAMERA for type_, k in ends):
        return "its camera is not fixed to a body"
    found = _pose(model, names, *ends[0]) | _reference(model, names, *ends[1])
    return found | _zone(model, ends[1][1]) if of == "inside" else found


def _reference(model: Any, names: ModelNames, type_: int, n: int) -> dict[str, Any]:
    """The reference frame of a sensor; none where the file names none."""
    if n < 0:
        return {}
    found = _pose(model, names, type_, n)
    return {"relative": True, "reference": found["body"], "reference_position": found["position"],
            "reference_rotation": found["rotation"]}


def _pose(model: Any, names: ModelNames, type_: int, n: int) -> dict[str, Any]:
    """Body, position and rotation of an object of MuJoCo: body (its inertial frame), xbody, geom, site or camera."""
    if type_ in (BODY, XBODY):
        body = n
        position, rotation = (np.zeros(3), np.array([1.0, 0, 0, 0])) if type_ == XBODY else (
            model.body_ipos[n], model.body_iquat[n])
    else:
        key = {GEOM: "geom", SITE: "site", CAMERA: "cam"}[type_]
        body = int(getattr(model, f"{key}_bodyid")[n])
        position, rotation = getattr(model, f"{key}_pos")[n], getattr(model, f"{key}_quat")[n]
    return {"body": names.body[body] if body else None, "position": position.copy(),
            "rotation": rotation / np.linalg.norm(rotation)}


def _zone(model: Any, site: int) -> dict[str, Any]:
    size = np.maximum(model.site_size[site], 1e-12)  # a sphere has one number
    return {"zone": SITE_ZONES[int(model.site_type[site])], "zone_size": size}
