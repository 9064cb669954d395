"""The step of `implicit` as it usually is: implicit, contacts assembled, trees from the leaves to the root."""

from __future__ import annotations

from sesshoku.collision.contacts import as_contacts
from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.fast_joints import FAST, find_fast, rest_products
from sesshoku.methods.implicit.apply import finish_contacts, finish_joints, finish_report, new_velocity
from sesshoku.methods.implicit.options import IMPLICIT, IMPLICIT_DRIVE, INTEGRATOR, LOOKAHEAD, MARGIN, MOST
from sesshoku.methods.implicit.problem import prepare
from sesshoku.methods.implicit.solve import solve
from sesshoku.methods.implicit.work import as_memory
from sesshoku.model.arrays import as_model
from sesshoku.stages.free_motion import SEMI_IMPLICIT, SPIN, finish


@jit
def run(model_table, data_table, contact_table, memory_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    memory = as_memory(memory_table)
    for n in range(steps):
        if not step(model, data, contacts, memory, options, dt):
            return n
    return steps


@jit(inline="always")
def step(model, data, contacts, memory, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    detect(model, data, contacts, MARGIN, options[LOOKAHEAD] * dt, int(options[MOST]))
    forces(model, data, options, dt)
    prepare(model, data, contacts, memory, options, dt)
    solve(model, data, contacts, memory, options, dt)
    apply(model, data, contacts, memory, options, dt)
    return finish(model, data, SEMI_IMPLICIT, dt)


@jit
def forces(model, data, options, dt):
    """Actuators, springs of joints, external forces."""
    implicit = options[INTEGRATOR] == IMPLICIT and options[IMPLICIT_DRIVE] != 0.0
    joint_forces(model, data, data.q, data.v, dt if implicit else 0.0, 1.0)
    external_wrenches(model, data)
    if options[INTEGRATOR] == IMPLICIT and find_fast(model, data, data.v, dt, FAST, False) > 0:
        rest_products(model, data)


@jit
def apply(model, data, contacts, memory, options, dt):
    """New velocity, forces of the contacts, report."""
    new_velocity(model, data, contacts, memory, SPIN, dt)
    finish_contacts(model, data, contacts, memory, options, dt)
    finish_joints(model, data, memory, dt)
    finish_report(model, data, contacts, memory, dt)


@jit
def stage_nothing(model, data, contacts, memory, assembly, options, dt):
    """What a call of a stage costs."""


@jit
def stage_kinematics(model, data, contacts, memory, assembly, options, dt):
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def stage_detect(model, data, contacts, memory, assembly, options, dt):
    detect(model, data, contacts, MARGIN, options[LOOKAHEAD] * dt, int(options[MOST]))


@jit
def stage_forces(model, data, contacts, memory, assembly, options, dt):
    forces(model, data, options, dt)


@jit
def stage_prepare(model, data, contacts, memory, assembly, options, dt):
    prepare(model, data, contacts, memory, options, dt)


@jit
def stage_solve(model, data, contacts, memory, assembly, options, dt):
    solve(model, data, contacts, memory, options, dt)


@jit
def stage_apply(model, data, contacts, memory, assembly, options, dt):
    apply(model, data, contacts, memory, options, dt)


@jit
def stage_advance(model, data, contacts, memory, assembly, options, dt):
    finish(model, data, SEMI_IMPLICIT, dt)
