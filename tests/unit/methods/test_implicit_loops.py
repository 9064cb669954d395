"""What passes through loops and mimics under `implicit`: the multipliers of the dense KKT system."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.dynamics.constraints.rows import loop_error
from sesshoku.dynamics.jacobian import point_jacobian
from trees import nan

pytestmark = pytest.mark.nojit

ROWS = {"ball": 3, "hinge": 5, "weld": 6}
METHODS = {"default": {}, "balanced": {"schedule": "balanced"}, "recommended": {"rate_terms": False},
           "euler": {"integrator": "euler"}}


def bridge(kind: str, rng: np.random.Generator) -> ss.Scene:
    """Two hanging rods joined by a bar, a heavy free block on it, a post: loops between two trees and to the world."""
    scene = ss.Scene(gravity=(0.5, -1.0, -9.8))
    for name, x in (("left", 0.0), ("right", 1.0)):
        scene.add_body(name, position=(x, 0, 0), joint=ss.Joint("spherical", f"{name}_pin"),
                       inertial=ss.Inertial(1.0 + x, (0, 0, -0.5), 0.05 * np.eye(3)))
    scene.add_body("bar", parent="left", position=(0, 0, -1), joint=ss.Joint("spherical", "bar_pin"),
                   inertial=ss.Inertial(2.0, (0.5, 0, 0), 0.1 * np.eye(3)))
    scene.add_body("block", position=(0.5, 0, -1.5), inertial=ss.Inertial(40.0, (0.1, 0, 0), np.diag([2.0, 3.0, 4.0])))
    scene.add_loop("ball", "bar", "right", position=(1, 0, 0), name="end")
    scene.add_loop(kind, "block", "bar", position=(0, 0, 0.5), axis=(0, 0.6, 0.8), name="load")
    scene.add_body("post", position=(3, 0, 0), inertial=ss.Inertial(5.0, (0.2, 0.1, 0.3), 0.3 * np.eye(3)))
    scene.add_loop(kind, "post", None, name="foot", axis=(0.6, 0, 0.8))
    scene.add_body("arm", parent="post", position=(0, 0, 1), joint=ss.Joint("revolute", "elbow", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0.4, 0, 0), 0.02 * np.eye(3)))
    return scene


def loop_rows(sim: ss.Simulation) -> np.ndarray:
    """Velocity of a relative to b midway between the anchors along the frame of a, row by row, over the dofs."""
    m, d, rows = sim.model, sim.data, []
    for n in range(m.loop_count):
        point, frame = nan(2, 3), nan(2, 3, 3)
        loop_error(m, d, n, point, frame, nan(6))
        J = np.zeros((6, m.dof_count))
        for link, sign in zip(m.loop_link[n], (1.0, -1.0), strict=True):
            if link >= 0:
                point_jacobian(m, d, int(link), point.mean(axis=0), out := nan(6, m.dof_count))
                J += sign * out
        axes = frame[0].T
        rows.append(np.concatenate([axes @ J[:3], axes @ J[3:]])[: (3, 5, 6)[m.loop_kind[n]]])
    return np.concatenate(rows)


def impulses(sim: ss.Simulation) -> np.ndarray:
    counts = [(3, 5, 6)[kind] for kind in sim.model.loop_kind]
    return np.concatenate([sim.data.loop_impulse[n, :count] for n, count in enumerate(counts)])


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("options", METHODS, ids=str)
def test_impulses_of_loops_are_the_multipliers_of_the_dense_system(kind: str, options: str,
                                                                    rng: np.random.Generator) -> None:
    """H (v+ - v) = dt (tau - bias) + J^T p, J v+ = 0: p to rounding.

    In another order of assembly loops are stiff laws: to their softness, a part in a million.
    """
    sim = ss.Simulation(bridge(kind, rng), method=ss.methods.implicit(**METHODS[options]), dt=1e-3)
    J = loop_rows(sim)
    v = 0.02 * rng.normal(size=len(sim.v)) if options == "recommended" else np.zeros(len(sim.v))
    sim.set_state(v=v - np.linalg.pinv(J) @ (J @ v))
    v, H, bias, force = sim.v.copy(), sim.mass_matrix(), sim.bias_force(), rng.normal(size=(2, 3))
    for name, push in zip(("block", "bar"), force, strict=True):
        sim.apply_force(name, push * 10)
    V, R = len(v), len(J)
    K = np.block([[H, -J.T], [J, np.zeros((R, R))]])
    pushes = sum(sim.jacobian(name)[:3].T @ (push * 10) + sim.jacobian(name)[3:].T @ np.cross(
        sim.bodies[name].center_of_mass - sim.bodies[name].position, push * 10)
        for name, push in zip(("block", "bar"), force, strict=True))
    wanted = np.linalg.solve(K, np.concatenate([H @ v + sim.dt * (pushes - bias), np.zeros(R)]))
    sim.step()
    assert sim.report.converged
    loose = 5e-5 if options == "balanced" else 1e-9
    np.testing.assert_allclose(sim.v, wanted[:V], rtol=0, atol=loose * np.abs(wanted[:V] - v).max())
    np.testing.assert_allclose(impulses(sim), wanted[V:], rtol=0, atol=loose * np.abs(wanted[V:]).max())


def test_redundant_loops_carry_together_what_one_would() -> None:
    """Three hinges between two moving bodies: shares are the laws', their sum is what the load needs."""
    def hung(hinges: int) -> np.ndarray:
        scene = ss.Scene(gravity=(0, -3.0, -9.8))
        scene.add_body("frame", joint=ss.Joint("revolute", "pin", axis=(1, 0, 0)),
                       inertial=ss.Inertial(4.0, (0, 0, -1), np.eye(3)))
        scene.add_body("door", inertial=ss.Inertial(10.0, (0.5, 0, 1.0), np.diag([3.0, 4.0, 1.0])))
        for n in range(hinges):
            scene.add_loop("hinge", "door", "frame", position=(0, 0, 0.5 * n), axis=(0, 0, 1), name=f"hinge {n}")
        sim = ss.Simulation(scene, method="implicit", dt=1e-3)
        sim.step(20)
        return np.asarray(sim.data.loop_impulse[:, :3].sum(axis=0) / sim.dt)

    one = hung(1)
    assert np.abs(one).max() > 50.0
    np.testing.assert_allclose(hung(3), one, rtol=0, atol=1e-3 * np.abs(one).max())


