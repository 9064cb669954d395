"""Large islands, by sweeps and by groups: what is solved obeys the law, with robots and rolling blocks among bodies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from heaps import built, heap, islands
from sesshoku.solvers.pgs import DISC, contact_residual, joint_residual
from sesshoku.solvers.problem import push_contact, push_joint, read_contact
from sesshoku.solvers.proximal.newton import solve_island
from sesshoku.solvers.proximal.work import GROUPS_VISITED, SWEEPS_FIRST, SWEEPS_USED, NewtonOptions, newton_numbers

pytestmark = pytest.mark.boundscheck


@pytest.mark.parametrize("robot", [False, True])
@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("moving", [1e-3, 1e-7])
def test_heaps_are_solved_to_what_is_asked(robot: bool, swept: bool, moving: float, tmp_path: Path) -> None:
    options = newton_numbers(NewtonOptions(form=SWEEPS_FIRST, moving=moving, quiet=0.0 if swept else 1e9))
    visited = 0
    for steps in (4, 9, 16):
        sim = heap(tmp_path, robot)
        work = built(sim, steps)
        chains, problem, newton = sim.model.row_dof, work.problem, work.newton
        for lists in islands(sim):
            contact_list, joint_list, dof_list = lists
            if len(dof_list) <= 3:
                continue
            if swept:  # from zero; else from the step before, as islands do that are not swept
                problem.impulse[:] = 0.0
                problem.joint_impulse[:] = 0.0
            _, residual, solved = solve_island(chains, problem, work.mu, lists, options, newton)
            assert solved and residual < moving
            assert (newton.info[SWEEPS_USED] > 0) == swept
            visited += int(newton.info[GROUPS_VISITED])
            y, law = np.zeros_like(problem.y), np.full(len(work.mu), DISC)
            for c in contact_list:
                push_contact(chains, problem, c, *problem.impulse[c], y)
            for j in joint_list:
                push_joint(chains, problem, j, problem.joint_impulse[j], y)
            dofs = np.concatenate([np.arange(a, b) for a, b in dof_list])
            np.testing.assert_allclose(problem.y[dofs], y[dofs], atol=1e-12 * max(1.0, np.abs(y).max()))
            worst = [joint_residual(chains, problem, j, y) for j in joint_list]
            for c in contact_list:
                u = np.array(read_contact(chains, problem, c, y)) + problem.free[c]
                worst.append(contact_residual(problem, law, work.mu, c, *u))
            assert max(worst) == pytest.approx(residual, abs=1e-10)
    assert visited > 0 or swept and moving > 1e-6  # sweeps alone may do
