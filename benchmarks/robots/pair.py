"""One scene in both simulators: the same start, the same commands, the same step."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import sesshoku as ss
from sesshoku.scene.io.mjcf.bodies import ModelNames
from sesshoku.stages.report import CONVERGED

DURATION = 1.0  # s
BURST = 20  # steps timed at once


class PeerRefuses(Exception):
    """MuJoCo itself cannot load the file."""


class PeerDiverges(Exception):
    """MuJoCo's own state stopped being finite; it starts over in silence."""


@dataclass
class Loaded:
    """A scene file as both simulators read it."""

    path: Path
    scene: ss.Scene
    key: str | None
    control: np.ndarray  # (nu) the command of both
    model: Any


def load(path: Path) -> Loaded:
    """Read the file; the first keyframe, where there is one, is the start of both."""
    try:
        spec = mujoco.MjSpec.from_file(str(path))
        model = mujoco.MjModel.from_xml_path(str(path))
    except Exception as error:
        raise PeerRefuses(" ".join(str(error).split())) from None
    key = (mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, 0) or "key0") if model.nkey else None
    scene = ss.Scene(name=f"{path.parent.name}/{path.stem}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        robot = scene.load(path, pose=key)
    scene.self_collision(robot)  # links of one robot touch in MuJoCo
    keys = spec.keys  # empty where the keyframe comes with an attached model
    stated = bool(model.nkey) and (len(list(keys[0].ctrl)) > 0 if keys else bool(model.key_ctrl[0].any()))
    return Loaded(path, scene, key, _control(model, stated), model)


def _control(model: Any, stated: bool) -> np.ndarray:
    """The keyframe's ctrl; where it has none, what holds its pose; without a keyframe zero."""
    control = np.zeros(model.nu)
    if stated:
        control[:] = model.key_ctrl[0]
    elif model.nkey:
        for i in np.flatnonzero(np.isin(model.actuator_trntype, (0, 1))):
            joint = int(model.actuator_trnid[i, 0])
            gain, stiffness = model.actuator_gainprm[i, 0], -model.actuator_biasprm[i, 1]
            if model.jnt_type[joint] >= 2 and model.actuator_biastype[i] == 1 and gain and stiffness:
                control[i] = stiffness * model.actuator_gear[i, 0] * model.key_qpos[0, model.jnt_qposadr[joint]] / gain
    limited = model.actuator_ctrllimited.astype(bool)
    low, high = model.actuator_ctrlrange.T
    return np.where(limited, np.clip(control, low, high), control)


@dataclass
class Pair:
    """Both simulators at the start of a loaded scene, with something changed on both sides or on MuJoCo's alone."""

    loaded: Loaded
    method: str = "exact"
    dt: float | None = None
    change_scene: Callable[[ss.Scene], None] | None = None
    change_model: Callable[[Any], None] | None = None
    names: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.model = copy.copy(self.loaded.model)
        self.dt = self.dt or float(self.loaded.model.opt.timestep)
        self.model.opt.timestep = self.dt
        if self.change_model is not None:
            self.change_model(self.model)
        self.data = mujoco.MjData(self.model)
        self.start_peer()
        scene = self.loaded.scene
        if self.change_scene is not None:
            scene = copy.deepcopy(scene)
            self.change_scene(scene)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.sim = ss.Simulation(scene, self.method, self.dt)
        self._command()
        named = ModelNames(self.model).body
        self.rows = [i for i in range(1, self.model.nbody) if named[i] in self.sim.bodies]
        self.names = [named[i] for i in self.rows]
        self.start = self.sim.save()

    @property
    def steps(self) -> int:
        return round(DURATION / self.dt)  # type: ignore[operator]

    def start_peer(self) -> None:
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)
        self.data.ctrl[:] = self.loaded.control
        mujoco.mj_forward(self.model, self.data)

    def _command(self) -> None:
        """Hand MuJoCo's ctrl to our actuators."""
        names = ModelNames(self.loaded.model).actuator
        for name, control in zip(names, self.loaded.control):
            if name in self.sim.actuators:
                velocity = self.sim.scene.actuators[name].kind == "velocity"
                setattr(self.sim.actuators[name], "target_velocity" if velocity else "target", float(control))

    # ---- running -----------------------------------------------------------------------------------------------------

    def ours(self) -> np.ndarray:
        """(B, 3) origins of the bodies here."""
        return np.array([self.sim.bodies[name].position for name in self.names]).reshape(-1, 3)

    def theirs(self) -> np.ndarray:
        """(B, 3) origins of the same bodies in MuJoCo."""
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.xpos[self.rows].copy()

    def distances(self) -> np.ndarray:
        """(B) between the origins here and there, m."""
        return np.linalg.norm(self.ours() - self.theirs(), axis=1)

    def run_ours(self) -> np.ndarray:
        self.sim.step(self.steps)
        return self.ours()

    def run_theirs(self) -> np.ndarray:
        mujoco.mj_step(self.model, self.data, self.steps)
        self.refuse_reset()
        return self.theirs()

    def peer_step(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def mass(self) -> float:
        """Of all bodies, kg."""
        return float(self.model.body_mass.sum())

    def refuse_reset(self) -> None:
        kinds = mujoco.mjtWarning
        if any(self.data.warning[int(kind)].number for kind in (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL,
                                                               kinds.mjWARN_BADQACC)):
            raise PeerDiverges("MuJoCo's own state stops being finite")

    def energies(self) -> tuple[float, float, float]:
        """Kinetic energy here and there, and potential energy here, J."""
        kinetic, potential = self.sim.energy
        mujoco.mj_energyVel(self.model, self.data)
        return float(kinetic), float(self.data.energy[1]), float(potential)

    def touching(self) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
        """Pairs of bodies that press on each other here, and there."""
        names, force, there = ModelNames(self.model).body, np.zeros(6), set()
        for i in range(self.data.ncon):
            mujoco.mj_contactForce(self.model, self.data, i, force)
            if force[0] > 0.0:
                there.add(tuple(sorted(names[self.model.geom_bodyid[geom]] for geom in self.data.contact[i].geom)))
        here = {tuple(sorted(contact.bodies)) for contact in self.sim.contacts if contact.normal_force > 0.0}
        return here, there

    def converged(self) -> bool:
        return bool(self.sim.report_array[CONVERGED])

    def step_times(self, repeats: int, budget: float) -> tuple[float, float]:
        """Mean seconds of a step here and there: both in turns along the run, the smaller of `repeats` for each burst.

        budget: no further repeat begins after so many seconds.
        """
        bursts = max(self.steps // BURST, 1)
        times = np.full((repeats, 2, bursts), np.inf)
        begin = time.perf_counter()
        for n in range(repeats):
            self.sim.restore(self.start)
            self.start_peer()
            for k in range(bursts):
                start = time.perf_counter()
                self.sim.step(BURST)
                middle = time.perf_counter()
                mujoco.mj_step(self.model, self.data, BURST)
                times[n, :, k] = middle - start, time.perf_counter() - middle
            if time.perf_counter() - begin > budget:
                break
        ours, theirs = times.min(axis=0).mean(axis=1) / BURST
        return float(ours), float(theirs)
