"""What `springs` keeps from step to step: bodies in maximal coordinates, the joints' springs, contact springs."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import ANY, COUNTER, Record, array, scalar, viewer
from sesshoku.methods.springs.options import Options
from sesshoku.model.arrays import BALL, FREE, HINGE, KINEMATIC, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL, Model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Plane, Sphere

BIG_TURN = 0.02  # rad per step: beyond it the gyroscopic torque is the mean over the step
LENT = 0.05  # of the next link's mass and inertia: to a link that has none
JOINT_SHARE = 0.5  # of the stiffness a step allows a body: its joints' springs, the rest is left for contacts
# what a joint's spring does: on the axis, beside it, a limit's stop
AXIS, TORQUE, STOP = range(3)
# which directions a damper may act in: all, across the normal, along it
ALL, ACROSS_NORMAL, ALONG_NORMAL = range(3)
MOVING, AT_LIMIT, AT_REST = range(3)  # of a joint's dof


class Bodies(Record):
    """L links, B = L + 1 bodies, Q coordinates, V dofs."""

    # ---- the state
    position = array(float, "B", 3, saved=True)  # centre of mass
    quaternion = array(float, "B", 4, saved=True, unit=True)
    velocity = array(float, "B", 6, saved=True)  # of the centre of mass, and angular
    # coordinates and velocities as read off the bodies; NaN before the first step
    seen_q = array(float, "Q", saved=True, finite=False)
    seen_v = array(float, "V", saved=True, finite=False)
    # ---- constants
    mass = array(float, "B")
    inverse_mass = array(float, "B")  # 0: no force moves it
    center = array(float, "B", 3)  # body frame's origin in the link frame
    own_inertia = array(float, "B", 6)  # xx yy zz xy xz yz, link axes, armature of its own joint included
    own_inverse = array(float, "B", 6)
    own_plain = array(float, "B", 6)  # without armature: a rotor behind a gear is no gyroscope of the link
    joint_springs = array(int, "B")  # number of joint springs that pull at it
    top = array(int, "B")  # the first of the moving bodies it hangs together with by joints and loops
    above = array(int, "B")  # its parent among them, -1: none
    group_mass = array(float, "B")  # of all of them
    # ---- of the present step
    rotation = array(float, "B", 3, 3, saved=True)
    inertia = array(float, "B", 6)  # world axes
    inverse_inertia = array(float, "B", 6)
    force = array(float, "B", 6)  # force and torque
    gyration = array(float, "B", 3)  # rad/s: change of spin in this step that is gyroscopic
    touch = array(float, "B", 6)  # force and torque of contacts and loops, what their limits gave last included
    outer = array(float, "B", 6)  # work
    base = array(float, "B", 6)  # force without the drives'
    block = array(float, "B", 6, 6)  # inertia with implicit joint springs, without drives (joint/coupling.py)
    cross = array(float, "B", 6, 6)  # of a body with its parent
    contact_springs = array(int, "B")  # number of contact springs that press on it
    step = array(float, 1)  # s: the whole step, by which springs of the rule are as stiff in all its parts
    parts = array(int, 1)  # into which the step was divided after its forces were known
    # ---- work
    frame = array(float, 4, 3)
    relative = array(float, 3, 3)
    row = array(float, 2, 6)
    ten = array(float, 10)
    momentum = array(float, 3)


class Joints(Record):
    """J joint springs, V dofs, L links, C loops, A actuators. Anchors stand in the spring set, at the same places."""

    spring_count = scalar()
    link_spring = array(int, "L", 2)  # range of a link's springs
    loop_spring = array(int, "C", 2)  # and of a loop's
    role = array(int, "J")  # AXIS, TORQUE or STOP
    sign = array(float, "J")  # which of a pair: +1 or -1
    side = array(int, "J")  # planar: 0 along x, 1 along y
    stiffness = array(float, "J")  # N/m, negative: by the rule
    damping = array(float, "J")  # N s/m, negative: by the rule
    load = array(float, "J")  # 1/kg: n x of the rule
    limit = array(float, "J")  # m
    damper = array(int, "J")  # directions of an isotropic damper
    tie = array(int, "J")  # of a loop's spring: the tie it is where joints are implicit, -1: none
    width = array(float, "L")  # m: half the axis, and the arm of the torque springs
    state = array(int, "V", saved=True, within=(MOVING, AT_REST))  # MOVING, AT_LIMIT or AT_REST
    hold = array(float, "V", saved=True)  # where it came to rest
    old_speed = array(float, "V", saved=True)
    released = array(int, "V")  # 1: friction let go within this step
    hardening = array(float, "L", saved=True)  # how much stiffer than by the rule friction holds it (`rest_damping`)
    torque = array(float, "V")  # actuators, springs, dampers, N m or N, of the last step
    friction = array(float, "V")  # kinetic friction of the last step
    report = array(float, 4, saved=True)  # joint gap, m
    # ---- work
    own_slope = array(float, "V")  # implicit_diagonal of joint springs and dampers alone
    wanted = array(float, "A")  # what an actuator asks for before its effort is heeded
    slope = array(float, "A")  # its share of implicit_diagonal
    total_slope = array(float, "V")  # of joint springs, dampers and servos that are not at their effort
    given = array(float, "V")  # their force before the acceleration is counted
    clipped = array(int, "A")  # 1: at its effort
    inertia = array(float, "V")  # what a dof turns at the start, kg m^2; infinite where it slides
    constant = array(float, "V")  # the part of `given` that is not implicit
    inert = array(float, "V")  # inertia lent to a dof that its constant torque would turn too far (joint/drives.py)
    reference = array(float, "V")  # acceleration at which that lent inertia takes nothing
    old_reference = array(float, "V")  # of the round before
    old_miss = array(float, "V")  # by how much it was missed then


as_bodies = viewer(Bodies)


def symmetric(six: np.ndarray) -> np.ndarray:
    xx, yy, zz, xy, xz, yz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def body_inertia(model: Model, i: int) -> np.ndarray:
    """Inertia (3, 3) of link i about its centre of mass, with the armature of its own joint about the joint's axis."""
    I, k = symmetric(model.link_inertia[i]), model.link_dof[i]
    kind = model.link_joint[i]
    if kind == REVOLUTE:
        I[2, 2] += model.dof_armature[k]
    elif kind == SPHERICAL:
        I += np.diag(model.dof_armature[k:k + 3])
    elif kind == PLANAR:
        I[2, 2] += model.dof_armature[k + 2]
    elif kind == FREE:
        I += np.diag(model.dof_armature[k + 3:k + 6])
    return I


