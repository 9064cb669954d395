"""Every kernel of the dynamics against Pinocchio, to 1e-9, on random trees of every joint kind and on real robots."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from pin_trees import PinTree
from sesshoku.dynamics.aba import forward_dynamics
from sesshoku.dynamics.assembly.assemble import assembly_dynamics
from sesshoku.dynamics.assembly.work import make_assembly, tree_joints
from sesshoku.dynamics.centroid import center_of_mass, kinetic_energy, momentum, potential_energy
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.delassus import wrench_delassus
from sesshoku.dynamics.factor import factorize, solve
from sesshoku.dynamics.jacobian import point_jacobian, point_jacobian_rate
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import bias_force, external_wrenches, inverse_dynamics, link_velocities
from sesshoku.errors import UnsupportedFeature
from sesshoku.model.arrays import FREE
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.spatial.rotation import quaternion_to_matrix
from support import example_robots, sample_count
from trees import HANGING, Posed, add_tree, dense, nan, poison_outputs, random_scene, relative_error, unit

pytestmark = pytest.mark.peer
pin: Any = pytest.importorskip("pinocchio")
TOLERANCE = 1e-9
TREES = sample_count(6, 50)


@pytest.mark.parametrize("number", range(TREES))
def test_random_trees(number: int, rng: np.random.Generator) -> None:
    """Every joint kind in every scene, two or three trees; joints off the bodies' origins, with armature."""
    scene = random_scene(rng, trees=1 + number % 2, size=int(rng.integers(7, 14)))
    add_tree(scene, rng, "floating", 13, "free")
    assert {body.joint.kind for body in scene.bodies.values()} >= {"free", *HANGING}
    posed = Posed(scene, ready=False)
    compare_all(posed, PinTree(pin, posed.compiled, posed.data.q, posed.data.v), rng)


def compare_all(posed: Posed, peer: PinTree, rng: np.random.Generator) -> None:
    """Poses, inertias, forces, Jacobians, momenta, energies at one state. Every output starts as NaN."""
    m, d = posed.model, posed.data
    poison_outputs(d)
    kinematics(m, d, d.q)
    external_wrenches(m, d)
    compare_dynamics(posed, peer, rng)
    link_velocities(m, d, d.v)
    compare_points(posed, peer, rng)
    compare_totals(posed, peer)


def compare_dynamics(posed: Posed, peer: PinTree, rng: np.random.Generator) -> None:
    m, d = posed.model, posed.data
    force, a = rng.normal(size=m.dof_count), rng.normal(size=m.dof_count)
    bias, inverse, forward = nan(m.dof_count), nan(m.dof_count), nan(m.dof_count)
    bias_force(m, d, d.v, bias)
    assert relative_error(bias, peer.inverse_dynamics(np.zeros(m.dof_count))) < TOLERANCE
    inverse_dynamics(m, d, d.v, a, inverse)
    assert relative_error(inverse, peer.inverse_dynamics(a)) < TOLERANCE
    mass_matrix(m, d, d.mass_matrix)
    assert relative_error(dense(m, d.mass_matrix), peer.mass_matrix()) < TOLERANCE
    wanted = peer.forward_dynamics(force)
    forward_dynamics(m, d, d.q, d.v, force, forward)
    assert relative_error(forward, wanted) < TOLERANCE
    factorize(m, d.mass_matrix, np.zeros(m.dof_count), d.factor, d.factor_dinv)
    by_factor = force - bias
    solve(m, d.factor, d.factor_dinv, by_factor)
    assert relative_error(by_factor, wanted) < TOLERANCE
    inverse_dynamics(m, d, d.v, forward, inverse)
    assert np.abs(inverse - force).max() < TOLERANCE * max(1.0, np.abs(bias).max())


def compare_points(posed: Posed, peer: PinTree, rng: np.random.Generator) -> None:
    m, d = posed.model, posed.data
    pin.forwardKinematics(peer.model, peer.data, peer.q, peer.v)
    for i in range(m.link_count):
        placement = peer.data.oMi[peer.joint[i]]
        origin = d.tree_origin[m.link_tree[i]] + d.offset[i]
        assert np.abs(origin - placement.translation).max() < TOLERANCE * max(1.0, np.abs(origin).max())
        assert np.abs(d.rotation[i] - placement.rotation).max() < TOLERANCE
    links = rng.choice(m.link_count, size=min(m.link_count, 5), replace=False)
    jacobians = []
    for link in links:
        local = rng.normal(size=3) * 0.3
        point = d.tree_origin[m.link_tree[link]] + d.offset[link] + d.rotation[link] @ local
        J, rate = nan(6, m.dof_count), nan(6, m.dof_count)
        point_jacobian(m, d, link, point, J)
        point_jacobian_rate(m, d, link, point, rate)
        wanted, wanted_rate = peer.point_jacobian(int(link), local)
        assert relative_error(J, wanted) < TOLERANCE
        assert np.abs(rate - wanted_rate).max() < TOLERANCE * max(np.abs(wanted_rate).max(), np.abs(wanted).max())
        jacobians.append((link, point, wanted))
    compare_delassus(posed, peer, jacobians)


