"""What moves carries what stands on it: lifts, shaking floors, belts; soles over an edge; a box set down and let go."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.experiments.exact.scenes import G

RUBBER = ss.Material(0.7)
MOTIONS = {
    "lift": lambda t: ((0, 0, -0.05 + 0.1 * (1 - np.cos(2 * t))), (1, 0, 0, 0)),
    "shake": lambda t: ((0.02 * (1 - np.cos(4 * t)), 0, -0.05), (1, 0, 0, 0)),
    "tilt": lambda t: ((0, 0, -0.05), (np.cos(0.01 * (1 - np.cos(2 * t))), 0, np.sin(0.01 * (1 - np.cos(2 * t))), 0)),
}


def standing_on(floor: dict, size=(1.5, 1.5, 0.1)) -> ss.Scene:
    """The large humanoid with its servos, and a box of 2 kg, on a platform whose top is at z = 0."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_box("platform", size=size, material=RUBBER, **floor)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    return scene


def seen_from_platform(sim: ss.Simulation, body: str) -> np.ndarray:
    platform = sim.bodies["platform"]
    return platform.rotation_matrix.T @ (sim.bodies[body].position - platform.position)


@pytest.mark.parametrize("motion", sorted(MOTIONS))
def test_a_platform_carries_a_humanoid_and_a_box(motion):
    """Both stay where they stood on it, but for the give of servos and errors of second order in the step."""
    scene, dt = standing_on({"kinematic": True, "motion": MOTIONS[motion]}), 5e-3
    scene.add_box("load", size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0.6, 0.1), material=RUBBER)
    sim = ss.Simulation(scene, "exact", dt)
    feet = [name for name in sim.bodies if name.endswith("foot")]
    start = {name: seen_from_platform(sim, name) for name in ["load", *feet]}
    for _ in range(round(1.5 / dt)):
        sim.step()
        assert sim.report.converged and sim.report.tunnelling == 0
    assert len(feet) == 2
    for name, place in start.items():
        assert np.abs(seen_from_platform(sim, name) - place).max() < 2e-5, name
    assert sim.bodies["pelvis"].rotation_matrix[2, 2] > 0.999


def test_a_box_on_a_shaking_floor_takes_two_newton_steps():
    """Nothing slips and the last impulses are nearly right: contacts must not leave their states in the solve."""
    scene, steps = ss.Scene(gravity=(0, 0, -G)), []
    scene.add_box("platform", size=(1.5, 1.5, 0.1), material=RUBBER, kinematic=True, motion=MOTIONS["shake"])
    scene.add_box("load", size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0.6, 0.1), material=RUBBER)
    sim = ss.Simulation(scene, "exact", 1e-3)
    for _ in range(600):
        sim.step()
        steps.append(sim.report.iterations)
        assert sim.report.converged
    assert np.mean(steps) < 3.0


def test_a_belt_carries_a_humanoid_off():
    """Started at 0.1 m/s under a humanoid at rest: feet and box are taken along at once, it sways and stands."""
    scene = standing_on({"kinematic": True, "position": (0, 0, -0.05), "velocity": (0.1, 0, 0)}, (10, 2, 0.1))
    scene.add_box("load", size=(0.2, 0.2, 0.2), mass=2.0, position=(0, 0.6, 0.1), material=RUBBER)
    sim = ss.Simulation(scene, "exact", 5e-3)
    sim.step(300)
    assert sim.bodies["load"].velocity[0] == pytest.approx(0.1, abs=1e-11)
    assert sim.bodies["load"].position[0] == pytest.approx(0.15 - 0.1**2 / (2 * 0.7 * G), abs=1e-5)
    assert sim.bodies["pelvis"].position[0] == pytest.approx(0.15, abs=2e-3)
    assert sim.bodies["pelvis"].rotation_matrix[2, 2] > 0.999


@pytest.mark.parametrize(("edge", "stands"), [(0.06, True), (0.03, True), (0.0, False)])
def test_soles_over_an_edge(edge, stands):
    """A floor that ends `edge` before the pelvis carries it while its centre of mass is behind the edge, no longer."""
    sim = ss.Simulation(standing_on({"fixed": True, "position": (edge - 0.75, 0, -0.05)}), "exact", 5e-3)
    height = sim.bodies["pelvis"].position[2]
    for _ in range(200):
        sim.step()
        assert sim.report.converged and sim.report.penetration < 1.1e-5
        assert all(contact.point[0] < edge + 1e-6 for contact in sim.contacts)
    assert (abs(sim.bodies["pelvis"].position[2] - height) < 1e-3) == stands
    assert len(sim.contacts) >= 4


def test_an_arm_sets_a_box_down_and_lets_go():
    """On a pedestal between its fingers: the box is neither dropped, tilted nor taken along."""
    material, dt = ss.Material(0.8), 5e-3
    scene = ss.Scene(gravity=(0, 0, -G), material=material)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("arm_gripper.xml"), pose="home")
    x, top = 0.3969327, 0.32
    scene.add_box("box", size=(0.04, 0.04, 0.04), mass=0.5, position=(x, 0, top + 0.025), material=material)
    scene.add_box("pedestal", size=(0.1, 0.03, 0.1), position=(x, 0, top - 0.05), fixed=True)
    for name in ("left_fingertip", "right_fingertip"):
        scene.bodies[name].joint.position = np.array([0.02])
    scene.actuators["left_finger"].target = 0.016
    sim = ss.Simulation(scene, "exact", dt)
    names, command = list(sim.compiled.actuator_names), sim.data.actuator_command
    finger = names.index("left_finger")
    arm = [n for n in range(len(names)) if n != finger]

    def go(seconds: float, way: np.ndarray, opening: float = 0.0) -> None:
        begin, steps = command[:, 0].copy(), round(seconds / dt)
        for n in range(steps):
            command[arm, 0] = begin[arm] + way * (n + 1) / steps
            command[finger, 0] = begin[finger] + opening * (n + 1) / steps
            sim.step()
            assert sim.report.converged and sim.report.penetration < 1e-4

    still = np.zeros(len(arm))
    go(0.3, still)
    dofs = [sim.model.actuator_dof[n] for n in arm]
    down = np.linalg.pinv(sim.jacobian("gripper")[:, dofs]) @ [0, 0, -0.006, 0, 0, 0]
    go(0.5, down)
    go(0.2, still)
    placed = sim.bodies["box"].position.copy()
    assert placed[2] == pytest.approx(top + 0.02, abs=1.1e-5)
    go(0.3, still, 0.01)
    assert np.abs(sim.bodies["box"].velocity).max() < 1e-9
    go(0.5, -5.0 * down)
    assert np.abs(sim.bodies["box"].position - placed).max() < 2e-5
    assert sim.bodies["box"].rotation_matrix[2, 2] == pytest.approx(1.0, abs=1e-7)
    assert all("pedestal" in contact.bodies for contact in sim.contacts if "box" in contact.bodies)
    assert sim.bodies["gripper"].position[2] > 0.4
