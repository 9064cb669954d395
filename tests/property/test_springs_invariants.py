"""What `springs` keeps whatever the scene, over random ones: momentum, limits, friction bounds, dissipation, no pull,
and that neither the order of bodies nor where the scene stands matters."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import make
from sesshoku.methods.springs.solve.descent import ONE_WAY, UNLIMITED
from sesshoku.spatial.rotation import multiply, quaternion_to_matrix
from support import SEED, sample_count

KEYWORDS = ("springs", "springs:recommended")
everyone = pytest.mark.parametrize("keyword", KEYWORDS)


def swarm(rng, count=3, order=None, place=(0, 0, 0), turn=(1.0, 0.0, 0.0, 0.0), gravity=(0, 0, 0), floor=False):
    """Boxes that fly into each other; the whole moved by a rigid transform."""
    R = quaternion_to_matrix(np.array(turn))
    place = np.asarray(place, dtype=float)
    scene = ss.Scene(gravity=R @ np.asarray(gravity, dtype=float))
    if floor:
        scene.add_box("floor", size=(6, 6, 1), position=place + R @ (0, 0, -1.5), rotation=turn, fixed=True,
                      material=ss.Material(0.5))
    bodies = []
    for n in range(count):
        own = rng.normal(size=4)
        angle = 2 * np.pi * n / count
        at = 0.62 * np.array([np.cos(angle), np.sin(angle), 0.1 * n])
        bodies.append((f"box{n}", rng.uniform(0.4, 0.6, 3), float(rng.uniform(0.5, 3.0)), at, own / np.linalg.norm(own),
                       -1.5 * at + rng.normal(scale=0.2, size=3), rng.normal(size=3)))
    for n in order if order is not None else range(count):
        name, size, mass, at, own, velocity, spin = bodies[n]
        scene.add_box(name, size=size, mass=mass, position=place + R @ at, rotation=multiply(np.array(turn), own),
                      velocity=R @ velocity, angular_velocity=R @ spin, material=ss.Material(0.4))
    return scene


def tree(rng):
    """A free chain of links on revolute, prismatic, spherical and planar joints, moving."""
    scene = ss.Scene(gravity=(0, 0, 0))
    parent = None
    for n, kind in enumerate(("free", "revolute", "spherical", "prismatic", "planar")):
        A = rng.normal(scale=0.1, size=(3, 3))
        joint = ss.Joint(kind) if kind == "free" else ss.Joint(kind, axis=rng.normal(size=3))
        scene.add_body(f"link{n}", parent=parent, joint=joint, position=(0, 0, 0) if parent is None else (0.3, 0.1, 0),
                       inertial=ss.Inertial(float(rng.uniform(0.5, 2)), rng.normal(scale=0.05, size=3),
                                            np.eye(3) * 0.03 + A @ A.T * 0.1))
        parent = f"link{n}"
    return scene


def linear_momentum(sim):
    bodies = sim.records["bodies"]
    return bodies.mass @ bodies.velocity[:, :3]


@everyone
def test_linear_momentum_is_kept_by_contacts_and_joints(keyword):
    """To rounding: springs, dampers, friction and constraint forces come in pairs."""
    touched = 0
    for n in range(sample_count(3, 40)):
        rng = np.random.default_rng([SEED, n])
        for scene in (swarm(rng), tree(rng)):
            sim = ss.Simulation(scene, keyword, 2e-3)
            if sim.model.tree_count == 1:
                sim.set_state(v=rng.normal(size=sim.model.dof_count))
            sim.step()
            before = linear_momentum(sim)
            for _ in range(150):
                sim.step()
                touched += len(sim.contacts) + sim.report.rows
            assert linear_momentum(sim) == pytest.approx(before, abs=1e-12 * 150 * max(1.0, np.abs(before).max()))
    assert touched > 0  # some of these bodies meet


@everyone
def test_angular_momentum_is_kept_to_the_steps_order(keyword):
    """About the origin, over a collision: the error falls with the step."""
    errors = []
    for dt in (4e-3, 1e-3):
        worst = []
        for n in range(3):
            sim = ss.Simulation(swarm(np.random.default_rng([SEED, n]), 2), keyword, dt)
            before = sim.momentum(about=(0, 0, 0))[3:]
            sim.step(round(0.6 / dt))
            worst.append(np.abs(sim.momentum(about=(0, 0, 0))[3:] - before).max())
        errors.append(max(worst))
    assert errors[1] < max(0.6 * errors[0], 2e-4)
    assert errors[1] < 0.02


@everyone
def test_converged_steps_keep_every_spring_within_its_limit(keyword):
    for n in range(sample_count(3, 30)):
        rng = np.random.default_rng([SEED, n])
        scene = tree(rng)
        scene.gravity = (0, 0, -9.8)
        how = make(keyword, {"joint_springs": "explicit", "joint_limit": 0.002, "max_correction_speed": float("inf")})
        sim = ss.Simulation(scene, how, 5e-3)
        sim.set_state(v=3.0 * rng.normal(size=sim.model.dof_count))
        held = 0
        for _ in range(60):
            sim.step()
            springs, joints = sim.records["springs"], sim.records["joints"]
            if sim.report.converged:
                first = slice(0, joints.spring_count)
                limited = springs.holds[first] != UNLIMITED
                tolerance = sim.method.options.constraint_tol
                assert (springs.gap[first][limited] <= tolerance * springs.limit[first][limited] + 1e-12).all()
                held += int(np.abs(springs.held[first]).max() > 0.0)
        assert held > 0, "the limits must act for the test to mean anything"


def slip_of(sim, c):
    """Velocity of the guest of contact spring c against its host, at its point."""
    bodies, presses = sim.records["bodies"], sim.records["presses"]
    guest, host = (bodies.velocity[b, :3] + np.cross(bodies.velocity[b, 3:], presses.point[c] - bodies.position[b])
                   for b in sim.records["springs"].body[presses.first + c])
    return guest - host


@everyone
def test_every_force_is_a_pair_without_moment(keyword):
    """Of springs, dampers and friction at one evaluation: forces and moments of all bodies add up to nothing."""
    touched = 0
    for n in range(sample_count(3, 30)):
        sim = ss.Simulation(swarm(np.random.default_rng([SEED, n])), keyword, 2e-3)
        bodies = sim.records["bodies"]
        for _ in range(250):
            sim.step()
            if len(sim.contacts) == 0:
                continue
            kept = sim.save()
            bodies.velocity[:, 3:] = 0.0  # so that no gyroscopic torque is among them
            sim.method.module.stages(sim.method.options)["forces"](
                sim.model, sim.data, *sim.records.values(), sim._parameters, sim.dt)
            force, torque = bodies.force[:, :3], bodies.force[:, 3:]
            size = max(1.0, float(np.abs(force).max()))
            assert np.abs(force.sum(axis=0)).max() < 1e-12 * size
            assert np.abs((torque + np.cross(bodies.position, force)).sum(axis=0)).max() < 1e-12 * size
            touched += int(np.abs(force).max() > 0.0)
            sim.restore(kept)
    assert touched > 0


@everyone
def test_contact_forces_push_and_friction_is_bounded_and_dissipates(keyword):
    """No adhesion. Kinetic friction is mu times the spring's (the preset: the whole) normal force, against sliding."""
    slid = 0
    for n in range(sample_count(3, 30)):
        rng = np.random.default_rng([SEED, n])
        sim = ss.Simulation(swarm(rng, floor=True, gravity=np.array([0, 0, -9.8])), keyword, 2e-3)
        presses, springs = sim.records["presses"], sim.records["springs"]
        arguments = (sim.model, sim.data, *sim.records.values(), sim._parameters, sim.dt)
        sim.step()
        for _ in range(200):
            for name, stage in sim.method.module.stages(sim.method.options).items():
                stage(*arguments)
                if name != "forces":
                    continue
                for c in range(presses.counts[0]):
                    normal, push = presses.normal[c], presses.push[c]
                    along = push @ normal
                    assert along >= -1e-9
                    tangent = push - along * normal
                    across = np.linalg.norm(tangent)
                    if springs.holds[presses.first + c] == ONE_WAY:
                        bears = presses.stiffness[c] * presses.depth[c] if keyword == "springs" else along
                        assert across <= presses.mu[c, 0] * bears * (1 + 1e-9) + 1e-9
                        slid += across > 0.0
                        if keyword == "springs":  # dragged anchors are springs, which also give back
                            assert tangent @ slip_of(sim, c) <= 1e-9
            assert all(contact.normal_force >= -1e-9 for contact in sim.contacts)
    assert slid > 0


