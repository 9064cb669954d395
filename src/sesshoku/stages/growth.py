"""Does energy grow without a source? Found while its numbers are still those of a motion, long before infinity.

A step that would double the fastest speed there was since somebody last changed the state is looked at before it is
taken over. The kinetic energy it ends with may be

    T  <=  SHARE (T_0 + fall + least + W)

T_0 that of the start, fall what weight has given since, least that of a fall from a palm's breadth, W all work since
of actuators, springs, dampers, pushes and depth correction (no more than all constraints brought), as positive. Losses
excuse gains, and SHARE is large: what is found is a run that no longer has anything to do with its scene, not a scheme
that errs. Rebounds and falls are within it by nature; a state that a user writes begins a new account. Scripted bodies
may bring any energy through contacts and joints: where there are some, single steps are judged, by a larger share.

A step of usual speed pays for a comparison of q and v with what the last step left, and one addition.
"""

from __future__ import annotations

from sesshoku.compiled.jit import jit
from sesshoku.dynamics.centroid import weight_energy
from sesshoku.dynamics.crba import mass_matrix
from sesshoku.dynamics.factor import multiply
from sesshoku.model.arrays import KINEMATIC
from sesshoku.stages.report import CONSTRAINT_WORK, CONVERGED, CORRECTION_WORK, LIGHT, RESIDUAL

# places in `data.growth`: the speed above which a step is looked at (negative: an account begins), energy and kinetic
# energy at the account's start, work since, how far energy may grow (0: RIGID), what was found and allowed last
PACE, ENERGY, KINETIC, WORK, SHARE, FOUND, ALLOWED = range(7)
# how far energy may grow: of rigid contact; of contacts that are springs, which may hold energy at the start; under
# laws that bring energy of their own; in one step while scripts move
RIGID, ELASTIC, GAINING, SCRIPTED = 1e3, 1e4, 1e8, 1e6
FASTER = 2.0  # times the speed of the last look is the next one's
LENGTH = 0.1  # m: a fall from there is a motion that any scene may have
CLOSING = 10.0  # m/s: at which loops that begin open are moved together
RESIDUAL_MATTERS, MAD = 1.0, 3.0  # m/s, and times the fastest motion: a larger residual says nothing is solved


@jit
def all_slower(v, most):
    """Whether all velocities are numbers of at most this size."""
    slower = True
    for k in range(len(v)):
        slower = slower and abs(v[k]) <= most
    return slower


@jit
def fastest_of(v):
    """The largest velocity."""
    most = 0.0
    for k in range(len(v)):
        most = max(most, abs(v[k]))
    return most


@jit
def may_follow(model, data, v, applied):
    """Whether new_v may follow v (V), the velocity at the step's start; the step's work goes into the account.

    False: not finite, faster than light, or with energy that nothing explains. applied: work of the step's forces, J.
    Needs the report, and links where the step has placed them.
    """
    growth, report = data.growth, data.report
    if was_changed(model, data, v):
        growth[PACE] = -1.0
    explained = abs(applied) + max(min(report[CORRECTION_WORK], report[CONSTRAINT_WORK]), 0.0)
    growth[WORK] += explained
    if report[RESIDUAL] > RESIDUAL_MATTERS:
        doubt_residual(data, v)
    if all_slower(data.new_v, growth[PACE]):
        return True
    if not all_slower(data.new_v, LIGHT):
        return False
    mass_matrix(model, data, data.mass_matrix)  # not all methods have it
    kinetic = kinetic_of(model, data, data.new_v)
    if growth[PACE] < 0.0 or script_speed(model, data) >= 0.0:
        start = kinetic_of(model, data, v)
        begin_account(data, start, start + weight_energy(model, data), explained)
    return is_explained(model, data, kinetic, weight_energy(model, data), fastest_of(data.new_v))


@jit
def was_changed(model, data, v):
    """Whether q or v are not what the last step left."""
    q, left_q, left_v, changed = data.q, data.left_q, data.left_v, False
    for n in range(model.coordinate_count):
        changed = changed or q[n] != left_q[n]
    for k in range(model.dof_count):
        changed = changed or v[k] != left_v[k]
    return changed


@jit
def leave_state(model, data):
    """At the very end of a step: q and v as it leaves them."""
    for n in range(model.coordinate_count):
        data.left_q[n] = data.q[n]
    for k in range(model.dof_count):
        data.left_v[k] = data.v[k]


@jit
def begin_account(data, kinetic, energy, work):
    """kinetic: at the start; energy: kinetic and that of weight; work: of the first step, J."""
    growth = data.growth
    growth[KINETIC], growth[ENERGY], growth[WORK] = kinetic, energy, work


@jit
def is_explained(model, data, kinetic, weight, fastest):
    """Whether the account explains this kinetic energy; the next look is due at FASTER times the fastest speed."""
    growth, share = data.growth, max(data.growth[SHARE], RIGID)
    scripted = script_speed(model, data)
    mass, g = 0.0, model.gravity
    for i in range(model.link_count):
        mass += model.link_mass[i]
    least = LENGTH * mass * max((g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) ** 0.5, 1.0)
    if model.loop_count > 0:
        least += 0.5 * mass * CLOSING * CLOSING
    if scripted >= 0.0:
        share = max(share, SCRIPTED)
        least += mass * scripted * scripted + abs(data.report[CONSTRAINT_WORK])
    explained = growth[KINETIC] + max(growth[ENERGY] - growth[KINETIC] - weight, 0.0) + least
    growth[FOUND], growth[ALLOWED] = kinetic, share * (explained + growth[WORK])
    if not kinetic <= growth[ALLOWED]:
        return False
    growth[PACE] = FASTER * fastest
    return True


@jit
def script_speed(model, data):
    """Of the fastest scripted body, m/s and rad/s alike; -1 where there is none."""
    speed = -1.0
    for t in range(model.tree_count):
        i = model.tree_link[t]
        if model.link_joint[i] == KINEMATIC:
            for a in range(6):
                speed = max(speed, abs(data.kinematic_velocity[i, a]))
    return speed


@jit
def kinetic_of(model, data, v):
    """Kinetic energy, J: v . H v / 2."""
    product, energy = data.work, 0.0
    multiply(model, data.mass_matrix, v, product)
    for k in range(model.dof_count):
        energy += 0.5 * v[k] * product[k]
    return energy


@jit
def doubt_residual(data, v):
    """A residual far beyond every speed is none of a solved step, whatever the solver's own measure says."""
    if not data.report[RESIDUAL] <= MAD * max(fastest_of(v), fastest_of(data.new_v)):
        data.report[CONVERGED] = 0.0
