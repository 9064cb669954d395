"""`Biped`: a robot of a scene seen as two legs below a floating base.

    legs = LegMap(left=("l_hip_yaw", ..., "l_ankle_roll"), right=(...))
    biped = Biped(scene, legs)

Everything else follows from the model: where the soles are (the lowest flat part of what is rigid with, or hangs on
springs below, the last leg joint), how far apart the feet stand, and whether the legs have a closed form.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sesshoku.control.legs import Legs
from sesshoku.control.posture import posture
from sesshoku.dynamics.centroid import center_of_mass
from sesshoku.dynamics.data import Data, make_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.errors import SceneError, did_you_mean
from sesshoku.model.arrays import (
    FREE,
    POSITION,
    PRISMATIC,
    REVOLUTE,
    SHAPE_BOX,
    SHAPE_CAPSULE,
    SHAPE_CONVEX,
    SHAPE_CYLINDER,
    SHAPE_SPHERE,
)
from sesshoku.scene.calls import checked
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.scene import Scene

AXES = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=np.float64)
EXACT = 1e-6  # m and rad: a leg has a closed form if its axes and offsets are so near to the textbook's
TURNING = ("revolute", "continuous")
FLAT = 2e-3  # m: what is so near to the lowest point belongs to the sole


@checked
@dataclass(frozen=True)
class LegMap:
    """Names of the six joints of each leg, from hip to ankle."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    @classmethod
    def named(cls, left: str, right: str, joints: tuple[str, ...]) -> LegMap:
        """Both legs from one pattern: `LegMap.named("left_{}", "right_{}", ("hip_yaw", ...))`."""
        return cls(tuple(left.format(joint) for joint in joints), tuple(right.format(joint) for joint in joints))

    def __post_init__(self) -> None:
        for side, names in (("left", self.left), ("right", self.right)):
            if not isinstance(names, (tuple, list)) or not all(isinstance(name, str) for name in names):
                raise SceneError("a leg is a list of joint names", element=f"leg map, {side}", value=names,
                                 remedy="LegMap(left=(\"l_hip_yaw\", ..., \"l_ankle_roll\"), right=(...))")
            if len(names) != 6:
                raise SceneError("a leg has six joints here", element=f"leg map, {side}", value=list(names),
                                 remedy=f"name six, from hip to ankle, not {len(names)}")
            twice = sorted({name for name in names if list(names).count(name) > 1})
            if twice:
                raise SceneError("a joint is named twice", element=f"leg map, {side}", value=twice,
                                 remedy="name six joints, from hip to ankle")
        both = sorted(set(self.left) & set(self.right))
        if both:
            raise SceneError("a joint belongs to both legs", element="leg map", value=both,
                             remedy="name the left leg's joints in left, the right leg's in right")


#: the legs of the robots in models/
HUMANOID = LegMap.named("left_{}", "right_{}", ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch",
                                                "ankle_roll"))


