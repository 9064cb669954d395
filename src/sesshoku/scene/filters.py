"""Which bodies may touch: the rule, stated once; the compiler and the export to MJCF both ask here.

Bodies joined by fixed joints are one rigid **group**: a moving link, or a structure fixed to the world. Two bodies

1. never touch if they are of one group, or if neither group moves (fixed or kinematic): no forces could part them;
2. always may if the pair is forced (`include_collision`; of single geometries: `add_geometry_pair`), never if it is
   excluded (`exclude_collision`);
3. never touch if their groups are joined: by a joint (groups without colliding shapes in between, such as the parts of
   a joint of several axes, count as part of the joint) or by a loop;
4. never touch if they are of one robot and of one **family**, the groups that hang together by joints, unless the
   robot's self-collision is on. A file of several loose bodies loads as one robot, yet each is a family of its own; the
   arms of a robot with a fixed base are one family with that base. What hangs together but is no robot may touch;
5. otherwise may, where category and mask of two of their geometries match (see `Geometry`).

The world as such (a joint or a loop without a second body) is no group: what hangs on it touches the ground.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.model.arrays import APART, FAMILY, GROUP, HANGS_ON, MOVES, NO_RULE, PAIRED, RULED, TOGETHER

if TYPE_CHECKING:
    from sesshoku.model.arrays import Model
    from sesshoku.scene.elements import Material
    from sesshoku.scene.scene import Scene

# Up to so many shapes all pairs are looked at when the scene is compiled,
MOST_LISTED_SHAPES = 512
# and those that may touch are listed if they are few enough for a plain walk to beat the grid.
LISTED_PAIRS, LISTED_PAIRS_PER_SHAPE = 400, 12


class Groups:
    """Rigid groups of bodies, named by the body each begins with."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.group: dict[str, str] = {}  # body -> group
        self.parent: dict[str, str | None] = {}  # group -> group its joint hangs on
        self.family: dict[str, str] = {}  # group -> group its family begins with
        self.static: set[str] = set()  # fixed or kinematic
        for body in scene.bodies.values():
            above = None if body.parent is None else self.group[body.parent]
            if body.joint.kind == "fixed" and above is not None:
                self.group[body.name] = above
                continue
            self.group[body.name] = body.name
            self.parent[body.name] = above
            self.family[body.name] = body.name if above is None else self.family[above]
            if body.joint.kind == "fixed":
                self.static.add(body.name)
        self.solid = {self.group[body.name] for body in scene.bodies.values()
                      if any(geometry.collides for geometry in body.geometries)}
        self.looped = {(self.group[a], self.group[b]) for loop in scene.loops.values()
                       for a, b in ((loop.body_a, loop.body_b), (loop.body_b, loop.body_a))
                       if a is not None and b is not None}

    def hangs_on(self, group: str) -> str | None:
        """The next group with colliding shapes on the way to the root."""
        above = self.parent[group]
        while above is not None and above not in self.solid:
            above = self.parent[above]
        return above

    def joined(self, a: str, b: str) -> bool:
        """Whether two groups are joined by a joint or a loop."""
        return self.hangs_on(a) == b or self.hangs_on(b) == a or (a, b) in self.looped

    def immovable(self, a: str, b: str) -> bool:
        """Whether nothing could part two groups: they are one, or neither moves."""
        return a == b or (a in self.static and b in self.static)

    def family_of(self, body: str) -> tuple[str, str] | None:
        """Robot and family within which the body touches nothing; None where it may."""
        robot = self.scene.bodies[body].robot
        if robot is None or robot in self.scene.self_colliding:
            return None
        return robot, self.family[self.group[body]]

    def kept_apart(self, a: str, b: str) -> bool:
        """Whether rules 2 to 4 keep two bodies apart."""
        pair = (a, b) if a <= b else (b, a)
        if pair in self.scene.forced_pairs:
            return False
        family = self.family_of(a)
        return (pair in self.scene.excluded_pairs or self.joined(self.group[a], self.group[b])
                or (family is not None and family == self.family_of(b)))


def filter_arrays(scene: Scene, frame_index: dict[str, int], shapes: dict[str, Any]) -> dict[str, Any]:
    """The rule as arrays of the model: one row per shape, a table of pairs with rules of their own.

    `pair_materials` (a list, not for the model) holds the Material of each row of that table, or None.
    """
    groups = Groups(scene)
    names = list(scene.bodies)
    owners = [names[f] for f in shapes["shape_frame"]]  # the body of each shape
    numbers = {group: i for i, group in enumerate(groups.parent)}
    families: dict[Any, int] = {}
    table = _pair_table(scene, groups, frame_index, set(owners))
    ruled = set(np.array([divmod(key, len(names)) for key in table]).ravel().tolist())
    paired = _geometry_table(scene, table, frame_index, shapes)
    table |= paired
    named = set(np.array([divmod(key - len(names)**2, len(owners)) for key in paired]).ravel().tolist())
    rows = np.zeros((len(owners), 6), dtype=np.int64)
    for number, (row, owner) in enumerate(zip(rows, owners, strict=True)):
        group, family = groups.group[owner], groups.family_of(owner)
        above = groups.hangs_on(group)
        row[GROUP] = numbers[group]
        row[HANGS_ON] = -1 if above is None else numbers[above]
        row[FAMILY] = -1 if family is None else families.setdefault(family, len(families))
        row[MOVES] = group not in groups.static
        row[PAIRED] = number in named
        row[RULED] = frame_index[owner] in ruled or number in named
    keys = sorted(table)
    arrays: dict[str, Any] = {
        "shape_filter": rows, "pair_key": np.array(keys, dtype=np.int64),
        "pair_rule": np.array([table[key][0] for key in keys], dtype=np.int64),
        "pair_materials": [table[key][1] for key in keys],
    }
    values = np.array([_values(material) for material in arrays["pair_materials"]], dtype=np.float64).reshape(-1, 5)
    arrays |= {"pair_material": values[:, :3], "pair_rolling": values[:, 3:]}
    if "shape_rolling" in shapes:  # not where only the filters are asked for
        rolling = max(shapes["shape_rolling"].max(initial=0.0), arrays["pair_rolling"].max(initial=0.0))
        arrays["has_rolling"] = int(rolling > 0.0)
    allowed = _allowed_pairs(shapes | arrays, len(names))
    few = allowed is not None
    return arrays | {"pairs_listed": int(few), "allowed_pair": allowed if few else np.zeros((0, 2), dtype=np.int64)}


