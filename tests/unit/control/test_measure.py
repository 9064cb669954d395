"""ZMP from contact forces: closed forms, and a robot that stands."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku import control
from sesshoku.control.humanoids import GAITS, stage
from sesshoku.control.measure import sum_contacts, zmp
from sesshoku.control.walking import footsteps
from sesshoku.simulation.simulation import Simulation
from support import SEED


def test_zmp_is_the_mean_of_the_points_weighted_by_their_forces():
    rng = np.random.default_rng(SEED)
    points = np.concatenate([rng.uniform(-1, 1, (6, 2)), np.zeros((6, 1))], axis=1)
    forces = np.concatenate([rng.normal(size=(6, 2)), rng.uniform(1, 5, (6, 1))], axis=1)
    wrench = np.zeros((2, 6))
    shape, shape_link = np.array([[0, 1 + c % 2] for c in range(6)]), np.array([-1, 0, 1])
    sum_contacts(6, shape, points, forces, np.zeros((6, 3)), shape_link, np.array([0, 1]), wrench)
    assert wrench[:, :3].sum(axis=0) == pytest.approx(forces.sum(axis=0))
    assert zmp(wrench) == pytest.approx(forces[:, 2] @ points[:, :2] / forces[:, 2].sum())
    assert zmp(wrench[0]) == pytest.approx(forces[::2, 2] @ points[::2, :2] / forces[::2, 2].sum())
    assert np.all(np.isnan(zmp(wrench, least=100.0)))


def test_forces_count_on_whichever_side_the_foot_is():
    wrench, force = np.zeros((2, 6)), np.array([[1.0, 2.0, 3.0]])
    args = (np.array([[0.5, 0.0, 0.0]]), force, np.zeros((1, 3)), np.array([0, -1]), np.array([0]))
    sum_contacts(1, np.array([[0, 1]]), *args, wrench)
    assert wrench[0, :3] == pytest.approx([-1, -2, -3])
    sum_contacts(1, np.array([[1, 0]]), *args, wrench)
    assert wrench[0, :3] == pytest.approx([1, 2, 3]) and np.all(wrench[1] == 0.0)


@pytest.mark.parametrize("shift", [0.0, 0.015])
def test_zmp_of_a_static_stance_is_the_projected_centre_of_mass(shift):
    scene = stage("small")
    biped = control.Biped(scene, control.HUMANOID)
    feet = np.zeros((2, 6))
    feet[:, 1] = 0.04, -0.04
    sim = Simulation(scene)
    q = biped.posture(np.array([0.01 + shift, 0.5 * shift, 0.24]), feet)
    sim.set_state(q, np.zeros(sim.model.dof_count))
    sim.actuator_command[biped.actuator, 0] = q[biped.actuator_coordinate]
    sim.step(10_000)  # its servos swing it back and forth a while
    wrench, com = control.foot_wrenches(sim, biped), sim.center_of_mass()
    assert control.zmp(wrench) == pytest.approx(com[:2], abs=1e-6)
    assert wrench[:, 2].sum() == pytest.approx(biped.mass * 9.8, rel=1e-4)


def test_a_walker_in_place_keeps_the_weight_on_its_feet():
    scene = stage("small")
    pattern = control.walk(control.Biped(scene, control.HUMANOID), footsteps.in_place(2), GAITS["small"])
    sim = Simulation(scene)
    log = control.record_walk(sim, control.Walker(pattern))
    found = log.summary()
    assert log.completed and found["mean_force"] == pytest.approx(1.0, abs=0.01)
    assert found["tilt"] < 0.01 and found["com_error"] < 5e-3 and found["slip"] < 1e-3
    lifted = [log.walker.pattern.line.feet[log.walker.sample(t)[0], :, 2] > 2e-3 for t in log.time]
    assert np.all(log.load[np.array(lifted)] == 0.0)
