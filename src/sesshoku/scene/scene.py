"""`Scene`: the builder of what is simulated. SI units, z up, quaternions w x y z."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sesshoku.errors import SceneError, UnsupportedFeature, in_file
from sesshoku.scene import check
from sesshoku.scene.actuators import Actuator, ActuatorKind, Tendon, holding_control, with_control
from sesshoku.scene.calls import checked, unknown_keyword
from sesshoku.scene.elements import (
    SINGLE_AXIS,
    Body,
    Geometry,
    GeometryPair,
    Inertial,
    Joint,
    Loop,
    Material,
    Mimic,
    Motion,
    RobotDescription,
)
from sesshoku.scene.frames import Camera, Frame, NamedPlaces
from sesshoku.scene.geometry import mesh
from sesshoku.scene.geometry.repair import check_arrays
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Shape, Sphere
from sesshoku.scene.io.unsupported import Item, summary
from sesshoku.scene.materials import combine_materials
from sesshoku.scene.names import Named, unknown
from sesshoku.scene.sensors import Sensor, SensorMounts
from sesshoku.scene.state_sensors import StateSensor, StateSensors
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix

DEFAULT_GRAVITY = (0.0, 0.0, -9.8)


@dataclass
class RobotPose:
    """A named start of a robot where it was placed.

    positions, velocities: joint -> position and velocity; of a free joint those of the body, world axes. commands:
    actuator -> target, target velocity and feed-forward.
    """

    positions: dict[str, Any] = field(default_factory=dict)
    velocities: dict[str, Any] = field(default_factory=dict)
    commands: dict[str, tuple[float, float, float]] = field(default_factory=dict)


@checked
class Robot:
    """A robot placed in a scene: the names of its bodies, joints, actuators and sensors there.

    poses: the file's named starts, as they are where the robot was placed; `sim.reset(pose=name)` takes one. In a
    simulation, `sim.robots[robot]` has its positions, velocities and commands.
    """

    def __init__(self, name: str, bodies: list[str], joints: list[str], actuators: list[str],
                 sensors: Iterable[str] = (), poses: Mapping[str, RobotPose] | None = None) -> None:
        self.name, self.bodies, self.joints, self.actuators = name, bodies, joints, actuators
        self.sensors = list(sensors)
        self.poses: dict[str, RobotPose] = Named("pose")
        self.poses.update(poses or {})

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, {len(self.bodies)} bodies, {len(self.joints)} joints)"


@checked
class Scene(SensorMounts, StateSensors, NamedPlaces):
    """Bodies, robots, sensors, materials and filters; handed to `Simulation`.

        scene = Scene()
        scene.add_ground()
        scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
        robot = scene.load("robot.urdf", position=(0, 0, 0.8))
    """

    def __init__(self, gravity: Any = None, material: Material | None = None, name: str = "scene") -> None:
        self.name = check.name(name, "name of the scene")
        self._gravity = None if gravity is None else check.vector(gravity, "gravity", "scene")
        self.time_step: float | None = None  # a loaded file's wish, taken where the user gives none
        self.material = Material() if material is None else check.kind(
            material, Material, "material", "scene", "a Material(static_friction=...)")
        self.bodies: dict[str, Body] = Named("body")
        self._joint_owner: dict[str, str] = {}  # joint name -> body name
        self.actuators: dict[str, Actuator] = Named("actuator")
        self.tendons: dict[str, Tendon] = Named("tendon")
        self.loops: dict[str, Loop] = Named("loop")
        self.mimics: dict[str, Mimic] = Named("mimic")
        self.sensors: dict[str, Sensor] = Named("sensor")
        self.state_sensors: dict[str, StateSensor] = Named("sensor")
        self.frames: dict[str, Frame] = Named("frame")
        self.cameras: dict[str, Camera] = Named("camera")
        self.robots: dict[str, Robot] = Named("robot")
        self.pair_friction: dict[tuple[str, str], Material] = {}
        self.excluded_pairs: set[tuple[str, str]] = set()
        self.forced_pairs: set[tuple[str, str]] = set()
        self.geometry_pairs: dict[GeometryPair, Material | None] = {}
        self.self_colliding: set[str] = set()
        self.notes: list[str] = []  # what was taken from files (gravity, time step), for `info`
        self.unsupported: list[str] = []
        self.run: dict[str, Any] = {}  # a scene file's wishes for `sesshoku run`: method, dt, time ...

    # ---- gravity -------------------------------------------------------------------------------------------------

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity, m/s^2, world axes."""
        return np.array(DEFAULT_GRAVITY) if self._gravity is None else self._gravity.copy()

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = check.vector(value, "gravity", "scene")

    # ---- bodies --------------------------------------------------------------------------------------------------

    def add_body(
        self, name: str, *, parent: str | None = None, joint: Joint | None = None, position: Any = (0, 0, 0),
        rotation: Any = (1, 0, 0, 0), inertial: Inertial | None = None, geometries: Iterable[Geometry] = (),
        velocity: Any = (0, 0, 0), angular_velocity: Any = (0, 0, 0), fixed: bool = False, kinematic: bool = False,
        motion: Any = None, robot: str | None = None, gravity_compensation: float = 0.0,
    ) -> Body:
        """Add a body. Without a parent it is free unless `fixed`, `kinematic` or a joint says otherwise; else fixed."""
        element = f"body {check.name(name, 'name of a body')!r}"
        fixed, kinematic = check.flag(fixed, "fixed", element), check.flag(kinematic, "kinematic", element)
        if joint is None:
            joint = Joint("free" if parent is None and not fixed and not kinematic else "fixed")
        elif not isinstance(joint, Joint):
            example = f"Joint({joint!r})" if isinstance(joint, str) else "a Joint(kind)"
            check.kind(joint, Joint, "joint", element, example)
        elif fixed and joint.kind != "fixed":
            raise SceneError("a fixed body has no moving joint", element=element, value=joint.kind,
                             remedy="leave out fixed=True or the joint")
        parts = list(geometries) if isinstance(geometries, Iterable) else geometries  # Body refuses the latter
        body = Body(name, parent, joint, position, rotation, inertial, parts, velocity, angular_velocity, kinematic,
                    motion, robot, gravity_compensation)
        return self._insert(body)

    def _insert(self, body: Body) -> Body:
        element = f"body {body.name!r}"
        if body.name in self.bodies:
            raise SceneError("the name is taken already", element=element, remedy="give every body its own name")
        if body.parent is not None and body.parent not in self.bodies:
            raise SceneError("unknown parent", element=element, value=body.parent,
                             remedy=f"add the parent first; bodies so far: {_listed(self.bodies)}")
        if body.joint.name in self._joint_owner:
            raise SceneError("the name is taken already", element=f"joint {body.joint.name!r}",
                             remedy="give every joint its own name")
        held = body.joint.kind == "fixed" and body.parent is None
        if not held:
            for endless in (geometry.shape for geometry in body.geometries):
                if isinstance(endless, (Plane, HeightField)):
                    raise SceneError(f"a {endless.kind.replace('_', ' ')} belongs to a body fixed to the world",
                                     element=element, remedy="use a box, or a mesh")
        self.bodies[body.name] = body
        self._joint_owner[str(body.joint.name)] = body.name
        self._note(body.joint.start_note())
        for geometry in body.geometries:
            for repair in geometry.shape.repairs if isinstance(geometry.shape, Mesh) else ():
                self._note(f"{element}: {repair}")
        return body

    def _note(self, note: str | None) -> None:
        if note is not None and note not in self.notes:
            self.notes.append(note)

    def _add_shape(self, name: str, shape: Shape, mass: float | None, density: float | None, material: Material | None,
                   color: Any, options: dict[str, Any]) -> Body:
        for key in options:
            if key not in BODY_OPTIONS:
                own = ("mass", "density", "material", "color", "scale", "faces")
                raise unknown_keyword(key, [*own, *sorted(BODY_OPTIONS)], f"body {name!r}")
        fixed = any(check.flag(options.get(key, False), key, f"body {name!r}") for key in ("fixed", "kinematic"))
        inertial = None
        if mass is not None or density is not None:
            inertial = mesh.shape_inertial(shape, mass=mass, density=density, element=f"body {name!r}")
        elif not fixed:
            raise SceneError("a moving body needs mass or density", element=f"body {name!r}",
                             remedy="give mass= or density=")
        bits = {key: options.pop(key) for key in ("category", "mask") if key in options}
        geometry = Geometry(shape, material=material, color=color, **bits)
        return self.add_body(name, inertial=inertial, geometries=[geometry], **options)

    def add_ground(self, name: str = "ground", *, height: float = 0.0, material: Material | None = None,
                   rotation: Any = (1, 0, 0, 0), category: int = 1, mask: int = 0xFFFF) -> Body:
        """Add a fixed half-space; its surface is the plane z = height (turned by `rotation`: an incline)."""
        return self.add_body(name, fixed=True, position=(0, 0, height), rotation=rotation,
                             geometries=[Geometry(Plane(), material=material, category=category, mask=mask)])

    def add_box(self, name: str, *, size: Any, mass: float | None = None, density: float | None = None,
                material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add a box; `size` holds its edge lengths. Options: those of `add_body`, `category` and `mask` (Geometry)."""
        return self._add_shape(name, Box(size), mass, density, material, color, options)

    def add_sphere(self, name: str, *, radius: float, mass: float | None = None, density: float | None = None,
                   material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add a sphere. Options: those of `add_body`, `category` and `mask` (Geometry)."""
        return self._add_shape(name, Sphere(radius), mass, density, material, color, options)

    def add_ellipsoid(self, name: str, *, radii: Any, mass: float | None = None, density: float | None = None,
                      material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add an ellipsoid; `radii` holds its half axes along x, y, z. Options: those of `add_body`."""
        return self._add_shape(name, Ellipsoid(radii), mass, density, material, color, options)

    def add_height_field(self, name: str, heights: Any, *, size: Any, base: float | None = None,
                         material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add terrain that does not move: elevations (rows along y, columns along x), m, over a rectangle `size`.

        Its middle is the body's origin; the ground below is solid down to z = -base. Options: those of `add_body`.
        """
        if not options.get("kinematic", False):
            options.setdefault("fixed", True)
        return self._add_shape(name, HeightField(heights, size, base), None, None, material, color, options)

    def add_capsule(self, name: str, *, radius: float, length: float, mass: float | None = None,
                    density: float | None = None, material: Material | None = None, color: Any = None,
                    **options: Any) -> Body:
        """Add a capsule along z: a cylinder of `length` with half spheres at its ends."""
        return self._add_shape(name, Capsule(radius, length), mass, density, material, color, options)

    def add_cylinder(self, name: str, *, radius: float, length: float, mass: float | None = None,
                     density: float | None = None, material: Material | None = None, color: Any = None,
                     **options: Any) -> Body:
        """Add a cylinder along z."""
        return self._add_shape(name, Cylinder(radius, length), mass, density, material, color, options)

    def add_convex(self, name: str, vertices: Any, *, mass: float | None = None, density: float | None = None,
                   scale: Any = (1, 1, 1), material: Material | None = None, color: Any = None, **options: Any) -> Body:
        """Add the convex hull of some points (n, 3), or of the mesh in a file.

        A flat side with more than 48 corners touches with 48 of them, evenly chosen.
        """
        points, source = _points(vertices, scale, f"body {name!r}")[::2]
        shape = mesh.convex_mesh(points, source=source, scale=check.scale(scale, f"body {name!r}"))
        return self._add_shape(name, shape, mass, density, material, color, options)

    def add_mesh(self, name: str, file: Any, *, faces: Any = None, mass: float | None = None,
                 density: float | None = None, scale: Any = (1, 1, 1), material: Material | None = None,
                 color: Any = None, **options: Any) -> Body:
        """Add a closed triangle mesh from a file, or from vertices (n, 3) and faces (m, 3). Concave: decomposed."""
        points, triangles, source = _points(file, scale, f"body {name!r}", faces)
        if triangles is None:
            raise SceneError("a mesh of vertices needs faces", element=f"body {name!r}", remedy="give faces= (m, 3)")
        shape = mesh.triangle_mesh(points, triangles, source=source, scale=check.scale(scale, f"body {name!r}"))
        return self._add_shape(name, shape, mass, density, material, color, options)

    # ---- joints' companions --------------------------------------------------------------------------------------

    def joint(self, name: str) -> Joint:
        """The joint of that name."""
        if name in self._joint_owner:
            return self.bodies[self._joint_owner[name]].joint
        raise unknown("joint", name, (str(body.joint.name) for body in self.bodies.values()
                                      if body.joint.kind != "fixed"))

    def add_actuator(self, joint: str | None = None, kind: ActuatorKind = "torque", *, name: str | None = None,
                     **options: Any) -> Actuator:
        """Drive a joint: `add_actuator("knee", "position", kp=100, kd=5, effort=40)`; or a tendon (`tendon=`), or push
        a body (`body=` with position and rotation, or `site=`, a frame of the scene: a thruster). See `Actuator`."""
        if "site" in options:
            name = options["site"] if name is None else name
            options = self._at_site(options, name)
        driven = [joint, options.get("tendon"), options.get("body")]
        usual = next((value for value in driven if value is not None), "actuator")
        actuator = Actuator(usual if name is None else name, joint, kind, **options)
        return self._insert_actuator(actuator)

    def _at_site(self, options: dict[str, Any], name: str) -> dict[str, Any]:
        """`site=` as the body and the place it stands for; with a base the axes stay the base's."""
        site, element = options["site"], f"actuator {name!r}"
        if site not in self.frames or self.frames[site].body is None:
            raise SceneError("no such frame on a body", element=element, value=site,
                             remedy=f"frames: {_listed(key for key, frame in self.frames.items() if frame.body)}")
        frame = self.frames[site]
        place = {"body": frame.body, "position": frame.position}
        given = {key: value for key, value in options.items() if key != "site"}
        for key in place.keys() & given.keys():
            raise SceneError(f"site= and {key}= say the same", element=element, value=given[key],
                             remedy="give one of them")
        return {"rotation": frame.rotation} | place | given if "base" not in given else place | given

    def _insert_actuator(self, actuator: Actuator) -> Actuator:
        element = f"actuator {actuator.name!r}"
        if actuator.name in self.actuators:
            raise SceneError("the name is taken already", element=element, remedy="give name=")
        if actuator.joint is not None and self.joint(actuator.joint).kind not in SINGLE_AXIS:
            raise SceneError(f"a {self.joint(actuator.joint).kind} joint can't be driven", element=element,
                             value=actuator.joint, remedy="drive a revolute, continuous or prismatic joint")
        if actuator.tendon is not None and actuator.tendon not in self.tendons:
            raise SceneError("no such tendon", element=element, value=actuator.tendon,
                             remedy=f"add it first; tendons: {_listed(self.tendons)}")
        for body in (actuator.body, actuator.base):
            if body is not None:
                self._body(body, element)
        self.actuators[actuator.name] = actuator
        return actuator

    def add_tendon(self, name: str, joints: Mapping[str, float], **options: Any) -> Tendon:
        """Tie joints together: `add_tendon("grip", {"left": 0.5, "right": 0.5}, stiffness=10)`; see `Tendon`."""
        tendon = Tendon(name, joints, **options)
        return self._insert_tendon(tendon)

    def _insert_tendon(self, tendon: Tendon) -> Tendon:
        element = f"tendon {tendon.name!r}"
        if tendon.name in self.tendons:
            raise SceneError("the name is taken already", element=element, remedy="give every tendon its own name")
        for joint in tendon.joints:
            if self.joint(joint).kind not in SINGLE_AXIS:
                raise SceneError("a tendon runs over joints of one axis", element=element, value=joint,
                                 remedy="name a revolute, continuous or prismatic joint")
        self.tendons[tendon.name] = tendon
        return tendon

    def add_loop(self, kind: Literal["ball", "hinge", "weld"], body_a: str, body_b: str | None = None, *,
                 name: str | None = None, **options: Any) -> Loop:
        """Close a loop between two bodies (None: the world) at `position` of body_a; see `Loop`."""
        usual = f"{kind} {body_a}-{body_b or 'world'}"
        loop = Loop(usual if name is None else name, kind, body_a, body_b, **options)
        return self._insert_loop(loop)

    def _insert_loop(self, loop: Loop) -> Loop:
        if loop.name in self.loops:
            raise SceneError("the name is taken already", element=f"loop {loop.name!r}", remedy="give name=")
        self._body(loop.body_a, f"loop {loop.name!r}")
        if loop.body_b is not None:
            self._body(loop.body_b, f"loop {loop.name!r}")
        if loop.body_a == loop.body_b:
            raise SceneError("a loop joins two different bodies", element=f"loop {loop.name!r}", value=loop.body_a)
        self.loops[loop.name] = loop
        return loop

    def add_mimic(self, joint: str, source: str, ratio: float = 1.0, offset: float = 0.0) -> Mimic:
        """Make `joint` follow `source`: q = ratio * q_source + offset."""
        return self._insert_mimic(Mimic(joint, source, ratio, offset))

    def _insert_mimic(self, mimic: Mimic) -> Mimic:
        element = f"mimic of joint {mimic.joint!r}"
        for name in (mimic.joint, mimic.source):
            if self.joint(name).kind not in ("revolute", "continuous", "prismatic"):
                raise SceneError("mimic joins joints of one axis", element=element, value=name)
        if mimic.joint == mimic.source:
            raise SceneError("a joint can't mimic itself", element=element, value=mimic.source)
        if mimic.joint in self.mimics:
            raise SceneError("the joint mimics another one already", element=element,
                             value=self.mimics[mimic.joint].source)
        refuse_mimic_circle(self.mimics | {mimic.joint: mimic}, mimic.joint)
        self.mimics[mimic.joint] = mimic
        return mimic

    add_force_sensor, add_imu = SensorMounts.add_force_sensor, SensorMounts.add_imu  # their calls checked as the others

    add_sensor = StateSensors.add_sensor
    add_frame, add_camera = NamedPlaces.add_frame, NamedPlaces.add_camera

    # ---- materials and filters -----------------------------------------------------------------------------------

    def friction(self, a: str, b: str, *, static: float, kinetic: float | None = None,
                 restitution: float | None = None, stiffness: float | None = None, damping: float | None = None,
                 torsional: float | None = None, rolling: float | None = None) -> None:
        """Set the coefficients of one pair of bodies, in place of what their materials combine to.

        stiffness (N/m), damping (N s/m): for the compliant methods. torsional, rolling: friction against turning (m).
        What is not given of these and of restitution stays as the materials say.
        """
        pair = self._pair(a, b)
        usual = self.combined_material(a, b)
        self.pair_friction[pair] = Material(
            static, kinetic, usual.restitution if restitution is None else restitution, stiffness, damping,
            name=f"{a} on {b}",
            torsional_friction=usual.torsional_friction if torsional is None else torsional,
            rolling_friction=usual.rolling_friction if rolling is None else rolling)
        for one, other in self.geometry_pairs:  # what a file said of single geometries is overruled
            if {one[0], other[0]} == {a, b}:
                self.geometry_pairs[one, other] = self.pair_friction[pair]

    def combined_material(self, a: str, b: str) -> Material:
        """What two bodies' (first) materials combine to, see `combine_materials`."""
        first, second = self._first_material(a), self._first_material(b)
        return combine_materials(first, second)

    def _first_material(self, name: str) -> Material:
        for geometry in self._body(name, "friction pair").geometries:
            if geometry.collides:
                return geometry.material or self.material
        return self.material

    def add_geometry_pair(self, a: str, geometry_a: int | str, b: str, geometry_b: int | str,
                          material: Material | None = None) -> None:
        """Let two geometries touch, whatever groups, adjacency and filters of their bodies say (MJCF's <pair>).

        A geometry is named by its number on its body, or by its name. material: the coefficients of just this pair;
        None: what their materials combine to.
        """
        element = f"geometry pair of {a!r} and {b!r}"
        ends = sorted(((a, self._geometry(a, geometry_a, element)), (b, self._geometry(b, geometry_b, element))))
        if a == b:
            raise SceneError("a geometry pair joins two different bodies", element=element, value=a)
        if material is not None:
            check.kind(material, Material, "material", element, "a Material(static_friction=...)")
        self.geometry_pairs[ends[0], ends[1]] = material

    def _geometry(self, name: str, geometry: int | str, element: str) -> int:
        """Number of a geometry on its body, by number or name."""
        geometries = self._body(name, element).geometries
        known = [i for i, item in enumerate(geometries) if item.collides and geometry in (i, item.name)]
        if not known or isinstance(geometry, bool):
            listed = _listed(item.name or i for i, item in enumerate(geometries) if item.collides)
            raise SceneError(f"body {name!r} has no such colliding geometry", element=element, value=geometry,
                             remedy=f"geometries: {listed}")
        return known[0]

    def exclude_collision(self, a: str, b: str) -> None:
        """Bodies a and b never touch."""
        pair = self._pair(a, b)
        self.excluded_pairs.add(pair)
        self.forced_pairs.discard(pair)

    def include_collision(self, a: str, b: str) -> None:
        """Bodies a and b may touch, whatever groups, adjacency and self-collision say."""
        pair = self._pair(a, b)
        self.forced_pairs.add(pair)
        self.excluded_pairs.discard(pair)

    def self_collision(self, robot: str | Robot, on: bool = True) -> None:
        """Let the links of a robot touch each other (adjacent links never do). Off by default."""
        name = robot.name if isinstance(robot, Robot) else robot
        if name not in self.robots:
            raise unknown("robot", name, self.robots)
        (self.self_colliding.add if check.flag(on, "on", f"robot {name!r}") else self.self_colliding.discard)(name)

    # ---- robots --------------------------------------------------------------------------------------------------

    def load(self, path: str | Path, *, position: Any = None, rotation: Any = None, fixed_base: bool | None = None,
             name: str | None = None, pose: str | None = None,
             package_paths: str | Path | Iterable[str | Path] = (), repair_inertia: bool = False) -> Robot:
        """Load a robot file: URDF, MJCF, USD, Choreonoid's .body, or "robot_descriptions:NAME".

        `name` becomes a prefix of all its names ("left/knee"): needed to load it twice.

        The base is free unless `fixed_base` (URDF) or the file itself fixes it (MJCF without a free joint); `position`
        and `rotation` place it. `pose`: start in that keyframe of the file (MJCF), with its velocities and commands;
        where it states no commands, position servos are aimed at it.
        `repair_inertia`: replace inertias that no body can have by the nearest possible ones, instead of an error.
        What the file uses and sesshoku does not (and what was repaired) is told in one warning, what changes the
        motion first; `unsupported` lists it all.
        """
        from sesshoku.scene.io.spec import load_robot

        path = check.path(path, "load")
        with in_file(path):
            check.flag(repair_inertia, "repair_inertia", "load")
            check.text(pose, "pose", "load")
            description = load_robot(path, package_paths=package_paths, repair_inertia=repair_inertia)
            if pose is not None:
                description = in_pose(description, pose)
            robot = self.add_robot(description, position=position, rotation=rotation, fixed_base=fixed_base, name=name)
        if description.unsupported:
            items = [item if isinstance(item, Item) else Item(item) for item in description.unsupported]
            self.unsupported += [item.within(Path(path).name) for item in items]
            listed = "\n  - ".join(summary(items))
            warnings.warn(f"{path}: not supported, left out or changed:\n  - {listed}", UnsupportedFeature,
                          stacklevel=3)  # this, the check of the call, the caller
        return robot

    def add_robot(self, description: RobotDescription, *, position: Any = None, rotation: Any = None,
                  fixed_base: bool | None = None, name: str | None = None) -> Robot:
        """Place a robot description; all or nothing: on an error the scene is as before."""
        kept = {key: copy(getattr(self, key))
                for key in ("bodies", "_joint_owner", "actuators", "tendons", "loops", "mimics", "sensors",
                            "state_sensors", "frames", "cameras", "robots")}
        others = {key: type(getattr(self, key))(getattr(self, key))
                  for key in ("excluded_pairs", "forced_pairs", "geometry_pairs", "notes")}
        try:
            return self._place(description, position, rotation, fixed_base, name)
        except SceneError:
            for key, value in {**kept, **others}.items():
                setattr(self, key, value)
            raise

    def _place(self, description: RobotDescription, position: Any, rotation: Any, fixed_base: bool | None,
               name: str | None) -> Robot:
        robot_name = description.name if name is None else check.name(name, "name of a robot", "load")
        if fixed_base is not None:
            check.flag(fixed_base, "fixed_base", f"robot {robot_name!r}")
        if robot_name in self.robots:
            raise SceneError("the name is taken already", element=f"robot {robot_name!r}", remedy="load it with name=")
        prefix = f"{name}/" if name else ""
        for body in description.bodies:
            body = replace(body, name=prefix + body.name, robot=robot_name,
                           parent=None if body.parent is None else prefix + body.parent,
                           joint=replace(body.joint, name=prefix + (body.joint.name or body.name)))
            if body.parent is None:
                floats = description.floats if fixed_base is None else not fixed_base
                body = self._place_root(body, position, rotation, fixed_base, floats)
            self._insert(body)
        bodies = [prefix + body.name for body in description.bodies]
        joints = [self.bodies[body].joint.name for body in bodies if self.bodies[body].joint.kind != "fixed"]
        for tendon in description.tendons:
            self._insert_tendon(replace(tendon, name=prefix + tendon.name,
                                        joints={prefix + joint: arm for joint, arm in tendon.joints.items()}))
        for actuator in description.actuators:
            named = {key: prefix + getattr(actuator, key) for key in ("name", "joint", "tendon", "body", "base")
                     if getattr(actuator, key) is not None}
            self._insert_actuator(replace(actuator, **named))
        for loop in description.loops:
            self._insert_loop(replace(loop, name=prefix + loop.name, body_a=prefix + loop.body_a,
                                      body_b=None if loop.body_b is None else prefix + loop.body_b))
        for mimic in description.mimics:
            self._insert_mimic(replace(mimic, joint=prefix + mimic.joint, source=prefix + mimic.source))
        for sensor in description.sensors:
            self._insert_sensor(replace(sensor, name=prefix + sensor.name, body=prefix + sensor.body))
        self._insert_places(description, prefix, position, rotation)
        for a, b in description.excluded_pairs:
            self.exclude_collision(prefix + a, prefix + b)
        for a, b in description.forced_pairs:
            self.include_collision(prefix + a, prefix + b)
        for ((a, i), (b, j)), material in description.geometry_pairs.items():
            self.add_geometry_pair(prefix + a, i, prefix + b, j, material)
        if description.gravity is not None and self._gravity is None:
            self._gravity = check.vector(description.gravity, "gravity", f"robot {robot_name!r}")
            unsaid = "" if description.gravity_stated else ", MuJoCo's default: the file states none"
            self.notes.append(f"gravity {self._gravity.tolist()} taken from {robot_name}{unsaid}")
        if description.time_step is not None and self.time_step is None:
            self.time_step = description.time_step
            unsaid = "" if description.time_step_stated else ", MuJoCo's default: the file states none"
            self.notes.append(f"time step {self.time_step:g} s taken from {robot_name} where none is given{unsaid}")
        poses = {pose: self._placed_pose(description, pose, prefix, position, rotation, fixed_base)
                 for pose in description.poses}
        robot = Robot(robot_name, bodies, [joint for joint in joints if joint is not None],
                      [prefix + actuator.name for actuator in description.actuators],
                      [prefix + sensor.name for sensor in (*description.sensors, *description.state_sensors)], poses)
        self.robots[robot_name] = robot
        return robot

    def _placed_pose(self, description: RobotDescription, pose: str, prefix: str, position: Any, rotation: Any,
                     fixed_base: bool | None) -> RobotPose:
        """A named pose of a robot where it was placed: what the scene would start with, had it been loaded so."""
        wanted, found = in_pose(description, pose), RobotPose()
        for body in wanted.bodies:
            placed = self.bodies[prefix + body.name]
            name = str(placed.joint.name)
            if placed.joint.kind == "free":
                root = self._place_root(body, position, rotation, fixed_base, True)
                found.positions[name] = np.concatenate([root.position, root.rotation])
                found.velocities[name] = np.concatenate([root.velocity, root.angular_velocity])
            elif placed.joint.kind != "fixed" and body.joint.kind == placed.joint.kind:
                found.positions[name], found.velocities[name] = body.joint.position, body.joint.velocity
        for actuator in wanted.actuators:
            found.commands[prefix + actuator.name] = (actuator.target, actuator.target_velocity, actuator.feed_forward)
        return found

    def _insert_places(self, description: RobotDescription, prefix: str, position: Any, rotation: Any) -> None:
        """The description's frames, cameras and state sensors; those of its world placed as its fixed bodies are."""
        element = f"robot {description.name!r}"
        turn = np.array([1.0, 0, 0, 0]) if rotation is None else check.quaternion(rotation, "rotation", element)
        shift = np.zeros(3) if position is None else check.vector(position, "position", element)

        def placed(place: Any, body: str, before: str = "") -> Any:
            """The place with its body's new name; in no body, moved with the file's world."""
            if getattr(place, body) is not None:
                return replace(place, **{body: prefix + getattr(place, body)})
            at, turned = (getattr(place, before + key) for key in ("position", "rotation"))
            return replace(place, **{before + "position": shift + quaternion_to_matrix(turn) @ at,
                                     before + "rotation": multiply(turn, turned)})

        for frame in description.frames:
            self._insert_place(placed(replace(frame, name=prefix + frame.name), "body"), self.frames, "frame")
        for camera in description.cameras:
            target = None if camera.target is None else prefix + camera.target
            camera = placed(replace(camera, name=prefix + camera.name, target=target), "body")
            self._insert_place(camera, self.cameras, "camera")
        for state in description.state_sensors:
            of = None if state.of is None else prefix + state.of
            state = placed(replace(state, name=prefix + state.name, of=of), "body")
            self._insert_state_sensor(placed(state, "reference", "reference_"))

    def _place_root(self, body: Body, position: Any, rotation: Any, fixed_base: bool | None, floats: bool) -> Body:
        """Give a robot's root its joint and its pose: the placement in front of the file's own pose."""
        kind = body.joint.kind
        if fixed_base is True and kind == "free":
            kind = "fixed"
        elif floats and kind == "fixed":
            kind = "free"
        element = f"body {body.name!r}"
        turn = np.array([1.0, 0, 0, 0]) if rotation is None else check.quaternion(rotation, "rotation", element)
        shift = np.zeros(3) if position is None else check.vector(position, "position", element)
        joint = body.joint if kind == body.joint.kind else Joint(kind, name=body.joint.name)
        moving = kind == "free" or body.kinematic  # the velocities of a pose turn with the placement
        speed, spin = (quaternion_to_matrix(turn) @ vector if moving else np.zeros(3)
                       for vector in (body.velocity, body.angular_velocity))
        body = replace(body, velocity=speed, angular_velocity=spin)
        if kind == "free" and position is not None:  # a free base stands where the user says, not where it was drawn
            return replace(body, joint=joint, position=shift, rotation=multiply(turn, body.rotation))
        return replace(body, joint=joint, position=shift + quaternion_to_matrix(turn) @ body.position,
                       rotation=multiply(turn, body.rotation))

    # ---- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the scene as TOML, so that `Scene.read` and `sesshoku run` rebuild it."""
        from sesshoku.scene.io.toml.read import write_scene

        write_scene(self, check.path(path, "save"))

    @classmethod
    def read(cls, path: str | Path) -> Scene:
        """Read a scene from a TOML file; a robot file makes a scene of that robot alone."""
        from sesshoku.scene.io.toml.read import read_scene

        return read_scene(check.path(path, "Scene.read"))

    def to_mjcf(self) -> str:
        """The scene as MJCF, with what MJCF cannot say listed in a comment and in one warning."""
        from sesshoku.scene.io.mjcf.write import scene_to_mjcf

        return scene_to_mjcf(self)

    # ---- helpers -------------------------------------------------------------------------------------------------

    def _body(self, name: str, element: str) -> Body:
        if name not in self.bodies:
            raise SceneError("no such body", element=element, value=name, remedy=f"bodies: {_listed(self.bodies)}")
        return self.bodies[name]

    def _pair(self, a: str, b: str) -> tuple[str, str]:
        self._body(a, "pair")
        self._body(b, "pair")
        return (a, b) if a <= b else (b, a)

    def __repr__(self) -> str:
        return f"Scene({self.name!r}, {len(self.bodies)} bodies, {len(self.robots)} robots)"


def in_pose(description: RobotDescription, pose: str) -> RobotDescription:
    """The description with its joints, free bodies and actuators' commands in one of its named poses."""
    if pose not in description.poses:
        raise SceneError("no such pose", element=f"robot {description.name!r}", value=pose,
                         remedy=f"poses: {_listed(description.poses)}")
    wanted, moving = description.poses[pose], description.pose_velocities.get(pose, {})
    bodies = []
    for body in description.bodies:
        name = str(body.joint.name)
        value, velocity = wanted.get(body.name if body.kinematic else name), moving.get(name)
        free = body.joint.kind == "free"
        if value is not None and (free or body.kinematic):
            body = replace(body, position=value[:3], rotation=value[3:])
        elif value is not None:
            body = replace(body, joint=replace(body.joint, position=value))
        if velocity is not None and free:
            body = replace(body, velocity=velocity[:3], angular_velocity=velocity[3:])
        elif velocity is not None:
            body = replace(body, joint=replace(body.joint, velocity=velocity))
        bodies.append(body)
    commands = description.pose_commands.get(pose)
    lengths = {tendon.name: sum(arm * float(wanted.get(joint, 0.0)) for joint, arm in tendon.joints.items())
               for tendon in description.tendons}
    activations = description.pose_activations.get(pose, {})
    actuators = [replace(_commanded(actuator, wanted, lengths, commands),
                         activation=activations.get(actuator.name, actuator.activation))
                 for actuator in description.actuators]
    return replace(description, bodies=bodies, actuators=actuators)


def _commanded(actuator: Actuator, joints: Mapping[str, Any], lengths: Mapping[str, float],
               commands: Mapping[str, float] | None) -> Actuator:
    """The actuator with a pose's command; where the pose has none, a servo holds its joint or tendon in the pose."""
    if commands is not None:
        return with_control(actuator, commands[actuator.name]) if actuator.name in commands else actuator
    length = joints.get(actuator.joint) if actuator.joint is not None else lengths.get(str(actuator.tendon))
    control = None if length is None else holding_control(actuator, float(length))
    return actuator if control is None else with_control(actuator, control)


BODY_OPTIONS = {"parent", "joint", "position", "rotation", "velocity", "angular_velocity", "fixed", "kinematic",
                "motion", "robot", "category", "mask", "gravity_compensation"}


def _listed(names: Iterable[Any], most: int = 12) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "") or "none"


def _points(given: Any, scale: Any, element: str,
            faces: Any = None) -> tuple[np.ndarray, np.ndarray | None, str | None]:
    """Vertices, faces and source of a mesh argument: a path, or an array of vertices (with faces)."""
    factors = check.scale(scale, element)
    if isinstance(given, (str, Path)):
        vertices, triangles = mesh.read(given, scale=factors)
        return vertices, triangles, str(given)
    vertices, triangles = check_arrays(given, np.zeros((0, 3), int) if faces is None else faces, element)
    return vertices * np.array(factors), None if faces is None else triangles, None


def refuse_mimic_circle(mimics: Mapping[str, Mimic], start: str) -> None:
    """SceneError if a joint comes back to itself along what it follows."""
    seen, at = [start], mimics[start].source
    while at in mimics and at not in seen:
        seen.append(at)
        at = mimics[at].source
    if at == start:
        raise SceneError("mimic joints follow each other in a circle", element=f"mimic of joint {start!r}",
                         value=" -> ".join([*seen, start]), remedy="let one of them move by itself")


__all__ = ["Motion", "Robot", "RobotPose", "Scene", "combine_materials"]
