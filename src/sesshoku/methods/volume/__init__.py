"""`volume`: one six-axis wrench per overlap, from the overlap's volume (Wakisaka and Sugihara, Osaka University).

Two convex shapes overlap. From the intersection polyhedron come one normal, one contact plane and one polygon, and one
wrench that makes the whole contact area move as nearly as it can (least squares over the area) without slip, apart at a
speed in proportion to the depth. A convex programme keeps the normal force from pulling and the centre of pressure in
the polygon. Can forces in Coulomb's cone at the polygon's corners add up to the wrench? If not, friction is replaced by
a kinetic distribution.

equation -> function
    (1)-(2)     normal, plane, polygon                          collision.overlap.find_overlaps
    (4)-(9)     area moments Q, depth moments c                 the same; `pose.choose_targets`, `dense.times_moment`
    (11)-(15)   A = J H^-1 J^T, b                               `pose.twist_rows`, `islands.reduce_matrix`
    (16)        least squares                                   `dense.least_squares`, solvers.cone_qp
    (24)-(25)   centre of pressure in the polygon               `dense.cone_rows`
    (26)-(31)   friction test                                   `friction.carried`, solvers.simplex.feasible
    section 2.4 previous method: force and torque apart         `friction.largest_torque` (friction_limit="separated")
    (32)-(34)   kinetic correction                              `pose.choose_slip`, `friction.correct`

Deviations from the paper. Unknowns are impulses, p = f dt: with lambda = 1e-3 on forces a 1 kg box on a 0.1 m square
would sink a metre. (16) has -n^T K c where the paper prints +K n^T c, which pulls bodies together; (14) is A f + b.
Sums over points are area integrals. The pyramid is inscribed in the cone. (32) opposes the tangential slip; printed, it
is along the slip, with the normal component inside. Reciprocals of components below 1e-9 of the normal force are zero.
An overlap stays an area however thin it is; without a polygon it is a point contact: no torque, round cone. Joint
limits, joint friction, loops and mimics take part (`islands`). The paper integrates by Runge-Kutta-Gill; (13) is
Euler's step, so semi-implicit Euler, which meets (14) exactly, is the default and `rkg` an option (`gill`: a solve at
every stage). No restitution: the target velocity knows nothing of the approach speed.

Islands of more than `memory.DENSE` unknowns are solved over sparse blocks (`sparse`).
"""

from __future__ import annotations

from typing import Any

from sesshoku.collision.contacts import as_contacts, make_contacts
from sesshoku.collision.overlap.detect import find_overlaps
from sesshoku.collision.overlap.overlaps import as_overlaps, make_overlaps
from sesshoku.collision.overlap.polyhedra import as_polyhedra, make_polyhedra
from sesshoku.collision.points.detect import CONTACT_STATE, CONTACT_VIEW, contact_capacity, pair_capacity
from sesshoku.compiled.jit import jit
from sesshoku.compiled.table import Record
from sesshoku.dynamics.data import as_data
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.methods.features import restitution, turning_friction
from sesshoku.methods.registry import register
from sesshoku.methods.volume.apply import apply_wrenches
from sesshoku.methods.volume.gill import THIN, free_motion, gill_step
from sesshoku.methods.volume.options import INTEGRAL, PRESETS, RKG, Options, parameters
from sesshoku.methods.volume.problem import pose_problem
from sesshoku.methods.volume.solve import solve_islands
from sesshoku.methods.volume.view import OverlapView
from sesshoku.methods.volume.view import overlaps as list_overlaps
from sesshoku.methods.volume.work import as_memory, as_sparse, make_memory, make_sparse
from sesshoku.model.arrays import MOVES, SHAPE_FIELD, Model, as_model
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.cone_qp import as_cone_space
from sesshoku.solvers.problem import as_problem
from sesshoku.solvers.simplex import as_simplex_space
from sesshoku.stages.free_motion import SEMI_IMPLICIT, finish

# triangles of a height field that one shape, and all together, may overlap; those under the shape if they are fewer
ON_TERRAIN, ON_TERRAINS = 256, 1024
STATE = {
    "contacts": (*CONTACT_STATE, *CONTACT_VIEW, "torque"),
    "overlaps": ("kind", "volume", "depth", "polygon_start", "polygon", "polygon_area", "polygon_radius"),
    "memory": ("old_wrench", "old_v", "wrench", "verdict", "center"),
}  # what a saved state holds of the records


def make_records(compiled: CompiledScene, options: Options) -> dict[str, Record]:
    """Contacts, overlaps, rows, memory and work space, in the order `run` takes them."""
    model = compiled.model
    contacts = make_contacts(model, overlap_capacity(model), pair_capacity(model))
    polyhedra = make_polyhedra(model)
    overlaps = make_overlaps(contacts, polyhedra)
    problem, memory, cone, simplex = make_memory(compiled, contacts, overlaps, polyhedra, options)
    return {"contacts": contacts, "polyhedra": polyhedra, "overlaps": overlaps, "problem": problem, "memory": memory,
            "sparse": make_sparse(compiled, memory, contacts, polyhedra), "cone": cone, "simplex": simplex}


