"""The largest step that springs of the user's own stiffness bear.

Symplectic Euler with explicit dampers is stable for a mode of frequency omega as long as
    omega^2 dt^2 + 2 (c / k) omega^2 dt < 4,    that is   dt < (-c + sqrt(c^2 + 4 k m)) / k   for one mass m.
Contacts: the modes of a shape that stands on one of its flat faces, springs at its corners. Joints: the modes of all
joint springs together at the start. Springs by the rule are stable by construction (contact/friction.py).

Implicit joints bear any stiffness, and servos act through them at once. With explicit joints, implicit servos are
stable at any gains, but know of contacts only what those did a step before (joint/drives.py): their force builds
up by H / (H + D) per step, H the inertia they drive, D = dt kd + dt^2 kp.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import UnsupportedFeature
from sesshoku.methods.springs.contact.overlaps import overlap_cautions
from sesshoku.methods.springs.options import Options
from sesshoku.methods.springs.work import STOP, body_inertia, symmetric
from sesshoku.model.arrays import FREE, GENERAL, PLANAR, POSITION, REVOLUTE, SPHERICAL
from sesshoku.model.arrays import TORQUE as ACTUATOR_TORQUE
from sesshoku.scene.compiler import CompiledScene, link_poses

LATE, FAR = 20.0, 0.1  # steps in which a servo's force builds up; rad (m) that its effort moves its link in one step
TOO_FAR = 1.0  # the same, where a step cannot follow


def largest_step(square: float, ratio: float) -> float:
    """Largest stable dt, s, of a mode with omega^2 = `square` and c / k = `ratio`: eqs. (3.12)-(3.14) with a damper."""
    return float(-ratio + np.sqrt(ratio * ratio + 4.0 / square)) if square > 0.0 else np.inf


def _given_springs(compiled: CompiledScene, breps: Any, presses: Any, shape: int) -> list[tuple[float, float, str]]:
    """Stiffness, damping (negative: by the rule) and owner of the springs that users gave a shape."""
    names, frame = compiled.frame_names, int(breps.shape_frame[shape])
    found = [(*presses.given[shape], f"body {names[frame]!r}")]
    for key, (k, c) in zip(breps.pair_key, presses.pair_given, strict=True):
        pair = divmod(int(key), int(breps.frame_count))
        if frame in pair:
            a, b = sorted(str(names[i]) for i in pair)
            found.append((k, c if c >= 0.0 else float(presses.given[shape, 1]), f"the pair {a!r}, {b!r}"))
    return [entry for entry in found if entry[0] > 0.0]


def cautions(compiled: CompiledScene, options: Options, work: Any, dt: float) -> list[str | Warning]:
    """What to warn of when a simulation is made: springs too stiff for the step, bodies too deep in each other."""
    breps, presses, bodies = work.breps, work.presses, work.bodies
    found: list[str | Warning] = [*overlap_cautions(compiled, breps, _poses(compiled))]
    found += narrow_shapes(compiled, breps, presses)
    for shape in range(breps.shape_count):
        b = int(breps.shape_body[shape])
        for k, c, owner in _given_springs(compiled, breps, presses, shape) if bodies.mass[b] > 0.0 else ():
            ratio = c / k if c >= 0.0 else options.damping_steps * dt
            most = largest_step(k * face_modes(breps, bodies, shape, b, options.stiffness_per == "area"), ratio)
            if dt > most:
                found.append(_text(f"the contact springs of {owner}", k, ratio * k, most, dt))
    if options.joint_springs == "implicit":
        return found  # joints and servos bear any step
    if options.joint_stiffness is not None and work.joints.spring_count:
        k = options.joint_stiffness
        c = options.joint_damping if options.joint_damping is not None else options.damping_steps * k * dt
        most = largest_step(k * joint_modes(compiled, work), c / k)
        if dt > most:
            found.append(_text("the springs of the joints", k, c, most, dt))
    return [*found, *servo_cautions(compiled, dt), *loop_cautions(compiled)]


def loop_cautions(compiled: CompiledScene) -> list[str]:
    """Loops of explicit springs around joints with armature, springs or dampers, which do not know of them."""
    model = compiled.model
    looped = {int(model.tree_joined[model.link_tree[link]]) for pair in model.loop_link for link in pair if link >= 0}
    around, sprung = [], set(model.sprung_dofs.tolist())
    for k in range(model.dof_count):
        i = int(model.dof_link[k])
        between = model.link_parent[i] >= 0 and model.dof_armature[k] > 0.0
        if int(model.tree_joined[model.link_tree[i]]) in looped and model.link_joint[i] != FREE and (
                between or k in sprung and model.dof_implicit[k]):
            around.append((0.0, compiled.joint_names[i]))
    if not around:
        return []
    return [f"joint {around[0][1]!r}{_more(around)} has armature, a spring or a damper and is part of a closed loop: "
            f"with explicit joint springs those do not know of the loop, and it may gain energy; use "
            f'joint_springs="implicit" (springs:recommended)']


def narrow_shapes(compiled: CompiledScene, breps: Any, presses: Any) -> list[Warning]:
    """Shapes with features too narrow for the contact limit: they shrink by less than it, and are held the sooner."""
    wanted, applied = presses.wanted_margin, breps.shape_margin
    narrow = [s for s in range(breps.shape_count) if np.isfinite(wanted[s]) and applied[s] < 0.999 * wanted[s]]
    if not narrow:
        return []
    worst = min(narrow, key=lambda s: float(applied[s] / wanted[s]))
    name, limit = compiled.frame_names[breps.shape_frame[worst]], wanted[worst] / 0.55
    thickness = float((2.0 * breps.shape_box[worst, 1]).min())
    more = f" (and {len(narrow) - 1} more)" if len(narrow) > 1 else ""
    return [UnsupportedFeature(
        f"a shape of body {name!r}{more}, {thickness:.3g} m wide, has features narrower than the contact limit of "
        f"{limit:.3g} m asks for: it shrinks by {applied[worst]:.3g} m instead of {wanted[worst]:.3g} m, and what is "
        f"narrower is lost in fast contacts; give a lower limit (springs(limit=...)) or a simpler shape")]


def servo_cautions(compiled: CompiledScene, dt: float) -> list[str]:
    """Actuators too strong for a step; servos that press too late, unless their effort is too small to matter."""
    model, slow, strong = compiled.model, [], []
    poses = _poses(compiled)
    for a in range(model.actuator_count):
        k, gear = int(model.actuator_dof[a]), abs(float(model.actuator_gear[a]))
        if k < 0:
            continue  # tendons: the inertia behind them depends on what else moves; bodies: nothing is stiff
        inertia = driven_inertia(compiled, poses, int(model.dof_link[k])) + float(model.dof_armature[k])
        kp, kd = servo_gains(model, a)
        late = (dt * kd + dt * dt * kp) / inertia if model.actuator_implicit[a] else 0.0
        effort = min(gear * float(np.abs(model.actuator_effort[a]).max()), float(np.abs(model.dof_effort[k]).max()))
        turn = effort * dt * dt / inertia
        if late > LATE and turn > FAR:
            slow.append((late, compiled.actuator_names[a]))
        if TOO_FAR < turn < np.inf:
            strong.append((turn, compiled.actuator_names[a]))
    found = []
    if strong:
        turn, name = max(strong)
        found.append(f"actuator {name!r}{_more(strong)} at its effort moves its link by {turn:.2g} rad or m within one "
                     f"step, from rest; lower dt or the effort, or add armature")
    if not slow:
        return found
    late, name = max(slow)
    found.append(f"actuator {name!r}{_more(slow)} is too stiff for the inertia it drives: held by a contact, its force "
                 f"builds up over {late:.0f} steps; lower dt, its gains or its effort, or add armature")
    return found


def servo_gains(model: Any, a: int) -> tuple[float, float]:
    """Stiffness and damping of actuator a along its joint, after the gear; general ones at zero command."""
    kind, gear = model.actuator_kind[a], abs(float(model.actuator_gear[a]))
    if kind == GENERAL:
        return -gear * gear * float(model.actuator_bias[a, 1]), -gear * gear * float(model.actuator_bias[a, 2])
    kp = float(model.actuator_kp[a]) if kind == POSITION else 0.0
    return gear * kp, gear * float(model.actuator_kd[a]) if kind != ACTUATOR_TORQUE else 0.0


def _more(named: list[tuple[float, str]]) -> str:
    return f" (and {len(named) - 1} more)" if len(named) > 1 else ""


def driven_inertia(compiled: CompiledScene, poses: Any, i: int) -> float:
    """Inertia of link i and all it carries about (or mass along) its joint's axis, at the start."""
    model, total = compiled.model, 0.0
    p, R = poses[i]
    axis = R[:, 2]
    below = {i}
    for b in range(i, model.link_count):
        if b == i or int(model.link_parent[b]) in below:
            below.add(b)
            if model.link_joint[i] == REVOLUTE:
                x, Q = poses[b]
                arm = np.cross(axis, x + Q @ model.link_center[b] - p)
                local = Q.T @ axis
                total += float(model.link_mass[b] * arm @ arm + local @ symmetric(model.link_inertia[b]) @ local)
            else:
                total += float(model.link_mass[b])
    return total


