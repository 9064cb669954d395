"""`Scene`: the builder of what is simulated. SI units, z up, quaternions w x y z."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.contents import Robot, RobotPose
from sesshoku.scene.elements import Material, Motion
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.materials import combine_materials
from sesshoku.scene.names import Named
from sesshoku.scene.placing import RobotPlacing

DEFAULT_GRAVITY = (0.0, 0.0, -9.8)


@checked
class Scene(RobotPlacing):
    """Bodies, robots, sensors, materials and filters; handed to `Simulation`.

        scene = Scene()
        scene.add_ground()
        scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
        robot = scene.load("robot.urdf", position=(0, 0, 0.8))
    """

    def __init__(self, gravity: Any = None, material: Material | None = None, name: str = "scene") -> None:
        self.name = check.name(name, "name of the scene")
        self._gravity = None if gravity is None else check.vector(gravity, "gravity", "scene")
        self._fluid: Fluid | None = None
        self.time_step: float | None = None  # a loaded file's wish, taken where the user gives none
        self.material = Material() if material is None else check.kind(
            material, Material, "material", "scene", "a Material(static_friction=...)")
        self.bodies = Named("body")
        self._joint_owner = {}  # joint name -> body name
        self.actuators = Named("actuator")
        self.tendons = Named("tendon")
        self.loops = Named("loop")
        self.mimics = Named("mimic")
        self.sensors = Named("sensor")
        self.state_sensors = Named("sensor")
        self.frames = Named("frame")
        self.cameras = Named("camera")
        self.robots = Named("robot")
        self.pair_friction = {}
        self.excluded_pairs = set()
        self.forced_pairs = set()
        self.geometry_pairs = {}
        self.self_colliding = set()
        self.notes = []  # what was taken from files (gravity, time step), for `info`
        self.unsupported = []
        self.run: dict[str, Any] = {}  # a scene file's wishes for `sesshoku run`: method, dt, time ...

    @property
    def gravity(self) -> np.ndarray:
        """Acceleration of gravity, m/s^2, world axes."""
        return np.array(DEFAULT_GRAVITY) if self._gravity is None else self._gravity.copy()

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = check.vector(value, "gravity", "scene")

    @property
    def medium(self) -> Fluid:
        """The fluid that all bodies move through, as `fluid` or a loaded file says; by default there is none."""
        return Fluid() if self._fluid is None else self._fluid

    def fluid(self, *, density: float = 0.0, viscosity: float = 0.0, wind: Any = (0.0, 0.0, 0.0)) -> None:
        """Surround all bodies by a fluid: density (kg/m^3), viscosity (Pa s), wind (m/s, world axes).

        It resists motion (`scene.fluid` has the law), in every method. Air: 1.2 and 1.8e-5; water: 1000 and 1e-3.
        """
        self._fluid = Fluid(density, viscosity, wind)

    def save(self, path: str | Path) -> None:
        """Write the scene as TOML, so that `Scene.read` and `sesshoku run` rebuild it."""
        from sesshoku.scene.io.toml.read import write_scene

        write_scene(self, check.path(path, "save"))

    @classmethod
    def read(cls, path: str | Path) -> Scene:
        """Read a scene from a TOML file; a robot file makes a scene of that robot alone."""
        from sesshoku.scene.io.toml.read import read_scene

        return read_scene(check.path(path, "Scene.read"))

    def to_mjcf(self) -> str:
        """The scene as MJCF, with what MJCF cannot say listed in a comment and in one warning."""
        from sesshoku.scene.io.mjcf.write import scene_to_mjcf

        return scene_to_mjcf(self)

    def _repr_html_(self) -> str:
        """In a notebook: a picture of the scene with joints at zero, and what there is in it."""
        from sesshoku.recording.notebook import HEIGHT, WIDTH, pictured
        from sesshoku.recording.render import Renderer
        from sesshoku.scene.geometry.drawing import drawing, zero_poses

        poses = zero_poses(self)
        told = "\n".join([repr(self), *(f"  {body.name}" for body in list(self.bodies.values())[:20]),
                          *(["  ..."] if len(self.bodies) > 20 else [])])
        return pictured(Renderer(drawing(self, poses), (WIDTH, HEIGHT)).rgb(poses), told)

    def __repr__(self) -> str:
        return f"Scene({self.name!r}, {len(self.bodies)} bodies, {len(self.robots)} robots)"


__all__ = ["Motion", "Robot", "RobotPose", "Scene", "combine_materials"]
