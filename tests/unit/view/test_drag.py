"""The mouse's spring: what it feels, where it leads, and that long steps do not shake it apart."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.view.drag import Pull, can_pull, felt_mass
from viewing import box_scene


def test_felt_mass_of_a_free_body_at_its_centre_is_its_mass() -> None:
    sim = ss.Simulation(box_scene(3))
    assert felt_mass(sim, "box1", sim.bodies["box1"].center_of_mass) == pytest.approx(1.0)
    assert felt_mass(sim, "box1", sim.bodies["box1"].center_of_mass + [0.2, 0.2, 0.2]) < 1.0


@pytest.mark.parametrize("dt", [1e-3, 1 / 50])
def test_a_pulled_box_follows_the_mouse_and_comes_to_rest(dt: float) -> None:
    sim = ss.Simulation(box_scene(), "exact", dt)
    pull = Pull(sim, sim.compiled.frame_index["box0"], (0, 0, 0.2), (1.0, 0.5, 1.5))
    for _ in range(round(4.0 / dt)):
        pull.apply(sim)
        sim.step()
    np.testing.assert_allclose(pull.where(sim), [1.0, 0.5, 1.5], atol=0.02)
    assert np.linalg.norm(sim.bodies["box0"].velocity) < 0.05


def test_only_what_forces_move_can_be_pulled() -> None:
    sim = ss.Simulation(box_scene())
    assert [can_pull(sim, n) for n in (-1, 0, 1, 2)] == [False, False, True, False]
