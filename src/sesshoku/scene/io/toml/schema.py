"""The tables and keys of a scene file, as pydantic models. The descriptions serve errors and the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag
from pydantic.fields import FieldInfo

Number = float
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Limit = Annotated[float, Field(allow_inf_nan=True)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Quaternion = Annotated[list[Number], Field(min_length=4, max_length=4)]
Triangle = Annotated[list[int], Field(min_length=3, max_length=3)]
Size = Annotated[list[Number], Field(min_length=2, max_length=3)]
Lengths = Annotated[list[Number], Field(min_length=2, max_length=2)]
Heights = list[list[Number]]
Pair = Annotated[list[str], Field(min_length=2, max_length=2)]
Bits = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]


def _is_list(value: Any) -> str:
    return "list" if isinstance(value, list) else "single"


def _is_nested(value: Any) -> str:
    return "rows" if isinstance(value, list) and value and isinstance(value[0], list) else "diagonal"


def _is_table(value: Any) -> str:
    return "table" if isinstance(value, dict) else "name"


# choosing by the value's type keeps pydantic from reporting every branch of a union
Range = Annotated[list[Limit], Field(min_length=2, max_length=2)]
Scale = Annotated[Annotated[Number, Tag("single")] | Annotated[Vector, Tag("list")], Discriminator(_is_list)]
Coordinates = Annotated[Annotated[Number, Tag("single")] | Annotated[list[Number], Tag("list")],
                        Discriminator(_is_list)]
Inertia = Annotated[
    Annotated[Vector, Tag("diagonal")] | Annotated[Annotated[list[Vector], Field(min_length=3, max_length=3)],
                                                   Tag("rows")],
    Discriminator(_is_nested)]


class Table(BaseModel):
    """A TOML table: unknown keys, wrong types, NaN and infinity are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class MaterialTable(Table):
    static_friction: NotNegative = Field(0.5, description="coefficient of static friction, 0 or more")
    kinetic_friction: NotNegative | None = Field(
        None, description="coefficient while sliding, at most the static one (default: the same)")
    restitution: Annotated[float, Field(ge=0, le=1)] = Field(0.0, description="0 (no bounce) to 1")
    torsional_friction: NotNegative = Field(
        0.0, description="m: torque against turning about the normal per normal force; method `exact` knows it")
    rolling_friction: NotNegative = Field(0.0, description="m: torque against rolling per normal force, likewise")
    combine: Literal["mean", "maximum"] = Field(
        "mean", description="how friction combines with another material's: geometric mean, or the larger one if "
                            "either of the two says so (MJCF files do)")
    priority: int = Field(0, description="the material of higher priority decides all friction of a pair alone")
    condim: Literal[1, 3, 4, 6] | None = Field(
        None, description="in how many directions friction acts: 1 none, 3 sliding, 4 torsional too, 6 rolling too "
                          "(default: as the coefficients say); of two materials the larger")
    stiffness: NotNegative | None = Field(None, description="N/m, for the compliant methods")
    damping: NotNegative | None = Field(None, description="N s/m, for the compliant methods")
    name: str | None = Field(None, description="name; in `[materials.NAME]` the key is the name")


MaterialChoice = Annotated[Annotated[str, Tag("name")] | Annotated[MaterialTable, Tag("table")],
                           Discriminator(_is_table)]


class Turned(Table):
    rotation: Quaternion | None = Field(None, description="unit quaternion [w, x, y, z]")
    roll_pitch_yaw: Vector | None = Field(None, description="instead of rotation: turns about fixed x, y, z, in rad")


