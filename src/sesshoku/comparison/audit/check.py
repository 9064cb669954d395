"""`sesshoku check model.xml`: the same file under MuJoCo, with its own settings, and under Coulomb's law.

Coulomb's law knows no creep: what friction can hold stands still; bodies do not sink into each other, and what is
pressed down does not lift off. MuJoCo's soft contacts allow some of each, as much as `solref`, `solimp`, `impratio` and
the cone make of it. `check_model` runs both from the same start and says, pair by pair, what creeps, sinks, slips or
lifts off there alone, with numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.audit.touch import Pair, Touch, feel, in_words
from sesshoku.comparison.mujoco_contacts import bring_up_to_date, list_mujoco_contacts
from sesshoku.comparison.table import say
from sesshoku.errors import SceneError, SimulationDiverged, SuspectRun, UnsupportedFeature
from sesshoku.scene import check
from sesshoku.scene.calls import checked
from sesshoku.scene.io.mjcf.bodies import ModelNames
from sesshoku.scene.scene import Scene
from sesshoku.simulation.contacts import Contact
from sesshoku.simulation.simulation import Simulation

LOOKED = 0.004  # s between looks
SETTLED = 0.1  # share of the run that is left out at its beginning
#: from which difference on there is something to say: m/s, m, m, share of the time
CREEPS, SINKS, SLIPS, LIFTS = 1e-3, 5e-4, 2e-3, 0.1


@dataclass
class Manner:
    """How a pair of bodies touched: creep (m/s), slipped way (m), depth (m), share of the time in touch."""

    creep: float = 0.0
    slipped: float = 0.0
    depth: float = 0.0
    touching: float = 0.0
    force: float = 0.0


@dataclass
class Found:
    """A pair of bodies under MuJoCo and under the law, and what only MuJoCo does."""

    pair: Pair
    mujoco: Manner
    law: Manner
    says: list[str] = field(default_factory=list)


@checked
@dataclass(repr=False)
class Check:
    """What `check_model` found. found: pairs of bodies, those with something to say first."""

    file: str
    law: str
    duration: float
    dt: float
    found: list[Found]
    apart: float  # m between the places of a body at the end
    farthest: str  # that body
    stopped: str | None = None  # why one of the runs ended early

    def __repr__(self) -> str:
        return f"Check of {self.file}: " + ("; ".join(self.sentences()) or "nothing differs")

    @property
    def differs(self) -> bool:
        return any(one.says for one in self.found)

    def sentences(self) -> list[str]:
        """What happens under MuJoCo alone, a sentence each."""
        return [f"{' and '.join(in_words(one.pair))}: {text}" for one in self.found for text in one.says]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {"file": self.file, "law": self.law, "time": self.duration, "dt": self.dt, "stopped": self.stopped,
                "apart": self.apart, "farthest": self.farthest, "differs": self.differs,
                "pairs": [{"bodies": list(one.pair), "mujoco": vars(one.mujoco), "law": vars(one.law),
                           "only_in_mujoco": one.says} for one in self.found]}

    def table(self, most: int = 16) -> Any:
        """A rich table: a row a pair, MuJoCo beside the law."""
        from rich.box import SIMPLE_HEAD
        from rich.markup import escape
        from rich.table import Table

        made = Table(title=escape(f"{self.file}: MuJoCo / {self.law}, {self.duration:g} s in steps of {self.dt:g} s"),
                     title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        for heading in ("bodies", "creep", "slipped", "depth", "in touch", "mean force"):
            made.add_column(heading, justify="left" if heading == "bodies" else "right", no_wrap=heading != "bodies")
        for one in self.found[:most]:
            a, b = one.mujoco, one.law
            cells = [f"{say(x, unit)} / {say(y, unit)}" for x, y, unit in (
                (a.creep, b.creep, "m/s"), (a.slipped, b.slipped, "m"), (a.depth, b.depth, "m"),
                (100 * a.touching, 100 * b.touching, "%"), (a.force, b.force, "N"))]
            made.add_row(escape(" and ".join(one.pair)), *cells, style="yellow" if one.says else "")
        return made


@checked
def check_model(file: str | Path, *, time: float = 2.0, pose: str | None = None, dt: float | None = None,
                law: str = "exact") -> Check:
    """Run an MJCF file in MuJoCo, as it is, and under a law of ours, from the same start with the same commands held.

    pose: the keyframe to start from; default: the file's first, where it has one. dt: default the file's.
    """
    import mujoco

    path = check.path(file, "check")
    duration = check.number(time, "time", "check", above=0.0)
    if not path.is_file():
        raise SceneError("there is no such file", file=str(path), remedy="give an MJCF model (.xml)")
    if path.suffix.lower() != ".xml":
        raise SceneError("MuJoCo reads MJCF", file=str(path), value=path.suffix, remedy="give an .xml file")
    scene, key = Scene(name=path.stem), pose
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except Exception as error:
        raise SceneError(f"MuJoCo cannot read it: {' '.join(str(error).split())}", file=str(path)) from None
    if key is None and model.nkey:
        key = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_KEY, 0) or "key0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)
        robot = scene.load(path, pose=key)
        scene.self_collision(robot)  # links of one robot touch in MuJoCo
        step = float(model.opt.timestep) if dt is None else check.number(dt, "dt", "check", above=0.0)
        sim = Simulation(scene, law, step)
    model.opt.timestep = step
    return _Both(path, model, sim, key).run(duration)


class _Both:
    """MuJoCo and a simulation of ours, side by side."""

    def __init__(self, path: Path, model: Any, sim: Simulation, key: str | None) -> None:
        import mujoco

        self.path, self.model, self.sim, self.data = path, model, sim, mujoco.MjData(model)
        if key is not None:
            number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_KEY, key)
            mujoco.mj_resetDataKeyframe(model, self.data, max(number, 0))
        names = ModelNames(model)
        self.names = names.body
        for n, name in enumerate(names.actuator):  # one command for both
            if name in sim.actuators:
                follows = sim.actuators[name]
                moves = sim.scene.actuators[name].kind == "velocity"
                self.data.ctrl[n] = follows.target_velocity if moves else follows.target
        mujoco.mj_forward(model, self.data)
        self.shared = [(n, name) for n, name in enumerate(self.names) if n and name in sim.bodies]
        self.touches: tuple[dict[Pair, Touch], dict[Pair, Touch]] = {}, {}

    def run(self, duration: float) -> Check:
        import mujoco

        sim, dt = self.sim, self.sim.dt
        steps, every = max(round(duration / dt), 1), max(round(LOOKED / dt), 1)
        begin, seconds, stopped = round(SETTLED * steps), 0.0, None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SuspectRun)
                for n in range(steps):
                    mujoco.mj_step(self.model, self.data)
                    sim.step()
                    if n >= begin and n % every == 0:
                        bring_up_to_date(self.model, self.data)
                        seconds += every * dt
                        self._feel(0, list_mujoco_contacts(self.model, self.data, self._name), every * dt)
                        self._feel(1, sim.contacts, every * dt)
                    if any(self.data.warning[number].number for number in (3, 4, 5)):
                        stopped = f"MuJoCo's state stops being finite at {sim.time:.3g} s"
                        break
        except SimulationDiverged as error:
            stopped = str(error)
        bring_up_to_date(self.model, self.data)
        apart = [float(np.linalg.norm(self.data.xpos[n] - sim.bodies[name].position)) for n, name in self.shared]
        worst = int(np.argmax(apart)) if apart else -1
        found = sorted(self._pairs(max(seconds, 1e-12)),
                       key=lambda one: (not one.says, -one.law.force - one.mujoco.force))
        return Check(self.path.name, sim.method.label, sim.time, dt, found, apart[worst] if apart else 0.0,
                     self.shared[worst][1] if apart else "", stopped)

    def _name(self, body: int) -> str:
        return self.names[body]

    def _feel(self, side: int, contacts: Iterable[Contact], seconds: float) -> None:
        for pair, felt in feel(contacts).items():
            self.touches[side].setdefault(pair, Touch()).add(felt, seconds)

    def _pairs(self, seconds: float) -> list[Found]:
        pairs = dict.fromkeys([*self.touches[0], *self.touches[1]])
        found = []
        for pair in pairs:
            theirs, ours = (self._manner(side, pair, seconds) for side in (0, 1))
            found.append(Found(pair, theirs, ours, _differences(theirs, ours, self.sim.method.label)))
        return found

    def _manner(self, side: int, pair: Pair, seconds: float) -> Manner:
        touch = self.touches[side].get(pair)
        if touch is None or touch.impulse <= 0.0:
            return Manner()
        means = touch.means()
        return Manner(means["creep"], touch.slipped, means["depth"],
                      min(touch.loaded / seconds, 1.0), touch.impulse / seconds)


def _differences(theirs: Manner, ours: Manner, law: str) -> list[str]:
    """What only MuJoCo does, in words with numbers."""
    says = []
    if theirs.creep - ours.creep > CREEPS:
        says.append(f"creeps at {say(theirs.creep, 'm/s')} while friction could hold it "
                    f"({say(ours.creep, 'm/s')} under {law})")
    if theirs.slipped - ours.slipped > SLIPS:
        says.append(f"slips {say(theirs.slipped, 'm')} ({say(ours.slipped, 'm')} under {law})")
    if theirs.depth - max(ours.depth, 0.0) > SINKS:
        says.append(f"sinks {say(theirs.depth, 'm')} ({say(max(ours.depth, 0.0), 'm')} under {law})")
    if ours.touching - theirs.touching > LIFTS:
        says.append(f"lifts off: in touch {100 * theirs.touching:.0f} % of the time "
                    f"({100 * ours.touching:.0f} % under {law})")
    return says
