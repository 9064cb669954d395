"""The shipped humanoid read by MuJoCo and by us from the same file: mass matrix, bias, servos and one step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from support import sample_count
from trees import relative_error, unit

pytestmark = pytest.mark.peer
mujoco: Any = pytest.importorskip("mujoco")
TOLERANCE = 1e-9
ROBOTS = ("humanoid_large", "humanoid_small")


class Pair:
    """One robot on both sides at one state; T: v_there = T v, `rate` = T' v."""

    def __init__(self, name: str) -> None:
        path = ss.robots.path(f"{name}.xml")
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.data = mujoco.MjData(self.model)
        scene = ss.Scene()
        self.robot = scene.load(path)
        self.sim = ss.Simulation(scene, ss.methods.none(integrator="euler"), dt=1e-3)

    def draw(self, rng: np.random.Generator, share: float) -> None:
        """A random state, joints within `share` of their ranges; servos aim anywhere near."""
        sim, m = self.sim, self.sim.model
        q, v = sim.q.copy(), rng.normal(size=len(sim.v))
        q[:3], q[3:7] = rng.normal(size=3), unit(rng, 4)
        for k in range(6, m.dof_count):
            middle, half = 0.5 * (m.dof_lower[k] + m.dof_upper[k]), 0.5 * (m.dof_upper[k] - m.dof_lower[k])
            q[m.dof_coordinate[k]] = middle + share * half * rng.uniform(-1, 1)
        sim.set_state(q, v)
        for actuator in sim.actuators.values():
            actuator.target = float(q[m.dof_coordinate[m.actuator_dof[sim.compiled.actuator_index[actuator.name]]]]
                                    + 0.02 * rng.normal())
        self._copy()

    def _copy(self) -> None:
        sim, base = self.sim, self.sim.bodies[self.robot.bodies[0]]
        there, m = self.model, self.sim.model
        self.T, self.rate = np.zeros((m.dof_count,) * 2), np.zeros(m.dof_count)
        R, r, w = base.rotation_matrix, base.position - base.center_of_mass, sim.v[3:6]
        x, y, z = r
        # there: velocity of the pelvis frame in world axes, angular velocity in body axes
        self.T[:3, :3], self.T[3:6, 3:6] = np.eye(3), R.T
        self.T[:3, 3:6] = -np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        self.rate[:3] = np.cross(w, np.cross(w, r))
        self.data.qpos[:7] = [*base.position, *base.rotation]
        for name, link in sim.compiled.joint_link.items():
            if link != 0:
                joint = there.joint(name)
                self.data.qpos[joint.qposadr[0]] = sim.q[m.link_coordinate[link]]
                self.T[joint.dofadr[0], m.link_dof[link]] = 1.0
        self.data.qvel[:] = self.T @ sim.v
        for actuator in sim.actuators.values():
            self.data.actuator(actuator.name).ctrl[0] = actuator.target
        mujoco.mj_forward(there, self.data)


@pytest.fixture(scope="module", params=ROBOTS)
def pair(request: pytest.FixtureRequest) -> Pair:
    return Pair(request.param)


def test_mass_matrix_and_bias(pair: Pair, rng: np.random.Generator) -> None:
    for _ in range(sample_count(5, 100)):
        pair.draw(rng, 1.0)
        sim, T = pair.sim, pair.T
        there = np.zeros((pair.model.nv, pair.model.nv))
        mujoco.mj_fullM(pair.model, pair.data, there)
        assert relative_error(sim.mass_matrix(), T.T @ there @ T) < TOLERANCE
        # bias: forces at zero acceleration of our speeds
        assert relative_error(sim.bias_force(), T.T @ (pair.data.qfrc_bias + there @ pair.rate)) < TOLERANCE


def test_servos_and_one_step(pair: Pair, rng: np.random.Generator) -> None:
    """Joints well inside their limits: one explicit Euler step changes v by dt times MuJoCo's acceleration."""
    clipped = 0
    for _ in range(sample_count(5, 100)):
        pair.draw(rng, 0.5)
        sim, before = pair.sim, pair.sim.v.copy()
        sim.step()
        assert sim.report.rows == 0
        for actuator in sim.actuators.values():
            force = pair.data.actuator(actuator.name).force[0]
            clipped += abs(force) == pair.model.actuator(actuator.name).forcerange[1]
            assert actuator.force == pytest.approx(force, rel=TOLERANCE, abs=1e-9)
        wanted = np.linalg.solve(pair.T, pair.data.qacc_smooth - pair.rate)
        assert relative_error((sim.v - before) / sim.dt, wanted) < TOLERANCE
    assert clipped > 0  # the draw is wide enough to meet the effort limits


def test_poses_momentum_and_energy(pair: Pair, rng: np.random.Generator) -> None:
    pair.model.opt.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    pair.draw(rng, 1.0)
    sim, data = pair.sim, pair.data
    for name, body in sim.bodies.items():
        np.testing.assert_allclose(body.position, data.body(name).xpos, atol=TOLERANCE)
        np.testing.assert_allclose(body.rotation_matrix.ravel(), data.body(name).xmat, atol=TOLERANCE)
    np.testing.assert_allclose(sim.center_of_mass(), data.subtree_com[0], atol=TOLERANCE)
    mujoco.mj_subtreeVel(pair.model, data)
    mass = pair.model.body_mass.sum()
    momentum = np.concatenate([mass * data.subtree_linvel[0], data.subtree_angmom[0]])
    assert relative_error(sim.momentum(), momentum) < TOLERANCE
    potential, kinetic = data.energy
    assert sim.energy == pytest.approx((kinetic, potential), rel=TOLERANCE)