def overlap_capacity(model: Model) -> int:
    """How many overlaps to make room for: a third of what contact points would need, or every pair there is.

    And for moving shapes on terrain, which overlap it triangle by triangle.
    """
    pairs = len(model.allowed_pair) if model.pairs_listed else contact_capacity(model)
    moving = int(model.shape_filter[:, MOVES].sum())
    radii = model.shape_radius[(model.shape_filter[:, MOVES] == 1) & (model.shape_type != SHAPE_FIELD)]
    terrain = sum(min(2 * int(2.0 * r / x + 2.0) * int(2.0 * r / y + 2.0), ON_TERRAIN)
                  for x, y, _ in model.shape_size[model.shape_type == SHAPE_FIELD] for r in radii)
    return max(1, min(pairs, max(64, 8 * moving))) + min(terrain, ON_TERRAINS)


def supports(compiled: CompiledScene) -> list[str]:
    """Reasons why the method cannot carry a scene: none."""
    return []


def leaves_out(compiled: CompiledScene) -> list[str]:
    """What of a scene the method leaves out: restitution, which its law does not know, and friction against turning."""
    return restitution(compiled) + turning_friction(compiled)


#: what the contract suite may hold the method to
GUARANTEES = {
    "friction_bound": lambda options: 1.0,
    "passive": lambda options: False,  # the least squares weigh by area, not by inertia, and depth is recovered
    "contacts_per_pair": 1,  # an overlap, not points
    "restitution": False,
    "books": lambda options: options.integrator == "semi-implicit",
    # with an absolute regularisation bodies sink by the square of their mass: a tonne on a palm's breadth drowns
    "carries_any_mass": lambda options: options.regularization_unit == "trace",
}

register(__name__)


@jit
def run(model_table, data_table, contact_table, polyhedra_table, overlap_table, problem_table, memory_table,
        sparse_table, cone_table, simplex_table, options, dt, steps):  # fmt: skip
    """Advance `steps` steps; returns how many were done before the state stopped being finite."""
    model, data, contacts = as_model(model_table), as_data(data_table), as_contacts(contact_table)
    polyhedra, overlaps, problem = as_polyhedra(polyhedra_table), as_overlaps(overlap_table), as_problem(problem_table)
    memory, sparse, cone = as_memory(memory_table), as_sparse(sparse_table), as_cone_space(cone_table)
    simplex = as_simplex_space(simplex_table)
    for n in range(steps):
        if not step(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
            return n
    return steps


@jit(inline="always")
def step(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    if options[RKG]:
        return gill_step(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options,
                         dt)  # fmt: skip
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    find_overlaps(model, data, contacts, polyhedra, overlaps, int(options[INTEGRAL]), THIN)
    free_motion(model, data, dt, dt)
    pose_problem(model, data, contacts, overlaps, problem, memory, options, dt)
    solve_islands(model, data, contacts, overlaps, problem, memory, sparse, cone, simplex, options, dt)
    apply_wrenches(model, data, contacts, overlaps, problem, memory, dt)
    return finish(model, data, SEMI_IMPLICIT, dt)


@jit
def stage_nothing(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    """What a call of a stage costs."""


@jit
def stage_kinematics(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)


@jit
def stage_overlaps(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    find_overlaps(model, data, contacts, polyhedra, overlaps, int(options[INTEGRAL]), THIN)


@jit
def stage_free(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    free_motion(model, data, dt, dt)


@jit
def stage_pose(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    pose_problem(model, data, contacts, overlaps, problem, memory, options, dt)


@jit
def stage_solve(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    solve_islands(model, data, contacts, overlaps, problem, memory, sparse, cone, simplex, options, dt)


@jit
def stage_apply(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    apply_wrenches(model, data, contacts, overlaps, problem, memory, dt)


@jit
def stage_advance(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    finish(model, data, SEMI_IMPLICIT, dt)


@jit
def stage_gill(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt):
    gill_step(model, data, contacts, polyhedra, overlaps, problem, memory, sparse, cone, simplex, options, dt)


def stages(options: Options) -> dict[str, Any]:
    """Stage name -> compiled function of all records, options and dt, in the order of `step`."""
    if options.integrator == "rkg":
        return {"four stages": stage_gill}
    return {"kinematics": stage_kinematics, "overlaps": stage_overlaps, "free motion": stage_free,
            "pose problem": stage_pose, "solve": stage_solve, "apply forces": stage_apply, "advance": stage_advance}


__all__ = ["PRESETS", "STATE", "Options", "OverlapView", "list_overlaps", "make_records", "parameters", "run", "stages",
           "step", "supports"]
