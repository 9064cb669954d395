"""The passes of a step: solve with the states as they are, compare with what came out, switch, again.

States are: a point pushes or is off (no adhesion), rests on its anchor or slides; a limit holds or not; a joint's
friction sticks or slips; a servo is at its effort or not. Only groups of trees that have not settled are solved again.
After `max_passes` further passes only let go (points off, rest to sliding, limits off), so that nothing pulls and
nothing holds more than it may.
"""

from __future__ import annotations

from math import sqrt

from sesshoku.collision.contacts import CONTACTS
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.actuation import drive_of
from sesshoku.dynamics.assembly.tree import assemble_tree, disassemble_tree
from sesshoku.dynamics.efforts import switch_servo
from sesshoku.methods.implicit.coupling import acts, couple, has_pairs
from sesshoku.methods.implicit.law import build_joint_laws, build_laws, limit_gap
from sesshoku.methods.implicit.loops import add_loop_forces, has_loops, in_group
from sesshoku.methods.implicit.options import VISCOUS
from sesshoku.methods.implicit.work import (
    COUPLED,
    COUPLING_OVERFLOW,
    GROUPS,
    LIMIT_OFF,
    LIMIT_ON,
    MIMIC_PAIR,
    PAIRS,
    PASSES,
    RIGID,
    UNSETTLED,
)
from sesshoku.spatial.algebra import cross

LETTING_GO = 24  # passes beyond max_passes that only let go
JOINT_TOLERANCE = 1e-6  # relative change of a slipping joint's damper
LIMIT_REACH = 4.0  # a limit is in reach where so many times the speed closes its gap within the step


@jit
def solve(model, data, work, dt):
    """free_acceleration (V) with all contacts and joints at the end of the step; states and forces of the contacts."""
    options = work.options
    work.counts[UNSETTLED] = work.counts[COUPLING_OVERFLOW] = work.counts[PASSES] = 0
    start_joints(model, data, work, dt)
    most = options.max_passes
    for group in range(work.counts[GROUPS]):
        settled = False
        for n in range(most + LETTING_GO):
            build_joint_laws(model, data, work, dt)
            solve_group(model, data, work, dt, group)
            letting_go = n + 1 >= most
            settled = update_states(model, data, work, dt, group, letting_go)
            work.counts[PASSES] = max(work.counts[PASSES], n + 1)
            if settled:
                if letting_go and n + 1 > most:
                    work.counts[UNSETTLED] += 1
                break
        if not settled:
            work.counts[UNSETTLED] += 1


@jit
def solve_group(model, data, work, dt, group):
    """Accelerations of one group under the laws of the present states."""
    build_laws(model, data, work, dt, group)
    solve_trees(model, data, work, dt, group)


@jit
def solve_trees(model, data, work, dt, group):
    """Its trees from the leaves to the root and back, then what couples them."""
    start, end = work.group_tree_start[group], work.group_tree_start[group + 1]
    for m in range(start, end):
        t = work.group_tree[m]
        assemble_tree(model, data, t, work.stiff, work.stiffened, data.implicit_diagonal, work.extra)
        disassemble_tree(model, data, t, work.bias, work.push, data.joint_force, work.extra_force,
                         data.free_acceleration)
    work.counts[COUPLED] = 0
    if not has_pairs(work, group) and not has_loops(model, work, group):
        return
    if not couple(model, data, work, dt, group):
        forget_pairs(model, work, group)
    else:
        work.counts[COUPLED] = 1
        add_pair_forces(model, work, group)
        if has_loops(model, work, group):
            add_loop_forces(model, data, work, group)
        for m in range(start, end):
            t = work.group_tree[m]
            if work.tree_rows[t] > 0:
                disassemble_tree(model, data, t, work.bias, work.total, data.joint_force, work.extra_force,
                                 data.free_acceleration)


@jit
def forget_pairs(model, work, group):
    """There was no room to couple the group: its pairs and loops did not act."""
    for n in range(model.loop_count):
        if in_group(model, work, n, group):
            for d in range(6):
                work.loop_force[n, d] = 0.0
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group:
            for a in range(6):
                work.pair_force[p, 0, a] = work.pair_force[p, 1, a] = 0.0


@jit
def add_pair_forces(model, work, group):
    """total = push and the wrenches of pairs; forces of mimics into the joints' own."""
    for m in range(work.group_tree_start[group], work.group_tree_start[group + 1]):
        t = work.group_tree[m]
        for i in range(model.tree_link[t], model.tree_link[t + 1]):
            total, push = work.total[i], work.push[i]
            for a in range(6):
                total[a] = push[a]
    for p in range(work.counts[PAIRS]):
        if work.pair_group[p] == group and acts(work, p):
            for side in range(2):
                element, f = work.pair_link[p, side], work.pair_force[p, side]
                if work.pair_kind[p] == MIMIC_PAIR:
                    work.extra_force[element] += f[0]
                else:
                    total = work.total[element]
                    for a in range(6):
                        total[a] += f[a]


