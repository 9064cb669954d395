"""Scene files: TOML -> `Scene`. The format is taught in docs/scene-files.md; writing is in write.py."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, did_you_mean, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import Geometry, Joint, Material, Motion
from sesshoku.scene.elements.actuators import belongs_to
from sesshoku.scene.geometry.shapes import Shape
from sesshoku.scene.io.described import is_described
from sesshoku.scene.io.files import read_file
from sesshoku.scene.io.spec import ROBOT_SUFFIXES
from sesshoku.scene.io.toml import schema as toml_schema
from sesshoku.scene.io.toml.errors import Places, parse, validated
from sesshoku.scene.io.toml.lines import Path as KeyPath
from sesshoku.scene.io.toml.shapes import ALL_SHAPE_KEYS, SHAPE_KEYS, body_inertial, is_file, make_shape
from sesshoku.scene.io.toml.write import write_scene
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Robot, RobotPose, Scene
from sesshoku.spatial.rotation import from_roll_pitch_yaw

__all__ = ["read_scene", "write_scene"]

BODY_TABLES = ("box", "sphere", "ellipsoid", "capsule", "cylinder", "convex", "mesh", "height_field", "body", "robot")


def read_scene(path: str | Path) -> Scene:
    """Read a scene from a TOML file; a robot file (URDF, MJCF, .body ...) makes a scene of that robot alone."""
    path = check.path(path, "scene file")
    with in_file(path):
        suffix = path.suffix.lower()
        if suffix in ROBOT_SUFFIXES or is_described(path):
            scene = Scene(name=path.stem)
            scene.load(path)
            return scene
        if suffix != ".toml":
            raise SceneError("unknown kind of file", value=path.name,
                             remedy=f"give a .toml file or a robot: {' '.join(ROBOT_SUFFIXES)}")
        try:
            text = read_file(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[:error.start].count(b"\n") + 1
            raise SceneError(f"not valid UTF-8: {error.reason}", element=f"line {line}",
                             remedy="save it as UTF-8") from None
        text = text.replace("\r\n", "\n")
        places = Places(text, parse(text))
        scene = _Builder(places, validated(places), path).build()
        recheck(scene)  # what only the whole can tell, such as a joint that starts beyond its limits
        return scene


class _Builder:
    """Turns validated tables into a scene, each inside the place it came from."""

    def __init__(self, places: Places, table: toml_schema.SceneTable, path: Path) -> None:
        self.places, self.table, self.folder = places, table, path.parent
        self.materials: dict[str, Material] = {}
        self.scene = Scene(name=table.name if table.name is not None else path.stem)

    def build(self) -> Scene:
        table, scene = self.table, self.scene
        for name, values in table.materials.items():
            with self.places.inside(("materials", name)):
                self.materials[name] = Material(**({"name": name} | values.model_dump(exclude_unset=True)))
        if table.gravity is not None:
            scene.gravity = table.gravity
        if table.fluid is not None:
            with self.places.inside(("fluid",)):
                scene.fluid(density=table.fluid.density, viscosity=table.fluid.viscosity, wind=table.fluid.wind)
        scene.time_step = table.time_step
        scene.material = self.material(table.material, ()) or scene.material
        if table.ground is not None:
            with self.places.inside(("ground",)):
                scene.add_ground(table.ground.name, height=table.ground.height,
                                 rotation=self.rotation(table.ground, ("ground",)),
                                 material=self.material(table.ground.material, ("ground",)))
        self.add_bodies()
        self.add_companions()
        self.group_robots()
        self.add_filters()
        # what robot files said while loading stands behind what the scene file says itself
        scene.notes = table.notes + [note for note in scene.notes if note not in table.notes]
        scene.unsupported = table.unsupported + scene.unsupported
        scene.run = {} if table.run is None else table.run.model_dump(exclude_unset=True)
        return scene

    # ---- bodies --------------------------------------------------------------------------------------------------

    def add_bodies(self) -> None:
        """Add bodies and robots in the order of the file, those that stand before their parents after them."""
        waiting: list[tuple[KeyPath, Any]] = [((kind, i), item) for kind in BODY_TABLES
                                              for i, item in enumerate(getattr(self.table, kind))]
        waiting = sorted((entry for entry in waiting if entry[0][0] != "robot" or entry[1].file is not None),
                         key=lambda entry: self.places.line(entry[0]))
        while waiting:
            late = []
            for path, item in waiting:
                parent = getattr(item, "parent", None)
                if parent is None or parent in self.scene.bodies:
                    with self.places.inside(path):
                        self.add(path, item)
                else:
                    late.append((path, item))
            if len(late) == len(waiting):
                raise self._orphan(late)
            waiting = late

    def _orphan(self, late: list[tuple[KeyPath, Any]]) -> SceneError:
        parents = {item.name: item.parent for _, item in late}
        path, item = next(((p, i) for p, i in late if i.parent not in parents), late[0])
        if item.parent not in parents:
            known = [*self.scene.bodies, *parents]
            remedy = did_you_mean(item.parent, known, f"bodies: {', '.join(known[:12])}")
            return self.places.error((*path, "parent"), "unknown parent", remedy, item.parent)
        chain = [item.name]
        while parents[chain[-1]] not in chain:
            chain.append(parents[chain[-1]])
        chain = chain[chain.index(parents[chain[-1]]):]
        path = next(p for p, i in late if i.name == chain[0])
        return self.places.error((*path, "parent"), "the parents form a cycle", "give one of them another parent",
                                 " -> ".join([*chain, chain[0]]))

    def add(self, path: KeyPath, item: Any) -> None:
        if path[0] == "robot":
            self.add_robot(path, item)
            return
        options: dict[str, Any] = {
            key: getattr(item, key) for key in ("parent", "position", "velocity", "angular_velocity", "fixed",
                                                "kinematic", "robot", "gravity_compensation")}
        options["rotation"] = self.rotation(item, path)
        if item.joint is not None:
            with self.places.inside((*path, "joint")):
                options["joint"] = Joint(**{"name": item.name} | item.joint.model_dump(exclude_unset=True))
        if item.motion is not None:
            with self.places.inside((*path, "motion")):
                options["motion"] = Motion(**item.motion.model_dump())
        if path[0] == "body":
            geometries = [self.geometry((*path, "geometry", i), table) for i, table in enumerate(item.geometry)]
            self.scene.add_body(item.name, inertial=body_inertial(item, geometries), geometries=geometries, **options)
        else:
            shape = self.shape(path, str(path[0]), item)
            if path[0] == "height_field" and not item.kinematic:
                options["fixed"] = True
            self.scene._add_shape(item.name, shape, item.mass, item.density, self.material(item.material, path),
                                  _color(item.color), options)

    def rotation(self, item: toml_schema.Turned, path: KeyPath) -> Any:
        if item.roll_pitch_yaw is None:
            return (1, 0, 0, 0) if item.rotation is None else item.rotation
        if item.rotation is not None:
            raise self.places.error((*path, "roll_pitch_yaw"), "rotation is given too", "keep one of the two")
        return from_roll_pitch_yaw(*item.roll_pitch_yaw)

    def material(self, choice: str | toml_schema.MaterialTable | None, path: KeyPath) -> Material | None:
        if choice is None:
            return None
        place = (*path, "material")
        if isinstance(choice, str):
            if choice not in self.materials:
                remedy = did_you_mean(choice, self.materials, f"add a table [materials.{choice}]")
                raise self.places.error(place, "unknown material", remedy, choice)
            return self.materials[choice]
        with self.places.inside(place):
            return Material(**choice.model_dump(exclude_unset=True))

    def geometry(self, path: KeyPath, item: toml_schema.GeometryTable) -> Geometry:
        with self.places.inside(path):
            return Geometry(self.shape(path, item.shape, item, closed=item.collides), item.position,
                            self.rotation(item, path),
                            self.material(item.material, path), item.name, item.category, item.mask, item.collides,
                            item.visible, _color(item.color))

    def shape(self, path: KeyPath, kind: str, item: Any, closed: bool = True) -> Shape:
        given = {key: getattr(item, key) for key in ALL_SHAPE_KEYS
                 if key in item.model_fields_set and getattr(item, key) is not None}
        needed, allowed = SHAPE_KEYS[kind]
        if needed - set(given):
            key = min(needed - set(given))
            raise self.places.error(path, f"a {kind} needs the key {key!r}", f"add it: {key} = ...")
        if set(given) - needed - allowed:
            key = min(set(given) - needed - allowed)
            raise self.places.error((*path, key), f"a {kind} has no {key}",
                                    f"its keys: {', '.join(sorted(needed | allowed)) or 'none'}", given[key])
        return make_shape(kind, given, self.folder, closed)

    # ---- robots --------------------------------------------------------------------------------------------------

    def add_robot(self, path: KeyPath, item: toml_schema.RobotTable) -> None:
        for key in ("bodies", "actuators", "sensors"):
            if getattr(item, key) is not None:
                raise self.places.error((*path, key), f"a robot from a file has no {key} of its own",
                                        "leave the key out")
        named = is_described(str(item.file))
        file = Path(str(item.file)) if named else self.folder / str(item.file)
        if not named and not is_file(file):
            raise self.places.error((*path, "file"), "no such file", "give it relative to the scene file", item.file)
        turn = None if item.rotation is None and item.roll_pitch_yaw is None else self.rotation(item, path)
        robot = self.scene.load(file, position=item.position, rotation=turn, fixed_base=item.fixed_base, name=item.name,
                                pose=item.pose, repair_inertia=item.repair_inertia,
                                package_paths=[self.folder / folder for folder in item.package_paths])
        for name in robot.bodies:
            body = self.scene.bodies[name]
            if body.parent is None and body.joint.kind == "free":
                self.scene.bodies[name] = replace(body, velocity=item.velocity or body.velocity,
                                                  angular_velocity=item.angular_velocity or body.angular_velocity)
            elif body.parent is None and (item.velocity or item.angular_velocity):
                raise self.places.error((*path, "velocity" if item.velocity else "angular_velocity"),
                                        "only a free base has a velocity", "set joint velocities, or free the base")
        self.place_joints(path, item, robot)

    def place_joints(self, path: KeyPath, item: toml_schema.RobotTable, robot: Robot) -> None:
        """Start positions of a robot's joints, and targets of its position servos (called by joint or by actuator)."""
        scene = self.scene
        owners = {str(scene.bodies[name].joint.name): name for name in robot.bodies}
        for name, position in item.joints.items():
            owner = owners[self.known_in(robot, name, owners, (*path, "joints", name), "joint")]
            body = scene.bodies[owner]
            with self.places.inside((*path, "joints", name)):
                joint = replace(body.joint, position=position)
            if body.joint.start_note() in scene.notes:  # it starts elsewhere now
                scene.notes.remove(str(body.joint.start_note()))
            scene.bodies[owner] = replace(body, joint=joint)
            scene._note(joint.start_note())
        servos = {name: scene.actuators[name] for name in robot.actuators if scene.actuators[name].kind == "position"}
        called = {str(actuator.driven): actuator for actuator in servos.values()} | servos
        for name, target in item.targets.items():
            servo = called[self.known_in(robot, name, called, (*path, "targets", name), "position servo")]
            scene.actuators[servo.name] = replace(servo, target=target)

    def known_in(self, robot: Robot, name: str, known: Iterable[str], path: KeyPath, what: str) -> str:
        """The name as the scene knows it, with or without the robot's prefix."""
        names = list(known)
        for full in (name, f"{robot.name}/{name}"):
            if full in names:
                return full
        remedy = did_you_mean(name, names, f"known: {', '.join(names[:12]) or 'none'}")
        raise self.places.error(path, f"the robot has no such {what}", remedy, name)

    def group_robots(self) -> None:
        """Robots written out in full: the bodies that name them, and the actuators of their joints."""
        scene = self.scene
        for i, item in enumerate(self.table.robot):
            if item.file is not None:
                continue
            path: KeyPath = ("robot", i)
            placed = {"position", "rotation", "roll_pitch_yaw", "velocity", "angular_velocity", "fixed_base",
                      "package_paths", "pose", "repair_inertia"}
            if placed & item.model_fields_set:
                raise self.places.error((*path, min(placed & item.model_fields_set)),
                                        "only a robot from a file is placed so",
                                        "give file, or place its root body")
            if item.name is None:
                raise self.places.error(path, "a robot needs a file or a name",
                                        "give file, or name with bodies that say robot = name")
            bodies = [b.name for b in scene.bodies.values()
                      if b.robot == item.name] if item.bodies is None else item.bodies
            if not bodies and item.bodies is None:
                raise self.places.error(path, "no body belongs to this robot",
                                        f"write robot = {item.name!r} in its bodies")
            self.check_known(bodies, scene.bodies, (*path, "bodies"), "body")
            self.check_known(item.actuators or [], scene.actuators, (*path, "actuators"), "actuator")
            joints = [str(scene.bodies[b].joint.name) for b in bodies if scene.bodies[b].joint.kind != "fixed"]
            actuators = [a.name for a in scene.actuators.values() if belongs_to(a, scene.tendons, bodies, joints)
                         ] if item.actuators is None else item.actuators
            if item.name in scene.robots:
                raise self.places.error((*path, "name"), "the name is taken already", "give every robot its own name",
                                        item.name)
            self.check_known(item.sensors or [], [*scene.sensors, *scene.state_sensors], (*path, "sensors"), "sensor")
            sensors = [s.name for s in (*scene.sensors.values(), *scene.state_sensors.values())
                       if s.body in bodies] if item.sensors is None else item.sensors
            poses = {name: self.pose(pose) for name, pose in item.poses.items()}
            scene.robots[item.name] = Robot(item.name, list(bodies), joints, list(actuators), sensors, poses)
            self.place_joints(path, item, scene.robots[item.name])

    def pose(self, table: toml_schema.PoseTable) -> RobotPose:
        """A named start of a robot."""
        values = [{name: np.atleast_1d(np.array(value, dtype=float)) for name, value in given.items()}
                  for given in (table.positions, table.velocities)]
        commands = {name: (float(a), float(b), float(c)) for name, (a, b, c) in table.commands.items()}
        return RobotPose(values[0], values[1], commands)

    def check_known(self, names: Iterable[str], known: Iterable[str], path: KeyPath, what: str) -> None:
        for i, name in enumerate(names):
            if name not in known:
                raise self.places.error((*path, i), f"no such {what}", f"known: {', '.join(list(known)[:12])}", name)

    # ---- the rest ------------------------------------------------------------------------------------------------

    def add_companions(self) -> None:
        scene, table = self.scene, self.table
        for kind, add in (("force_sensor", scene.add_force_sensor), ("imu", scene.add_imu),
                          ("frame", scene.add_frame), ("camera", scene.add_camera)):
            for i, item in enumerate(getattr(table, kind)):
                with self.places.inside((kind, i)):
                    keys = item.model_dump(exclude_unset=True, exclude={"rotation", "roll_pitch_yaw"})
                    add(**keys, rotation=self.rotation(item, (kind, i)))
        adders: dict[str, Any] = {"tendon": scene.add_tendon, "actuator": scene.add_actuator, "loop": scene.add_loop,
                                  "mimic": scene.add_mimic}
        for kind, add in adders.items():
            for i, item in enumerate(getattr(table, kind)):
                with self.places.inside((kind, i)):
                    keys = item.model_dump(exclude_unset=True, exclude={"roll_pitch_yaw"})
                    if getattr(item, "roll_pitch_yaw", None) is not None:
                        keys["rotation"] = self.rotation(item, (kind, i))
                    add(**keys)
        for i, item in enumerate(table.sensor):  # of joints, actuators and frames that are there by now
            with self.places.inside(("sensor", i)):
                keys = item.model_dump(exclude_unset=True, exclude={"rotation", "roll_pitch_yaw"})
                scene.add_sensor(**keys, rotation=self.rotation(item, ("sensor", i)))

    def add_filters(self) -> None:
        scene, filters = self.scene, self.table.collision or toml_schema.CollisionTable()
        for i, item in enumerate(self.table.friction):
            with self.places.inside(("friction", i)):
                a, b = item.bodies
                scene.friction(a, b, static=item.static, kinetic=item.kinetic, restitution=item.restitution,
                               torsional=item.torsional, rolling=item.rolling)
                pair = (a, b) if a <= b else (b, a)
                scene.pair_friction[pair] = replace(scene.pair_friction[pair], **item.model_dump(
                    include={"stiffness", "damping", "name"}, exclude_unset=True))
        for key, pairs, apply in (("exclude", filters.exclude, scene.exclude_collision),
                                  ("include", filters.include, scene.include_collision)):
            for i, (a, b) in enumerate(pairs):
                with self.places.inside(("collision", key, i)):
                    apply(a, b)
        for i, pair_table in enumerate(self.table.geometry_pair):
            with self.places.inside(("geometry_pair", i)):
                (a, b), (m, n) = pair_table.bodies, pair_table.geometries
                scene.add_geometry_pair(a, m, b, n, self.material(pair_table.material, ("geometry_pair", i)))
        for i, name in enumerate(filters.self_):
            with self.places.inside(("collision", "self", i)):
                scene.self_collision(name)


def _color(values: list[float] | None) -> tuple[float, float, float, float] | None:
    return None if values is None else (values[0], values[1], values[2], values[3])
