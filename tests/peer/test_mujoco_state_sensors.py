"""Sensors of MJCF files by name against MuJoCo's sensordata, in random states of a machine with all kinds of joints."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import sesshoku as ss
from mjcf_files import write
from sesshoku.scene.elements.state_sensors import KINDS
from sesshoku.spatial.rotation import quaternion_to_matrix
from support import sample_count

pytestmark = pytest.mark.peer

BODIES = """<compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
  <site name="flag" pos="0.3 0.1 0.2" euler="0.4 0.1 0.2"/><camera name="wall" pos="0 -2 1" euler="1 0.2 0"/>
  <body name="base" pos="0 0 2"><freejoint name="root"/><geom name="hull" type="box" size="0.2 0.1 0.05" mass="2"
      pos="0.02 0.01 0.03" euler="0.1 0.2 0.3"/>
    <site name="deck" pos="0.1 0.05 0.02" euler="0.2 0.5 0.1"/><camera name="eye" pos="0.1 0 0" euler="0 1 0"/>
    <body name="arm" pos="0.3 0 0.1"><joint name="hip" axis="0 1 0" pos="0 0 0.02" range="-1 1" armature="0.02"
        stiffness="3" springref="0.2"/>
      <geom name="bone" type="capsule" size="0.03 0.1" mass="1" pos="0.05 0 0"/>
      <body name="wrist" pos="0 0.1 0.3"><joint name="ball" type="ball" armature="0.02"/>
        <geom size="0.05" mass="0.5" pos="0 0.02 0.1"/>
        <site name="grip" pos="0.01 0.02 0.1" quat="0.6 0 0.8 0"/>
        <body name="finger" pos="0 0 0.2" euler="0.4 0 0">
          <joint name="slide" type="slide" axis="0 0.6 0.8" range="-0.6 0.6"/>
          <joint name="turn" axis="1 0 0" ref="0.3" armature="0.05"/>
          <geom name="nail" size="0.04" mass="0.2" pos="0 0.05 0"/>
          <site name="tip" pos="0 0 0.1"/></body></body></body></body>