class JointTable(Table):
    kind: Literal["free", "revolute", "continuous", "prismatic", "spherical", "planar", "fixed"] = Field(
        description="free, revolute, continuous, prismatic, spherical, planar or fixed")
    name: str | None = Field(None, description="name of the joint (default: the body's)")
    axis: Vector = Field([0.0, 0.0, 1.0], description="direction of the axis in the body's frame, of any length")
    anchor: Vector = Field([0.0, 0.0, 0.0], description="a point of the axis in the body's frame, m")
    lower: Limit = Field(float("-inf"), description="lower limit, rad or m (revolute, prismatic)")
    upper: Limit = Field(float("inf"), description="upper limit, rad or m (revolute, prismatic)")
    effort: Limit = Field(float("inf"), description="largest sum of actuator forces, N m or N")
    effort_range: Range | None = Field(None, description="[least, largest] sum of actuator forces, where they differ")
    velocity_limit: Limit = Field(float("inf"), description="rad/s or m/s, for information")
    viscous: NotNegative = Field(0.0, description="viscous friction, N m s/rad or N s/m")
    static_friction: NotNegative = Field(0.0, description="Coulomb friction at rest, N m or N")
    kinetic_friction: NotNegative | None = Field(
        None, description="Coulomb friction in motion, at most the static one (default: the same)")
    stiffness: NotNegative = Field(0.0, description="spring to `rest`, N m/rad or N/m")
    rest: Number = Field(0.0, description="where the spring is relaxed, rad or m")
    implicit: bool = Field(True, description="integrate spring and viscous friction implicitly where the scheme can")
    armature: NotNegative = Field(0.0, description="reflected rotor inertia, kg m^2 or kg")
    position: Coordinates | None = Field(
        None, description="start: a number; spherical [w, x, y, z]; planar [x, y, angle]")
    velocity: Coordinates | None = Field(None, description="start velocity: a number, or 3 (spherical, planar)")
    actuator_compensation: bool = Field(
        False, description="true: its actuators bear the gravity compensation of what it carries, within its effort")


class MotionTable(Table):
    times: list[Number] = Field(description="increasing times, s")
    positions: list[Vector] = Field(description="one [x, y, z] per time, m")
    rotations: list[Quaternion] | None = Field(None, description="one [w, x, y, z] per time (default: no turn)")


class ShapeTable(Turned):
    """What says a shape; which keys belong to which shape is checked when the shape is made."""

    size: Size | None = Field(None, description="box: edge lengths [x, y, z], m; height field: [x, y]")
    radii: Vector | None = Field(None, description="ellipsoid: half axes [x, y, z], m")
    heights: Heights | None = Field(None, description="height field: rows along y, numbers along x, m")
    base: Number | None = Field(
        None, description="height field: the ground reaches down to z = -base (default: a metre below), m")
    radius: Positive | None = Field(None, description="sphere, capsule, cylinder: m")
    length: Positive | None = Field(None, description="capsule (between the half spheres), cylinder: along z, m")
    file: str | None = Field(
        None, description="convex, mesh: mesh file, relative to the scene file; height field: .npy or .csv")
    scale: Scale = Field(1.0, description="convex, mesh: one factor or [x, y, z]")
    vertices: list[Vector] | None = Field(
        None, description="convex, mesh: points [[x, y, z], ...] instead of a file, m")
    faces: list[Triangle] | None = Field(None, description="mesh: triangles of vertex numbers from 0, with `vertices`")
    pieces: list[list[Vector]] | None = Field(
        None, description="mesh: points of its convex pieces (default: found by decomposition)")
    repairs: list[str] | None = Field(None, description="mesh: what was mended to close it, in words (written by save)")


class GeometryTable(ShapeTable):
    shape: Literal["plane", "box", "sphere", "ellipsoid", "capsule", "cylinder", "convex", "mesh",
                   "height_field"] = Field(
        description="plane, box, sphere, ellipsoid, capsule, cylinder, convex, mesh or height_field")
    position: Vector = Field([0.0, 0.0, 0.0], description="in the body's frame, m")
    material: MaterialChoice | None = Field(None, description="name of a material, or a table of its values")
    name: str | None = Field(None, description="name of the geometry")
    category: Bits = Field(1, description="bit field of the groups it belongs to")
    mask: Bits = Field(0xFFFF, description="bit field of the groups it may touch")
    collides: bool = Field(True, description="false: visual only")
    visible: bool = Field(True, description="false: collision only")
    color: Quaternion | None = Field(None, description="[red, green, blue, alpha], 0 to 1")


