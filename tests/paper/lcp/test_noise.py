"""The paper's "hardly any noise": forces of feet that stand, in double support alone."""

from __future__ import annotations

import pytest

import sesshoku as ss
from sesshoku.control.walking import footsteps
from sesshoku.experiments.lcp.stepping import noise, touchdown_peak
from sesshoku.experiments.walking import Walk


@pytest.mark.parametrize(("kind", "stabiliser"), [("large", False), ("large_bush", True)])
def test_standing_feet_are_quiet(kind, stabiliser):
    """Part of the left foot's force above 50 Hz, of the weight: 0.3 % rms and 5 % at most; contacts do not flicker."""
    rms, peak = noise(Walk.plan(kind, footsteps.in_place(3)).run("lcp", stabiliser))
    assert rms < 0.003 and peak < 0.05


def test_contacts_that_are_found_too_late_flicker():
    """What the margin is for: a micrometre does not suffice on rigid soles."""
    rms, _ = noise(Walk.plan("large", footsteps.in_place(3)).run(ss.methods.lcp(margin=1e-6)))
    assert rms > 0.01


def test_a_bush_softens_the_landing():
    """Under the same controller rigid soles land with half as much again, and more, than the bush."""
    rigid, bush = (touchdown_peak(Walk.plan(kind, footsteps.in_place(3)).run("lcp", True))
                   for kind in ("large", "large_bush"))
    assert rigid > 1.5 * bush
