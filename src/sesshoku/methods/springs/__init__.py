"""`springs`: every link a free body, joints and contacts as constrained springs, swept polyhedra.

The method of D. Kuroda's master's thesis (Chuo University, 2002) on interactive simulation of changing frictional
contact and multi-joint structures. A constrained spring is a spring and a damper with a limit of its stretch: within
the limit an explicit penalty force, beyond it a constraint force that is found at the end of the step.

equation -> function
    (2.1)          points of bodies                     joint.joints.world_anchor, contact.anchors.to_world
    (2.2) (2.3)    and their velocities                 bodies.point_velocity
    (2.12)-(2.14)  forces and torques                   joint.pulling.add_at, joint.pulling.add_force
    (2.23) (2.26)  gyroscopic torque                    bodies.load_bodies
    (2.28)         rotation                             bodies.advance
    (2.29) (2.31) (2.32)  stretch and its limit         solve.descent.stretch
    (2.30) (2.33)  spring and damper                    joint.pulling.pull_joints, contact.friction.press_static
    (3.5) (3.6)    symplectic Euler                     bodies.free_velocities, bodies.advance
    (3.12)-(3.14)  the largest step                     stability.largest_step
    (3.19) (3.20)  with constraint force  solve.descent.predict, bodies.advance, bodies.free_velocities
    (4.3)-(4.6)  descent  solve.descent.penalty, solve.descent.penalty_gradient, solve.descent.descend_island
    5.1            B-reps, shrunken copies              collision/swept/brep.py, shrink.py
    (5.1) (5.2)    crossings  collision.swept.crossing.edge_distance, collision.swept.crossing.edge_edge
    5.3            L0 and L1                            collision/swept/sweep.py
    (5.3)          anchors in faces                     contact.anchors.attach_to_face
    (5.4)-(5.6)    anchors on edges                     contact.anchors.edge_points, contact.anchors.attach
    (5.7) (5.8)    which feature pushes                 contact.anchors.in_wedge, contact.anchors.near_end
    (5.9)          kinetic friction                     contact.friction.press_sliding
    (5.10)-(5.12)  place of an anchor                   contact.contacts.measure_place
    5.6            becoming static                      contact.contacts.carry_over
    (5.13)-(5.16)  static friction                      joint.joints.anchor_distance, contact.friction.friction_excess
    5.6.2          life of a spring                     contact.contacts.find_contacts
    chapter 6      joints                               joint/joints.py, joint/drives.py
    (7.1)          trees of boxes                       collision.swept.tree.boxes_overlap
    (7.2)          cost                                 collision.swept.sweep.walk_trees
    (7.3)-(7.12)   slabs                                collision.swept.tree.widen, collision.swept.tree.outside_slab

Deviations from the thesis, and why:
- (4.3) is squared: a first power has a kink on which Armijo's rule stalls. The direction is steepest in the metric of
  kinetic energy, since metres and radians do not add. Every island of bodies is descended on its own: the sum is exact.
- 3-D rotations by exponentials; the gyroscopic torque of a fast spin is its mean over the step.
- Servos, joint springs and dampers are linearly implicit: explicit ones are far beyond what the inertia of a single
  small link bears. In joint space, with the joints' reactions (joint/drives.py); or, where joints' springs are implicit
  too (an option), all in the inertia the descent works with (joint/coupling.py). Armature then turns against the
  parent, as it should; with explicit joints with the child link alone. It is no gyroscope: the rotor of a light link
  would nutate far faster than steps can follow.
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

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.dynamics.actuation import advance_activations
from sesshoku.integrate.position import move_kinematic
from sesshoku.methods.definition import Definition
from sesshoku.methods.features import borne_efforts, restitution, rolling_friction, sentence
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
from sesshoku.methods.springs.contact.contacts import drop_passing, find_contacts, find_passing
from sesshoku.methods.springs.contact.friction import free_contacts, press_contacts, rub_after, stiffen_contacts
from sesshoku.methods.springs.gather import Work, make_work
from sesshoku.methods.springs.joint.coupling import start_coupling
from sesshoku.methods.springs.joint.drives import (
    drive_joints,
    drive_mimics,
    rub_joints,
    settle_drives,
    want_drives,
)
from sesshoku.methods.springs.joint.joints import let_go, place_anchors
from sesshoku.methods.springs.joint.pulling import pull_joints, turn_axes
from sesshoku.methods.springs.options import COUPLED, IMPLICIT_JOINTS, Options
from sesshoku.methods.springs.sensing import leave_motion, start_motion
from sesshoku.methods.springs.solve.descent import ITERATIONS, descend, predict, spin
from sesshoku.methods.springs.stability import cautions
from sesshoku.methods.springs.view import contact_springs
from sesshoku.methods.springs.work import LENT, LOST, PRESSES, STRAY, inert, lent_inertia
from sesshoku.methods.tendon_features import tendon_rows
from sesshoku.model.arrays import KINEMATIC
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.geometry.shapes import Mesh
from sesshoku.stages.report import MOMENTUM_RESIDUAL

#: the options that measured best (docs/methods/springs.md)
PRESETS = {"recommended": Options(joint_springs="implicit", joint_axis="inertia", friction_anchor="drag",
                                  static_damping="isotropic", rest_damping="critical", friction_normal="coupled",
                                  constraint_solver="gauss-newton", constraint_tol=0.05, rotation="momentum",
                                  substep_angle=0.1, max_correction_speed=1.0)}
MOST_SUBSTEPS = 16
FINER = 3.0  # times as many parts where forces, not the spin at the start, turn a body far
DRIVE_ROUNDS = 6  # of finding which servos are at their effort
RUBBING_ROUNDS = 3  # of friction by the constraint force and the constraint force it calls for
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

    Restitution (dampers decide how bodies part), friction against turning, limits and friction of tendons, efforts of
    joints that bear gravity compensation, and that links have no mass: every link is a free body here, and one without
    mass is lent some.
    """
    massless = [compiled.link_names[i] for i in lent_inertia(compiled.model)]
    said = sentence(f"the lack of mass or inertia (lent: {100 * LENT:g} % of the next link's)", massless)
    return restitution(compiled) + rolling_friction(compiled) + tendon_rows(compiled) + borne_efforts(compiled) + said