class BodyKeys(Turned):
    name: str = Field(description="name of the body, its own in the scene")
    parent: str | None = Field(None, description="name of the body it hangs on (default: the world)")
    position: Vector = Field([0.0, 0.0, 0.0], description="in the parent's frame at zero joint position, m")
    velocity: Vector = Field([0.0, 0.0, 0.0], description="start velocity, world axes, m/s (free and kinematic bodies)")
    angular_velocity: Vector = Field([0.0, 0.0, 0.0], description="world axes, rad/s (free and kinematic bodies)")
    fixed: bool = Field(False, description="true: fixed to the world or the parent")
    kinematic: bool = Field(False, description="true: follows its motion or velocity, feels no force")
    robot: str | None = Field(None, description="name of the robot it belongs to")
    gravity_compensation: Number = Field(0.0, description="share of its weight that a force at its centre bears")
    mass: NotNegative | None = Field(None, description="kg")
    density: Positive | None = Field(None, description="kg/m^3, instead of mass")
    joint: JointTable | None = Field(None, description="table: how it moves (default: free; fixed with a parent)")
    motion: MotionTable | None = Field(None, description="table: path of a kinematic body")


class BodyTable(BodyKeys):
    center: Vector | None = Field(None, description="centre of mass in the body's frame, m (with inertia)")
    inertia: Inertia | None = Field(
        None, description="about the centre of mass: [xx, yy, zz] or 3 rows, kg m^2 (default: from the geometries)")
    inertia_axes: Quaternion | None = Field(
        None, description="principal axes where moments are equal, [w, x, y, z]: along them drag is counted")
    geometry: list[GeometryTable] = Field([], description="tables `[[body.geometry]]`")


class ShapedBody(BodyKeys):
    material: MaterialChoice | None = Field(None, description="name of a material, or a table of its values")
    color: Quaternion | None = Field(None, description="[red, green, blue, alpha], 0 to 1")


class BoxTable(ShapedBody):
    size: Vector = Field(description="edge lengths [x, y, z], m")


class SphereTable(ShapedBody):
    radius: Positive = Field(description="m")


class EllipsoidTable(ShapedBody):
    radii: Vector = Field(description="half axes [x, y, z], m")


class HeightFieldTable(ShapedBody):
    size: Lengths = Field(description="lengths of the rectangle around the origin [x, y], m")
    heights: Heights | None = Field(None, description="elevations: rows along y, numbers along x, both ascending, m")
    file: str | None = Field(
        None, description="the same in a file, .npy or lines of numbers, relative to the scene file")
    base: Number | None = Field(None, description="the ground reaches down to z = -base (default: a metre below), m")


class RoundTable(ShapedBody):
    radius: Positive = Field(description="m")
    length: Positive = Field(description="along z, m (a capsule's: between its half spheres)")


class HullTable(ShapedBody):
    file: str | None = Field(None, description="mesh file, relative to the scene file")
    scale: Scale = Field(1.0, description="one factor or [x, y, z]")
    vertices: list[Vector] | None = Field(None, description="points [[x, y, z], ...] instead of a file, m")


class MeshTable(HullTable):
    faces: list[Triangle] | None = Field(None, description="triangles of vertex numbers from 0, with `vertices`")
    pieces: list[list[Vector]] | None = Field(
        None, description="points of its convex pieces (default: found by decomposition)")
    repairs: list[str] | None = Field(None, description="what was mended to close it, in words (written by save)")


class GroundTable(Turned):
    name: str = Field("ground", description="name of the body")
    height: Number = Field(0.0, description="z of the surface, m")
    material: MaterialChoice | None = Field(None, description="name of a material, or a table of its values")


class PoseTable(Table):
    positions: dict[str, Coordinates] = Field({}, description="joint -> position; of a free joint that of its body")
    velocities: dict[str, Coordinates] = Field({}, description="joint -> velocity")
    commands: dict[str, Vector] = Field(
        {}, description="actuator -> target, target velocity and feed-forward")


