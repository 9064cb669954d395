"""Actuators, tendons and gravity compensation: accelerations against MuJoCo's from the same file, at random states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from support import sample_count
from trees import relative_error

pytestmark = pytest.mark.peer
mujoco: Any = pytest.importorskip("mujoco")

ARM = """
<body name="base" pos="0 0 1"><geom type="box" size=".1 .1 .1" mass="2"/>
  <body name="upper" pos=".1 0 0" gravcomp="{gravcomp}"><joint name="shoulder" axis="0 1 0" {shoulder}/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".7"/>
    <site name="grip" pos=".2 .05 .1" euler="20 40 70"/>
    <body name="lower" pos=".3 0 0" gravcomp="1.3"><joint name="elbow" axis="0 1 .2" ref="0.2"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .2 .05 0" mass=".4"/>
      <site name="tip" pos=".2 0 .05" euler="10 -30 50"/>
      <body name="cap" pos=".2 .1 0" gravcomp="0.4"><geom type="box" size=".02 .03 .05" mass=".3"/></body></body></body>
  <body name="left" pos="0 .1 0"><joint name="left" type="slide" axis="0 1 .3" damping="0.3"/>
    <geom type="box" size=".02 .03 .05" mass=".2"/></body>
  <body name="right" pos="0 -.1 0"><joint name="right" type="slide" axis="0 -1 .1"/>
    <geom type="box" size=".02 .03 .05" mass=".25"/></body></body>"""
DRONE = """
<body name="hull" pos="0 0 1"><freejoint name="fly"/><geom type="box" size=".1 .2 .05" mass="1.3" pos=".02 0 .01"/>
  <site name="front" pos=".1 .05 .02" euler="10 20 30"/>
  <body name="arm" pos=".1 0 0"><joint name="hinge" axis="0 1 0"/><geom type="box" size=".05 .02 .02" mass=".2"/>
    <site name="rotor" pos=".04 0 .02" euler="0 15 -40"/></body></body>"""


class Twin:
    """A file read by both, at one state."""

    def __init__(self, folder: Path, world: str, rest: str, **words: Any) -> None:
        body = world.format(**{"gravcomp": 0, "shoulder": ""} | words) if words or "{" in world else world
        path = folder / "twin.xml"
        path.write_text(f'<mujoco><option timestep="1e-6"><flag contact="disable"/></option><worldbody>'
                        f'<geom name="floor" type="plane" size="1 1 1"/>{body}</worldbody>{rest}</mujoco>')
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        scene = ss.Scene()
        with pytest.warns(ss.UnsupportedFeature):  # the flag
            scene.load(path)
        self.scene = scene
        self.sim = ss.Simulation(scene, ss.methods.none(integrator="euler"), dt=1e-6)

    def draw(self, rng: np.random.Generator, spread: float = 1.0) -> None:
        """A random state and random commands, also beyond their ranges."""
        sim, there, m = self.sim, self.data, self.sim.model
        q, v = sim.q.copy(), sim.v.copy()
        for name, link in sim.compiled.joint_link.items():
            at, k = m.link_coordinate[link], m.link_dof[link]
            joint = self.model.joint(name)
            if m.link_dof_count[link] == 1:
                q[at], v[k] = rng.normal(size=2) * spread
                there.qpos[joint.qposadr[0]], there.qvel[joint.dofadr[0]] = q[at], v[k]
            elif m.link_dof_count[link] == 6:  # at rest: frames of the velocities differ
                turn = rng.normal(size=4)
                there.qpos[:7] = [0.3, 0.1, 1.0, *(turn / np.linalg.norm(turn))]
                body = self.scene.bodies["hull"]
                body.position, body.rotation = there.qpos[:3], there.qpos[3:7]
                v[k:k + 6] = 0.0
                self.sim = sim = ss.Simulation(self.scene, ss.methods.none(integrator="euler"), dt=1e-6)
                q[at:at + 7] = sim.q[at:at + 7]
        sim.set_state(q, v)
        for n, actuator in enumerate(sim.actuators.values()):
            there.ctrl[n] = 3.0 * rng.normal()
            actuator.target = actuator.target_velocity = float(there.ctrl[n])
            if self.scene.actuators[actuator.name].kind == "position":
                actuator.target_velocity = 0.0
            if self.model.na:
                actuator.activation = there.act[n] = rng.normal()
        mujoco.mj_forward(self.model, there)

    def accelerations(self) -> tuple[np.ndarray, np.ndarray]:
        """Of the joints of one axis: ours, MuJoCo's."""
        before = self.sim.v.copy()
        self.sim.step()
        ours, theirs = [], []
        for name, link in self.sim.compiled.joint_link.items():
            if self.sim.model.link_dof_count[link] == 1:
                k = self.sim.model.link_dof[link]
                ours.append((self.sim.v[k] - before[k]) / self.sim.dt)
                theirs.append(self.data.qacc[self.model.joint(name).dofadr[0]])
        return np.array(ours), np.array(theirs)

    def check(self, rng: np.random.Generator, tolerance: float = 1e-7) -> None:
        for _ in range(sample_count(6, 60)):
            self.draw(rng)
            ours, theirs = self.accelerations()
            assert relative_error(ours, theirs) < tolerance


