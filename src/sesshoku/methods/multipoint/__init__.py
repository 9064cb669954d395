"""`multipoint`: rigid impact at many points with a removal loop (a paper by Sugihara and Nakamura, Japanese).

Every state of contact (point, edge, face, or a mixture) is a set of points. Each point's velocity after the step is
predicted by an ideal impact law, one linear system of all points is solved for the impulses that realise it, of
smallest norm where they are not determined; points that pull leave and the rest is solved again; friction is cut to
Coulomb's law at the end, with static and kinetic coefficients apart.

equation -> function
    (1) (15)   motion without and with contact  stages.free_motion.free_velocity, stages.contact_forces.take_impulses
    (5)        K_i = (dp_i/dq)^T                              stages.contact_rows.side_jacobian
    (6)-(9)    decomposition, slip speed and direction        problem.split_velocity
    (10)-(12)  impact law                                     problem.choose_target
    (13) (17)  M, velocity change                             solve.fill_island
    (18) (19)  inverse or pseudo-inverse                      removal.removal_loop, solvers.minimum_norm.solve_symmetric
    (20)       mean force                                     stages.contact_forces.apply_forces
    (21)-(23)  normal and friction force                      friction.break_away
    (24)       removal of points that pull                    removal.drop_offenders
    (25) (26)  static or kinetic                              friction.break_away, friction.classify
    (27) (28)  friction                                       friction.cut_friction
    steps 9, 10  acceleration, integration                    stages.free_motion.finish (semi-implicit Euler)

Deviations from the paper. The two cases of (6) are swapped in print. (11) acts on approaching points only: printed, it
sends a separating point back into the surface. M is singular from two points on a link, not four. Where (17) has no
solution its least-squares solution is taken, which does not depend on the order of rows; where it has one, that is the
paper's. Kinetic friction is -mu_K f_n along the slip (printed without the sign), or along the trial force where the
point does not slip yet; friction of a sticking point keeps both its components. Points are removed below -1e-10 of the
largest normal force. Step 7 goes back to step 5: the wanted velocities do not change. Bodies that touch each other,
loops, mimics, joint limits (which leave when they pull) and joint friction (which holds a joint, or pushes against its
motion) are rows of the same system; joint rows are scaled to the size of the contacts' rows. Semi-implicit Euler, under
which (13) is met exactly; servos are linearly implicit in (15): H and u hold their stiffness and damping over the step.
Static friction stops a point ("keeps constraining the point", after (26)), where (12) to the letter would let it go on
at its slip. Ours, since the paper names neither: the slip threshold of each point (`thresholds`), rank tolerance 1e-9.

What else it can do stands in `options`: `stick_target`, `friction_coupling` and what goes with it, `readmit`,
`penetration_rate`.
"""

from __future__ import annotations

from sesshoku.collision.contacts import CONTACTS, RELEASED, SLIP, STICK
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.integrate.fast_joints import FAST
from sesshoku.methods.definition import Definition
from sesshoku.methods.features import rolling_friction
from sesshoku.methods.multipoint.options import PRESETS, Options
from sesshoku.methods.multipoint.problem import build_problem
from sesshoku.methods.multipoint.solve import solve_islands
from sesshoku.methods.multipoint.work import Work, make_work
from sesshoku.methods.registry import register
from sesshoku.stages.common import find_points, place_links, take_over
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.free_motion import coast, unconstrained_velocity
from sesshoku.stages.joint_constraints import measure_errors
from sesshoku.stages.tunnelling import count_tunnelling


@jit
def free_motion(model, data, work, dt):
    """new_v: the velocity at the end without contacts, limits or joint friction."""
    unconstrained_velocity(model, data, dt, dt)
    coast(model, data, dt, FAST)


@jit
def apply(model, data, work, dt):
    """New velocity, forces and states of the contacts, report."""
    contacts, problem = work.contacts, work.problem
    apply_forces(model, data, work, dt)
    for c in range(contacts.counts[CONTACTS]):
        loaded = problem.impulse[c, 2] > 0.0
        contacts.state[c] = RELEASED if not loaded else (SLIP if work.slips[c] else STICK)
    measure_errors(model, data, data.q)
    count_tunnelling(model, data, contacts, dt)


METHOD = Definition(
    __name__, Options, Work, make_work,
    Stages((place_links, find_points, free_motion, build_problem, solve_islands, apply, take_over)),
    presets=PRESETS, leaves_out=rolling_friction,
    guarantees={
        "friction_bound": lambda options: 1.0,
        # friction after the normal solve can bring energy; how often is measured (experiment multipoint/energy)
        "passive": lambda options: False,
    })
register(__name__)