class RobotTable(Turned):
    file: str | None = Field(None, description="URDF, MJCF, USD or .body file, relative to the scene file")
    name: str | None = Field(
        None, description="prefix of all its names (\"left/knee\"); without a file: what its bodies call `robot`")
    position: Vector | None = Field(None, description="where its base stands, m")
    velocity: Vector | None = Field(None, description="of a free base, world axes, m/s")
    angular_velocity: Vector | None = Field(None, description="of a free base, world axes, rad/s")
    fixed_base: bool | None = Field(
        None, description="true fixes the base to the world, false frees it (default: as the file says)")
    package_paths: list[str] = Field(
        [], description="folders where package:// is looked for, relative to the scene file")
    pose: str | None = Field(
        None, description="start in this keyframe of the file (MJCF), with its commands; without any, "
                          "servos aimed at it")
    repair_inertia: bool = Field(
        False, description="replace inertias that no body can have by the nearest possible ones")
    joints: dict[str, Coordinates] = Field({}, description="start positions: { knee = 0.6 }, rad or m")
    targets: dict[str, Number] = Field({}, description="what its position servos hold: { knee = 0.6 }, rad or m")
    bodies: list[str] | None = Field(
        None, description="without a file: its bodies (default: those that say `robot = NAME`)")
    actuators: list[str] | None = Field(
        None, description="without a file: its actuators (default: those that drive its joints)")
    sensors: list[str] | None = Field(
        None, description="without a file: its sensors (default: those on its bodies)")
    poses: dict[str, PoseTable] = Field(
        {}, description="without a file: its named starts, { stand = { positions = { knee = 0.6 } } }")


class ActuatorTable(Turned):
    joint: str | None = Field(None, description="name of the joint it drives (revolute, continuous or prismatic)")
    tendon: str | None = Field(None, description="instead of joint: name of the tendon it pulls")
    body: str | None = Field(None, description="instead of joint: name of the body it pushes, as a thruster does")
    site: str | None = Field(None, description="instead of body and position: name of the frame where it pushes")
    name: str | None = Field(None, description="name of the actuator (default: that of what it drives)")
    kind: Literal["torque", "position", "velocity", "general"] = Field(
        "torque", description="torque, position, velocity or general")
    kp: NotNegative = Field(0.0, description="position gain, N m/rad or N/m")
    kd: NotNegative = Field(0.0, description="velocity gain, N m s/rad or N s/m")
    effort: Limit = Field(float("inf"), description="largest force, N m or N")
    force_range: Range | None = Field(None, description="[least, largest] force before the gear, where they differ")
    gear: Number = Field(1.0, description="multiplies the force (general: also the length)")
    implicit: bool = Field(True, description="integrate the servo implicitly where the scheme can")
    target: Number = Field(0.0, description="position to hold, rad or m; torque: the force; general: the command")
    target_velocity: Number = Field(0.0, description="velocity to hold, rad/s or m/s")
    feed_forward: Number = Field(0.0, description="force added, N m or N")
    command_range: Range | None = Field(None, description="[least, largest] target (velocity: target_velocity)")
    gain: Vector = Field([1.0, 0.0, 0.0], description="general: force per command, and what length and speed add to it")
    bias: Vector = Field([0.0, 0.0, 0.0], description="general: constant force, force per length, force per speed")
    dynamics: Literal["none", "integrator", "filter", "filterexact"] = Field(
        "none", description="general: how what acts follows the command")
    time_constant: Positive = Field(1.0, description="of a filter, s")
    activation: Number = Field(0.0, description="where integrator or filter start")
    activation_range: Range | None = Field(None, description="[least, largest] of what integrator or filter give")
    position: Vector = Field([0.0, 0.0, 0.0], description="body: where it pushes, in the body's frame, m")
    wrench: Annotated[list[Number], Field(min_length=6, max_length=6)] = Field(
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        description="body: force and torque per unit of its force, in axes turned by `rotation` against the body")
    base: str | None = Field(None, description="body: another body, in whose axes it pushes and that is pushed back")


