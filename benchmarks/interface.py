"""What a read or a write from Python costs: poses, velocities, vectors of a robot, forces; beside MuJoCo's bindings.

MuJoCo hands out arrays of the whole model, which are copied here as ours are. Its poses are those of the step's
beginning; ours are brought up to date at the first read after a change, which is a row of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.comparison.bench import Comparison, interleave, mujoco_of

#: µs that a call may take: what a controller at 1 kHz does not notice
TARGETS = {"pose of a body": 2.0, "velocity of a body": 2.0, "robot.q": 2.0, "robot.command = ...": 2.0,
           "a force": 3.0, "pose of a body, q held by the user": 2.0}


def humanoid() -> ss.Simulation:
    """The large humanoid, which has sensors as well."""
    scene = ss.Scene(name="large humanoid")
    scene.add_ground()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    sim = ss.Simulation(scene, "none", 1e-3)
    sim.step()
    return sim


def calls() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], str]]:
    """name -> ours, the peer's and what the peer's is called."""
    import mujoco

    sim = humanoid()
    held = humanoid()  # somebody holds its q
    held.q  # noqa: B018
    robot = next(iter(sim.robots.values()))
    model, data = mujoco_of(sim.scene, 1e-3)
    mujoco.mj_step(model, data)
    name = robot.base.name
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    target, push, twist = robot.command, np.array([1.0, 0.0, 0.0]), np.zeros(6)

    def command() -> None:
        robot.command = target

    def control() -> None:
        data.ctrl[:] = target

    def their_force() -> None:
        data.xfrc_applied[body, :3] = push

    def their_velocity() -> None:
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, twist, 0)

    def fresh() -> None:
        sim._stale = True
        sim.bodies[name].position  # noqa: B018

    def their_fresh() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        data.xpos[body].copy()

    return {
        "pose of a body": (lambda: sim.bodies[name].position, lambda: data.xpos[body].copy(), "data.xpos[i]"),
        "velocity of a body": (lambda: sim.bodies[name].velocity, their_velocity, "mj_objectVelocity"),
        "robot.q": (lambda: robot.q, lambda: data.qpos.copy(), "data.qpos"),
        "robot.command = ...": (command, control, "data.ctrl[:]"),
        "a force": (lambda: sim.apply_force(name, push), their_force, "data.xfrc_applied[i]"),
        "pose of a body, q held by the user": (lambda: held.bodies[name].position, lambda: data.xpos[body].copy(),
                                               "data.xpos[i]"),
        "pose of a body, first after a change": (fresh, their_fresh, "mj_kinematics, mj_comVel"),
    }


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Reads and writes of one robot, and whether they meet their targets."""
    say("reads and writes from Python, in turns with MuJoCo's ...")
    found = [interleave(f"Python: {name}", ours, peer, label, calls=2000, rounds=40)
             for name, (ours, peer, label) in calls().items()]
    times = {c.name.removeprefix("Python: "): c.ours * 1e6 for c in found}
    met = {name: {"us": round(times[name], 2), "at most": most, "met": times[name] <= most}
           for name, most in TARGETS.items()}
    return found, {"targets": met}
