"""The convex relaxation of Coulomb's law: of all impulses in the friction cones those that leave the least energy.

    minimise 1/2 x^T G x + b^T x   over   |x_t| <= mu x_n    of every contact
Its solution has u = G x + b in the dual cone, u_n >= mu |u_t|, complementary to x: a contact that slides at u_t
separates at mu |u_t|. Coulomb's law asks for u_n = 0 there; De Saxcé's shift of u_n by mu |u_t| is what the relaxation
leaves out. Solved by proximal passes of Newton's method on a convex function, in plain NumPy, for a few contacts: an
oracle, not a method.
"""

from __future__ import annotations

import numpy as np

from sesshoku.errors import SesshokuError
from sesshoku.experiments.exact.problems import Stepper

PASSES, STEPS = 300, 60  # proximal passes at most, Newton steps of one
COMPLIANCE, LEAST = 1e-3, 1e-7  # of the first and of the last passes, as a share of each contact's own block


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


def cone_slopes(x: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Derivative of `onto_cones` (3 m, 3 m)."""
    out = np.zeros((len(x), len(x)))
    for i, (t1, t2, n) in enumerate(x.reshape(-1, 3)):
        at, size, m = slice(3 * i, 3 * i + 3), float(np.hypot(t1, t2)), mu[i]
        if size <= m * n:
            out[at, at] = np.eye(3)
        elif m * size > -n:
            e, on = np.array([t1, t2]) / size, (m * size + n) / (1.0 + m * m)
            normal = np.array([m * e[0], m * e[1], 1.0]) / (1.0 + m * m)
            across = m * on / size * (np.eye(2) - np.outer(e, e))
            out[at, at] = np.outer([m * e[0], m * e[1], 1.0], normal)
            out[3 * i : 3 * i + 2, 3 * i : 3 * i + 2] += across
    return out


def proximal_pass(Z: np.ndarray, b: np.ndarray, mu: np.ndarray, x: np.ndarray, eps: np.ndarray, y: np.ndarray,
                  ) -> np.ndarray:
    """y that minimises |y|^2/2 + sum eps |P(x - (Z y + b)/eps)|^2/2: convex and smooth, with one minimum."""

    def value(y: np.ndarray) -> tuple[float, np.ndarray]:
        image = onto_cones(x - (Z @ y + b) / eps, mu)
        return float(0.5 * y @ y + 0.5 * np.sum(eps * image**2)), y - Z.T @ image

    height, slope = value(y)
    for _ in range(STEPS):
        if np.abs(slope).max() < 1e-15 * max(1.0, np.abs(y).max()):
            break
        step = -np.linalg.solve(np.eye(len(y)) + Z.T @ (cone_slopes(x - (Z @ y + b) / eps, mu) @ (Z / eps[:, None])),
                                slope)
        length = 1.0
        rounding = 1e-14 * abs(height)  # where heights tell nothing any more, slopes do
        while length > 1e-6 and value(y + length * step)[0] > height + 1e-4 * length * float(slope @ step) + rounding:
            length *= 0.5
        new, new_slope = value(y + length * step)
        if not (new < height - rounding or np.abs(new_slope).max() < np.abs(slope).max()):
            break
        y, height, slope = y + length * step, new, new_slope
    return y


def solve_convex(Z: np.ndarray, b: np.ndarray, mu: np.ndarray, x: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
    """The minimum over the cones for G = Z Z^T, from the start x; raises where it is not reached."""
    G = Z @ Z.T
    blocks, y = np.repeat(np.diag(G).reshape(-1, 3).max(axis=1), 3), Z.T @ x
    for n in range(PASSES):
        eps = max(COMPLIANCE * 0.7**n, LEAST) * blocks
        y = proximal_pass(Z, b, mu, x, eps, y)
        x = onto_cones(x - (Z @ y + b) / eps, mu)
        if optimality(G, b, mu, x) < tolerance:
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
        x = solve_convex(Z, b, island.mu, onto_cones(island.start, island.mu))
        self.worst_optimality = max(self.worst_optimality, optimality(G, b, island.mu, x))
        self.problem.impulse[contact_list] = x.reshape(-1, 3)
        dofs = np.concatenate([np.arange(first, last) for first, last in dof_list])
        self.problem.y[dofs] = Z.T @ x
