"""Which shapes may touch: rule by rule, and against MuJoCo on the exported scene."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import mujoco
import numpy as np
import pytest

from sesshoku.collision.filter import may_touch
from sesshoku.scene.compiler import CompiledScene, compile_scene
from sesshoku.scene.elements import Geometry, Inertial, Joint
from sesshoku.scene.filters import Groups
from sesshoku.scene.geometry.shapes import Sphere
from sesshoku.scene.scene import Robot, Scene
from support import sample_count

pytestmark = pytest.mark.boundscheck
BALL = Inertial(1.0, (0, 0, 0), (0.1, 0.1, 0.1))


def add(scene: Scene, name: str, parent: str | None = None, kind: str | None = None, solid: bool = True,
        **options: Any) -> None:
    """A body with a ball of radius 1; `kind` of its joint: as in add_body where None."""
    joint = None if kind is None else Joint(kind, name=f"joint of {name}")
    robot = options.get("robot")
    if robot is not None:
        scene.robots.setdefault(robot, Robot(robot, [], [], []))
    scene.add_body(name, parent=parent, joint=joint, inertial=BALL, geometries=[Geometry(Sphere(1.0))] if solid else [],
                   **options)


def touching(scene: Scene) -> set[str]:
    """Pairs of bodies that may touch, as "a b"; also checks that the list of allowed pairs says the same."""
    compiled = compile_scene(scene)
    m = compiled.model
    pairs = [pair for pair in combinations(range(m.shape_count), 2) if may_touch(m, *pair)]
    assert all(may_touch(m, b, a) for a, b in pairs)
    assert m.pairs_listed and m.allowed_pair.tolist() == [list(pair) for pair in pairs]
    return names_of(compiled, pairs)


def names_of(compiled: CompiledScene, pairs: Any) -> set[str]:
    frame = compiled.model.shape_frame
    return {" ".join(sorted(compiled.frame_names[frame[g]] for g in pair)) for pair in pairs}


@pytest.mark.nojit
def test_one_rigid_group_and_what_cannot_move_never_touch() -> None:
    scene = Scene()
    add(scene, "a")
    add(scene, "a2", "a")  # rigid with a
    add(scene, "wall", fixed=True)
    add(scene, "belt", kinematic=True)
    add(scene, "belt2", "belt")
    add(scene, "post", fixed=True)
    scene.add_ground()
    want = {f"{a} {b}" for a in ("a", "a2") for b in ("belt", "belt2", "ground", "post", "wall")}
    assert touching(scene) == want
    for pair in (("a", "a2"), ("wall", "post"), ("belt", "wall"), ("belt", "ground")):  # not even by force
        scene.include_collision(*pair)
    assert touching(scene) == want


def test_bodies_joined_by_a_joint_never_touch() -> None:
    scene = Scene()
    add(scene, "base", fixed=True)
    add(scene, "rail", "base")  # rigid with the base
    add(scene, "arm", "base", "revolute")
    add(scene, "hand", "arm", "revolute")
    add(scene, "palm", "hand")
    scene.add_ground()
    # what hangs on the base does not touch it, but touches the ground, which is another fixed thing
    assert touching(scene) == {"arm ground", "ground hand", "ground palm", "base hand", "hand rail", "base palm",
                               "palm rail"}


def test_a_joint_of_several_axes_joins_the_bodies_at_its_ends() -> None:
    scene = Scene()
    add(scene, "base")
    add(scene, "x", "base", "revolute", solid=False)
    add(scene, "y", "x", "revolute", solid=False)
    add(scene, "arm", "y", "revolute")
    add(scene, "hand", "arm", "revolute")
    assert touching(scene) == {"base hand"}


def test_a_hinge_on_the_world_touches_the_world() -> None:
    scene = Scene()
    add(scene, "door", kind="revolute")
    scene.add_ground()
    assert touching(scene) == {"door ground"}


@pytest.mark.parametrize("fixed", [True, False])
def test_links_of_a_robot_touch_only_when_asked(fixed: bool) -> None:
    scene = Scene()
    add(scene, "base", fixed=fixed, robot="r")
    for side in ("left", "right"):
        add(scene, f"{side} arm", "base", "revolute", robot="r")
        add(scene, f"{side} hand", f"{side} arm", "revolute", robot="r")
    add(scene, "ball")
    with_ball = {"ball base", "ball left arm", "ball left hand", "ball right arm", "ball right hand"}
    assert touching(scene) == with_ball
    scene.include_collision("left hand", "right hand")
    assert touching(scene) == with_ball | {"left hand right hand"}
    scene.self_collision("r")
    assert touching(scene) == with_ball | {
        "left hand right hand", "base left hand", "base right hand", "left arm right arm", "left arm right hand",
        "left hand right arm"}


def test_loose_bodies_of_one_file_touch_each_other() -> None:
    scene = Scene()
    add(scene, "world", fixed=True, robot="file")
    add(scene, "a", robot="file")
    add(scene, "b", robot="file")
    add(scene, "arm", fixed=True, robot="file")
    add(scene, "hand", "arm", "revolute", robot="file")
    add(scene, "tip", "hand", "revolute", robot="file")
    assert touching(scene) == {"a world", "b world", "a b", "a arm", "arm b", "a hand", "b hand", "a tip", "b tip",
                               "hand world", "tip world"}


def test_loops_join_whole_groups_but_not_with_the_world() -> None:
    scene = Scene()
    for name in "abc":
        add(scene, name)
        add(scene, f"{name}2", name)
    scene.add_ground()
    scene.add_loop("ball", "a", "b2")
    scene.add_loop("weld", "c")
    ground = {f"{n} ground" if n < "g" else f"ground {n}" for n in ("a", "a2", "b", "b2", "c", "c2")}
    assert touching(scene) == ground | {f"{a} {c}" for a in ("a", "a2", "b", "b2") for c in ("c", "c2")}
    scene.include_collision("a", "b")
    assert "a b" in touching(scene)


def test_excluded_and_forced_pairs() -> None:
    scene = Scene()
    for name in "abc":
        add(scene, name)
    scene.exclude_collision("b", "a")
    assert touching(scene) == {"a c", "b c"}
    scene.include_collision("a", "b")
    scene.exclude_collision("a", "c")
    assert touching(scene) == {"a b", "b c"}


@pytest.mark.parametrize(("a", "b", "want"), [
    ((1, 0xFFFF), (1, 0xFFFF), True), ((1, 0), (1, 0), False), ((1, 0), (2, 1), True), ((2, 1), (1, 0), True),
    ((1, 2), (4, 2), False), ((1 << 31, 0), (0, 1 << 31), True),
])
def test_category_and_mask(a: tuple[int, int], b: tuple[int, int], want: bool) -> None:
    scene = Scene()
    for name, (category, mask) in (("a", a), ("b", b)):
        add(scene, name)
        scene.bodies[name].geometries[0].category, scene.bodies[name].geometries[0].mask = category, mask
    assert touching(scene) == ({"a b"} if want else set())
    scene.include_collision("a", "b")
    assert touching(scene) == {"a b"}


def random_filters(rng: np.random.Generator) -> Scene:
    """Robots and loose bodies, all in one place, with every kind of filter at random."""
    scene = Scene()
    if rng.integers(2):
        scene.add_ground(height=-0.5)
    names: list[str] = []
    for i in range(int(rng.integers(6, 14))):
        robot = [None, "r", "s"][rng.integers(3)]
        parents = [name for name in names if scene.bodies[name].robot == robot]
        parent = str(rng.choice(parents)) if parents and rng.uniform() < 0.7 else None
        kinds = ["free", "fixed", "revolute"] if parent is None else ["fixed", "revolute", "prismatic", "spherical"]
        name = f"n{i}"
        add(scene, name, parent, str(rng.choice(kinds)), solid=rng.uniform() < 0.85, robot=robot)
        for geometry in scene.bodies[name].geometries:
            geometry.position = 0.1 * rng.normal(size=3)
            if rng.uniform() < 0.3:
                geometry.category, geometry.mask = (int(x) for x in rng.integers(0, 4, 2))
        names.append(name)
    for _ in range(3):
        a, b = (str(n) for n in rng.choice(names, 2, replace=False))
        (scene.exclude_collision if rng.integers(2) else scene.include_collision)(a, b)
    groups = Groups(scene)
    a, b = (str(n) for n in rng.choice(names, 2, replace=False))
    if groups.group[a] != groups.group[b] and not {groups.group[a], groups.group[b]} <= groups.static:
        scene.add_loop("ball", a, b)
    if "r" in scene.robots and rng.integers(2):
        scene.self_collision("r")
    return scene


@pytest.mark.filterwarnings("ignore::sesshoku.errors.UnsupportedFeature")
def test_mujoco_finds_the_same_pairs_on_the_exported_scene(rng: np.random.Generator) -> None:
    """All balls overlap, so what MuJoCo reports on the exported MJCF is what may touch."""
    for _ in range(sample_count(40, 1000)):
        scene = random_filters(rng)
        model = mujoco.MjModel.from_xml_string(scene.to_mjcf())
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        theirs = {" ".join(sorted(model.body(model.geom_bodyid[g]).name for g in contact.geom))
                  for contact in data.contact}
        assert touching(scene) == theirs