# ---- states --------------------------------------------------------------------------------------------------------


@jit
def start_joints(model, data, work, dt):
    """Limits begin as the last step left them, where they are in reach; slow joints try to stick first."""
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        for side in range(2):
            held = data.limit_impulse[k] > 0.0 if side == 0 else data.limit_impulse[k] < 0.0
            near = limit_gap(model, data, k, side) < dt * (LIMIT_REACH * abs(data.v[k]) + 0.1)
            work.limit_on[k, side] = LIMIT_ON if held and near else LIMIT_OFF
        data.limit_impulse[k] = 0.0
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        stops = abs(data.v[k]) * work.dof_inertia[k] <= dt * model.dof_kinetic_friction[k]
        work.joint_tried[k] = 0
        work.joint_slides[k] = 1 if data.friction_slips[k] != 0 and not stops else 0
        work.joint_damper[k] = model.dof_kinetic_friction[k] / max(abs(data.v[k]), 1e-9)


@jit
def update_states(model, data, work, dt, group, letting_go):
    """Switch what the solution contradicts; True if nothing had to."""
    settled = True
    for n in range(work.group_contact_start[group], work.group_contact_start[group + 1]):
        settled = update_contact(model, data, work, dt, work.group_contact[n], letting_go) and settled
    for n in range(len(model.limited_dofs)):
        k = model.limited_dofs[n]
        if work.tree_group[model.link_tree[model.dof_link[k]]] == group:
            settled = update_limits(model, data, work, dt, k, letting_go) and settled
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]
        if work.tree_group[model.link_tree[model.dof_link[k]]] == group:
            settled = update_joint_friction(model, data, work, dt, k, letting_go) and settled
    for s in range(model.actuator_count):
        if data.actuator_slope[s] > 0.0:
            dofs, _ = drive_of(model, data, s)
            t = model.link_tree[model.dof_link[dofs[0]]] if len(dofs) > 0 else 0
            if work.tree_group[t] == group and switch_servo(model, data, s, data.free_acceleration, not letting_go):
                settled = False
    return settled


@jit
def end_velocity(model, data, work, dt, c):
    """Velocity of b relative to a at contact c at the end of the step: u + drift + dt J x.

    Between links whose pair was solved, x is the solution's own: read off the links' accelerations it would differ by
    their rounding, which a stiff law enlarges, and the force would not be the one that acted.
    """
    contacts = work.contacts
    u, w, p, pair = work.before[c], work.drift[c], contacts.point[c], work.pair[c]
    x, y, z = u[0] + w[0], u[1] + w[1], u[2] + w[2]
    solved = pair >= 0 and work.counts[COUPLED] == 1 and acts(work, pair)
    beyond = work.work[4]
    for side in range(2):
        link = contacts.link[c, side]
        if link >= 0:
            o, a, r = data.tree_origin[model.link_tree[link]], data.acceleration[link], work.reference[link]
            for k in range(6):
                beyond[k] = work.port_x[work.pair_port[pair, side], k] if solved else a[k] - r[k]
            cx, cy, cz = cross(beyond[3], beyond[4], beyond[5], p[0] - o[0], p[1] - o[1], p[2] - o[2])
            s = dt if side == 1 else -dt
            x, y, z = x + s * (beyond[0] + cx), y + s * (beyond[1] + cy), z + s * (beyond[2] + cz)
    return x, y, z