def inert(model: Model, i: int) -> bool:
    """Whether link i has mass and inertia of its own, as a body that moves by itself must."""
    moments = np.linalg.eigvalsh(body_inertia(model, i))
    return bool(model.link_mass[i] > 0.0 and moments[0] > 1e-12 * max(moments.sum(), 1e-300))


def lent_inertia(model: Model) -> dict[int, tuple[float, np.ndarray]]:
    """link without mass or inertia of its own -> what it is lent: LENT of the next link's that has some.

    Such links stand between the joints of a body that has several. The next one is below it, else above.
    """
    moving = [i for i in range(model.link_count) if model.link_joint[i] != KINEMATIC]
    solid = {i for i in moving if inert(model, i)}
    found: dict[int, tuple[float, np.ndarray]] = {}
    for i in moving:
        if i in solid:
            continue
        near, below = None, [i]
        while below and near is None:
            below = [j for j in moving if model.link_parent[j] in below]
            near = next((j for j in below if j in solid), None)
        above = int(model.link_parent[i])
        while near is None and above >= 0:
            near, above = above if above in solid else None, int(model.link_parent[above])
        if near is not None:
            size = float(np.trace(body_inertia(model, near))) / 3.0
            found[i] = LENT * float(model.link_mass[near]), LENT * size * np.eye(3)
    return found


