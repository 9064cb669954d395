"""Spatial tendons against MuJoCo: lengths, their rates, accelerations and motions, from the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.comparison.mujoco_state import SharedState
from sesshoku.dynamics.observe import observe_tendon
from support import sample_count

pytestmark = pytest.mark.peer
mujoco: Any = pytest.importorskip("mujoco")

WORLD = """
<site name="w" pos="0.4 0.2 1.6"/><site name="w2" pos="-0.3 0.1 1.2"/>
<geom name="post" type="cylinder" size="0.08 0.5" pos="0.3 0.1 1.2" euler="20 30 0" contype="0" conaffinity="0"/>
<site name="post_side" pos="0.3 0.4 1.2"/>
<body name="drone" pos="0 0 1"><freejoint name="fly"/><geom type="box" size=".1 .2 .05" mass="1.3" pos=".02 0 .01"/>
  <site name="d0" pos=".1 .05 .06"/><site name="d1" pos="-.1 -.15 .02"/>
  <body name="upper" pos=".1 0 0"><joint name="shoulder" axis="0 1 0"/>
    <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0" mass=".7"/><site name="u0" pos=".15 .05 .06"/>
    <geom name="knob" type="sphere" size="0.06" pos=".28 0 .02" mass=".1" contype="0" conaffinity="0"/>
    <site name="knob_side" pos=".28 .02 .3"/><site name="ring" pos=".28 .01 .03"/>
    <body name="lower" pos=".3 0 0"><joint name="elbow" axis="0 1 .2"/>
      <geom type="capsule" size=".02" fromto="0 0 0 .2 .05 0" mass=".4"/><site name="l0" pos=".1 .02 .05"/>
      <geom name="drum" type="cylinder" size="0.05 0.1" pos=".02 0 .01" euler="80 0 10" mass=".1"
            contype="0" conaffinity="0"/><site name="drum_side" pos=".02 0 .3"/>
      <body name="ball" pos=".2 0 0"><joint name="wrist" type="ball"/><geom type="box" size=".02 .03 .05" mass=".3"/>
        <site name="b0" pos=".05 .03 .02"/></body></body></body>
  <body name="slider" pos="0 .3 0"><joint name="slide" type="slide" axis="0 1 .3"/>
    <geom type="box" size=".02 .03 .05" mass=".2"/><site name="s0" pos=".02 .05 0"/></body></body>
