"""The exact Coulomb solver on problems small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pytest

from ncp_oracle import all_solutions, violation
from sesshoku.experiments.exact.islands import Island, island_from_matrix, island_from_rows
from sesshoku.experiments.exact.one_body import body_rows, frame, jams, random_body, random_rod
from sesshoku.solvers.proximal.local import exact_contact
from sesshoku.solvers.proximal.work import DUAL, FORM_USED, PRIMAL, SWEEPS_USED, NewtonOptions
from support import sample_count

pytestmark = pytest.mark.boundscheck
FORMS = {"dual": DUAL, "primal": PRIMAL}
UNBOUNDED = 1e300


def check(island: Island, limit: float) -> None:
    """The law, in the oracle's words; y belongs to the impulses."""
    Z, x = island.rows(), island.impulses()
    assert violation(Z @ Z.T, island.free(), island.mu, x) <= limit
    np.testing.assert_allclose(island.problem.y, Z.T @ x, atol=1e-12 * max(1.0, np.abs(x).max()))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_answers_are_among_those_found_by_enumeration(form: str, m: int, rng: np.random.Generator) -> None:
    """Random regular G: each state of each contact and each direction of slip tried."""
    for _ in range(sample_count({1: 60, 2: 25, 3: 6}[m], {1: 2000, 2: 500, 3: 100}[m])):
        J = rng.normal(size=(3 * m, 3 * m + 2))
        G, b, mu = J @ J.T, rng.normal(size=3 * m), rng.uniform(0.05, 1.5, size=m)
        b[2::3] -= rng.choice([0.0, 1.5])  # often pressed together
        island = island_from_matrix(G, b, mu)
        _, residual, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-12))
        assert solved and residual <= 1e-11 * max(1.0, np.abs(b).max())
        x = island.impulses()
        check(island, 1e-10)
        answers = all_solutions(G, b, mu, near=x)
        assert answers, "the enumeration itself found no solution"
        assert min(np.abs(x - answer).max() for answer in answers) <= 1e-6 * max(1.0, np.abs(x).max())


def test_single_contacts_are_solved_exactly(rng: np.random.Generator) -> None:
    """The local solve of the sweeps, over friction from none to beyond Painlevé's."""
    for _ in range(sample_count(2000, 50_000)):
        J = rng.normal(size=(3, 4)) * np.exp(rng.normal(size=(3, 1)))
        W, q, mu = J @ J.T, rng.normal(size=3), rng.choice([0.0, 0.3, 1.0, 4.0])
        x = np.array(exact_contact(W, mu, *q))
        assert violation(W, q, np.array([mu]), x) <= 1e-12 * max(1.0, np.abs(W).max() * np.abs(x).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mu_most", [0.8, 2.0, 5.0])
def test_random_contacts_on_one_body(form: str, mu_most: float, rng: np.random.Generator) -> None:
    """Two to six contacts in any direction, any velocity: all are solved, up to one in five hundred; what is called
    solved obeys the law."""
    total, failed = sample_count(150, 5000), 0
    for _ in range(total):
        island = random_body(rng, int(rng.integers(2, 7)), mu_most)
        _, _, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-10))
        failed += not solved
        if solved:
            check(island, 3e-8)
    assert failed <= 1 + total // 1000


@pytest.mark.parametrize("form", FORMS)
def test_painleve_rods(form: str, rng: np.random.Generator) -> None:
    """Sliding rods, also where the friction of a unit normal impulse drives the tip into the floor.

    There the jam is the answer: an impulse that stops the slip. Nothing special is done for it.
    """
    jammed = 0
    for _ in range(sample_count(200, 3000)):
        island = random_rod(rng)
        _, residual, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-10))
        assert solved and residual <= 1e-8
        check(island, 1e-8)
        G = island.rows() @ island.rows().T
        x, u = island.impulses(), G @ island.impulses() + island.free()
        if jams(island):
            jammed += 1
            assert abs(u[0]) <= 1e-7 and x[2] > 0.0
    assert jammed > 0


