"""Force sensors and IMUs against MuJoCo's, on the same MJCF, in the same motion."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from support import SEED, sample_count

mujoco = pytest.importorskip("mujoco")


def tree(rng: np.random.Generator) -> ss.Scene:
    """A branching tree of hinges and slides on a fixed stand, with sensors anywhere on it."""
    scene = ss.Scene(gravity=rng.normal(size=3) * 5)
    scene.add_body("stand", fixed=True, position=rng.normal(size=3))
    names = ["stand"]
    for i in range(7):
        axis, turn = rng.normal(size=3), rng.normal(size=4)
        kind = str(rng.choice(["revolute", "prismatic", "fixed"], p=[0.6, 0.2, 0.2])) if i else "revolute"
        joint = ss.Joint("fixed", f"j{i}") if kind == "fixed" else ss.Joint(
            kind, f"j{i}", axis=axis / np.linalg.norm(axis), anchor=rng.normal(size=3) * 0.1,
            position=rng.uniform(-1, 1), velocity=rng.normal() * 2)
        scene.add_body(f"b{i}", parent=str(rng.choice(names[-3:])), joint=joint, position=rng.normal(size=3) * 0.3,
                       rotation=turn / np.linalg.norm(turn), inertial=ss.Inertial(
                           rng.uniform(0.5, 2), rng.normal(size=3) * 0.1, np.diag(rng.uniform(0.04, 0.06, 3))))
        names.append(f"b{i}")
        turn = rng.normal(size=4)
        place = {"position": rng.normal(size=3) * 0.2, "rotation": turn / np.linalg.norm(turn)}
        scene.add_force_sensor(f"f{i}", f"b{i}", **place)
        scene.add_imu(f"i{i}", f"b{i}", **place)
    return scene


@pytest.mark.parametrize("trial", range(sample_count(6, 200)))
def test_readings_are_mujocos(trial: int) -> None:
    scene = tree(np.random.default_rng([SEED, trial]))
    model = mujoco.MjModel.from_xml_string(scene.to_mjcf())
    data = mujoco.MjData(model)
    sim = ss.Simulation(scene, "none", dt=1e-3)
    mine = [(joint, sim.joints[joint]) for joint in
            (mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) for j in range(model.njnt))]
    sim.step(20)
    for which, (_, view) in enumerate(mine):
        data.qpos[which], data.qvel[which] = view.position, view.velocity
    sim.step()
    mujoco.mj_forward(model, data)
    # the same accelerations: ours are those of a step, whatever the scheme made of them
    data.qacc[:] = [(view.velocity - data.qvel[which]) / sim.dt for which, (_, view) in enumerate(mine)]
    data.flg_rnepost = 0
    mujoco.mj_sensorAcc(model, data)
    for name, sensor in sim.sensors.items():
        if name.startswith("f"):
            pairs = {"force": sensor.force, "torque": sensor.torque}
        else:
            pairs = {"accelerometer": sensor.acceleration}
        for kind, reading in pairs.items():
            theirs = data.sensor(f"{name}/{kind}").data
            assert reading == pytest.approx(theirs, abs=1e-9 * (1 + np.abs(theirs).max())), (name, kind)
    for which, (_, view) in enumerate(mine):
        data.qpos[which], data.qvel[which] = view.position, view.velocity
    mujoco.mj_forward(model, data)
    for name, sensor in sim.sensors.items():
        if name.startswith("i"):
            assert sensor.angular_velocity == pytest.approx(data.sensor(f"{name}/gyro").data, abs=1e-9)
