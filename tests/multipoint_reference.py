"""A step of the `multipoint` method in NumPy, written from the paper's procedure and sharing no code with the method.

`printed` names places of the paper that are wrong in print; the step then follows the print, for tests that show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Points:
    """Contact points: Jacobian (N, 3, V) in world axes, normals (N, 3), coefficients and depths (N)."""

    jacobian: np.ndarray
    normal: np.ndarray
    static: np.ndarray
    kinetic: np.ndarray
    restitution: np.ndarray
    depth: np.ndarray


@dataclass
class Outcome:
    """What a step found. impulse: (N, 3) world axes. trial: before friction."""

    v: np.ndarray
    impulse: np.ndarray
    trial: np.ndarray
    active: np.ndarray
    slips: np.ndarray
    slip_direction: np.ndarray
    passes: int
    matrix: np.ndarray
    wanted: np.ndarray
    removed_by_pass: list = field(default_factory=list)


def pseudo_inverse(M, tolerance=1e-9):
    """M^+ by the eigenvalues of M."""
    values, vectors = np.linalg.eigh(M)
    kept = values > tolerance * values[-1]
    return vectors[:, kept] @ np.diag(1.0 / values[kept]) @ vectors[:, kept].T


def row_picking(M, b, tolerance=1e-9):
    """The paper's (19): independent rows picked by pivoted Cholesky, the smallest solution of those alone."""
    diagonal, picked, factors = np.diag(M).copy(), [], []
    first = diagonal.max()
    while diagonal.max() > 1e3 * tolerance * first:
        p = int(diagonal.argmax())
        column = (M[:, p] - sum((f * f[p] for f in factors), np.zeros(len(b)))) / np.sqrt(diagonal[p])
        picked.append(p)
        factors.append(column)
        diagonal = diagonal - column**2
        diagonal[picked] = 0.0
    Mm = M[picked]
    return Mm.T @ np.linalg.solve(Mm @ Mm.T, b[picked]), picked


def step(H, v, free_velocity, points, *, slip_threshold=5e-3, rank_tolerance=1e-9, stick_target="zero",
         coupling="after", readmit=False, penetration_rate=0.0, slop=1e-5, printed=(), solve=None,
         first_threshold=None):  # fmt: skip
    """One step: velocities after it and impulses at the points.

    first_threshold (N): thresholds before loads are known; those of the loads then follow from the trial forces.
    """
    J, nu, N = points.jacobian, points.normal, len(points.normal)
    before = J @ v
    v_normal = np.einsum("ij,ij->i", before, nu)
    t = before - v_normal[:, None] * nu
    speed = np.linalg.norm(t, axis=1)
    parallel = speed <= 1e-12
    if "(6)" in printed:  # the formula where v is parallel to the normal, 0 where it is not
        parallel = ~parallel
    with np.errstate(invalid="ignore", divide="ignore"):
        sigma = np.where(parallel[:, None], 0.0, t / speed[:, None])
    approach = v_normal if "(11)" in printed else np.minimum(v_normal, 0.0)
    if first_threshold is not None:
        slip_threshold = first_threshold
    keep = t.copy()
    if stick_target == "zero":
        keep[speed <= slip_threshold] = 0.0
    push_out = penetration_rate * np.maximum(points.depth - slop, 0.0) * (points.restitution * approach >= 0.0)
    target = keep + (-points.restitution * approach + push_out)[:, None] * nu
    flat = J.reshape(3 * N, -1)
    M = flat @ np.linalg.solve(H, flat.T)
    wanted = target.ravel() - flat @ (v if "step 9" in printed else free_velocity)
    solve = solve or (lambda A, b: pseudo_inverse(A, rank_tolerance) @ b)
    active, passes, removed = np.ones(N, bool), 0, []

    def loop():
        nonlocal passes, wanted
        while active.any():
            rows = np.repeat(active, 3)
            x = np.zeros(3 * N)
            x[rows] = solve(M[np.ix_(rows, rows)], wanted[rows])
            passes += 1
            fn = np.einsum("ij,ij->i", x.reshape(N, 3), nu)
            bad = active & (fn <= 0.0 if "(24)" in printed else fn < -1e-10 * np.abs(fn).max())
            if not bad.any():
                return x.reshape(N, 3)
            active[bad] = False
            removed.append(np.flatnonzero(bad))
            if "step 7" in printed:  # back to step 4: velocities after the impact anew, from those just found
                found = (flat @ (free_velocity + np.linalg.solve(H, flat.T @ x))).reshape(N, 3)
                now = np.einsum("ij,ij->i", found, nu)
                again = found - now[:, None] * nu - (points.restitution * np.minimum(now, 0.0))[:, None] * nu
                wanted = again.ravel() - flat @ free_velocity
        return np.zeros((N, 3))

    def settle():
        trial = loop()
        if not readmit:
            return trial
        seen = set()
        while tuple(active) not in seen and len(seen) < N:
            seen.add(tuple(active))
            after = (flat @ free_velocity + M @ trial.ravel()).reshape(N, 3)
            back = ~active & (np.einsum("ij,ij->i", after, nu) < -1e-8)
            if not back.any():
                break
            active[back] = True
            trial = loop()
        return trial

    trial = settle()
    if first_threshold is not None:
        slip_threshold = _thresholds(M, points, trial, active, sigma, speed, first_threshold)
        change = (speed <= slip_threshold) != (speed <= first_threshold)
        if stick_target == "zero" and change.any():
            keep = np.where((speed <= slip_threshold)[:, None], 0.0, t)
            target += np.where(change[:, None], keep - (target - np.einsum("ij,ij->i", target, nu)[:, None] * nu), 0.0)
            wanted = target.ravel() - flat @ free_velocity
            active[:] = True
            trial = settle()
    fn = np.einsum("ij,ij->i", trial, nu)
    ft = trial - fn[:, None] * nu
    size = np.linalg.norm(ft, axis=1)
    moving = np.linalg.norm(before, axis=1) > slip_threshold if "(25)" in printed else speed > slip_threshold
    slips = moving | (active & (size > points.static * np.maximum(fn, 0.0)) & (size > 0.0))
    against = np.where(moving[:, None], sigma, -ft / np.where(size > 0, size, 1.0)[:, None])
    if "(21)" in printed:  # friction along the slip
        against = -sigma
    impulse = trial.copy()
    if coupling == "after":
        kinetic = np.maximum(fn, 0.0)[:, None] * (nu - points.kinetic[:, None] * against)
        impulse[slips] = kinetic[slips]
        impulse[~active] = 0.0
    else:
        impulse, slips = _resolve(M, wanted, points, moving, slips, against, trial, rank_tolerance)
    v_next = free_velocity + np.linalg.solve(H, flat.T @ impulse.ravel())
    return Outcome(v_next, impulse, trial, active, slips, sigma, passes, M, wanted, removed)


