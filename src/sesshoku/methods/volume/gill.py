"""One step by Runge-Kutta-Gill, the paper's integrator: the contact is solved anew at each of the four stages.

A stage's rate of v is (solved velocity - velocity of the stage) / dt, since eq. (13) asks for a velocity one dt ahead.
So a step closes only 1 - 0.375 of an error of velocity, where semi-implicit Euler closes all of it, and costs four
times as much; resting depth and forces are the same.
"""

from __future__ import annotations

from sesshoku.collision.overlap.detect import find_overlaps
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.kinematics import coordinate_rate, kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.integrate.fast_joints import FAST
from sesshoku.integrate.position import move_kinematic, normalize
from sesshoku.integrate.rkg import TABLEAU
from sesshoku.integrate.runge_kutta import combine
from sesshoku.methods.volume.apply import apply_wrenches
from sesshoku.methods.volume.problem import problem_rows, remember_speeds
from sesshoku.methods.volume.solve import solve_islands
from sesshoku.stages.free_motion import RUNGE_KUTTA, coast, finish, unconstrained_velocity

THIN = 0.0  # m: any overlap with a polygon is an area


@jit
def solve_here(model, data, work, dt, implicit_dt):
    """new_v: the velocity dt after the state in data.q and data.v, contact solved."""
    contacts, polyhedra, overlaps, options = work.contacts, work.polyhedra, work.overlaps, work.options
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    find_overlaps(model, data, contacts, polyhedra, overlaps, options.depth_integral, THIN)
    free_motion(model, data, dt, implicit_dt)
    problem_rows(model, data, work, dt)
    solve_islands(model, data, work, dt)
    apply_wrenches(model, data, work, dt)


@jit
def free_motion(model, data, dt, implicit_dt):
    """new_v: the velocity at the end of the step without contact and joint rows."""
    unconstrained_velocity(model, data, dt, implicit_dt)
    if implicit_dt > 0.0:  # not within the stages of Gill's scheme
        coast(model, data, dt, FAST)


@jit
def gill_step(model, data, work, dt):
    """One step; False if its result is not finite (the state then stays as it was)."""
    start_q, start_v, rate_q, rate_v, time = work.start_q, work.start_v, data.rate_q, data.rate_v, 0.0
    for n in range(model.coordinate_count):
        start_q[n] = data.q[n]
    for k in range(model.dof_count):
        start_v[k] = data.v[k]
    for s in range(4):
        combine(start_q, rate_q, TABLEAU, s, dt, data.q)
        combine(start_v, rate_v, TABLEAU, s, dt, data.v)
        normalize(model, data.q)
        move_kinematic(model, data, (TABLEAU[s, 0] - time) * dt)
        time = TABLEAU[s, 0]
        solve_here(model, data, work, dt, 0.0)
        coordinate_rate(model, data.q, data.v, rate_q[s])
        for k in range(model.dof_count):
            rate_v[s, k] = (data.new_v[k] - data.v[k]) / dt
    move_kinematic(model, data, (1.0 - time) * dt)
    combine(start_q, rate_q, TABLEAU, 4, dt, data.new_q)
    combine(start_v, rate_v, TABLEAU, 4, dt, data.new_v)
    normalize(model, data.new_q)
    remember_speeds(model, start_v, work)
    for n in range(len(model.rubbing_dofs)):
        k = model.rubbing_dofs[n]  # one that static friction brings to rest, which takes several steps, is held on
        if not data.friction_slips[k] and abs(data.new_v[k]) < abs(start_v[k]):
            work.old_v[k] = -data.new_v[k]
    for n in range(model.coordinate_count):
        data.q[n] = start_q[n]
    for k in range(model.dof_count):
        data.v[k] = start_v[k]
    return finish(model, data, RUNGE_KUTTA, dt)
