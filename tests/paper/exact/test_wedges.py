"""What friction wedges in stays where it is: no depth correction drives it out, and none of it is thrown."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.apps.crane.game import Game
from sesshoku.apps.crane.pilot import Pilot
from sesshoku.spatial.rotation import axis_angle
from support import sample_count

PUSH = 20.0  # N


def groove(half, depth, friction, shape, dt):
    """A ball or a bar in a groove that opens by twice `half` rad, `depth` m inside both walls."""
    rubber = ss.Material(friction)
    scene = ss.Scene()
    for name, sign in (("left", -1.0), ("right", 1.0)):
        inward = np.array([-sign * np.cos(half), 0, np.sin(half)])
        along = np.array([sign * np.sin(half), 0, np.cos(half)])
        scene.add_box(name, size=(0.2, 1.0, 1.4), position=0.5 * along - 0.1 * inward, fixed=True, material=rubber,
                      rotation=axis_angle((0, 1, 0), sign * half))
    given = {"mass": 0.2, "position": (0, 0, (0.05 - depth) / np.sin(half)), "material": rubber}
    if shape == "ball":
        scene.add_sphere("toe", radius=0.05, **given)
    else:
        scene.add_capsule("toe", radius=0.05, length=0.1, rotation=axis_angle((1, 0, 0), np.pi / 2), **given)
    return ss.Simulation(scene, "exact", dt)


@pytest.mark.boundscheck
@pytest.mark.parametrize("dt", [1e-3, 5e-3, 2e-2])
@pytest.mark.parametrize("shape", ["ball", "bar"])
@pytest.mark.parametrize(("half", "friction"), [(0.1, 0.5), (0.3, 0.8), (0.5, 1.2)])
def test_what_is_wedged_in_bears_what_presses_on_it(half, friction, shape, dt):
    """Walls steeper than friction's angle: to come out it would have to slip, and no normal impulse makes it.

    Each step has a solution, in which the walls bear what is pushed: N sin half is at most half of it, or all where one
    wall bears it. A ball may roll along the groove.
    """
    for depth in (1e-4, 1e-3, 5e-3):
        sim = groove(half, depth, friction, shape, dt)
        start, books = sum(sim.energy), 0.0
        for step in range(round(0.5 / dt)):
            t = step * dt
            sim.apply_force("toe", (0.3 * PUSH * np.sin(9 * t), 0.2 * PUSH * np.cos(7 * t), -PUSH))
            sim.step()
            books += sim.report.applied_work + sim.report.correction_work
            assert sim.report.converged
            assert max(contact.normal_force for contact in sim.contacts) < 1.4 * PUSH / np.sin(half)
            assert sum(sim.energy) <= start + books + 1e-9
        assert np.abs(sim.bodies["toe"].velocity[[0, 2]]).max() < 1e-9


class Crooked(Pilot):
    """Aims beside its prize."""

    def __init__(self, prize, beside):
        super().__init__(prize)
        self.beside = np.array([*beside, 0.0])

    def keys(self, crane, velocity, prize, dt):
        return super().keys(crane, velocity, np.asarray(prize) + self.beside, dt)


APPROACHES = [((0.054, -0.023), -1.2), ((0.039, -0.011), 0.8), ((-0.006, -0.044), -1.6), ((0.001, 0.054), -5.7),
              ((-0.057, 0.030), 0.6), ((-0.020, 0.035), -3.1), ((-0.036, -0.029), 4.0), ((-0.026, -0.002), 7.7),
              ((0.055, 0.027), 0.7), ((-0.027, -0.041), 7.5)]


@pytest.mark.parametrize(("beside", "degrees"), APPROACHES[:sample_count(3, 10)])
def test_the_crane_keeps_a_heart_it_grips_crookedly(beside, degrees):
    """A toe goes into the notch between two pieces of the heart, whose sides wedge it in; 20 ms."""
    game, pilot = Game(method="exact"), Crooked("heart", beside)
    at = game.sim.model.link_coordinate[game.sim.bodies["heart"].link] + 3
    q, half = game.sim.q.copy(), 0.5 * np.deg2rad(degrees)
    w, x, y, z = q[at:at + 4]
    q[at:at + 4] = (np.cos(half) * w - np.sin(half) * z, np.cos(half) * x - np.sin(half) * y,
                    np.cos(half) * y + np.sin(half) * x, np.cos(half) * z + np.sin(half) * w)
    game.sim.set_state(q=q)
    for _ in range(1500):
        if pilot.stage == "done":
            break
        game.step(pilot.inputs(game))
        report = game.sim.report
        assert report.energy_change <= report.correction_work + 1e-3
        if pilot.stage != "drop":
            assert np.linalg.norm(game.sim.bodies["heart"].velocity) < 3.0
    assert game.state.won == ("heart",)
