"""`multipoint`: rigid impact at many points with a removal loop (a paper by Sugihara and Nakamura, Japanese).

Every state of contact (point, edge, face, or a mixture) is a set of points. Each point's velocity after the step is
predicted by an ideal impact law, one linear system of all points is solved for the impulses that realise it, of
smallest norm where they are not determined; points that pull leave and the rest is solved again; friction is cut to
Coulomb's law at the end, with static and kinetic coefficients apart.

equation -> function
    (1)-(5)   motion, K_i = (dp_i/dq)^T                       contact_rows, joint_rows (methods/)
    (6)-(10)  slip direction and speed, decomposition         `pose.split_velocity`
    (11)(12)  impact law                                      `pose.choose_target`
    (13)-(17) M, velocity change                              `islands.fill_island`
    (18)(19)  inverse or pseudo-inverse                       solvers.minimum_norm.solve_symmetric
    (20)      mean force                                      contact_forces.apply_forces
    (24)      removal of points that pull                     `removal.removal_loop`
    (25)-(28) static or kinetic, friction                     `friction.classify`, `friction.cut_friction`
    steps 9, 10  acceleration, integration                    free_motion.finish (semi-implicit Euler)

Deviations from the paper. The two cases of (6) are swapped in print. (11) acts on approaching points only: printed, it
sends a separating point back into the surface. M is singular from two points on a link, not four. Where (17) has no
solution its least-squares solution is taken, which does not depend on the order of rows; where it has one, that is the
paper's. Kinetic friction is -mu_K f_n along the slip (printed without the sign), or along the trial force where the
point does not slip yet; friction of a sticking point keeps both its components. Points are removed below -1e-10 of the
largest normal force. Step 7 goes back to step 5: the wanted velocities do not change. Bodies that touch each other,
loops, mimics, joint limits (which leave when they pull) and joint friction (held at its bound when that is passed) are
rows of the same system; joint rows are scaled to the size of the contacts' rows. Semi-implicit Euler, under which (13)
is met exactly. Defaults: slip threshold 5e-3 m/s, rank tolerance 1e-9: ours, the paper names none.

What else it can do stands in `options`: `stick_target`, `friction_coupling`, `readmit`, `penetration_rate`.
"""

from __future__ import annotations

from typing import Any

from sesshoku.collision.contacts import CONTACTS, RELEASED, SLIP, STICK, as_contacts, make_contacts
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW, contact_capacity, detect, pair_capacity
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.fast_joints import FAST
from sesshoku.methods.features import turning_friction
from sesshoku.methods.multipoint.options import AHEAD, MARGIN, MOST, PRESETS, Options, parameters
from sesshoku.methods.multipoint.problem import pose_problem
from sesshoku.methods.multipoint.solve import solve_islands
from sesshoku.methods.multipoint.work import as_memory, make_memory
from sesshoku.methods.registry import register
from sesshoku.model.arrays import as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.minimum_norm import as_norm_work
from sesshoku.solvers.problem import as_problem
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.free_motion import SEMI_IMPLICIT, SPIN, coast, finish, free_velocity, joint_space_inertia
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.tunnelling import count_tunnelling

STATE = {"contacts": CONTACT_STATE + CONTACT_VIEW}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts, the problem's rows, and work space, in the order `run` takes them."""
    contacts = make_contacts(compiled.model, contact_capacity(compiled.model), pair_capacity(compiled.model))
    problem, memory, norm = make_memory(compiled, contacts)
    return {"contacts": contacts, "problem": problem, "memory": memory, "norm": norm}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: friction against turning."""
    return turning_friction(compiled)


#: what the contract suite may hold the method to
GUARANTEES = {
    "friction_bound": lambda options: 1.0,
    # friction after the normal solve can bring energy; how often is measured (experiment multipoint/energy)
    "passive": lambda options: False,
}

register(__name__)


@jit
def run(model_table, data_table, contact_table, problem_table, memory_table, norm_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    problem, memory, norm = as_problem(problem_table), as_memory(memory_table), as_norm_work(norm_table)
    for n in range(steps):
        if not step(model, data, contacts, problem, memory, norm, options, dt):
            return n
    return steps


@jit(inline="always")
def step(model, data, contacts, problem, memory, norm, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    detect(model, data, contacts, options[MARGIN], options[AHEAD] * dt, int(options[MOST]))
    free_motion(model, data, dt)
    pose_problem(model, data, contacts, problem, memory, norm, options, dt)
    solve_islands(model, data, contacts, problem, memory, norm, options, dt)
    apply(model, data, contacts, problem, memory, dt)
    return finish(model, data, SEMI_IMPLICIT, dt)


@jit
def free_motion(model, data, dt):
    """new_v: the velocity at the end without contacts, limits or joint friction."""
    joint_forces(model, data, data.q, data.v, dt, 1.0)
    external_wrenches(model, data)
    joint_space_inertia(model, data)
    free_velocity(model, data, dt, SPIN)
    coast(model, data, dt, FAST)


@jit
def apply(model, data, contacts, problem, memory, dt):
    """New velocity, forces and states of the contacts, report."""
    apply_forces(model, data, contacts, problem, memory, dt)
    for c in range(contacts.counts[CONTACTS]):
        loaded = problem.impulse[c, 2] > 0.0
        contacts.state[c] = RELEASED if not loaded else (SLIP if memory.slips[c] else STICK)
    measure_errors(model, data, data.q)
    count_tunnelling(model, data, contacts, dt)


@jit
def stage_nothing(model, data, contacts, problem, memory, norm, options, dt):
    """What a call of a stage costs."""


@jit
def stage_kinematics(model, data, contacts, problem, memory, norm, options, dt):
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def stage_detect(model, data, contacts, problem, memory, norm, options, dt):
    detect(model, data, contacts, options[MARGIN], options[AHEAD] * dt, int(options[MOST]))


@jit
def stage_free(model, data, contacts, problem, memory, norm, options, dt):
    free_motion(model, data, dt)


@jit
def stage_apply(model, data, contacts, problem, memory, norm, options, dt):
    apply(model, data, contacts, problem, memory, dt)


@jit
def stage_advance(model, data, contacts, problem, memory, norm, options, dt):
    finish(model, data, SEMI_IMPLICIT, dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step`."""
    return {"kinematics": stage_kinematics, "detect": stage_detect, "free motion": stage_free,
            "pose problem": pose_problem, "solve": solve_islands, "apply forces": stage_apply, "advance": stage_advance}


__all__ = ["PRESETS", "STATE", "Options", "make_records", "parameters", "run", "stages", "step", "supports"]
