"""Impulses of the model's own constraints (limits, joint friction, mimics, loops) at velocity level, group by group.

Free velocity in, constrained velocity out: v+ = v_free + H^-1 J^T x, with w = J v+ - target complementary to the bounds
on the impulses x. Joint friction has a static and a kinetic bound: a joint that the solve lets move is slipping and
gets the kinetic bound in a second solve, within the step; one that comes to rest or turns round is first tried with the
static one.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.constraints.independent import ROUNDING, mobility
from sesshoku.dynamics.constraints.rows import (
    LIMIT_CORRECTION,
    ROW_FRICTION,
    ROW_LOOP,
    ROW_MIMIC,
    ROW_UPPER,
    group_rows,
    store_impulse,
)
from sesshoku.dynamics.constraints.tendon_rows import tendon_excess
from sesshoku.dynamics.delassus import half_row, row_delassus
from sesshoku.dynamics.factor import multiply, solve
from sesshoku.dynamics.jacobian import add_chain, chain_times
from sesshoku.solvers.box import solve_box
from sesshoku.stages.report import (
    CONSTRAINT_WORK,
    CONVERGED,
    ENERGY_CHANGE,
    ITERATIONS,
    LIMIT_VIOLATION,
    MOMENTUM_RESIDUAL,
    RESIDUAL,
    ROWS,
)
from sesshoku.stages.tendon_limits import return_tendons

STICK_SPEED = 1e-7  # rad/s or m/s: a joint that moves faster than this slips
FRICTION_ROUNDS = 8
ENOUGH = 100.0  # times the tolerance, of rows that may depend on each other, at their natural size
NEARLY = 1e-8  # square of the share of a row's size below which its part that others do not say is left alone


@jit
def constrain_joints(model, data, q, v, dt, tolerance):
    """v (V): free velocity in, constrained one out. Needs `kinematics` at q, the factor of H and `link_velocities`."""
    report, impulse = data.report, data.work
    for n in range(len(report)):
        report[n] = 0.0
    report[CONVERGED] = 1.0
    if model.group_count == 0:
        return
    for k in range(model.dof_count):
        impulse[k] = 0.0
    for group in range(model.group_count):
        count = group_rows(model, data, group, q, v, dt)
        if count > 0:
            build_rows(model, data, count, v)
            dependent = model.group_cluster[group + 1] > model.group_cluster[group]
            if dependent:
                weigh_rows(model, data, count)
            solve_group(model, data, count, dependent, dt, tolerance)
            store_group(model, data, count)
            for row in range(count):
                for side in range(2):
                    add_chain(model, data.row_end[row, side], data.row_jacobian, data.row_start[row, side],
                              data.row_force[row], impulse)
    if report[ROWS] > 0.0:  # without rows no joint is near its limit and no loop exists
        apply_impulse(model, data, v, impulse)
        measure_errors(model, data, q)


@jit
def build_rows(model, data, count, v):
    """Delassus matrix and bias (free velocity minus target) of the rows."""
    for row in range(count):
        speed = 0.0
        for side in range(2):
            end, start = data.row_end[row, side], data.row_start[row, side]
            half_row(model, data.factor, end, data.row_jacobian, data.row_half, start)
            speed += chain_times(model, end, data.row_jacobian, start, v)
        data.row_bias[row] = speed - data.row_target[row]
    row_delassus(model, data.factor_dinv, count, data.row_end, data.row_start, data.row_half, data.row_matrix)


@jit
def weigh_rows(model, data, count):
    """row_work[4]: the natural size of every row, sqrt(J H^-1 J^T); of loops as in `independent.scale_rows`.

    Rows of loops and mimics may depend on each other. They start from no impulse: along what they have in common any
    would do, and rounding would add up from step to step.
    """
    size, G = data.row_work[4], data.row_matrix
    for row in range(count):
        kind, number = data.row_source[row, 0], data.row_source[row, 1]
        size[row] = sqrt(max(G[row, row], 0.0))
        if kind == ROW_LOOP:
            shift, turn = mobility(model, data, number // 6)
            for other in range(count):
                if data.row_source[other, 0] == ROW_LOOP and data.row_source[other, 1] // 3 == number // 3:
                    size[row] = max(size[row], sqrt(max(G[other, other], 0.0)))
            if number % 6 >= 3:
                size[row] = turn
            elif size[row] <= ROUNDING * shift:
                size[row] = shift
        if kind == ROW_LOOP or kind == ROW_MIMIC:
            data.row_force[row] = 0.0
        if not size[row] > 0.0:
            size[row] = 1.0


@jit
def scale_rows(data, count, sign):
    """Rows divided by their natural size (sign 1), impulses and bounds multiplied by it; and back (-1)."""
    size = data.row_work[4]
    for row in range(count):
        s = size[row] if sign > 0 else 1.0 / size[row]
        for other in range(count):
            data.row_matrix[row, other] /= s * (size[other] if sign > 0 else 1.0 / size[other])
        data.row_bias[row] /= s
        data.row_force[row] *= s
        data.row_low[row] *= s
        data.row_high[row] *= s


@jit
def solve_rows(data, count, dependent, tolerance):
    """`solve_box` of the rows; those that may depend on each other at their natural sizes, so that none drowns in the
    rounding of others."""
    system, bounds = (data.row_matrix, data.row_bias), (data.row_low, data.row_high)
    space = (data.row_solver, data.row_work, data.row_active)
    if not dependent:
        return solve_box(count, system, bounds, tolerance, data.row_force, space)
    scale_rows(data, count, 1)
    residual, passes = solve_box(count, system, bounds, ENOUGH * tolerance, data.row_force, space, NEARLY)
    scale_rows(data, count, -1)
    return residual / ENOUGH, passes


@jit
def solve_group(model, data, count, dependent, dt, tolerance):
    """Solve the rows, switching joint friction between its static and kinetic bound until it agrees with the motion."""
    report, fixed = data.report, data.row_work[5]
    for row in range(count):
        fixed[row] = 0.0  # 1: slipping for the rest of this step; 2: static tried
    rounds = 0
    while True:
        residual, passes = solve_rows(data, count, dependent, tolerance)
        report[ITERATIONS] += passes
        rounds += 1
        if not switch_friction(model, data, count, fixed, dt) or rounds >= FRICTION_ROUNDS:
            break
    report[RESIDUAL] = max(report[RESIDUAL], residual)
    report[ROWS] += count
    if residual > tolerance:
        report[CONVERGED] = 0.0


@jit
def switch_friction(model, data, count, fixed, dt):
    """Compare each joint's friction state with its solved speed; True if a bound changed and a new solve is due."""
    changed = False
    for row in range(count):
        kind, k = data.row_source[row, 0], data.row_source[row, 1]
        if kind != ROW_FRICTION and not (kind <= ROW_UPPER and data.row_low[row] < 0.0):
            continue
        speed = data.row_bias[row]
        for other in range(count):
            speed += data.row_matrix[row, other] * data.row_force[other]
        before, moving = -data.v[k] if kind == ROW_UPPER else data.v[k], abs(speed) > STICK_SPEED
        bound = 0.0
        if not data.friction_slips[k] and moving and fixed[row] != 1.0:
            data.friction_slips[k] = 1  # breaks away: kinetic for the rest of the step
            fixed[row] = 1.0
            bound = model.dof_kinetic_friction[k]
        elif data.friction_slips[k] and fixed[row] == 0.0 and (not moving or speed * before < 0.0):
            data.friction_slips[k] = 0  # stops or turns round: would static friction hold it?
            fixed[row] = 2.0
            bound = model.dof_static_friction[k]
        else:
            continue
        if model.dof_static_friction[k] != model.dof_kinetic_friction[k]:
            data.row_low[row] = -dt * bound
            if kind == ROW_FRICTION:
                data.row_high[row] = dt * bound
            changed = True
    return changed


