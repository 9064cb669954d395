"""What `exact` keeps in every step of random scenes: the law to its tolerance or a word, no work by friction, momentum
explained by impulses, exact save and restore."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from property_scenes import random_scene
from sesshoku.methods.exact.impacts.instant import MET
from sesshoku.methods.exact.momenta.momentum import HIT
from sesshoku.methods.exact.work import GIVEN, IMPACTS
from support import SEED, sample_count

G = 9.8
ACCEPTED = 1.1e-8  # m/s: what counts as solved where the budget of steps ends


def draw(chunk, n, dt=None):
    rng = np.random.default_rng([SEED, 77, chunk, n])
    scene = random_scene(rng, float(rng.choice([0.0, 0.5])))
    return ss.Simulation(scene, "exact", float(10 ** rng.uniform(-3.5, -2)) if dt is None else dt), rng


def turn_back(w, turned):
    """w before it was turned by the rotation vector `turned`."""
    angle = np.linalg.norm(turned)
    if angle == 0.0:
        return w
    axis = -turned / angle
    across = np.cross(axis, w)
    return w + np.sin(angle) * across + (1.0 - np.cos(angle)) * np.cross(axis, across)


def friction_power(sim, before):
    """Largest power of a contact's friction (W) on the velocities of the step's end, beyond what rounding explains.

    before: q and v at the step's start. Contacts lie in the middle of the step; by its end a corner may have gained
    dt/2 w^2 r, which the law takes into account and this does not. Spins are those of the law, before a body that an
    impact displaces turns by that, and its spin with it.

    Impacts of lone bodies have the arms of their instant t. From then on such a body spins freely, and its spin changes
    at a rate of at most w^2/sqrt(3) (no moment of inertia is above the sum of the others): a corner gains less than
    (dt - t) w^2 r. A contact that another impact of the step brings about has the arms of the middle, and gains up to
    dt w^2 r. What carried a body until its impact opposed the slip of the step's start, and was found in the middle of
    the step before: dt w^2 r.
    """
    worst, work = -np.inf, sim.work
    bodies = {}
    for name in sim.bodies:
        if name.startswith("b"):
            link = sim.bodies[name].link
            k, at = sim.model.link_dof[link], sim.model.link_coordinate[link]
            center = before[0][at:at + 3] + 0.5 * sim.dt * before[1][k:k + 3]
            spin = max(np.linalg.norm(before[1][k + 3:k + 6]), np.linalg.norm(sim.v[k + 3:k + 6]))
            turned = work.turned[k + 3:k + 6]
            bodies[name] = link, center, sim.v[k:k + 3], turn_back(sim.v[k + 3:k + 6], turned), spin, before[1][k:k + 6]
    for c, contact in enumerate(sim.contacts):
        if "paddle" in contact.bodies or contact.normal_force <= 0.0:
            continue
        hits = work.impacts[IMPACTS] > 0
        met, carried = hits and work.met[c] == MET, hits and work.impacts[GIVEN] > 0
        slip, old_slip, turned, far = np.zeros(3), np.zeros(3), 0.0, 0.0
        for side, (name, sign) in enumerate(zip(contact.bodies, (-1.0, 1.0), strict=True)):
            if name not in bodies:
                continue
            link, center, v, w, spin, old = bodies[name]
            tree = sim.model.link_tree[link]
            arm = work.arm[c, side] if met else contact.point - center
            slip += sign * (v + np.cross(w, arm))
            old_slip += sign * (old[:3] + np.cross(old[3:], arm))
            until = 0.5 * sim.dt
            if hits and work.touched[tree] == HIT:
                until = sim.dt - work.tree_instant[tree] if met else sim.dt
            turned += until * spin**2 * np.linalg.norm(arm)
            far += sim.dt * spin**2 * np.linalg.norm(arm)
        given = (work.given[c] @ work.problem.axes[c]) / sim.dt if carried else np.zeros(3)
        for force, u, gains in ((contact.force - given, slip, turned), (given, old_slip, far)):
            friction = force - contact.normal * (contact.normal @ force)
            u = u - contact.normal * (contact.normal @ u)
            size = np.linalg.norm(friction)
            if size > 0.0:
                worst = max(worst, float(friction @ u - size * (1.1 * gains + 1e-6 * np.linalg.norm(u) + 1e-7)))
    return worst


@pytest.mark.parametrize("chunk", range(2))
def test_every_step_obeys_the_law_or_says_so(chunk):
    unsolved = steps = 0
    for n in range(sample_count(6, 200)):
        sim, _ = draw(chunk, n)
        for _ in range(min(round(0.6 / sim.dt), 250)):
            sim.step()
            report, problem, contacts = sim.report, sim.work.problem, sim.work.contacts
            count = contacts.counts[0]
            steps += 1
            unsolved += not report.converged and "paddle" not in sim.bodies  # a script may wedge a body in: no solution
            loads = (problem.block[:count, [0, 1, 2], [0, 1, 2]].max(axis=1, initial=0.0) * problem.impulse[:count, 2])
            floor = 64 * 2.3e-16 * max(loads.max(initial=0.0), np.abs(problem.free[:count]).max(initial=0.0))
            if report.converged:
                assert report.residual <= max(ACCEPTED, 2 * floor), (SEED, chunk, n)
            assert (problem.impulse[:count, 2] >= 0.0).all()
            limit = contacts.material[:count, 0] * problem.impulse[:count, 2]
            assert (np.linalg.norm(problem.impulse[:count, :2], axis=1) <= limit * (1 + 1e-12) + 1e-300).all()
            given = np.abs(sim.data.constraint_force).max(initial=0.0) * sim.dt  # largest impulse of a dof, N s
            assert report.momentum_residual <= 1e-12 * given + 1e-300
    assert unsolved <= 0.02 * steps + 2


def test_friction_never_does_work_on_what_slips():
    """x_t . u_t <= 0 at every contact, with the velocities of the step's end, of bodies that spin slowly."""
    seen = 0
    for n in range(sample_count(8, 200)):
        sim, _ = draw(5, n, dt=2e-3)
        sim.set_state(v=sim.v * np.tile([1, 1, 1, 0.02, 0.02, 0.02], len(sim.v) // 6))
        for _ in range(500):
            before = sim.q.copy(), sim.v.copy()
            sim.step()
            if sim.report.converged and np.abs(sim.v.reshape(-1, 6)[:, 3:]).max() * sim.dt < 0.1:
                worst = friction_power(sim, before)
                seen += worst > -np.inf
                assert worst <= 0.0, (SEED, n, worst)
    assert seen > 100


def test_impulses_explain_every_change_of_momentum():
    """Total momentum of free bodies changes by gravity and the ground's impulses alone, to rounding."""
    for n in range(sample_count(4, 60)):
        sim, _ = draw(6, n)
        names = [name for name in sim.bodies if name.startswith("b")]
        mass = np.array([sim.bodies[name].mass for name in names])
        for _ in range(150):
            before = sim.momentum(about=(0, 0, 0))[:3]
            sim.step()
            given = mass.sum() * np.array([0, 0, -G]) * sim.dt
            size = np.abs(given).max()
            for contact in sim.contacts:
                outside = [name for name in contact.bodies if not name.startswith("b")]
                if outside:
                    sign = 1.0 if contact.bodies[0] == outside[0] else -1.0
                    given = given + sign * sim.dt * contact.force
                size += sim.dt * np.abs(contact.force).max()
            after = sim.momentum(about=(0, 0, 0))[:3]
            size += mass @ np.abs(sim.v.reshape(-1, 6)[:, :3]).max(axis=1)
            assert after - before == pytest.approx(given, abs=1e-11 * size), (SEED, n)


@pytest.mark.parametrize("options", [{}, {"anchor": 0.1}, {"integrator": "semi-implicit"}])
def test_restored_states_run_on_bit_for_bit(options):
    for n in range(sample_count(3, 40)):
        rng = np.random.default_rng([SEED, 78, n])
        scene, dt = random_scene(rng, float(rng.choice([0.0, 0.8]))), float(10 ** rng.uniform(-3, -2))
        one, other = (ss.Simulation(scene, ss.methods.exact(**options), dt) for _ in range(2))
        one.step(int(rng.integers(1, 120)))
        snapshot = one.save()
        one.step(60)
        other.restore(snapshot)
        for _ in range(60):
            other.step()
        for name, value in one.save().items():
            np.testing.assert_array_equal(value, other.save()[name], err_msg=name)
