"""The Delassus matrix J H^-1 J^T: by factorisation, by unit test forces, and dense."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.delassus import common_ancestors, half_row, row_delassus, wrench_delassus
from sesshoku.dynamics.jacobian import chain_row
from sesshoku.dynamics.kinematics import last_dof
from support import sample_count
from trees import BASES, Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


def chain_jacobian(posed: Posed, link: int) -> np.ndarray:
    """(6, V) at the tree's origin, built by walking up."""
    m, J = posed.model, np.zeros((6, posed.model.dof_count))
    while link >= 0:
        dofs = slice(m.link_dof[link], m.link_dof[link] + m.link_dof_count[link])
        J[:, dofs] = posed.data.axis[dofs].T
        link = m.link_parent[link]
    return J


@pytest.mark.nojit
def test_three_routes_agree_on_single_links(rng: np.random.Generator) -> None:
    """Rows on links of several trees, of one branch and of the world (-1)."""
    for _ in range(sample_count(3, 50)):
        posed, count = Posed(random_scene(rng, bases=(*BASES, "kinematic"))), 24
        m, d = posed.model, posed.data
        links = rng.integers(-1, m.link_count, size=count)
        links[:3] = [-1, 1, 2]
        wrenches = rng.normal(size=(count, 6))
        J = np.stack([w @ chain_jacobian(posed, link) for w, link in zip(wrenches, links, strict=True)])
        wanted = J @ np.linalg.solve(posed.H, J.T)
        by_forces = nan(count, count)
        wrench_delassus(m, d, count, links, wrenches, (nan(m.dof_count), nan(6)), by_forces)
        assert relative_error(by_forces, wanted) < 1e-9
        by_factor = delassus_of_rows(posed, np.stack([links, np.full(count, -1)], 1), wrenches[:, None].repeat(2, 1))
        assert relative_error(by_factor, wanted) < 1e-9
        np.testing.assert_array_equal(by_factor, by_factor.T)


def test_rows_between_two_links(rng: np.random.Generator) -> None:
    """Loops: each row has a chain on either link; they may share ancestors, stand above each other, or be the world."""
    for _ in range(sample_count(3, 50)):
        posed, count = Posed(random_scene(rng)), 20
        links = rng.integers(-1, posed.model.link_count, size=(count, 2))
        links[0], links[1], links[2] = (1, 1), (0, 1), (-1, -1)
        wrenches = rng.normal(size=(count, 2, 6))
        J = np.stack([sum(wrenches[n, s] @ chain_jacobian(posed, links[n, s]) for s in range(2)) for n in range(count)])
        assert relative_error(delassus_of_rows(posed, links, wrenches), J @ np.linalg.solve(posed.H, J.T)) < 1e-9


def delassus_of_rows(posed: Posed, links: np.ndarray, wrenches: np.ndarray) -> np.ndarray:
    """Build the rows as the solver does, every chain with a gap before it."""
    m, d, count = posed.model, posed.data, len(links)
    ends, starts, free = np.full((count, 2), -1), np.zeros((count, 2), dtype=np.int64), 0
    jacobian, half, G = nan(count * 2 * 60), nan(count * 2 * 60), nan(count, count)
    for n in range(count):
        for side in range(2):
            free += 1
            ends[n, side], starts[n, side] = last_dof(m, links[n, side]), free
            force, torque = tuple(wrenches[n, side, :3]), tuple(wrenches[n, side, 3:])
            free += chain_row(m, d, links[n, side], force, torque, jacobian, free)
            half_row(m, d.factor, ends[n, side], jacobian, half, starts[n, side])
    row_delassus(m, d.factor_dinv, count, ends, starts, half, G)
    return G


def test_common_ancestors_count_what_two_chains_share(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m = posed.model
    chains = [m.row_dof[m.dof_row[k] : m.dof_row[k + 1]].tolist() for k in range(m.dof_count)]
    for a in range(-1, m.dof_count):
        for b in range(-1, m.dof_count):
            shared = 0 if min(a, b) < 0 else len(set(chains[a]) & set(chains[b]))
            assert common_ancestors(m, a, b) == shared
