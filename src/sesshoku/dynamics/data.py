"""`Data`: the state of a simulation and every array its kernels write. One per simulation, allocated once.

Spatial arrays are (linear, angular), in world axes at the origin of the link's tree: the root link's position for trees
with a free or scripted root, the fixed anchor otherwise. Keeping the origin near the tree keeps the numbers small.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.table import Record, array, viewer
from sesshoku.model.arrays import LOOP_ROWS, Model
from sesshoku.scene.compiler import CompiledScene

# what a saved state consists of; the rest is work space
STATE = ("time", "q", "v", "kinematic_pose", "kinematic_velocity", "kinematic_acceleration", "friction_slips",
         "friction_impulse", "limit_impulse", "mimic_impulse", "loop_impulse", "tendon_impulse", "actuator_command",
         "activation", "external_force", "actuator_force")


class Data(Record):
    """Shapes: L links, V dofs, Q coordinates, T trees, A actuators, R numbers in rows of the mass matrix, W rows."""

    # ---- state
    time = array(float, 1)  # (1) s
    q = array(float, 1)  # (Q)
    v = array(float, 1)  # (V)
    kinematic_pose = array(float, 2)  # (L, 7) of scripted links: position, quaternion
    kinematic_velocity = array(float, 2)  # (L, 6) linear, angular
    kinematic_acceleration = array(float, 2)  # (L, 6)
    kinematic_lead = array(float, 2)  # (L, 6) velocity at the coming step's end minus its mean, as the script says
    friction_slips = array(int, 1)  # (V) 1: the joint's Coulomb friction is in its kinetic state
    friction_state = array(int, 1)  # (V) how the method treats it in this step (0: as a row)
    friction_impulse = array(float, 1)  # (V) of the last step, N s or N m s: where the next solve starts
    limit_impulse = array(float, 1)  # (V) positive: pushed up from the lower limit
    mimic_impulse = array(float, 1)  # (M)
    loop_impulse = array(float, 2)  # (C, 6) along the axes of the anchor frame on body a
    tendon_impulse = array(float, 2)  # (N, 2) of limits (positive: pushed up from the lower) and of friction, N s
    activation = array(float, 1)  # (A) what a general actuator with dynamics takes for its command
    # ---- inputs
    actuator_command = array(float, 2)  # (A, 3) target, target velocity, feed-forward (torque: the command)
    external_force = array(float, 2)  # (L, 6) force, and torque about the link's centre of mass, world axes
    # ---- kinematics
    tree_origin = array(float, 2)  # (T, 3) world
    rotation = array(float, 3)  # (L, 3, 3) R_world_link
    offset = array(float, 2)  # (L, 3) link origin from the tree's origin, world axes
    axis = array(float, 2)  # (V, 6) motion of each dof (the columns of S)
    inertia = array(float, 2)  # (L, 10) spatial inertia at the tree's origin
    # ---- motion and forces
    velocity = array(float, 2)  # (L, 6)
    velocity_product = array(float, 2)  # (L, 6) acceleration at zero joint acceleration, from this joint alone
    acceleration = array(float, 2)  # (L, 6)
    force = array(float, 2)  # (L, 6)
    wrench = array(float, 2)  # (L, 6) external wrench
    # ---- joint space
    composite = array(float, 2)  # (L, 10)
    mass_matrix = array(float, 1)  # (R) rows by ancestor chain
    factor = array(float, 1)  # (R) unit lower L of H = L^T D L, same rows
    factor_dinv = array(float, 1)  # (V) 1 / D
    bias_force = array(float, 1)  # (V) C v + gravity - external wrenches
    joint_force = array(float, 1)  # (V) actuators, springs, viscous friction
    held_force = array(float, 1)  # (V) contact and constraint forces held through the stages of a step
    drive_force = array(float, 1)  # (V) of all actuators, after clipping
    actuator_force = array(float, 1)  # (A) after clipping, along joint or tendon; of one that pushes a body, per wrench
    actuator_wanted = array(float, 1)  # (A) the same before clipping
    actuator_slope = array(float, 1)  # (A) how what it wants falls with acceleration along joint or tendon
    actuator_clipped = array(int, 1)  # (A) 1: a constant force, at its effort or its joint's
    lift_force = array(float, 1)  # (V) gravity compensation that counts as an actuator force
    implicit_diagonal = array(float, 1)  # (V) added to the mass matrix by implicit springs and servos
    free_acceleration = array(float, 1)  # (V)
    work = array(float, 1)  # (V)
    # ---- articulated-body algorithm
    articulated = array(float, 2)  # (L, 21) lower triangle
    articulated_bias = array(float, 2)  # (L, 6)
    pivot_force = array(float, 2)  # (V, 6) U = I^A S
    pivot_inverse = array(float, 1)  # (V) 1 / D
    pivot_residual = array(float, 1)  # (V) u
    # ---- integration stages
    new_q = array(float, 1)  # (Q) the step's result until it is known to be finite
    new_v = array(float, 1)  # (V)
    stage_q = array(float, 1)  # (Q)
    stage_v = array(float, 1)  # (V)
    rate_q = array(float, 2)  # (4, Q)
    rate_v = array(float, 2)  # (4, V)
    turn = array(float, 2)  # (L, 8) of lone free bodies that turn fast: quaternion and spin at the end; 0 or how (last)
    spin = array(float, 2)  # (L, 3) their spin before impulses, along the axes of the start
    tree_fast = array(int, 1)  # (T) 1: a joint turns far within the step (see `fast_joints`)
    tree_energy = array(float, 1)  # (T) kinetic energy such a tree is to have, J
    link_motion = array(float, 2)  # (L, 10) momentum, angular momentum, place and energy of its links
    start_v = array(float, 1)  # (V) velocity at the step's start, where v is changed before its end
    # ---- constraint rows of one group at a time: limits, joint friction, mimics, loops (see `rows`); W: most of any
    loop_point = array(float, 3)  # (C, 2, 3) anchors, world
    loop_frame = array(float, 4)  # (C, 2, 3, 3) anchor frames, world
    loop_error = array(float, 2)  # (C, 6)
    row_end = array(int, 2)  # (W, 2) last dof of each of the two chains, -1: none
    row_start = array(int, 2)  # (W, 2) where in row_jacobian the chain's coefficients begin
    row_jacobian = array(float, 1)
    row_half = array(float, 1)  # L^-T J^T, same layout
    row_low = array(float, 1)  # (W) bounds on the impulse
    row_high = array(float, 1)
    row_target = array(float, 1)  # (W) wanted velocity along the row
    row_source = array(int, 2)  # (W, 2) kind and index of what the row stands for
    row_force = array(float, 1)  # (W) impulse
    row_bias = array(float, 1)  # (W) free velocity minus target
    row_matrix = array(float, 2)  # (W, W) J H^-1 J^T
    row_solver = array(float, 2)  # (W, W) work space of the solver
    row_work = array(float, 2)  # (6, W)
    row_active = array(int, 1)  # (W)
    row_turn = array(float, 1)  # (W) what the turning of links within a step adds to the wanted velocity, in clusters
    loop_turn = array(float, 2)  # (C, 6) the same of loops, as the method asks for it
    # ---- independent rows of clusters (see `independent`): K clusters, U rows of all
    basis = array(float, 1)  # orthonormal rows in half form, over the cluster's dofs
    basis_factor = array(float, 1)  # (m, m) per cluster: row of the basis -> shares in the m rows given
    basis_order = array(int, 1)  # (U) which of the rows given became the cluster's basis, one after the other
    basis_scale = array(float, 1)  # (U) size of the rows given
    basis_source = array(int, 2)  # (U, 2) kind and index of what they stand for
    basis_rank = array(int, 1)  # (K) how many are independent
    basis_row = array(int, 1)  # (K) where a problem has the cluster's first row
    basis_y = array(float, 1)  # (V)
    basis_way = array(float, 1)  # (V) displacement that closes loops
    dof_place = array(int, 1)  # (V) place of a dof within its cluster
    link_kept = array(float, 2)  # (L, 12) poses of the step while loops are closed; (0) without loops
    dof_kept = array(float, 2)  # (V, 6)
    tree_kept = array(float, 2)  # (T, 3)
    loop_kept = array(float, 2)  # (C, 24)
    # ---- report
    counters = array(int, 1)  # (8)
    report = array(float, 1)  # (16)


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


def make_data(compiled: CompiledScene) -> Data:
    """Allocate the work space of a model and set its start state."""
    m = compiled.model
    L, V, Q, T, A = m.link_count, m.dof_count, m.coordinate_count, m.tree_count, m.actuator_count
    R = int(m.dof_row[-1])
    W = row_capacity(m)
    chain = int(max(m.dof_depth, default=0)) + 1 if V else 0
    sizes = {"L": L, "V": V, "Q": Q, "T": T, "A": A, "R": R, "W": W, "J": 2 * W * chain, "C": m.loop_count,
             "M": m.mimic_count, "K": m.cluster_count, "U": int(m.cluster_start[-1, 0]),
             "B": int(m.cluster_start[-1, 1]), "F": int(m.cluster_start[-1, 2]), "KL": L if m.loop_count else 0,
             "KV": V if m.loop_count else 0, "KT": T if m.loop_count else 0, "N": m.tendon_count}
    shapes = {
        "time": (1,), "q": "Q", "v": "V", "kinematic_pose": ("L", 7), "kinematic_velocity": ("L", 6),
        "kinematic_acceleration": ("L", 6), "kinematic_lead": ("L", 6), "friction_slips": "V",
        "friction_state": "V", "friction_impulse": "V",
        "limit_impulse": "V", "mimic_impulse": "M", "loop_impulse": ("C", 6), "actuator_command": ("A", 3),
        "external_force": ("L", 6),
        "tree_origin": ("T", 3), "rotation": ("L", 3, 3), "offset": ("L", 3), "axis": ("V", 6), "inertia": ("L", 10),
        "velocity": ("L", 6), "velocity_product": ("L", 6), "acceleration": ("L", 6), "force": ("L", 6),
        "wrench": ("L", 6), "composite": ("L", 10), "mass_matrix": "R", "factor": "R", "factor_dinv": "V",
        "bias_force": "V", "joint_force": "V", "held_force": "V", "drive_force": "V", "actuator_force": "A",
        "actuator_wanted": "A", "actuator_slope": "A", "actuator_clipped": "A", "lift_force": "V", "activation": "A",
        "tendon_impulse": ("N", 2), "implicit_diagonal": "V",
        "free_acceleration": "V", "work": "V",
        "articulated": ("L", 21), "articulated_bias": ("L", 6), "pivot_force": ("V", 6), "pivot_inverse": "V",
        "pivot_residual": "V", "new_q": "Q", "new_v": "V", "stage_q": "Q", "stage_v": "V", "rate_q": (4, "Q"),
        "rate_v": (4, "V"), "turn": ("L", 8), "spin": ("L", 3), "tree_fast": "T", "tree_energy": "T",
        "link_motion": ("L", 10), "start_v": "V",
        "loop_point": ("C", 2, 3), "loop_frame": ("C", 2, 3, 3), "loop_error": ("C", 6),
        "row_end": ("W", 2), "row_start": ("W", 2), "row_jacobian": "J", "row_half": "J",
        "row_low": "W", "row_high": "W", "row_target": "W", "row_source": ("W", 2), "row_force": "W", "row_bias": "W",
        "row_matrix": ("W", "W"),
        "row_solver": ("W", "W"), "row_work": (6, "W"), "row_active": "W",
        "row_turn": "W", "loop_turn": ("C", 6), "basis": "B", "basis_factor": "F", "basis_order": "U",
        "basis_scale": "U", "basis_source": ("U", 2), "basis_rank": "K", "basis_row": "K", "basis_y": "V",
        "basis_way": "V", "dof_place": "V", "link_kept": ("KL", 12), "dof_kept": ("KV", 6), "tree_kept": ("KT", 3),
        "loop_kept": ("C", 24), "counters": (8,), "report": (16,),
    }
    arrays = {}
    for name, shape in shapes.items():
        dims = [sizes[d] if isinstance(d, str) else d for d in (shape if isinstance(shape, tuple) else (shape,))]
        arrays[name] = np.zeros(dims, dtype=np.int64 if Data.fields[name].dtype is int else np.float64)
    data = Data(**arrays)
    data.q[:] = compiled.q
    data.v[:] = compiled.v
    data.kinematic_pose[:] = compiled.kinematic_pose
    data.kinematic_velocity[:] = compiled.kinematic_velocity
    data.actuator_command[:] = compiled.actuator_command
    data.activation[:] = compiled.activation
    return data
