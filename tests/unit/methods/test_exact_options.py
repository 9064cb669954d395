"""Options of `exact` that cannot be are refused in words: which, what was given, and what to give."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.errors import MethodError
from sesshoku.methods.definition import as_numbers
from sesshoku.methods.exact.options import Numbers, Options
from sesshoku.methods.options import declared

WHOLE = ("newton_cap", "most_per_pair", "rounds")
NUMBERS = sorted(name for name, (kind, _) in declared(Options).items() if kind in (int, float))


def test_every_number_has_bounds_and_its_default_lies_within():
    assert set(NUMBERS) == set(Options.__dataclass_fields__) - {"integrator", "joint_friction", "free_motion"}
    for name in NUMBERS:
        said = declared(Options)[name][1]
        assert said.least <= getattr(Options(), name) <= said.most


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", ["1e-3", None, True, [1.0], 1j, float("nan"), -1, -float("inf"), 10**400])
def test_what_is_no_number_or_out_of_bounds_is_refused(name, value):
    with pytest.raises(MethodError, match=rf"method 'exact': {name} must be .*\(got .*\); the default is"):
        ss.methods.exact(**{name: value})


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("value", [2.5, 3.0, np.float64(3.0)])
def test_counts_are_whole(name, value):
    with pytest.raises(MethodError, match=f"{name} must be a whole number from"):
        ss.methods.exact(**{name: value})


@pytest.mark.parametrize("value", ["rk4", "Midpoint", "", None, 3, ["midpoint"]])
def test_integrators_that_do_not_exist(value):
    with pytest.raises(MethodError, match="integrator must be midpoint or semi-implicit .*; the default is midpoint"):
        ss.methods.exact(integrator=value)


def test_names_that_do_not_exist_are_told_with_a_guess():
    with pytest.raises(MethodError, match="unknown option 'tolerence'; did you mean 'tolerance'"):
        ss.methods.exact(tolerence=1e-9)
    with pytest.raises(MethodError, match="by name"):
        ss.methods.exact(1e-9)
    with pytest.raises(MethodError, match="joint_friction must be locks or rows"):
        ss.methods.exact(joint_friction="glue")
    with pytest.raises(MethodError, match="free_motion must be midpoint or rk4"):
        ss.methods.exact(free_motion="rk5")
    assert ss.Simulation(ss.Scene(), "exact:recommended").method.options == Options()


def test_numbers_of_numpy_are_numbers():
    given = ss.methods.exact(tolerance=np.float32(1e-9), margin=np.float64(2e-3), rounds=np.int64(3),
                             newton_cap=np.int32(40), slop=np.int64(0)).options
    plain = ss.methods.exact(tolerance=float(np.float32(1e-9)), margin=2e-3, rounds=3, newton_cap=40, slop=0).options
    assert as_numbers(Numbers, given)._table.tolist() == as_numbers(Numbers, plain)._table.tolist()


@pytest.mark.parametrize(("coefficients", "words"), [
    ({"static_friction": float("nan")}, "static_friction is not finite"),
    ({"static_friction": -0.1}, "static_friction must be at least 0"),
    ({"static_friction": 0.5, "torsional_friction": -0.1}, "torsional_friction must be at least 0"),
    ({"static_friction": 0.5, "rolling_friction": float("inf")}, "rolling_friction is not finite"),
    ({"static_friction": 0.5, "kinetic_friction": 0.7}, "give kinetic <= static"),
    ({"static_friction": 0.5, "restitution": 1.5}, "restitution must be at most 1"),
])
def test_materials_that_cannot_be(coefficients, words):
    with pytest.raises(ss.SesshokuError, match=words):
        ss.Material(**coefficients)