@jit
def store_group(model, data, count):
    """Keep the impulses with what they belong to."""
    for row in range(count):
        store_impulse(data, data.row_source[row, 0], data.row_source[row, 1], data.row_force[row], data.row_low[row])


@jit
def apply_impulse(model, data, v, impulse):
    """v += H^-1 impulse; reports the energy it brought and how well H dv equals the impulse."""
    report, change, product = data.report, data.free_acceleration, data.stage_v
    for k in range(model.dof_count):
        change[k] = impulse[k]
    solve(model, data.factor, data.factor_dinv, change)
    multiply(model, data.mass_matrix, change, product)
    energy = brought = worst = 0.0
    for k in range(model.dof_count):
        product[k] += data.implicit_diagonal[k] * change[k]
        energy += impulse[k] * (v[k] + 0.5 * change[k])
        worst = max(worst, abs(product[k] - impulse[k]))
        v[k] += change[k]
        brought += 0.5 * impulse[k] * (data.v[k] + v[k])
    report[ENERGY_CHANGE], report[CONSTRAINT_WORK], report[MOMENTUM_RESIDUAL] = energy, brought, worst


@jit
def return_to_limits(model, data, q):
    """Move joints (and tendons) that are beyond a limit part of the way back; a shift of q, so that it leaves no
    velocity behind."""
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        at = model.dof_coordinate[k]
        beyond = q[at] - min(max(q[at], model.dof_lower[k]), model.dof_upper[k])
        q[at] -= LIMIT_CORRECTION * beyond
    return_tendons(model, data, q, LIMIT_CORRECTION)


@jit
def measure_errors(model, data, q):
    """Deepest limit violation at q."""
    report, worst = data.report, 0.0
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        position = q[model.dof_coordinate[k]]
        worst = max(worst, model.dof_lower[k] - position, position - model.dof_upper[k])
    for n in range(len(model.rowed_tendons)):
        worst = max(worst, abs(tendon_excess(model, data, model.rowed_tendons[n], q)))
    report[LIMIT_VIOLATION] = worst
