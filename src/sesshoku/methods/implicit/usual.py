"""The step of `implicit` as it usually is: implicit, contacts assembled, trees from the leaves to the root."""

from __future__ import annotations

from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.rnea import external_wrenches
from sesshoku.integrate.fast_joints import FAST, find_fast, rest_products
from sesshoku.methods.implicit.apply import finish_contacts, finish_joints, finish_report, new_velocity
from sesshoku.methods.implicit.options import IMPLICIT, MARGIN
from sesshoku.methods.implicit.problem import build_problem
from sesshoku.methods.implicit.solve import solve
from sesshoku.stages.common import place_links, take_over
from sesshoku.stages.free_motion import SPIN


@jit
def find_points(model, data, work, dt):
    """Contacts that touch, or with `speculative` may touch within the step."""
    options = work.options
    detect(model, data, work.contacts, MARGIN, options.speculative * dt, options.most_per_pair)


@jit
def drive_joints(model, data, work, dt):
    """Actuators, springs of joints, external forces."""
    options = work.options
    implicit = options.integrator == IMPLICIT and options.implicit_drive != 0
    joint_forces(model, data, data.q, data.v, dt if implicit else 0.0, 1.0)
    external_wrenches(model, data)
    if options.integrator == IMPLICIT and find_fast(model, data, data.v, dt, FAST, False) > 0:
        rest_products(model, data)


@jit
def apply(model, data, work, dt):
    """New velocity, forces of the contacts, report."""
    new_velocity(model, data, work, dt, SPIN)
    finish_contacts(model, data, work, dt)
    finish_joints(model, data, work, dt)
    finish_report(model, data, work, dt)


STAGES = Stages((place_links, find_points, drive_joints, build_problem, solve, apply, take_over))