class PathTable(Table):
    kind: Literal["site", "pulley", "sphere", "cylinder"] = Field(
        "site", description="site, pulley, or a shape it wraps round: sphere, cylinder")
    body: str | None = Field(None, description="body it moves with (default: the world)")
    position: Vector = Field([0.0, 0.0, 0.0], description="a site, or the centre of a shape, in that body's frame, m")
    rotation: Quaternion = Field([1.0, 0.0, 0.0, 0.0], description="of a cylinder, whose axis is z: [w, x, y, z]")
    radius: NotNegative = Field(0.0, description="of a sphere or cylinder, m")
    divisor: Positive = Field(1.0, description="of a pulley: lengths behind it count by 1 / divisor")
    side: Vector | None = Field(
        None, description="a point on the side of a shape on which it passes, m; within the shape: it is a ring")
    side_body: str | None = Field(None, description="body of that point (default: the world)")


class TendonTable(Table):
    name: str = Field(description="name of the tendon, its own in the scene")
    joints: dict[str, Number] = Field({}, description="its length is the sum of these times the joints' positions")
    path: list[Annotated[Annotated[str, Tag("name")] | Annotated[PathTable, Tag("table")],
                         Discriminator(_is_table)]] = Field(
        [], description="instead of joints: the places it runs through, names of frames or tables `[[tendon.path]]`")
    stiffness: NotNegative = Field(0.0, description="spring where the length leaves `rest`, N/m")
    rest: Coordinates = Field(0.0, description="a length, or [least, largest] length at which the spring is relaxed")
    viscous: NotNegative = Field(0.0, description="resists its rate, N s/m")
    lower: Limit = Field(float("-inf"), description="least length, m")
    upper: Limit = Field(float("inf"), description="largest length, m")
    friction: NotNegative = Field(0.0, description="dry friction against its rate, N")


class LoopTable(Table):
    kind: Literal["ball", "hinge", "weld"] = Field(description="ball, hinge or weld")
    body_a: str = Field(description="name of the first body")
    body_b: str | None = Field(None, description="name of the second body (default: the world)")
    name: str | None = Field(None, description="name of the loop (default: made of kind and bodies)")
    position: Vector = Field([0.0, 0.0, 0.0], description="anchor point in body_a's frame, m")
    axis: Vector = Field([0.0, 0.0, 1.0], description="hinge: its axis in body_a's frame")
    position_b: Vector | None = Field(
        None, description="anchor point in body_b's frame, m (default: as the bodies start)")
    rotation_b: Quaternion | None = Field(
        None, description="body_a's orientation seen from body_b (default: as the bodies start)")
    correction: Annotated[float, Field(ge=0, le=1)] = Field(
        1.0, description="share of the error removed per step, 0 to 1, by moving bodies; no faster than 10 m/s")


class MimicTable(Table):
    joint: str = Field(description="name of the joint that follows")
    source: str = Field(description="name of the joint that leads")
    ratio: Number = Field(1.0, description="q = ratio * q_source + offset")
    offset: Number = Field(0.0, description="rad or m")


class SensorKeys(Turned):
    name: str = Field(description="name of the sensor, its own in the scene")
    seed: Annotated[int, Field(ge=0)] = Field(0, description="of the noise; the same seed gives the same noise")


class ForceSensorTable(SensorKeys):
    body: str | None = Field(None, description="body whose parent's wrench on it is measured")
    joint: str | None = Field(None, description="instead of body: the joint that body moves by")
    position: Vector | None = Field(None, description="in the body's frame, m (default: the joint's anchor)")
    force_noise: NotNegative = Field(0.0, description="standard deviation of white noise, N")
    torque_noise: NotNegative = Field(0.0, description="N m")
    force_bias: Vector = Field([0.0, 0.0, 0.0], description="added to the force, N")
    torque_bias: Vector = Field([0.0, 0.0, 0.0], description="added to the torque, N m")


class ImuTable(SensorKeys):
    body: str = Field(description="body it is mounted on")
    position: Vector = Field([0.0, 0.0, 0.0], description="in the body's frame, m")
    acceleration_noise: NotNegative = Field(0.0, description="standard deviation of white noise, m/s^2")
    gyro_noise: NotNegative = Field(0.0, description="rad/s")
    acceleration_bias: Vector = Field([0.0, 0.0, 0.0], description="added to the acceleration, m/s^2")
    gyro_bias: Vector = Field([0.0, 0.0, 0.0], description="added to the angular velocity, rad/s")


