"""Contact problems of a single body, written down from their geometry: contacts in any direction, sliding rods."""

from __future__ import annotations

import numpy as np

from sesshoku.experiments.exact.islands import Island, island_from_rows


def frame(normal: np.ndarray) -> np.ndarray:
    """Rows t1, t2, n."""
    n = normal / np.linalg.norm(normal)
    t = np.cross(n, [1.0, 0.0, 0.0] if abs(n[0]) < 0.6 else [0.0, 1.0, 0.0])
    t /= np.linalg.norm(t)
    return np.array([t, np.cross(n, t), n])


def body_rows(points: np.ndarray, axes: np.ndarray, mass: float = 1.0, inertia: float = 1.0) -> np.ndarray:
    """Rows of contacts on one body about its centre, in half form: J M^-1/2 (3 m, 6)."""
    rows = []
    for p, A in zip(points, axes, strict=True):
        for axis in A:
            rows.append(np.concatenate([axis / np.sqrt(mass), np.cross(p, axis) / np.sqrt(inertia)]))
    return np.array(rows)


def random_body(rng: np.random.Generator, m: int, mu_most: float) -> Island:
    """m contacts in random places and directions on a body with a random velocity, mu up to mu_most."""
    axes = np.array([frame(rng.normal(size=3)) for _ in range(m)])
    Z = body_rows(rng.normal(size=(m, 3)), axes)
    return island_from_rows(Z, Z @ rng.normal(size=6), rng.uniform(0, mu_most, size=m))


def rod(mu: float, angle: float, speed: float, mass: float = 1.0, length: float = 2.0) -> Island:
    """A thin rod whose lower end slides on the floor at `speed` along x, tilted by `angle` from the floor."""
    point = np.array([[-0.5 * length * np.cos(angle), 0.0, -0.5 * length * np.sin(angle)]])
    Z = body_rows(point, np.array([np.eye(3)]), mass, mass * length**2 / 12.0)
    return island_from_rows(Z, np.array([speed, 0.0, -0.01]), np.array([mu]))


def random_rod(rng: np.random.Generator) -> Island:
    """A rod at a random angle, sliding either way, with friction of 0.1 to 6."""
    return rod(rng.uniform(0.1, 6.0), rng.uniform(0.2, 1.5), rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 3))


def jams(island: Island) -> bool:
    """Whether the friction of a unit normal impulse would drive a sliding rod's tip into the floor (Painlevé)."""
    W, mu, speed = island.problem.block[0], island.mu[0], island.problem.free[0, 0]
    return bool(W[2, 2] - mu * np.sign(speed) * W[0, 2] < 0.0)
