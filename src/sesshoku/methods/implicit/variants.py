"""Steps of `implicit` that are not the usual one: other integrators, `coupling="frozen"`, `schedule="balanced"`."""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.methods.implicit.apply import finish_contacts, finish_joints, finish_report, new_velocity
from sesshoku.methods.implicit.explicit import rk4_step, solve_explicit
from sesshoku.methods.implicit.frozen import freeze_contacts
from sesshoku.methods.implicit.law import build_joint_laws, build_laws
from sesshoku.methods.implicit.options import (
    EULER,
    FROZEN,
    IMPLICIT,
    RK4,
)
from sesshoku.methods.implicit.problem import build_problem
from sesshoku.methods.implicit.schedule import solve_by_schedule
from sesshoku.methods.implicit.solve import LETTING_GO, solve_trees, start_joints, update_states
from sesshoku.methods.implicit.usual import drive_joints, find_points
from sesshoku.methods.implicit.work import COUPLED, COUPLING_OVERFLOW, GROUPS, PASSES, UNSETTLED
from sesshoku.stages.common import place_links
from sesshoku.stages.free_motion import EULER as EULER_SCHEME
from sesshoku.stages.free_motion import EULER_SPIN, RUNGE_KUTTA, SEMI_IMPLICIT, SPIN, finish


@jit
def accelerate(model, data, work, dt):
    """Joint accelerations (or, with rk4, the end of the step)."""
    options = work.options
    if options.integrator == RK4:
        rk4_step(model, data, work, dt)
    elif options.integrator != IMPLICIT:
        solve_explicit(model, data, work, dt)
    else:
        solve(model, data, work, dt)


@jit
def solve(model, data, work, dt):
    """`solve.solve` with frozen contacts or another schedule."""
    options = work.options
    work.counts[UNSETTLED] = work.counts[COUPLING_OVERFLOW] = work.counts[PASSES] = 0
    start_joints(model, data, work, dt)
    most = options.max_passes
    for group in range(work.counts[GROUPS]):
        settled = False
        n = 0
        while not settled and n < most + LETTING_GO:
            build_joint_laws(model, data, work, dt)
            work.counts[COUPLED] = 0
            if options.coupling == FROZEN:
                freeze_contacts(model, data, work, dt, group)
            else:
                build_laws(model, data, work, dt, group)
                if not solve_by_schedule(model, data, work):
                    solve_trees(model, data, work, dt, group)
            n += 1
            settled = update_states(model, data, work, dt, group, n >= most)
        work.counts[PASSES] = max(work.counts[PASSES], n)
        if not settled or n > most:
            work.counts[UNSETTLED] += 1


@jit
def apply(model, data, work, dt):
    """New velocity, forces of the contacts, report."""
    options = work.options
    if options.integrator != RK4:
        least = EULER_SPIN if options.integrator == EULER else SPIN
        new_velocity(model, data, work, dt, least)
    finish_contacts(model, data, work, dt)
    if options.integrator != RK4:
        finish_joints(model, data, work, dt)
    finish_report(model, data, work, dt)


@jit
def advance(model, data, work, dt):
    """Take the new state over if it is finite."""
    options = work.options
    scheme = SEMI_IMPLICIT
    if options.integrator == RK4:
        scheme = RUNGE_KUTTA
    elif options.integrator == EULER:
        scheme = EULER_SCHEME
    return finish(model, data, scheme, dt)


STAGES = Stages((place_links, find_points, drive_joints, build_problem, accelerate, apply, advance))
RUNGE_KUTTA_STAGES = Stages((accelerate, apply, advance))  # whose own stages do the rest
