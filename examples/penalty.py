"""A contact method in one file: at every contact point a spring and a damper push, and friction opposes slip.

    import penalty                              # registers the method
    sim = ss.Simulation(scene, "penalty")       # or penalty(stiffness=1e5); `compare` takes it like any other

Penalty methods are what many simulators have. What rests sinks until the springs carry it (m g / k over the points),
stiff springs need short steps, and what rests on a slope creeps: friction needs slip to act.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

from sesshoku.collision.contacts import CONTACTS, Contacts, make_contacts
from sesshoku.collision.points.detect import contact_capacity, pair_capacity
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages
from sesshoku.compiled.table import Record, array, part
from sesshoku.dynamics.data import row_total
from sesshoku.methods.definition import Definition, as_numbers, numbers_of
from sesshoku.methods.features import rolling_friction
from sesshoku.methods.multipoint import free_motion
from sesshoku.methods.options import check_options, option
from sesshoku.methods.registry import register
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.stages.common import find_points, place_links, take_over
from sesshoku.stages.contact_forces import apply_forces
from sesshoku.stages.contact_rows import contact_rows, contact_velocity, start_problem
from sesshoku.stages.joint_constraints import constrain_joints


@dataclass(frozen=True)
class Options:
    """A spring and a damper at every point.

    stiffness (N/m): of a point
    damping (N s/m): of a point
    slip_speed (m/s): friction is full above it, less below
    margin (m): points are found this far apart
    speculative: and farther by what the shapes travel in so many steps
    most_per_pair: keep at most so many points of a pair of shapes (0: all)
    """

    stiffness: float = option(2e4, above=0.0)
    damping: float = option(1e2, least=0.0)
    slip_speed: float = option(3e-2, above=0.0)
    margin: float = option(0.0, least=0.0)
    speculative: float = option(0.0, least=0.0)
    most_per_pair: int = option(6, least=0)

    def __post_init__(self) -> None:
        check_options(self, "penalty")


Numbers = numbers_of(Options)


class Work(Record):
    """Options, contacts and their rows; C contacts, V dofs."""

    options = part(Numbers)
    contacts = part(Contacts)
    problem = part(Problem)
    law = array(int, "C")
    mu = array(float, "C")
    impulse_world = array(float, "C", 3)
    old_impulse = array(float, "C", 3)
    y_before = array(float, "V")
    y_direction = array(float, "V")


def make_work(compiled: Any, options: Options) -> Work:
    """Room for as many contacts as the scene may have."""
    m = compiled.model
    contacts = make_contacts(m, contact_capacity(m), pair_capacity(m))
    problem = make_problem(contacts.capacity, row_total(m), m.dof_count, int(max(m.dof_depth, default=-1)) + 1)
    work = Work.sized({"C": contacts.capacity, "V": m.dof_count}, options=as_numbers(Numbers, options),
                      contacts=contacts, problem=problem)
    work.law[:] = DISC
    return work


@jit
def constrain(model, data, work, dt):
    """Limits, friction and loops of joints."""
    constrain_joints(model, data, data.q, data.new_v, dt, 1e-10)


@jit
def push(model, data, work, dt):
    """Impulses of all points: f_n = k depth - c v_n, not below zero; f_t = mu f_n against the slip."""
    contacts, problem, options = work.contacts, work.problem, work.options
    start_problem(model, data, problem)
    for k in range(model.dof_count):
        problem.y[k] = 0.0
    for c in range(contacts.counts[CONTACTS]):
        axes, v, x = problem.axes[c], problem.velocity[c], problem.impulse[c]
        w = contact_velocity(model, data, contacts, c)
        for a in range(3):
            axes[0, a], axes[1, a] = contacts.tangent[c, 0, a], contacts.tangent[c, 1, a]
            axes[2, a] = contacts.normal[c, a]
        for d in range(3):
            v[d] = axes[d, 0] * w[0] + axes[d, 1] * w[1] + axes[d, 2] * w[2]
        depth, slip = -contacts.gap[c], sqrt(v[0] * v[0] + v[1] * v[1])
        x[2] = dt * max(options.stiffness * depth - options.damping * v[2], 0.0) if depth > 0.0 else 0.0
        work.mu[c] = contacts.material[c, 1]
        share = work.mu[c] * x[2] / max(slip, options.slip_speed)
        x[0], x[1] = -share * v[0], -share * v[1]
        problem.correction[c] = 0.0
    contact_rows(model, data, work, data.new_v)


METHOD = Definition(
    __name__, Options, Work, make_work,
    Stages((place_links, find_points, free_motion, constrain, push, apply_forces, take_over)),
    leaves_out=rolling_friction,
    guarantees={"passive": lambda options: False, "elastic": lambda options: True, "residual": lambda options: False})
register(__name__)
