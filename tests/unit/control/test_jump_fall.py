"""Jumps and falls: the plan of a jump, leaning, and limp joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.control import humanoids
from sesshoku.control.biped import Biped
from sesshoku.control.fall import lean, limp
from sesshoku.control.jump import Heights, JumpPattern, jump, momentum_table, quintic

G = 9.8


@pytest.fixture(scope="module")
def biped() -> Biped:
    return humanoids.biped(humanoids.stage("small"))


@pytest.fixture(scope="module")
def pattern(biped: Biped) -> JumpPattern:
    return jump(biped, humanoids.SMALL, 0.6)


def test_quintic_meets_its_ends() -> None:
    start, end, T = (0.2, -0.3, 1.0), (0.5, 2.0, -9.8), 0.17
    h = 1e-5
    for t, (p, v, a) in ((0.0, start), (T, end)):
        x = quintic(np.array([t - h, t, t + h]), T, start, end)
        assert x[1] == pytest.approx(p, abs=1e-12)
        assert (x[2] - x[0]) / (2 * h) == pytest.approx(v, abs=1e-6)
        assert (x[2] - 2 * x[1] + x[0]) / h**2 == pytest.approx(a, abs=1e-3)


def test_the_centre_of_mass_flies_as_thrown(pattern: JumpPattern) -> None:
    begin, end = pattern.phases["flight"]
    assert end - begin == pytest.approx(2 * pattern.speed / G)
    assert pattern.speed == pytest.approx(0.6, abs=0.005)
    rows = slice(round(begin / 1e-3), round(end / 1e-3) + 1)
    z = pattern.com[rows, 2]
    np.testing.assert_allclose(np.diff(z, 2) / 1e-6, -G, atol=1e-6)
    assert pattern.apex == pytest.approx(z[0] + pattern.speed**2 / (2 * G), abs=1e-5)
    # feet leave and meet the ground without speed, and are above it in between
    height = pattern.line.feet[rows, 0, 2]
    assert height[0] == height[-1] == 0.0 and height[1:-1].min() > -1e-9 and height.max() > 0.015
    assert abs(height[1]) < 2e-6 and abs(height[-2]) < 2e-6  # m in the first and the last millisecond


def test_the_posture_is_the_planned_one(pattern: JumpPattern, biped: Biped) -> None:
    for k in range(0, len(pattern.q), 500):
        np.testing.assert_allclose(biped.center_of_mass(pattern.q[k]), pattern.com[k], atol=1e-9)
    knee = biped.legs.coordinate[:, 3]
    assert pattern.q[:, knee].min() > 0.6


def test_the_trunk_takes_the_angular_momentum_away(pattern: JumpPattern, biped: Biped) -> None:
    upright = jump(biped, humanoids.SMALL, 0.6, pitch=False)
    spin = {}
    for name, plan in (("upright", upright), ("pitched", pattern)):
        spin[name] = np.empty(len(plan.q))
        momentum_table(biped.model, biped.data, biped.legs, plan.q, plan.v, spin[name])
    assert np.abs(spin["upright"]).max() == pytest.approx(0.051, rel=0.1)  # N m s
    flight = slice(*(round(t / 1e-3) for t in pattern.phases["flight"]))
    assert np.abs(spin["pitched"][flight]).max() < 1e-5
    assert np.abs(spin["pitched"]).max() < 2e-3
    assert pattern.line.base[-1, 1] == pytest.approx(0.0, abs=1e-12)


def test_feed_forward_balances_on_the_ground_and_is_free_in_the_air(pattern: JumpPattern, biped: Biped) -> None:
    root = slice(biped.legs.root_dof, biped.legs.root_dof + 6)
    begin, end = (round(t / 1e-3) for t in pattern.phases["flight"])
    weight = biped.mass * G
    ground = np.ones(len(pattern.force), dtype=bool)
    ground[begin:end] = False
    assert np.abs(pattern.force[ground][:, root]).max() < 1e-9 * weight
    # in the air nothing holds the robot: the plan must need nothing
    assert np.abs(pattern.force[begin + 2:end - 2, root]).max() < 0.02 * weight


def test_jumps_that_cannot_be_are_refused(biped: Biped) -> None:
    with pytest.raises(ss.SceneError, match="too short to tuck"):
        jump(biped, humanoids.SMALL, 0.2)
    with pytest.raises(ss.SceneError, match="below take-off"):
        jump(biped, humanoids.SMALL, 0.6, heights=Heights(0.23, 0.22, 0.18))
    with pytest.raises(ss.SceneError, match="speed"):
        jump(biped, humanoids.SMALL, -1.0)
    with pytest.raises(ss.SceneError, match="too short by"):
        jump(biped, replace(humanoids.SMALL, com_height=0.30), 0.6)


@pytest.mark.parametrize("edge", ["toe", "heel", "left", "right"])
def test_leaning_turns_the_robot_about_an_edge(biped: Biped, edge: str) -> None:
    sim = ss.Simulation(biped.scene, "none")
    before = sim.center_of_mass()
    lowest = {}
    for angle in (0.0, 0.3):
        lean(sim, biped, angle, edge)
        lowest[angle] = _lowest(sim)
    assert lowest[0.3] == pytest.approx(0.0, abs=2e-3)  # it stands on the edge
    moved = sim.center_of_mass() - before
    axis = {"toe": 0, "heel": 0, "left": 1, "right": 1}[edge]
    assert moved[axis] * (1 if edge in ("toe", "left") else -1) > 0.05
    assert np.abs(sim.v).max() == 0.0
    with pytest.raises(ss.SceneError, match="unknown edge"):
        lean(sim, biped, 0.1, "nose")


def _lowest(sim: ss.Simulation) -> float:
    points = []
    for name in ("left_foot", "right_foot"):
        body = sim.bodies[name]
        shape = sim.scene.bodies[name].geometries[0]
        for corner in np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T:
            points.append(body.position + body.rotation_matrix @ (shape.position + 0.5 * corner * shape.shape.size))
    return float(np.array(points)[:, 2].min())


def test_limp_joints_have_dampers_only(biped: Biped) -> None:
    scene = biped.scene
    loose = limp(scene, damping=0.5)
    assert not loose.actuators and not next(iter(loose.robots.values())).actuators
    assert len(scene.actuators) == 20  # the first scene is as it was
    for actuator in scene.actuators.values():
        assert loose.joint(actuator.joint).viscous == pytest.approx(0.5 * actuator.kd)
    assert all(joint.viscous == 0.0 for joint in
               (limp(scene).joint(actuator.joint) for actuator in scene.actuators.values()))
    with pytest.raises(ss.SceneError, match="damping"):
        limp(scene, damping=-1.0)
