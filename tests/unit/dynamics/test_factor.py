"""Tree-sparse factorisation, solves and products against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from sesshoku.dynamics.factor import factorize, multiply, solve
from support import sample_count
from trees import Posed, nan, random_scene, relative_error

pytestmark = pytest.mark.boundscheck


@pytest.mark.nojit
def test_solve_and_multiply_are_those_of_the_dense_matrix(rng: np.random.Generator) -> None:
    for _ in range(sample_count(3, 100)):
        posed = Posed(random_scene(rng))
        m, d = posed.model, posed.data
        extra = rng.uniform(0, 2, size=m.dof_count)
        factor, dinv = nan(len(m.row_dof)), nan(m.dof_count)
        factorize(m, d.mass_matrix, extra, factor, dinv)
        right = rng.normal(size=m.dof_count)
        x = right.copy()
        solve(m, factor, dinv, x)
        assert relative_error(x, np.linalg.solve(posed.H + np.diag(extra), right)) < 1e-10
        product = nan(m.dof_count)
        multiply(m, d.mass_matrix, right, product)
        assert relative_error(product, posed.H @ right) < 1e-13


def test_factor_is_unit_lower_and_rebuilds_the_matrix(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng))
    m, d = posed.model, posed.data
    L = np.zeros((m.dof_count, m.dof_count))
    for k in range(m.dof_count):
        L[k, m.row_dof[m.dof_row[k] : m.dof_row[k + 1] - 1]] = d.factor[m.dof_row[k] : m.dof_row[k + 1] - 1]
    L += np.eye(m.dof_count)
    assert relative_error(L.T @ np.diag(1 / d.factor_dinv) @ L, posed.H) < 1e-12
    assert (d.factor_dinv > 0).all()


def test_the_matrix_itself_is_left_alone(rng: np.random.Generator) -> None:
    posed = Posed(random_scene(rng, trees=1))
    before = posed.data.mass_matrix.copy()
    factorize(posed.model, posed.data.mass_matrix, np.ones(posed.model.dof_count), posed.data.factor,
              posed.data.factor_dinv)
    np.testing.assert_array_equal(before, posed.data.mass_matrix)
