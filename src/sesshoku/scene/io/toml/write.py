"""Scenes as TOML: every body written out in full, in order, so that reading gives the same elements bit for bit."""

from __future__ import annotations

import json
import os
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from sesshoku.errors import SceneError, in_file
from sesshoku.scene.elements import Body, Geometry, Inertial, Joint, Loop, Material, Mimic, Motion
from sesshoku.scene.elements.actuators import Actuator, Tendon, belongs_to
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.elements.frames import Camera, Frame
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.scene.elements.state_sensors import StateSensor
from sesshoku.scene.elements.tendon_paths import PathPoint
from sesshoku.scene.geometry.shapes import ConvexMesh, HeightField, Mesh, Shape
from sesshoku.scene.io.toml.schema import RunTable
from sesshoku.scene.io.toml.shapes import make_shape
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Robot, Scene

LINE_LENGTH = 110


def write_scene(scene: Scene, path: str | Path) -> None:
    """Write a scene as TOML. What only Python can say (a function as motion) is refused."""
    with in_file(path):
        recheck(scene)  # its elements are open to change
        text = dumps(scene_to_tables(scene, Path(path).parent))
        try:
            Path(path).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:
            raise SceneError(f"cannot be written: {getattr(error, 'strerror', None) or error}",
                             remedy="check the path") from None


def scene_to_tables(scene: Scene, folder: Path) -> dict[str, Any]:
    """The tables of a scene file that stands in `folder`."""
    materials = _shared_materials(scene)
    tables: dict[str, Any] = {"name": scene.name}
    if scene._gravity is not None:
        tables["gravity"] = scene._gravity
    if scene.time_step is not None:
        tables["time_step"] = scene.time_step
    if scene._fluid is not None:
        tables["fluid"] = _changed(scene._fluid, Fluid(), "", always=("density",))
    if scene.notes:
        tables["notes"] = scene.notes
    if scene.unsupported:
        tables["unsupported"] = scene.unsupported
    if scene.material != Material():
        tables["material"] = _material(scene.material, materials)
    tables["run"] = _run(scene.run)
    tables["materials"] = {name: _material_keys(material, "name") for name, material in materials.items()}
    tables["robot"] = [_robot(scene, robot) for robot in scene.robots.values()]
    tables["body"] = [_body(body, materials, folder) for body in scene.bodies.values()]
    tables["tendon"] = [_tendon(tendon) for tendon in scene.tendons.values()]
    tables["actuator"] = [_actuator(actuator) for actuator in scene.actuators.values()]
    tables["loop"] = [_changed(loop, Loop(loop.name, loop.kind, loop.body_a), "", always=("name", "kind", "body_a"))
                      for loop in scene.loops.values()]
    tables["mimic"] = [_changed(mimic, Mimic(mimic.joint, mimic.source), "", always=("joint", "source"))
                       for mimic in scene.mimics.values()]
    for key, kind in (("force_sensor", ForceSensor), ("imu", Imu)):
        tables[key] = [_changed(sensor, kind(sensor.name, sensor.body), "", always=("name", "body", "position"))
                       for sensor in scene.sensors.values() if isinstance(sensor, kind)]
    tables["sensor"] = [_changed(sensor, StateSensor(sensor.name, sensor.kind, sensor.of, zone=sensor.zone), "",
                                 always=("name", "kind", "of", "zone")) for sensor in scene.state_sensors.values()]
    tables["sensor"] = [{key: value for key, value in table.items() if value is not None}
                        for table in tables["sensor"]]
    tables["frame"] = [_changed(frame, Frame(frame.name), "", always=("name",)) for frame in scene.frames.values()]
    tables["camera"] = [_changed(camera, Camera(camera.name), "", always=("name",))
                        for camera in scene.cameras.values()]
    tables["friction"] = [_pair_friction(a, b, material, scene.combined_material(a, b))
                          for (a, b), material in scene.pair_friction.items()]
    tables["geometry_pair"] = [{"bodies": [a, b], "geometries": [i, j]}
                               | ({} if material is None else {"material": _material(material, materials)})
                               for ((a, i), (b, j)), material in scene.geometry_pairs.items()]
    tables["collision"] = {key: value for key, value in (
        ("exclude", sorted(scene.excluded_pairs)), ("include", sorted(scene.forced_pairs)),
        ("self", sorted(scene.self_colliding))) if value}
    return {key: value for key, value in tables.items() if not isinstance(value, (dict, list)) or len(value)}