def test_a_closing_squeeze_stays_bounded() -> None:
    """Two walls close at 1 m/s on 1 kg: nothing solves that. The answer says so and stays a bounded compliant one."""
    points, axes = np.array([[1.0, 0, 0], [-1.0, 0, 0]]), np.array([frame(np.array([-1.0, 0, 0])), frame(np.eye(3)[0])])
    Z = body_rows(points, axes)
    for mu in (0.0, 0.5):
        island = island_from_rows(Z, np.array([0.0, 0.0, -1.0, 0.0, 0.0, -1.0]), np.full(2, mu))
        steps, residual, solved = island.solve()
        assert not solved and residual >= 0.5 and steps <= 200
        x = island.impulses()
        assert x[2] == pytest.approx(x[5]) and 1.0 <= x[2] <= 1000.0  # pressed from both sides alike


def stack(masses: list[float], speed: np.ndarray, mu: float = 0.5, size: float = 0.2, offset: float = 0.0) -> Island:
    """Cubes on each other and on the floor, four corners per face; `speed` (bodies, 6) is their free velocity."""
    Z, bodies = [], len(masses)
    for b in range(bodies):
        for corner in np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)]) * 0.5 * size:
            shift = offset * b
            rows = np.zeros((3, 6 * bodies))
            for body, sign in ((b, 1.0), (b - 1, -1.0)):
                if body >= 0:
                    height, aside = -0.5 * size if body == b else 0.5 * size, 0.0 if body == b else shift
                    point = np.array([[corner[0] + aside, corner[1], height]])
                    inertia = masses[body] * size**2 / 6.0
                    rows[:, 6 * body : 6 * body + 6] = sign * body_rows(point, np.array([np.eye(3)]), masses[body],
                                                                        inertia)
            Z.append(rows)
    full = np.concatenate(Z)
    root = np.concatenate([np.repeat([np.sqrt(m), np.sqrt(m * size**2 / 6.0)], 3) for m in masses])
    return island_from_rows(full, full @ (root * speed.ravel()), np.full(4 * bodies, mu), [6] * bodies)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ratio", [1.0, 1e3, 1e4])
def test_heavy_on_light(form: str, ratio: float) -> None:
    """1 kg carries ratio kg through a step of 5 ms: the floor gets the weight of both, nothing moves."""
    dt, g = 0.005, 9.8
    speed = np.zeros((2, 6))
    speed[:, 2] = -g * dt
    island = stack([1.0, ratio], speed, offset=0.01)
    steps, residual, solved = island.solve(NewtonOptions(form=FORMS[form]))
    floor = 64 * 2.3e-16 * g * dt * ratio
    assert solved and residual <= max(1e-12, floor) and steps <= 100
    x = island.impulses().reshape(-1, 3)
    assert x[:4, 2].sum() == pytest.approx((1.0 + ratio) * g * dt, rel=1e-9)
    assert x[4:, 2].sum() == pytest.approx(ratio * g * dt, rel=1e-9)


@pytest.mark.parametrize("ratio", [1e3, 1e4])
def test_heavy_on_light_pushed(ratio: float, rng: np.random.Generator) -> None:
    """The same with random velocities: 100 of 100 are solved."""
    for _ in range(sample_count(30, 500)):
        speed = rng.normal(size=(2, 6)) * 0.02
        speed[:, 2] -= 0.049
        island = stack([1.0, ratio], speed, offset=rng.uniform(-0.02, 0.02))
        _, residual, solved = island.solve()
        assert solved, residual
        check(island, 1e-7)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("push", [4.0, 6.0, 12.0])