def turned_inertia(compiled: CompiledScene) -> np.ndarray:
    """Inertia (V) that each turning dof of a joint moves at the start; infinite for the others."""
    model, poses = compiled.model, _poses(compiled)
    found = np.full(model.dof_count, np.inf)
    for i in range(model.link_count):
        kind, k = model.link_joint[i], int(model.link_dof[i])
        if kind == REVOLUTE:
            found[k] = driven_inertia(compiled, poses, i) + model.dof_armature[k]
        elif kind == SPHERICAL:
            found[k:k + 3] = np.linalg.eigvalsh(body_inertia(model, i))[0]
        elif kind == PLANAR:
            found[k + 2] = body_inertia(model, i)[2, 2]
    return found


def _text(what: str, k: float, c: float, most: float, dt: float) -> str:
    return (f"{what} ({k:.4g} N/m, {c:.4g} N s/m) are stable up to dt = {most:.4g} s, and dt is {dt:.4g} s: they "
            f"gain energy until their limit holds them; lower dt, stiffness or damping, or leave them to the method")


def _poses(compiled: CompiledScene) -> Any:
    names = ("link_count", "link_joint", "link_coordinate", "link_parent", "link_position", "link_rotation")
    return link_poses({name: getattr(compiled.model, name) for name in names}, compiled.q, compiled.kinematic_pose)


