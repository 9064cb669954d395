"""A stand-in for `Simulation` whose motion is given by formulas, so that recordings can be tested without dynamics."""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.table import Record
from sesshoku.methods.registry import resolve
from sesshoku.scene.compiler import compile_scene
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from sesshoku.stages import report

OMEGA = 3.0


def pendulum_scene() -> Scene:
    """A pendulum with a servo, a slider on it, and a crate in free fall."""
    scene = Scene(name="pendulum and crate")
    scene.add_body("stand", fixed=True)
    small = Inertial(1.0, (0, 0, -0.5), np.eye(3) * 0.01)
    scene.add_body("rod", parent="stand", joint=Joint("revolute", "swing", axis=(0, 1, 0)), inertial=small)
    scene.add_body("bead", parent="rod", joint=Joint("prismatic", "slide", axis=(0, 0, 1)), inertial=small)
    scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=2.0, position=(1, 0, 3))
    scene.add_actuator("swing", "position", name="servo", kp=10.0, kd=1.0)
    scene.add_actuator("slide", "torque", name="push")
    scene.add_force_sensor("pin", "rod")
    scene.add_imu("tip", "rod")
    return scene


class FakeSimulation:
    """The pendulum swings harmonically, the slider moves at half the pace, the crate falls."""

    def __init__(self, dt: float = 1e-3) -> None:
        self.compiled = compile_scene(pendulum_scene())
        self.dt, self.steps = dt, 0
        self.work = Record()  # of a method without contact
        self.method = resolve("none")
        model = self.compiled.model
        self.q, self.v = self.compiled.q.copy(), self.compiled.v.copy()
        self._one_axis = [self.compiled.joint_link["swing"], self.compiled.joint_link["slide"]]
        self._crate = self.compiled.link_names.index("crate")
        self.actuator_force = np.zeros(model.actuator_count)
        self.actuator_command = self.compiled.actuator_command.copy()
        self.report_array = np.zeros(len(report.CHANNELS))
        self.sensor_readings = np.arange(12.0).reshape(2, 6)
        self._update()

    @property
    def time(self) -> float:
        return self.steps * self.dt

    def step(self, steps: int = 1) -> None:
        self.steps += steps
        self._update()

    def _update(self) -> None:
        t, model = self.time, self.compiled.model
        for amplitude, pace, link in zip((0.6, 0.2), (OMEGA, OMEGA / 2), self._one_axis):
            self.q[model.link_coordinate[link]] = amplitude * np.cos(pace * t)
            self.v[model.link_dof[link]] = -amplitude * pace * np.sin(pace * t)
        at, first = model.link_coordinate[self._crate], model.link_dof[self._crate]
        self.q[at:at + 3] = 1.0, 0.1 * t, 3.0 - 4.9 * t * t
        self.v[first:first + 3] = 0.0, 0.1, -9.8 * t
        self.actuator_force[:] = -10.0 * np.cos(OMEGA * t), np.sin(t)
        self.actuator_command[0, 0] = 0.5 * np.sin(t)
        self.report_array[:] = 0.0
        self.report_array[report.RESIDUAL] = 1e-9 * (1.1 + np.sin(40 * t))
        self.report_array[report.MOMENTUM_RESIDUAL] = 1e-14 * (1.2 + np.cos(90 * t))
        self.report_array[report.ENERGY_CHANGE] = -1e-4 * np.exp(-t)
        self.report_array[report.CONVERGED] = float(self.steps % 97 != 5)

    def body_poses(self) -> np.ndarray:
        poses = np.zeros((len(self.compiled.frame_names), 7))
        poses[:, 3] = 1.0
        angle = self.q[self.compiled.model.link_coordinate[self._one_axis[0]]]
        poses[1, 3:] = np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0
        poses[2, :3] = -np.sin(angle), 0.0, -np.cos(angle)
        poses[3, :3] = self.q[self.compiled.model.link_coordinate[self._crate]:][:3]
        return poses

    def body_velocities(self) -> np.ndarray:
        velocities = np.zeros((len(self.compiled.frame_names), 6))
        velocities[3, :3] = self.v[self.compiled.model.link_dof[self._crate]:][:3]
        return velocities

    @property
    def energy(self) -> tuple[float, float]:
        return np.sin(OMEGA * self.time)**2, np.cos(OMEGA * self.time)**2

    def momentum(self) -> np.ndarray:
        return np.arange(6.0) * self.time

    def center_of_mass(self) -> np.ndarray:
        return np.array([0.0, self.time, 1.0])