@jit
def start(model, data, work, dt):
    """Bodies where the user or a script has put them; contacts there, if they are not known."""
    bodies, presses = work.bodies, work.presses
    bodies.step[0] = dt
    if take_state(model, data, bodies):
        presses.fresh[0] = 1
    if presses.fresh[0]:
        find_contacts(work, dt)


@jit
def substeps(model, data, work, dt):
    """Into how many parts a step is divided, so that no body turns by more than `substep_angle` in one."""
    fastest = 0.0
    for b in range(model.link_count):
        fastest = max(fastest, spin(work.bodies.velocity[b]))
    return parts_of_turn(dt * fastest / work.options.substep_angle)


@jit
def forced_spin(model, work):
    """The fastest spin that the forces just found give a body which did not have two thirds of it before, rad/s."""
    fastest = 0.0
    for b in range(model.link_count):
        new = spin(work.springs.velocity[b])
        if new > 1.5 * spin(work.bodies.velocity[b]):
            fastest = max(fastest, new)
    return fastest


@jit
def parts_of_turn(turn):
    """Parts for a turn in units of the largest one."""
    return min(MOST_SUBSTEPS, 1 + int(turn)) if turn < 1e6 else MOST_SUBSTEPS


@jit
def forces(model, data, work, dt):
    """All forces at the beginning of the step, and the velocities they give: f_ext of eq. (3.20)."""
    bodies, joints, springs, options = work.bodies, work.joints, work.springs, work.options
    want_drives(model, data, joints, dt)
    load_bodies(model, data, work, dt)
    place_anchors(model, data, work, dt)
    start_coupling(model, data, bodies, joints, springs, options.joint_springs)
    pull_joints(model, work, dt)
    turn_axes(model, bodies, joints, springs, dt)
    stiffen_contacts(work)
    press_contacts(work, dt)
    for b in range(springs.body_count):
        for a in range(6):
            bodies.base[b, a] = bodies.force[b, a]
    drive(model, data, work, dt)


@jit
def drive(model, data, work, dt):
    """What drives the joints added to all other forces, and the velocities these give."""
    bodies, springs = work.bodies, work.springs
    for b in range(springs.body_count):
        for a in range(6):
            bodies.force[b, a] = bodies.base[b, a]
    drive_joints(model, data, work, dt)
    free_velocities(model, bodies, springs, dt)
    rub_joints(model, data, work, dt)
    drive_mimics(model, data, work, dt)
    for b in range(springs.body_count):
        for a in range(6):
            springs.free[b, a] = springs.velocity[b, a]


@jit
def constrain(model, data, work, dt):
    """Velocities that keep every spring within its limit; again if a servo comes to its effort or leaves it by that."""
    options = work.options
    for n in range(DRIVE_ROUNDS):
        if n > 0:
            drive(model, data, work, dt)
        hold(model, work, dt)
        if options.joint_springs != IMPLICIT_JOINTS or settle_drives(model, data, work, dt):
            break