def _values(material: Material | None) -> list[float]:
    """Static, kinetic, restitution, torsional, rolling of a pair; friction -1: as the materials combine."""
    if material is None:
        return [-1.0, -1.0, 0.0, -1.0, -1.0]
    static, kinetic, torsional, rolling = material.coefficients
    return [static, kinetic, material.restitution, torsional, rolling]


def pair_frames(model: Model, place: int) -> tuple[int, int]:
    """The two bodies (frames) of a row of the table of pairs."""
    key, bodies = int(model.pair_key[place]), model.frame_count
    if key < bodies * bodies:
        return divmod(key, bodies)
    a, b = divmod(key - bodies * bodies, model.shape_count)
    return int(model.shape_frame[a]), int(model.shape_frame[b])


def _geometry_table(scene: Scene, table: dict[int, tuple[int, Material | None]], frame_index: dict[str, int],
                    shapes: dict[str, Any]) -> dict[int, tuple[int, Material | None]]:
    """Key -> rule and material of pairs of shapes; a pair without a material has that of its bodies' pair."""
    found: dict[int, tuple[int, Material | None]] = {}
    places: dict[tuple[int, int], list[int]] = {}
    if scene.geometry_pairs:
        for n, place in enumerate(zip(shapes["shape_frame"].tolist(), shapes["shape_geometry"].tolist(), strict=True)):
            places.setdefault(place, []).append(n)
    bodies = len(frame_index)
    for ends, material in scene.geometry_pairs.items():
        first, second = ((frame_index[name], number) for name, number in ends)
        above = table.get(min(first[0], second[0]) * bodies + max(first[0], second[0]), (NO_RULE, None))[1]
        for m, n in product(places.get(first, []), places.get(second, [])):
            key = bodies * bodies + min(m, n) * shapes["shape_count"] + max(m, n)
            found[key] = (TOGETHER, material if material is not None else above)
    return found


def _pair_table(scene: Scene, groups: Groups, frame_index: dict[str, int],
                solid: set[str]) -> dict[int, tuple[int, Material | None]]:
    """Key (see `pair_key` of Model) -> rule and material of a pair of bodies; None: as the materials combine."""
    looped: set[tuple[str, str]] = set()
    members: dict[str, list[str]] = {}
    for body in sorted(solid):
        members.setdefault(groups.group[body], []).append(body)
    for a, b in groups.looped:
        looped |= {(m, n) for m, n in product(members.get(a, []), members.get(b, [])) if m < n}
    table: dict[int, tuple[int, Material | None]] = {}
    for pair in looped | scene.excluded_pairs | scene.forced_pairs | set(scene.pair_friction):
        first, second = sorted(frame_index[name] for name in pair)
        rule = TOGETHER if pair in scene.forced_pairs else NO_RULE
        if rule == NO_RULE and (pair in looped or pair in scene.excluded_pairs):
            rule = APART
        table[first * len(frame_index) + second] = (rule, scene.pair_friction.get(pair))
    return table


def _allowed_pairs(arrays: dict[str, Any], frame_count: int) -> np.ndarray | None:
    """All pairs of shapes that may touch, sorted; None where they are too many for a list."""
    count = arrays["shape_count"]
    if count > MOST_LISTED_SHAPES:
        return None
    a, b = np.triu_indices(count, 1)
    rows, frame = arrays["shape_filter"], arrays["shape_frame"]
    A, B = rows[a].T, rows[b].T
    category, mask = arrays["shape_category"], arrays["shape_mask"]
    free = (A[HANGS_ON] != B[GROUP]) & (B[HANGS_ON] != A[GROUP]) & ((A[FAMILY] != B[FAMILY]) | (A[FAMILY] < 0))
    free &= ((category[a] & mask[b]) | (category[b] & mask[a])) != 0
    low, high = np.minimum(frame[a], frame[b]), np.maximum(frame[a], frame[b])
    key = low * frame_count + high
    for rule, value in ((APART, False), (TOGETHER, True)):
        free[np.isin(key, arrays["pair_key"][arrays["pair_rule"] == rule])] = value
    free[np.isin(frame_count**2 + a * count + b, arrays["pair_key"])] = True  # pairs of shapes are all forced
    free &= (A[GROUP] != B[GROUP]) & ((A[MOVES] | B[MOVES]) != 0)
    found = np.stack([a[free], b[free]], axis=1)
    few = len(found) <= max(LISTED_PAIRS, LISTED_PAIRS_PER_SHAPE * count)
    return found if few else None
