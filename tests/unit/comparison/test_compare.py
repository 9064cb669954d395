"""`compare`: every method on one scene, closed forms beside, refusals, and bad input refused before anything runs."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.comparison.outcome import MEASURES, Comparison
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods import lcp, registry

compare, module = ss.compare, importlib.import_module("sesshoku.comparison.compare")
DT = 2e-3


def push(force: float) -> Any:
    return lambda sim: sim.apply_force("crate", (force, 0, 0))


@pytest.fixture(scope="module")
def thrown() -> Comparison:
    """A crate thrown at 1 m/s stops after 1 / (2 0.5 9.8) m = 0.102 m."""
    return compare(crate_on_floor(1.0), time=0.4, dt=DT, peers=["mujoco"], expected={"travel": (1 / 9.8, 2e-3)})


def test_every_registered_method_and_preset_has_a_row(thrown: Comparison) -> None:
    wanted = [keyword for keyword in registry.keywords() if keyword != "none"]
    assert [outcome.method for outcome in thrown.outcomes] == [*wanted, "MuJoCo"]
    assert all(outcome.ran and outcome.refused is None for outcome in thrown.outcomes)
    assert all(set(outcome.measures) == set(MEASURES) for outcome in thrown.outcomes)
    with pytest.raises(KeyError):
        thrown["nobody"]


def test_the_measures_are_right(thrown: Comparison) -> None:
    measures = thrown["lcp:recommended"].measures
    assert measures["travel"] == pytest.approx(1 / 9.8, abs=0.5 * DT + 1e-4)
    assert measures["slip"] == pytest.approx(measures["travel"], abs=2 * DT)  # it slips all the way it goes
    assert measures["height"] == pytest.approx(0.5, abs=1e-5)
    assert measures["turned"] < 0.01 and measures["lift"] < 1e-5 and measures["penetration"] < 1e-4
    assert measures["energy_change"] == pytest.approx(-0.5, abs=1e-3)  # all of 1/2 m v^2
    assert 0.0 < measures["step"] < 1.0 and measures["unconverged"] == 0.0
    assert thrown.hits(thrown["lcp:recommended"], "travel") is True
    assert thrown.hits(thrown["lcp:recommended"], "height") is None
    trace = thrown["lcp"].traces
    assert set(trace) == {"travel", "height", "energy", "force", "penetration", "residual"}
    assert all(len(values) == len(thrown["lcp"].time) for values in trace.values())
    assert np.median(trace["force"][1:]) == pytest.approx(9.8, rel=1e-2)


def test_turning_is_measured_from_small_to_large(rng: np.random.Generator) -> None:
    for angle in (1e-5, 0.3, 3.0):
        scene = ss.Scene(gravity=(0, 0, 0))
        axis = rng.normal(size=3)
        scene.add_sphere("ball", radius=0.1, mass=1.0, angular_velocity=angle / 0.1 * axis / np.linalg.norm(axis))
        turned = compare(scene, ["none"], time=0.1, dt=1e-3)["none"].measures["turned"]
        assert turned == pytest.approx(np.degrees(angle), rel=1e-6)


def test_two_runs_are_the_same_but_for_their_time() -> None:
    first, second = (compare(crate_on_floor(1.0), ["lcp"], time=0.1, dt=DT)["lcp"] for _ in range(2))
    for name in set(MEASURES) - {"step"}:
        assert first.measures[name] == second.measures[name]
    assert first.frames[-1][0] == pytest.approx(0.1) and len(first.frames) == 5


def test_a_controller_pushes_ours_and_mujoco_alike() -> None:
    result = compare(crate_on_floor(static=0.5), ["lcp:recommended"], controller=push(9.8), time=0.2, dt=DT,
                     peers="mujoco")
    for outcome in result.outcomes:  # half of 9.8 N is left: 4.9 m/s^2
        assert outcome.measures["travel"] == pytest.approx(0.5 * 4.9 * 0.2**2, rel=0.1), outcome.method


def test_one_side_of_the_friction_limit_and_the_other() -> None:
    holds = compare(crate_on_floor(), ["lcp:recommended"], controller=push(0.98 * 4.9), time=0.5)
    slides = compare(crate_on_floor(), ["lcp:recommended"], controller=push(1.02 * 4.9), time=0.5)
    assert holds.outcomes[0].measures["travel"] < 1e-6
    assert slides.outcomes[0].measures["travel"] == pytest.approx(0.5 * 0.098 * 0.25, rel=0.02)


def test_a_method_registered_later_appears_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.MODULES, "newcomer", "sesshoku.methods.none")
    assert "newcomer" in module.choose(None)


def test_methods_with_options_are_told_apart() -> None:
    result = compare(crate_on_floor(), [ss.methods.lcp(max_sweeps=7), "lcp", registry.make(
        "lcp:recommended", {"slop": 1e-3})], time=DT, dt=DT)
    assert [o.method for o in result.outcomes] == ["lcp (max_sweeps=7)", "lcp", "lcp:recommended (slop=0.001)"]


def test_without_free_bodies_the_last_link_is_watched() -> None:
    scene = ss.Scene()
    scene.load(ss.robots.path("arm_gripper.urdf"), fixed_base=True)
    result = compare(scene, ["none"], time=0.01)
    assert len(result.watched) == 1 and "finger" in result.watched[0]
    still = ss.Scene()
    still.add_ground()
    still.add_box("belt", size=(1, 1, 1), kinematic=True)
    measures = compare(still, ["none"], time=0.01)["none"].measures
    assert np.isnan(measures["travel"]) and measures["slip"] == 0.0


# ---- refusals --------------------------------------------------------------------------------------------------------


def test_a_refusal_is_a_row_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lcp, "METHOD", replace(lcp.METHOD, supports=lambda compiled: ["it cannot carry crates"]))
    result = compare(crate_on_floor(), ["lcp", "none"], time=DT, dt=DT)
    assert not result["lcp"].ran and result["none"].ran
    assert str(result["lcp"].refused).startswith("refused: ") and "cannot carry crates" in str(result["lcp"].refused)
    assert result.as_dict()["methods"][0]["refused"] == result["lcp"].refused


def test_a_diverging_run_says_when_and_keeps_what_it_has() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    joint = ss.Joint("prismatic", axis=(1, 0, 0), stiffness=1e12, implicit=False, position=0.1)
    scene.add_body("bead", joint=joint, inertial=ss.Inertial(1.0, matrix=np.eye(3)))
    outcome = compare(scene, ["none"], time=1.0, dt=1e-2, watch="bead")["none"]
    assert str(outcome.refused).startswith("diverged at ") and outcome.ran
    assert np.isnan(outcome.seconds_per_step)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown method": ({"methods": ["lpc"]}, "did you mean 'lcp'"),
    "unknown preset": ({"methods": ["lcp:best"]}, "presets: recommended"),
    "method twice": ({"methods": ["lcp", "lcp"]}, "asked for twice"),
    "no method": ({"methods": []}, "nothing to compare"),
    "no time": ({"time": 0.0}, "time must be greater than 0"),
    "dt of zero": ({"dt": 0.0}, "dt must be greater than 0"),
    "negative dt": ({"dt": -1e-3}, "dt must be greater than 0"),
    "unknown body": ({"watch": ["cratt"]}, "no such body.*crate"),
    "unknown peer": ({"peers": ["bullet"]}, "peers: mujoco"),
    "unknown measure": ({"expected": {"speed": 1.0}}, "measures: travel"),
    "expected text": ({"expected": {"travel": "far"}}, "travel is not a number"),
    "expected list": ({"expected": [9.8]}, "expected answers are a dict"),
    "expected single": ({"expected": {"travel": (9.8,)}}, "travel is a value, or"),
    "expected triple": ({"expected": {"travel": (9.8, 0.1, 0.2)}}, "travel is a value, or"),
    "controller of no use": ({"controller": 3}, "a controller is a function"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_before_anything_runs(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_method", lambda *_: pytest.fail("something ran"))
    options, words = BAD[case]
    with pytest.raises(ss.SesshokuError, match=words):
        compare(crate_on_floor(), **options)


def test_a_scene_is_a_scene() -> None:
    with pytest.raises(ss.SceneError, match="compare needs a Scene"):
        compare("crate.toml")  # type: ignore[arg-type]


# ---- MuJoCo ----------------------------------------------------------------------------------------------------------


def test_mujoco_is_read_after_its_step_not_before() -> None:
    scene = ss.Scene(gravity=(0, 0, -10))
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 5), velocity=(1, 0, 0))
    outcome = compare(scene, ["none"], time=0.1, dt=1e-2, peers=["mujoco"])["MuJoCo"]
    assert outcome.measures["travel"] == pytest.approx(0.1, abs=1e-12)  # ten steps, not nine
    assert outcome.positions["crate"][2] == pytest.approx(5 - 10 * 1e-4 * 55, abs=1e-9)  # semi-implicit: 1 + ... + 10
    assert outcome.frames[-1][1][0, 0] == pytest.approx(0.1, abs=1e-12)


def test_mujoco_carries_the_weight_and_slips_with_the_crate() -> None:
    outcome = compare(crate_on_floor(0.5), ["none"], time=0.5, dt=1e-3, peers=["mujoco"])["MuJoCo"]
    assert np.median(outcome.traces["force"][-20:]) == pytest.approx(9.8, rel=1e-3)
    assert 0.0 < outcome.measures["slip"] < 2 * outcome.measures["travel"]
    assert np.isnan(outcome.measures["residual"])


def test_rows_are_named_as_they_were_asked_for() -> None:
    """What a comparison lists is what it is asked by, and what it is a dictionary of."""
    result = compare(crate_on_floor(0.5), ["none", "exact:recommended"], time=0.01, dt=1e-3, peers=["mujoco"])
    assert list(result) == result.keys() == ["none", "exact:recommended", "mujoco"]
    assert [result[name] for name in result] == result.outcomes
    assert dict(result) == {name: result[name] for name in result}
