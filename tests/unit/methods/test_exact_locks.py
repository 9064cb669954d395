"""Joint friction by locks: the law that its rows have, with joints that hold and slip by turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything
from sesshoku.methods.exact.locks import keep_solution, start_from_solution
from sesshoku.methods.exact.problem import build_problem
from sesshoku.methods.exact.solve import solve_islands
from sesshoku.stages.report import ITERATIONS
from support import SEED, sample_count


def arm(rng: np.random.Generator, static: float, kinetic: float, floating: bool) -> ss.Scene:
    """Four links at random on a wall, or on a body that lies on the ground, limp but for friction, some at a limit."""
    scene = ss.Scene(gravity=(0.3, 0, -9.8))
    scene.add_ground(material=ss.Material(0.6))
    if floating:
        scene.add_box("base", size=(0.6, 0.6, 0.1), mass=2.0, position=(0, 0, 0.05), material=ss.Material(0.6))
    else:
        scene.add_body("base", fixed=True, position=(0, 0, 2.0))
    parent = "base"
    for n in range(4):
        start = 0.9 if n == 2 else 0.0
        joint = ss.Joint("revolute", axis=rng.normal(size=3), lower=-0.9, upper=0.9, position=start, viscous=0.01,
                         static_friction=static * rng.uniform(0.3, 1.5), kinetic_friction=kinetic * 0.3,
                         velocity=0.0 if n == 2 else rng.normal())
        scene.add_body(f"link{n}", parent=parent, position=(0, 0, 0.15), joint=joint,
                       inertial=ss.Inertial(0.2, (0, 0, 0.07), 4e-4 * np.eye(3)))
        parent = f"link{n}"
    return scene


def together(scene: ss.Scene, steps: int, dt: float, **options: Any) -> tuple[ss.Simulation, ss.Simulation]:
    """The same scene with locks and with rows, after the same steps; the states stay together."""
    sims = [ss.Simulation(scene, ss.methods.exact(joint_friction=kind, **options), dt=dt) for kind in ("locks", "rows")]
    for _ in range(steps):
        for sim in sims:
            sim.step()
            assert sim.report.converged
    return sims[0], sims[1]


@pytest.mark.parametrize("integrator", ["midpoint", "semi-implicit"])
@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("kinetic", [0.5, 1.0])
def test_locks_move_as_rows_do(integrator: str, floating: bool, kinetic: float) -> None:
    rng = np.random.default_rng([SEED, 7])
    for _ in range(sample_count(3, 40)):
        scene = arm(rng, 0.2, 0.2 * kinetic, floating)
        locks, rows = together(scene, 150, 1e-3, integrator=integrator)
        np.testing.assert_allclose(locks.q, rows.q, atol=1e-8)
        np.testing.assert_allclose(locks.v, rows.v, atol=1e-6)


def test_everything_at_once_moves_the_same() -> None:
    locks, rows = together(everything(), 60, 1e-3)
    np.testing.assert_allclose(locks.q, rows.q, atol=1e-9)


def test_a_held_joint_stands_and_says_what_holds_it() -> None:
    """A pendulum at rest beside the lowest point, under less than its friction: no creep; the force is gravity's."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    scene.add_body("rod", parent="wall", inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.02 * np.eye(3)),
                   joint=ss.Joint("continuous", axis=(0, 1, 0), position=0.1, static_friction=1.0))
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(10_000)
    assert abs(sim.joints["rod"].position - 0.1) < 1e-9
    assert abs(sim.joints["rod"].friction_force) == pytest.approx(9.8 * 0.5 * np.sin(0.1), rel=1e-9)
    assert not sim.joints["rod"].slipping and sim.report.residual < 1e-11


def test_a_joint_on_the_point_of_slipping_begins_there() -> None:
    """A rotor under a hair more than its friction hardly moves; only the first step has to find out that it slips."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    scene.add_body("rotor", parent="wall", inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3)),
                   joint=ss.Joint("continuous", axis=(0, 0, 1), static_friction=1.0))
    scene.add_actuator("rotor", "torque", name="motor")
    sim = ss.Simulation(scene, dt=1e-3)
    sim.actuators["motor"].target = 1.0 + 1e-7
    switches = []
    for _ in range(20):
        sim.step()
        switches.append(int(sim.work.lock_switches.sum()))
    assert switches[0] == 1 and not any(switches[1:])
    assert 0.0 < sim.joints["rotor"].velocity < 1e-8
    sim.actuators["motor"].target = 0.5
    sim.step(2)
    assert abs(sim.joints["rotor"].velocity) < 1e-11


def test_a_second_solve_of_a_step_begins_with_the_first_ones_impulses() -> None:
    sim = ss.Simulation(arm(np.random.default_rng(5), 0.2, 0.2, True), dt=1e-3)
    sim.step(20)
    for name, stage in sim.method.definition.stages_of(sim.method.options).named.items():
        stage(sim.model, sim.data, sim.work, sim.dt)
        if name == "solve islands":
            break
    problem, count = sim.work.problem, len(sim.contacts)
    found = problem.impulse[:count].copy()
    assert count > 0 and found.any()
    keep_solution(sim.model, sim.data, sim.work)
    build_problem(sim.model, sim.data, sim.work, sim.dt)
    start_from_solution(sim.model, sim.work)
    np.testing.assert_array_equal(problem.impulse[:count], found)
    solve_islands(sim.model, sim.data, sim.work, sim.dt)
    assert sim.data.report[ITERATIONS] == 0