<body name="crate" pos=".8 0 1"><freejoint name="drift"/><geom type="box" size=".1 .05 .07" mass=".8"/>
  <site name="c0" pos=".1 .05 .07"/></body>"""


def through(*places: str) -> str:
    """A path: names of sites, numbers for pulleys, geom or geom/sidesite."""
    words = []
    for place in places:
        shape, _, side = place.partition("/")
        if place[0].isdigit():
            words.append(f'<pulley divisor="{place}"/>')
        elif shape in ("knob", "drum", "post"):
            words.append(f'<geom geom="{shape}"' + (f' sidesite="{side}"' if side else "") + "/>")
        else:
            words.append(f'<site site="{place}"/>')
    return "".join(words)


PATHS = {
    "two sites": through("d0", "l0"), "to the world": through("w", "u0"), "two robots": through("b0", "c0"),
    "many": through("w", "d0", "u0", "l0", "b0", "d1", "s0", "w2"), "one body": through("d0", "d1"),
    "pulley": through("2", "w", "d0", "4", "d0", "l0", "b0", "0.5", "s0", "c0"),
    "sphere": through("d0", "knob", "l0"), "sphere, side": through("u0", "knob/knob_side", "b0"),
    "cylinder": through("u0", "drum", "b0"), "cylinder, side": through("d0", "drum/drum_side", "b0"),
    "post": through("w", "post", "d0"), "post, side": through("s0", "post/post_side", "c0"),
    "two shapes": through("d0", "knob/knob_side", "u0", "drum", "b0", "3", "w2", "post", "l0"),
}
RING = through("d0", "knob/ring", "b0")


class Twin:
    """A file with one tendon, read by both."""

    def __init__(self, folder: Path, path: str, words: str = "", rest: str = "", options: str = "") -> None:
        file = folder / "twin.xml"
        file.write_text(f'<mujoco><option timestep="1e-6" {options}><flag contact="disable"/></option>'
                        f'<worldbody>{WORLD}</worldbody>'
                        f'<tendon><spatial name="t" {words}>{path}</spatial></tendon>{rest}</mujoco>')
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data = mujoco.MjData(self.model)
        self.scene = ss.Scene()
        with pytest.warns(ss.UnsupportedFeature) as said:  # the flag
            self.scene.load(file)
        assert not any("tendon" in str(warning.message) for warning in said)
        self.sim = ss.Simulation(self.scene, ss.methods.none(integrator="euler"), dt=1e-6)
        self.shared = SharedState(self.sim.compiled, self.model)

    def draw(self, rng: np.random.Generator, spread: float = 1.0) -> None:
        """A random state of both."""
        q = self.data.qpos
        for j in range(self.model.njnt):
            at, kind = self.model.jnt_qposadr[j], self.model.jnt_type[j]
            if kind in (0, 1):
                turn = rng.normal(size=4)
                q[at + 3 * (kind == 0):at + (7 if kind == 0 else 4)] = turn / np.linalg.norm(turn)
            if kind == 0:
                q[at:at + 3] = np.array([0.3 * j, 0.1, 1.0]) + 0.4 * rng.normal(size=3)
            if kind in (2, 3):
                q[at] = spread * rng.normal() * (0.2 if kind == 2 else 1.0)
        self.data.qvel[:] = rng.normal(size=self.model.nv)
        self.data.ctrl[:] = 3.0 * rng.normal(size=self.model.nu)
        mujoco.mj_forward(self.model, self.data)
        state = self.sim.q.copy(), self.sim.v.copy()
        held = type("State", (), {"q": state[0], "v": state[1]})()
        self.shared.read(self.data, held)
        self.sim.set_state(held.q, held.v)
        for n, actuator in enumerate(self.sim.actuators.values()):
            actuator.target = float(self.data.ctrl[n])

    def motion(self) -> tuple[float, float]:
        self.sim.refresh()
        return observe_tendon(self.sim.model.table, self.sim.data.table, 0)


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_lengths_and_rates_at_random_states(path: str, rng: np.random.Generator, tmp_path: Path) -> None:
    twin = Twin(tmp_path, path)
    wrapped = 0
    for _ in range(sample_count(150, 3000)):
        twin.draw(rng)
        length, rate = twin.motion()
        bends = twin.data.ten_wrapnum[0] > path.count("<site") + path.count("<pulley")
        wrapped += bends
        # MuJoCo takes arcs by an arc cosine, which is good to 1e-8 where an arc is short
        assert length == pytest.approx(twin.data.ten_length[0], abs=1e-8 if bends else 1e-12)
        assert rate == pytest.approx(twin.data.ten_velocity[0], abs=1e-10)
    assert wrapped > 10 or "<geom" not in path


def test_a_side_within_the_shape_makes_a_ring(rng: np.random.Generator, tmp_path: Path) -> None:
    """MuJoCo finds the point of the ring by Newton's method, to 1e-7 or so; rates follow from lengths."""
    twin = Twin(tmp_path, RING)
    bent = 0
    for _ in range(sample_count(100, 2000)):
        twin.draw(rng)
        length, rate = twin.motion()
        bent += length > np.linalg.norm(twin.data.site("d0").xpos - twin.data.site("b0").xpos) + 1e-9
        assert length == pytest.approx(twin.data.ten_length[0], abs=1e-7)
        assert rate == pytest.approx(twin.data.ten_velocity[0], abs=1e-4)
    assert bent > 20