def compare_delassus(posed: Posed, peer: PinTree, jacobians: list[Any]) -> None:
    """G of unit forces at the points, by unit test forces of the articulated-body algorithm."""
    m, d, count = posed.model, posed.data, 3 * len(jacobians)
    links = np.repeat([link for link, _, _ in jacobians], 3)
    axes = np.tile(np.eye(3), (len(jacobians), 1))
    points = np.repeat([point for _, point, _ in jacobians], 3, axis=0) - d.tree_origin[m.link_tree[links]]
    G, J = nan(count, count), np.concatenate([wanted[:3] for _, _, wanted in jacobians])
    wrenches = np.concatenate([axes, np.cross(points, axes)], axis=1)
    wrench_delassus(m, d, count, links, wrenches, (nan(m.dof_count), nan(6)), G)
    assert relative_error(G, J @ np.linalg.solve(peer.mass_matrix(), J.T)) < TOLERANCE


def compare_totals(posed: Posed, peer: PinTree) -> None:
    m, d = posed.model, posed.data
    center, total = nan(3), nan(6)
    mass = center_of_mass(m, d, 0, m.link_count, center)
    assert mass == pytest.approx(pin.computeTotalMass(peer.model), rel=TOLERANCE)
    wanted = pin.centerOfMass(peer.model, peer.data, peer.q)
    assert np.abs(center - wanted).max() < TOLERANCE * max(1.0, np.abs(wanted).max())
    momentum(m, d, 0, m.link_count, center, total)
    h = pin.computeCentroidalMomentum(peer.model, peer.data, peer.q, peer.v)
    assert relative_error(total, np.concatenate([h.linear, h.angular])) < TOLERANCE
    kinetic = pin.computeKineticEnergy(peer.model, peer.data, peer.q, peer.v)
    assert kinetic_energy(m, d, d.v) == pytest.approx(kinetic, rel=TOLERANCE)
    potential = pin.computePotentialEnergy(peer.model, peer.data, peer.q)
    assert abs(potential_energy(m, d, d.q) - potential) < TOLERANCE * max(1.0, mass * np.linalg.norm(m.gravity))


# ---- real robots, each read by both sides from its own file ----------------------------------------------------------

ROBOTS = {"talos": "talos_data/robots/talos_full_v2.urdf", "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
          "icub": "icub_description/robots/icub.urdf"}


class PinRobot:
    """A robot as Pinocchio's own URDF reader builds it, at the state of our simulation, matched by joint names."""

    def __init__(self, path: str, sim: Simulation, base: str) -> None:
        self.model = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
        self.model.gravity.linear = sim.model.gravity.copy()
        self.data = self.model.createData()
        m, v, body = sim.model, sim.v, sim.bodies[base]
        self.q, self.T, self.rate = pin.neutral(self.model), np.zeros((m.dof_count,) * 2), np.zeros(m.dof_count)
        R, r, w = body.rotation_matrix, body.position - body.center_of_mass, v[3:6]
        x, y, z = r
        arm = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        self.q[:7] = [*body.position, *body.rotation[1:], body.rotation[0]]
        # our free joint moves the base link's centre of mass in world axes, Pinocchio's its frame in body axes
        self.T[:3, :3], self.T[:3, 3:6], self.T[3:6, 3:6] = R.T, -R.T @ arm, R.T
        body_velocity = R.T @ (v[:3] + np.cross(w, r))
        self.rate[:3] = R.T @ np.cross(w, np.cross(w, r)) - np.cross(R.T @ w, body_velocity)
        for name, link in sim.compiled.joint_link.items():
            if link != 0:
                joint = self.model.joints[self.model.getJointId(name)]
                self.q[joint.idx_q] = sim.q[m.link_coordinate[link]]
                self.T[joint.idx_v, m.link_dof[link]] = 1.0
                self.model.armature[joint.idx_v] = m.dof_armature[m.link_dof[link]]
        self.v = self.T @ v


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_of_example_robot_data(name: str, rng: np.random.Generator) -> None:
    path, scene = example_robots() / ROBOTS[name], Scene(gravity=(0.1, 0.2, -9.81))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        robot = scene.load(path)
    sim = Simulation(scene)
    assert sim.model.link_joint[0] == FREE and robot.bodies[0] == sim.compiled.link_names[0]
    for _ in range(sample_count(2, 20)):
        q = rng.uniform(-1.5, 1.5, size=len(sim.q))
        q[3:7] = unit(rng, 4)
        sim.set_state(q, rng.normal(size=len(sim.v)))
        peer = PinRobot(str(path), sim, robot.bodies[0])
        compare_robot_dynamics(sim, peer, rng)
        if name != "icub":  # some of its links have no inertia of their own: assembly in any order refuses those
            compare_robot_assembly(sim, peer, rng)
        compare_robot_frames(sim, peer)
        compare_robot_totals(sim, peer)


