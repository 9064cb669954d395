"""Invariants of the `lcp` digest, section 14, over random scenes and problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sesshoku as ss
from sesshoku.solvers.pgs import DISC, SLIDE, SQUARE
from sesshoku.solvers.pgs_dense import solve_dense
from sesshoku.spatial.rotation import matrix_to_quaternion, multiply, quaternion_to_matrix
from support import sample_count

SEEDS = st.integers(0, 2**32 - 1)
some = settings(max_examples=sample_count(12, 300))
EULER = {"integrator": "semi-implicit", "centripetal": False}  # meets its target velocity exactly
SOLVED = EULER | {"max_sweeps": 20_000, "tolerance": 1e-13, "delassus_by": "mass_matrix"}
OPTIONS = {"paper": {}, "euler": EULER, "pair": EULER | {"inner": "pair"}, "cone": EULER | {"static_pyramid": "cone"},
           "matrix-free": EULER | {"delassus_by": "none"}}


def method(name, **more):
    return ss.methods.lcp(**(OPTIONS[name] | more))


def heap(seed, *, order=None, turn=None, friction=None, count=None, speed=1.0, bounce=0.0, kinds=3):
    """Boxes, balls and capsules that touch each other and the floor, in random motion.

    order: of the bodies in the scene. turn: quaternion by which the whole world is turned. Without speed it lies flat.
    kinds: 3 all, 1 balls alone (one point to a pair).
    """
    rng = np.random.default_rng(seed)
    mu = float(rng.uniform(0.0, 1.0)) if friction is None else friction
    count = int(rng.integers(2, 5)) if count is None else count
    R = np.eye(3) if turn is None else quaternion_to_matrix(turn)
    base = np.array([1.0, 0, 0, 0]) if turn is None else turn
    material = ss.Material(mu, 0.8 * mu, bounce)
    scene = ss.Scene(gravity=R @ (0, 0, -9.8))
    scene.add_ground(rotation=base, material=material)
    bodies = []
    for n in range(count):
        tilt = np.array([1.0, *(0.02 * speed * rng.normal(size=3))])
        options = {"mass": float(10 ** rng.uniform(-1, 1)), "material": material,
                   "position": R @ np.array([*rng.uniform(-0.15, 0.15, 2), 0.14 + 0.29 * n]),
                   "rotation": multiply(base, tilt / np.linalg.norm(tilt)),
                   "velocity": R @ (speed * rng.normal(size=3) * (1, 1, 0.3)),
                   "angular_velocity": R @ (speed * 0.3 * rng.normal(size=3))}
        bodies.append((int(rng.integers(3)) if kinds == 3 else 2, options, rng.uniform(0.9, 1.4, 2)))
    for n in range(count) if order is None else order:
        kind, options, wide = bodies[n]
        if kind < 2:
            scene.add_box(f"b{n}", size=(0.5 * wide[0], 0.5 * wide[1], 0.3), **options)
        else:
            scene.add_sphere(f"b{n}", radius=0.15, **options)
    return scene


def velocities(sim, names):
    return np.array([[*sim.bodies[name].center_of_mass_velocity, *sim.bodies[name].angular_velocity] for name in names])


def inside_bounds(sim):
    """Whether every contact that pushes sticks strictly inside its bounds (or has no friction at all)."""
    return all(np.linalg.norm(c.friction_force) <= 0.9 * c.static_friction * c.normal_force for c in sim.contacts)


# ---- bounds ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OPTIONS)
@some
@given(seed=SEEDS, sweeps=st.integers(1, 9))
def test_bounds_hold_after_every_sweep(name, seed, sweeps):
    """f_N >= 0 and friction within its bound, however early the sweeps end."""
    sim = ss.Simulation(heap(seed), method(name, max_sweeps=sweeps), 1e-3)
    for _ in range(4):
        sim.step()
        count = len(sim.contacts)
        x, law, mu = (sim.work.problem.impulse[:count], sim.work.law[:count],
                      sim.work.mu[:count])
        assert (x[:, 2] >= 0.0).all()
        bound = mu * x[:, 2]
        slide, square, disc = law == SLIDE, law == SQUARE, law == DISC
        assert (x[slide, 0] >= 0.0).all() and (x[slide, 0] <= bound[slide]).all() and (x[slide, 1] == 0.0).all()
        assert (np.abs(x[square, :2]).max(axis=1, initial=0.0) <= bound[square]).all()
        assert (np.hypot(*x[disc, :2].T) <= bound[disc] * (1 + 1e-14)).all()


@some
@given(seed=SEEDS, sweeps=st.integers(1, 9))
def test_bounds_of_the_preset_hold_however_early_it_ends(seed, sweeps):
    """Accelerated, warm-started sweeps end within the cone too."""
    preset = vars(ss.methods.registry.resolve("lcp:recommended").options)
    sim = ss.Simulation(heap(seed), ss.methods.lcp(**(preset | {"max_sweeps": sweeps})), 1e-3)
    for _ in range(5):
        sim.step()
        for contact in sim.contacts:
            push = contact.normal_force
            assert push >= -1e-12 * (1 + np.linalg.norm(contact.force))
            assert np.linalg.norm(contact.friction_force) <= contact.static_friction * push * (1 + 1e-9) + 1e-9


@some
@given(seed=SEEDS)
def test_kinetic_friction_opposes_the_slip(seed):
    sim = ss.Simulation(heap(seed, speed=3.0), method("euler"), 1e-3)
    sim.step()
    count, problem = len(sim.contacts), sim.work.problem
    for c, contact in enumerate(sim.contacts):
        if sim.work.law[c] == SLIDE:
            slip = problem.axes[c, :2].T @ problem.velocity[c, :2]
            assert np.linalg.norm(slip) > 1e-3
            assert contact.friction_force @ slip <= 1e-12 * np.linalg.norm(contact.force) * np.linalg.norm(slip)
            along = np.linalg.norm(np.cross(contact.friction_force, slip))
            assert along <= 1e-9 * (1e-9 + np.linalg.norm(contact.force)) * np.linalg.norm(slip)
    assert count > 0


# ---- momentum --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["euler", "cone", "matrix-free"])
@some
@given(seed=SEEDS)
def test_momentum_balances_and_action_is_reaction(name, seed):
    """The bodies' momenta change by the impulses of their contacts, once with each sign, at the contact's point."""
    scene = heap(seed)
    sim, free = ss.Simulation(scene, method(name), 1e-3), ss.Simulation(scene, "none", 1e-3)
    start = sim.q.copy()
    sim.step()
    free.step()
    assert sim.report.momentum_residual < 1e-10
    contacts = sim.contacts
    assert contacts
    after, without = sim.data.new_v.copy(), free.data.new_v.copy()  # along the axes of the start
    sim.set_state(start, after)
    free.set_state(start, without)
    outside = np.zeros(6)
    for body in (name for name in sim.bodies if name != "ground"):
        change = np.zeros(6)
        for contact in contacts:
            if body in contact.bodies:
                force = contact.force * sim.dt * (1.0 if contact.bodies[1] == body else -1.0)
                change += np.concatenate([force, np.cross(contact.point, force)])
        mass, center = sim.bodies[body].mass, sim.bodies[body].center_of_mass
        moved = velocities(sim, [body])[0] - velocities(free, [body])[0]
        assert mass * moved[:3] == pytest.approx(change[:3], abs=1e-9 * (1 + np.abs(change).max()))
        outside += change
        assert np.isfinite(center).all()
    gained = sim.momentum(about=(0, 0, 0)) - free.momentum(about=(0, 0, 0))
    assert gained == pytest.approx(outside, abs=1e-9 * (1 + np.abs(outside).max()))
    floor = sum((np.concatenate([c.force, np.cross(c.point, c.force)]) * sim.dt * (1 if c.bodies[0] == "ground" else -1)
                 for c in contacts if "ground" in c.bodies), np.zeros(6))
    assert gained == pytest.approx(floor, abs=1e-9 * (1 + np.abs(floor).max()))  # inner forces cancel


# ---- energy and targets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["euler", "cone", "matrix-free"])
@some
@given(seed=SEEDS)
def test_inelastic_contact_leaves_no_more_energy_than_free_motion(name, seed):
    """e = 0, Euler, no depth correction, no J' v."""
    sim = ss.Simulation(heap(seed), method(name, max_sweeps=3000), 2e-3)
    for _ in range(6):
        scale = sim.energy[0]
        sim.step()
        assert sim.report.energy_change <= 1e-7 * (1 + scale)


