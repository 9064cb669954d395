"""The same springs and dampers, explicit: forces of the present state. For the paper's comparison of integrators.

Euler moves positions with the old velocity, symplectic Euler with the new one; both keep loops, limits and joint
friction as the implicit step has them. RK4 finds contacts and forces anew at each of its four stages; anchors of
resting points stay where they are within a step.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.collision.points.detect import detect
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import joint_forces
from sesshoku.dynamics.assembly.tree import assemble_tree, disassemble_tree
from sesshoku.dynamics.kinematics import coordinate_rate, kinematics
from sesshoku.dynamics.rnea import external_wrenches, link_velocities
from sesshoku.integrate.position import move_kinematic, normalize
from sesshoku.integrate.rk4 import TABLEAU
from sesshoku.integrate.runge_kutta import combine, start_stage
from sesshoku.methods.implicit.law import build_joint_laws
from sesshoku.methods.implicit.options import MARGIN, VISCOUS
from sesshoku.methods.implicit.problem import build_problem, keep_contacts, moves
from sesshoku.methods.implicit.solve import solve_group, start_joints, update_states
from sesshoku.methods.implicit.work import COUPLING_OVERFLOW, GROUPS, PASSES, UNSETTLED
from sesshoku.spatial.algebra import add_force


@jit
def contact_force(work, c):
    """Force on b of contact c (work.force), of present depth, velocity and anchor, for eq. (1). True if it pushes."""
    contacts, options = work.contacts, work.options
    n, u, e, f = contacts.normal[c], work.before[c], work.stretch[c], work.force[c]
    k, d = work.elastic[c, 0], work.elastic[c, 1]
    un = u[0] * n[0] + u[1] * n[1] + u[2] * n[2]
    normal = -k * (contacts.gap[c] + work.offset[c]) - d * un
    f[0] = f[1] = f[2] = 0.0
    work.on[c] = 1 if contacts.gap[c] < 0.0 and normal > 0.0 else 0
    work.after[c, 0], work.after[c, 1], work.after[c, 2] = u[0], u[1], u[2]
    if work.on[c] == 0:
        return False
    work.normal[c] = normal
    tx, ty, tz = u[0] - un * n[0], u[1] - un * n[1], u[2] - un * n[2]
    speed, kt, rub = sqrt(tx * tx + ty * ty + tz * tz), options.tangential * k, options.tangential * d
    fx, fy, fz = kt * e[0] - rub * tx, kt * e[1] - rub * ty, kt * e[2] - rub * tz
    work.slides[c] = 0
    bound = contacts.material[c, 0] * normal
    if options.friction == VISCOUS or fx * fx + fy * fy + fz * fz > bound * bound:
        work.slides[c] = 1
        s = contacts.material[c, 1] * normal / max(speed, options.slip_speed)
        fx, fy, fz = -s * tx, -s * ty, -s * tz
    f[0], f[1], f[2] = normal * n[0] + fx, normal * n[1] + fy, normal * n[2] + fz
    return True


@jit
def push_contacts(model, data, work):
    """Explicit forces of all contacts as wrenches that act on the links: into the biases."""
    contacts = work.contacts
    for c in range(contacts.counts[CONTACTS]):
        if contact_force(work, c):
            p, f = contacts.point[c], work.force[c]
            for side in range(2):
                link, sign = contacts.link[c, side], -1.0 if side == 1 else 1.0  # a bias is what a push takes off
                if moves(model, link):
                    o = data.tree_origin[model.link_tree[link]]
                    add_force(work.bias[link], p[0] - o[0], p[1] - o[1], p[2] - o[2], sign * f[0], sign * f[1],
                              sign * f[2])
        work.on[c] = 0  # no implicit law


@jit
def solve_explicit(model, data, work, dt):
    """free_acceleration (V) with contacts explicit; loops, limits and joint friction as in the implicit step."""
    contacts, options = work.contacts, work.options
    work.counts[UNSETTLED] = work.counts[COUPLING_OVERFLOW] = work.counts[PASSES] = 0
    push_contacts(model, data, work)
    start_joints(model, data, work, dt)
    for group in range(work.counts[GROUPS]):
        held = work.group_contact_start[group]
        work.group_contact_start[group] = work.group_contact_start[group + 1]  # no states of contacts to settle
        for n in range(options.max_passes):
            build_joint_laws(model, data, work, dt)
            solve_group(model, data, work, dt, group)
            work.counts[PASSES] = max(work.counts[PASSES], n + 1)
            if update_states(model, data, work, dt, group, n + 1 >= options.max_passes):
                break
        work.group_contact_start[group] = held
    for c in range(contacts.counts[CONTACTS]):
        f = work.force[c]
        work.on[c] = 1 if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0 else 0


@jit
def rk4_step(model, data, work, dt):
    """(q, v) -> (new_q, new_v) by four stages, contacts found at each."""
    q, v, stage_q, stage_v, rate_q, rate_v = data.q, data.v, data.stage_q, data.stage_v, data.rate_q, data.rate_v
    time = 0.0
    for s in range(4):
        time = start_stage(model, data, TABLEAU, s, time, dt)
        coordinate_rate(model, stage_q, stage_v, rate_q[s])
        if s > 0:
            keep_contacts(model, data, work)
        acceleration_at(model, data, work, dt, stage_q, stage_v)
        for k in range(model.dof_count):
            rate_v[s, k] = data.free_acceleration[k]
    move_kinematic(model, data, (1.0 - time) * dt)
    combine(q, rate_q, TABLEAU, 4, dt, data.new_q)
    combine(v, rate_v, TABLEAU, 4, dt, data.new_v)
    normalize(model, data.new_q)


@jit
def acceleration_at(model, data, work, dt, q, v):
    """free_acceleration (V) at q, v with all forces explicit."""
    contacts, options = work.contacts, work.options
    kinematics(model, data, q)
    link_velocities(model, data, v)
    detect(model, data, contacts, MARGIN, options.speculative * dt, options.most_per_pair)
    joint_forces(model, data, q, v, 0.0, 1.0)
    external_wrenches(model, data)
    build_problem(model, data, work, 0.0)
    push_contacts(model, data, work)
    for i in range(model.link_count):
        work.stiffened[i] = 0
        for a in range(6):
            work.push[i, a] = 0.0
    for t in range(model.tree_count):
        assemble_tree(model, data, t, work.stiff, work.stiffened, data.implicit_diagonal, work.none)
        disassemble_tree(model, data, t, work.bias, work.push, data.joint_force, work.none,
                         data.free_acceleration)
    for c in range(contacts.counts[CONTACTS]):
        f = work.force[c]
        work.on[c] = 1 if f[0] != 0.0 or f[1] != 0.0 or f[2] != 0.0 else 0