def make_bodies(model: Model) -> Bodies:
    """The bodies of a model, not placed yet."""
    lent = lent_inertia(model)
    L, B = model.link_count, model.link_count + 1
    bodies = Bodies.sized({"B": B, "Q": model.coordinate_count, "V": model.dof_count})
    bodies.quaternion[:, 0] = 1.0
    bodies.parts[0] = 1
    bodies.rotation[:] = np.eye(3)
    bodies.seen_q[:] = np.nan
    bodies.seen_v[:] = np.nan
    order = ([0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2])
    for i in range(L):
        bodies.center[i] = model.link_center[i]
        if model.link_joint[i] == KINEMATIC:
            continue
        mass, more = lent.get(i, (0.0, np.zeros((3, 3))))
        bodies.mass[i] = model.link_mass[i] + mass
        bodies.inverse_mass[i] = 1.0 / bodies.mass[i]
        bodies.own_plain[i] = (symmetric(model.link_inertia[i]) + more)[order]
        I = body_inertia(model, i) + more
        bodies.own_inertia[i] = I[order]
        bodies.own_inverse[i] = np.linalg.inv(I)[order]
    bodies.above[:] = -1
    for b in range(B):
        parent = model.link_parent[b] if b < L else -1
        hangs = parent >= 0 and bodies.mass[parent] > 0.0
        bodies.top[b], bodies.above[b] = (bodies.top[parent], parent) if hangs else (b, -1)
    for pair in model.loop_link:
        if (pair >= 0).all() and (bodies.mass[pair] > 0.0).all():
            tops = bodies.top[pair]
            bodies.top[bodies.top == tops.max()] = tops.min()
    for b in range(B):
        bodies.group_mass[b] = bodies.mass[bodies.top == bodies.top[b]].sum()
    return bodies


def moving_top(bodies: Bodies) -> np.ndarray:
    """`top` of every body, -1 for what no force moves."""
    return np.where(bodies.mass > 0.0, bodies.top, -1)


class _Builder:
    """Collects the springs of joints and loops."""

    def __init__(self, model: Model, bodies: Bodies, options: Options) -> None:
        self.model, self.bodies, self.options = model, bodies, options
        self.rows: list[dict[str, Any]] = []
        self._lent = {b: float(inertia[0, 0]) for b, (_, inertia) in lent_inertia(model).items()}

    def half_axis(self, b: int) -> float:
        """By `joint_axis`, of one link: the radius of the solid ball with its mass and its least or its mean moment of
        inertia; infinite for what no force moves."""
        m = self.bodies.mass[b]
        if m <= 0.0:
            return np.inf
        lent = self._lent.get(b, 0.0)
        if self.options.joint_axis == "inertia":
            return float(np.sqrt(2.5 * (self.model.link_inertia[b, :3].mean() + lent) / m))
        return float(np.sqrt(2.5 * (np.linalg.eigvalsh(symmetric(self.model.link_inertia[b]))[0] + lent) / m))

    def width(self, a: int, b: int) -> float:
        if self.options.joint_width is not None:
            return self.options.joint_width
        width = min(self.half_axis(a), self.half_axis(b))
        return float(width) if np.isfinite(width) else 0.1

    def add(self, bodies: tuple[int, int], arms: tuple[Any, Any], width: float, role: int = AXIS, sign: float = 1.0,
            side: int = 0, damper: int = ALL) -> None:
        limit = 0.05 * width if self.options.joint_limit is None else self.options.joint_limit
        self.rows.append({"body": bodies, "local": arms, "limit": limit, "role": role, "sign": sign, "side": side,
                          "damper": damper})

    def inverse_mass(self, row: dict[str, Any], side: int) -> float:
        """Most by which a unit force at the anchor moves it, 1/kg."""
        b = row["body"][side]
        if self.bodies.mass[b] == 0.0:
            return 0.0
        x, y, z = row["local"][side]
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        turn = cross.T @ symmetric(self.bodies.own_inverse[b]) @ cross
        return float(1.0 / self.bodies.mass[b] + np.linalg.eigvalsh(turn)[-1])


