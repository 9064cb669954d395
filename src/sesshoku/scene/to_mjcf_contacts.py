"""Which contacts MJCF must be told of: the pairs that MuJoCo's own rules would filter or rub otherwise than ours.

MuJoCo lets two geometries touch if contype and conaffinity match (our category and mask), unless their bodies are
rigidly one or joined by a joint, the world excepted; of two friction values it takes the larger. Ours: links of a robot
do not touch each other unless asked to, a link does not touch the fixed body it hangs on, pairs are forced or excluded
by name, and friction combines by the geometric mean. The difference is written as <exclude> and <pair>.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from sesshoku.scene.elements import Geometry, Material
from sesshoku.scene.scene import Scene, combine_materials

MOST_PAIRS = 5000  # MuJoCo goes over all explicit pairs one by one


@dataclass
class Contacts:
    """Body pairs to exclude; geometries (by name) that touch with the given friction; whether some were too many."""

    excludes: list[tuple[str, str]]
    pairs: list[tuple[str, str, float]]
    left_out: int = 0


class Links:
    """Rigid groups of bodies: the moving link a body belongs to, or the fixed structure it is part of."""

    def __init__(self, scene: Scene) -> None:
        self.group: dict[str, str] = {}  # body -> name of the body its group begins with
        self.parent: dict[str, str | None] = {}  # group -> group its joint hangs on
        self.static: set[str] = set()
        for body in scene.bodies.values():
            above = None if body.parent is None else self.group[body.parent]
            if body.joint.kind == "fixed" and above is not None:
                self.group[body.name] = above
                continue
            self.group[body.name] = body.name
            self.parent[body.name] = above
            if body.joint.kind == "fixed":
                self.static.add(body.name)

    def joined(self, a: str, b: str) -> bool:
        """Whether one of the groups hangs on the other by a joint."""
        return self.parent[a] == b or self.parent[b] == a

    def mujoco_filters(self, a: str, b: str) -> bool:
        """Whether MuJoCo drops the pair by itself: what is fixed is the world to it, and the world filters nothing."""
        return a not in self.static and b not in self.static and self.joined(a, b)


def find_contacts(scene: Scene, name_of: Callable[[str, int], list[str]]) -> Contacts:
    """What to write. `name_of(body, i)` gives the names of the colliding MJCF geoms made of a body's geometry i."""
    links = Links(scene)
    solid = {body.name: [(i, g) for i, g in enumerate(body.geometries) if g.collides] for body in scene.bodies.values()}
    found = Contacts([], [])
    mixed: dict[tuple[Material, Material], float] = {}
    for a, b in combinations([name for name, geometries in solid.items() if geometries], 2):
        group_a, group_b = links.group[a], links.group[b]
        if group_a == group_b or (group_a in links.static and group_b in links.static):
            continue
        pair = (a, b) if a <= b else (b, a)
        forced, filtered = pair in scene.forced_pairs, links.mujoco_filters(group_a, group_b)
        touching = [(i, j, g, h) for i, g in solid[a] for j, h in solid[b] if forced or _groups_match(g, h)]
        if not forced and _kept_apart(scene, links, pair):
            if touching and not filtered:
                found.excludes.append((a, b))
            continue
        for i, j, g, h in touching:
            one, other = g.material or scene.material, h.material or scene.material
            if (one, other) not in mixed:
                mixed[one, other] = combine_materials(one, other).kinetic_friction or 0.0
            override = scene.pair_friction.get(pair)
            friction = mixed[one, other] if override is None else override.kinetic_friction or 0.0
            natural = not filtered and _groups_match(g, h)
            if natural and friction == max(one.kinetic_friction or 0.0, other.kinetic_friction or 0.0):
                continue
            if natural and override is None and len(found.pairs) >= MOST_PAIRS:
                found.left_out += 1
                continue
            found.pairs += [(m, n, friction) for m in name_of(a, i) for n in name_of(b, j)]
    return found


def _groups_match(a: Geometry, b: Geometry) -> bool:
    return bool(a.category & b.mask or b.category & a.mask)


def _kept_apart(scene: Scene, links: Links, pair: tuple[str, str]) -> bool:
    """Whether our rules forbid the two bodies to touch."""
    a, b = pair
    robot = scene.bodies[a].robot
    same_robot = robot is not None and robot == scene.bodies[b].robot and robot not in scene.self_colliding
    return pair in scene.excluded_pairs or links.joined(links.group[a], links.group[b]) or same_robot
