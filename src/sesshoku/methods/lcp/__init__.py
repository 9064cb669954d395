"""`lcp`: contact by complementarity at acceleration level, projected Gauss-Seidel (an OpenHRP paper, Japanese; its
ideas on Kokkevis).

Normal and friction forces are unknown magnitudes along fixed directions; the relative accelerations at the contacts are
affine in them. Non-penetration and Coulomb bounds make a complementarity problem with bounds, solved by sweeps that
refresh the friction bound from the present normal force.

equation -> function
    (1) (6)    a = K f + a^0                                  matrix.solve_by_matrix, matrix.fill_by_test_forces
    (2)        wanted acceleration                            problem.choose_targets
    (2)-(5)    a_N - a_N^d >= 0 complementary to f_N >= 0     solvers.pgs.visit_normal, solvers.pgs_dense.solve_dense
    (6)        direction against the slip                     problem.choose_axes
    (7) (8)    kinetic friction  solvers.pgs.visit_tangents, solvers.pgs_dense.dense_tangents
    (11)       z = A x + b                                    matrix.solve_by_matrix, problem.choose_targets
    (12)-(14)  rows between bounds                            solvers.pgs.visit_joint, solvers.pgs_dense.solve_dense
    (15) (16)  bounds of forces                               solvers.pgs.visit_normal, solvers.pgs.visit_tangents
    section 4  static friction below 1e-3 m/s, random axes    problem.choose_axes (SQUARE)
    section 2  columns of K by unit test forces               matrix.fill_by_test_forces (dynamics.aba)
    section 5  rubber bushes                                  joints with springs (models/humanoid_large_bush)

Forces are kept as impulses, x = f dt, and accelerations as velocities: multiplied by dt, a^0 - a^d with a^d = -v/dt is
the velocity the step would end with (`free`) and K is the same matrix, so the two problems are one.

Deviations from the paper. b = a^0 - a^d (the paper prints +; a box then falls through the floor). Inequalities of
(12)-(14) are not strict. The four friction directions are two axes with both signs (the same forces). Random axes are
drawn once per contact from (seed, id). The centripetal term J' v enters for contact points fixed on a link, not for
rolling ones. Forces are held through the stages of RK4 as joint-space forces; a lone free body that turns by more than
a radian per step, where RK4 is unstable, turns by the midpoint rule instead; where servos or dampers are too stiff for
it the step is semi-implicit (stiffness.py). Rows of joint limits, joint friction,
loops and mimics join the same problem. An island with more than `DENSE_ROWS` rows is swept matrix-free whatever
`delassus_by` says. Defaults: 120 sweeps, start at zero, 1e-3 m/s: the paper's. Speed threshold of restitution 1e-2
m/s, early stop 1e-9: ours.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.integrate.fast_joints import FAST, FAST_TREES, RUNGE_KUTTA_FAST, find_fast
from sesshoku.integrate.position import move_kinematic
from sesshoku.integrate.rk4 import TABLEAU
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.methods.definition import Definition
from sesshoku.methods.features import rolling_friction
from sesshoku.methods.lcp.options import PRESETS, RK4, Options
from sesshoku.methods.lcp.problem import build_problem
from sesshoku.methods.lcp.solve import solve_islands
from sesshoku.methods.lcp.stiffness import TOO_STIFF, cautions, stage_step
from sesshoku.methods.lcp.work import Work, make_work
from sesshoku.methods.registry import register
from sesshoku.stages.common import find_points, place_links
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.free_motion import (
    RUNGE_KUTTA,
    SEMI_IMPLICIT,
    coast,
    finish,
    finish_turns,
    hold_fast_turns,
    unconstrained_velocity,
)
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.tunnelling import count_tunnelling


@jit
def free_motion(model, data, work, dt):
    """new_v: the velocity at the end without contacts, limits or joint friction."""
    options = work.options
    unconstrained_velocity(model, data, dt, stage_step(model, data, dt) if options.integrator == RK4 else dt)
    coast(model, data, dt, RUNGE_KUTTA_FAST if options.integrator == RK4 else FAST)


@jit
def apply(model, data, work, dt):
    """New velocity, forces of the contacts, report."""
    contacts = work.contacts
    apply_forces(model, data, work, dt)
    measure_errors(model, data, data.q)
    count_tunnelling(model, data, contacts, dt)


@jit
def advance(model, data, work, dt):
    """RK4 with the forces held, or semi-implicit Euler with the solved velocity; so too where joints turn fast or are
    driven too stiffly."""
    options = work.options
    if options.integrator == RK4 and data.counters[FAST_TREES] == 0 and data.counters[TOO_STIFF] == 0:
        for k in range(model.dof_count):
            data.start_v[k] = data.new_v[k]
        hold_fast_turns(model, data, dt)
        runge_kutta(model, data, TABLEAU, dt, data.new_q, data.new_v)
        if find_fast(model, data, data.new_v, dt, RUNGE_KUTTA_FAST, False) == 0:
            finish_turns(model, data, data.new_q, data.new_v)
            return finish(model, data, RUNGE_KUTTA, dt)
        move_kinematic(model, data, -dt)
        for k in range(model.dof_count):
            data.new_v[k] = data.start_v[k]
        kinematics(model, data, data.q)
        link_velocities(model, data, data.v)
    return finish(model, data, SEMI_IMPLICIT, dt)


METHOD = Definition(
    __name__, Options, Work, make_work,
    Stages((place_links, find_points, free_motion, build_problem, solve_islands, apply, advance)),
    presets=PRESETS, leaves_out=rolling_friction, cautions=cautions,
    ends_within=lambda options: options.integrator == "rk4",
    guarantees={
        # friction beyond mu_s times the normal force: the circumscribed square reaches sqrt(2)
        "friction_bound": lambda options: 2**0.5 if options.static_pyramid == "circumscribed" else 1.0,
        # e = 0, Euler, no depth correction, no J' v: contact never adds kinetic energy (up to the sweeps' tolerance)
        "passive": lambda options: options.integrator == "semi-implicit" and not options.centripetal
        and options.penetration_rate == 0.0,
        # J' v grows with the square of the spin: explicit, it throws a body that turns by radians per step ever faster
        "finite": lambda options: not options.centripetal,
        "books": lambda options: options.integrator == "semi-implicit",
    })
register(__name__)