def test_rates_are_those_of_lengths(rng: np.random.Generator, tmp_path: Path) -> None:
    """Central differences along the velocity, on all paths; the ring among them."""
    from sesshoku.integrate.position import move

    for path in [*PATHS.values(), RING]:
        twin = Twin(tmp_path, path)
        for _ in range(10):
            twin.draw(rng)
            sim, h = twin.sim, 1e-6
            _, rate = twin.motion()
            q, v, lengths = sim.q.copy(), sim.v.copy(), []
            for sign in (1.0, -1.0):
                there = q.copy()
                move(sim.model, there, v, sign * h)
                sim.set_state(there, v)
                lengths.append(twin.motion()[0])
            assert rate == pytest.approx((lengths[0] - lengths[1]) / (2.0 * h), abs=1e-6)


@pytest.mark.parametrize("path", [PATHS[key] for key in ("many", "two robots", "pulley", "two shapes")])
@pytest.mark.parametrize("words, rest", [
    ('stiffness="20" springlength="0.1"', ""), ('stiffness="20" springlength="0.5 0.9" damping="2"', ""),
    ("", '<general tendon="t" gainprm="3" gear="-2" biastype="affine" biasprm="0.5 -7 -0.3"/>'),
    ("", '<motor tendon="t" gear="3" ctrlrange="-1 2"/>')])
def test_accelerations_at_random_states(path: str, words: str, rest: str, rng: np.random.Generator,
                                        tmp_path: Path) -> None:
    twin = Twin(tmp_path, path, words, rest and f"<actuator>{rest}</actuator>")
    for _ in range(sample_count(5, 50)):
        twin.draw(rng)
        before = twin.sim.v.copy()
        theirs = type("State", (), {"q": twin.sim.q.copy(), "v": twin.sim.v.copy()})()
        twin.sim.step()
        mujoco.mj_step(twin.model, twin.data)
        twin.shared.read(twin.data, theirs)
        ours, given = (twin.sim.v - before) / 1e-6, (theirs.v - before) / 1e-6
        np.testing.assert_allclose(ours, given, atol=2e-4 * max(1.0, np.abs(given).max()))


SWING = """<mujoco><option timestep="5e-5" integrator="RK4"/><worldbody><site name="hook" pos="0.1 0 1.6"/>
<geom name="roll" type="cylinder" size="0.05 0.1" pos="0.1 0 1.3" euler="90 0 0" contype="0" conaffinity="0"/>
<site name="left" pos="-0.5 0 1.3"/>
<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0"
 mass=".7" contype="0" conaffinity="0"/><site name="mid" pos=".2 0 .03"/>
 <body name="lower" pos=".3 0 0"><joint name="b" axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .2 0 0"
  mass=".4" contype="0" conaffinity="0"/><site name="end" pos=".2 0 0"/></body></body></worldbody>
<tendon><spatial name="t" stiffness="15" springlength="0.6" damping="0.5"><site site="hook"/>{wrap}<site site="end"/>
<pulley divisor="2"/><site site="mid"/><site site="end"/></spatial></tendon></mujoco>"""
WRAP = '<geom geom="roll" sidesite="left"/>'


@pytest.mark.parametrize("wrap", ["", WRAP], ids=["sites", "wrapped"])
@pytest.mark.parametrize("method", ["none", "exact", "lcp:recommended", "multipoint:recommended", "volume:recommended",
                                    "implicit:recommended", "springs:recommended"])
def test_a_motion_is_that_of_fine_steps(method: str, wrap: str, tmp_path: Path) -> None:
    """A double pendulum on an elastic cord over a pulley, 0.3 s: against MuJoCo at 50 us, by steps that shrink."""
    file = tmp_path / "swing.xml"
    file.write_text(SWING.format(wrap=wrap))
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    for _ in range(6000):
        mujoco.mj_step(model, data)
    errors = []
    for dt in (1e-3, 2.5e-4):
        scene = ss.Scene()
        with pytest.warns(ss.UnsupportedFeature, match="integrator"):
            scene.load(file)
        sim = ss.Simulation(scene, method, dt=dt)
        sim.step(round(0.3 / dt))
        errors.append(float(np.abs(sim.q - data.qpos).max()))
    assert errors[0] < 0.04 and errors[1] < 0.4 * errors[0] + 1e-6