@jit
def hold(model, work, dt):
    """Velocities that keep every spring within its limit, also those of what would pass through in this step (L0)."""
    springs, presses, options = work.springs, work.presses, work.options
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
    for n in range(options.max_rounds):
        # at least one step, or a load that sinks by less than the tolerance in a step is borne by every second one
        descend(springs, dt, options.constraint_tol, 1 if n == 0 else 0, options.max_iterations,
                options.constraint_solver)
        iterations += springs.result[ITERATIONS]
        for b in range(springs.body_count):
            predict(springs, b, dt)
        new = find_passing(work, dt)
        if new == 0:
            break
        presses.counts[STRAY] = new
    if new == 0:
        presses.counts[STRAY] = 0
    for _ in range(RUBBING_ROUNDS if options.friction_normal == COUPLED else 0):
        if not rub_after(work, dt):
            break
        # friction may open joints, and load contacts further
        descend(springs, dt, options.constraint_tol, 0, options.max_iterations, options.constraint_solver)
        iterations += springs.result[ITERATIONS]
    springs.result[ITERATIONS] = iterations
    for s in range(presses.first):
        springs.guess[s] = size_of(springs.held[s])


@jit
def size_of(f):
    return (f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) ** 0.5


@jit
def measure(model, data, work, dt):
    """Contacts and report of this step, at its beginning's poses."""
    bodies, springs = work.bodies, work.springs
    dt /= bodies.parts[0]
    list_springs(model, work)
    report_step(model, data, work, dt)
    data.report[MOMENTUM_RESIDUAL] = momentum_residual(model, bodies, springs, dt)


@jit
def move(model, data, work, dt):
    """Advance the bodies, scripted ones too, and read the joints off them."""
    bodies, joints, springs = work.bodies, work.joints, work.springs
    dt /= bodies.parts[0]
    for i in range(model.link_count):
        k = model.link_dof[i]
        for a in range(model.link_dof_count[i]):
            joints.released[k + a] = 0
            data.new_v[k + a] = springs.velocity[i, min(a, 5)]  # where a step fails, this says which body
    if not advance(model, work, dt):
        return False
    move_kinematic(model, data, dt)
    follow_script(model, data, bodies)
    read_joints(model, data, bodies)
    report_joints(model, data, bodies, joints, springs)
    advance_activations(model, data, dt)
    data.time[0] += dt
    return True


@jit
def release(model, data, work, dt):
    """Let go what the forces just found pull off or overload, and find them anew without it, until all holds."""
    while True:
        joint_moves, contact_slides = let_go(model, data, work, dt), free_contacts(work)
        if not (joint_moves or contact_slides):
            break
        drop_passing(work)
        forces(model, data, work, dt)
        constrain(model, data, work, dt)


@jit
def find(model, data, work, dt):
    """Contacts where the bodies are now (L1)."""
    find_contacts(work, dt / work.bodies.parts[0])


@jit
def divide(model, data, work, dt):
    """Where the forces just found turn a body by more than half of `substep_angle`: the step anew, in parts.

    All parts but the last are gone through here, the last one by the stages that follow.
    """
    bodies = work.bodies
    forced = forced_spin(model, work)
    parts = parts_of_turn(FINER * dt * forced / work.options.substep_angle)
    if FINER * dt * forced < 1.5 * work.options.substep_angle:
        parts = 1
    bodies.parts[0] = 1
    for n in range(parts if parts > 1 else 0):
        drop_passing(work)
        forces(model, data, work, dt / parts)
        constrain(model, data, work, dt / parts)
        release(model, data, work, dt / parts)
        if n < parts - 1:
            measure(model, data, work, dt / parts)
            if not move(model, data, work, dt / parts):
                break
            find(model, data, work, dt / parts)
    bodies.parts[0] = parts


METHOD = Definition(
    __name__, Options, Work, make_work,
    Stages((forces, constrain, release, divide, measure, move, find), before=(start,), parts=substeps, takes_over=move),
    presets=PRESETS, supports=supports, leaves_out=leaves_out, cautions=cautions, finds_deep=True,
    start_motion=start_motion, leave_motion=leave_motion, contact_springs=contact_springs,
    follows_model=("bodies.mass", "bodies.inverse_mass", "bodies.own_inertia", "bodies.own_inverse",
                   "bodies.own_plain", "bodies.group_mass", "joints.load", "joints.limit", "joints.width",
                   "joints.inertia", "breps.shape_material", "breps.pair_material"),
    # friction follows the spring's part of the normal force, so the damper's part puts it outside the cone; springs
    # give back energy
    guarantees={
        "friction_bound": lambda options: 1.0 if options.friction_normal == "coupled"
        and options.friction_anchor == "drag" else 1e9,
        "passive": lambda options: False,
        "elastic": lambda options: True,
        "restitution": lambda options: False,
        "books": lambda options: False,
    })
register(__name__)
