"""`Data`: the state of a simulation and every array its kernels write. One per simulation, allocated once.

Spatial arrays are (linear, angular), in world axes at the origin of the link's tree: the root link's position for trees
with a free or scripted root, the fixed anchor otherwise. Keeping the origin near the tree keeps the numbers small.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.stepping import STAGE_CAPACITY
from sesshoku.compiled.table import Record, array, viewer
from sesshoku.model.arrays import LOOP_ROWS, Model
from sesshoku.scene.compiler import CompiledScene


class Data(Record):
    """L links, V dofs, Q coordinates, T trees, A actuators, C loops, M mimics, N tendons, P of their arms, R
    numbers in rows of the mass matrix; W constraint rows and J their coefficients; K clusters with U rows, B and F
    numbers in bases and factors. KL, KV, KT: links, dofs and trees where there are loops, else none. D dragged bodies.
    """

    # ---- state
    time = array(float, 1, saved=True)  # s
    q = array(float, "Q", saved=True)
    v = array(float, "V", saved=True)
    kinematic_pose = array(float, "L", 7, saved=True)  # of scripted links: position, quaternion
    kinematic_velocity = array(float, "L", 6, saved=True)  # linear, angular
    kinematic_acceleration = array(float, "L", 6, saved=True)
    kinematic_lead = array(float, "L", 6)  # velocity at the coming step's end minus its mean, as the script says
    friction_slips = array(int, "V", saved=True, within=(0, 1))  # 1: its Coulomb friction is in the kinetic state
    friction_state = array(int, "V")  # how the method treats it in this step (0: as a row)
    friction_impulse = array(float, "V", saved=True)  # of the last step, N s or N m s: where the next solve starts
    limit_impulse = array(float, "V", saved=True)  # positive: pushed up from the lower limit
    mimic_impulse = array(float, "M", saved=True)
    loop_impulse = array(float, "C", 6, saved=True)  # along the axes of the anchor frame on body a
    tendon_impulse = array(float, "N", 2, saved=True)  # of limits (positive: up from the lower) and of friction, N s
    activation = array(float, "A", saved=True)  # what a general actuator with dynamics takes for its command
    # ---- inputs
    actuator_command = array(float, "A", 3, saved=True)  # target, target velocity, feed-forward (torque: the command)
    external_force = array(float, "L", 6, saved=True)  # force, and torque about the link's centre of mass, world axes
    # ---- kinematics
    tree_origin = array(float, "T", 3)  # world
    rotation = array(float, "L", 3, 3)  # R_world_link
    offset = array(float, "L", 3)  # link origin from the tree's origin, world axes
    axis = array(float, "V", 6)  # motion of each dof (the columns of S)
    inertia = array(float, "L", 10)  # spatial inertia at the tree's origin
    # ---- spatial tendons along which something acts, at the pose of the links; of others nothing is written
    tendon_length = array(float, "N")  # m
    tendon_drift = array(float, "N")  # m/s: what scripted roots give to its rate
    tendon_arm = array(float, "P")  # change of length per dof, as model.tendon_dof
    tendon_reach = array(float, "V")  # the same by dof, of one tendon at a time
    # ---- motion and forces
    velocity = array(float, "L", 6)
    velocity_product = array(float, "L", 6)  # acceleration at zero joint acceleration, from this joint alone
    acceleration = array(float, "L", 6, saved=True)
    force = array(float, "L", 6)
    wrench = array(float, "L", 6)  # external wrench
    # ---- joint space
    composite = array(float, "L", 10)
    mass_matrix = array(float, "R")  # rows by ancestor chain
    factor = array(float, "R")  # unit lower L of H = L^T D L, same rows
    factor_dinv = array(float, "V")  # 1 / D
    bias_force = array(float, "V")  # C v + gravity - external wrenches
    joint_force = array(float, "V")  # actuators, springs, viscous friction
    constraint_force = array(float, "V")  # contact and constraint forces held through the stages of a step
    drive_force = array(float, "V")  # of all actuators, after clipping
    # after clipping, along joint or tendon; of one that pushes a body, per wrench
    actuator_force = array(float, "A", saved=True)
    actuator_wanted = array(float, "A")  # the same before clipping
    actuator_slope = array(float, "A")  # how what it wants falls with acceleration along joint or tendon
    actuator_clipped = array(int, "A")  # 1: a constant force, at its effort or its joint's
    lift_force = array(float, "V")  # gravity compensation that counts as an actuator force
    implicit_diagonal = array(float, "V")  # added to the mass matrix by implicit springs and servos
    free_acceleration = array(float, "V")
    work = array(float, "V")
    # ---- articulated-body algorithm
    articulated = array(float, "L", 21)  # lower triangle
    articulated_bias = array(float, "L", 6)
    pivot_force = array(float, "V", 6)  # U = I^A S
    pivot_inverse = array(float, "V")  # 1 / D
    pivot_residual = array(float, "V")  # u
    # ---- integration stages
    new_q = array(float, "Q")  # the step's result until it is known to be finite
    new_v = array(float, "V")
    stage_q = array(float, "Q")
    stage_v = array(float, "V")
    rate_q = array(float, 4, "Q")
    rate_v = array(float, 4, "V")
    turn = array(float, "L", 8)  # of lone free bodies that turn fast: quaternion and spin at the end; 0 or how (last)
    spin = array(float, "L", 3)  # their spin before impulses, along the axes of the start
    tree_fast = array(int, "T")  # 1: a joint turns far within the step (see `fast_joints`)
    tree_energy = array(float, "T")  # kinetic energy such a tree is to have, J
    link_motion = array(float, "L", 10)  # momentum, angular momentum, place and energy of its links
    start_v = array(float, "V")  # velocity at the step's start, where v is changed before its end
    # ---- constraint rows of one group at a time: limits, joint friction, mimics, loops (see `rows`); W: most of any
    loop_point = array(float, "C", 2, 3)  # anchors, world
    loop_frame = array(float, "C", 2, 3, 3)  # anchor frames, world
    loop_error = array(float, "C", 6)
    row_end = array(int, "W", 2)  # last dof of each of the two chains, -1: none
    row_start = array(int, "W", 2)  # where in row_jacobian the chain's coefficients begin
    row_jacobian = array(float, "J")
    row_half = array(float, "J")  # L^-T J^T, same layout
    row_low = array(float, "W")  # bounds on the impulse
    row_high = array(float, "W")
    row_target = array(float, "W")  # wanted velocity along the row
    row_source = array(int, "W", 2)  # kind and index of what the row stands for
    row_force = array(float, "W")  # impulse
    row_bias = array(float, "W")  # free velocity minus target
    row_matrix = array(float, "W", "W")  # J H^-1 J^T
    row_solver = array(float, "W", "W")  # work space of the solver
    row_work = array(float, 6, "W")
    row_active = array(int, "W")
    row_turn = array(float, "W")  # what the turning of links within a step adds to the wanted velocity, in clusters
    loop_turn = array(float, "C", 6)  # the same of loops, as the method asks for it
    # ---- independent rows of clusters (see `independent`): K clusters, U rows of all
    basis = array(float, "B")  # orthonormal rows in half form, over the cluster's dofs
    basis_factor = array(float, "F")  # (m, m) per cluster: row of the basis -> shares in the m rows given
    basis_order = array(int, "U")  # which of the rows given became the cluster's basis, one after the other
    basis_scale = array(float, "U")  # size of the rows given
    basis_source = array(int, "U", 2)  # kind and index of what they stand for
    basis_rank = array(int, "K")  # how many are independent
    basis_row = array(int, "K")  # where a problem has the cluster's first row
    basis_y = array(float, "V")
    basis_way = array(float, "V")  # displacement that closes loops
    dof_place = array(int, "V")  # place of a dof within its cluster
    link_kept = array(float, "KL", 12)  # poses of the step while loops are closed; (0) without loops
    dof_kept = array(float, "KV", 6)
    tree_kept = array(float, "KT", 3)
    loop_kept = array(float, "C", 24)
    # ---- drag of the surrounding fluid
    drag_most = array(float, "D", 6)  # bounds of drag per speed: what stops the body within a step
    drag_wrench = array(float, "D", 6)  # on each body about its centre of mass, world axes, as last evaluated
    # ---- report
    counters = array(int, 8)
    clock = array(int, STAGE_CAPACITY)  # whether stages are to be timed, then ticks of each (compiled/stepping.py)
    report = array(float, 16, saved=True, finite=False)
    # ---- does energy grow without a source? (stages/growth.py)
    # as the last step left them: where they differ, somebody has changed the state since
    left_q = array(float, "Q", saved=True)
    left_v = array(float, "V", saved=True)
    growth = array(float, 8, saved=True, finite=False)


as_data = viewer(Data)


def group_row_counts(model: Model) -> np.ndarray:
    """The most constraint rows each group of the model can have at once."""
    loop_rows = np.concatenate([[0], np.cumsum([LOOP_ROWS[kind] for kind in model.loop_kind])]).astype(np.int64)
    limited = np.isfinite(model.tendon_lower) | np.isfinite(model.tendon_upper)
    tendon_rows = (2 * limited + (model.tendon_friction > 0.0))[model.rowed_tendons].astype(np.int64)
    tendon_rows = np.concatenate([[0], np.cumsum(tendon_rows)]).astype(np.int64)
    return (2 * np.diff(model.group_limited) + np.diff(model.group_rubbing) + np.diff(model.group_mimic)
            + np.diff(loop_rows[model.group_loop]) + np.diff(tendon_rows[model.group_tendon]))


def row_capacity(model: Model) -> int:
    """The most constraint rows any group can have at once."""
    return int(max(group_row_counts(model), default=0))


def row_total(model: Model) -> int:
    """The most constraint rows all groups together can have at once."""
    return int(group_row_counts(model).sum())


def start_data(compiled: CompiledScene, dt: float) -> Data:
    """The data of a simulation with steps of dt seconds."""
    data = make_data(compiled)
    data.drag_most[:] = compiled.model.drag_inertia / dt
    return data


def make_data(compiled: CompiledScene) -> Data:
    """Allocate the work space of a model and set its start state."""
    m = compiled.model
    L, V, Q, T, A = m.link_count, m.dof_count, m.coordinate_count, m.tree_count, m.actuator_count
    R = int(m.dof_row[-1])
    W = row_capacity(m)
    chain = int(max(m.dof_depth, default=0)) + 1 if V else 0
    kept = 1 if m.loop_count else 0
    data = Data.sized({
        "L": L, "V": V, "Q": Q, "T": T, "A": A, "C": m.loop_count, "M": m.mimic_count, "N": m.tendon_count,
        "P": len(m.tendon_dof), "R": R,
        "W": W, "J": 2 * W * chain, "K": m.cluster_count, "U": int(m.cluster_start[-1, 0]),
        "B": int(m.cluster_start[-1, 1]), "F": int(m.cluster_start[-1, 2]), "KL": kept * L, "KV": kept * V,
        "KT": kept * T, "D": m.drag_count})
    data.drag_most[:] = np.inf
    data.q[:] = compiled.q
    data.v[:] = compiled.v
    data.kinematic_pose[:] = compiled.kinematic_pose
    data.kinematic_velocity[:] = compiled.kinematic_velocity
    data.actuator_command[:] = compiled.actuator_command
    data.activation[:] = compiled.activation
    return data
