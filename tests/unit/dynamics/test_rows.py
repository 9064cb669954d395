"""Constraint rows of limits, joint friction, mimics and loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.dynamics.constraints.rows import (
    ROW_FRICTION,
    ROW_LOOP,
    ROW_LOWER,
    ROW_MIMIC,
    ROW_UPPER,
    group_rows,
    mimic_error,
)
from sesshoku.dynamics.data import row_capacity
from sesshoku.dynamics.jacobian import chain_times
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from sesshoku.spatial.rotation import axis_angle, multiply, rotation_vector
from support import sample_count
from trees import Posed, random_inertial, random_scene, unit

pytestmark = pytest.mark.boundscheck
DT = 0.01


def slider(**joint: Any) -> Posed:
    scene = Scene()
    scene.add_body("wall", fixed=True)
    scene.add_body("cart", parent="wall", joint=Joint("prismatic", **joint),
                   inertial=Inertial(1.0, (0, 0, 0), np.eye(3)))
    return Posed(scene)


def rows(posed: Posed, group: int = 0) -> int:
    return int(group_rows(posed.model, posed.data, group, posed.data.q, posed.data.v, DT))


@pytest.mark.nojit
@pytest.mark.parametrize(("position", "velocity", "kinds"), [
    (0.5, 0.0, []), (0.0005, 0.0, [ROW_LOWER]), (0.9995, 0.0, [ROW_UPPER]), (0.5, 60.0, [ROW_LOWER, ROW_UPPER]),
    (0.1, -4.0, [ROW_LOWER]), (0.9, 4.0, [ROW_UPPER]),
])
def test_limits_give_rows_only_where_the_step_may_reach(position: float, velocity: float, kinds: list[int]) -> None:
    posed = slider(lower=0.0, upper=1.0, position=position, velocity=velocity)
    d, count = posed.data, rows(posed)
    assert d.row_source[:count, 0].tolist() == kinds
    for row, kind in enumerate(kinds):
        gap = position if kind == ROW_LOWER else 1.0 - position
        sign = 1.0 if kind == ROW_LOWER else -1.0
        assert d.row_target[row] == pytest.approx(-gap / DT)  # it may just arrive at the limit
        assert d.row_jacobian[d.row_start[row, 0]] == sign
        assert d.row_low[row] == 0.0 and d.row_high[row] > 1e100


def test_beyond_a_limit_the_row_asks_for_no_speed() -> None:
    """What brings the joint back must not leave a velocity behind."""
    posed = slider(lower=0.0, upper=1.0)
    posed.data.q[0] = -0.2
    assert rows(posed) == 1 and posed.data.row_target[0] == 0.0


def test_friction_rows_take_the_bound_of_their_state() -> None:
    posed = slider(static_friction=3.0, kinetic_friction=2.0)
    for slips, bound in ((0, 3.0), (1, 2.0)):
        posed.data.friction_slips[0] = slips
        assert rows(posed) == 1 and posed.data.row_source[0, 0] == ROW_FRICTION
        assert (posed.data.row_low[0], posed.data.row_high[0]) == pytest.approx((-DT * bound, DT * bound))


def mimic_scene() -> Scene:
    scene = Scene()
    for name in "ab":
        scene.add_body(name, joint=Joint("revolute", velocity=0.5 if name == "a" else 2.0),
                       inertial=Inertial(1.0, (0, 0, 0), np.eye(3)))
    scene.add_mimic("b", "a", ratio=-2.0, offset=0.3)
    return scene


def test_mimic_row_is_the_rate_of_its_error() -> None:
    posed = Posed(mimic_scene())
    d = posed.data
    assert rows(posed) == 1 and d.row_source[0, 0] == ROW_MIMIC
    speed = sum(chain_times(posed.model, d.row_end[0, s], d.row_jacobian, d.row_start[0, s], d.v) for s in range(2))
    assert speed == pytest.approx(2.0 + 2 * 0.5)
    assert d.row_target[0] == 0.0  # what is left open is closed by moving, not by a velocity
    assert mimic_error(posed.model, 0, d.q) == pytest.approx(-0.3)


def loop_scene(rng: np.random.Generator, kind: Any, axis: np.ndarray) -> Scene:
    """Two free bodies (one scripted half of the time) with an anchor off both origins."""
    scene = Scene()
    motion = {"velocity": rng.normal(size=3), "angular_velocity": rng.normal(size=3)}
    scene.add_body("a", position=rng.normal(size=3), rotation=unit(rng, 4), inertial=random_inertial(rng), **motion)
    scene.add_body("b", position=rng.normal(size=3), rotation=unit(rng, 4), inertial=random_inertial(rng),
                   kinematic=bool(rng.integers(2)), velocity=rng.normal(size=3), angular_velocity=rng.normal(size=3))
    scene.add_loop(kind, "a", "b", position=rng.normal(size=3), axis=axis)
    return scene


def row_speeds(posed: Posed, count: int) -> np.ndarray:
    """Constraint velocity of every row: its chains, and what a scripted root gives (kept in the target)."""
    d, m = posed.data, posed.model
    chains = np.array([sum(chain_times(m, d.row_end[r, s], d.row_jacobian, d.row_start[r, s], d.v) for s in range(2))
                       for r in range(count)])
    return chains - d.row_target[:count]


@pytest.mark.parametrize(("kind", "count"), [("ball", 3), ("hinge", 5), ("weld", 6)])
def test_loop_errors_start_at_zero_and_rows_are_their_rates(kind: str, count: int, rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 100)):
        scene, h = loop_scene(rng, kind, unit(rng, 3)), 1e-6
        posed = Posed(scene)
        assert rows(posed) == count
        assert (posed.data.row_source[:count, 0] == ROW_LOOP).all()
        np.testing.assert_allclose(posed.data.loop_error[0][:count], 0.0, atol=1e-12)
        speeds, errors = row_speeds(posed, count), []
        for step in (-h, h):
            later = moved(posed, step)
            rows(later)
            errors.append(later.data.loop_error[0][:count].copy())
        np.testing.assert_allclose((errors[1] - errors[0]) / (2 * h), speeds, atol=1e-6)


def moved(posed: Posed, h: float) -> Posed:
    """Later along its velocity, scripted bodies too."""
    from sesshoku.integrate.position import move_kinematic

    later = posed.moved(h)
    move_kinematic(later.model, later.data, h)
    later.refresh()
    return later


@pytest.mark.parametrize("turn", [0.0, 1.0, 2.5, np.pi - 1e-3, np.pi, np.pi + 1e-3, 5.0])
def test_hinge_error_measures_the_tilt_at_any_turn(turn: float, rng: np.random.Generator) -> None:
    """A hinge may turn by any angle; its error is the tilt alone, and shrinks when the rows do what they are asked."""
    scene = Scene()
    scene.add_body("door", inertial=random_inertial(rng))
    scene.add_loop("hinge", "door", None, axis=(0, 0, 1))
    posed = Posed(scene)
    tilt = 1e-4 * np.array([1.0, -0.5, 0.0])
    angle = float(np.linalg.norm(tilt))
    posed.data.q[3:7] = multiply(axis_angle(tilt / angle, angle), axis_angle(np.array([0, 0, 1.0]), turn))
    posed.refresh()
    rows(posed)
    frame = posed.data.loop_frame[0, 0]  # anchor frame on the door
    np.testing.assert_allclose(frame[:, :2] @ posed.data.loop_error[0, 3:5], tilt, atol=1e-8)


def test_weld_error_is_the_rotation_vector(rng: np.random.Generator) -> None:
    scene = Scene()
    scene.add_body("block", inertial=random_inertial(rng))
    scene.add_loop("weld", "block", None)
    posed = Posed(scene)
    posed.data.q[3:7] = unit(rng, 4)
    posed.refresh()
    rows(posed)
    frame = posed.data.loop_frame[0, 0]
    np.testing.assert_allclose(frame @ posed.data.loop_error[0, 3:], rotation_vector(posed.data.rotation[0]), atol=1e-9)


def test_groups_hold_apart_what_nothing_joins(rng: np.random.Generator) -> None:
    """Trees joined by a loop or a mimic are one group; a lonely limited joint is its own; a free body is none."""
    scene = random_scene(rng, trees=5, size=3, bases=("free",))
    for n in range(3):
        scene.add_body(f"lonely{n}", inertial=random_inertial(rng),
                       joint=Joint("revolute", lower=-1.0, static_friction=0.1))
    scene.add_loop("weld", "tree0_1", "tree3_2")
    scene.add_loop("ball", "tree1_1", None)
    scene.add_mimic("lonely2", "lonely0")
    posed = Posed(scene)
    m = posed.model
    found = {}
    for g in range(m.group_count):
        loops, limited = range(*m.group_loop[g : g + 2]), m.limited_dofs[slice(*m.group_limited[g : g + 2])]
        trees = {int(m.link_tree[link]) for n in loops for link in m.loop_link[n] if link >= 0}
        trees |= {int(m.link_tree[m.dof_link[k]]) for k in limited}
        found[tuple(sorted(trees))] = (rows(posed, g), int(np.diff(m.group_rubbing)[g]), int(np.diff(m.group_mimic)[g]))
    assert found == {(0, 3): (6, 0, 0), (1,): (3, 0, 0), (5, 7): (3, 2, 1), (6,): (1, 1, 0)}
    assert row_capacity(m) == 7  # two lonely joints: two limits each, two frictions, the mimic
