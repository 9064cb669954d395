"""The crane's motion: inputs, and a path within its limits whatever is held down."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesshoku.apps.crane.motion import KEYS, SWITCHES, Inputs, Limits, Path
from sesshoku.errors import SceneError

DT = 1 / 50
share = st.floats(-1.0, 1.0)
inputs = st.builds(Inputs, x=share, y=share, z=share, turn=share, grab=st.booleans(), hurry=st.booleans())


def test_keys_add_up_and_opposite_ones_cancel() -> None:
    assert Inputs.of_keys({"left", "up", "grab"}) == Inputs(x=-1.0, z=1.0, grab=True)
    assert Inputs.of_keys({"left", "right", "turn_left"}) == Inputs(turn=1.0)
    assert Inputs.of_keys([]) == Inputs()


@given(inputs)
def test_inputs_go_through_a_row_of_numbers(held: Inputs) -> None:
    assert Inputs.of_row(held.as_row()) == held


@pytest.mark.parametrize("bad", [{"x": 1.5}, {"y": float("nan")}, {"z": "fast"}, {"turn": True}])
def test_bad_inputs_are_refused(bad: dict) -> None:
    with pytest.raises(SceneError, match=next(iter(bad))):
        Inputs(**bad)


def test_unknown_keys_are_named() -> None:
    with pytest.raises(SceneError, match="jump"):
        Inputs.of_keys({"jump"})
    assert set(KEYS).isdisjoint(SWITCHES)


@given(st.lists(inputs, min_size=1, max_size=60))
def test_speed_acceleration_and_room_are_kept(held: list[Inputs]) -> None:
    """Whatever is pressed. The room's end stops it at the latest there: that stop may be harder than a start."""
    limits = Limits(room=((-1.0, -1.0, 0.5), (1.0, 1.0, 1.5)))
    path = Path((0.0, 0.0, 1.0), limits)
    fastest = 0.25 * limits.hurry * np.linalg.norm(limits.speed)
    for step in held:
        before = path.velocity
        path.aim(step, DT)
        most = (limits.hurry if step.hurry else 1.0) * limits.acceleration * DT
        ends = np.abs(path.position[:, None] - np.array(limits.room).T).min() < fastest * DT
        assert np.linalg.norm(path.velocity - before) <= most * (1 + 1e-9) or ends
        assert np.linalg.norm(path.velocity) <= fastest + 1e-9
        path.advance(DT)
        assert (path.position >= np.array(limits.room[0]) - 1e-9).all()
        assert (path.position <= np.array(limits.room[1]) + 1e-9).all()


def test_a_held_key_reaches_the_speed_and_stops_in_the_expected_way() -> None:
    limits = Limits()
    path = Path((0.0, 0.0, 0.0), limits)
    for _ in range(100):
        path.aim(Inputs(x=1.0), DT)
        path.advance(DT)
    assert path.velocity == pytest.approx([limits.speed[0], 0, 0])
    start = path.position[0]
    for _ in range(100):
        path.aim(Inputs(), DT)
        path.advance(DT)
    assert (path.velocity == 0.0).all()
    assert path.position[0] - start == pytest.approx(limits.speed[0] ** 2 / (2 * limits.acceleration), rel=0.05)


def test_it_does_not_press_on_against_a_load() -> None:
    path = Path((0.0, 0.0, 0.0), Limits())
    for _ in range(50):
        path.aim(Inputs(x=1.0, z=-1.0), DT, load=(0.0, 0.0, 100.0))
        path.advance(DT)
    assert path.position[2] == 0.0 and path.position[0] > 0.5
    path.aim(Inputs(z=1.0), DT, load=(0.0, 0.0, 100.0))
    assert path.velocity[2] > 0.0  # away from it is free


def test_the_script_is_where_the_path_goes() -> None:
    path = Path((1.0, 2.0, 3.0), Limits())
    for _ in range(20):
        path.aim(Inputs(x=0.5, turn=1.0), DT)
        position, rotation = path(path.time + DT)
        path.advance(DT)
        again, rotation_again = path(path.time)
        assert again == pytest.approx(position) and rotation_again == pytest.approx(rotation)