def _run(run: dict[str, Any]) -> dict[str, Any]:
    """Check what the user put into `scene.run`, so that the file can be read again."""
    run = {key: value for key, value in run.items() if value is not None}
    try:
        RunTable.model_validate(run)
    except ValidationError as error:
        first = error.errors()[0]
        raise SceneError(f"scene.run: {first['msg']}", element=".".join(map(str, first["loc"])), value=first["input"],
                         remedy=f"its keys: {', '.join(RunTable.model_fields)}") from None
    return run


def _changed(value: Any, default: Any, skip: str, always: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of a dataclass that differ from those of a default one (and those to write always)."""
    table = {}
    for field in fields(value):
        mine, usual = getattr(value, field.name), getattr(default, field.name)
        same = mine is None or (usual is not None and np.array_equal(mine, usual))
        if field.name != skip and (field.name in always or not same):
            table[field.name] = mine
    return table


# ---- materials ----------------------------------------------------------------------------------------------------


def _shared_materials(scene: Scene) -> dict[str, Material]:
    """The named materials; of two that share a name the first, the other is written where it is used."""
    found: dict[str, Material] = {}
    used = [scene.material] + [g.material for body in scene.bodies.values() for g in body.geometries if g.material]
    used += [material for material in scene.geometry_pairs.values() if material is not None]
    for material in used:
        if material.name:
            found.setdefault(material.name, material)
    return found


def _material(material: Material, shared: dict[str, Material]) -> Any:
    if material.name and shared.get(material.name) == material:
        return material.name
    return _material_keys(material)


def _material_keys(material: Material, skip: str = "") -> dict[str, Any]:
    # kinetic friction left out means "as static", so that is what it is compared with
    return _changed(material, Material(material.static_friction), skip, always=("static_friction",))


def _pair_friction(a: str, b: str, material: Material, combined: Material) -> dict[str, Any]:
    # torsional and rolling friction left out mean "as the materials combine"
    usual = {"torsional": combined.torsional_friction, "rolling": combined.rolling_friction}
    if material.name == f"{b} on {a}":
        a, b = b, a
    table = {"bodies": [a, b], "static": material.static_friction, "kinetic": material.kinetic_friction,
             "restitution": material.restitution}
    rolling = {"torsional": material.torsional_friction, "rolling": material.rolling_friction}
    table |= {key: rolling[key] for key in rolling if rolling[key] != usual[key]}
    table |= {key: getattr(material, key) for key in ("stiffness", "damping") if getattr(material, key) is not None}
    if material.name and material.name != f"{a} on {b}":
        table["name"] = material.name
    return table


# ---- bodies -------------------------------------------------------------------------------------------------------


def _body(body: Body, materials: dict[str, Material], folder: Path) -> dict[str, Any]:
    usual = Joint("free" if body.parent is None and not body.kinematic else "fixed", name=body.name)
    fixed = Joint("fixed", name=body.name)
    table: dict[str, Any] = {"name": body.name}
    if body.parent is not None:
        table["parent"] = body.parent
    for key, default in (("position", np.zeros(3)), ("rotation", np.array([1.0, 0, 0, 0])), ("velocity", np.zeros(3)),
                         ("angular_velocity", np.zeros(3)), ("gravity_compensation", 0.0)):
        if not np.array_equal(getattr(body, key), default):
            table[key] = getattr(body, key)
    if body.kinematic:
        table["kinematic"] = True
    if body.robot is not None:
        table["robot"] = body.robot
    if body.inertial is not None:
        table |= _inertial(body.inertial)
    if not _same(body.joint, usual):
        if _same(body.joint, fixed):
            table["fixed"] = True
        else:
            table["joint"] = _joint(body)
    if isinstance(body.motion, Motion):
        table["motion"] = {"times": body.motion.times, "positions": body.motion.positions,
                           "rotations": body.motion.rotations}
    elif body.motion is not None:
        raise SceneError("a Python function as motion cannot be written to a file", element=f"body {body.name!r}",
                         value=body.motion, remedy="give a Motion of times, positions and rotations")
    if body.geometries:
        table["geometry"] = [_geometry(geometry, body, materials, folder) for geometry in body.geometries]
    return table


def _same(a: Joint, b: Joint) -> bool:
    return all(np.array_equal(getattr(a, field.name), getattr(b, field.name)) for field in fields(Joint))


def _joint(body: Body) -> dict[str, Any]:
    joint = body.joint
    # kinetic friction left out means "as static", so that is what it is compared with
    usual = Joint(joint.kind, name=body.name, static_friction=joint.static_friction)
    table = _changed(joint, usual, "", always=("kind", "static_friction") if joint.static_friction else ("kind",))
    for key in ("position", "velocity"):
        if key in table and len(table[key]) == 1:
            table[key] = table[key][0]
    return table


def _inertial(inertial: Inertial) -> dict[str, Any]:
    matrix = inertial.matrix
    table: dict[str, Any] = {"mass": inertial.mass}
    if inertial.center.any():
        table["center"] = inertial.center
    table["inertia"] = np.diag(matrix) if np.array_equal(matrix, np.diag(np.diag(matrix))) else matrix
    if inertial.axes is not None:
        table["inertia_axes"] = inertial.axes
    return table


def _geometry(geometry: Geometry, body: Body, materials: dict[str, Material], folder: Path) -> dict[str, Any]:
    if isinstance(geometry.shape, (ConvexMesh, Mesh)):
        shape = _mesh(geometry.shape, folder, geometry.collides)
    elif isinstance(geometry.shape, HeightField):
        shape = _height_field(geometry.shape, folder)
    else:
        shape = {field.name: getattr(geometry.shape, field.name) for field in fields(geometry.shape)}
    table = {"shape": geometry.shape.kind} | shape
    others = _changed(geometry, Geometry(geometry.shape), "shape")
    if geometry.material is not None:
        others["material"] = _material(geometry.material, materials)
    return table | others


def _mesh(shape: ConvexMesh | Mesh, folder: Path, collides: bool) -> dict[str, Any]:
    """A reference to the mesh's file where reading it gives this very mesh; its vertices otherwise."""
    if shape.source is not None and Path(shape.source).is_file():
        table: dict[str, Any] = {"file": _relative(Path(shape.source), folder)}
        if shape.scale != (1.0, 1.0, 1.0):
            table["scale"] = shape.scale
        if _rebuilds(shape, table, folder, collides):
            return table
    if isinstance(shape, ConvexMesh):
        return {"vertices": shape.vertices}
    table = {"vertices": shape.vertices, "faces": shape.faces}
    if collides and len(shape.pieces) != 1:
        table["pieces"] = [piece.vertices for piece in shape.pieces]
    if shape.repairs:
        table["repairs"] = shape.repairs
    return table


def _height_field(shape: HeightField, folder: Path) -> dict[str, Any]:
    """With a reference to the file of its heights where that holds them still."""
    table: dict[str, Any] = {"size": shape.size, "base": shape.base}
    if shape.source is not None and Path(shape.source).is_file():
        referring = table | {"file": _relative(Path(shape.source), folder)}
        try:
            if make_shape(shape.kind, referring, folder) == shape:
                return referring
        except SceneError:
            pass
    return table | {"heights": shape.heights}


def _relative(source: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(source, folder)).as_posix()
    except ValueError:  # on another drive
        return source.absolute().as_posix()


def _rebuilds(shape: ConvexMesh | Mesh, table: dict[str, Any], folder: Path, collides: bool) -> bool:
    try:
        again: Shape = make_shape(shape.kind, table, folder, collides)
    except SceneError:
        return False
    return again == shape and all(getattr(again, key, ()) == getattr(shape, key, ()) for key in ("pieces", "repairs"))


def _robot(scene: Scene, robot: Robot) -> dict[str, Any]:
    table: dict[str, Any] = {"name": robot.name}
    if not robot.bodies or robot.bodies != [body.name for body in scene.bodies.values() if body.robot == robot.name]:
        table["bodies"] = robot.bodies
    if robot.actuators != [actuator.name for actuator in scene.actuators.values()
                           if belongs_to(actuator, scene.tendons, robot.bodies, robot.joints)]:
        table["actuators"] = robot.actuators
    own = [sensor for sensor in scene.sensors.values() if sensor.body in robot.bodies]
    read = sorted(own, key=lambda sensor: isinstance(sensor, Imu))  # force sensors first, as the file has them
    if robot.sensors != [sensor.name for sensor in read]:
        table["sensors"] = robot.sensors
    if robot.poses:
        table["poses"] = {name: {"positions": pose.positions, "velocities": pose.velocities, "commands": pose.commands}
                          for name, pose in robot.poses.items()}
    return table


def _tendon(tendon: Tendon) -> dict[str, Any]:
    table = _changed(tendon, Tendon(tendon.name, tendon.joints, path=tendon.path), "", always=("name",))
    if tendon.path:
        return table | {"path": [_changed(point, PathPoint(), "", always=("kind",)) for point in tendon.path]}
    return table | {"joints": tendon.joints}


def _actuator(actuator: Actuator) -> dict[str, Any]:
    driven = {key: getattr(actuator, key) for key in ("joint", "tendon", "body") if getattr(actuator, key) is not None}
    return _changed(actuator, Actuator(str(actuator.driven), **driven), "", always=(*driven, "kind"))


# ---- text ---------------------------------------------------------------------------------------------------------


def dumps(tables: dict[str, Any]) -> str:
    """TOML text of nested tables: plain values first, then sub-tables, arrays of tables as `[[...]]`."""
    lines: list[str] = []
    _write_table(lines, "", tables)
    return "\n".join(lines).strip("\n") + "\n"


def _write_table(lines: list[str], path: str, table: dict[str, Any]) -> None:
    inner = {key: value for key, value in table.items() if _is_table(value) or _is_array_of_tables(value)}
    lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items() if key not in inner]
    for key, value in inner.items():
        name = f"{path}.{_key(key)}" if path else _key(key)
        for item in [value] if _is_table(value) else value:
            # a header such as [materials] above nothing but sub-tables says nothing
            if not (_is_table(value) and item and all(_is_table(part) for part in item.values())):
                lines += ["", f"[{name}]" if _is_table(value) else f"[[{name}]]"]
            _write_table(lines, name, item)


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _is_array_of_tables(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(isinstance(item, dict) for item in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return _float(float(value))
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, np.ndarray):
        return _value(value.tolist())
    if isinstance(value, (list, tuple)):
        parts = [_value(part) for part in value]
        line = f"[{', '.join(parts)}]"
        nested = any(isinstance(part, (list, tuple, np.ndarray)) for part in value)
        if len(line) <= LINE_LENGTH or not nested:
            return line
        return "[\n" + "".join(f"    {part},\n" for part in parts) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items()) + " }"
    raise SceneError("a value TOML cannot hold", element=type(value).__name__, value=value,
                     remedy="use numbers, text and lists")


def _float(value: float) -> str:
    """Shortest text that reads back as the same number; whole numbers without a point, as one writes them by hand."""
    if value.is_integer() and abs(value) < 1e15 and not (value == 0.0 and np.signbit(value)):
        return str(int(value))
    return repr(value)