@some
@given(seed=SEEDS, bounce=st.sampled_from([0.0, 0.3, 1.0]))
def test_normal_velocity_after_the_step_is_the_target(seed, bounce):
    """Where a contact pushes it ends at -e v; nowhere below it."""
    sim = ss.Simulation(heap(seed, bounce=bounce), ss.methods.lcp(**SOLVED), 1e-3)
    start = sim.q.copy()
    sim.step()
    assume(sim.report.converged)
    contacts, problem = sim.contacts, sim.work.problem
    after = sim.v.copy()
    sim.set_state(start, after)
    for c, contact in enumerate(contacts):
        speed = sum(sign * (sim.jacobian(body, contact.point)[:3] @ after) @ contact.normal
                    for body, sign in zip(contact.bodies, (-1.0, 1.0), strict=True) if body != "ground")
        before = problem.velocity[c, 2]
        target = -bounce * before if before < -0.01 and contact.depth >= 0.0 else min(0.0, contact.depth / sim.dt)
        assert speed >= target - 1e-7
        if contact.normal_force > 1e-6 and before >= -0.01:
            assert speed == pytest.approx(target, abs=1e-7)


# ---- what must not matter --------------------------------------------------------------------------------------------


def sticking_problem(rng, m, mu):
    """Jacobian (3 m, V) of contacts, and free velocities that impulses strictly inside the bounds stop everywhere."""
    V = 3 * m + 2
    J = np.linalg.qr(rng.normal(size=(V, V)))[0][: 3 * m] * rng.uniform(0.5, 2.0) + 0.15 * rng.normal(size=(3 * m, V))
    x = np.zeros(3 * m)
    x[2::3] = rng.uniform(0.5, 2.0, m)
    for d in range(2):
        x[d::3] = rng.uniform(-0.5, 0.5, m) * mu * x[2::3]
    return J, -J @ (J.T @ x), x


