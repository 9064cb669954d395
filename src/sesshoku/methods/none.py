"""`none`: motion without contact. Robots swing, tumble, rest on joint limits, close loops and follow servos.

Schemes (`integrator`):
    semi-implicit  (default) first order, symplectic; springs, dampers and servos implicit where they allow it; a lone
                   free body tumbles at second order, its energy and angular momentum kept to rounding
    euler          first order, explicit
    rk4, rkg       fourth order for smooth motion (classical, Gill); joint constraints act as one impulse per step,
                   spread evenly over it (position moves by half its velocity change), so motion with limits, friction
                   or loops is first order
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.compiled.table import Record, array, part
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate import rk4, rkg
from sesshoku.integrate.fast_joints import FAST, RUNGE_KUTTA_FAST, find_fast
from sesshoku.integrate.position import move, move_kinematic
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.methods.definition import Definition, as_numbers, code_of, numbers_of
from sesshoku.methods.options import check_options, option
from sesshoku.methods.registry import register
from sesshoku.scene.compiler import CompiledScene
from sesshoku.stages.common import place_links
from sesshoku.stages.free_motion import (
    EULER,
    EULER_SPIN,
    RUNGE_KUTTA,
    SEMI_IMPLICIT,
    SPIN,
    coast,
    finish,
    free_velocity,
    joint_space_inertia,
)
from sesshoku.stages.joint_constraints import constrain_joints

TABLEAUS = {"rk4": rk4.TABLEAU, "rkg": rkg.TABLEAU}


@dataclass(frozen=True)
class Options:
    """What a user may choose.

    integrator: the scheme
    tolerance (m/s or rad/s): of the joint constraints
    """

    integrator: Literal["semi-implicit", "euler", "rk4", "rkg"] = "semi-implicit"
    tolerance: float = option(1e-10, above=0.0, below=1.0)

    def __post_init__(self) -> None:
        check_options(self, "none")


Numbers = numbers_of(Options)
SEMI_IMPLICIT_EULER = code_of(Options, "integrator", "semi-implicit")


class Work(Record):
    """What `none` keeps beyond model and data: its options."""

    options = part(Numbers)
    tableau = array(float, 5, 5)  # of the Runge-Kutta scheme


def make_work(compiled: CompiledScene, options: Options) -> Work:
    """The options and their tableau."""
    return Work(options=as_numbers(Numbers, options), tableau=TABLEAUS.get(options.integrator, np.zeros((5, 5))))


@jit
def forces(model, data, work, dt):
    """Actuators, springs, external forces."""
    find_forces(model, data, dt if work.options.integrator == SEMI_IMPLICIT_EULER else 0.0)


@jit
def find_forces(model, data, implicit_dt):
    """The same; springs and dampers see the state implicit_dt later."""
    joint_forces(model, data, data.q, data.v, implicit_dt, 1.0)
    external_wrenches(model, data)


@jit
def free_motion(model, data, work, dt):
    """new_v: the velocity at the end without joint constraints."""
    joint_space_inertia(model, data)
    if work.options.integrator == SEMI_IMPLICIT_EULER:
        free_velocity(model, data, dt, SPIN)
        coast(model, data, dt, FAST)
    else:
        free_velocity(model, data, dt, EULER_SPIN)


@jit
def constrain(model, data, work, dt):
    """Impulses of joint constraints: limits, friction, loops, mimics."""
    constrain_joints(model, data, data.q, data.new_v, dt, work.options.tolerance)


@jit
def advance(model, data, work, dt):
    """Take the new state over if it is finite."""
    semi = work.options.integrator == SEMI_IMPLICIT_EULER
    return finish(model, data, SEMI_IMPLICIT if semi else EULER, dt)


@jit
def runge_kutta_step(model, data, work, dt):
    """One Runge-Kutta step; by semi-implicit Euler where joints turn too far for its stages."""
    if find_fast(model, data, data.v, dt, RUNGE_KUTTA_FAST, False) == 0:
        smooth_motion(model, data, work, dt)
        constrain_end(model, data, work, dt)
        if find_fast(model, data, data.new_v, dt, RUNGE_KUTTA_FAST, False) == 0:
            return finish(model, data, RUNGE_KUTTA, dt)
        move_kinematic(model, data, -dt)
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    find_forces(model, data, dt)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN)
    coast(model, data, dt, FAST)
    constrain(model, data, work, dt)
    return finish(model, data, SEMI_IMPLICIT, dt)


@jit
def smooth_motion(model, data, work, dt):
    """Runge-Kutta step of the motion without joint constraints, into new_q and new_v."""
    for k in range(model.dof_count):
        data.constraint_force[k] = 0.0  # no contacts: nothing is held
    runge_kutta(model, data, work.tableau, dt, data.new_q, data.new_v)


@jit
def constrain_end(model, data, work, dt):
    """Joint constraints at the end of a Runge-Kutta step: v changes by their impulse, q by half a step of it."""
    tolerance = work.options.tolerance
    if model.group_count == 0:
        constrain_joints(model, data, data.new_q, data.new_v, dt, tolerance)  # clears the report
        return
    kinematics(model, data, data.new_q)
    link_velocities(model, data, data.new_v)
    for k in range(model.dof_count):
        data.implicit_diagonal[k] = 0.0
        data.rate_v[0, k] = -data.new_v[k]
    joint_space_inertia(model, data)
    constrain_joints(model, data, data.new_q, data.new_v, dt, tolerance)
    for k in range(model.dof_count):
        data.rate_v[0, k] += data.new_v[k]
    move(model, data.new_q, data.rate_v[0], 0.5 * dt)


EULER_STAGES = Stages((place_links, forces, free_motion, constrain, advance))
RUNGE_KUTTA_STAGES = Stages((runge_kutta_step,))
METHOD = Definition(
    __name__, Options, Work, make_work,
    lambda options: RUNGE_KUTTA_STAGES if options.integrator in TABLEAUS else EULER_STAGES,
    ends_within=lambda options: options.integrator in TABLEAUS,
    guarantees={"books": lambda options: options.integrator not in TABLEAUS})
register(__name__)