def test_grasp(form: str, push: float) -> None:
    """Two fingers sliding along x press a box of 0.5 kg with `push` newtons each; mu 0.5: it holds from 4.9 N."""
    dt, g, mass, mu = 0.005, 9.8, 0.5, 0.5
    Z, half = [], 0.05
    for side in (-1.0, 1.0):
        axes = frame(np.array([-side, 0.0, 0.0]))
        for y, z in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            point = np.array([[side * half, 0.03 * y, 0.03 * z]])
            rows = np.zeros((3, 8))
            rows[:, :6] = body_rows(point, np.array([axes]), mass, mass * (2 * half) ** 2 / 6.0)
            rows[:, 6 + int(side > 0)] = -axes @ np.eye(3)[0] / np.sqrt(0.5)
            Z.append(rows)
    full = np.concatenate(Z)
    free = np.zeros(8)
    free[2] = -g * dt * np.sqrt(mass)
    free[6], free[7] = push / 0.5 * dt * np.sqrt(0.5), -push / 0.5 * dt * np.sqrt(0.5)
    island = island_from_rows(full, full @ free, np.full(8, mu), [6, 1, 1])
    _, residual, solved = island.solve(NewtonOptions(form=FORMS[form]))
    assert solved and residual <= 1e-12
    v = (free + island.problem.y)[:6] / np.sqrt(mass)
    fall = max(0.0, g * dt - 2 * mu * push * dt / mass)
    np.testing.assert_allclose(v[:3], [0.0, 0.0, -fall], atol=1e-12)
    np.testing.assert_allclose(v[3:], 0.0, atol=1e-11)  # an even split: it does not turn


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("edge", [2, 3, 4, 8])
def test_redundant_soles_share_evenly(form: str, edge: int) -> None:
    """A grid of points under one body, rank 6: from zero, points that mirror each other carry the same load."""
    axis = np.linspace(-0.1, 0.1, edge)
    points = np.array([[x, y, -0.2] for x in axis for y in axis])
    Z = body_rows(points, np.array([np.eye(3)] * len(points)), 1.0, 0.02)
    speed = np.array([0.003, 0.0, -0.049, 0.0, 0.0, 0.0])  # a push the friction holds
    island = island_from_rows(Z, Z @ (speed * np.sqrt([1, 1, 1, 0.02, 0.02, 0.02])), np.full(len(points), 0.5))
    _, residual, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-12))
    assert solved and residual <= 1e-12
    x = island.impulses().reshape(edge, edge, 3)
    assert x[..., 2].sum() == pytest.approx(0.049, rel=1e-9)
    np.testing.assert_allclose(x[..., 2], x[:, ::-1, 2], atol=1e-12)  # mirrored across the push
    assert x[-1, 0, 2] > x[0, 0, 2]  # the push above the floor tips it forward
    root = np.repeat(np.sqrt((Z**2).sum(axis=1).reshape(-1, 3).max(axis=1)), 3)
    least = np.linalg.lstsq(Z.T / root, Z.T @ x.ravel(), rcond=None)[0] / root
    np.testing.assert_allclose(x.ravel(), least, atol=2e-9)  # of all that do the same, the smallest in g x^2


def joint_island(rng: np.random.Generator, m: int) -> Island:
    """Contacts on a random mechanism of 10 dofs, with limits, friction, loop rows, some of them twice."""
    kinds = rng.integers(0, 3, size=int(rng.integers(1, 5)))
    nj, dofs = len(kinds), 10
    Z = rng.normal(size=(3 * m + nj, dofs))
    width = rng.uniform(0.02, 0.5, size=nj)
    low = np.select([kinds == 0, kinds == 1], [0.0, -width], -UNBOUNDED)
    high = np.select([kinds == 0, kinds == 1], [UNBOUNDED, width], UNBOUNDED)
    if nj > 1:  # the same row again
        Z[-1], low[-1], high[-1] = Z[-2], low[-2], high[-2]
    return island_from_rows(Z, Z @ rng.normal(size=dofs), rng.uniform(0.1, 1.0, size=m), None, low, high)


@pytest.mark.parametrize("form", FORMS)
def test_joint_rows_beside_contacts(form: str, rng: np.random.Generator) -> None:
    """Limits are half lines, joint friction a box, loops equations; all obeyed together with the contacts."""
    for _ in range(sample_count(100, 3000)):
        m = int(rng.integers(0, 4))
        island = joint_island(rng, m)
        _, residual, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-10))
        assert solved, residual
        Z, x, p = island.rows(), island.impulses(), island.problem
        u = Z @ (Z.T @ x) + island.free()
        if m:
            contact = violation((Z @ Z.T)[: 3 * m, : 3 * m], u[: 3 * m] - (Z @ Z.T)[: 3 * m, : 3 * m] @ x[: 3 * m],
                                island.mu, x[: 3 * m])
            assert contact <= 1e-7
        for j in range(len(island.joint_list)):
            xj, uj = x[3 * m + j], u[3 * m + j]
            assert p.joint_low[j] <= xj <= p.joint_high[j]
            if xj > p.joint_low[j] + 1e-9:
                assert uj <= 1e-7
            if xj < p.joint_high[j] - 1e-9:
                assert uj >= -1e-7