def generalized(J, free, mu, law=SQUARE):
    """J^T x of the sweeps' answer."""
    m = len(free) // 3
    x, w = np.zeros(3 * m), free.copy()
    sweeps = solve_dense(m, 0, J @ J.T, (np.full(m, law), np.full(m, mu)), (np.zeros(0), np.zeros(0)), x, w,
                         (100_000, 1e-13))
    assert sweeps < 100_000
    return J.T @ x


@settings(max_examples=sample_count(30, 1000))
@given(seed=SEEDS, m=st.integers(2, 6), law=st.sampled_from([SQUARE, DISC]))
def test_order_duplicates_and_axis_angles_do_not_change_the_wrench(seed, m, law):
    """Contacts that stick strictly inside their bounds: the sum of their forces is the one that stops them."""
    rng = np.random.default_rng(seed)
    mu = float(rng.uniform(0.2, 0.6))
    J, free, x = sticking_problem(rng, m, mu)
    rows = (3 * rng.permutation(m)[:, None] + np.arange(3)).ravel()
    turned = np.eye(3 * m)
    for c in range(m):
        angle = rng.uniform(0, 2 * np.pi)
        turned[3 * c:3 * c + 2, 3 * c:3 * c + 2] = [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
    for change in (np.eye(3 * m), np.eye(3 * m)[rows], np.eye(3 * m)[[*rows, *rows[:6]]], turned):
        np.testing.assert_allclose(generalized(change @ J, change @ free, mu, law), J.T @ x, rtol=0, atol=1e-8)


@some
@given(seed=SEEDS, axes=st.integers(0, 1000))
def test_a_resting_heap_does_not_feel_its_axes(seed, axes):
    """Strictly inside the bounds, random axes of any seed give the accelerations of fixed ones."""
    ends = []
    for more in ({"tangent_axes": "fixed"}, {"tangent_axes": "random", "seed": axes}):
        sim = ss.Simulation(heap(seed, friction=0.6, speed=0.0, count=2), ss.methods.lcp(**(SOLVED | more)), 1e-3)
        sim.step()
        assume(sim.report.converged and inside_bounds(sim))
        ends.append(sim.v.copy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-8)


#: where the law determines the motion. (Faces that slide on four points do not: the points may share the load in many
#: ways, and each has a slip of its own.)
determined = pytest.mark.parametrize("given_", [{"friction": 0.0}, {"friction": 0.6, "speed": 0.0}, {"kinds": 1}],
                                     ids=["smooth", "sticking", "balls"])


@determined
@some
@given(seed=SEEDS)
def test_the_bodies_names_and_order_do_not_matter(given_, seed):
    count = 3
    order = np.random.default_rng(seed).permutation(count)
    names, ends = [f"b{n}" for n in range(count)], []
    for arrangement in (range(count), order):
        sim = ss.Simulation(heap(seed, order=arrangement, count=count, **given_),
                            ss.methods.lcp(**(SOLVED | {"static_pyramid": "cone", "kinetic": "cone"})), 1e-3)
        sim.step()
        assume(sim.report.converged and (given_.get("speed") != 0.0 or inside_bounds(sim)))
        ends.append(velocities(sim, names))
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-6)


@determined
@some
@given(seed=SEEDS)
def test_turning_the_world_turns_the_answer(given_, seed):
    """Law on the disc, so that axes have no say; floor, gravity, poses and velocities turned alike."""
    rng = np.random.default_rng(seed + 1)
    turn = rng.normal(size=4)
    turn = matrix_to_quaternion(quaternion_to_matrix(turn / np.linalg.norm(turn)))
    R, ends = quaternion_to_matrix(turn), []
    for chosen in (None, turn):
        sim = ss.Simulation(heap(seed, turn=chosen, **given_),
                            ss.methods.lcp(**(SOLVED | {"static_pyramid": "cone", "kinetic": "cone"})), 1e-3)
        sim.step()
        assume(sim.report.converged and (given_.get("speed") != 0.0 or inside_bounds(sim)))
        ends.append(velocities(sim, [name for name in sim.bodies if name != "ground"]))
    np.testing.assert_allclose(ends[1][:, :3], ends[0][:, :3] @ R.T, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ends[1][:, 3:], ends[0][:, 3:] @ R.T, rtol=0, atol=1e-6)