@jit
def update_contact(model, data, work, dt, c, letting_go):
    """Force of contact c at the end of the step, and whether its state may stay."""
    contacts, options = work.contacts, work.options
    n, e, end, f = contacts.normal[c], work.stretch[c], work.after[c], work.force[c]
    k, d, depth = work.elastic[c, 0], work.elastic[c, 1], -contacts.gap[c]
    x, y, z = end_velocity(model, data, work, dt, c)
    end[0], end[1], end[2] = x, y, z
    un = x * n[0] + y * n[1] + z * n[2]
    tx, ty, tz = x - un * n[0], y - un * n[1], z - un * n[2]
    speed = sqrt(tx * tx + ty * ty + tz * tz)
    normal = k * (depth - work.offset[c] - dt * un) - d * un  # (2): of the end of the step, un is u_n'
    if depth < 0.0:
        normal += d * depth / dt
    possible = depth > 0.0 or options.speculative != 0
    f[0] = f[1] = f[2] = 0.0
    if work.on[c] == 0:
        if letting_go or not possible or normal <= 0.0:
            return True
        work.on[c] = 1
        work.normal[c] = normal
        work.damper[c] = contacts.material[c, 1] * normal / max(speed, options.slip_speed)
        return False
    if normal <= 0.0 or not possible:
        work.on[c] = 0
        return False
    work.normal[c] = normal
    if work.slides[c] != 0:
        s = work.damper[c]
        fx, fy, fz = -s * tx, -s * ty, -s * tz
    else:
        kt, dt_ = options.tangential * k, options.tangential * d
        s = dt * kt + dt_
        fx, fy, fz = kt * e[0] - s * tx, kt * e[1] - s * ty, kt * e[2] - s * tz  # (2)
    f[0], f[1], f[2] = normal * n[0] + fx, normal * n[1] + fy, normal * n[2] + fz
    wanted = contacts.material[c, 1] * normal / max(speed, options.slip_speed)
    if work.slides[c] == 0:
        held = sqrt(fx * fx + fy * fy + fz * fz)
        if held > contacts.material[c, 0] * normal and held > 0.0:
            work.slides[c] = 1
            work.damper[c] = wanted
            return False
        return True
    before = work.damper[c]
    if abs(wanted - before) <= options.friction_tolerance * max(wanted, before):
        return True
    if letting_go and wanted >= before:
        return True
    work.damper[c] = wanted
    return False


@jit
def update_limits(model, data, work, dt, k, letting_go):
    """A limit that is passed holds, one that would pull lets go."""
    settled = True
    velocity = data.v[k] + dt * data.free_acceleration[k]
    for side in range(2):
        sign, gap = (1.0 if side == 0 else -1.0), limit_gap(model, data, k, side)
        left = sign * velocity + max(gap, 0.0) / dt  # how much slower than it may be
        if work.limit_on[k, side] == LIMIT_ON:
            if left > 0.0:  # it would have to pull
                work.limit_on[k, side] = LIMIT_OFF
                settled = False
            else:
                data.limit_impulse[k] = -sign * RIGID * work.dof_inertia[k] * left
        elif left < -1e-9 and not letting_go:
            work.limit_on[k, side] = LIMIT_ON
            settled = False
    if work.limit_on[k, 0] == LIMIT_OFF and work.limit_on[k, 1] == LIMIT_OFF:
        data.limit_impulse[k] = 0.0
    return settled


@jit
def update_joint_friction(model, data, work, dt, k, letting_go):
    """A joint that needs more than its static friction breaks away; the damper of one that slips is renewed."""
    velocity = data.v[k] + dt * data.free_acceleration[k]
    if work.joint_slides[k] == 0:
        force = -RIGID * work.dof_inertia[k] * velocity / dt
        data.friction_impulse[k], data.friction_slips[k] = force * dt, 0
        if abs(force) <= model.dof_static_friction[k]:
            return True
        work.joint_slides[k], work.joint_tried[k] = 1, 1
        push = abs(force) - model.dof_kinetic_friction[k]  # a first guess of the speed it slips with
        speed = max(abs(velocity), dt * push / max(work.dof_inertia[k], 1e-12))
        work.joint_damper[k] = model.dof_kinetic_friction[k] / max(speed, 1e-9)
        data.friction_slips[k] = 1
        return False
    data.friction_impulse[k], data.friction_slips[k] = -dt * work.joint_damper[k] * velocity, 1
    wanted = model.dof_kinetic_friction[k] / max(abs(velocity), 1e-9)
    before = work.joint_damper[k]
    if abs(wanted - before) <= JOINT_TOLERANCE * max(wanted, before) or letting_go:
        return True
    work.joint_damper[k] = wanted
    return False


@jit
def drag_anchors(work, dt):
    """After the passes: where the anchors are at the end of the step; a sliding point drags its own along."""
    contacts, options = work.contacts, work.options
    for c in range(contacts.counts[CONTACTS]):
        e, f, n, end = work.stretch[c], work.force[c], contacts.normal[c], work.after[c]
        if work.on[c] == 0 or options.friction == VISCOUS:
            e[0] = e[1] = e[2] = 0.0
            continue
        un = end[0] * n[0] + end[1] * n[1] + end[2] * n[2]
        fn = f[0] * n[0] + f[1] * n[1] + f[2] * n[2]
        kt = options.tangential * work.elastic[c, 0]
        for a in range(3):
            if work.slides[c] != 0:
                e[a] = (f[a] - fn * n[a]) / kt if kt > 0.0 else 0.0
            else:
                e[a] -= dt * (end[a] - un * n[a])
