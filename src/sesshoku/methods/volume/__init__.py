"""`volume`: one six-axis wrench per overlap, from the overlap's volume (Wakisaka and Sugihara, Osaka University).

Two convex shapes overlap. From the intersection polyhedron come one normal, one contact plane and one polygon, and one
wrench that makes the whole contact area move as nearly as it can (least squares over the area) without slip, apart at a
speed in proportion to the depth. A convex programme keeps the normal force from pulling and the centre of pressure in
the polygon. Can forces in Coulomb's cone at the polygon's corners add up to the wrench? If not, friction is replaced by
a kinetic distribution.

equation -> function
    (1) (2)    normal                                         collision.overlap.detect.find_normal
    (3) (8)    wanted motion                                  problem.choose_targets, dense.times_moment
    (5) (6)    relative twist                                 problem.twist_rows
    (9)        area moments Q, depth moments c                collision.overlap.measure.find_moments
    (10) (16)  least squares                                  dense.choose_ridge, dense.least_squares
    (11) (13)  motion                                         stages.free_motion.free_velocity, apply.apply_wrenches
    (12) (15)  J, free twist b                                problem.twist_rows, problem.twist_side
    (14) (15)  A and b                                        solve.reduce_matrix
    (17) (18)  Coulomb's law in a point                       friction.judge
    (21)-(23)  forces and torques of corners                  problem.choose_slip, friction.correct
    (24) (25)  centre of pressure in the polygon              dense.cone_rows
    (26)-(31)  friction test                                  friction.carried
    (32)       kinetic friction of a corner                   problem.choose_slip
    (33) (34)  kinetic correction                             friction.reciprocal_weights, friction.fill_normal
    section 2.4  previous method: force and torque apart      friction.largest_torque (friction_limit="separated")

Deviations from the paper. Unknowns are impulses, p = f dt: with lambda = 1e-3 on forces a 1 kg box on a 0.1 m square
would sink a metre. (16) has -n^T K c where the paper prints +K n^T c, which pulls bodies together; (14) is A f + b.
Sums over points are area integrals. The pyramid is inscribed in the cone. (32) opposes the tangential slip; printed, it
is along the slip, with the normal component inside. Reciprocals of components below 1e-9 of the normal force are zero.
An overlap stays an area however thin it is; without a polygon it is a point contact: no torque, round cone. Joint
limits, joint friction, loops and mimics take part (`joints`). The paper integrates by Runge-Kutta-Gill; (13) is
Euler's step, so semi-implicit Euler, which meets (14) exactly, is the default and `rkg` an option (`gill`: a solve at
every stage). No restitution: the target velocity knows nothing of the approach speed.

Islands of more than `work.DENSE` unknowns are solved over sparse blocks (`sparse`).
"""

from __future__ import annotations

from sesshoku.collision.overlap.detect import find_overlaps
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.methods.definition import Definition
from sesshoku.methods.features import restitution, rolling_friction
from sesshoku.methods.registry import register
from sesshoku.methods.volume.apply import apply_wrenches
from sesshoku.methods.volume.gill import THIN, free_motion, gill_step
from sesshoku.methods.volume.options import PRESETS, Options
from sesshoku.methods.volume.problem import build_problem
from sesshoku.methods.volume.solve import solve_islands
from sesshoku.methods.volume.view import OverlapView, contact_polygons
from sesshoku.methods.volume.view import overlaps as list_overlaps
from sesshoku.methods.volume.work import Work, make_work
from sesshoku.scene.compiler import CompiledScene
from sesshoku.stages.common import place_links, take_over


@jit
def find(model, data, work, dt):
    """Overlaps of all shapes: volume, its derivatives, the polygons of contact."""
    find_overlaps(model, data, work.contacts, work.polyhedra, work.overlaps, work.options.depth_integral, THIN)


@jit
def move_freely(model, data, work, dt):
    """new_v: the velocity at the end of the step without contact and joint rows."""
    free_motion(model, data, dt, dt)


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: restitution, which its law does not know, and friction against turning."""
    return restitution(compiled) + rolling_friction(compiled)


def cautions(compiled: CompiledScene, options: Options, work: Work, dt: float) -> list[str]:
    """What to warn of when a simulation is made: a gain that throws back more of a depth than a step brought.

    The depth d of a flat overlap becomes d (1 - k dt / 2): beyond k dt = 4 every step makes it deeper or throws it off.
    """
    if min(options.depth_gain, 2.0 * options.depth_share / dt) * dt < 4.0:
        return []
    k = options.depth_gain
    return [f"depth_gain {k:g} times dt {dt:g} s is {k * dt:.3g}: from 4 on bodies at rest are thrown apart; take a "
            f"gain below {4.0 / dt:.4g}, a step below {4.0 / k:.4g} s, or depth_share, which lowers the gain with the "
            f"step"]


def stages(options: Options) -> Stages:
    """One solve a step; or one at each of Gill's four stages."""
    return GILL if options.integrator == "rkg" else USUAL


USUAL = Stages((place_links, find, move_freely, build_problem, solve_islands, apply_wrenches, take_over))
GILL = Stages((gill_step,))
METHOD = Definition(
    __name__, Options, Work, make_work, stages, presets=PRESETS, leaves_out=leaves_out, cautions=cautions,
    contact_polygons=contact_polygons, ends_within=lambda options: options.integrator == "rkg", on_gpu=False,
    guarantees={
        "friction_bound": lambda options: 1.0,
        "passive": lambda options: False,  # the least squares weigh by area, not by inertia, and depth is recovered
        "gains": lambda options: options.energy != "bounded",
        "contacts_per_pair": lambda options: 1,  # an overlap, not points
        "restitution": lambda options: False,
        "books": lambda options: options.integrator == "semi-implicit",
        # with an absolute regularisation bodies sink by the square of their mass: a tonne on a palm's breadth drowns
        "carries_any_mass": lambda options: options.regularization_unit == "trace",
    })
register(__name__)

__all__ = ["METHOD", "Options", "OverlapView", "list_overlaps"]