JOINT_ACTUATORS = [
    '<general {drive} gainprm="3" gear="-2" biastype="affine" biasprm="0.5 -7 -0.3"/>',
    '<general {drive} gainprm="4" biastype="affine" biasprm="0 -9 -1" ctrlrange="-1 0.5" ctrllimited="true"/>',
    '<general {drive} gaintype="affine" gainprm="2 -0.7 0.3" biastype="affine" biasprm="0.2 -2 -0.1" gear="1.5"/>',
    '<general {drive} gainprm="0" biastype="affine" biasprm="0.5 3 0.4"/>',  # unstable, and as the file says
    '<position {drive} kp="30" kv="2" forcerange="-1 4"/>', '<position {drive} kp="30" gear="3" forcerange="-5 5"/>',
    '<position {drive} kp="20" kv="1" ctrlrange="-0.3 0.2"/>', '<velocity {drive} kv="3" ctrlrange="-0.4 2"/>',
    '<velocity {drive} kv="3" gear="-2"/>', '<motor {drive} gear="3" ctrlrange="-1 2"/>',
    '<motor {drive} gear="-3" forcerange="-1 2"/>', '<general {drive} gainprm="-2" forcerange="-1 3"/>',
    '<damper {drive} kv="2" ctrlrange="0 2"/>', '<intvelocity {drive} kp="5" actrange="-1 1"/>',
]


@pytest.mark.parametrize("drive", ['joint="elbow"', 'jointinparent="elbow"', 'tendon="both"'])
@pytest.mark.parametrize("actuator", JOINT_ACTUATORS)
def test_affine_actuators(actuator: str, drive: str, rng: np.random.Generator, tmp_path: Path) -> None:
    """Gains, biases, gears and ranges, also asymmetric ones."""
    tendon = '<fixed name="both"><joint joint="left" coef="0.7"/><joint joint="right" coef="-1.4"/></fixed>'
    twin = Twin(tmp_path, ARM, f"<tendon>{tendon}</tendon><actuator>{actuator.format(drive=drive)}</actuator>",
                gravcomp=0)
    assert len(twin.sim.actuators) == 1
    twin.check(rng)


def test_the_sum_of_actuators_is_held_within_the_joints_range(rng: np.random.Generator, tmp_path: Path) -> None:
    twin = Twin(tmp_path, ARM, '<actuator><motor joint="shoulder"/><position joint="shoulder" kp="4"/></actuator>',
                shoulder='actuatorfrcrange="-1 2"')
    twin.check(rng)


@pytest.mark.parametrize("shoulder", ["", 'actuatorgravcomp="true"', 'actuatorgravcomp="true" actuatorfrcrange="-1 2"'])
def test_gravity_compensation(shoulder: str, rng: np.random.Generator, tmp_path: Path) -> None:
    """Of a body in the middle, of the last, of one fixed to it; by the joint's actuators, and within their range."""
    twin = Twin(tmp_path, ARM, '<actuator><motor joint="shoulder"/></actuator>', gravcomp=0.8, shoulder=shoulder)
    twin.check(rng)