def _joint_springs(build: _Builder, i: int) -> float:
    """Springs of link i's joint; returns their width."""
    model, bodies = build.model, build.bodies
    kind, parent = model.link_joint[i], model.link_parent[i] if model.link_parent[i] >= 0 else model.link_count
    pair, width = (int(parent), i), build.width(int(parent), i)
    on_parent, turn = model.link_position[i] - bodies.center[parent], model.link_rotation[i]
    on_child, axes = -bodies.center[i], np.eye(3)

    def at(offset: Any) -> tuple[np.ndarray, np.ndarray]:
        return on_parent + turn @ np.asarray(offset), on_child + np.asarray(offset)

    if kind == SPHERICAL:
        build.add(pair, at((0, 0, 0)), width)
    elif kind == PLANAR:
        for side in range(2):
            for sign in (1.0, -1.0):
                build.add(pair, at(sign * width * axes[side]), width, AXIS, sign, side, ALONG_NORMAL)
    else:
        slides = ACROSS_NORMAL if kind == PRISMATIC else ALL
        for sign in (1.0, -1.0):
            build.add(pair, at(sign * width * axes[2]), width, AXIS, sign, 0, slides)
        for sign in (1.0, -1.0):
            build.add(pair, at(sign * width * axes[0]), width, TORQUE, sign, 0,
                      ACROSS_NORMAL if kind == PRISMATIC else ALONG_NORMAL)
        k = model.link_dof[i]
        if np.isfinite(model.dof_lower[k]) or np.isfinite(model.dof_upper[k]):
            for sign in (1.0, -1.0) if kind == REVOLUTE else (1.0,):
                build.add(pair, at(sign * width * axes[0] if kind == REVOLUTE else (0, 0, 0)), width, STOP, sign)
    return width


def _loop_springs(build: _Builder, n: int) -> None:
    model, bodies = build.model, build.bodies
    pair = tuple(int(link) if link >= 0 else model.link_count for link in model.loop_link[n])
    width, axes = build.width(*pair), np.eye(3)
    offsets = [(0.0, 0.0, 0.0)] if model.loop_kind[n] == BALL else [width * axes[2], -width * axes[2]]
    if model.loop_kind[n] not in (BALL, HINGE):
        offsets += [width * axes[0], -width * axes[0]]
    for offset in offsets:
        arms = tuple(model.loop_position[n, side] - bodies.center[pair[side]]
                     + model.loop_rotation[n, side] @ np.asarray(offset) for side in range(2))
        build.add((pair[0], pair[1]), (arms[0], arms[1]), width)


def make_joints(compiled: CompiledScene, bodies: Bodies, options: Options) -> tuple[Joints, list[dict[str, Any]]]:
    """The springs of all joints and loops, and their anchors for the spring set."""
    model = compiled.model
    build = _Builder(model, bodies, options)
    link_spring = np.zeros((model.link_count, 2), dtype=np.int64)
    loop_spring = np.zeros((model.loop_count, 2), dtype=np.int64)
    width = np.zeros(model.link_count)
    for i in range(model.link_count):
        link_spring[i] = len(build.rows)
        if model.link_joint[i] not in (FREE, KINEMATIC):
            width[i] = _joint_springs(build, i)
        link_spring[i, 1] = len(build.rows)
    for n in range(model.loop_count):
        loop_spring[n] = len(build.rows)
        _loop_springs(build, n)
        loop_spring[n, 1] = len(build.rows)
    rows = build.rows
    for row in rows:
        if row["role"] != STOP:
            for b in row["body"]:
                bodies.joint_springs[b] += 1
    load = []
    for row in rows:
        moved = [side for side in range(2) if bodies.mass[row["body"][side]] > 0.0]
        count = max((bodies.joint_springs[row["body"][side]] for side in moved), default=1)
        inverse = sum(build.inverse_mass(row, side) for side in range(2))
        load.append(count * inverse * (np.sqrt(2.0) if len(moved) == 2 else 1.0) / JOINT_SHARE)
    for first, last in link_spring:  # anchors of torque springs go along: they must be a couple, or they gain energy
        pair = [s for s in range(first, last) if rows[s]["role"] == TORQUE]
        for s in pair:
            load[s] = max(load[other] for other in pair)
    loops = [s for first, last in loop_spring for s in range(first, last) if bodies.mass[list(rows[s]["body"])].any()]
    tie = np.full(len(rows), -1, dtype=np.int64)
    for t, s in enumerate(sorted(loops, key=lambda s: max(moving_top(bodies)[list(rows[s]["body"])]))):
        tie[s] = t
    given = -1.0 if options.joint_stiffness is None else options.joint_stiffness
    damping = -1.0 if options.joint_damping is None else options.joint_damping

    def column(name: str, dtype: type) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype=dtype)

    joints = Joints.sized(
        {"L": model.link_count, "V": model.dof_count, "A": model.actuator_count},
        spring_count=len(rows), link_spring=link_spring, loop_spring=loop_spring, role=column("role", np.int64),
        sign=column("sign", np.float64), side=column("side", np.int64), stiffness=np.full(len(rows), given),
        damping=np.full(len(rows), damping), load=np.array(load, dtype=np.float64),
        limit=column("limit", np.float64), damper=column("damper", np.int64), width=width, tie=tie)
    return joints, rows


