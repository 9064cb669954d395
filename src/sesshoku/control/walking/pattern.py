"""A walking pattern: everything a robot does over a walk, planned before it starts.

    footsteps -> timeline -> centre of mass by preview control -> postures -> velocities, accelerations
              -> inverse dynamics: multibody ZMP, feed-forward torques
Legs have mass: the multibody ZMP differs from the cart's. So the pattern is made twice, the second time with the
centre of mass shifted by a preview controller that follows the first one's ZMP error (the dynamic filter).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sesshoku.control.biped import Biped
from sesshoku.control.posture import posture_table, velocity_table
from sesshoku.control.walking.feed_forward import feed_forward_table
from sesshoku.control.walking.footsteps import Footstep, plan, refuse_overlaps
from sesshoku.control.walking.gait import Gait, Timeline, timeline
from sesshoku.control.walking.preview import preview_gains, track
from sesshoku.errors import SceneError
from sesshoku.spatial.rotation import matrix_to_quaternion, quaternion_to_matrix


@dataclass(frozen=True, repr=False)
class Pattern:
    """Tables over n samples of the gait's grid: what the robot shall do.

    com, com_velocity (n, 3); zmp (n, 2): of the multibody motion; q (n, Q), v (n, V): coordinates and velocities of the
    scene; force (n, V): joint forces of the motion, the ground's share taken off. The rest is in `line`.
    """

    biped: Biped
    gait: Gait
    steps: list[Footstep]
    line: Timeline
    com: np.ndarray
    com_velocity: np.ndarray
    zmp: np.ndarray
    q: np.ndarray
    v: np.ndarray
    force: np.ndarray

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.steps)} steps, {self.duration:.3g} s>"

    @property
    def duration(self) -> float:
        """Seconds from the first sample to the last."""
        return float(self.line.time[-1])

    @property
    def zmp_error(self) -> np.ndarray:
        """Largest distance (2) of the multibody ZMP from its reference, x and y, m."""
        return np.asarray(np.abs(self.zmp - self.line.zmp).max(axis=0))

    def start_scene(self) -> None:
        """Let the biped's scene start in the pattern's first posture, servos aimed at it: simulations made of it from
        now on need no `Walker.place`."""
        scene, compiled, model, q = self.biped.scene, self.biped.compiled, self.biped.model, self.q[0]
        legs = self.biped.legs
        for link in range(legs.first_link, legs.last_link):
            body, at = scene.bodies[compiled.link_names[link]], int(model.link_coordinate[link])
            if link == legs.root:
                turn = quaternion_to_matrix(q[at + 3:at + 7])
                frame = compiled.frame_index[body.name]
                body.position = q[at:at + 3] + turn @ model.frame_position[frame]
                body.rotation = matrix_to_quaternion(turn @ model.frame_rotation[frame])
            else:
                body.joint.position[:] = q[at]
        for name, actuator in scene.actuators.items():
            place = np.flatnonzero(self.biped.actuator == compiled.actuator_index[name])
            if len(place):
                actuator.target = float(q[self.biped.actuator_coordinate[place[0]]])

    def margins(self) -> dict[str, dict[str, float]]:
        """By leg joint: distance to the nearest limit (rad), largest speed (rad/s), torque (N m), share of effort."""
        model, legs, found = self.biped.model, self.biped.legs, {}
        effort = np.abs(model.dof_effort).max(axis=1)
        for a in range(model.actuator_count):
            k = model.actuator_dof[a]
            if k >= 0:
                effort[k] = min(effort[k], model.actuator_gear[a] * np.abs(model.actuator_effort[a]).max())
        for names, coordinates, dofs in zip((self.biped.map.left, self.biped.map.right), legs.coordinate, legs.dof):
            for name, c, k in zip(names, coordinates, dofs):
                angles, torque = self.q[:, c], float(np.abs(self.force[:, k]).max())
                found[name] = {
                    "limit": float(min(angles.min() - model.dof_lower[k], model.dof_upper[k] - angles.max())),
                    "speed": float(np.abs(self.v[:, k]).max()), "torque": torque,
                    "effort": torque / float(effort[k])}
        return found


def walk(biped: Biped, increments: Iterable[Sequence[float]], gait: Gait, *, first: Literal["left", "right"] = "left",
         dynamic_filter: bool = True) -> Pattern:
    """Plan a walk from the increments of its steps (see `footsteps`); SceneError if the robot cannot do it."""
    refuse_other_gravity(biped, gait)
    steps = plan(increments, gait.width, first)
    refuse_overlaps(steps, biped.legs.sole_box, gait.width)
    line = timeline(steps, gait)
    gains = preview_gains(gait.com_height, gait.preview_sample, gait.preview, gravity=gait.gravity,
                          jerk_cost=gait.jerk_cost)
    every, count = round(gait.preview_sample / gait.sample), len(line.time)
    com, velocity = np.full((count, 3), gait.com_height), np.zeros((count, 3))
    ease = 0.5 * (gait.start - gait.shift)
    for axis in range(2):
        com[:, axis], velocity[:, axis], _ = track(line.zmp[::every, axis], gains, ease).at(count, gait.sample)
    pattern = _whole_body(biped, gait, steps, line, com, velocity)
    if dynamic_filter:
        error = (line.zmp - pattern.zmp)[::every]
        error[:3] = error[3]  # of differences at the table's start
        for axis in range(2):
            shift, rate, _ = track(error[:, axis], gains, ease).at(count, gait.sample)
            com[:, axis] += shift
            velocity[:, axis] += rate
        pattern = _whole_body(biped, gait, steps, line, com, velocity)
    _refuse_limits(pattern)
    return pattern


def _whole_body(biped: Biped, gait: Gait, steps: list[Footstep], line: Timeline, com: np.ndarray,
                velocity: np.ndarray) -> Pattern:
    """Postures along the tables, and the dynamics of their motion."""
    model, count = biped.model, len(com)
    q, error, reach = np.empty((count, model.coordinate_count)), np.empty(count), np.empty(count)
    v, force, zmp = np.zeros((count, model.dof_count)), np.zeros((count, model.dof_count)), np.zeros((count, 2))
    posture_table(model, biped.data, biped.legs, com, line.base, line.feet, 20, 1e-11, biped.legs.home.copy(),
                  (q, error, reach))
    far = np.flatnonzero((reach > 0.0) | ~(error < 1e-6))
    if len(far):
        step = int(line.step[far[0]]) + 1
        raise SceneError(f"a leg is too short by {1e3 * max(reach.max(), 0.0):.1f} mm", element=f"step {max(step, 1)}",
                         remedy=f"lower com_height (now {gait.com_height:g} m) or shorten the step")
    velocity_table(model, q, gait.sample, v)
    acceleration = np.diff(v, axis=0, prepend=v[:1]) / gait.sample
    acceleration[0] = acceleration[1]  # differences do not reach over the ends of a table
    shares = np.stack([line.share, 1.0 - line.share], axis=1)
    feed_forward_table(model, biped.data, biped.legs, (q, v, acceleration), shares, line.feet, (force, zmp))
    return Pattern(biped, gait, steps, line, com.copy(), velocity.copy(), zmp, q, v, force)


def refuse_other_gravity(biped: Biped, gait: Gait) -> None:
    """SceneError where the gait is timed for another gravity than the scene's (9.8 and 9.81 are alike)."""
    if not abs(gait.gravity - biped.gravity) < 0.01 * gait.gravity:
        raise SceneError("the gait is for another gravity than the scene's", element="gait",
                         value=(gait.gravity, round(biped.gravity, 4)), remedy="give the gait gravity=biped.gravity")


def _refuse_limits(pattern: Pattern) -> None:
    """SceneError where the plan leaves a joint's range or asks more than its effort."""
    for name, margin in pattern.margins().items():
        if margin["limit"] < 0.0:
            raise SceneError(f"the plan passes the joint's limit by {-margin['limit']:.3g} rad",
                             element=f"joint {name!r}", remedy="turn less, or change com_height or width")
        if margin["effort"] > 1.0:
            raise SceneError(f"the plan needs {margin['torque']:.4g} N m, {margin['effort']:.3g} times the effort",
                             element=f"joint {name!r}", remedy="walk slower or with shorter steps")