</worldbody>
<tendon><fixed name="rope"><joint joint="hip" coef="0.5"/><joint joint="turn" coef="-2"/></fixed></tendon>
<actuator><general name="winch" tendon="rope" gear="1.5" gainprm="3" biastype="affine" biasprm="0.1 -2 -0.3"/>
  <position name="servo" joint="hip" kp="20" kv="1" gear="2" forcerange="-9 9"/>
  <motor name="pull" joint="slide" gear="-3" ctrlrange="-2 2"/><motor name="help" joint="hip"/></actuator>"""
JOINTS = "".join(f'<{kind} name="{kind}/{joint}" joint="{joint}"/>' for joint in ("hip", "slide", "turn")
                 for kind in ("jointpos", "jointvel", "jointactuatorfrc"))
OTHERS = """<ballquat name="bq" joint="ball"/><ballangvel name="bw" joint="ball"/><clock name="now"/>
<actuatorpos name="ap" actuator="servo"/><actuatorvel name="av" actuator="pull"/>
<actuatorfrc name="af" actuator="servo"/><actuatorfrc name="ah" actuator="winch"/>
<actuatorpos name="aq" actuator="winch"/><actuatorvel name="aw" actuator="winch"/><tendonpos name="tl" tendon="rope"/>
<tendonvel name="tv" tendon="rope"/>
<actuatorfrc name="ag" actuator="pull"/><velocimeter name="speed" site="grip"/><gyro name="spin" site="grip"/>
<accelerometer name="felt" site="grip"/><accelerometer name="still" site="flag"/><gyro name="none" site="flag"/>
<force name="load" site="tip"/><torque name="twist" site="tip"/>
<subtreecom name="com" body="arm"/><subtreelinvel name="comv" body="arm"/><subtreeangmom name="angmom" body="arm"/>
<subtreecom name="all" body="world"/><subtreeangmom name="spinall" body="base"/>
<subtreelinvel name="leaf" body="finger"/>
<framepos name="cut" objtype="site" objname="tip" cutoff="0.3"/><jointvel name="slow" joint="turn" cutoff="0.05"/>
<e_potential name="ep"/><e_kinetic name="ek"/><insidesite name="in" site="deck" objtype="xbody" objname="arm"/>"""
OBJECTS = [("body", "finger"), ("xbody", "arm"), ("geom", "hull"), ("site", "grip"), ("camera", "eye"),
           ("site", "flag")]
REFERENCES = [None, ("site", "flag"), ("body", "base"), ("camera", "wall"), ("geom", "nail")]


def frames() -> str:
    """Every frame sensor of every object against every reference."""
    lines = []
    for kind in (kind for kind, facts in KINDS.items() if kind.startswith("frame") and facts.of == "place"):
        for type_, name in OBJECTS:
            for reference in REFERENCES if KINDS[kind].relative else [None]:
                other = "" if reference is None else f'reftype="{reference[0]}" refname="{reference[1]}"'
                label = f"{kind} {type_} {name} {reference}".replace('"', "").replace("'", "")
                lines.append(f'<{kind} name="{label}" objtype="{type_}" objname="{name}" {other}/>')
    return "".join(lines)


def make(folder: Path) -> tuple[Path, mujoco.MjModel]:
    path = write(folder, f"{BODIES}<sensor>{JOINTS}{OTHERS}{frames()}</sensor>")
    return path, mujoco.MjModel.from_xml_path(str(path))


def set_state(sim: ss.Simulation, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """MuJoCo's state into the simulation."""
    for j in range(model.njnt):
        view, at, dof = sim.joints[model.joint(j).name], int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        kind = int(model.jnt_type[j])
        q, v = data.qpos[at:at + (7, 4, 1, 1)[kind]], data.qvel[dof:dof + (6, 3, 1, 1)[kind]].copy()
        if kind == 0:
            v[3:] = quaternion_to_matrix(q[3:]) @ v[3:]
        view.position, view.velocity = q, v


def get_state(sim: ss.Simulation, model: mujoco.MjModel, data: mujoco.MjData) -> None:
    for j in range(model.njnt):
        view, at, dof = sim.joints[model.joint(j).name], int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        kind = int(model.jnt_type[j])
        v = np.atleast_1d(view.velocity).copy()
        data.qpos[at:at + (7, 4, 1, 1)[kind]] = view.position
        if kind == 0:
            v[3:] = quaternion_to_matrix(data.qpos[at + 3:at + 7]).T @ v[3:]
        data.qvel[dof:dof + (6, 3, 1, 1)[kind]] = v


def same(name: str, mine: object, theirs: np.ndarray, within: float) -> None:
    value = np.atleast_1d(mine)
    if "quat" in name or name == "bq":
        value = value * np.sign(value @ theirs)
    np.testing.assert_allclose(value, theirs, atol=within * (1 + np.abs(theirs).max()), rtol=0, err_msg=name)


def of_a_step(name: str) -> bool:
    """Whether a sensor reads the last step, not the state."""
    steps = ("framelinacc", "frameangacc", "spin", "felt", "load", "twist", "af", "ag", "ah")
    return name.partition(" ")[0] in steps or "actuatorfrc" in name


def test_readings_of_a_state_are_mujocos(tmp_path: Path, rng: np.random.Generator) -> None:
    path, model = make(tmp_path)
    scene = ss.Scene()
    scene.load(path)
    assert not scene.unsupported and set(scene.state_sensors) == {model.sensor(i).name for i in range(model.nsensor)}
    sim = ss.Simulation(scene, "none", dt=1e-3)
    data = mujoco.MjData(model)
    for _ in range(sample_count(5, 100)):
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, 0.05 * rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        mujoco.mj_forward(model, data)
        set_state(sim, model, data)
        data.time = sim.time
        mujoco.mj_sensorPos(model, data)
        for i in range(model.nsensor):
            name = model.sensor(i).name
            if not of_a_step(name):
                same(name, sim.sensors[name].value, data.sensor(name).data, 1e-9)


