"""Elements of a scene: good ones are kept as given, bad ones are refused by name with a value and a remedy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sesshoku.errors import SceneError
from sesshoku.scene import elements
from sesshoku.scene.elements import Actuator, Body, Geometry, Inertial, Joint, Loop, Material, Mimic, Motion
from sesshoku.scene.geometry import shapes

GOOD: list[tuple[type, dict[str, Any]]] = [
    (Material, {"static_friction": 0.5, "kinetic_friction": 0.3, "restitution": 0.2, "stiffness": 1e5,
                "damping": 10.0}),
    (Geometry, {"shape": shapes.Box((1, 2, 3)), "position": (0, 0, 1), "rotation": (1, 0, 0, 0), "category": 1,
                "mask": 3}),
    (Inertial, {"mass": 2.0, "center": (0, 0, 0.1), "matrix": np.diag([1.0, 2.0, 2.5])}),
    (Joint, {"kind": "revolute", "axis": (0, 1, 0), "anchor": (0, 0, 0), "lower": -1.0, "upper": 1.0, "effort": 5.0,
             "velocity_limit": 3.0, "viscous": 0.1, "static_friction": 0.2, "kinetic_friction": 0.1, "stiffness": 3.0,
             "rest": 0.1, "armature": 0.01, "position": 0.2, "velocity": -0.1}),
    (Joint, {"kind": "spherical", "position": (1, 0, 0, 0), "velocity": (0, 0, 1)}),
    (Motion, {"times": [0.0, 1.0], "positions": [(0, 0, 0), (1, 0, 0)], "rotations": [(1, 0, 0, 0), (0, 1, 0, 0)]}),
    (Body, {"name": "crate", "joint": Joint("free"), "position": (0, 0, 1), "rotation": (1, 0, 0, 0),
            "velocity": (1, 0, 0), "angular_velocity": (0, 0, 1)}),
    (Actuator, {"name": "motor", "joint": "knee", "kind": "position", "kp": 10.0, "kd": 1.0, "effort": 3.0, "gear": 2.0,
                "target": 0.1, "target_velocity": 0.0, "feed_forward": 0.0}),
    (Loop, {"name": "closure", "kind": "hinge", "body_a": "a", "body_b": "b", "position": (0, 0, 0), "axis": (1, 0, 0),
            "position_b": (0, 0, 1), "rotation_b": (1, 0, 0, 0), "correction": 0.5}),
    (Mimic, {"joint": "a", "source": "b", "ratio": -1.0, "offset": 0.2}),
    (shapes.Box, {"size": (1, 2, 3)}),
    (shapes.Sphere, {"radius": 1.0}),
    (shapes.Capsule, {"radius": 1.0, "length": 2.0}),
    (shapes.Cylinder, {"radius": 1.0, "length": 2.0}),
    (shapes.Ellipsoid, {"radii": (1.0, 2.0, 3.0)}),
]
#: fields that hold other elements or names, checked where the scene is put together
UNCHECKED = {"shape", "joint", "body_a", "body_b", "source"}

bad_values = st.one_of(
    st.just(math.nan), st.just(-math.inf), st.just("left"), st.just([1.0, math.nan, 0.0]), st.just(10**400),
    st.just({"x": 1.0}), st.just([[1.0], [2.0, 3.0]]), st.just([]), st.just(b"\x00"), st.just(object()),
    st.lists(st.floats(), max_size=8), st.floats(max_value=-1e-3), st.complex_numbers(min_magnitude=0.1),
)


@pytest.mark.parametrize(("cls", "values"), GOOD, ids=lambda value: value.__name__ if isinstance(value, type) else "")
def test_good_elements_are_made(cls: type, values: dict[str, Any]) -> None:
    element = cls(**values)
    for name, value in values.items():
        kept = getattr(element, name)
        if isinstance(value, (int, float, tuple, list, np.ndarray)):
            np.testing.assert_array_equal(kept, np.atleast_1d(value) if np.ndim(kept) else value)


@given(st.data())
def test_a_bad_value_gives_a_scene_error_or_a_finite_element(data: st.DataObject) -> None:
    """Whatever one field is given, the element refuses with SceneError or holds no NaN."""
    cls, values = data.draw(st.sampled_from(GOOD))
    name = data.draw(st.sampled_from(sorted(set(values) - UNCHECKED)))
    try:
        element = cls(**(values | {name: data.draw(bad_values)}))
    except SceneError as error:
        assert error.element
    else:
        kept = getattr(element, name)
        assert not isinstance(kept, (float, np.ndarray)) or not np.isnan(kept).any()


@pytest.mark.parametrize(("make", "message"), [
    (lambda: Material(static_friction=0.2, kinetic_friction=0.3), "material: kinetic_friction is above static"),
    (lambda: Material(restitution=1.1, name="rubber"), "material 'rubber': restitution must be at most 1"),
    (lambda: Material(stiffness=-1.0), "stiffness must be at least 0"),
    (lambda: Geometry(shapes.Sphere(1.0), mask=-1), "mask must be an integer bit field"),
    (lambda: Geometry(shapes.Sphere(1.0), category=1.5), "category must be an integer bit field"),
    (lambda: Inertial(-1.0), "mass must be at least 0"),
    (lambda: Inertial(1.0, matrix=np.diag([1.0, 1.0, 2.1])), "triangle inequality"),
    (lambda: Inertial(1.0, matrix=np.diag([1.0, -1.0, 1.0])), "not physical"),
    (lambda: Inertial(1.0, matrix=[[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]), "not symmetric"),
    (lambda: Inertial(1.0, matrix=np.eye(2)), "not a finite 3x3"),
    (lambda: Joint("revolute", "knee", lower=2.1, upper=0.3), "joint 'knee': lower limit 2.1 is above upper limit 0.3"),
    (lambda: Joint("ball"), "unknown joint kind .*use one of free, revolute"),
    (lambda: Joint("continuous", lower=0.0), "a continuous joint has no limits"),
    (lambda: Joint("spherical", stiffness=1.0), "a spring on a spherical joint"),
    (lambda: Joint("revolute", axis=(0, 0, 0)), "axis has no direction"),
    (lambda: Joint("revolute", position=(1, 2)), "position needs 1 numbers"),
    (lambda: Joint("spherical", position=(1, 1, 0, 0)), "not a unit quaternion"),
    (lambda: Joint("revolute", armature=-1.0), "armature must be at least 0"),
    (lambda: Joint("revolute", static_friction=1.0, kinetic_friction=2.0), "kinetic_friction is above"),
    (lambda: Motion([0.0, 0.0], [(0, 0, 0)] * 2), "increasing"),
    (lambda: Motion([], []), "increasing"),
    (lambda: Motion([0.0, 1.0], [(0, 0, 0)]), "a motion of 2 times needs 2 positions"),
    (lambda: Body(""), "name of a body"),
    (lambda: Body("a", parent="b", joint=Joint("free")), "body 'a': a free joint hangs on the world only"),
    (lambda: Body("a", kinematic=True, joint=Joint("free")), "a kinematic body has no parent and no joint"),
    (lambda: Body("a", motion=Motion([0.0], [(0, 0, 0)])), "only a kinematic body has a motion"),
    (lambda: Body("a", velocity=(1, 0, 0)), "only a free or kinematic body has a velocity"),
    (lambda: Body("a", rotation=(2, 0, 0, 0)), "not a unit quaternion"),
    (lambda: Actuator("m", "j", kind="hydraulic"), "unknown actuator kind"),
    (lambda: Actuator("m", "j", kp=-1.0), "actuator 'm': kp must be at least 0"),
    (lambda: Loop("l", "glue", "a"), "unknown loop kind"),
    (lambda: Loop("l", "ball", "a", correction=1.5), "correction must be at most 1"),
    (lambda: Mimic("a", "b", ratio=math.nan), "mimic of joint 'a': ratio is not finite"),
    (lambda: shapes.Box((1, 0, 1)), "box: size must be greater than 0"),
    (lambda: shapes.Sphere(-1.0), "sphere: radius must be greater than 0"),
    (lambda: shapes.Capsule(1.0, math.inf), "capsule: length is not finite"),
])
def test_bad_elements_are_refused(make: Any, message: str) -> None:
    with pytest.raises(SceneError, match=message):
        make()


@pytest.mark.parametrize("kind", elements.JOINT_SIZES)
def test_every_joint_starts_at_rest_in_its_own_coordinates(kind: Any) -> None:
    joint = Joint(kind)
    velocities, coordinates = elements.JOINT_SIZES[kind]
    assert joint.position.shape == (coordinates,)
    np.testing.assert_array_equal(joint.velocity, np.zeros(velocities))
    turn = joint.position[-4:] if kind in ("free", "spherical") else None
    np.testing.assert_array_equal(joint.position.sum(), 0.0 if turn is None else 1.0)
    if turn is not None:
        np.testing.assert_array_equal(turn, [1, 0, 0, 0])


def test_a_thin_plate_and_rounded_inertias_pass() -> None:
    Inertial(1.0, matrix=(1.0, 1.0, 2.0))  # three moments: a diagonal matrix
    Inertial(1.0, matrix=np.diag([1.0, 1.0, 2.0 + 1e-5]))
    skew = np.diag([1.0, 1.0, 1.0])
    skew[0, 1] = 1e-8
    np.testing.assert_allclose(Inertial(1.0, matrix=skew).matrix[1, 0], 5e-9)


def test_friction_defaults() -> None:
    assert Material(static_friction=0.7).kinetic_friction == 0.7
    assert Joint("revolute", static_friction=0.7).kinetic_friction == 0.7


def test_a_joint_takes_the_name_of_its_body() -> None:
    joint = Joint("free")
    assert Body("crate", joint=joint).joint.name == "crate"
    assert joint.name is None  # the given joint is not changed: it may serve another body
    assert Body("crate", joint=Joint("free", name="float")).joint.name == "float"


@pytest.mark.parametrize(("kind", "options"), GOOD)
def test_a_misspelt_keyword_is_refused_with_the_right_one(kind: type, options: dict[str, Any]) -> None:
    right = list(options)[-1]
    wrong = right[:-1] + "_" + right[-1]
    with pytest.raises(SceneError, match=f"{kind.__name__}: unknown keyword '{wrong}'; did you mean '{right}'"):
        kind(**{key: value for key, value in options.items() if key != right} | {wrong: options[right]})


def test_missing_and_surplus_arguments_are_refused() -> None:
    with pytest.raises(SceneError, match="Mimic: missing a required argument: 'source'"):
        Mimic("a")  # type: ignore[call-arg]
    with pytest.raises(SceneError, match="Mimic: too many positional arguments"):
        Mimic("a", "b", 1.0, 0.0, 5)  # type: ignore[call-arg]


@pytest.mark.parametrize("make", [
    lambda: Joint("revolute", lower=np.inf), lambda: Joint("revolute", upper=-np.inf),
    lambda: Joint("revolute", implicit="yes"), lambda: Joint(name=5), lambda: Joint(name=""),
    lambda: Geometry(shapes.Sphere(1.0), material="rubber"), lambda: Geometry(shapes.Sphere(1.0), material={}),
    lambda: Geometry(shapes.Sphere(1.0), color="red"), lambda: Geometry(shapes.Sphere(1.0), collides="no"),
    lambda: Geometry("box"), lambda: Geometry(shapes.Sphere(1.0), name=3), lambda: Material(name=3),
    lambda: Body("a", joint="revolute"), lambda: Body("a", inertial=3.0), lambda: Body("a", geometries="box"),
    lambda: Body("a", geometries=[shapes.Sphere(1.0)]), lambda: Body("a", kinematic="no"), lambda: Body("a", parent=5),
    lambda: Body("a", kinematic=True, motion=5), lambda: Actuator("a", "j", implicit="no"), lambda: Actuator("a", 5),
    lambda: Loop("l", "ball", 5), lambda: Loop("l", "ball", "a", 5), lambda: Mimic(5, "a"), lambda: Mimic("a", None),
    lambda: Inertial(1.0, matrix=[["1", 0, 0], [0, 1, 0], [0, 0, 1]]), lambda: Inertial(True), lambda: Inertial("5"),
])
def test_parts_of_a_wrong_kind_are_refused(make: Any) -> None:
    with pytest.raises(SceneError) as caught:
        make()
    assert caught.value.element


@pytest.mark.parametrize(("lower", "upper", "start"), [(1, 2, 1), (-3, -2, -2), (-1, 1, 0), (0, 2, 0)])
def test_a_joint_starts_at_zero_or_the_limit_nearest_to_it(lower: float, upper: float, start: float) -> None:
    for kind in ("revolute", "prismatic"):
        joint = Joint(kind, name="j", lower=lower, upper=upper)
        assert joint.position.tolist() == [start]
        assert (joint.start_note() is None) == (start == 0)
        assert Joint(kind, lower=lower, upper=upper, position=0.0).position.tolist() == [0.0]
