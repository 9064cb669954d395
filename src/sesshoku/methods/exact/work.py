"""What `exact` keeps from step to step, and its work space."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.compiled.table import Record, array, viewer
from sesshoku.dynamics.data import row_total
from sesshoku.scene.compiler import CompiledScene
from sesshoku.solvers.pgs import DISC
from sesshoku.solvers.problem import Problem, make_problem
from sesshoku.solvers.proximal.work import NewtonWork, make_newton_work


class Memory(Record):
    """C contacts, E turning blocks (C or none), J joint rows, V dofs, T trees."""

    # ---- contacts of this step
    law = array(int, 1)  # (C) Coulomb's cone, all of them
    mu = array(float, 1)  # (C) the coefficient in force
    slips = array(int, 1)  # (C) 1: kinetic friction
    locked = array(int, 1)  # (C) broke away in this step: stays kinetic; or was tried at rest already
    impact = array(float, 2)  # (C, 6) of contacts that close in this step, see below
    free_normal = array(float, 1)  # (C) normal velocity at the end without contacts, targets left aside
    unaided = array(float, 2)  # (C, 3) velocity at the end without contacts, by the rows alone, along the axes
    forced = array(float, 2)  # (C, 3) what forces change it by in the step; the rest is gyroscopic
    turn = array(float, 2)  # (C, 3) what half a step of turning adds to the velocity, along the axes
    held = array(int, 1)  # (C) 1: held open, would rebound if it arrived
    anchor = array(float, 3)  # (C, 2, 3) where the links touched when the contact began to stick, in their frames
    anchored = array(int, 1)  # (C)
    impulse_world = array(float, 2)  # (C, 3)
    # ---- of the step before
    old_impulse = array(float, 2)  # (C, 3) world axes
    old_torque = array(float, 2)  # (E, 3) impulses of the turning blocks, world axes
    old_slips = array(int, 1)  # (C)
    old_parted = array(int, 1)  # (C) 1: carries nothing into the next step, by no impulse or by a rebound
    old_anchor = array(float, 3)  # (C, 2, 3)
    old_anchored = array(int, 1)  # (C)
    tree_jammed = array(int, 1)  # (T) in an island without solution
    # ---- joint friction, see `locks`
    tree_rubs = array(int, 1)  # (T) 1: it has joints with friction
    tree_rows = array(int, 1)  # (T) steps for which friction of its joints will be rows
    tree_wait = array(int, 1)  # (T) how many that were when locks failed last
    tree_restless = array(int, 1)  # (T) steps one after the other in which a joint of it went to and fro
    lock_free = array(float, 1)  # (V) free velocity without friction of joints
    lock_diagonal = array(float, 1)  # (V) implicit_diagonal without locks
    lock_switches = array(int, 1)  # (V) how often a joint changed its state in this step
    lock_work = array(float, 1)  # (V)
    # ---- work
    start_velocity = array(float, 2)  # (C, 3) velocity of the contacts at the start, along the axes
    joint_locked = array(int, 1)  # (J)
    joint_list = array(int, 1)  # (J) joint rows, island by island
    joint_start = array(int, 1)  # (T + 2)
    dof_list = array(int, 2)  # (T, 2)
    block_list = array(int, 1)  # (C + E) an island's contacts, then its turning blocks; (0) without those
    y_before = array(float, 1)  # (V)
    y_direction = array(float, 1)  # (V)
    shift = array(float, 1)  # (V) displacement: impacts act from their own instant
    turned = array(float, 1)  # (V) turns of lone bodies by that, along which their spin went after the solve
    gyration = array(float, 1)  # (V) change of a lone body's spin by gyroscopic torque


as_memory = viewer(Memory)
# places in `impact`: when (s), velocity then, what free motion adds until the end, restitution; and of the velocity
# that the impulse makes the impact's part, and the part that carries load from then on
INSTANT, SPEED, GAINED, BOUNCE, TAKEN, SUPPORT = range(6)


def make_memory(compiled: CompiledScene, contacts: Any) -> tuple[Problem, Memory, NewtonWork]:
    """The problem and the work space for as many contacts as `contacts` can hold."""
    m, C = compiled.model, contacts.capacity
    W, V, T = row_total(m), m.dof_count, m.tree_count
    E = C if m.has_turning else 0
    shapes = {"law": C, "mu": C, "slips": C, "locked": C, "impact": (C, 6), "free_normal": C, "held": C, "turn": (C, 3),
              "anchor": (C, 2, 3), "anchored": C, "old_anchor": (C, 2, 3), "old_anchored": C, "tree_jammed": T,
              "impulse_world": (C, 3), "old_impulse": (C, 3), "old_torque": (E, 3), "old_slips": C, "old_parted": C,
              "joint_locked": W, "joint_list": W, "joint_start": T + 2,
              "dof_list": (T, 2), "block_list": 2 * E, "y_before": V, "y_direction": V, "shift": V,
              "tree_rubs": T, "tree_rows": T, "tree_wait": T, "tree_restless": T, "lock_free": V, "lock_diagonal": V,
              "lock_switches": V, "lock_work": V,
              "start_velocity": (C, 3), "unaided": (C, 3), "forced": (C, 3), "gyration": V, "turned": V}
    arrays = {name: np.zeros(shape, dtype=np.int64 if Memory.fields[name].dtype is int else np.float64)
              for name, shape in shapes.items()}
    arrays["law"][:] = DISC
    arrays["tree_rubs"][m.link_tree[m.dof_link[m.rubbing_dofs]]] = 1
    problem = make_problem(C, W, V, int(max(m.dof_depth, default=-1)) + 1, turning=E > 0,
                           basis=int(m.cluster_start[-1, 1]))
    return problem, Memory(**arrays), make_newton_work(C + E, W, V, T)