def test_readings_of_a_step_are_mujocos(tmp_path: Path, rng: np.random.Generator) -> None:
    """Accelerations, forces and torques, for the accelerations that the step itself had."""
    path, model = make(tmp_path)
    scene = ss.Scene()
    scene.load(path)
    for actuator in scene.actuators.values():
        actuator.implicit = False
    for body in scene.bodies.values():
        body.joint.implicit = False
    data = mujoco.MjData(model)
    for _ in range(sample_count(2, 30)):
        sim = ss.Simulation(scene, "none", dt=1e-6)
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, 0.05 * rng.normal(size=model.nv), 1.0)
        data.qvel[:] = rng.normal(size=model.nv)
        data.ctrl[:] = rng.normal(size=model.nu)
        set_state(sim, model, data)
        for i, target in enumerate(data.ctrl):
            sim.actuators[model.actuator(i).name].target = target
        mujoco.mj_forward(model, data)
        sim.step()
        for i in range(model.nsensor):
            name = model.sensor(i).name
            if of_a_step(name):
                same(name, sim.sensors[name].value, data.sensor(name).data, 2e-4)


def test_limits_read_as_mujocos(tmp_path: Path) -> None:
    """Beyond a limit, distance and speed; within it, nothing; the force that holds a weight on its stop."""
    body = ('<option gravity="0 0 -10"/><worldbody><body name="b"><geom size="0.1" mass="2"/>'
            '<joint name="j" type="slide" axis="0 0 1" range="-0.2 1"/></body></worldbody>')
    kinds = ("jointlimitpos", "jointlimitvel", "jointlimitfrc")
    sensors = "".join(f'<{kind} name="{kind}" joint="j"/>' for kind in kinds)
    path = write(tmp_path, f"{body}<sensor>{sensors}</sensor>")
    scene = ss.Scene()
    scene.load(path)
    sim = ss.Simulation(scene, "none", dt=1e-3)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    for q, v in ((0.5, -1.0), (-0.25, -1.0), (-0.25, 2.0), (1.1, 0.5)):
        data.qpos[0], data.qvel[0] = q, v
        mujoco.mj_forward(model, data)
        sim.joints["j"].position, sim.joints["j"].velocity = q, v
        for kind in kinds[:2]:
            same(kind, sim.sensors[kind].value, data.sensor(kind).data, 1e-12)
    sim.joints["j"].position, sim.joints["j"].velocity = -0.2, 0.0
    sim.step(10)
    assert sim.sensors["jointlimitfrc"].value == pytest.approx(20.0, rel=1e-6)
    assert sim.sensors["jointlimitvel"].value == pytest.approx(0.0, abs=1e-9)
    mujoco.mj_resetData(model, data)
    data.qpos[0] = -0.2
    for _ in range(3000):
        mujoco.mj_step(model, data)
    assert data.sensor("jointlimitfrc").data[0] == pytest.approx(20.0, rel=1e-2)


def test_the_export_reads_the_same(tmp_path: Path, rng: np.random.Generator) -> None:
    """All sensors once more through `to_mjcf`, as MuJoCo reads it."""
    path, model = make(tmp_path)
    scene = ss.Scene()
    scene.load(path)
    data = mujoco.MjData(model)
    data.qvel[:] = rng.normal(size=model.nv)
    mujoco.mj_forward(model, data)
    with pytest.warns(ss.UnsupportedFeature, match="moving bodies without mass"):  # between the two joints of a finger
        other = mujoco.MjModel.from_xml_string(scene.to_mjcf())
    twin = mujoco.MjData(other)
    sim = ss.Simulation(scene, "none")
    set_state(sim, model, data)
    get_state(sim, other, twin)
    mujoco.mj_forward(other, twin)
    for i in range(model.nsensor):
        name = model.sensor(i).name
        if not of_a_step(name):
            same(name, twin.sensor(name).data, data.sensor(name).data, 1e-6)