@pytest.mark.parametrize("form", FORMS)
def test_redundant_joint_rows_share_evenly(form: str) -> None:
    island = island_from_rows(np.array([[1.0, 0.0]] * 3), np.full(3, -6.0), np.zeros(0), None, np.full(3, -UNBOUNDED),
                              np.full(3, UNBOUNDED))
    _, residual, solved = island.solve(NewtonOptions(form=FORMS[form]))
    assert solved and residual <= 1e-11
    np.testing.assert_allclose(island.impulses(), 2.0, atol=1e-9)


def test_both_forms_walk_the_same_way(rng: np.random.Generator) -> None:
    """Dual and primal are the same iteration: same number of steps, same answer, also where it is not unique."""
    same = 0
    total = sample_count(60, 1000)
    for _ in range(total):
        speed = rng.normal(size=(3, 6)) * 0.1
        speed[:, 2] -= 0.1
        island = stack([1.0, 2.0, 0.5], speed, offset=0.01)
        steps, results = [], []
        for form in FORMS.values():
            count, residual, solved = island.solve(NewtonOptions(form=form, tolerance=1e-10))
            assert solved, residual
            steps.append(count)
            results.append(island.impulses())
        same += steps[0] == steps[1] and np.abs(results[0] - results[1]).max() <= 1e-8
    assert same >= 0.9 * total  # rounding may turn a decision of the line search


def test_trees_and_free_bodies_in_one_island(rng: np.random.Generator) -> None:
    """A robot of 14 dofs, a slider and free bodies, contacts and loops between any two: both forms agree."""
    sizes = [14, 6, 1, 6, 6]
    first = np.concatenate([[0], np.cumsum(sizes)])
    same, total = 0, sample_count(40, 1000)
    for _ in range(total):
        m, nj = int(rng.integers(2, 9)), int(rng.integers(0, 4))
        Z = np.zeros((3 * m + nj, first[-1]))
        for r in range(m + nj):
            at = slice(3 * r, 3 * r + 3) if r < m else slice(2 * m + r, 2 * m + r + 1)
            for t in rng.choice(5, size=int(rng.integers(1, 3)), replace=False):
                Z[at, first[t] : first[t + 1]] = rng.normal(size=(3 if r < m else 1, sizes[t]))
        Z[: 3 * m][np.abs(Z[: 3 * m]).sum(axis=1) == 0.0] = 0.0
        island = island_from_rows(Z, Z @ rng.normal(size=first[-1]), rng.uniform(0.1, 0.8, size=m), sizes,
                                  np.full(nj, -UNBOUNDED), np.full(nj, UNBOUNDED))
        results, steps = [], []
        for form in FORMS.values():
            count, residual, solved = island.solve(NewtonOptions(form=form, tolerance=1e-10))
            assert solved, residual
            results.append(island.impulses())
            steps.append(count)
        same += steps[0] == steps[1] and np.abs(results[0] - results[1]).max() <= 1e-6 * np.abs(results[0]).max()
    assert same >= 0.9 * total


