"""Pulling a body with the mouse: a spring and damper from a point of the body to a point of the world."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.model.arrays import KINEMATIC

FREQUENCY = 14.0  # rad/s of the spring with the mass it feels
DAMPING_RATIO = 0.8
STEPS_PER_RADIAN = 4.0  # the spring is softened where steps are too long for it
CALMING = 8.0  # 1/s: damps the turning of what is held, which would else swing on and on
LONGEST_PULL = 2.0  # m: farther away the force grows no more


class Pull:
    """One drag. point: in the body's own frame; `target` may be moved while it lasts."""

    def __init__(self, sim: Any, body: int, point: Any, target: Any) -> None:
        self.body, self.name = body, sim.compiled.frame_names[body]
        self.point, self.target = np.array(point, dtype=float), np.array(target, dtype=float)
        self._mass = felt_mass(sim, self.name, self.where(sim))
        link = sim.bodies[self.name].link
        self._weight = -float(sim.model.link_mass[link]) * np.asarray(sim.model.gravity)  # carried, so it does not sag
        self._inertia = float(sim.model.link_inertia[link, :3].mean())

    def where(self, sim: Any) -> np.ndarray:
        """The pulled point, world (3)."""
        view = sim.bodies[self.name]
        return view.position + view.rotation_matrix @ self.point

    def apply(self, sim: Any) -> None:
        """Add the spring's force for the next step."""
        view, at = sim.bodies[self.name], self.where(sim)
        omega = min(FREQUENCY, 1.0 / (STEPS_PER_RADIAN * sim.dt))
        away = self.target - at
        away *= min(1.0, LONGEST_PULL / max(float(np.linalg.norm(away)), 1e-12))
        speed = view.velocity + np.cross(view.angular_velocity, at - view.position)
        force = self._weight + self._mass * (omega**2 * away - 2.0 * DAMPING_RATIO * omega * speed)
        sim.apply_force(self.name, force, torque=-CALMING * self._inertia * view.angular_velocity, point=at)

    def ends(self, sim: Any) -> np.ndarray:
        """(2, 3) what the visible line joins."""
        return np.array([self.where(sim), self.target])


def can_pull(sim: Any, body: int) -> bool:
    """Whether a body, by number, is there and moved by forces."""
    if not 0 <= body < sim.model.frame_count:
        return False
    link = int(sim.model.frame_link[body])
    return link >= 0 and int(sim.model.link_joint[link]) != KINEMATIC


def felt_mass(sim: Any, body: str, at: np.ndarray) -> float:
    """The mass a force feels at a point of a body, kg: 3 / trace(J H^-1 J^T), by the dofs of its tree alone."""
    tree = int(sim.model.link_tree[sim.bodies[body].link])
    first, last = int(sim.model.tree_dof[tree]), int(sim.model.tree_dof[tree + 1])
    J, H = sim.jacobian(body, at)[:3, first:last], sim.mass_matrix()[first:last, first:last]
    inverse = float(np.trace(J @ np.linalg.solve(H, J.T)))
    return 3.0 / inverse if inverse > 0.0 else 0.0
