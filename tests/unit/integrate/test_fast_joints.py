"""Joints that turn far within a step: a body hung in crossed hinges with massless rings goes through gimbal lock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.integrate.fast_joints import FAST
from support import sample_count

HEAD = ss.Inertial(2.0, (0.02, 0.01, -0.2), np.diag([0.02, 0.03, 0.01]))
METHODS = ("none", "exact", "lcp", "lcp:recommended", "multipoint:recommended", "implicit", "volume")
STARTS = sample_count(6, 40)


def gimbal(q: np.ndarray, v: np.ndarray, limit: float | None = None, free: bool = False,
           gravity: float = -9.81) -> ss.Scene:
    """Three crossed hinges, the two rings between them without mass. limit: of the middle hinge."""
    scene = ss.Scene(gravity=(0, 0, gravity))
    if free:
        scene.add_body("base", inertial=ss.Inertial(3.0, (0, 0, 0.05), np.diag([0.05, 0.06, 0.04])))
    else:
        scene.add_body("base", fixed=True)
    bounds = {} if limit is None else {"lower": -limit, "upper": limit}
    scene.add_body("ring", parent="base", joint=ss.Joint("revolute", "z", axis=(0, 0, 1), position=q[0], velocity=v[0]))
    scene.add_body("inner ring", parent="ring",
                   joint=ss.Joint("revolute", "x", axis=(1, 0, 0), position=q[1], velocity=v[1], **bounds))
    scene.add_body("head", parent="inner ring", inertial=HEAD,
                   joint=ss.Joint("revolute", "y", axis=(0, 1, 0), position=q[2], velocity=v[2]))
    return scene


def start(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Towards the lock, past it at some distance."""
    q = np.array([rng.uniform(-1, 1), np.pi / 2 - rng.uniform(0.05, 0.3), rng.uniform(-1, 1)])
    return q, np.array([rng.uniform(-0.5, 0.5), rng.uniform(2, 6), rng.uniform(-3, 3)])


def follow(sim: ss.Simulation, time: float) -> tuple[float, float, int]:
    """Most energy above the start's and most kinetic energy, J; in how many steps a joint was fast."""
    first = sum(sim.energy)
    above, kinetic, carried = 0.0, sim.energy.kinetic, 0
    for _ in range(round(time / sim.dt)):
        sim.step()
        above, kinetic = max(above, sum(sim.energy) - first), max(kinetic, sim.energy.kinetic)
        carried += sim.report.fast_trees
    return above, kinetic, carried


@pytest.mark.parametrize("limit", [None, np.pi / 2, 1.570795], ids=["free", "at the lock", "just before it"])
@pytest.mark.parametrize("method", METHODS)
def test_through_gimbal_lock(method: str, limit: float | None, rng: np.random.Generator) -> None:
    """Speeds of the rings grow without bound there; the energy does not grow by more than the scheme errs elsewhere."""
    met, share = 0, 0.02 if method == "exact" else 0.25  # the others drift with explicit Coriolis forces
    for _ in range(STARTS):
        q, v = start(rng)
        sim = ss.Simulation(gimbal(q, v, limit), method, dt=1e-3)
        above, kinetic, carried = follow(sim, 1.0)
        assert above < share * kinetic, (q, v)
        met += carried
    assert met > 0


@pytest.mark.parametrize(("q", "v"), [
    ((-0.042, 1.481, 0.469), (-0.386, 3.565, 0.1)), ((-0.252, 1.498, 0.321), (0.431, 2.829, 0.781)),
    ((0.366, 1.316, -0.143), (0.259, 5.514, -2.386)),
])
@pytest.mark.parametrize(("method", "dt", "within"), [
    ("exact", 1e-3, 0.01), ("exact", 2e-4, 1e-3), ("none", 1e-3, 0.01),
])
def test_it_is_the_motion_of_a_ball_joint(method: str, dt: float, within: float, q: Any, v: Any) -> None:
    """The lock is one of the coordinates: 0.3 s later, past it at radians per step, the head is where a ball has it.

    within: m; it has moved by decimetres.
    """
    sim, scene = ss.Simulation(gimbal(np.array(q), np.array(v)), method, dt=dt), ss.Scene(gravity=(0, 0, -9.81))
    scene.add_body("base", fixed=True)
    scene.add_body("head", parent="base", inertial=HEAD, joint=ss.Joint("spherical"))
    ball = ss.Simulation(scene, ss.methods.none(integrator="rk4"), dt=1e-3)
    head, pose = sim.bodies["head"], sim.body_poses()[sim.compiled.frame_index["head"], 3:]
    ball.set_state(q=pose / np.linalg.norm(pose), v=head.rotation_matrix.T @ head.angular_velocity)
    fast = 0
    for _ in range(round(0.3 / dt)):
        sim.step()
        fast += sim.report.fast_trees
    ball.step(300)
    assert fast > 0 or dt < 1e-3
    assert np.linalg.norm(ball.bodies["head"].center_of_mass - head.center_of_mass) < within


@pytest.mark.parametrize("method", ["none", "exact", "lcp:recommended"])
def test_a_free_mechanism_keeps_momentum_and_energy(method: str, rng: np.random.Generator) -> None:
    """In steps in which a joint is fast, to rounding (in the others as well as the scheme does)."""
    carried = 0
    for _ in range(STARTS):
        q, v = start(rng)
        sim = ss.Simulation(gimbal(q, v, free=True, gravity=0.0), method, dt=1e-3)
        before = np.append(sim.momentum(about=(0, 0, 0)), sum(sim.energy))
        size = np.abs(before).max()
        for _ in range(500):
            fast = np.abs(sim.v[6:]).max() * sim.dt > FAST  # from its start on
            sim.step()
            after = np.append(sim.momentum(about=(0, 0, 0)), sum(sim.energy))
            if fast:
                assert np.allclose(after, before, rtol=0.0, atol=1e-9 * size), (q, v)
                carried += 1
            before = after
    assert carried > 0


@pytest.mark.parametrize("method", ["none", "exact", "implicit"])
def test_a_fast_wheel_is_a_gyroscope(method: str) -> None:
    """A wheel at five times FAST on a body that tilts: as with steps ten times shorter, where nothing is fast."""
    def craft() -> ss.Scene:
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_body("craft", inertial=ss.Inertial(1.0, (0, 0, 0), np.diag([0.02, 0.03, 0.04])),
                       angular_velocity=(1.0, 0.5, 0.0))
        scene.add_body("wheel", parent="craft", inertial=ss.Inertial(0.2, (0, 0, 0), np.diag([1e-4, 1e-4, 2e-4])),
                       joint=ss.Joint("revolute", "spin", axis=(0, 0, 1), velocity=5.0 * FAST / 1e-3))
        return scene

    coarse, fine = (ss.Simulation(craft(), method, dt=dt) for dt in (1e-3, 1e-4))
    energy, momentum = sum(coarse.energy), coarse.momentum()
    coarse.step(500)
    fine.step(5000)
    assert coarse.report.fast_trees == 1 and fine.report.fast_trees == 0
    assert sum(coarse.energy) == pytest.approx(energy, rel=1e-3)
    assert np.allclose(coarse.momentum(), momentum, atol=1e-3 * np.abs(momentum).max())
    assert np.allclose(coarse.bodies["craft"].angular_velocity, fine.bodies["craft"].angular_velocity, atol=2e-2)
    assert np.allclose(coarse.bodies["craft"].rotation_matrix, fine.bodies["craft"].rotation_matrix, atol=2e-2)
