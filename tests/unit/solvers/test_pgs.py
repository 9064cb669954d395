"""Rows in half form, and sweeps over them: each short way must be the long one."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.solvers.island_matrix import fill_contacts
from sesshoku.solvers.pgs import DISC, solve_rows, sweep
from sesshoku.solvers.pgs_bodies import pack_contacts
from sesshoku.solvers.problem import CHAIN, NOTHING, push_contact, read_contact, read_normal
from support import SEED

pytestmark = pytest.mark.boundscheck


@pytest.fixture(scope="module")
def sim() -> ss.Simulation:
    """An arm on the ground among boxes, one of them on it: chains, free bodies, and sides that do not move."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("base", size=(0.4, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1))
    scene.add_body("arm", parent="base", joint=ss.Joint("revolute", axis=(0, 1, 0)), position=(0.2, 0, 0.2),
                   inertial=ss.Inertial(0.5, (0.3, 0, 0), np.diag([1e-3, 1e-2, 1e-2])),
                   geometries=[ss.Geometry(ss.Box((0.5, 0.1, 0.1)), (0.3, 0, 0))])
    for n in range(6):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.2), mass=1.0 + n, position=(0.5, 0.02 * n, 0.38 + 0.2 * n))
    sim = ss.Simulation(scene, "lcp:recommended", 1e-2)
    sim.step(60)
    return sim


def half_matrix(sim: ss.Simulation) -> np.ndarray:
    """Z (3 C, V), row by row, by reading unit vectors."""
    p, count, dofs = sim.work.problem, len(sim.contacts), sim.model.dof_count
    columns = []
    for k in range(dofs):
        y = np.eye(dofs)[k]
        columns.append(np.concatenate([read_contact(sim.model.row_dof, p, c, y) for c in range(count)]))
    return np.array(columns).T


def test_scene_has_every_kind(sim: ss.Simulation) -> None:
    body = sim.work.problem.body[: len(sim.contacts)]
    assert (body == CHAIN).any() and (body == NOTHING).any() and (body >= 0).all(axis=1).any()


def test_blocks_belong_to_the_rows(sim: ss.Simulation) -> None:
    """Blocks and single rows agree with the whole of Z."""
    p, count = sim.work.problem, len(sim.contacts)
    Z = half_matrix(sim)
    before = np.array([read_normal(sim.model.row_dof, p, c, np.ones(sim.model.dof_count)) for c in range(count)])
    assert np.allclose(before, Z[2::3].sum(axis=1), atol=1e-13)
    for c in range(count):
        assert np.allclose(p.block[c], Z[3 * c : 3 * c + 3] @ Z[3 * c : 3 * c + 3].T, rtol=1e-12)


def test_the_matrix_of_an_island_is_that_of_its_rows(sim: ss.Simulation) -> None:
    Z = half_matrix(sim)
    G = np.full((len(Z), len(Z)), np.nan)
    fill_contacts(sim.model.row_dof, sim.work.problem, np.arange(len(Z) // 3), G)
    assert np.allclose(G, Z @ Z.T, atol=1e-12)


def test_push_is_the_transpose_of_read(sim: ss.Simulation) -> None:
    rng = np.random.default_rng(SEED)
    p, Z = sim.work.problem, half_matrix(sim)
    for c in range(len(sim.contacts)):
        x, y = rng.normal(size=3), np.zeros(sim.model.dof_count)
        push_contact(sim.model.row_dof, p, c, *x, y)
        assert np.allclose(y, Z[3 * c : 3 * c + 3].T @ x, atol=1e-13)


@pytest.mark.parametrize("sweeps", [1, 12])
def test_packed_visits_are_the_general_ones(sim: ss.Simulation, sweeps: int) -> None:
    rng = np.random.default_rng(SEED)
    p, memory, count = sim.work.problem, sim.work, len(sim.contacts)
    everything, none = np.arange(count), np.zeros(0, dtype=np.int64)
    free = rng.normal(size=(count, 3)) - (0, 0, 0.5)
    found = []
    for packed in (True, False):
        p.impulse[:count], p.free[:count], memory.law[:count] = 0.0, free, DISC
        y = np.zeros(sim.model.dof_count)
        memory.pack_dof[:] = -1
        if packed:
            pack_contacts(p, memory.mu, everything, memory.pack, memory.pack_dof)
            assert (memory.pack_dof[:count] >= 0).any() and (memory.pack_dof[:count] < 0).any()
        for _ in range(sweeps):
            sweep(sim.model.row_dof, p, (memory.law, memory.mu), (everything, none), (False, False), memory, y)
        found.append((p.impulse[:count].copy(), y))
    assert np.allclose(found[0][0], found[1][0], atol=1e-12)
    assert np.allclose(found[0][1], found[1][1], atol=1e-12)


def test_accelerated_sweeps_solve_the_same_problem(sim: ss.Simulation) -> None:
    """y stays Z^T x through the combinations, and both ways end at velocities of the same contact law."""
    p, memory, count = sim.work.problem, sim.work, len(sim.contacts)
    everything, none = np.arange(count), np.zeros(0, dtype=np.int64)
    ranges = np.array([[0, sim.model.dof_count]])
    p.free[:count] = (0.0, 0.0, -1.0)
    ends = []
    for accelerate in (False, True):
        p.impulse[:count], memory.law[:count], y = 0.0, DISC, np.zeros(sim.model.dof_count)
        solve_rows(sim.model.row_dof, p, (memory.law, memory.mu), (everything, none, ranges),
                   (False, False, accelerate), (20000, 1e-12), memory, y)
        Z = half_matrix(sim)
        assert np.allclose(y, Z.T @ p.impulse[:count].ravel(), atol=1e-9)
        ends.append((Z @ y).reshape(-1, 3) + p.free[:count])
    assert np.allclose(ends[0][:, 2], ends[1][:, 2], atol=1e-6)
