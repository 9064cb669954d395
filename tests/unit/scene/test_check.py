"""The boundary: what is let in, what is refused, and that the refusal says enough."""

from __future__ import annotations

import datetime
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesshoku.errors import MethodError, SceneError, SesshokuError, in_file
from sesshoku.scene import check

#: what a Python user or a TOML file can hand in where a number or a vector is wanted
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=3),
              st.complex_numbers(), st.just(object()), st.just(datetime.date(2020, 1, 1))),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=8,
)


@given(anything)
def test_nothing_but_scene_errors_comes_out(value: object) -> None:
    checks = [
        lambda: check.vector(value, "position", "body 'a'"),
        lambda: check.number(value, "mass", "body 'a'", least=0.0),
        lambda: check.quaternion(value, "rotation", "body 'a'"),
        lambda: check.unit_axis(value, "axis", "joint 'a'"),
        lambda: check.name(value, "name"),
    ]
    for attempt in checks:
        try:
            result = attempt()
        except SceneError as error:
            assert error.element is not None
        else:
            assert isinstance(result, str) or np.isfinite(result).all()


def test_vector() -> None:
    given_array = np.array([1.0, 2.0, 3.0])
    result = check.vector(given_array, "position", "body 'a'")
    np.testing.assert_array_equal(result, [1.0, 2.0, 3.0])
    assert result is not given_array  # the user's array may change later
    for bad in ([1, 2], [1, 2, 3, 4], 5, [[1, 2, 3]], [1, 2, np.nan], [1, np.inf, 3], "abc",
                [1, 2, "x"], None, [1, [2], 3], ["1", "2", "3"], [1, 2, True], [1, 2, np.False_],
                np.array([True, False, True]), np.array(["1", "2", "3"]), np.array([1, "2", 3], dtype=object)):
        with pytest.raises(SceneError, match="body 'a': position"):
            check.vector(bad, "position", "body 'a'")


def test_number() -> None:
    assert check.number(np.float32(2.5), "mass", "body 'a'") == 2.5
    assert check.number(np.inf, "effort", "joint 'a'", infinite=True) == np.inf
    for bad, bounds in [
        (np.nan, {}), (np.inf, {}), (np.nan, {"infinite": True}), ("x", {}), (None, {}), ([1, 2], {}),
        ("2.5", {}), (b"2", {}), (True, {}), (np.True_, {}), (np.array("3"), {}), (np.array(True), {}),
        (-1e-9, {"least": 0.0}), (0.0, {"above": 0.0}), (1.01, {"most": 1.0}), (10**400, {}),
    ]:
        with pytest.raises(SceneError, match="body 'a': mass"):
            check.number(bad, "mass", "body 'a'", **bounds)
    assert check.number(0.0, "mass", "body 'a'", least=0.0, most=0.0) == 0.0


def test_quaternion() -> None:
    nearly = check.quaternion([1.0005, 0, 0, 0], "rotation", "body 'a'")
    np.testing.assert_array_equal(nearly, [1, 0, 0, 0])
    quarter = check.quaternion([[0, -1, 0], [1, 0, 0], [0, 0, 1]], "rotation", "body 'a'")
    np.testing.assert_allclose(quarter, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
    for bad in ([1.01, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0], [np.nan, 0, 0, 1], np.diag([1, 1, -1]), 2 * np.eye(3),
                np.full((3, 3), np.nan), "wxyz", None, {"w": 1}, [1, [0, 0, 0]]):
        with pytest.raises(SceneError, match="body 'a': rotation"):
            check.quaternion(bad, "rotation", "body 'a'")


def test_unit_axis() -> None:
    np.testing.assert_allclose(check.unit_axis([0, 3, 4], "axis", "joint 'a'"), [0, 0.6, 0.8])
    for bad in ([0, 0, 0], [1e-12, 0, 0], [1e200, 0, 0], [0, np.nan, 1]):
        with pytest.raises(SceneError, match="joint 'a': axis"):
            check.unit_axis(bad, "axis", "joint 'a'")


def test_name() -> None:
    assert check.name("left knee, 左膝", "name") == "left knee, 左膝"
    for bad in ("", "a\nb", "a\x00", 5, None):
        with pytest.raises(SceneError, match="printable"):
            check.name(bad, "name of a body")


def test_the_message_names_everything() -> None:
    error = SceneError("lower limit 2.1 is above upper limit 0.3", element="joint 'l_knee'", value=(2.1, 0.3),
                       remedy="swap them", file="robot.urdf")
    assert str(error) == ("robot.urdf: joint 'l_knee': lower limit 2.1 is above upper limit 0.3 (got (2.1, 0.3)); "
                          "swap them")
    assert str(SceneError("no bodies")) == "no bodies"
    assert len(str(SceneError("long", value="x" * 10_000))) < 250
    assert isinstance(error, SesshokuError)
    assert isinstance(error, ValueError)


def test_the_innermost_file_is_named() -> None:
    with pytest.raises(SceneError) as caught, in_file("outer.toml"), in_file("inner.urdf"):
        raise SceneError("no bodies")
    assert str(caught.value) == "inner.urdf: no bodies"
    assert caught.value.args == ("inner.urdf: no bodies",)


def test_errors_cross_processes() -> None:
    error = MethodError("unknown method", element="scene", value="magic", remedy="use none", file="a.toml")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is MethodError
    assert str(again) == str(error)


@pytest.mark.parametrize(("what", "remedy"), [("mass", "kg"), ("dt", "seconds"), ("size", "metres")])
def test_common_mistakes_come_with_a_remedy(what: str, remedy: str) -> None:
    for bad in (-1.0, np.nan, "1", None):
        with pytest.raises(SceneError, match=f"; give .*{remedy}"):
            check.number(bad, what, "body 'a'", above=0.0)


def test_errors_show_plain_numbers() -> None:
    with pytest.raises(SceneError) as caught:
        check.number(np.float64(-1.0), "mass", "body 'a'", least=0.0)
    assert "(got -1.0)" in str(caught.value)
    error = SceneError("bad", value=(np.float64(0.5), [np.int64(2)], np.array([1.0, 2.0])))
    assert str(error) == "bad (got (0.5, [2], [1.0, 2.0]))"


def test_scale_is_one_number_or_three() -> None:
    assert check.scale(2, "mesh") == (2.0, 2.0, 2.0)
    assert check.scale(np.array([1.0, 2.0, 3.0]), "mesh") == (1.0, 2.0, 3.0)
    for bad in ("big", (1, 2), True, None, np.nan, [1, 2, "3"]):
        with pytest.raises(SceneError, match="mesh: scale"):
            check.scale(bad, "mesh")


def test_color_has_three_or_four_numbers() -> None:
    assert check.color((1, 0, 0), "geometry") == (1.0, 0.0, 0.0, 1.0)
    assert check.color(np.array([0.1, 0.2, 0.3, 0.4]), "geometry") == (0.1, 0.2, 0.3, 0.4)
    for bad in ("red", 5, np.nan, (1, 0), (1, 0, np.nan, 1), ("1", "0", "0"), (1, 2, 3, 4, 5)):
        with pytest.raises(SceneError, match="geometry: color .*; give red, green, blue"):
            check.color(bad, "geometry")
