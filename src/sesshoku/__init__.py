"""sesshoku: articulated rigid bodies in contact, with the contact law as a choice.

    import sesshoku as ss
    scene = ss.Scene()
    robot = scene.load("robot.urdf", fixed_base=True)
    sim = ss.Simulation(scene, dt=1e-3)
    recording = sim.run(2.0)
    recording.plot(path="run.png")

SI units, right-handed, z up, quaternions w x y z.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sesshoku import methods, robots
from sesshoku._version import __version__
from sesshoku.comparison.compare import compare
from sesshoku.errors import (
    MethodError,
    MissingExtra,
    RecordingError,
    SceneError,
    SesshokuError,
    SimulationDiverged,
    SuspectRun,
    UnstableStep,
    UnsupportedFeature,
)
from sesshoku.recording import Recording
from sesshoku.scene.elements import Body, Geometry, Inertial, Joint, Loop, Material, Mimic, Motion
from sesshoku.scene.elements.actuators import Actuator, Tendon
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.elements.frames import Camera, Frame
from sesshoku.scene.elements.sensors import ForceSensor, Imu
from sesshoku.scene.elements.state_sensors import StateSensor
from sesshoku.scene.elements.tendon_paths import PathPoint
from sesshoku.scene.geometry.shapes import (
    Box,
    Capsule,
    ConvexMesh,
    Cylinder,
    Ellipsoid,
    HeightField,
    Mesh,
    Plane,
    Sphere,
)
from sesshoku.scene.scene import Robot, Scene
from sesshoku.simulation.contacts import Contact
from sesshoku.simulation.simulation import Simulation
from sesshoku.simulation.snapshots import Snapshot
from sesshoku.stages.report import Report

if TYPE_CHECKING:
    from sesshoku.comparison.audit import Audit, audit
    from sesshoku.comparison.sweep import Study, sweep
    from sesshoku.simulation.batch import Batch

__all__ = [
    "Actuator", "Audit", "Batch", "Body", "Box", "Camera", "Capsule", "Contact", "ConvexMesh", "Cylinder", "Ellipsoid",
    "Fluid", "ForceSensor", "Frame", "Geometry", "HeightField", "Imu", "Inertial", "Joint", "Loop", "Material", "Mesh",
    "MethodError", "Mimic", "MissingExtra", "Motion", "PathPoint", "Plane", "Recording", "RecordingError", "Report",
    "Robot", "Scene", "SceneError", "SesshokuError", "Simulation", "SimulationDiverged", "Snapshot", "Sphere",
    "StateSensor", "Study", "SuspectRun", "Tendon", "UnstableStep", "UnsupportedFeature", "__version__", "audit",
    "compare", "methods", "robots", "sweep",
]  # fmt: skip


#: what most programs do without, and the module that has it
LATER = {"Batch": "simulation.batch", "Audit": "comparison.audit", "audit": "comparison.audit",
         "Study": "comparison.sweep", "sweep": "comparison.sweep"}


def __getattr__(name: str) -> Any:
    """What is imported when it is first asked for."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"sesshoku.{LATER[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