def test_the_cheaper_form_is_chosen() -> None:
    """One contact on a free body: dual. Many on one body, or a stack: primal. A large heap: sweeps come first."""
    sole = np.array([[x, y, -0.2] for x in (-0.1, 0.0, 0.1) for y in (-0.1, 0.0, 0.1)])
    speed = np.zeros((10, 6))
    speed[:, 2] = -0.05
    one = island_from_rows(body_rows(sole[:1], np.array([np.eye(3)])), np.array([0.1, 0.0, -1.0]), np.array([0.5]))
    Z = body_rows(sole, np.array([np.eye(3)] * 9))
    many = island_from_rows(Z, Z @ np.array([0.1, 0, -1.0, 0, 0, 0]), np.full(9, 0.5))
    pillar = stack([1.0] * 10, speed)
    for island, wanted in ((one, DUAL), (many, PRIMAL), (pillar, PRIMAL)):
        _, _, solved = island.solve()
        assert solved and island.work().info[FORM_USED] == wanted
    _, residual, _ = pillar.solve(NewtonOptions(large=30))
    assert pillar.work().info[SWEEPS_USED] > 0 and residual <= 1e-2
    _, _, solved = pillar.solve_on(NewtonOptions(large=30, quiet=1.0, moving=0.0))
    assert solved and pillar.work().info[SWEEPS_USED] == 0  # a good start needs no sweeps


@pytest.mark.parametrize("form", FORMS)
def test_contacts_that_cannot_all_stick(form: str) -> None:
    """Two feet of a body under a load of 1e4 N s that move apart at 1e-7 m/s: one must slip, and does so at its cone.

    Both would stick with impulses that strain the body without end; a load so large lets that go on for long.
    """
    free = np.array([5e-8, 0, -1e4, -5e-8, 0, -1e4])
    island = island_from_rows(np.vstack([np.eye(3)] * 2), free, np.array([0.5, 0.5]))
    steps, residual, solved = island.solve(NewtonOptions(form=FORMS[form], tolerance=1e-9))
    assert solved and residual < 1e-9 and steps < 60
    x = island.impulses().reshape(2, 3)
    assert max(np.abs(x[:, 0]) / x[:, 2]) == pytest.approx(0.5, rel=1e-12)
    assert x[:, 2].sum() == pytest.approx(1e4, rel=1e-9)


def test_a_solution_is_kept_as_it_is(rng: np.random.Generator) -> None:
    island = random_body(rng, 4, 0.8)
    island.solve()
    x = island.impulses()
    steps, _, solved = island.solve_on()
    assert (steps, solved) == (0, True)
    np.testing.assert_array_equal(island.impulses(), x)


def test_starts_outside_the_cone_are_brought_in() -> None:
    """A warm start made for a larger mu; also one with a negative normal impulse."""
    Z = np.eye(3)
    island = island_from_rows(Z, np.array([-3.0, 0.0, -1.0]), np.array([0.3]))
    for start in ([2.0, 0.0, 1.0], [1.0, 1.0, -1.0]):
        island.set_impulses(np.array(start))
        _, _, solved = island.solve_on()
        assert solved
        np.testing.assert_allclose(island.impulses(), [0.3, 0.0, 1.0], atol=1e-10)


def test_tolerances_below_rounding_cost_nothing() -> None:
    """A tolerance nothing can reach is raised to what rounding allows: no cap is burnt, the solve counts as done."""
    speed = np.zeros((2, 6))
    speed[:, 2] = -0.049
    island = stack([1.0, 1e6], speed)
    steps, residual, solved = island.solve(NewtonOptions(tolerance=1e-300))
    assert solved and steps <= 30
    assert residual <= 64 * 2.3e-16 * 0.049 * 1.1e6


def test_contacts_that_nothing_can_move_and_contacts_that_stay_open() -> None:
    Z = np.zeros((6, 6))
    Z[3:, :3] = np.eye(3)
    island = island_from_rows(Z, np.array([0.0, 0.0, -1.0, 0.0, 0.0, 1e30]), np.full(2, 0.5))
    _, residual, solved = island.solve()
    assert solved and residual == 0.0 and not island.impulses().any()


@pytest.mark.nojit
def test_small_cases() -> None:
    """One point: open, stick, slip with the friction against the slip."""
    for free, wanted in (([1.0, 0, 0.1], [0, 0, 0]), ([0.2, 0, -1], [-0.2, 0, 1]), ([3, 4, -1], [-0.3, -0.4, 1])):
        for form in FORMS.values():
            island = island_from_rows(np.eye(3), np.array(free, dtype=float), np.array([0.5]))
            _, residual, solved = island.solve(NewtonOptions(form=form))
            assert solved and residual <= 1e-12
            np.testing.assert_allclose(island.impulses(), wanted, atol=1e-11)
