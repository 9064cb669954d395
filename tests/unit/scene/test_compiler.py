"""From a scene to flat arrays: topology, link frames, merged inertias, start states, loops and shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from every_kind import every_kind, l_prism
from mechanisms import everything
from sesshoku.errors import SceneError
from sesshoku.model.arrays import FREE, KINEMATIC, REVOLUTE, SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CONVEX, SHAPE_PLANE
from sesshoku.scene.compiler import CompiledScene, compile_scene, compose, inverse, link_poses
from sesshoku.scene.elements import Geometry, Inertial, Joint, Material, Motion
from sesshoku.scene.geometry.shapes import Box, Capsule, Sphere
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from trees import random_inertial, random_scene, unit

BLOCK = Inertial(2.0, (0, 0, 0), np.eye(3))


def poses_of(compiled: CompiledScene) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """World pose of every named body at the start, from the flat arrays."""
    m = compiled.model
    arrays = {name: getattr(m, name) for name in ("link_count", "link_joint", "link_coordinate", "link_parent",
                                                  "link_position", "link_rotation")}
    links = link_poses(arrays, compiled.q, compiled.kinematic_pose)
    found = {}
    for f, name in enumerate(compiled.frame_names):
        pose = (m.frame_position[f], m.frame_rotation[f])
        found[name] = pose if m.frame_link[f] < 0 else compose(links[m.frame_link[f]], pose)
    return found


# ---- topology --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [everything, every_kind, lambda: random_scene(np.random.default_rng(5), trees=4)])
def test_links_and_dofs_are_numbered_as_the_kernels_count_on(make: Any) -> None:
    m = compile_scene(make()).model
    assert (m.link_parent < np.arange(m.link_count)).all()  # parents first
    for i in range(m.link_count):
        parent = m.link_parent[i]
        assert parent < 0 or m.link_tree[parent] == m.link_tree[i]
        assert m.tree_link[m.link_tree[i]] <= i < m.tree_link[m.link_tree[i] + 1]
        assert (parent < 0) == (i == m.tree_link[m.link_tree[i]])
    np.testing.assert_array_equal(m.link_dof, np.concatenate([[0], np.cumsum(m.link_dof_count)])[:-1])
    np.testing.assert_array_equal(m.tree_dof, np.append(m.link_dof, m.dof_count)[m.tree_link])
    for k in range(m.dof_count):
        row = m.row_dof[m.dof_row[k] : m.dof_row[k + 1]].tolist()
        chain, above = [], k
        while above >= 0:
            chain.insert(0, above)
            above = int(m.dof_parent[above])
        assert row == chain and m.dof_depth[k] == len(row) - 1
        assert m.link_dof[m.dof_link[k]] <= k < m.link_dof[m.dof_link[k]] + m.link_dof_count[m.dof_link[k]]
    for name, value in vars(m).items():
        if name.startswith("dof_") and name not in ("dof_row", "dof_count"):
            assert len(value) == m.dof_count, name


def test_bodies_of_interleaved_trees_are_sorted() -> None:
    scene = Scene()
    for name in "ab":
        scene.add_body(name, inertial=BLOCK)
    for name, parent in (("a1", "a"), ("b1", "b"), ("a2", "a1")):
        scene.add_body(name, parent=parent, joint=Joint("revolute", name=f"joint {name}"), inertial=BLOCK)
    compiled = compile_scene(scene)
    assert compiled.link_names == ["a", "a1", "a2", "b", "b1"]
    assert compiled.joint_link == {"a": 0, "joint a1": 1, "joint a2": 2, "b": 3, "joint b1": 4}
    assert compiled.frame_names == ["a", "b", "a1", "b1", "a2"]  # as the user added them
    assert compiled.model.frame_link.tolist() == [0, 3, 1, 4, 2]


# ---- poses -----------------------------------------------------------------------------------------------------------


def test_start_poses_compose_down_the_tree(rng: np.random.Generator) -> None:
    """Joint positions move a body in its own frame, about its anchor and along its axis."""
    scene = random_scene(rng, trees=2, bases=("free", "fixed"))
    scene.add_body("plate", parent="tree0_3", position=rng.normal(size=3), rotation=unit(rng, 4))
    at = poses_of(compile_scene(scene))
    for name, body in scene.bodies.items():
        above = (np.zeros(3), np.eye(3)) if body.parent is None else at[body.parent]
        joint, q = body.joint, body.joint.position
        turn, shift = np.eye(3), np.zeros(3)
        if joint.kind in ("revolute", "continuous"):
            turn = quaternion_to_matrix(axis_angle(joint.axis, q[0]))
        elif joint.kind == "prismatic":
            shift = joint.axis * q[0]
        elif joint.kind == "spherical":
            turn = quaternion_to_matrix(q)
        elif joint.kind == "planar":
            continue  # the directions in its plane are ours to choose: `test_kinematics` checks the plane
        moved = (joint.anchor + shift - turn @ joint.anchor, turn)
        wanted = compose(compose(above, (body.position, quaternion_to_matrix(body.rotation))), moved)
        np.testing.assert_allclose(at[name][0], wanted[0], atol=1e-12)
        np.testing.assert_allclose(at[name][1], wanted[1], atol=1e-12)


def test_inverse_and_compose(rng: np.random.Generator) -> None:
    pose = (rng.normal(size=3), quaternion_to_matrix(unit(rng, 4)))
    nothing = compose(inverse(pose), pose)
    np.testing.assert_allclose(nothing[0], 0, atol=1e-15)
    np.testing.assert_allclose(nothing[1], np.eye(3), atol=1e-15)


def test_a_free_links_frame_is_its_centre_of_mass() -> None:
    scene = Scene()
    turn = axis_angle(np.array([0, 0, 1.0]), np.pi / 2)
    scene.add_body("club", position=(1, 2, 3), rotation=turn, velocity=(1, 0, 0), angular_velocity=(0, 0, 2),
                   inertial=Inertial(1.0, (0.4, 0, 0), np.eye(3)))
    scene.add_body("weight", parent="club", position=(1.2, 0, 0), inertial=Inertial(3.0, (0, 0, 0), np.eye(3)))
    compiled = compile_scene(scene)
    m = compiled.model
    assert m.link_count == 1 and m.link_joint[0] == FREE and m.link_mass[0] == 4.0
    np.testing.assert_allclose(compiled.q, [1, 3, 3, *turn], atol=1e-15)  # the centre is 1 m along the body's x
    np.testing.assert_allclose(compiled.v, [-1, 0, 0, 0, 0, 2], atol=1e-15)
    np.testing.assert_allclose(m.link_center[0], 0, atol=1e-15)
    # parallel axes: 1 kg at -0.6 and 3 kg at 0.2 from the common centre
    extra = 1 * 0.36 + 3 * 0.04
    np.testing.assert_allclose(m.link_inertia[0], [2, 2 + extra, 2 + extra, 0, 0, 0], atol=1e-14)


def test_bodies_fixed_to_the_world_are_no_links() -> None:
    scene = Scene()
    scene.add_ground()
    scene.add_body("post", fixed=True, position=(1, 0, 0))
    scene.add_body("shelf", parent="post", position=(0, 0, 1), inertial=BLOCK)
    scene.add_body("door", parent="shelf", position=(0.1, 0, 0), inertial=BLOCK,
                   joint=Joint("revolute", anchor=(0, 0.5, 0)))
    m = compile_scene(scene).model
    assert m.link_count == 1 and m.link_joint[0] == REVOLUTE and m.link_parent[0] == -1
    assert m.frame_link.tolist() == [-1, -1, -1, 0]
    np.testing.assert_allclose(m.link_position[0], [1.1, 0.5, 1])


# ---- start states ----------------------------------------------------------------------------------------------------


def joined(**joint: Any) -> Scene:
    scene = Scene()
    scene.add_body("arm", joint=Joint(joint.pop("kind", "revolute"), **joint), inertial=BLOCK)
    return scene


@pytest.mark.parametrize(("scene", "words"), [
    (joined(lower=-1, upper=1, position=1.5), "joint 'arm'.*outside the limits.*1.5.*-1 .. 1"),
    (joined(kind="free", position=(1, 0, 0, 1, 0, 0, 0)), "joint 'arm'.*body's pose"),
    (joined(kind="free", velocity=(1, 0, 0, 0, 0, 0)), "joint 'arm'.*body's pose"),
])
def test_impossible_starts_are_refused(scene: Scene, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        compile_scene(scene)


def test_free_bodies_need_mass_and_inertia() -> None:
    for inertial, words in ((None, "no mass"), (Inertial(0.0), "no mass"), (Inertial(1.0), "no rotational inertia"),
                            (Inertial(1.0, (0, 0, 0), np.diag([1.0, 1.0, 0.0])), "no rotational inertia")):
        scene = Scene()
        scene.add_body("ghost", inertial=inertial)
        with pytest.raises(SceneError, match=f"body 'ghost'.*{words}"):
            compile_scene(scene)
    scene = Scene()
    scene.add_body("ghost")  # massless itself, but what is fixed to it is not
    scene.add_body("flesh", parent="ghost", inertial=BLOCK)
    assert compile_scene(scene).model.link_mass[0] == 2.0


def test_scripted_links_start_on_their_script_and_weigh_nothing() -> None:
    scene = Scene()
    scene.add_body("belt", kinematic=True, position=(1, 0, 0), velocity=(2, 0, 0), inertial=BLOCK)
    scene.add_body("lift", kinematic=True, motion=Motion([0, 1], [(0, 0, 5), (0, 0, 6)]))
    compiled = compile_scene(scene)
    m = compiled.model
    assert m.link_joint.tolist() == [KINEMATIC] * 2 and m.dof_count == 0 and not m.link_mass.any()
    np.testing.assert_array_equal(compiled.kinematic_pose, [[1, 0, 0, 1, 0, 0, 0], [0, 0, 5, 1, 0, 0, 0]])
    np.testing.assert_array_equal(compiled.kinematic_velocity[0], [2, 0, 0, 0, 0, 0])
    assert compiled.joint_link == {}


# ---- loops -----------------------------------------------------------------------------------------------------------


def test_loop_anchors_agree_at_the_start(rng: np.random.Generator) -> None:
    scene = random_scene(rng, trees=2, bases=("free",))
    scene.add_body("plate", parent="tree1_2", position=rng.normal(size=3), rotation=unit(rng, 4))
    for kind, a, b in (("ball", "tree0_1", "tree0_4"), ("hinge", "plate", "tree0_2"), ("weld", "tree1_3", None)):
        scene.add_loop(kind, a, b, position=rng.normal(size=3), axis=unit(rng, 3))
    compiled = compile_scene(scene)
    m, at = compiled.model, poses_of(compiled)
    links = {}
    for f, name in enumerate(compiled.frame_names):  # link pose from any of its bodies
        if m.frame_link[f] >= 0:
            links[int(m.frame_link[f])] = compose(at[name], inverse((m.frame_position[f], m.frame_rotation[f])))
    for n, name in enumerate(compiled.loop_names):
        loop = scene.loops[name]
        ends = []
        for side in range(2):
            pose, link = (m.loop_position[n, side], m.loop_rotation[n, side]), int(m.loop_link[n, side])
            ends.append(pose if link < 0 else compose(links[link], pose))
        np.testing.assert_allclose(ends[0][0], ends[1][0], atol=1e-12)
        np.testing.assert_allclose(ends[0][1], ends[1][1], atol=1e-12)
        body = at[loop.body_a]
        np.testing.assert_allclose(ends[0][0], body[0] + body[1] @ loop.position, atol=1e-12)
        np.testing.assert_allclose(ends[0][1][:, 2], body[1] @ loop.axis, atol=1e-12)


def test_loops_between_rigid_parts_are_refused() -> None:
    scene = Scene()
    scene.add_body("a", inertial=BLOCK)
    scene.add_body("b", parent="a")
    scene.add_loop("weld", "a", "b", name="pin")
    with pytest.raises(SceneError, match="loop 'pin'.*rigidly one already"):
        compile_scene(scene)
    scene = Scene()
    scene.add_body("wall", fixed=True)
    scene.add_loop("weld", "wall", None, name="nail")
    with pytest.raises(SceneError, match="loop 'nail'"):
        compile_scene(scene)


# ---- drives and shapes -----------------------------------------------------------------------------------------------


def test_actuators_and_mimics_point_at_their_dofs() -> None:
    compiled = compile_scene(everything())
    m = compiled.model
    dof = {name: int(m.link_dof[link]) for name, link in compiled.joint_link.items()}
    assert m.actuator_dof.tolist() == [dof["arm2"], dof["arm3"], dof["slider"]]
    assert (m.mimic_dof.tolist(), m.mimic_source.tolist()) == ([dof["arm1"]], [dof["arm0"]])
    np.testing.assert_array_equal(compiled.actuator_command, [[0.3, 0, 0], [0, 0, 0.4], [0, 0.2, 0]])
    assert set(m.limited_dofs) == {dof[name] for name in ("arm0", "arm1", "arm2", "arm3", "slider")}


def test_shapes_carry_pose_size_material_and_groups() -> None:
    scene = Scene(material=Material(0.7, 0.6, 0.1))
    scene.add_ground(height=-1.0)
    turn = axis_angle(np.array([0, 0, 1.0]), np.pi / 2)
    scene.add_body("base", position=(1, 0, 0), inertial=Inertial(1.0, (0.2, 0, 0), np.eye(3)), geometries=[
        Geometry(Box((2, 4, 6)), category=4, mask=6), Geometry(Sphere(1.0), collides=False)])
    scene.add_body("tool", parent="base", position=(0.5, 0, 0), rotation=turn, geometries=[
        Geometry(Capsule(0.1, 0.4), (0, 1, 0), material=Material(0.2)), Geometry(l_prism())])
    compiled = compile_scene(scene)
    m = compiled.model
    assert m.shape_type.tolist() == [SHAPE_PLANE, SHAPE_BOX, SHAPE_CAPSULE, SHAPE_CONVEX, SHAPE_CONVEX]
    assert m.shape_link.tolist() == [-1, 0, 0, 0, 0] and m.shape_frame.tolist() == [0, 1, 2, 2, 2]
    np.testing.assert_array_equal(m.shape_size[:3], [[0, 0, 0], [1, 2, 3], [0.1, 0.2, 0]])
    np.testing.assert_allclose(m.shape_position[0], [0, 0, -1])
    # in the link frame, whose origin is the centre of mass
    np.testing.assert_allclose(m.shape_position[1:3], [[-0.2, 0, 0], [-0.2 + 0.5 - 1, 0, 0]], atol=1e-15)
    np.testing.assert_allclose(m.shape_rotation[2], quaternion_to_matrix(turn), atol=1e-15)
    np.testing.assert_allclose(m.shape_material[:3], [[0.7, 0.6, 0.1], [0.7, 0.6, 0.1], [0.2, 0.2, 0]])
    assert (m.shape_category[1], m.shape_mask[1]) == (4, 6)
    for n in (3, 4):  # the prism's two boxes
        vertices, faces = slice(*m.shape_vertex[n]), slice(*m.shape_face[n])
        assert len(m.vertices[vertices]) == 8 and len(m.faces[faces]) == 12 and m.faces[faces].max() == 7


def test_compiling_leaves_the_scene_alone_and_repeats() -> None:
    scene = every_kind()
    one, other = compile_scene(scene), compile_scene(scene)
    for name, value in vars(one.model).items():
        if isinstance(value, np.ndarray) and name != "_table":
            np.testing.assert_array_equal(value, getattr(other.model, name), err_msg=name)
    one.model.link_mass[:] = 99.0
    one.q[:] = 99.0
    assert compile_scene(scene).model.link_mass.max() < 99.0


def test_random_inertials_of_tests_are_physical(rng: np.random.Generator) -> None:
    for _ in range(20):
        random_inertial(rng)  # the constructor refuses others