class StateSensorTable(Turned):
    name: str = Field(description="name of the sensor, its own in the scene")
    kind: str = Field(description="what it reads, by MJCF's words: jointpos, framepos, subtreecom, touch, clock ...")
    of: str | None = Field(None, description="the joint, actuator or mounted sensor it reads")
    body: str | None = Field(None, description="the body whose place or subtree it reads (default: the world)")
    position: Vector = Field([0.0, 0.0, 0.0], description="the place in the body's frame, m")
    relative: bool = Field(False, description="read in the frame of a reference")
    reference: str | None = Field(None, description="the reference's body (default: the world)")
    reference_position: Vector = Field([0.0, 0.0, 0.0], description="the reference in its body's frame, m")
    reference_rotation: Quaternion = Field(
        [1.0, 0.0, 0.0, 0.0], description="its orientation there, unit quaternion [w, x, y, z]")
    zone: Literal["sphere", "capsule", "ellipsoid", "cylinder", "box"] | None = Field(
        None, description="touch, insidesite: the zone's shape")
    zone_size: Vector = Field(
        [0.005, 0.005, 0.005], description="its radius; radius and half length; half axes; half edges, m")
    scale: Number = Field(1.0, description="actuatorpos, actuatorvel, actuatorfrc: length per position of the joint")
    cutoff: NotNegative = Field(0.0, description="readings are clipped to it; 0: they are not")


class FrameTable(Turned):
    name: str = Field(description="name of the frame, its own in the scene")
    body: str | None = Field(None, description="body that carries it (default: the world)")
    position: Vector = Field([0.0, 0.0, 0.0], description="in the body's frame, m")


class CameraTable(Turned):
    name: str = Field(description="name of the camera, its own in the scene")
    body: str | None = Field(None, description="body that carries it (default: the world)")
    position: Vector = Field([0.0, 0.0, 0.0], description="in the body's frame, m")
    mode: Literal["fixed", "track", "trackcom", "targetbody", "targetbodycom"] = Field(
        "fixed", description="fixed, track, trackcom, targetbody or targetbodycom, as in MJCF")
    target: str | None = Field(None, description="body that targetbody and targetbodycom look at")
    fovy: Positive = Field(0.7853981633974483, description="vertical field of view, rad (orthographic: height seen, m)")
    orthographic: bool = Field(False, description="parallel projection")
    resolution: Annotated[list[int], Field(min_length=2, max_length=2)] | None = Field(
        None, description="width and height, pixels")


class FrictionTable(Table):
    bodies: Pair = Field(description="names of the two bodies")
    static: NotNegative = Field(description="coefficient of static friction of the pair")
    kinetic: NotNegative | None = Field(
        None, description="coefficient while sliding, at most the static one (default: the same)")
    restitution: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="0 to 1 (default: what the materials say)")
    torsional: NotNegative | None = Field(None, description="torsional friction, m (default: what the materials say)")
    rolling: NotNegative | None = Field(None, description="rolling friction, m (default: what the materials say)")
    stiffness: NotNegative | None = Field(None, description="N/m, for the compliant methods")
    damping: NotNegative | None = Field(None, description="N s/m, for the compliant methods")
    name: str | None = Field(None, description="name of the pair (default: made of the bodies)")


class GeometryPairTable(Table):
    bodies: Pair = Field(description="names of the two bodies")
    geometries: Annotated[list[int | str], Field(min_length=2, max_length=2)] = Field(
        description="which geometry of each: its number on the body, from 0, or its name")
    material: MaterialChoice | None = Field(
        None, description="coefficients of just this pair (default: what their materials combine to)")


class CollisionTable(Table):
    exclude: list[Pair] = Field([], description="pairs of bodies that never touch: [[\"a\", \"b\"], ...]")
    include: list[Pair] = Field([], description="pairs that may touch whatever groups and adjacency say")
    self_: list[str] = Field([], alias="self", description="robots whose own links may touch each other")