@checked
class Biped:
    """The legs of a robot, its soles and servos; postures of it.

    scene: with the robot standing about as it shall walk: other joints stay as they are, legs solved by iteration begin
    there. Every joint of the legs needs a position servo.
    legs: record for kernels. data: work space of its own. stiffness (2, 3): roll (N m/rad), pitch, vertical (N/m) of
    springs below the ankle, else of the ankle's servos with an infinite vertical one; `on_bushes` says which.
    """

    def __init__(self, scene: Scene, legs: LegMap) -> None:
        for given, kind in ((scene, Scene), (legs, LegMap)):
            if not isinstance(given, kind):
                raise SceneError(f"a biped is made of a Scene and a LegMap, here {kind.__name__} is wanted",
                                 element="biped", value=type(given).__name__,
                                 remedy="Biped(scene, LegMap(left=(...), right=(...)))")
        self.scene = scene
        self.compiled: CompiledScene = compile_scene(scene)
        self.model, self.data = self.compiled.model, make_data(self.compiled)
        self.map = legs
        links = [[self._joint(name) for name in side] for side in (legs.left, legs.right)]
        self.root = self._root(links)
        self.legs = self._build(links)
        self.mass = float(self.model.link_mass[self.legs.first_link:self.legs.last_link].sum())
        self.gravity = float(-self.model.gravity[2])
        self.actuator, self.actuator_coordinate, self.actuator_dof = self._servos()
        self.on_bushes, self.stiffness = self._stiffness()

    # ---- finding the legs ----------------------------------------------------------------------------------------

    def _joint(self, name: str) -> int:
        kinds = {str(body.joint.name): body.joint.kind for body in self.scene.bodies.values()}
        turning = [known for known, kind in kinds.items() if kind in TURNING]
        if name not in kinds:
            raise SceneError("no such joint", element=f"leg map, joint {name!r}",
                             remedy=did_you_mean(name, turning, also=f"revolute joints: {', '.join(turning[:40])}"))
        if kinds[name] not in TURNING:
            raise SceneError(f"a {kinds[name]} joint, not a revolute one", element=f"leg map, joint {name!r}",
                             remedy=f"name the six joints of the leg that turn; revolute joints: "
                                    f"{', '.join(turning[:40])}")
        return self.compiled.joint_link[name]

    def _root(self, links: list[list[int]]) -> int:
        model = self.model
        for leg in links:
            for above, below in pairwise(leg):
                if model.link_parent[below] != above:
                    lowest = max(leg, key=lambda link: len(self._chain(link)))
                    raise SceneError("the joints are no chain: the second does not hang on the first",
                                     element="leg map", value=self._names([above, below]),
                                     remedy="name them from hip to ankle, without a gap; from the base to "
                                            f"{self._names([lowest])[0]!r} the model has "
                                            f"{', '.join(self._names(self._chain(lowest)))}")
        trees = {int(model.link_tree[leg[0]]) for leg in links}
        root = int(model.tree_link[min(trees)])
        if len(trees) != 1 or model.link_joint[root] != FREE:
            raise SceneError("the legs hang on no common free base", element="leg map",
                             remedy="load the robot with a free base")
        for leg in links:
            if model.link_parent[leg[0]] != root:
                raise SceneError("the first joint of the leg is not on the base itself", element="leg map",
                                 value=self.compiled.joint_names[leg[0]],
                                 remedy="the base must carry both hips; from the base to the foot the model has "
                                        f"{', '.join(self._names(self._chain(leg[5])))}")
        return root

    def _chain(self, link: int) -> list[int]:
        """Links from below the base down to this one."""
        chain: list[int] = []
        while link >= 0 and self.model.link_joint[link] != FREE:
            chain.insert(0, link)
            link = int(self.model.link_parent[link])
        return chain

    def _names(self, links: list[int]) -> list[str]:
        return [str(self.compiled.joint_names[link]) for link in links]

    def _build(self, links: list[list[int]]) -> Legs:
        model, tree = self.model, int(self.model.link_tree[self.root])
        first, last = int(model.tree_link[tree]), int(model.tree_link[tree + 1])
        foot_of_link = np.full(model.link_count, -1)
        for side, leg in enumerate(links):
            foot_of_link[leg[5]] = side
        for i in range(model.link_count):
            if foot_of_link[i] < 0 and model.link_parent[i] >= 0:
                foot_of_link[i] = foot_of_link[model.link_parent[i]]
        home = self.compiled.q.copy()
        driven = {int(k) for k in model.actuator_dof}
        free = [i for i in range(first, last) if i != self.root and int(model.link_dof[i]) not in driven]
        at = int(model.link_coordinate[self.root])
        zero = home.copy()
        zero[at:at + 7] = [0, 0, 0, 1, 0, 0, 0]
        for leg in links:
            zero[model.link_coordinate[leg]] = 0.0
        kinematics(model, self.data, zero)
        data = self.data
        axes = np.array([[data.rotation[i][:, 2] for i in leg] for leg in links])
        origins = np.array([[data.offset[i] for i in leg] for leg in links])
        if origins[0, 0, 1] <= origins[1, 0, 1]:  # y is to the left
            raise SceneError("the left hip is not to the left of the right one", element="leg map",
                             value=[round(float(y), 4) for y in origins[:, 0, 1]],
                             remedy="swap left and right; the base looks along its x axis, y is to its left")
        closed = all(_textbook(axes[side], origins[side]) for side in range(2))
        soles = [self._sole(leg[5], foot_of_link == side, origins[side][5]) for side, leg in enumerate(links)]
        pivots = [self._pivot(foot_of_link == side, leg[5], origins[side][5], soles[side])
                  for side, leg in enumerate(links)]
        height = np.array([-sole[0] for sole in soles])
        return Legs.sized(
            {}, root=self.root, root_coordinate=at, root_dof=int(model.link_dof[self.root]), tree=tree,
            first_link=first, last_link=last, analytic=int(closed), coordinate=model.link_coordinate[np.array(links)],
            dof=model.link_dof[np.array(links)], foot_link=[leg[5] for leg in links], foot_of_link=foot_of_link,
            free_coordinate=np.array([model.link_coordinate[i] for i in free], dtype=np.int64),
            free_dof=np.array([model.link_dof[i] for i in free], dtype=np.int64), home=home,
            hip=origins[:, 0], length=np.stack([np.abs(origins[:, 3, 2] - origins[:, 2, 2]),
                                                np.abs(origins[:, 4, 2] - origins[:, 3, 2]), height], axis=1),
            sole_position=[data.rotation[leg[5]].T @ [0.0, 0.0, sole[0]] for leg, sole in zip(links, soles)],
            sole_rotation=np.array([data.rotation[leg[5]].T for leg in links]),
            sole_box=np.array([sole[1] for sole in soles]), pivot=np.array(pivots),
            R_base=np.eye(3), R_sole=np.eye(3))

    def _sole(self, link: int, members: np.ndarray, ankle: np.ndarray) -> tuple[float, np.ndarray]:
        """Height of the sole below the ankle's axes (negative) and its rectangle, from the collision shapes."""
        model, found = self.model, []
        for g in range(model.shape_count):
            i = int(model.shape_link[g])
            if i < 0 or not members[i]:
                continue
            local = _shape_points(model, g)
            R, p = self.data.rotation[i], self.data.offset[i]
            inside = model.shape_position[g] + local @ model.shape_rotation[g].T
            points = p + inside @ R.T
            if model.shape_type[g] in (SHAPE_SPHERE, SHAPE_CAPSULE):
                points = points - [0.0, 0.0, model.shape_size[g, 0]]
            found.append(points)
        if not found:
            raise SceneError("the foot has no collision shape", element=f"body {self.compiled.link_names[link]!r}",
                             remedy="give it a box: scene.bodies[name].geometries.append(Geometry(Box(...)))")
        points = np.concatenate(found) - ankle
        low = points[:, 2].min()
        flat = points[points[:, 2] < low + FLAT]
        box = np.array([flat[:, 0].min(), flat[:, 0].max(), flat[:, 1].min(), flat[:, 1].max()])
        if box[1] - box[0] < 1e-3 or box[3] - box[2] < 1e-3:
            raise SceneError("the foot has no flat sole", element=f"body {self.compiled.link_names[link]!r}",
                             value=box, remedy="its lowest corners must lie in one level plane at zero leg angles")
        return float(low), box

    def _pivot(self, members: np.ndarray, foot: int, ankle: np.ndarray, sole: tuple[float, np.ndarray]) -> np.ndarray:
        """About what the foot yields, from the sole point: its springs' place, else the middle of the sole."""
        model, (low, box) = self.model, sole
        for i in np.flatnonzero(members):
            if i != foot and model.link_joint[i] == REVOLUTE and model.dof_stiffness[model.link_dof[i]] > 0.0:
                return self.data.offset[i] - ankle - [0.0, 0.0, low]
        return np.array([0.5 * (box[0] + box[1]), 0.5 * (box[2] + box[3]), 0.0])

    def _servos(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position servos of the robot: actuators, their coordinates and dofs."""
        model, own = self.model, self.legs
        links = model.dof_link[model.actuator_dof]
        found = [a for a in range(model.actuator_count) if own.first_link <= links[a] < own.last_link
                 and model.actuator_kind[a] == POSITION and model.actuator_dof[a] >= 0]
        driven = {int(model.actuator_dof[a]) for a in found}
        for side in range(2):
            for j in range(6):
                if int(own.dof[side, j]) not in driven:
                    name = (self.map.left, self.map.right)[side][j]
                    raise SceneError("the leg joint has no position servo", element=f"joint {name!r}",
                                     remedy="add servos: control.add_servos(scene, robot, legs)")
        dofs = model.actuator_dof[found]
        return np.array(found), model.dof_coordinate[dofs], dofs

    def _stiffness(self) -> tuple[bool, np.ndarray]:
        """Roll, pitch and vertical stiffness below each ankle."""
        model, stiffness, found = self.model, np.zeros((2, 3)), False
        for side in range(2):
            for i in np.flatnonzero(self.legs.foot_of_link == side):
                k = model.dof_stiffness[model.link_dof[i]]
                if i == self.legs.foot_link[side] or not k > 0.0:
                    continue
                found = True
                axis = np.abs(self.data.rotation[i][:, 2])  # at zero angles
                column = 2 if model.link_joint[i] == PRISMATIC else int(np.argmax(axis[:2]))
                stiffness[side, column] = k
        if found:
            return True, stiffness
        by_dof = dict(zip(model.actuator_dof.tolist(), model.actuator_kp.tolist()))
        for side in range(2):
            roll, pitch = sorted(self.legs.dof[side, 4:], key=lambda k: -abs(self.data.axis[k, 3]))
            stiffness[side] = by_dof[int(roll)], by_dof[int(pitch)], np.inf
        return False, stiffness

    # ---- postures ------------------------------------------------------------------------------------------------

    @property
    def analytic(self) -> bool:
        """Whether the legs have a closed form."""
        return bool(self.legs.analytic)

    @property
    def width(self) -> float:
        """Distance of the sole points at home, m."""
        kinematics(self.model, self.data, self.legs.home)
        points = [self._sole_point(side) for side in range(2)]
        return float(np.linalg.norm((points[0] - points[1])[:2]))

    @property
    def home_height(self) -> float:
        """Height of the centre of mass above the soles at home, m."""
        kinematics(self.model, self.data, self.legs.home)
        return float(self.center_of_mass(self.legs.home)[2] - min(self._sole_point(side)[2] for side in range(2)))

    def _sole_point(self, side: int) -> np.ndarray:
        link = self.legs.foot_link[side]
        return (self.data.tree_origin[self.legs.tree] + self.data.offset[link]
                + self.data.rotation[link] @ self.legs.sole_position[side])

    def center_of_mass(self, q: np.ndarray) -> np.ndarray:
        """(3) of the robot at coordinates q (Q) of the scene, m."""
        center = np.zeros(3)
        kinematics(self.model, self.data, np.ascontiguousarray(q, dtype=np.float64))
        center_of_mass(self.model, self.data, self.legs.first_link, self.legs.last_link, center)
        return center

    def posture(self, com: np.ndarray, feet: np.ndarray, base: np.ndarray | None = None,
                start: np.ndarray | None = None) -> np.ndarray:
        """Coordinates (Q) with centre of mass com (3), soles at feet (2, 6), base at roll, pitch, yaw (3).

        feet: x, y, z, roll, pitch, yaw of the sole points, world.
        """
        q = (self.legs.home if start is None else start).copy()
        turn = np.zeros(3) if base is None else np.asarray(base, dtype=np.float64)
        error, out_of_reach = posture(self.model, self.data, self.legs, q, np.asarray(com, dtype=np.float64), turn,
                                      np.ascontiguousarray(feet, dtype=np.float64), 400, 1e-12)
        if out_of_reach > 0.0 or error > 1e-9:
            raise SceneError("no such posture: a foot is out of reach", element=f"robot of {self.scene.name!r}",
                             value=round(max(out_of_reach, float(error)), 6), remedy="lower the centre of mass")
        return q


def _textbook(axes: np.ndarray, origins: np.ndarray) -> bool:
    """Whether `leg_angles` holds: axes (6, 3) and joint origins (6, 3) at zero angles, base axes."""
    if np.abs(axes - AXES).max() > EXACT:
        return False
    hips = np.abs(origins[1:3] - origins[0]).max()
    offsets = np.abs(np.diff(origins[2:5], axis=0)[:, :2]).max()
    return bool(max(hips, offsets, np.abs(origins[5] - origins[4]).max()) < EXACT
                and origins[3, 2] < origins[2, 2] and origins[4, 2] < origins[3, 2])


def _shape_points(model: object, g: int) -> np.ndarray:
    """Corners (n, 3) of a collision shape in its own frame; of round shapes points of the axis or the rims."""
    kind, size = model.shape_type[g], model.shape_size[g]  # type: ignore[attr-defined]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    if kind == SHAPE_BOX:
        return corners * size
    if kind == SHAPE_CONVEX:
        first, last = model.shape_vertex[g]  # type: ignore[attr-defined]
        return np.asarray(model.vertices[first:last])  # type: ignore[attr-defined]
    if kind == SHAPE_CYLINDER:
        angle = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
        rim = np.stack([size[0] * np.cos(angle), size[0] * np.sin(angle), np.zeros(16)], axis=1)
        return np.concatenate([rim + [0, 0, size[1]], rim - [0, 0, size[1]]])
    return np.array([[0.0, 0.0, size[1]], [0.0, 0.0, -size[1]]]) if kind == SHAPE_CAPSULE else np.zeros((1, 3))


__all__ = ["HUMANOID", "Biped", "Data", "LegMap"]
