"""Steps of `implicit` that are not the usual one: other integrators, `coupling="frozen"`, `schedule="balanced"`."""

from __future__ import annotations

from sesshoku.collision.contacts import as_contacts
from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.assembly.work import as_assembly
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.methods.implicit.apply import finish_contacts, finish_joints, finish_report, new_velocity
from sesshoku.methods.implicit.explicit import rk4_step, solve_explicit
from sesshoku.methods.implicit.frozen import freeze_contacts
from sesshoku.methods.implicit.law import build_joint_laws, build_laws
from sesshoku.methods.implicit.options import (
    EULER,
    FROZEN,
    IMPLICIT,
    INTEGRATOR,
    LOOKAHEAD,
    MARGIN,
    MAX_PASSES,
    MOST,
    RK4,
)
from sesshoku.methods.implicit.problem import prepare
from sesshoku.methods.implicit.schedule import solve_by_schedule
from sesshoku.methods.implicit.solve import LETTING_GO, solve_trees, start_joints, update_states
from sesshoku.methods.implicit.usual import forces
from sesshoku.methods.implicit.work import COUPLED, COUPLING_OVERFLOW, GROUPS, PASSES, UNSETTLED, as_memory
from sesshoku.model.arrays import as_model
from sesshoku.stages.free_motion import EULER as EULER_SCHEME
from sesshoku.stages.free_motion import EULER_SPIN, RUNGE_KUTTA, SEMI_IMPLICIT, SPIN, finish


@jit
def run(model_table, data_table, contact_table, memory_table, assembly_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    memory, assembly = as_memory(memory_table), as_assembly(assembly_table)
    for n in range(steps):
        if not step(model, data, contacts, memory, assembly, options, dt):
            return n
    return steps


@jit
def step(model, data, contacts, memory, assembly, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    if options[INTEGRATOR] != RK4:  # whose stages do all this themselves
        kinematics(model, data, data.q)
        link_velocities(model, data, data.v)
        detect(model, data, contacts, MARGIN, options[LOOKAHEAD] * dt, int(options[MOST]))
        forces(model, data, options, dt)
        prepare(model, data, contacts, memory, options, dt)
    accelerate(model, data, contacts, memory, assembly, options, dt)
    apply(model, data, contacts, memory, options, dt)
    return advance(model, data, options, dt)


@jit
def accelerate(model, data, contacts, memory, assembly, options, dt):
    """Joint accelerations (or, with rk4, the end of the step)."""
    if options[INTEGRATOR] == RK4:
        rk4_step(model, data, contacts, memory, options, dt)
    elif options[INTEGRATOR] != IMPLICIT:
        solve_explicit(model, data, contacts, memory, options, dt)
    else:
        solve(model, data, contacts, memory, assembly, options, dt)


@jit
def solve(model, data, contacts, memory, assembly, options, dt):
    """`passes.solve` with frozen contacts or another schedule."""
    memory.counts[UNSETTLED] = memory.counts[COUPLING_OVERFLOW] = memory.counts[PASSES] = 0
    start_joints(model, data, memory, dt)
    most = int(options[MAX_PASSES])
    for group in range(memory.counts[GROUPS]):
        settled = False
        n = 0
        while not settled and n < most + LETTING_GO:
            build_joint_laws(model, data, memory, dt)
            memory.counts[COUPLED] = 0
            if options[FROZEN] != 0.0:
                freeze_contacts(model, data, contacts, memory, group, options, dt)
            else:
                build_laws(model, data, contacts, memory, group, options, dt)
                if not solve_by_schedule(model, data, memory, assembly):
                    solve_trees(model, data, memory, group)
            n += 1
            settled = update_states(model, data, contacts, memory, group, options, n >= most, dt)
        memory.counts[PASSES] = max(memory.counts[PASSES], n)
        if not settled or n > most:
            memory.counts[UNSETTLED] += 1


@jit
def apply(model, data, contacts, memory, options, dt):
    """New velocity, forces of the contacts, report."""
    if options[INTEGRATOR] != RK4:
        least = EULER_SPIN if options[INTEGRATOR] == EULER else SPIN
        new_velocity(model, data, contacts, memory, least, dt)
    finish_contacts(model, data, contacts, memory, options, dt)
    if options[INTEGRATOR] != RK4:
        finish_joints(model, data, memory, dt)
    finish_report(model, data, contacts, memory, dt)


@jit
def advance(model, data, options, dt):
    """Take the new state over if it is finite."""
    scheme = SEMI_IMPLICIT
    if options[INTEGRATOR] == RK4:
        scheme = RUNGE_KUTTA
    elif options[INTEGRATOR] == EULER:
        scheme = EULER_SCHEME
    return finish(model, data, scheme, dt)


@jit
def stage_solve(model, data, contacts, memory, assembly, options, dt):
    accelerate(model, data, contacts, memory, assembly, options, dt)


@jit
def stage_apply(model, data, contacts, memory, assembly, options, dt):
    apply(model, data, contacts, memory, options, dt)


@jit
def stage_advance(model, data, contacts, memory, assembly, options, dt):
    advance(model, data, options, dt)