@pytest.mark.parametrize("actuator", [
    '<motor site="tip" gear="1 2 3 0.1 0.2 -0.3"/>', '<motor site="grip" gear="0 0 2 0 0 0.4" ctrlrange="0 1"/>',
    '<general site="tip" gear="1 2 3 0.1 0.2 -0.3" gainprm="0.5" biastype="affine" biasprm="2 0 0" forcerange="0 1"/>',
    '<motor site="tip" refsite="grip" gear="1 2 3 0.1 0.2 -0.3"/>',
])
def test_actuators_at_sites(actuator: str, rng: np.random.Generator, tmp_path: Path) -> None:
    Twin(tmp_path, ARM, f"<actuator>{actuator}</actuator>", gravcomp=0).check(rng)


def test_thrusters_of_a_free_body(rng: np.random.Generator, tmp_path: Path) -> None:
    """On the hull, and on an arm that swings."""
    twin = Twin(tmp_path, DRONE, '<actuator><motor site="front" gear="0 0 1 0.1 0 0.05"/>'
                '<motor site="rotor" gear="0 1 2 0 0 0"/></actuator>')
    for _ in range(sample_count(4, 30)):
        twin.draw(rng)
        twin.sim.set_state(twin.sim.q, np.zeros_like(twin.sim.v))
        twin.data.qvel[:] = 0.0
        mujoco.mj_forward(twin.model, twin.data)
        ours, theirs = twin.accelerations()
        assert relative_error(ours, theirs) < 1e-7
        hull = twin.sim.bodies["hull"]
        np.testing.assert_allclose(hull.velocity / twin.sim.dt, twin.data.qacc[:3], rtol=1e-6, atol=1e-6)
        spin = hull.rotation_matrix.T @ hull.angular_velocity / twin.sim.dt
        np.testing.assert_allclose(spin, twin.data.qacc[3:6], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("words", ['stiffness="20" springlength="0.1"', 'stiffness="20" springlength="-0.5 0.5"',
                                   'damping="3"', 'stiffness="5" damping="0.4"'])
def test_springs_and_dampers_along_tendons(words: str, rng: np.random.Generator, tmp_path: Path) -> None:
    """Over joints of one chain and of two, and all of them."""
    for joints in (("shoulder", "elbow"), ("left", "right"), ("shoulder", "elbow", "left", "right")):
        terms = "".join(f'<joint joint="{joint}" coef="{0.5 + n}"/>' for n, joint in enumerate(joints))
        twin = Twin(tmp_path, ARM, f'<tendon><fixed name="t" {words}>{terms}</fixed></tendon>', gravcomp=0)
        twin.check(rng)


@pytest.mark.parametrize("dynamics", ['dyntype="integrator"', 'dyntype="filter" dynprm="0.05"',
                                      'dyntype="filterexact" dynprm="0.05"'])
@pytest.mark.parametrize("limit", ["", 'actlimited="true" actrange="-0.2 0.1"'])
def test_activation(dynamics: str, limit: str, tmp_path: Path) -> None:
    """The activation follows the control as MuJoCo's does, over 200 steps of 2 ms."""
    twin = Twin(tmp_path, ARM, f'<actuator><general joint="elbow" {dynamics} {limit} gainprm="2" ctrlrange="-1 1" '
                'biastype="affine" biasprm="0 -2 -0.1"/></actuator>', gravcomp=0)
    twin.model.opt.timestep = 2e-3
    sim = ss.Simulation(twin.scene, "none", dt=2e-3)
    (actuator,) = sim.actuators.values()
    for n in range(200):
        actuator.target = twin.data.ctrl[0] = 1.3 * np.sin(0.05 * n)
        mujoco.mj_step(twin.model, twin.data)
        sim.step()
        assert actuator.activation == pytest.approx(twin.data.act[0], abs=1e-9)
    assert abs(actuator.activation) > 0.05