def test_a_lone_body_that_spins_on_a_hinge_loop_stays_on_its_axis() -> None:
    """Its gyroscopic torque is the hinge's to carry, within the solve: free turning after it would leave the axis."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("disc", inertial=ss.Inertial(1.0, (0.1, 0, 0.05), np.diag([0.1, 0.12, 0.2])),
                   angular_velocity=(0, 6.0 * 0.6, 6.0 * 0.8))
    scene.add_loop("hinge", "disc", None, axis=(0, 0.6, 0.8))
    for options in METHODS.values():
        sim = ss.Simulation(scene, method=ss.methods.implicit(**options), dt=1e-3)
        sim.step(3)
        w = sim.bodies["disc"].angular_velocity
        assert np.linalg.norm(np.cross(w, (0, 0.6, 0.8))) < 2e-6
        assert np.linalg.norm(w) == pytest.approx(6.0, rel=1e-3)


def test_impulse_of_a_mimic_is_what_holds_the_joint_it_drives() -> None:
    """An arm that mimics another, turned by its own weight and by the other's."""
    found = []
    for method in ("none", "implicit"):
        scene = ss.Scene(gravity=(0, 0, -9.8))
        for name, x in (("motor", 0.0), ("arm", 1.0)):
            scene.add_body(name, position=(3 * x, 0, 0), joint=ss.Joint("revolute", name, axis=(0, 1, 0)),
                           inertial=ss.Inertial(1.0 + x, (0.5, 0, 0), 0.1 * np.eye(3)))
        scene.add_mimic("arm", "motor", ratio=2.0)
        sim = ss.Simulation(scene, method=method, dt=1e-3)
        sim.step(3)
        found.append(sim.data.mimic_impulse[0] / sim.dt)
    assert abs(found[0]) > 0.5
    assert found[1] == pytest.approx(found[0], rel=1e-4)
    start = sim.save()
    sim.step(20)
    ahead = sim.q.copy()
    sim.restore(start)
    sim.step(20)
    assert (sim.q == ahead).all()  # no force is left over from the run before
