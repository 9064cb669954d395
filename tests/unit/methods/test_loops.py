"""Closed loops: ball, hinge and weld against the same mechanism built with joints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkages
import sesshoku as ss
from mechanisms import INTEGRATORS, four_bar, simulate, slope
from sesshoku.errors import OpenLoop
from sesshoku.spatial.rotation import rotation_vector

LUMP = ss.Inertial(1.5, (0.1, 0.05, -0.2), np.diag([0.05, 0.06, 0.03]))


def hung(by: str, kind: Any = "ball", **options: Any) -> ss.Scene:
    """A lump on the world (or on a swinging rod) by a joint or by the same connection as a loop."""
    scene = ss.Scene(gravity=(1.0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    scene.add_body("rod", parent="wall", joint=ss.Joint("revolute", axis=(0, 1, 0), position=0.4),
                   inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.05 * np.eye(3)))
    if by == "joint":
        scene.add_body("lump", parent="rod", position=(0, 0, -1), inertial=LUMP, joint=ss.Joint(kind, **options))
    else:
        s, c = np.sin(0.4), np.cos(0.4)
        scene.add_body("lump", position=(-s, 0, -c), rotation=(np.cos(0.2), 0, np.sin(0.2), 0), inertial=LUMP)
        scene.add_loop(kind, "lump", "rod", **options)
    return scene


def apart(a: ss.Simulation, b: ss.Simulation, body: str = "lump") -> float:
    one, other = a.bodies[body], b.bodies[body]
    turn = rotation_vector(one.rotation_matrix @ other.rotation_matrix.T)
    return float(max(np.abs(one.position - other.position).max(), np.abs(turn).max()))


@pytest.mark.parametrize(("loop", "joint", "options"), [
    ("ball", "spherical", {}), ("hinge", "revolute", {"axis": (0, 0.6, 0.8)}), ("weld", "fixed", {}),
])
def test_a_loop_moves_as_the_joint_it_stands_for(loop: str, joint: str, options: dict[str, Any]) -> None:
    """Two seconds of a pendulum chain; the difference shrinks with the step."""
    sizes, gaps, differences = [2e-3, 1e-3, 5e-4], [], []
    for dt in sizes:
        with_joint = simulate(hung("joint", joint, **options), dt=dt)
        with_loop = simulate(hung("loop", loop, **options), dt=dt)
        gap = 0.0
        for _ in range(round(2 / dt) // 10):
            with_joint.step(10)
            with_loop.step(10)
            assert with_loop.report.converged
            gap = max(gap, with_loop.report.loop_error)
        gaps.append(gap)
        differences.append(apart(with_joint, with_loop))
    assert max(gaps) < 1e-9
    assert differences[1] < 0.02 and slope(sizes, differences) > 0.7


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("loop", ["ball", "hinge"])
def test_four_bar_drift_stays_bounded(integrator: str, loop: str) -> None:
    """Planar, so only two of the ball's three rows, or of the hinge's five, can act: the rest is redundant."""
    sim = simulate(four_bar(loop, speed=2.0), integrator)
    worst = []
    for _ in range(20):
        sim.step(500)
        assert sim.report.converged and sim.report.residual <= 1e-10
        worst.append(sim.report.loop_error)
    assert max(worst) < 5e-5 and max(worst[10:]) < 2 * max(worst[:10]) + 1e-12
    angles = [sim.joints[name].position for name in ("left", "right", "coupler")]
    np.testing.assert_allclose(angles, angles[0] * np.array([1, 1, -1]), atol=1e-4)  # still a parallelogram


def test_four_bar_swings_as_the_pendulum_it_is() -> None:
    """Parallelogram cranks: one degree of freedom, T = (1/3 + 1/3 + 1)/2 w^2, V = -(1/2 + 1/2 + 1) g cos q."""
    from scipy.integrate import solve_ivp

    inertia = 2 * (0.05**2 / 12 + 1 / 12 + 1 / 4) + 1.0
    done = solve_ivp(lambda _, y: [y[1], -2 * 9.8 * np.sin(y[0]) / inertia], (0, 2), [0, 2.0], rtol=1e-12, atol=1e-12)
    errors, sizes = [], [2e-3, 1e-3, 5e-4]
    for dt in sizes:
        sim = simulate(four_bar("hinge", speed=2.0), dt=dt)
        sim.step(round(2 / dt))
        errors.append(abs(sim.q[0] - done.y[0, -1]))
    assert errors[1] < 1e-2 and slope(sizes, errors) > 0.8


def test_redundant_welds_and_hinges_share_one_door() -> None:
    """Three hinges on one axis: rank five of fifteen rows. It swings as with one; the loads add up to its weight."""
    def door(hinges: int) -> ss.Simulation:
        scene = ss.Scene(gravity=(0, -3.0, -9.8))
        scene.add_body("door", inertial=ss.Inertial(10.0, (0.5, 0, 1.0), np.diag([3.0, 4.0, 1.0])))
        for n in range(hinges):
            scene.add_loop("hinge", "door", None, position=(0, 0, float(n)), axis=(0, 0, 1), name=f"hinge {n}")
        return simulate(scene)

    one, three = door(1), door(3)
    for sim in (one, three):
        sim.step(1_000)
        assert sim.report.converged and sim.report.loop_error < 2e-5
    assert apart(one, three, "door") < 1e-4
    vertical = [sim.data.loop_impulse[:, 2].sum() / sim.dt for sim in (one, three)]
    assert vertical == pytest.approx([98.0, 98.0], rel=1e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("brake", [0.0, 0.6])
def test_a_hinge_may_turn_through_any_angle(integrator: str, brake: float) -> None:
    """A free body on a hinge loop, turning over and over or resting half a turn from its start, never tilts."""
    scene = ss.Scene(gravity=(-5.0, 0.3, -5.0))  # pulls the centre of mass to the far side
    scene.add_body("door", inertial=ss.Inertial(1.0, (0.3, 0.01, 0.1), np.diag([0.1, 0.12, 0.09])),
                   angular_velocity=(0, 0, 0.5 if brake else 6.0))
    scene.add_loop("hinge", "door", None, axis=(0, 0, 1))
    sim = simulate(scene, integrator)
    for _ in range(300):
        sim.apply_force("door", (0, 0, 0), torque=(0, 0, -brake * sim.bodies["door"].angular_velocity[2]))
        sim.step(20)
        assert sim.bodies["door"].rotation_matrix[2, 2] > 1 - 1e-10
        assert sim.report.loop_error < 5e-3 and sim.report.converged
    if brake:
        assert abs(sim.bodies["door"].rotation[0]) < 0.1  # it rests near half a turn
        assert np.linalg.norm(sim.bodies["door"].angular_velocity) < 1e-2


@pytest.mark.parametrize("kind", ["ball", "hinge", "weld"])
def test_drift_correction_closes_a_gap(kind: Any) -> None:
    """A loop assembled 5 cm and 0.1 rad apart closes at the share of its error per step that was asked for."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("block", inertial=LUMP)
    rotation = None if kind == "ball" else (np.cos(0.05), np.sin(0.05), 0, 0)
    scene.add_loop(kind, "block", None, position_b=(0.05, 0, 0), rotation_b=rotation, correction=0.1)
    with pytest.warns(OpenLoop, match="starts open by 0.05 m"):
        sim = simulate(scene)
    sim.step()
    assert sim.report.loop_error == pytest.approx(0.05 * 0.9, rel=1e-2)  # no faster than 10 m/s, or rad/s
    sim.step(99)
    assert sim.report.loop_error == pytest.approx(0.05 * 0.9**100, rel=0.05)
    sim.step(200)
    if kind != "ball":
        np.testing.assert_allclose(sim.bodies["block"].rotation_matrix[:, 2], [0, -np.sin(0.1), np.cos(0.1)], atol=1e-6)
    assert np.abs(sim.data.loop_error[0][: {"ball": 3, "hinge": 5, "weld": 6}[kind]]).max() < 1e-6