@everyone
def test_dampers_and_friction_only_take_energy(keyword):
    """A box sliding and rocking on the floor ends with less energy than it had, without a springs' store left over."""
    for n in range(sample_count(3, 30)):
        rng = np.random.default_rng([SEED, n])
        scene = ss.Scene(gravity=(0, 0, -9.8))
        scene.add_ground(material=ss.Material(0.5))
        turn = rng.normal(size=4)
        scene.add_box("box", size=rng.uniform(0.3, 0.8, 3), mass=float(rng.uniform(0.5, 5)), position=(0, 0, 0.8),
                      rotation=turn / np.linalg.norm(turn), velocity=rng.normal(size=3),
                      angular_velocity=rng.normal(size=3))
        sim = ss.Simulation(scene, keyword, 1e-3)
        start = sum(sim.energy)
        most = 0.0
        for _ in range(100):
            sim.step(50)
            most = max(most, sum(sim.energy))
        assert most <= 1.02 * start
        assert sim.energy[0] < 0.05 * start


@everyone
def test_the_order_of_bodies_does_not_matter(keyword):
    results = []
    for order in ((0, 1, 2), (2, 0, 1)):
        sim = ss.Simulation(swarm(np.random.default_rng(SEED), order=order), keyword, 2e-3)
        sim.step(60)
        results.append(np.concatenate([sim.bodies[f"box{n}"].position for n in range(3)]))
    assert results[0] == pytest.approx(results[1], abs=1e-9)


@pytest.mark.boundscheck
@everyone
def test_where_the_scene_stands_does_not_matter(keyword):
    """The whole scene, gravity included, moved and turned: the same motion, seen from there."""
    rng = np.random.default_rng(SEED)
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    place, R = rng.normal(size=3), quaternion_to_matrix(turn)
    gravity = np.array([0, 0, -9.8])
    first = ss.Simulation(swarm(np.random.default_rng(SEED), gravity=gravity, floor=True), keyword, 2e-3)
    second = ss.Simulation(swarm(np.random.default_rng(SEED), gravity=gravity, floor=True, place=place, turn=turn),
                           keyword, 2e-3)
    for _ in range(30):
        first.step()
        second.step()
        assert len(first.contacts) == len(second.contacts)
    for n in range(3):
        moved = place + R @ first.bodies[f"box{n}"].position
        assert second.bodies[f"box{n}"].position == pytest.approx(moved, abs=1e-8)
