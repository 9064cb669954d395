"""Rotations against SciPy and against their own inverses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sesshoku.spatial import rotation

component = st.floats(-1.0, 1.0).map(lambda x: 0.0 if abs(x) < 1e-100 else x)
quaternions = st.tuples(*[component] * 4).filter(lambda q: np.linalg.norm(q) > 1e-3).map(
    lambda q: np.array(q) / np.linalg.norm(q))
angles = st.floats(-np.pi, np.pi)


def scipy_rotation(q: np.ndarray) -> Rotation:
    return Rotation.from_quat(np.roll(q, -1))  # SciPy puts w last


@pytest.mark.nojit
@given(quaternions)
def test_matrix_of_a_quaternion(q: np.ndarray) -> None:
    np.testing.assert_allclose(rotation.quaternion_to_matrix(q), scipy_rotation(q).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(rotation.quaternion_to_matrix(3.0 * q), scipy_rotation(q).as_matrix(), atol=1e-14)


@given(quaternions)
def test_matrix_to_quaternion_and_back(q: np.ndarray) -> None:
    back = rotation.matrix_to_quaternion(rotation.quaternion_to_matrix(q))
    assert back[0] >= 0.0
    assert np.linalg.norm(back) == pytest.approx(1.0, abs=1e-15)
    assert min(np.abs(back - q).max(), np.abs(back + q).max()) < 1e-14


@pytest.mark.parametrize("axis", np.eye(3).tolist())
def test_half_turns_come_back(axis: list[float]) -> None:
    """Here w = 0 and only one of the four square roots is away from zero."""
    turn = rotation.axis_angle(np.array(axis), np.pi)
    back = rotation.matrix_to_quaternion(rotation.quaternion_to_matrix(turn))
    assert abs(back @ turn) == pytest.approx(1.0, abs=1e-15)


@given(quaternions, quaternions)
def test_product_turns_by_the_right_one_first(a: np.ndarray, b: np.ndarray) -> None:
    product = rotation.quaternion_to_matrix(rotation.multiply(a, b))
    np.testing.assert_allclose(
        product, rotation.quaternion_to_matrix(a) @ rotation.quaternion_to_matrix(b), atol=1e-14)


@given(angles, angles, angles)
def test_roll_pitch_yaw_turn_about_fixed_axes(roll: float, pitch: float, yaw: float) -> None:
    found = rotation.quaternion_to_matrix(rotation.from_roll_pitch_yaw(roll, pitch, yaw))
    np.testing.assert_allclose(found, Rotation.from_euler("xyz", [roll, pitch, yaw]).as_matrix(), atol=1e-14)


@given(quaternions)
def test_rotation_vector(q: np.ndarray) -> None:
    vector = rotation.rotation_vector(rotation.quaternion_to_matrix(q))
    assert np.linalg.norm(vector) <= np.pi + 1e-12
    np.testing.assert_allclose(Rotation.from_rotvec(vector).as_matrix(), scipy_rotation(q).as_matrix(), atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-9, 1e-4, 1.0, 3.14159])
def test_rotation_vector_of_small_and_large_turns(angle: float) -> None:
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    turn = rotation.quaternion_to_matrix(rotation.axis_angle(axis, angle))
    np.testing.assert_allclose(rotation.rotation_vector(turn), angle * axis, rtol=1e-9, atol=1e-16)


@given(st.tuples(component, component, component).filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_frame_with_z(direction: tuple[float, float, float]) -> None:
    z = np.array(direction) / np.linalg.norm(direction)
    R = rotation.frame_with_z(z)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(R[:, 2], z)


def test_frame_with_z_of_z_is_the_identity() -> None:
    np.testing.assert_array_equal(rotation.frame_with_z(np.array([0.0, 0.0, 1.0])), np.eye(3))
