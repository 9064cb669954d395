"""Poses and velocities of named bodies."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.frames import frame_poses, frame_velocities, matrix_quaternion
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle, matrix_to_quaternion, quaternion_to_matrix
from support import sample_count
from trees import Posed, nan, random_scene, unit

pytestmark = pytest.mark.boundscheck


def poses(posed: Posed) -> np.ndarray:
    out = nan(posed.model.frame_count, 7)
    frame_poses(posed.model, posed.data, out)
    return out


@pytest.mark.nojit
def test_frame_poses_compose_down_the_tree(rng: np.random.Generator) -> None:
    """A body fixed to another keeps its pose there; one fixed to the world stands where the scene puts it."""
    scene = random_scene(rng)
    scene.add_body("shelf", fixed=True, position=(1, 2, 3), rotation=unit(rng, 4))
    scene.add_body("book", parent="shelf", position=(0, 0, 0.5), rotation=unit(rng, 4))
    scene.add_body("plate", parent="tree0_1", position=(0.1, 0.2, 0.3), rotation=unit(rng, 4))
    posed = Posed(scene)
    at = dict(zip(posed.compiled.frame_names, poses(posed), strict=True))
    for body, parent in (("shelf", None), ("book", "shelf"), ("plate", "tree0_1")):
        b = scene.bodies[body]
        R = np.eye(3) if parent is None else quaternion_to_matrix(at[parent][3:])
        p = np.zeros(3) if parent is None else at[parent][:3]
        np.testing.assert_allclose(at[body][:3], p + R @ b.position, atol=1e-12)
        turn = quaternion_to_matrix(at[body][3:])
        np.testing.assert_allclose(turn, R @ quaternion_to_matrix(b.rotation), atol=1e-12)


def test_frame_velocities_are_the_finite_difference_of_the_poses(rng: np.random.Generator) -> None:
    scene = random_scene(rng)
    scene.add_body("shelf", fixed=True)
    scene.add_body("plate", parent="tree0_1", position=(0.4, 0.2, 0.3), rotation=unit(rng, 4))
    posed, h = Posed(scene), 1e-6
    velocities = nan(posed.model.frame_count, 6)
    frame_velocities(posed.model, posed.data, velocities)
    before, after = poses(posed.moved(-h)), poses(posed.moved(h))
    for f in range(posed.model.frame_count):
        np.testing.assert_allclose(velocities[f, :3], (after[f, :3] - before[f, :3]) / (2 * h), atol=1e-7)
        turn = quaternion_to_matrix(after[f, 3:]) @ quaternion_to_matrix(before[f, 3:]).T
        spin = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]]) / (4 * h)
        np.testing.assert_allclose(velocities[f, 3:], spin, atol=1e-7)
    assert not velocities[posed.compiled.frame_index["shelf"]].any()


def test_quaternions_of_all_turns(rng: np.random.Generator) -> None:
    """Also where one of the four components is tiny: half turns about and near each axis."""
    turns = [unit(rng, 4) for _ in range(sample_count(200, 5000))]
    turns += [axis_angle(axis, angle) for axis in np.eye(3) for angle in (0, np.pi, np.pi - 1e-9, np.pi + 1e-9, 1e-12)]
    for q in turns:
        R = quaternion_to_matrix(q)
        ours = np.array(matrix_quaternion(*R.ravel()))
        assert ours[0] >= 0.0 and abs(ours @ ours - 1) < 1e-14
        np.testing.assert_allclose(quaternion_to_matrix(ours), R, atol=1e-14)
        np.testing.assert_allclose(abs(ours @ matrix_to_quaternion(R)), 1.0, rtol=1e-14)


def test_a_scene_of_fixed_bodies_has_frames() -> None:
    scene = Scene()
    scene.add_body("a", fixed=True, position=(1, 0, 0))
    np.testing.assert_array_equal(poses(Posed(scene)), [[1, 0, 0, 1, 0, 0, 0]])
