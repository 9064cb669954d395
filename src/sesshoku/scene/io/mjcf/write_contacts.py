"""Which contacts MJCF must be told of: the pairs that MuJoCo's own rules would filter or rub otherwise than ours.

MuJoCo lets two geometries touch if contype and conaffinity match (our category and mask), unless their bodies are
rigidly one or joined by a joint, the world excepted; of two friction values it takes the larger. Our rule stands in
`filters`, that of friction in `materials`. The difference is written as <exclude> and <pair>.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

from sesshoku.scene.elements import Geometry, GeometryPair, Material
from sesshoku.scene.filters import Groups
from sesshoku.scene.materials import friction_of
from sesshoku.scene.scene import Scene

Coefficients = tuple[float, float, float]  # sliding, torsional, rolling friction
MOST_PAIRS = 5000  # MuJoCo goes over all explicit pairs one by one


@dataclass
class Contacts:
    """Body pairs to exclude; geometries (by name) that touch with the given friction; whether some were too many."""

    excludes: list[tuple[str, str]]
    pairs: list[tuple[str, str, Coefficients]]
    left_out: int = 0


def mujoco_filters(groups: Groups, a: str, b: str) -> bool:
    """Whether MuJoCo drops the pair by itself: what is fixed is the world to it, and the world filters nothing."""
    joined = groups.parent[a] == b or groups.parent[b] == a
    return joined and a not in groups.static and b not in groups.static


def find_contacts(scene: Scene, name_of: Callable[[str, int], list[str]]) -> Contacts:
    """What to write. `name_of(body, i)` gives the names of the colliding MJCF geoms made of a body's geometry i."""
    groups = Groups(scene)
    solid = {body.name: [(i, g) for i, g in enumerate(body.geometries) if g.collides] for body in scene.bodies.values()}
    found = Contacts([], [])
    mixed: dict[tuple[Material, Material], Coefficients] = {}
    theirs: dict[tuple[Material, Material], Coefficients] = {}
    for a, b in combinations([name for name, geometries in solid.items() if geometries], 2):
        group_a, group_b = groups.group[a], groups.group[b]
        if groups.immovable(group_a, group_b):
            continue
        pair = (a, b) if a <= b else (b, a)
        forced, filtered = pair in scene.forced_pairs, mujoco_filters(groups, group_a, group_b)
        touching = [(i, j, g, h) for i, g in solid[a] for j, h in solid[b] if forced or _groups_match(g, h)]
        if groups.kept_apart(a, b):
            if touching and not filtered:
                found.excludes.append((a, b))
            continue
        for i, j, g, h in touching:
            if _key((a, i), (b, j)) in scene.geometry_pairs:
                continue
            one, other = g.material or scene.material, h.material or scene.material
            if (one, other) not in mixed:
                mixed[one, other] = friction_of(one, other)[1:]
                # what MuJoCo makes of them
                theirs[one, other] = friction_of(replace(one, combine="maximum"), other)[1:]
            override = scene.pair_friction.get(pair)
            friction = mixed[one, other] if override is None else override.coefficients[1:]
            natural = not filtered and _groups_match(g, h)
            if natural and friction == theirs[one, other]:
                continue
            if natural and override is None and len(found.pairs) >= MOST_PAIRS:
                found.left_out += 1
                continue
            found.pairs += [(m, n, friction) for m in name_of(a, i) for n in name_of(b, j)]
    for (first, second), material in scene.geometry_pairs.items():
        if groups.immovable(groups.group[first[0]], groups.group[second[0]]):
            continue
        override = material or scene.pair_friction.get((first[0], second[0]))
        one, other = (scene.bodies[name].geometries[number].material or scene.material
                      for name, number in (first, second))
        friction = friction_of(one, other)[1:] if override is None else override.coefficients[1:]
        found.pairs += [(m, n, friction) for m in name_of(*first) for n in name_of(*second)]
    return found


def _key(one: tuple[str, int], other: tuple[str, int]) -> GeometryPair:
    return (one, other) if one <= other else (other, one)


def condim(friction: Coefficients) -> int:
    """Dimension of the contact that knows all coefficients that are not zero."""
    sliding, torsional, rolling = friction
    return 6 if rolling > 0.0 else 4 if torsional > 0.0 else 3 if sliding > 0.0 else 1


def _groups_match(a: Geometry, b: Geometry) -> bool:
    return bool(a.category & b.mask or b.category & a.mask)