KINETIC, STATIC = range(2)
VERTEX_FACE, EDGES, SIDE_0, SIDE_1 = range(4)


class Presses(Record):
    """C contact springs, S shapes, pairs with springs of their own.

    The anchors stand in the spring set behind the joints' springs.
    """

    capacity = scalar()
    first = scalar()  # place of the first contact spring in the spring set
    # see below
    counts = array(int, 8, saved=True, within=(0, (*["C * (S > 0)"] * 4, *[COUNTER[1]] * 3, "C * (S > 0)")))
    key = array(int, "C", saved=True, within=ANY)  # of the crossing
    variant = array(int, "C", saved=True, within=(VERTEX_FACE, SIDE_1))  # VERTEX_FACE, EDGES, SIDE_0 or SIDE_1
    feature = array(int, "C", 2, saved=True, within=COUNTER)  # see Work.unsound
    shape = array(int, "C", 2, saved=True, within=(0, "S - 1"))  # guest's and host's
    state = array(int, "C", saved=True, within=(KINETIC, STATIC))  # KINETIC or STATIC
    age = array(int, "C", saved=True, within=COUNTER)  # steps in the kinetic state
    normal = array(float, "C", 3, saved=True)  # outward of the host
    depth = array(float, "C", saved=True)  # m
    moved = array(float, "C", 3, saved=True)  # anchor shift of the last step, m (host's axes; along the two edges)
    place = array(float, "C", 3, saved=True)  # where the shift is measured from
    drag = array(float, "C", 3, saved=True)  # friction's anchor on the host, its frame (friction_anchor="drag")
    held = array(float, "C", 3, saved=True)  # constraint force on the guest in the last step
    id = array(int, "C", saved=True, within=COUNTER)
    # ---- of the present step
    stiffness = array(float, "C")
    damping = array(float, "C")
    limit = array(float, "C", saved=True)
    mu = array(float, "C", 3, saved=True)  # static, kinetic, restitution (not used)
    push = array(float, "C", 3)  # spring, damper and friction on the guest
    point = array(float, "C", 3, saved=True)  # world: the guest point, where it acts
    foot = array(float, "C", 3, saved=True)  # world: the host point below it
    slide = array(float, "C")  # m/s
    rubbing = array(float, "C", 3)  # N: that friction, a part of `push`
    facing = array(float, "C", 2, 3, saved=True)  # the normal in the frames of guest and host
    # ---- shapes
    convex = array(int, "S")  # 1: no edge of it is reflex
    wanted_margin = array(float, "S")  # m: how far each was to shrink; infinite for planes
    given = array(float, "S", 2)  # stiffness and damping of the material, negative: none
    pair_given = array(float, "pairs", 2)  # the same of pairs of bodies with their own
    model_shape = array(int, "S")  # the model's (first) shape
    sunk = array(float, 1, saved=True)  # m: how deep shapes are in each other whose springs are far beyond their limit
    fresh = array(int, 1, saved=True, within=(0, 1))  # 1: the bodies were placed, contacts must be found first
    # ---- the set before, for matching: at a step's end, and in the next one for what its motion adds
    old_key = array(int, "C", saved=True, within=ANY)
    old_variant = array(int, "C", saved=True, within=(VERTEX_FACE, SIDE_1))
    old_feature = array(int, "C", 2)
    old_shape = array(int, "C", 2)
    old_normal = array(float, "C", 3)
    old_depth = array(float, "C")
    old_state = array(int, "C", saved=True, within=(KINETIC, STATIC))
    old_age = array(int, "C", saved=True, within=COUNTER)
    old_moved = array(float, "C", 3, saved=True)
    old_place = array(float, "C", 3, saved=True)
    old_drag = array(float, "C", 3, saved=True)
    old_held = array(float, "C", 3, saved=True)
    old_id = array(int, "C", saved=True, within=COUNTER)
    old_local = array(float, "C", 2, 3, saved=True)
    old_used = array(int, "C")
    work = array(float, 9, 3)


