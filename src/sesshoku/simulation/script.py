"""Scripted (kinematic) bodies: before each step, aim them at where their script wants them at its end."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.motion import motion_pose, turn_between


class ScriptedBodies:
    """The bodies of a scene that follow a motion."""

    def __init__(self, compiled: CompiledScene) -> None:
        bodies = compiled.scene.bodies
        self._scripts = [(link, bodies[name].motion, f"motion of body {name!r}")
                         for link, name in enumerate(compiled.link_names)
                         if bodies[name].kinematic and bodies[name].motion is not None]

    @property
    def active(self) -> bool:
        return bool(self._scripts)

    def aim(self, data: Any, dt: float) -> bool:
        """Set velocity and acceleration so that each scripted body arrives at the step's end. Always True.

        `kinematic_lead` is for schemes that compare velocities at the step's end.
        """
        time = float(data.time[0])
        for link, motion, element in self._scripts:
            position, rotation = motion_pose(motion, time + dt, element)
            pose = data.kinematic_pose[link]
            velocity = np.concatenate([position - pose[:3], turn_between(pose[3:], rotation)]) / dt
            if time > 0.0:
                data.kinematic_acceleration[link] = (velocity - data.kinematic_velocity[link]) / dt
            data.kinematic_velocity[link] = velocity
            data.kinematic_lead[link] = self._velocity(motion, time + dt, dt, element) - velocity
        return True

    @staticmethod
    def _velocity(motion: Any, time: float, dt: float, element: str) -> np.ndarray:
        """Linear and angular velocity (6) of a script at a time: the mean over the dt around it."""
        (p0, r0), (p1, r1) = (motion_pose(motion, time + side * dt, element) for side in (-0.5, 0.5))
        return np.concatenate([p1 - p0, turn_between(r0, r1)]) / dt