def face_modes(breps: Any, bodies: Any, shape: int, b: int, per_area: bool) -> float:
    """Largest omega^2 per unit stiffness of a body standing on a flat face of the shape."""
    inverse, mass, most = symmetric(bodies.own_inverse[b]), bodies.mass[b], 0.0
    first, last = breps.shape_face[shape]
    patches = breps.face_patch[first:last]
    for patch in np.unique(patches):
        faces = np.flatnonzero(patches == patch) + first
        corners = np.unique(breps.face_vertex[faces])
        corners = corners[breps.vertex_used[corners] > 0]
        n = breps.patch_normal[patch]
        arms = np.cross(breps.vertex[corners], n)
        rows = np.hstack([np.tile(n / np.sqrt(mass), (len(corners), 1)), arms @ np.linalg.cholesky(inverse)])
        square = float(np.linalg.eigvalsh(rows.T @ rows)[-1])
        if per_area:
            square *= float(breps.patch_area[patch]) / max(1, len(corners))
        most = max(most, square)
    return most


def joint_modes(compiled: CompiledScene, work: Any) -> float:
    """Largest omega^2 per unit stiffness of all joint springs, at the start."""
    model, joints, springs, bodies = compiled.model, work.joints, work.springs, work.bodies
    poses = _poses(compiled)
    size = 6 * model.link_count
    stiff = np.zeros((size, size))
    for s in range(joints.spring_count):
        if joints.role[s] == STOP:
            continue
        row = np.zeros((3, size))
        for side, sign in ((0, -1.0), (1, 1.0)):
            b = int(springs.body[s, side])
            if bodies.mass[b] == 0.0:
                continue
            R = poses[b][1]
            x, y, z = R @ springs.local[s, side]
            half = R @ np.linalg.cholesky(symmetric(bodies.own_inverse[b]))
            row[:, 6 * b:6 * b + 3] = sign / np.sqrt(bodies.mass[b]) * np.eye(3)
            row[:, 6 * b + 3:6 * b + 6] = sign * np.array([[0, z, -y], [-z, 0, x], [y, -x, 0]]) @ half
        stiff += row.T @ row
    return float(np.linalg.eigvalsh(stiff)[-1]) if size else 0.0
