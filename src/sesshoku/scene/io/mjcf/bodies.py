"""Bodies, joints and geoms of a compiled MuJoCo model. See read.py for the rules."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.elements import Body, Geometry, Inertial, Joint, Material
from sesshoku.scene.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, HeightField, Plane, Shape, Sphere
from sesshoku.scene.io.spec import Names, Unsupported, collision_shape, visual_shape, within
from sesshoku.scene.io.unsupported import Grade
from sesshoku.spatial.rotation import axis_angle, multiply, quaternion_to_matrix

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # mjtJoint
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)  # mjtGeom
GEOM_WORDS = {8: "sdf"}
OFF_CENTER = 1e-9  # m between origin and centre of mass that count
USUAL_COLOR = (0.5, 0.5, 0.5, 1.0)  # what MuJoCo gives a geom without rgba


@cache
def usual() -> Any:
    """An empty MjSpec: MuJoCo's default of every setting."""
    import mujoco

    return mujoco.MjSpec()


class ModelNames:
    """Names of a compiled model by index; unnamed elements get names of our own."""

    def __init__(self, model: Any) -> None:
        import mujoco

        def given(kind: Any, count: int) -> list[str]:
            return [mujoco.mj_id2name(model, kind, i) or "" for i in range(count)]

        kinds = mujoco.mjtObj
        joints = given(kinds.mjOBJ_JOINT, model.njnt)
        self.body = _filled(given(kinds.mjOBJ_BODY, model.nbody), [f"body{i}" for i in range(model.nbody)])
        self.joint = _filled(joints, [f"{self.body[model.jnt_bodyid[i]]}_joint" for i in range(model.njnt)])
        self.geom = given(kinds.mjOBJ_GEOM, model.ngeom)
        self.equality = _filled(given(kinds.mjOBJ_EQUALITY, model.neq), [f"equality{i}" for i in range(model.neq)])
        self.pair = given(kinds.mjOBJ_PAIR, model.npair)
        self.site = _filled(given(kinds.mjOBJ_SITE, model.nsite), [f"site{i}" for i in range(model.nsite)])
        self.camera = _filled(given(kinds.mjOBJ_CAMERA, model.ncam), [f"camera{i}" for i in range(model.ncam)])
        targets = [int(model.actuator_trnid[i, 0]) for i in range(model.nactuator)]
        turned = [0 <= j < model.njnt and int(kind) in (0, 1) for j, kind in zip(targets, model.actuator_trntype)]
        wishes = [f"{self.joint[j]}_actuator" if turned[i] else f"actuator{i}" for i, j in enumerate(targets)]
        self.actuator = _filled(given(kinds.mjOBJ_ACTUATOR, model.nactuator), wishes)
        self.fresh_body = Names(self.body).fresh
        self.fresh_joint = Names(self.joint).fresh
        self.geometry: dict[int, int] = {}  # geom that is read -> its number on its body

    def geom_label(self, model: Any, i: int) -> str:
        return f"geom {self.geom[i]!r}" if self.geom[i] else f"geom {i} of body {self.body[model.geom_bodyid[i]]!r}"


def _filled(given: list[str], wishes: list[str]) -> list[str]:
    names = Names(name for name in given if name)
    return [name or names.fresh(wish) for name, wish in zip(given, wishes, strict=True)]


def read_bodies(spec: Any, model: Any, names: ModelNames, path: Path, decompose: bool,
                unsupported: Unsupported) -> list[Body]:
    """All bodies, parents first; the world only if something is attached to it."""
    meshes = MeshReader(spec, model, path, decompose)
    geometries = _read_geometries(model, names, meshes, unsupported)
    bodies = []
    if geometries[0]:
        bodies.append(Body("world", geometries=geometries[0], joint=Joint(name=names.fresh_joint("world"))))
    for i in range(1, model.nbody):
        parent_index = int(model.body_parentid[i])
        parent = names.body[parent_index] if parent_index else None
        with within(f"body {names.body[i]!r}"):
            chain = _read_chain(model, names, i, parent, _read_inertial(model, names, i), geometries[i], unsupported)
            chain[-1] = replace(chain[-1], gravity_compensation=float(model.body_gravcomp[i]))
            bodies += chain
    return bodies


