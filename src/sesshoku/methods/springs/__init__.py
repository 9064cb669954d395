"""`springs`: every link a free body, joints and contacts as constrained springs, swept polyhedra.

The method of D. Kuroda's master's thesis (Chuo University, 2002) on interactive simulation of changing frictional
contact and multi-joint structures. A constrained spring is a spring and a damper with a limit of its stretch: within
the limit an explicit penalty force, beyond it a constraint force that is found at the end of the step.

    (2.13) (2.14) forces and torques        pulling.add_force
    (2.26) gyroscopic torque                bodies.load_bodies
    (2.30) (2.33) spring and damper         pulling.pull_joints, friction.press_static
    (3.5) (3.6) symplectic Euler            bodies.free_velocities, bodies.advance
    (3.19) (3.20) (4.3)-(4.6) constraint    methods/springs/solve/descent.py
    5.1 B-reps, shrunken copies             collision/swept/brep.py, shrink.py
    5.2 (5.1) (5.2) crossings, L0 and L1    collision/swept/sweep.py, crossing.py
    (5.3)-(5.8) anchors                     anchors.attach, anchors.edge_cases
    (5.9) kinetic friction                  friction.press_sliding
    (5.10)-(5.12) becoming static           contacts.carry_over
    (5.13)-(5.16) static friction           friction.press_static, friction.breaks_loose
    5.6.2 life of a spring                  contacts.find_contacts
    chapter 6 joints                        joints.py, drives.py
    chapter 7 trees of boxes                collision/swept/tree.py

Deviations from the thesis, and why:
- (4.3) is squared: a first power has a kink on which Armijo's rule stalls. The direction is steepest in the metric of
  kinetic energy, since metres and radians do not add. Every island of bodies is descended on its own: the sum is exact.
- 3-D rotations by exponentials; the gyroscopic torque of a fast spin is its mean over the step.
- Servos, joint springs and dampers are linearly implicit: explicit ones are far beyond what the inertia of a single
  small link bears. In joint space, with the joints' reactions (drives.py); or, where joints' springs are implicit too
  (an option), all in the inertia the descent works with (coupling.py). Armature turns with the child link alone.
- A descent takes at least one step while any spring is beyond its limit, if only within the tolerance: otherwise a load
  that sinks by less than it in a step is borne by every second step, twice as hard.
- The anchor shift of (5.10) is measured in metres: parameters of a triangle jump at its borders.
- The total normal force is never negative, and friction is nothing where it is nothing.
- Prismatic, spherical and planar joints and loops are built of springs as the revolute joint is; a limit also has a
  stop, held like any spring's limit. A contact too deep for the shrunken shapes is kept while it lasts, and found
  where a scene begins with it.
- Errata of the print are listed in docs/methods/springs.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.contacts import as_contacts, make_contacts
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW
from sesshoku.collision.swept.brep import as_breps, make_breps
from sesshoku.collision.swept.sweep import as_events, as_sweeps, make_events, make_sweeps
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.actuation import advance_activations
from sesshoku.dynamics.data import as_data
from sesshoku.integrate.position import move_kinematic
from sesshoku.methods.features import restitution, sentence, turning_friction
from sesshoku.methods.registry import register
from sesshoku.methods.springs.apply import list_springs, momentum_residual, report_joints, report_step
from sesshoku.methods.springs.bodies import (
    advance,
    follow_script,
    free_velocities,
    load_bodies,
    read_joints,
    take_state,
)
from sesshoku.methods.springs.contacts import find_contacts, find_passing
from sesshoku.methods.springs.coupling import start_coupling
from sesshoku.methods.springs.drives import drive_joints, drive_mimics, rub_joints, settle_drives, want_drives
from sesshoku.methods.springs.friction import press_contacts, rub_after, stiffen_contacts
from sesshoku.methods.springs.joints import let_go, place_anchors
from sesshoku.methods.springs.options import (
    COUPLED,
    FRICTION_NORMAL,
    IMPLICIT_JOINTS,
    MOST_ITERATIONS,
    MOST_SWEEPS,
    NEWTON,
    SUBSTEP_ANGLE,
    TOLERANCE,
    Options,
    parameters,
)
from sesshoku.methods.springs.pulling import pull_joints, turn_axes
from sesshoku.methods.springs.sensing import leave_motion, start_motion
from sesshoku.methods.springs.solve.descent import ITERATIONS, as_springs, descend, make_springs, predict
from sesshoku.methods.springs.stability import cautions, turned_inertia
from sesshoku.methods.springs.work import (
    LENT,
    LOST,
    PRESSES,
    STRAY,
    as_bodies,
    as_joints,
    as_presses,
    inert,
    lent_inertia,
    make_bodies,
    make_joints,
    make_presses,
    moving_top,
    shape_margins,
)
from sesshoku.model.arrays import KINEMATIC, as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.geometry.shapes import Mesh
from sesshoku.stages.report import MOMENTUM_RESIDUAL

#: the options that measured best (docs/methods/springs.md)
PRESETS = {"recommended": Options(joint_springs="implicit", friction_anchor="drag", static_damping="isotropic",
                                  rest_damping="critical", friction_normal="coupled", constraint_solver="gauss-newton",
                                  constraint_tol=0.05, rotation="momentum", substep_angle=0.1,
                                  max_correction_speed=1.0)}
MOST_CONTACTS = 8192
MOST_SUBSTEPS = 16
DRIVE_ROUNDS = 6  # of finding which servos are at their effort
RUBBING_ROUNDS = 3  # of friction by the constraint force and the constraint force it calls for
STATE = {
    "contacts": CONTACT_STATE + CONTACT_VIEW,
    "bodies": ("position", "quaternion", "rotation", "velocity", "seen_q", "seen_v"),
    "joints": ("state", "hold", "old_speed", "hardening", "report"),
    "springs": ("local", "body", "counts", "holds", "normal", "result", "guess", "held"),
    "presses": ("counts", "key", "variant", "feature", "shape", "state", "age", "normal", "depth", "moved", "place",
                "drag", "held", "id", "limit", "mu", "point", "foot", "facing", "fresh"),
}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts as users see them, bodies, joints, springs, contact springs, polyhedra and the sweeps' work space."""
    model = compiled.model
    bodies = make_bodies(model)
    joints, rows = make_joints(compiled, bodies, options)
    joints.inertia[:] = turned_inertia(compiled)
    breps = make_breps(compiled, shape_margins(compiled, options), options.merge_coplanar)
    used = int(breps.vertex_used.sum() + breps.edge_used.sum())
    capacity = min(2 * used + 64, MOST_CONTACTS)
    ties = [rows[s]["body"] for s in np.argsort(joints.tie, kind="stable") if joints.tie[s] >= 0]
    springs = make_springs(model.link_count + 1, len(rows) + capacity, ties, moving_top(bodies))
    springs.counts[0] = len(rows)
    for n, row in enumerate(rows):
        springs.body[n] = row["body"]
        springs.local[n] = np.array(row["local"])
    return {"contacts": make_contacts(model, capacity, 1), "bodies": bodies, "joints": joints, "springs": springs,
            "presses": make_presses(compiled, breps, len(rows), capacity), "breps": breps,
            "sweeps": make_sweeps(breps), "events": make_events(capacity)}


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: trees without any mass, which have no motion of their own."""
    model, reasons = compiled.model, []
    lent = lent_inertia(model)
    for i in range(model.link_count):
        if model.link_joint[i] != KINEMATIC and i not in lent and not inert(model, i):
            reasons.append(f"body {compiled.link_names[i]!r} has no mass or inertia of its own: every link is a free "
                           f"body here")
    for body in compiled.scene.bodies.values():
        for geometry in body.geometries:
            if geometry.collides and isinstance(geometry.shape, Mesh) and not geometry.shape.pieces:
                reasons.append(f"a mesh of body {body.name!r} was loaded without its convex pieces: contacts cannot be "
                               f"listed")
    return reasons


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out.

    Restitution (dampers decide how bodies part), friction against turning, and that links have no mass: every link is a
    free body here, and one without mass is lent some.
    """
    massless = [compiled.link_names[i] for i in lent_inertia(compiled.model)]
    said = sentence(f"the lack of mass or inertia (lent: {100 * LENT:g} % of the next link's)", massless)
    return restitution(compiled) + turning_friction(compiled) + said