def test_a_loop_to_a_scripted_body_drags() -> None:
    """A free block welded to a moving belt takes its velocity in the first step and follows."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("belt", kinematic=True, velocity=(0.5, 0, 0), angular_velocity=(0, 0, 1.0))
    scene.add_body("block", position=(0.3, 0, 0), inertial=LUMP)
    scene.add_loop("weld", "block", "belt")
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        sim.step(1_000)
        wanted = sim.bodies["belt"].position + sim.bodies["belt"].rotation_matrix @ [0.3, 0, 0]
        np.testing.assert_allclose(sim.bodies["block"].position, wanted, atol=2e-3)
        np.testing.assert_allclose(sim.bodies["block"].angular_velocity, [0, 0, 1], atol=2e-2)


def test_force_of_a_weld_is_the_weight_it_carries() -> None:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("block", inertial=LUMP)
    scene.add_loop("weld", "block", None)
    for integrator in INTEGRATORS:
        sim = simulate(scene, integrator)
        sim.step(500)
        force = sim.data.loop_impulse[0] / sim.dt
        np.testing.assert_allclose(force[:3], [0, 0, 1.5 * 9.8], atol=1e-4)
        np.testing.assert_allclose(force[3:], np.cross(LUMP.center, [0, 0, 1.5 * 9.8]), atol=1e-4)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_limit_carries_a_closed_loop(integrator: str) -> None:
    """A parallelogram that starts beyond a limit of one crank is brought back, loop and all, and rests on it: virtual
    work of all three weights, (1/2 + 1/2 + 1) g sin q."""
    scene = four_bar("hinge", position_b=(0, 0, -0.5), rotation_b=(1, 0, 0, 0))  # closed at zero
    scene.bodies["left"].joint = ss.Joint("revolute", name="left", axis=(0, 1, 0), anchor=(0, 0, 0.5), lower=0.2,
                                          upper=1.0)
    sim = simulate(scene, integrator)
    sim.set_state(q=np.zeros(3))
    sim.step(1_000)
    assert sim.joints["left"].position == pytest.approx(0.2, abs=1e-5) and np.abs(sim.v).max() < 1e-6
    assert sim.report.loop_error < 1e-9 and sim.report.converged
    assert sim.joints["left"].limit_force == pytest.approx(2 * 9.8 * np.sin(0.2), rel=1e-5)


def test_impulses_of_loops_that_repeat_each_other_do_not_add_up() -> None:
    """Where several impulses do the same, the smallest are taken, whatever the last step left: rounding along what
    they have in common would grow from step to step, and come out as energy."""
    scene = linkages.four_bar(linkages.turned(0.3, 0.5, 0.7))
    for n, y in enumerate((-0.02, 0.02)):
        scene.add_loop("ball", "coupler", "rocker", name=f"again{n}", position=(0.2, y, 0))
    sims = [ss.Simulation(scene, "none", dt=1e-3) for _ in range(2)]
    for sim in sims:
        sim.step(100)
    sims[1].data.loop_impulse[:] = 1e3
    for sim in sims:
        sim.step()
    first, second = (np.abs(sim.data.loop_impulse[:, :3]).max() for sim in sims)
    assert second < 2.0 * first < 0.1
    np.testing.assert_allclose(sims[1].v, sims[0].v, atol=1e-8)