def _read_chain(model: Any, names: ModelNames, i: int, parent: str | None, inertial: Inertial | None,
                geometries: list[Geometry], unsupported: Unsupported) -> list[Body]:
    """Body i with its joints: one body per joint, all but the last without mass."""
    first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
    position, rotation = model.body_pos[i].copy(), _unit(model.body_quat[i])
    if count == 0:
        kinematic = int(model.body_mocapid[i]) >= 0
        joint = Joint(name=names.fresh_joint(names.body[i]))
        return [Body(names.body[i], parent, joint, position, rotation, inertial, geometries, kinematic=kinematic)]
    chain = []
    for j in range(first, first + count):
        joint = _read_joint(model, names, j, unsupported)
        position, rotation = _drawn_at_zero(joint, float(model.qpos0[model.jnt_qposadr[j]]), position, rotation)
        last = j == first + count - 1
        name = names.body[i] if last else names.fresh_body(f"{names.body[i]}/{names.joint[j]}")
        chain.append(Body(name, parent, joint, position, rotation, inertial if last else None,
                          geometries if last else []))
        parent, position, rotation = name, np.zeros(3), np.array([1.0, 0, 0, 0])
    return chain


def _drawn_at_zero(joint: Joint, ref: float, position: np.ndarray,
                   rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pose at joint position zero of a body whose pose in the file is at joint position `ref`.

    MuJoCo: T(q) = T_file J(q - ref) with J about the joint's own axis, so T(q) = (T_file J(-ref)) J(q).
    """
    if ref == 0.0 or joint.kind not in ("revolute", "continuous", "prismatic"):
        return position, rotation
    R = quaternion_to_matrix(rotation)
    if joint.kind == "prismatic":
        return position - R @ joint.axis * ref, rotation
    turned = multiply(rotation, axis_angle(joint.axis, -ref))
    return position + (R - quaternion_to_matrix(turned)) @ joint.anchor, turned


def _read_joint(model: Any, names: ModelNames, j: int, unsupported: Unsupported) -> Joint:
    name, kind, dof = names.joint[j], int(model.jnt_type[j]), int(model.jnt_dofadr[j])
    label = f"joint {name!r}"
    limited = bool(model.jnt_limited[j])
    values: dict[str, Any] = {
        "viscous": float(model.dof_damping[dof]), "static_friction": float(model.dof_frictionloss[dof]),
        "armature": float(model.dof_armature[dof]),
    }
    if kind in (SLIDE, HINGE):
        ref = float(model.qpos0[model.jnt_qposadr[j]])
        values |= {"axis": model.jnt_axis[j].copy(), "stiffness": float(model.jnt_stiffness[j]),
                   "position": ref if ref != 0.0 else None,  # zero is what the file leaves unsaid
                   "rest": float(model.qpos_spring[model.jnt_qposadr[j]])}
        if limited:
            lower, upper = (float(bound) for bound in model.jnt_range[j])
            values |= {"lower": lower, "upper": upper}
            if ref != 0.0 and not lower <= ref <= upper:
                values["position"] = min(max(ref, lower), upper)
                unsupported.add(f"ref of {label} is beyond its limits: it starts at {values['position']:g}",
                                Grade.SLIGHT)
    else:
        if limited:
            unsupported.add(f"range of ball {label}", remedy="use three hinges with limits")
        if model.jnt_stiffness[j] != 0.0:
            unsupported.add(f"stiffness of ball or free {label}", remedy="use hinges and slides with springs")
    if kind == FREE:
        _list_off_center(model, int(model.jnt_bodyid[j]), dof, label, unsupported)
    if kind != FREE:
        values["anchor"] = model.jnt_pos[j].copy()
    if model.jnt_actfrclimited[j]:
        low, high = (float(bound) for bound in model.jnt_actfrcrange[j])
        values |= {"effort": high} if low == -high else {"effort_range": (low, high)}
    values["actuator_compensation"] = bool(model.jnt_actgravcomp[j])
    _list_joint(model, j, dof, label, unsupported)
    kinds = {FREE: "free", BALL: "spherical", SLIDE: "prismatic", HINGE: "revolute" if limited else "continuous"}
    return Joint(kinds[kind], name=name, **values)  # type: ignore[arg-type]


def _list_off_center(model: Any, body: int, dof: int, label: str, unsupported: Unsupported) -> None:
    """A free joint's damping, friction and armature act at the body's origin in MuJoCo, at the centre of mass here."""
    used = [word for word in ("damping", "frictionloss", "armature") if getattr(model, f"dof_{word}")[dof] != 0.0]
    mass, moment = _mass_moment(model, body)
    if used and np.linalg.norm(moment) > OFF_CENTER * mass:
        unsupported.add(f"{', '.join(used)} of free {label} acts at the centre of mass, not at the body's origin",
                        Grade.SLIGHT)


def _mass_moment(model: Any, body: int) -> tuple[float, np.ndarray]:
    """Mass, and mass times centre of mass in the body's frame, of a body with all that is fixed to it."""
    mass = float(model.body_mass[body])
    moment = mass * model.body_ipos[body]
    for child in np.flatnonzero(model.body_parentid == body):
        if model.body_jntnum[child] == 0:
            more, inner = _mass_moment(model, int(child))
            moment = moment + more * model.body_pos[child] + quaternion_to_matrix(_unit(model.body_quat[child])) @ inner
            mass += more
    return mass, moment


def _list_joint(model: Any, j: int, dof: int, label: str, unsupported: Unsupported) -> None:
    normal = usual().default.joint
    soft = {
        "solreflimit": not np.array_equal(model.jnt_solref[j], normal.solref_limit),
        "solimplimit": not np.array_equal(model.jnt_solimp[j], normal.solimp_limit),
        "solreffriction": not np.array_equal(model.dof_solref[dof], normal.solref_friction),
        "solimpfriction": not np.array_equal(model.dof_solimp[dof], normal.solimp_friction),
        "margin": model.jnt_margin[j] != 0.0,
    }
    strong = {
        "nonlinear stiffness": model.jnt_stiffnesspoly[j].any(), "nonlinear damping": model.dof_dampingpoly[dof].any(),
        "springyield": model.jnt_springyield[j] != 0.0,
    }
    for tests, grade in ((soft, Grade.SLIGHT), (strong, Grade.MOTION)):
        for attribute, used in tests.items():
            if used:
                unsupported.add(f"{attribute} of {label}", grade)


def _read_inertial(model: Any, names: ModelNames, i: int) -> Inertial | None:
    mass, moments = float(model.body_mass[i]), model.body_inertia[i]
    if mass == 0.0 and not moments.any():
        return None
    axes = _unit(model.body_iquat[i])
    R = quaternion_to_matrix(axes)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused as not finite
        matrix = R @ np.diag(moments) @ R.T
    return Inertial(mass, model.body_ipos[i].copy(), matrix, element=f"body {names.body[i]!r}",
                    axes=axes if _equal_moments(moments) else None)


def _equal_moments(moments: np.ndarray) -> bool:
    """Whether two moments are so near that their axes are not to be told from the matrix."""
    steps = np.abs(np.diff(np.append(moments, moments[0])))
    return bool(steps.min() < 1e-6 * np.abs(moments).max())


def _unit(quaternion: np.ndarray) -> np.ndarray:
    """A quaternion to full precision; MuJoCo has normalised it, unless it was not finite."""
    length = float(np.linalg.norm(quaternion))
    if not 1e-9 < length < np.inf:
        raise SceneError("orientation is not a rotation", element="quat", value=quaternion.tolist())
    return quaternion / length


# ---- geoms -----------------------------------------------------------------------------------------------------------


def _read_geometries(model: Any, names: ModelNames, meshes: MeshReader,
                     unsupported: Unsupported) -> list[list[Geometry]]:
    """The geometries of each body."""
    # a pair names geoms that touch whatever their bits say
    paired = {int(i) for i in (*model.pair_geom1, *model.pair_geom2)}
    materials: dict[Material, Material] = {}  # equal ones are one
    result: list[list[Geometry]] = [[] for _ in range(model.nbody)]
    for i in range(model.ngeom):
        label = names.geom_label(model, i)
        with within(label):
            category, mask = (int(bits) & 0xFFFF_FFFF for bits in (model.geom_contype[i], model.geom_conaffinity[i]))
            collides = bool(category or mask) or i in paired
            shape = _shape(model, i, meshes, collides)
            if shape is None:
                unsupported.add(f"{GEOM_WORDS.get(int(model.geom_type[i]), 'shape')} of {label}",
                                Grade.MOTION if collides else Grade.LOOKS, "use a mesh or boxes" if collides else "")
                continue
            material = _material(model, i)
            material = materials.setdefault(material, material)
            names.geometry[i] = len(result[model.geom_bodyid[i]])
            result[model.geom_bodyid[i]].append(Geometry(
                shape, *meshes.placed(i), material if collides else None, names.geom[i] or None, category, mask,
                collides, visible=int(model.geom_group[i]) < 3, color=_color(model, i)))
            if collides:
                _list_geom(model, i, label, unsupported)
            if model.geom_fluid[i].any() and (model.opt.density > 0.0 or model.opt.viscosity > 0.0):
                unsupported.add(f"fluidshape of {label}: the box of its body's inertia stands for it")
    return result


def _material(model: Any, i: int) -> Material:
    """Friction of a geom, which MuJoCo combines by priority and maximum."""
    friction, torsional, rolling = (float(value) for value in model.geom_friction[i])
    return Material(friction, torsional_friction=torsional, rolling_friction=rolling, combine="maximum",
                    priority=int(model.geom_priority[i]), condim=int(model.geom_condim[i]))  # type: ignore[arg-type]


def _shape(model: Any, i: int, meshes: MeshReader, collides: bool) -> Shape | None:
    kind, size = int(model.geom_type[i]), [float(s) for s in model.geom_size[i]]
    if kind == PLANE:
        return Plane()
    if kind == SPHERE:
        return Sphere(size[0])
    if kind == CAPSULE:
        return Capsule(size[0], 2 * size[1])
    if kind == CYLINDER:
        return Cylinder(size[0], 2 * size[1])
    if kind == BOX:
        return Box((2 * size[0], 2 * size[1], 2 * size[2]))
    if kind == ELLIPSOID:
        return Ellipsoid((size[0], size[1], size[2]))
    if kind == HFIELD:
        return _height_field(model, int(model.geom_dataid[i]))
    return meshes.read(int(model.geom_dataid[i]), collides) if kind == MESH else None


def _height_field(model: Any, k: int) -> HeightField:
    """Elevations are kept as shares of their range, row by row, y ascending."""
    rows, columns, first = int(model.hfield_nrow[k]), int(model.hfield_ncol[k]), int(model.hfield_adr[k])
    x, y, rise, base = (float(value) for value in model.hfield_size[k])
    shares = model.hfield_data[first:first + rows * columns].astype(np.float64).reshape(rows, columns)
    return HeightField(rise * shares, (2.0 * x, 2.0 * y), base)


def _color(model: Any, i: int) -> tuple[float, float, float, float] | None:
    color = tuple(float(f"{c:.6g}") for c in model.geom_rgba[i])  # stored in single precision
    if color == USUAL_COLOR and model.geom_matid[i] >= 0:
        color = tuple(float(f"{c:.6g}") for c in model.mat_rgba[model.geom_matid[i]])
    elif color == USUAL_COLOR:
        return None
    if not np.isfinite(color).all():
        raise SceneError("rgba is not finite", value=color)
    return color  # type: ignore[return-value]


def _list_geom(model: Any, i: int, label: str, unsupported: Unsupported) -> None:
    for attributes, grade in ((("solmix", "solref", "solimp", "margin", "gap"), Grade.SLIGHT),
                              (("adhesion", "surfacevel"), Grade.MOTION)):
        for attribute in attributes:
            value = getattr(model, f"geom_{attribute}")[i]
            if not np.array_equal(value, getattr(usual().default.geom, attribute)):
                unsupported.add(f"{attribute} of {label}", grade)



@dataclass
class MeshReader:
    """Meshes of the compiled model, put back into the frame of their file (MuJoCo centres and turns them)."""

    spec: Any
    model: Any
    path: Path
    decompose: bool
    _shapes: dict[tuple[int, bool], Shape] = field(default_factory=dict)

    def placed(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Position and quaternion of geom i in its body, for the mesh in its file's frame."""
        position, rotation = self.model.geom_pos[i].copy(), _unit(self.model.geom_quat[i])
        if int(self.model.geom_type[i]) != MESH:
            return position, rotation
        k = int(self.model.geom_dataid[i])
        back = _unit(self.model.mesh_quat[k]) * np.array([1.0, -1, -1, -1])
        rotation = multiply(rotation, back)
        return position - quaternion_to_matrix(rotation) @ self.model.mesh_pos[k], rotation

    def read(self, k: int, collides: bool) -> Shape:
        if (k, collides) not in self._shapes:
            model, item = self.model, self.spec.meshes[k]
            vertices = model.mesh_vert[model.mesh_vertadr[k]:][:model.mesh_vertnum[k]].astype(np.float64)
            faces = model.mesh_face[model.mesh_faceadr[k]:][:model.mesh_facenum[k]].astype(np.int64)
            vertices = vertices @ quaternion_to_matrix(_unit(model.mesh_quat[k])).T + model.mesh_pos[k]
            scale = (float(item.scale[0]), float(item.scale[1]), float(item.scale[2]))
            source = self._source(item)
            self._shapes[k, collides] = (
                collision_shape(vertices, faces, source, scale, self.decompose) if collides else
                visual_shape(vertices, faces, source, scale))
        return self._shapes[k, collides]

    def _source(self, item: Any) -> str | None:
        """The mesh file, where file and scale alone give the vertices (no reference frame, no builtin shape)."""
        moved = np.any(item.refpos) or not np.array_equal(item.refquat, (1, 0, 0, 0))
        if not item.file or moved:
            return None
        name = Path(item.file).name if self.spec.strippath else item.file
        place = self.path.absolute().parent / (self.spec.meshdir or "") / name
        return str(place.resolve()) if place.is_file() else None
