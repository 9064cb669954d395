"""Arguments that a public call does not take: one error of the family that says what there is, for every call."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sesshoku as ss
from mechanisms import pendulum
from sesshoku.comparison.outcome import Comparison
from sesshoku.methods.registry import Method
from sesshoku.recording import Recorder
from sesshoku.scene.calls import checked, checked_as
from sesshoku.simulation.views import ActuatorView, BodyView, JointView

ERRORS = (ss.Snapshot, BaseException)  # built by us, with Python's own constructors
OPEN = {"add_box", "add_sphere", "add_capsule", "add_cylinder", "add_convex", "add_mesh", "add_actuator", "add_loop",
        "add_ellipsoid", "add_height_field", "add_tendon", "add_force_sensor", "add_imu", "add_frame",
        "add_camera", "where"}


def public_calls() -> Iterator[tuple[str, Any]]:
    """Every class, method and function that users can reach by a public name, as (name, function)."""
    things = [getattr(ss, name) for name in ss.__all__ if name != "__version__"]
    for module in (ss.methods, ss.robots):
        things += [getattr(module, name) for name in module.__all__]
    things += [Method, Recorder, Comparison, BodyView, JointView, ActuatorView]
    for thing in things:
        if isinstance(thing, ModuleType) or (isinstance(thing, type) and issubclass(thing, ERRORS)):
            continue
        if not isinstance(thing, type):
            yield thing.__name__, thing
            continue
        yield thing.__name__, thing
        for name, member in inspect.getmembers(thing):
            if not name.startswith("_") and inspect.isroutine(member):
                yield f"{thing.__name__}.{name}", inspect.getattr_static(thing, name)


CALLS = dict(public_calls())


def call(name: str, *args: Any, **options: Any) -> Any:
    """Call by name; a method gets an object that was never initialised: its arguments are refused before it looks."""
    function = CALLS[name]
    if isinstance(function, classmethod):
        return function.__func__(getattr(ss, name.split(".")[0]), *args, **options)
    if "." in name:
        return function(object(), *args, **options)
    return function(*args, **options)


def test_the_list_is_whole() -> None:
    assert len(CALLS) > 70
    assert {"Scene", "Scene.add_body", "Scene.load", "Scene.read", "Scene.friction", "Simulation", "Simulation.run",
            "Simulation.apply_force", "compare", "Recording.load", "BodyView.set_pose", "path", "Box"} <= set(CALLS)


@pytest.mark.parametrize("name", [name for name in CALLS if name.rpartition(".")[2] not in OPEN])
def test_an_unknown_keyword_is_named(name: str) -> None:
    with pytest.raises(ss.SesshokuError, match=r"unknown keyword 'fooo'; (known: |did you mean )") as caught:
        call(name, fooo=1)
    assert name.split(".")[0] in str(caught.value)
    assert not isinstance(caught.value, TypeError)


@pytest.mark.parametrize("name", CALLS)
def test_a_near_miss_is_suggested(name: str) -> None:
    target = getattr(CALLS[name], "__func__", CALLS[name])
    named = [p for p in inspect.signature(target).parameters.values()
             if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in ("self", "cls")]
    for parameter in named:
        if len(parameter.name) < 3:
            continue
        wrong = parameter.name + parameter.name[-1]
        with pytest.raises(ss.SesshokuError, match=f"unknown keyword '{wrong}'; did you mean '") as caught:
            call(name, **{wrong: 1})
        assert f"did you mean '{parameter.name}'?" in str(caught.value)


@pytest.mark.parametrize("name", CALLS)
def test_too_many_and_missing_arguments(name: str) -> None:
    function = getattr(CALLS[name], "__func__", CALLS[name])
    with pytest.raises(ss.SesshokuError, match=r"too many positional arguments; arguments: "):
        call(name, *[None] * 30)
    parameters = list(inspect.signature(function).parameters.values())
    missing = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
               and p.name not in ("self", "cls")]
    if missing:
        with pytest.raises(ss.SesshokuError, match=f"missing a required .*'{missing[0].name}'; arguments: "):
            call(name)


@pytest.mark.parametrize(("make", "message"), [
    (lambda s: s.add_box("b", siz=(1, 1, 1), mass=1.0), "Scene.add_box: unknown keyword 'siz'; did you mean 'size'"),
    (lambda s: s.add_box("b", size=(1, 1, 1), mas=1.0), "body 'b': unknown keyword 'mas'; did you mean 'mass'"),
    (lambda s: s.add_sphere("b", radius=1.0, mass=1.0, positon=(0, 0, 1)), "'positon'; did you mean 'position'"),
    (lambda s: s.add_actuator("joint", kpp=1.0), "Actuator: unknown keyword 'kpp'; did you mean 'kp'"),
    (lambda s: s.add_loop("ball", "a", "b", correctio=1.0), "Loop: unknown keyword 'correctio'; .*'correction'"),
    (lambda s: ss.methods.lcp(10), "method 'lcp': options are given by name .*; options: "),
])
def test_keywords_that_are_passed_on(make: Any, message: str) -> None:
    with pytest.raises(ss.SceneError, match=message):
        make(ss.Scene())


def test_errors_from_within_are_left_alone() -> None:
    @checked
    class Thing:
        def add(self, a: int) -> int:
            return a + "1"  # type: ignore[operator, no-any-return]

        def passes_on(self) -> None:
            self._private(1, 2)  # type: ignore[call-arg]

        def _private(self) -> None:
            pass

    for bad in (lambda: Thing().add(1), Thing().passes_on):
        with pytest.raises(TypeError):
            bad()
    assert str(inspect.signature(Thing.add)) == "(self, a: 'int') -> 'int'"
    with pytest.raises(ss.SceneError, match="Thing.add: missing a required argument: 'a'; arguments: a"):
        Thing().add()  # type: ignore[call-arg]


def test_a_controllers_own_mistake_stays_its_own() -> None:
    sim = ss.Simulation(pendulum())
    with pytest.raises(TypeError, match="lambda"):
        sim.run(0.01, controller=lambda: None)  # type: ignore[arg-type, misc]


def test_another_error_of_the_family() -> None:
    @checked_as(ss.RecordingError)
    def read(name: str) -> str:
        return name

    with pytest.raises(ss.RecordingError, match="read: unknown keyword 'nam'; did you mean 'name'"):
        read(nam="x")  # type: ignore[call-arg]


def test_warnings_point_at_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text('<mujoco><worldbody><body name="b"><joint name="j"/><geom type="ellipsoid" size="1 2 3"/></body>'
                    '<light/></worldbody><tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon></mujoco>')
    scene = ss.Scene()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scene.load(file)
        scene.add_cylinder("drum", radius=1.0, length=1.0, mass=1.0, kinematic=False,
                           material=ss.Material(0.5, 0.3, restitution=0.7))
        scene.to_mjcf()
    ours = [item for item in caught if issubclass(item.category, ss.UnsupportedFeature)]
    assert len(ours) == 2
    assert [Path(item.filename).name for item in ours] == [Path(__file__).name] * 2


def test_a_misspelt_attribute_is_refused() -> None:
    scene = ss.Scene()
    box = scene.add_box("box", size=(1, 1, 1), mass=1.0)
    with pytest.raises(ss.SceneError, match="Body: no attribute 'mass'"):
        box.mass = 2.0  # type: ignore[attr-defined]  # it is the inertial's
    with pytest.raises(ss.SceneError, match="did you mean 'stiffness'"):
        box.joint.stifness = 1.0  # type: ignore[attr-defined]
    box.position = (0, 0, 1)
    copy.copy(box).name = "other"
