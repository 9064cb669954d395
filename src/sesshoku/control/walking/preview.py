"""ZMP preview control of the cart-table model: a centre of mass whose ZMP follows a reference known in advance.

The cart (the centre of mass, at constant height z) runs on a table; its ZMP is p = c - z/g c''. State x = (c, c', c''),
input u = jerk, exact for a jerk held over `dt`. With the summed error E the optimal tracker of sum(Qe e^2 + R u^2) is

    u_k = -K_s E_k - K_x x_k - sum_j G_j p_ref[k + j],   E_k = E_{k-1} + (C x_k - p_ref[k]).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sesshoku.control.walking.swing import smooth


@dataclass(frozen=True)
class PreviewGains:
    """A (3, 3), B (3), C (3) of the cart; K_s on the summed error, K_x (3) on the state, G (n) on the reference."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    K_s: float
    K_x: np.ndarray
    G: np.ndarray


@dataclass(frozen=True)
class CartMotion:
    """States (n, 3) at the controller's samples and the jerk (n) held between them."""

    state: np.ndarray
    jerk: np.ndarray
    dt: float

    def at(self, count: int, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, velocity, acceleration at `count` samples of a grid `dt`, exact between the samples."""
        t = np.arange(count) * dt
        k = np.minimum(np.floor(t / self.dt + 1e-9).astype(int), len(self.jerk) - 1)
        s, u, (c, v, a) = t - k * self.dt, self.jerk[k], self.state[k].T
        return c + s * (v + s * (a / 2 + s * u / 6)), v + s * (a + s * u / 2), a + s * u


def riccati(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> np.ndarray:
    """P of the discrete algebraic Riccati equation, by structured doubling (quadratic convergence)."""
    G, H, identity = B @ np.linalg.solve(R, B.T), Q.copy(), np.eye(len(A))
    for _ in range(60):
        W = np.linalg.inv(identity + G @ H)
        A, G, H_next = A @ W @ A, G + A @ W @ G @ A.T, H + A.T @ H @ W @ A
        change, H = np.abs(H_next - H).max(), H_next
        if change < 1e-13 * np.abs(H).max():
            break
    return H


def preview_gains(height: float, dt: float, horizon: float, *, gravity: float = 9.8, error_cost: float = 1.0,
                  jerk_cost: float = 1e-6) -> PreviewGains:
    """Gains for a centre of mass at `height` (m), sampled at `dt`, that looks `horizon` seconds ahead."""
    A = np.array([[1, dt, dt * dt / 2], [0, 1, dt], [0, 0, 1]])
    B = np.array([[dt**3 / 6], [dt * dt / 2], [dt]])
    C = np.array([[1.0, 0.0, -height / gravity]])
    wide = np.block([[np.ones((1, 1)), C @ A], [np.zeros((3, 1)), A]])  # with the summed error in front
    tall = np.vstack([C @ B, B])
    P = riccati(wide, tall, np.diag([error_cost, 0.0, 0.0, 0.0]), np.array([[jerk_cost]]))
    S = 1.0 / (jerk_cost + (tall.T @ P @ tall)[0, 0])
    K = S * (tall.T @ P @ wide)[0]
    closed = wide - tall @ K[None]
    G, X = np.empty(round(horizon / dt)), -closed.T @ P[:, 0]
    G[0] = -K[0]
    for j in range(1, len(G)):
        G[j] = S * (tall[:, 0] @ X)
        X = closed.T @ X
    return PreviewGains(A, B[:, 0], C[0], float(K[0]), K[1:], G)


def track(reference: np.ndarray, gains: PreviewGains, ease: float = 0.0) -> CartMotion:
    """The cart's motion along a ZMP reference (n) on the gains' grid, from rest over its first value.

    The last value is held beyond the end. ease (s): over which the controller opens its eyes: one that sees all of the
    future at once begins with a jerk. The reference should stay where it is for longer than that.
    """
    A, B, C, ahead = gains.A, gains.B, gains.C, len(gains.G)
    known = np.concatenate([reference, np.full(ahead + 1, reference[-1])])
    x, dt = np.array([reference[0], 0.0, 0.0]), float(A[0, 1])
    seen = smooth(np.arange(len(reference)) * dt / ease) if ease > 0.0 else np.ones(len(reference))
    all_ahead = gains.G.sum()
    states, jerks = np.empty((len(reference), 3)), np.empty(len(reference))
    # the horizon is finite: without this a reference that stays where it is would set the cart in motion
    total = -(gains.K_x[0] + all_ahead) * reference[0] / gains.K_s
    for k in range(len(reference)):
        total += C @ x - known[k]
        future = seen[k] * (gains.G @ known[k + 1:k + 1 + ahead]) + (1.0 - seen[k]) * all_ahead * reference[0]
        u = -gains.K_s * total - gains.K_x @ x - future
        states[k], jerks[k] = x, u
        x = A @ x + B * u
    return CartMotion(states, jerks, dt)