#: what the contract suite may hold the method to: friction follows the spring's part of the normal force, so the
#: damper's part puts it outside the cone; springs give back energy
GUARANTEES = {
    "friction_bound": lambda options: 1.0 if options.friction_normal == "coupled" and options.friction_anchor == "drag"
    else 1e9,
    "passive": lambda options: False,
    "elastic": lambda options: True,
    "books": lambda options: False,
}

register(__name__)


@jit
def run(model_table, data_table, contact_table, body_table, joint_table, spring_table, press_table, brep_table,
        sweep_table, event_table, options, dt, steps):
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    bodies, joints, springs = as_bodies(body_table), as_joints(joint_table), as_springs(spring_table)
    presses, breps, sweeps = as_presses(press_table), as_breps(brep_table), as_sweeps(sweep_table)
    events = as_events(event_table)
    for n in range(steps):
        if not step(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
            return n
    return steps


@jit
def step(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    """One step, or several parts of one where a body turns fast; False if its result is not finite."""
    start(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, dt)
    parts = substeps(model, bodies, options, dt)
    h = dt / parts
    for _ in range(parts):
        forces(model, data, bodies, joints, springs, presses, breps, options, h)
        constrain(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, h)
        if let_go(model, data, bodies, joints, springs, options, h):
            forces(model, data, bodies, joints, springs, presses, breps, options, h)
            constrain(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, h)
        measure(model, data, contacts, bodies, joints, springs, presses, options, h)
        if not move(model, data, bodies, joints, springs, presses, options, h):
            return False
        find_contacts(breps, sweeps, events, bodies, springs, presses, options, h)
    return True


@jit
def start(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    """Bodies where the user or a script has put them; contacts there, if they are not known."""
    if take_state(model, data, bodies):
        presses.fresh[0] = 1
    if presses.fresh[0]:
        find_contacts(breps, sweeps, events, bodies, springs, presses, options, dt)


@jit
def substeps(model, bodies, options, dt):
    """Into how many parts a step is divided, so that no body turns by more than `substep_angle` in one."""
    fastest = 0.0
    for b in range(model.link_count):
        u = bodies.velocity[b]
        fastest = max(fastest, u[3] * u[3] + u[4] * u[4] + u[5] * u[5])
    turn = dt * fastest**0.5 / options[SUBSTEP_ANGLE]
    return min(MOST_SUBSTEPS, 1 + int(turn)) if turn < 1e6 else MOST_SUBSTEPS


@jit
def forces(model, data, bodies, joints, springs, presses, breps, options, dt):
    """All forces at the beginning of the step, and the velocities they give: f_ext of (3.20)."""
    want_drives(model, data, joints, dt)
    load_bodies(model, data, bodies, springs, options, dt)
    place_anchors(model, data, bodies, joints, springs, options, dt)
    start_coupling(model, bodies, joints, springs, int(options[IMPLICIT_JOINTS]))
    pull_joints(model, bodies, joints, springs, options, dt)
    turn_axes(model, bodies, joints, springs, dt)
    stiffen_contacts(breps, bodies, springs, presses, options, dt)
    press_contacts(bodies, springs, presses, options, dt)
    for b in range(springs.body_count):
        for a in range(6):
            bodies.base[b, a] = bodies.force[b, a]
    drive(model, data, bodies, joints, springs, options, dt)


@jit
def drive(model, data, bodies, joints, springs, options, dt):
    """What drives the joints added to all other forces, and the velocities these give."""
    for b in range(springs.body_count):
        for a in range(6):
            bodies.force[b, a] = bodies.base[b, a]
    drive_joints(model, data, bodies, joints, springs, options, dt)
    free_velocities(model, bodies, springs, dt)
    rub_joints(model, data, bodies, joints, springs, dt)
    drive_mimics(model, data, bodies, springs, dt)
    for b in range(springs.body_count):
        for a in range(6):
            springs.free[b, a] = springs.velocity[b, a]


@jit
def constrain(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    """Velocities that keep every spring within its limit; again if a servo comes to its effort or leaves it by that."""
    for n in range(DRIVE_ROUNDS):
        if n > 0:
            drive(model, data, bodies, joints, springs, options, dt)
        hold(model, bodies, springs, presses, breps, sweeps, events, options, dt)
        if not options[IMPLICIT_JOINTS] or settle_drives(model, data, bodies, joints, springs, dt):
            break


@jit
def hold(model, bodies, springs, presses, breps, sweeps, events, options, dt):
    """Velocities that keep every spring within its limit, also those of what would pass through in this step (L0)."""
    presses.counts[LOST] = 0
    presses.counts[STRAY] = 0
    for s in range(springs.counts[0]):
        for a in range(3):
            springs.held[s, a] = 0.0
    for c in range(presses.counts[PRESSES]):
        springs.guess[presses.first + c] = size_of(presses.held[c])
        for a in range(3):
            presses.push[c, a] -= presses.rubbing[c, a]
            presses.rubbing[c, a] = 0.0
    iterations = 0.0
    for n in range(int(options[MOST_SWEEPS])):
        # at least one step, or a load that sinks by less than the tolerance in a step is borne by every second one
        descend(springs, dt, options[TOLERANCE], 1 if n == 0 else 0, int(options[MOST_ITERATIONS]),
                int(options[NEWTON]))
        iterations += springs.result[ITERATIONS]
        for b in range(springs.body_count):
            predict(springs, b, dt)
        new = find_passing(breps, sweeps, events, bodies, springs, presses, options, dt)
        if new == 0:
            break
        presses.counts[STRAY] = new
    if new == 0:
        presses.counts[STRAY] = 0
    for _ in range(RUBBING_ROUNDS if options[FRICTION_NORMAL] == COUPLED else 0):
        if not rub_after(bodies, springs, presses, dt):
            break
        # friction may open joints, and load contacts further
        descend(springs, dt, options[TOLERANCE], 0, int(options[MOST_ITERATIONS]), int(options[NEWTON]))
        iterations += springs.result[ITERATIONS]
    springs.result[ITERATIONS] = iterations
    for s in range(presses.first):
        springs.guess[s] = size_of(springs.held[s])


@jit
def size_of(f):
    return (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) ** 0.5


@jit
def measure(model, data, contacts, bodies, joints, springs, presses, options, dt):
    """Contacts and report of this step, at its beginning's poses."""
    list_springs(model, bodies, springs, presses, contacts, options)
    report_step(model, data, bodies, joints, springs, presses, dt)
    data.report[MOMENTUM_RESIDUAL] = momentum_residual(model, bodies, springs, dt)


@jit
def move(model, data, bodies, joints, springs, presses, options, dt):
    """Advance the bodies, scripted ones too, and read the joints off them."""
    for i in range(model.link_count):
        k = model.link_dof[i]
        for a in range(model.link_dof_count[i]):
            data.new_v[k + a] = springs.velocity[i, min(a, 5)]  # where a step fails, this says which body
    if not advance(model, bodies, springs, options, dt):
        return False
    move_kinematic(model, data, dt)
    follow_script(model, data, bodies)
    read_joints(model, data, bodies)
    report_joints(model, data, bodies, joints, springs)
    advance_activations(model, data, dt)
    data.time[0] += dt
    return True


# ---- the same stages one by one, for `Simulation.profile` ----------------------------------------------------------


@jit
def stage_nothing(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    """What a call of a stage costs."""


@jit
def stage_start(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    start(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, dt)


@jit
def stage_forces(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    forces(model, data, bodies, joints, springs, presses, breps, options, dt)


@jit
def stage_constrain(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    constrain(model, data, bodies, joints, springs, presses, breps, sweeps, events, options, dt)


@jit
def stage_measure(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    measure(model, data, contacts, bodies, joints, springs, presses, options, dt)


@jit
def stage_move(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    move(model, data, bodies, joints, springs, presses, options, dt)


@jit
def stage_find(model, data, contacts, bodies, joints, springs, presses, breps, sweeps, events, options, dt):
    find_contacts(breps, sweeps, events, bodies, springs, presses, options, dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step` (of one part of it)."""
    return {"start": stage_start, "forces": stage_forces, "constrain (with L0)": stage_constrain,
            "measure": stage_measure, "move": stage_move, "find contacts (L1)": stage_find}


__all__ = ["STATE", "Options", "cautions", "leave_motion", "make_records", "parameters", "run", "stages",
           "start_motion", "step", "supports"]
