"""The convex relaxation of Coulomb's law: of all impulses in the friction cones those that leave the least energy.

    minimise 1/2 x^T G x + b^T x   over   |x_t| <= mu x_n    of every contact
Its solution has u = G x + b in the dual cone, u_n >= mu |u_t|, complementary to x: a contact that slides at u_t
separates at mu |u_t|. Coulomb's law asks for u_n = 0 there; De Saxcé's shift of u_n by mu |u_t| is what the relaxation
leaves out. Solved by ADMM (admm.py without the shift) in plain NumPy, for a few contacts: an oracle, not a method.
"""

from __future__ import annotations

import numpy as np

from sesshoku.errors import SesshokuError
from sesshoku.experiments.exact.problems import Stepper

MOST = 20_000  # iterations


def onto_cones(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Nearest point of the product of friction cones; x (3 m) by contact (t1, t2, n)."""
    out = x.reshape(-1, 3).copy()
    size, n = np.hypot(out[:, 0], out[:, 1]), out[:, 2].copy()
    below, outside = mu * size <= -n, size > mu * n
    on = (mu * size + n) / (1.0 + mu**2)
    shrink = np.where(outside, mu * on / np.maximum(size, 1e-300), 1.0)
    out[:, :2] *= np.where(below, 0.0, shrink)[:, None]
    out[:, 2] = np.where(below, 0.0, np.where(outside, on, n))
    return out.ravel()


def optimality(G: np.ndarray, b: np.ndarray, mu: np.ndarray, x: np.ndarray) -> float:
    """How far x is from the minimum, m/s: zero iff x, G x + b and the cones are complementary."""
    g = np.repeat(np.diag(G).reshape(-1, 3).max(axis=1), 3)
    return float(np.abs(g * (x - onto_cones(x - (G @ x + b) / g, mu))).max())


def solve_convex(G: np.ndarray, b: np.ndarray, mu: np.ndarray, x: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """The minimum over the cones, from the start x; raises where it is not reached."""
    values, vectors = np.linalg.eigh(G)
    penalty = float(np.sqrt(values.max() * values[values > 1e-10 * values.max()].min()))
    inverse = (vectors / (values + penalty)) @ vectors.T
    dual = G @ x + b
    for n in range(MOST):
        z = inverse @ (penalty * x + dual - b)
        z = 1.6 * z + (1.0 - 1.6) * x  # over-relaxed
        x = onto_cones(z - dual / penalty, mu)
        dual = dual - penalty * (z - x)
        if n % 10 == 9 and optimality(G, b, mu, x) < tolerance:
            return x
    raise SesshokuError(f"the convex problem was not solved: {optimality(G, b, mu, x):.1e} m/s left")


class ConvexStepper(Stepper):
    """The semi-implicit step of problems.py with the relaxation in place of the law; contacts alone, no joints."""

    worst_optimality = 0.0  # m/s, over all steps

    def solve(self, contact_list: np.ndarray, joint_list: np.ndarray, dof_list: np.ndarray) -> None:
        if len(joint_list):
            raise SesshokuError("the convex oracle takes scenes without joint limits, friction and loops")
        island = self.copy(contact_list, joint_list, dof_list)
        Z = island.rows()
        G, b = Z @ Z.T, island.free()
        x = solve_convex(G, b, island.mu, onto_cones(island.start, island.mu))
        self.worst_optimality = max(self.worst_optimality, optimality(G, b, island.mu, x))
        self.problem.impulse[contact_list] = x.reshape(-1, 3)
        dofs = np.concatenate([np.arange(first, last) for first, last in dof_list])
        self.problem.y[dofs] = Z.T @ x