as_presses = viewer(Presses)
# places in Presses.counts: springs, those of them in order of keys, of the set before both, next id, lost ones,
# new ones of the last round of L0, springs at the start of the step
PRESSES, SORTED, OLD_PRESSES, OLD_SORTED, NEXT, LOST, STRAY, STANDING = range(8)


def make_presses(compiled: CompiledScene, breps: Any, wanted: np.ndarray, first: int, capacity: int) -> Presses:
    """Room for `capacity` contact springs behind `first` joint springs; wanted: margins of the shapes."""
    C, S = capacity, breps.shape_count
    presses = Presses.sized({"C": C, "S": S, "pairs": len(breps.pair_key)}, capacity=C, first=first)
    presses.fresh[:] = 1
    presses.wanted_margin[:] = wanted
    presses.convex[:] = [not breps.edge_concave[slice(*edges)].any() for edges in breps.shape_edge]
    n = pieces = 0
    for body in compiled.scene.bodies.values():
        for geometry in body.geometries:
            if not geometry.collides:
                continue
            material = geometry.material or compiled.scene.material
            presses.given[n] = [-1.0 if v is None else v for v in (material.stiffness, material.damping)]
            presses.model_shape[n] = pieces
            pieces += len(geometry.shape.pieces) if isinstance(geometry.shape, Mesh) else 1
            n += 1
    presses.pair_given[:] = pair_springs(compiled, breps.pair_key)
    return presses


def pair_springs(compiled: CompiledScene, keys: np.ndarray) -> np.ndarray:
    """(rows of pair_key, 2) stiffness and damping given for pairs of bodies, -1 where the materials decide."""
    model, frames = compiled.model, compiled.frame_index
    given = np.full((len(keys), 2), -1.0)
    for pair, material in compiled.scene.pair_friction.items():
        first, second = sorted(frames[name] for name in pair)
        place = np.searchsorted(keys, first * model.frame_count + second)
        given[place] = [-1.0 if v is None else v for v in (material.stiffness, material.damping)]
    return given


def shape_margins(compiled: CompiledScene, options: Options) -> tuple[np.ndarray, np.ndarray]:
    """How far each colliding geometry shrinks, 0.55 of its contact limit; and the same, infinite where it has none.

    The limit is the user's, or 1 % of the shape's smallest width; planes, which have none, take the smallest of all.
    """
    widths = []
    for body in compiled.scene.bodies.values():
        for geometry in body.geometries:
            if geometry.collides:
                endless = isinstance(geometry.shape, (Plane, HeightField))
                widths.append(np.inf if endless else smallest_width(geometry.shape))
    width = np.array(widths, dtype=np.float64)
    if options.limit is not None:
        return np.full(len(width), 0.55 * options.limit), np.full(len(width), 0.55 * options.limit)
    least, own = float(min(width, default=1.0)), 0.55 * 0.01 * width
    width[~np.isfinite(width)] = least if np.isfinite(least) else 1.0
    return 0.55 * 0.01 * width, own


def smallest_width(shape: Any) -> float:
    """Shortest edge of the box around a shape, its own axes."""
    if isinstance(shape, Box):
        return float(min(shape.size))
    if isinstance(shape, Sphere):
        return 2.0 * shape.radius
    if isinstance(shape, Ellipsoid):
        return 2.0 * min(shape.radii)
    if isinstance(shape, (Capsule, Cylinder)):
        return float(min(2.0 * shape.radius, shape.length + (2.0 * shape.radius if isinstance(shape, Capsule) else 0)))
    return float(np.ptp(shape.vertices, axis=0).min())
