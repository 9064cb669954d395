"""Keywords, options and presets of methods."""

from __future__ import annotations

import pickle

import pytest

import sesshoku as ss
from sesshoku.methods import registry


@pytest.fixture
def scene() -> ss.Scene:
    made = ss.Scene()
    made.add_sphere("ball", radius=0.1, mass=1.0)
    return made


def test_keyword_module_and_call_mean_the_same() -> None:
    for given in ("none", ss.methods.none, ss.methods.none(), registry.make("none", {})):
        method = registry.resolve(given)
        assert method.keyword == "none" and method.options == ss.methods.none.Options()
    assert registry.resolve(ss.methods.none(integrator="rkg")).options.integrator == "rkg"


def test_every_keyword_offers_what_a_method_must() -> None:
    assert registry.DEFAULT in registry.keywords()
    for keyword in registry.keywords():
        method = registry.resolve(keyword)
        assert isinstance(method.options, method.definition.options), keyword
        assert method.definition.stages_of(method.options).names, keyword


@pytest.mark.parametrize(("method", "words"), [
    ("nome", "did you mean 'none'"), ("", "no such method"), ("none:best", "no preset 'best'"),
    ("lcp:", "no preset ''"), (7, "no such method"),
])
def test_unknown_methods_are_refused_with_a_hint(scene: ss.Scene, method: str, words: str) -> None:
    with pytest.raises(ss.MethodError, match=words):
        ss.Simulation(scene, method)


def test_unknown_options_and_values_are_refused() -> None:
    with pytest.raises(ss.MethodError, match="unknown option 'integrater'.*did you mean 'integrator'"):
        ss.methods.none(integrater="rk4")
    with pytest.raises(ss.MethodError, match="integrator must be one of semi-implicit, euler, rk4, rkg .*rk5"):
        ss.methods.none(integrator="rk5")
    for tolerance in (0.0, -1.0, 2.0, float("nan")):
        with pytest.raises(ss.MethodError, match="tolerance"):
            ss.methods.none(tolerance=tolerance)
    with pytest.raises(AttributeError):
        ss.methods.nothing  # noqa: B018


def test_methods_print_and_pickle() -> None:
    method = ss.methods.none(integrator="rk4")
    assert "integrator='rk4'" in repr(method) and repr(method).startswith("none(")
    again = pickle.loads(pickle.dumps(method))
    assert again.keyword == "none" and again.options == method.options and again.module is method.module


def test_method_errors_are_scene_errors() -> None:
    assert issubclass(ss.MethodError, ss.SceneError) and issubclass(ss.SceneError, ss.SesshokuError)


def test_options_on_top_of_a_preset() -> None:
    method = registry.make("lcp:recommended", {"max_sweeps": 7})
    assert method.keyword == "lcp:recommended" and method.options.max_sweeps == 7
    assert method.options.static_pyramid == "cone"  # the preset's, not the paper's
    with pytest.raises(ss.MethodError, match="did you mean 'max_sweeps'"):
        registry.make("lcp:recommended", {"max_sweep": 7})


def test_labels_name_what_was_changed() -> None:
    assert registry.resolve("lcp").label == "lcp" and registry.resolve("lcp:recommended").label == "lcp:recommended"
    assert registry.make("lcp", {"max_sweeps": 7, "warm_start": False}).label == "lcp (max_sweeps=7)"


@pytest.mark.parametrize(("name", "value"), [
    ("max_sweeps", 2.5), ("max_sweeps", True), ("max_sweeps", "many"), ("max_sweeps", 0), ("seed", "x"), ("seed", 1.5),
    ("seed", float("nan")), ("seed", 2**70), ("warm_start", "no"), ("warm_start", None), ("accelerate", "false"),
    ("hold_reversals", 1), ("centripetal", 0.0), ("most_per_pair", 2.5), ("visit_budget", -1), ("tolerance", "small"),
    ("margin", float("inf")), ("static_pyramid", "Cone"),
])
def test_options_of_lcp_of_the_wrong_kind_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ss.MethodError, match=name):
        ss.methods.lcp(**{name: value})
