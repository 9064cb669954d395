"""Options and work space of the proximal Newton method (proximal_newton.py)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sesshoku.compiled.table import Record, array, scalar, viewer

AUTO, DUAL, PRIMAL, SWEEPS_FIRST = range(4)  # `form`: which linear system; SWEEPS_FIRST: NNCG, then some primal steps


@dataclass(frozen=True)
class NewtonOptions:
    """How hard to try. All budgets are counts, never times: a run repeats exactly."""

    tolerance: float = 1e-12  # m/s: the residual at which a solve ends (raised to the rounding floor)
    sigma: float = 1e-2  # first proximal parameter, as a share of each block's diagonal
    sigma_least: float = 1e-7
    shrink: float = 0.3  # of sigma after an outer pass that settled quickly
    inner: int = 8  # Newton steps per outer pass, of islands of up to `few` trees
    inner_many: int = 12  # and of larger ones
    outer: int = 200
    cap: int = 200  # Newton steps in all, of islands of up to `few` trees
    cap_many: int = 250
    few: int = 3  # trees; islands of more are many
    accept: float = 1e-8  # a residual that counts as solved where the cap was reached
    inner_accuracy: float = 0.01  # of an outer pass, as a share of the residual it began with
    form: int = AUTO
    large: int = 250  # contacts above which an island of many trees is swept first
    sweeps: int = 60  # NNCG sweeps there
    polish: int = 10  # and Newton steps after them
    quiet: float = 1e-4  # m/s: a start so good that sweeps are left out
    most_flops: float = 2e6  # of one factorisation; dearer ones are not made
    rescue: int = 50  # sweeps with exact local solves where Newton failed
    calm: int = 40  # Newton steps of a large island that is not swept
    relative: float = 0.0  # islands of many trees: a share of the first residual will do, up to a tenth of `accept`


(TOLERANCE, SIGMA, SIGMA_LEAST, SHRINK, INNER, INNER_MANY, OUTER, CAP, CAP_MANY, FEW, ACCEPT, INNER_ACCURACY, FORM,
 LARGE, SWEEPS, POLISH, QUIET, MOST_FLOPS, RESCUE, CALM, RELATIVE) = range(21)


def newton_parameters(options: NewtonOptions) -> np.ndarray:
    """What compiled code takes of the options, in the order of the constants above."""
    return np.array([getattr(options, name) for name in NewtonOptions.__dataclass_fields__], dtype=np.float64)


class NewtonWork(Record):
    """C contacts and turning blocks, W joints, N = 3 C + W rows, V dofs; B trees of a sparse factor, D dense ones."""

    dense_rows = scalar()  # D
    block_capacity = scalar()  # B
    info = array(int, 1)  # (8) see the constants below
    # rows of the island being solved, block by block (contacts, then their turning blocks), then joint rows
    mu = array(float, 1)  # (C) of turning blocks: the rolling coefficient, m
    torsion = array(float, 1)  # (C) torsional coefficient of turning blocks, m
    owner = array(int, 1)  # (C) of turning blocks: the contact's number in the island
    scale = array(float, 1)  # (C + W) g: largest diagonal entry of each block
    low = array(float, 1)  # (W)
    high = array(float, 1)
    free = array(float, 1)  # (N) velocity at zero impulse
    impulse = array(float, 1)  # (N)
    kept = array(float, 1)  # (N) the best so far
    center = array(float, 1)  # (N) of the proximal term
    image = array(float, 1)  # (N) impulses that belong to the velocities
    speed = array(float, 1)  # (N) velocities
    change = array(float, 1)  # (N) of the velocities along the Newton direction
    held = array(float, 1)  # (N) dual form: impulses whose velocities are `speed`
    step = array(float, 1)  # (N) their Newton direction
    trial = array(float, 1)  # (N)
    mismatch = array(float, 1)  # (N) velocities of the images minus the velocities
    state = array(int, 1)  # (C + W) OPEN, STICK, SLIP
    slope = array(float, 2)  # (C, 7) D of each block, see proximal_local
    # dofs
    y_image = array(float, 1)  # (V) Z^T image
    y_gap = array(float, 1)  # (V) y_image - y
    y_step = array(float, 1)  # (V) Newton direction
    dof_block = array(int, 1)  # (V) number of the tree within the island
    dof_place = array(int, 1)  # (V) number of the dof within its tree
    # dual form
    matrix = array(float, 2)  # (D, D) Z Z^T of the island
    system = array(float, 2)  # (D, D)
    right = array(float, 1)  # (D)
    active_row = array(int, 1)  # (D)
    pivot = array(int, 1)  # (max(D, V))
    # primal form
    block_size = array(int, 1)  # (B)
    block_dof = array(int, 1)  # (B) first dof
    touch = array(int, 2)  # (B, B)
    place = array(int, 2)  # (B, B)
    order = array(int, 1)  # (B)
    degree = array(int, 1)  # (B)
    done = array(int, 1)  # (B)
    neighbour_start = array(int, 1)  # (B + 1)
    neighbour = array(int, 1)
    arena = array(float, 1)
    small = array(float, 1)  # (6 V): D Z of one contact along a chain
    # sweeps (see pgs.solve_rows)
    law = array(int, 1)  # (C)
    moved = array(float, 2)  # (C, 3)
    direction = array(float, 2)
    joint_moved = array(float, 1)  # (W)
    joint_direction = array(float, 1)
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)
    pack = array(float, 2)  # (C, PACKED)
    pack_dof = array(int, 2)  # (C, 2)


as_newton_work = viewer(NewtonWork)
NEWTON_STEPS, OUTER_PASSES, FORM_USED, SWEEPS_USED, TRIALS, FACTOR_SIZE, CONTACT_BLOCKS = range(7)  # of `info`
DENSE_ROWS = 240  # most rows of an island in dual form
BLOCKS = 400  # most trees of an island in primal form
ARENA = 400_000  # most numbers in a sparse factor: 3.2 MB


def make_newton_work(contacts: int, joint_rows: int, dofs: int, trees: int) -> NewtonWork:
    """Work space for islands of up to so many contacts (and turning blocks), joint rows, dofs and trees."""
    from sesshoku.solvers.pgs import DISC
    from sesshoku.solvers.pgs_bodies import PACKED

    C, W, V, B = contacts, joint_rows, dofs, min(trees, BLOCKS)
    N, D = 3 * C + W, min(3 * C + W, DENSE_ROWS)
    pairs = min(B * (B - 1) // 2, ARENA // 72)
    arena = min(dofs * dofs, ARENA) if trees <= BLOCKS else ARENA
    # a robot of many dofs is one dense block, however large
    shapes: dict[str, int | tuple[int, ...]] = {
        "info": 8, "mu": C, "torsion": C, "owner": C, "scale": C + W, "low": W, "high": W, "free": N, "impulse": N,
        "kept": N, "center": N, "image": N, "speed": N, "change": N, "held": N, "step": N, "trial": N, "mismatch": N,
        "state": C + W, "slope": (C, 7), "y_image": V, "y_gap": V, "y_step": V, "dof_block": V, "dof_place": V,
        "matrix": (D, D), "system": (D, D), "right": D, "active_row": D, "pivot": max(D, V),
        "block_size": B, "block_dof": B, "touch": (B, B), "place": (B, B), "order": B, "degree": B, "done": B,
        "neighbour_start": B + 1, "neighbour": pairs, "arena": arena, "small": max(6 * V, 9),
        "law": C, "moved": (C, 3), "direction": (C, 3), "joint_moved": W, "joint_direction": W,
        "y_before": V, "y_direction": V, "pack": (C, PACKED), "pack_dof": (C, 2),
    }  # fmt: skip
    arrays = {name: np.zeros(shape, dtype=np.int64 if NewtonWork.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["law"][:] = DISC
    return NewtonWork(dense_rows=D, block_capacity=B, **arrays)