def compare_robot_dynamics(sim: Simulation, peer: PinRobot, rng: np.random.Generator) -> None:
    a, force = rng.normal(size=len(sim.v)), rng.normal(size=len(sim.v)) * 10
    upper = np.triu(pin.crba(peer.model, peer.data, peer.q))
    assert relative_error(sim.mass_matrix(), peer.T.T @ (upper + np.triu(upper, 1).T) @ peer.T) < TOLERANCE
    for ours, wanted in ((sim.bias_force(), np.zeros_like(a)), (sim.inverse_dynamics(a), a)):
        theirs = pin.rnea(peer.model, peer.data, peer.q, peer.v, peer.T @ wanted + peer.rate)
        assert relative_error(ours, peer.T.T @ theirs) < TOLERANCE
    theirs = pin.aba(peer.model, peer.data, peer.q, peer.v, np.linalg.solve(peer.T.T, force))
    ours, theirs = sim.forward_dynamics(force), np.linalg.solve(peer.T, theirs - peer.rate)
    # fingertips without rotors: in some poses rounding alone, times the condition of H, is more than 1e-9
    assert relative_error(ours, theirs) < max(TOLERANCE, 2e-16 * np.linalg.cond(sim.mass_matrix()))


def compare_robot_assembly(sim: Simulation, peer: PinRobot, rng: np.random.Generator) -> None:
    """Assembly and disassembly in four orders."""
    m, d, force = sim.model, sim.data, rng.normal(size=len(sim.v)) * 10
    theirs = pin.aba(peer.model, peer.data, peer.q, peer.v, np.linalg.solve(peer.T.T, force))
    theirs = np.linalg.solve(peer.T, theirs - peer.rate)
    for order in ("leaves", "root", "balanced", rng.permutation(len(tree_joints(m)))):
        found = nan(m.dof_count)
        assert assembly_dynamics(m, d, make_assembly(m, order), d.q, d.v, force, found)
        assert relative_error(found, theirs) < TOLERANCE


def compare_robot_frames(sim: Simulation, peer: PinRobot) -> None:
    """Every named link of the file, also those fixed to others: pose, velocity, Jacobian and its rate."""
    pin.computeJointJacobiansTimeVariation(peer.model, peer.data, peer.q, peer.v)
    pin.updateFramePlacements(peer.model, peer.data)
    poses, velocities, axes = sim.body_poses(), sim.body_velocities(), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for f, name in enumerate(sim.compiled.frame_names):
        frame = peer.model.getFrameId(name, pin.FrameType.BODY)
        placement = peer.data.oMf[frame]
        assert np.abs(poses[f, :3] - placement.translation).max() < TOLERANCE
        assert np.abs(quaternion_to_matrix(poses[f, 3:]) - placement.rotation).max() < TOLERANCE
        theirs = pin.getFrameJacobian(peer.model, peer.data, frame, axes)
        assert relative_error(sim.jacobian(name), theirs @ peer.T) < TOLERANCE
        assert np.abs(velocities[f] - theirs @ peer.v).max() < TOLERANCE * max(1.0, np.abs(velocities).max())
        # J' v, the point's acceleration at zero joint acceleration, is the same in both conventions
        rate = nan(6, sim.model.dof_count)
        point_jacobian_rate(sim.model, sim.data, sim.bodies[name].link, poses[f, :3], rate)
        their_rate = pin.getFrameJacobianTimeVariation(peer.model, peer.data, frame, axes)
        wanted = their_rate @ peer.v + theirs @ peer.rate
        assert np.abs(rate @ sim.v - wanted).max() < TOLERANCE * max(1.0, np.abs(wanted).max())


def compare_robot_totals(sim: Simulation, peer: PinRobot) -> None:
    center = pin.centerOfMass(peer.model, peer.data, peer.q)
    assert np.abs(sim.center_of_mass() - center).max() < TOLERANCE
    h = pin.computeCentroidalMomentum(peer.model, peer.data, peer.q, peer.v)
    assert relative_error(sim.momentum(), np.concatenate([h.linear, h.angular])) < TOLERANCE
    assert not sim.model.dof_armature.any()
    kinetic, potential = sim.energy
    assert kinetic == pytest.approx(pin.computeKineticEnergy(peer.model, peer.data, peer.q, peer.v), rel=TOLERANCE)
    assert potential == pytest.approx(pin.computePotentialEnergy(peer.model, peer.data, peer.q), rel=TOLERANCE)
