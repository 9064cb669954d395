"""Forward kinematics against plain NumPy and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.kinematics import coordinate_rate, kinematics
from sesshoku.integrate.position import move
from sesshoku.model.arrays import PLANAR
from sesshoku.scene.compiler import link_poses
from support import sample_count
from trees import Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck
OUTPUTS = ("tree_origin", "rotation", "offset", "axis", "inertia")


def arrays_of(posed: Posed) -> dict:
    return {name: getattr(posed.model, name) for name in ("link_count", "link_joint", "link_coordinate", "link_parent",
                                                          "link_position", "link_rotation")}


@pytest.mark.nojit
def test_link_poses_equal_a_plain_walk_down_the_tree(rng: np.random.Generator) -> None:
    for _ in range(sample_count(3, 50)):
        posed = Posed(random_scene(rng, bases=("free", "kinematic", "fixed", "planar")), ready=False)
        m, d = posed.model, posed.data
        kinematics(m, d, d.q)
        assert all(np.isfinite(getattr(d, name)).all() for name in OUTPUTS)
        for i, (position, rotation) in enumerate(link_poses(arrays_of(posed), d.q, d.kinematic_pose)):
            np.testing.assert_allclose(d.tree_origin[m.link_tree[i]] + d.offset[i], position, atol=1e-12)
            np.testing.assert_allclose(d.rotation[i], rotation, atol=1e-12)


def test_axes_are_the_motion_a_unit_speed_gives(rng: np.random.Generator) -> None:
    """S_k against a finite difference of its link's pose: linear part at the tree's origin, turning part."""
    posed = Posed(random_scene(rng))
    m, d, h = posed.model, posed.data, 1e-6
    for k in range(m.dof_count):
        i, unit_speed, ends = m.dof_link[k], np.zeros(m.dof_count), []
        unit_speed[k] = 1.0
        for step in (-h, h):
            q = d.q.copy()
            move(m, q, unit_speed, step)
            ends.append(link_poses(arrays_of(posed), q, d.kinematic_pose)[i])
        turn = (ends[1][1] - ends[0][1]) / (2 * h) @ d.rotation[i].T
        spin = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        velocity = (ends[1][0] - ends[0][0]) / (2 * h)  # of the link's origin
        np.testing.assert_allclose(d.axis[k, 3:], spin, atol=1e-8)
        np.testing.assert_allclose(d.axis[k, :3] + np.cross(spin, d.offset[i]), velocity, atol=1e-8)


def test_inertias_are_those_of_the_link_seen_from_the_trees_origin(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d = posed.model, posed.data
    for i in range(m.link_count):
        xx, yy, zz, xy, xz, yz = m.link_inertia[i]
        R, mass = d.rotation[i], m.link_mass[i]
        c = d.offset[i] + R @ m.link_center[i]
        turned = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        about = turned + mass * (c @ c * np.eye(3) - np.outer(c, c))
        wanted = [mass, *(mass * c), *np.diag(about), about[0, 1], about[0, 2], about[1, 2]]
        np.testing.assert_allclose(d.inertia[i], wanted, atol=1e-12)


def test_coordinate_rate_is_the_derivative_of_move(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d, h = posed.model, posed.data, 1e-6
    rate, ends = nan(m.coordinate_count), []
    coordinate_rate(m, d.q, d.v, rate)
    for step in (-h, h):
        ends.append(d.q.copy())
        move(m, ends[-1], d.v, step)
    assert relative_error(rate, (ends[1] - ends[0]) / (2 * h)) < 1e-8


def test_zero_coordinates_put_bodies_where_the_scene_says(rng: np.random.Generator) -> None:
    """A planar joint's plane is normal to its axis; at zero the body stands at its own pose."""
    scene = random_scene(rng, trees=1, bases=("planar",))
    posed = Posed(scene, ready=False)
    m, d = posed.model, posed.data
    assert m.link_joint[0] == PLANAR
    axis = scene.bodies["tree0_0"].joint.axis
    kinematics(m, d, d.q)
    normal = d.rotation[0] @ m.frame_rotation[0] @ axis  # a planar joint turns about its axis, so it never tilts
    d.q[:3] = 0.0
    kinematics(m, d, d.q)
    body = d.rotation[0] @ m.frame_rotation[0]
    np.testing.assert_allclose(body @ axis, normal, atol=1e-12)
    position = d.tree_origin[0] + d.offset[0] + d.rotation[0] @ m.frame_position[0]
    np.testing.assert_allclose(position, scene.bodies["tree0_0"].position, atol=1e-12)
