"""`lcp`: contact by complementarity at acceleration level, projected Gauss-Seidel (an OpenHRP paper, Japanese; its
ideas on Kokkevis).

Normal and friction forces are unknown magnitudes along fixed directions; the relative accelerations at the contacts are
affine in them. Non-penetration and Coulomb bounds make a complementarity problem with bounds, solved by sweeps that
refresh the friction bound from the present normal force.

equation -> function
    (1)-(5)   a_N - a_N^d >= 0 complementary to f_N >= 0       `choose_targets`, solvers.pgs.visit_normal
    (6)-(8)   kinetic friction: one direction against the slip   `choose_axes` (SLIDE)
    (11)-(16) MCP and sweeps                                    solvers.pgs_dense.solve_dense, solvers.pgs
    section 4 static friction below 1e-3 m/s, random axes       `choose_axes` (SQUARE)
    section 2 columns of K by unit test forces                  `fill_by_test_forces` (dynamics.aba)
    section 5 rubber bushes                                     joints with springs (models/humanoid_large_bush)

Forces are kept as impulses, x = f dt, and accelerations as velocities: multiplied by dt, a^0 - a^d with a^d = -v/dt is
the velocity the step would end with (`free`) and K is the same matrix, so the two problems are one.

Deviations from the paper. b = a^0 - a^d (the paper prints +; a box then falls through the floor). Inequalities of
(12)-(14) are not strict. The four friction directions are two axes with both signs (the same forces). Random axes are
drawn once per contact from (seed, id). The centripetal term J' v enters for contact points fixed on a link, not for
rolling ones. Forces are held through the stages of RK4 as joint-space forces; a lone free body that turns by more than
a radian per step, where RK4 is unstable, turns by the midpoint rule instead. Rows of joint limits, joint friction,
loops and mimics join the same problem. An island with more than `DENSE_ROWS` rows is swept matrix-free whatever
`delassus_by` says. Defaults: 120 sweeps, start at zero, 1e-3 m/s: the paper's. Speed threshold of restitution 1e-2
m/s, early stop 1e-9: ours.
"""

from __future__ import annotations

from typing import Any

from sesshoku.collision.contacts import as_contacts, make_contacts
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW, contact_capacity, detect, pair_capacity
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.fast_joints import FAST, FAST_TREES, RUNGE_KUTTA_FAST, find_fast
from sesshoku.integrate.position import move_kinematic
from sesshoku.integrate.rk4 import TABLEAU
from sesshoku.integrate.runge_kutta import runge_kutta
from sesshoku.methods.features import turning_friction
from sesshoku.methods.lcp.options import AHEAD, MARGIN, MOST, PRESETS, RK4, Options, parameters
from sesshoku.methods.lcp.problem import pose_problem
from sesshoku.methods.lcp.solve import solve_islands
from sesshoku.methods.lcp.work import as_memory, make_memory
from sesshoku.methods.registry import register
from sesshoku.model.arrays import as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.problem import as_problem
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.free_motion import (
    RUNGE_KUTTA,
    SEMI_IMPLICIT,
    SPIN,
    coast,
    finish,
    finish_turns,
    free_velocity,
    hold_fast_turns,
    joint_space_inertia,
)
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.tunnelling import count_tunnelling

STATE = {
    "contacts": CONTACT_STATE + CONTACT_VIEW,
    "memory": ("old_impulse", "slip", "old_v"),
}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts, the problem's rows, and the method's memory, in the order `run` takes them."""
    contacts = make_contacts(compiled.model, contact_capacity(compiled.model), pair_capacity(compiled.model))
    problem, memory = make_memory(compiled, contacts, options)
    return {"contacts": contacts, "problem": problem, "memory": memory}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: friction against turning."""
    return turning_friction(compiled)


#: what the contract suite may hold the method to
GUARANTEES = {
    # friction beyond mu_s times the normal force: the circumscribed square reaches sqrt(2)
    "friction_bound": lambda options: 2**0.5 if options.static_pyramid == "circumscribed" else 1.0,
    # e = 0, Euler, no depth correction, no J' v: contact never adds kinetic energy (up to the sweeps' tolerance)
    "passive": lambda options: options.integrator == "semi-implicit" and not options.centripetal
    and options.penetration_rate == 0.0,
    # J' v grows with the square of the spin: explicit, it throws a body that turns by radians per step ever faster
    "finite": lambda options: not options.centripetal,
    "books": lambda options: options.integrator == "semi-implicit",
}

register(__name__)


@jit
def run(model_table, data_table, contact_table, problem_table, memory_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    problem, memory = as_problem(problem_table), as_memory(memory_table)
    for n in range(steps):
        if not step(model, data, contacts, problem, memory, options, dt):
            return n
    return steps


@jit(inline="always")
def step(model, data, contacts, problem, memory, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    detect(model, data, contacts, options[MARGIN], options[AHEAD] * dt, int(options[MOST]))
    forces(model, data, options, dt)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN)
    coast(model, data, dt, RUNGE_KUTTA_FAST if options[RK4] else FAST)
    pose_problem(model, data, contacts, problem, memory, options, dt)
    solve_islands(model, data, contacts, problem, memory, options, dt)
    apply(model, data, contacts, problem, memory, dt)
    return advance(model, data, options, dt)


@jit
def forces(model, data, options, dt):
    """Actuators, springs, external forces."""
    joint_forces(model, data, data.q, data.v, 0.0 if options[RK4] else dt, 1.0)
    external_wrenches(model, data)


@jit
def apply(model, data, contacts, problem, memory, dt):
    """New velocity, forces of the contacts, report."""
    apply_forces(model, data, contacts, problem, memory, dt)
    measure_errors(model, data, data.q)
    count_tunnelling(model, data, contacts, dt)


@jit
def advance(model, data, options, dt):
    """RK4 with the forces held, or semi-implicit Euler with the solved velocity; so too where joints turn fast."""
    if options[RK4] and data.counters[FAST_TREES] == 0:
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


@jit
def stage_nothing(model, data, contacts, problem, memory, options, dt):
    """What a call of a stage costs."""


@jit
def stage_kinematics(model, data, contacts, problem, memory, options, dt):
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def stage_detect(model, data, contacts, problem, memory, options, dt):
    detect(model, data, contacts, options[MARGIN], options[AHEAD] * dt, int(options[MOST]))


@jit
def stage_free(model, data, contacts, problem, memory, options, dt):
    forces(model, data, options, dt)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN)
    coast(model, data, dt, RUNGE_KUTTA_FAST if options[RK4] else FAST)


@jit
def stage_apply(model, data, contacts, problem, memory, options, dt):
    apply(model, data, contacts, problem, memory, dt)


@jit
def stage_advance(model, data, contacts, problem, memory, options, dt):
    advance(model, data, options, dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step`."""
    return {
        "kinematics": stage_kinematics,
        "detect": stage_detect,
        "free motion": stage_free,
        "pose problem": pose_problem,
        "solve": solve_islands,
        "apply forces": stage_apply,
        "advance": stage_advance,
    }


__all__ = ["PRESETS", "STATE", "Options", "make_records", "parameters", "run", "stages", "step", "supports"]
