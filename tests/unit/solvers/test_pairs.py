"""Contacts pair by pair give what their rows give, contact by contact."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heaps import built, heap, islands
from sesshoku.collision.contacts import CONTACTS
from sesshoku.solvers.problem import push_contact, read_contact
from sesshoku.solvers.proximal.local import OPEN, SLIP, STICK
from sesshoku.solvers.proximal.pairs import push_pairs, read_pairs
from sesshoku.solvers.proximal.primal import analyze_island, primal_direction
from sesshoku.solvers.proximal.rows import load_island

pytestmark = pytest.mark.boundscheck

CASES = [(robot, steps) for robot in (False, True) for steps in (6, 40)]


@pytest.mark.parametrize(("robot", "steps"), CASES)
def test_products_with_rows(robot: bool, steps: int, rng: np.random.Generator, tmp_path: Path) -> None:
    sim = heap(tmp_path, robot)
    work = built(sim, steps)
    assert int(work.newton.pointed[: work.contacts.counts[CONTACTS]].sum()) > 0
    chains, problem, newton = sim.model.row_dof, work.problem, work.newton
    for contact_list, joint_list, _ in islands(sim):
        m = len(contact_list)
        load_island(problem, work.mu, contact_list, joint_list, newton)
        y, x = rng.normal(size=sim.model.dof_count), rng.normal(size=3 * m)
        u, pushed, expected = np.full(3 * m, np.nan), np.zeros_like(y), np.zeros_like(y)
        read_pairs(chains, problem, contact_list, newton, y, u)
        push_pairs(chains, problem, contact_list, newton, x, pushed)
        for i, c in enumerate(contact_list):
            np.testing.assert_allclose(u[3 * i : 3 * i + 3], read_contact(chains, problem, c, y), atol=1e-12)
            push_contact(chains, problem, c, *x[3 * i : 3 * i + 3], expected)
        np.testing.assert_allclose(pushed, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("robot", "rolling"), [(False, 0.0), (True, 0.0), (True, 0.01)])
def test_newton_directions(robot: bool, rolling: float, rng: np.random.Generator, tmp_path: Path) -> None:
    """Random states of the contacts: the same direction by pairs and by rows."""
    sim = heap(tmp_path, robot, rolling)
    work = built(sim, 12)
    problem, newton, tried = work.problem, work.newton, 0
    for lists in islands(sim):
        contact_list, joint_list, dof_list = lists
        m = len(contact_list)
        if len(dof_list) < 2:
            continue
        state = rng.choice([OPEN, STICK, SLIP], size=m)
        gap = rng.normal(size=sim.model.dof_count)
        found = []
        for pointed in (newton.pointed.copy(), np.zeros_like(newton.pointed)):
            newton.pointed[:] = pointed
            newton.lone[:] = newton.lone * pointed.any()
            load_island(problem, work.mu, contact_list, joint_list, newton)
            assert analyze_island(sim.model.row_dof, problem, lists, newton) > 0.0
            newton.state[:m], newton.state[m : m + len(joint_list)] = state, STICK
            for i in range(m):
                angle = float(i)
                e, s, mu = np.array([np.cos(angle), np.sin(angle)]), 0.7, 0.4
                D = s * (np.eye(2) - np.outer(e, e)) if state[i] == SLIP else np.eye(2)
                newton.slope[i, :5] = D[0, 0], D[0, 1], D[1, 1], *(mu * e if state[i] == SLIP else (0.0, 0.0))
            newton.y_gap[:] = gap
            newton.y_step[:] = np.nan
            good, slope, size = primal_direction(sim.model.row_dof, problem, lists, 1e-3, newton)
            assert good
            dofs = np.concatenate([np.arange(a, b) for a, b in dof_list])
            found.append((newton.y_step[dofs].copy(), slope, size, newton.change[: 3 * m].copy()))
        for ours, other in zip(*found, strict=True):
            np.testing.assert_allclose(ours, other, atol=1e-9 * np.abs(other).max())
        tried += 1
        break
    assert tried > 0