class RunTable(Table):
    method: str = Field("exact", description="contact method: \"exact\" (default), \"lcp\", \"lcp:recommended\" ..., "
                                             "or \"none\": no contact")
    dt: Positive = Field(0.001, description="step, s")
    time: Positive = Field(1.0, description="how long to simulate, s")
    integrator: str | None = Field(None, description="integration scheme")
    record: str | None = Field(None, description="file for the recording, in the folder where it is run")
    plot: bool | None = Field(None, description="plot afterwards, into SCENE_plot.png where it is run")
    options: dict[str, Any] = Field({}, description="table: options of the method")


class FluidTable(Table):
    density: NotNegative = Field(0.0, description="kg/m^3: drag that grows with the square of speed")
    viscosity: NotNegative = Field(0.0, description="Pa s: drag that grows with speed")
    wind: Vector = Field([0.0, 0.0, 0.0], description="velocity of the fluid, world axes, m/s")


class SceneTable(Table):
    name: str | None = Field(None, description="name of the scene (default: the file's)")
    gravity: Vector | None = Field(
        None, description="m/s^2, world axes (default: [0, 0, -9.8], or what a robot file says; "
                          "MJCF that says nothing means -9.81)")
    time_step: Positive | None = Field(
        None, description="step used where none is given, s (default: 0.001, or what a robot file says; "
                          "MJCF that says nothing means 0.002)")
    fluid: FluidTable | None = Field(
        None, description="table: what all bodies move through (default: nothing, or what a robot file says)")
    material: MaterialChoice | None = Field(None, description="material of geometries that name none")
    notes: list[str] = Field([], description="where values came from, for information")
    unsupported: list[str] = Field([], description="what robot files used and the scene left out, for information")
    materials: dict[str, MaterialTable] = Field({}, description="tables `[materials.NAME]`")
    ground: GroundTable | None = Field(None, description="table: a half-space")
    box: list[BoxTable] = Field([], description="tables `[[box]]`")
    sphere: list[SphereTable] = Field([], description="tables `[[sphere]]`")
    ellipsoid: list[EllipsoidTable] = Field([], description="tables `[[ellipsoid]]`")
    capsule: list[RoundTable] = Field([], description="tables `[[capsule]]`")
    cylinder: list[RoundTable] = Field([], description="tables `[[cylinder]]`")
    convex: list[HullTable] = Field([], description="tables `[[convex]]`")
    mesh: list[MeshTable] = Field([], description="tables `[[mesh]]`")
    height_field: list[HeightFieldTable] = Field([], description="tables `[[height_field]]`: terrain")
    body: list[BodyTable] = Field([], description="tables `[[body]]`")
    robot: list[RobotTable] = Field([], description="tables `[[robot]]`")
    tendon: list[TendonTable] = Field([], description="tables `[[tendon]]`")
    actuator: list[ActuatorTable] = Field([], description="tables `[[actuator]]`")
    loop: list[LoopTable] = Field([], description="tables `[[loop]]`")
    mimic: list[MimicTable] = Field([], description="tables `[[mimic]]`")
    force_sensor: list[ForceSensorTable] = Field([], description="tables `[[force_sensor]]`")
    imu: list[ImuTable] = Field([], description="tables `[[imu]]`")
    sensor: list[StateSensorTable] = Field([], description="tables `[[sensor]]`: quantities of the state by name")
    frame: list[FrameTable] = Field([], description="tables `[[frame]]`: named places")
    camera: list[CameraTable] = Field([], description="tables `[[camera]]`: for renderers")
    friction: list[FrictionTable] = Field([], description="tables `[[friction]]`")
    geometry_pair: list[GeometryPairTable] = Field(
        [], description="tables `[[geometry_pair]]`: two geometries that may touch, whatever the filters say")
    collision: CollisionTable | None = Field(None, description="table: filters of pairs")
    run: RunTable | None = Field(None, description="table: how `sesshoku run` runs it")


def keys_of(table: type[Table]) -> dict[str, FieldInfo]:
    """The keys of a table as they are written in TOML."""
    return {field.alias or name: field for name, field in table.model_fields.items()}


def tables_in(annotation: Any) -> Iterator[type[Table]]:
    """The table classes inside an annotation such as `list[BoxTable] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Table):
        yield annotation
    for argument in get_args(annotation):
        yield from tables_in(argument)