def _thresholds(M, points, trial, active, sigma, speed, first):
    """Half of what kinetic friction in place of the trial's changes of the slip of each point that carries."""
    nu, N = points.normal, len(points.normal)
    fn = np.einsum("ij,ij->i", trial, nu)
    carries = active & (fn > 0.0)
    friction = np.where(carries, points.kinetic * fn, 0.0)[:, None] * sigma
    change = friction + np.where(carries[:, None], trial - fn[:, None] * nu, 0.0)
    found = [np.einsum("ij,ij->i", sigma, (M @ part.ravel()).reshape(N, 3)) for part in (friction, change)]
    found.append(np.array([sigma[i] @ M[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] @ friction[i] for i in range(N)]))
    return np.where(carries & (speed > 1e-12), np.maximum(0.5 * np.max(found, axis=0), 1e-12), first)


def _resolve(M, wanted, points, moving, slips, against, trial, tolerance):
    """The loop again with friction in it; without readmission, stopping or jams."""
    nu, N = points.normal, len(points.normal)
    if not slips.any():
        return trial, slips
    slips, against, active = slips.copy(), against.copy(), np.ones(N, bool)
    while True:
        columns, equations, right = [], [], []
        for i in np.flatnonzero(active):
            for axis in [nu[i]] if slips[i] else np.eye(3):
                row = np.zeros(3 * N)
                row[3 * i : 3 * i + 3] = axis
                equations.append(row)
                right.append(row @ wanted)
                column = row.copy()
                if slips[i]:
                    column[3 * i : 3 * i + 3] = nu[i] - points.kinetic[i] * against[i]
                columns.append(column)
        if not columns:
            return np.zeros((N, 3)), slips
        P, Q = np.array(equations), np.array(columns).T
        z = np.linalg.lstsq(P @ M @ Q, np.array(right), rcond=tolerance)[0]
        x = (Q @ z).reshape(N, 3)
        fn = np.einsum("ij,ij->i", x, nu)
        bad = active & (fn < -1e-10 * np.abs(fn).max())
        if bad.any():
            active &= ~bad
            continue
        ft = x - fn[:, None] * nu
        size = np.linalg.norm(ft, axis=1)
        broke = active & ~slips & (size > points.static * np.maximum(fn, 0.0)) & (size > 0.0)
        if not broke.any():
            return x, slips
        against[broke] = -ft[broke] / size[broke, None]
        slips |= broke


def points_of(sim, restitution=0.0):
    """The contact points of a simulation's last step with the Jacobians of its present state.

    Restore the state before the step first.
    """
    contacts = sim.contacts
    J = np.array([(sim.jacobian(c.bodies[1], c.point) - sim.jacobian(c.bodies[0], c.point))[:3] for c in contacts])
    return Points(
        J.reshape(len(contacts), 3, len(sim.v)),
        np.array([c.normal for c in contacts]).reshape(-1, 3),
        np.array([c.static_friction for c in contacts]),
        np.array([c.kinetic_friction for c in contacts]),
        np.full(len(contacts), restitution),
        np.array([c.depth for c in contacts]),
    )
