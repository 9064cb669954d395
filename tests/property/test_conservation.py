"""Invariants over random mechanisms: energy, momentum, passivity, exact save and restore."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sesshoku as ss
from mechanisms import INTEGRATORS, simulate, slope
from sesshoku.scene.elements import Joint
from support import sample_count
from trees import HANGING, random_inertial, random_joint, random_scene, unit

SEEDS = st.integers(0, 2**32 - 1)
few = settings(max_examples=sample_count(6, 60))


def total_energy(sim: ss.Simulation) -> float:
    return sum(sim.energy)


@few
@given(seed=SEEDS, integrator=st.sampled_from(["rk4", "rkg"]))
def test_energy_drifts_at_fourth_order(seed: int, integrator: str) -> None:
    """Any trees without friction: halving the step divides the drift by 16 (it may be better)."""
    scene, drifts, sizes = random_scene(np.random.default_rng(seed), trees=2, size=5), [], [2e-3, 1e-3, 5e-4]
    for dt in sizes:
        sim = simulate(scene, integrator, dt)
        before = total_energy(sim)
        sim.step(round(0.1 / dt))
        drifts.append(abs(total_energy(sim) - before) + 1e-12 * (1 + abs(before)))
    # light links whirl in some draws: where even the finest step is coarse for them the order is not reached yet
    assert drifts[2] < 1e-9 * (1 + abs(before)) or slope(sizes, drifts) > 3.0


@few
@given(seed=SEEDS, integrator=st.sampled_from(INTEGRATORS))
def test_momentum_of_what_floats_freely_is_kept(seed: int, integrator: str) -> None:
    """Without gravity linear momentum is kept exactly by no scheme in joint space, but to its order by every one."""
    order = 1 if integrator in ("semi-implicit", "euler") else 4
    scene = random_scene(np.random.default_rng(seed), trees=2, size=4, bases=("free",), armature=0.0)
    scene.gravity = (0, 0, 0)
    drifts, sizes = [], ([4e-4, 2e-4, 1e-4] if order == 1 else [2e-3, 1e-3, 5e-4])
    for dt in sizes:
        sim = simulate(scene, integrator, dt)
        before = sim.momentum(about=(0, 0, 0))
        sim.step(round(0.08 / dt))
        drifts.append(np.abs(sim.momentum(about=(0, 0, 0)) - before).max() + 1e-13 * (1 + np.abs(before).max()))
    assert drifts[2] < 1e-10 * (1 + np.abs(before).max()) or slope(sizes, drifts) > order - 0.5


@few
@given(seed=SEEDS, integrator=st.sampled_from(INTEGRATORS))
def test_limits_and_friction_never_add_energy(seed: int, integrator: str) -> None:
    """The impulses of limits and joint friction only take: report.energy_change <= 0 in every step, at any start."""
    rng = np.random.default_rng(seed)
    scene = ss.Scene()
    scene.add_body("b0", inertial=random_inertial(rng), angular_velocity=rng.normal(size=3))
    for n in range(1, 7):
        joint: Any = random_joint(rng, HANGING[n % 4])
        given_ = {"axis": joint.axis, "anchor": joint.anchor, "armature": 0.05, "velocity": 3 * joint.velocity,
                  "static_friction": rng.uniform(0, 1), "position": joint.position}
        if joint.kind in ("revolute", "prismatic"):
            given_ |= {"lower": -0.5, "upper": 0.5, "position": rng.uniform(-0.5, 0.5)}
        scene.add_body(f"b{n}", parent=f"b{rng.integers(n)}", position=rng.normal(size=3) * 0.3, rotation=unit(rng, 4),
                       inertial=random_inertial(rng), joint=Joint(joint.kind, **given_))
    sim, seen = simulate(scene, integrator), 0
    for _ in range(200):
        sim.step()
        report = sim.report
        seen += report.rows
        assert report.converged and report.energy_change <= 1e-9
        assert report.momentum_residual < 1e-10
    assert seen > 0


@few
@given(seed=SEEDS, integrator=st.sampled_from(INTEGRATORS))
def test_restored_states_run_on_bit_for_bit(seed: int, integrator: str) -> None:
    """Random trees with loops: 50 steps, twice from the same snapshot, the second time in another simulation."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, trees=2, size=5, bases=("free", "kinematic", "spherical"))
    scene.add_loop("ball", "tree0_2", "tree1_3", position_b=None)
    one, other = simulate(scene, integrator), simulate(scene, integrator)
    one.step(int(rng.integers(1, 30)))
    snapshot = one.save()
    one.step(50)
    other.restore(snapshot)
    other.step(50)
    for name, value in one.save().items():
        np.testing.assert_array_equal(value, other.save()[name], err_msg=name)


def test_kinetic_energy_is_a_sum_over_trees(rng: np.random.Generator) -> None:
    """Trees that nothing joins do not feel each other: together they move as each alone."""
    both = random_scene(rng, trees=2, size=5, bases=("free",))
    sim = simulate(both, "rk4")
    sim.step(100)
    for tree in range(2):
        alone = ss.Scene(gravity=both.gravity)
        for name, body in both.bodies.items():
            if name.startswith(f"tree{tree}_"):
                alone._insert(body)
        single = simulate(alone, "rk4")
        single.step(100)
        for name in alone.bodies:
            np.testing.assert_array_equal(single.bodies[name].position, sim.bodies[name].position)


@pytest.mark.full
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_long_run_of_everything_stays_finite_and_solved(integrator: str) -> None:
    from mechanisms import everything

    sim = simulate(everything(), integrator)
    for _ in range(200):
        sim.step(500)
        assert sim.report.converged and sim.report.loop_error < 1e-3 and np.isfinite(sim.q).all()
