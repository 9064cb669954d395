"""`audit`: one controller under every law and MuJoCo, on the same runs; what depends on the law, where it begins."""

from __future__ import annotations

import hashlib
import inspect
import statistics as middles
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from sesshoku.comparison.audit.conditions import Condition, read_conditions
from sesshoku.comparison.audit.controllers import base_body, make_controller
from sesshoku.comparison.audit.parting import THRESHOLD, Parting, Trace, find_parting
from sesshoku.comparison.audit.policy import Policy
from sesshoku.comparison.audit.statistics import Share
from sesshoku.comparison.audit.trial import Ending, Setting, Trial, nominal_scene, point_of, run_trial
from sesshoku.comparison.audit.verdict import Verdict, judge
from sesshoku.comparison.mujoco import KEY
from sesshoku.comparison.outcome import Outcome
from sesshoku.comparison.sweep import Study, sweep
from sesshoku.comparison.watch import Watcher
from sesshoku.errors import SceneError, SesshokuError
from sesshoku.methods.registry import DEFAULT, keywords, resolve
from sesshoku.scene import check
from sesshoku.scene.calls import checked

BINS = 4  # of a range, in the map
REFUSED = "MethodError: "


def usual_laws() -> list[str]:
    """Every method with the options that measured best, and MuJoCo."""
    known = keywords()
    best = [name for name in known if name != "none" and (":" in name or f"{name}:recommended" not in known)]
    return [*sorted(best, key=lambda name: name != DEFAULT), KEY]


@dataclass
class Case:
    """One run under all laws, looked at closely: films, endings and where laws part from the first."""

    point: dict[str, float]
    seed: int
    outcomes: list[Outcome] = field(default_factory=list)
    endings: dict[str, Ending] = field(default_factory=dict)
    partings: list[Parting] = field(default_factory=list)

    def __str__(self) -> str:
        said = [f"{name} {value:.3g}" for name, value in self.point.items()]
        return ", ".join([*said, f"seed {self.seed}"])


@checked
@dataclass(repr=False)
class Audit:
    """What an audit found. `depends`: whether success depends on the law; `verdict`: a sentence that says so."""

    setting: Setting
    laws: list[str]
    study: Study
    finding: Verdict
    case: Case | None
    refused: dict[str, str]

    @property
    def depends(self) -> bool:
        return self.finding.depends

    @property
    def verdict(self) -> str:
        return self.finding.sentence

    def __repr__(self) -> str:
        return f"Audit of {self.setting.label} under {', '.join(self.laws)}: {self.verdict}"

    def rows(self, law: str) -> list[dict[str, Any]]:
        """The runs under a law that could be made."""
        return [row for row in self.study if row["method"] == law and row["error"] is None]

    def share(self, law: str) -> Share:
        """How many runs under a law succeeded."""
        return self.finding.shares[law]

    def how_it_ended(self, law: str) -> str:
        """How the runs that did not succeed ended most often, and when."""
        lost = [row for row in self.rows(law) if not row["success"]]
        if not lost:
            return ""
        kinds = Counter(row["end"].partition(" at ")[0] for row in lost)
        kind, count = kinds.most_common(1)[0]
        times = [row["time"] for row in lost if row["end"].startswith(f"{kind} at ")]
        when = f", at {middles.median(times):.2f} s{' (median)' if len(times) > 1 else ''}" if times else ""
        return f"{count} of {len(lost)} {kind}{when}" if len(lost) > 1 else f"{kind}{when}"

    def cells(self, condition: Condition) -> tuple[list[str], dict[str, list[Share]]]:
        """The success map along one condition: headings, and law -> shares. A range is shown in four parts."""
        if condition.values:
            heads = [f"{value:g}" for value in condition.values]
            place: Callable[[dict[str, Any]], int] = lambda row: condition.values.index(row[condition.name])  # noqa: E731
        else:
            width = (condition.high - condition.low) / BINS
            heads = [f"{condition.low + n * width:.3g} to {condition.low + (n + 1) * width:.3g}" for n in range(BINS)]
            place = lambda row: min(int((row[f"{condition.name}_drawn"] - condition.low) / width), BINS - 1)  # noqa: E731
        found = {}
        for law in self.laws:
            counts = [[0, 0] for _ in heads]
            for row in self.rows(law):
                cell = counts[place(row)]
                cell[0] += bool(row["success"])
                cell[1] += 1
            found[law] = [Share(*cell) for cell in counts]
        return heads, found

    @property
    def mapped(self) -> list[Condition]:
        """Conditions that have an axis of the map: lists with several values, and ranges of one number."""
        return [c for c in self.setting.conditions
                if len(c.values) > 1 or (c.drawn and not c.spread and c.high > c.low)]

    def touches(self, law: str) -> dict[str, dict[str, float]]:
        """Pair of bodies -> means over all runs under a law, weighted by the time it carried load."""
        sums: dict[str, dict[str, float]] = {}
        for row in self.rows(law):
            for n, pair in enumerate(row["pairs"] or ()):
                one = sums.setdefault(pair, dict.fromkeys(("slip", "creep", "depth", "force", "loaded"), 0.0))
                loaded = row["loaded"][n]
                one["loaded"] += loaded
                for key in ("slip", "creep", "depth", "force"):
                    one[key] += loaded * row[key][n]
        return {pair: {key: value / one["loaded"] if key != "loaded" else value for key, value in one.items()}
                for pair, one in sums.items()}

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        laws = []
        for law in self.laws:
            share = self.share(law)
            laws.append({"law": law, "runs": share.total, "successes": share.count, "interval": list(share.interval),
                         "refused": self.refused.get(law), "failures": self.how_it_ended(law) or None,
                         "contacts": self.touches(law)})
        return {"controller": self.setting.controller, "robot": self.setting.robot, "depends": self.depends,
                "decided": self.finding.decided, "verdict": self.verdict, "laws": laws,
                "conditions": [str(condition) for condition in self.setting.conditions],
                "map": {c.name: {"values": self.cells(c)[0], **{law: [[s.count, s.total] for s in shares]
                                                                for law, shares in self.cells(c)[1].items()}}
                        for c in self.mapped},
                "case": None if self.case is None else {
                    "point": self.case.point, "seed": self.case.seed,
                    "endings": {law: ending.end for law, ending in self.case.endings.items()},
                    "partings": [parting.as_dict() for parting in self.case.partings]}}

    def tables(self) -> list[Any]:
        """Rich tables for a terminal."""
        from sesshoku.comparison.audit.table import tables

        return tables(self)

    def to_html(self, path: str | Path) -> None:
        """Write one self-contained page: verdict, success map, where runs part, films side by side."""
        from sesshoku.comparison.audit.page import write_audit

        write_audit(self, path)


@checked
def audit(
    controller: Any, *, robot: str | Path | None = None, laws: Iterable[str] | None = None, over: Any = (),
    seeds: Any = 20, time: float | None = None, dt: float | None = None, success: str | None = None,
    pose: str | None = None, ground: bool = False, fixed_base: bool = False, push_body: str | None = None,
    threshold: float = THRESHOLD, workers: int | None = None, path: Any = None, on: str = "processes",
    progress: bool | Callable[[str], None] = True, folder: str | Path | None = None,
) -> Audit:
    """Run one controller under many laws, on the same conditions and seeds: does its success depend on them?

    controller: "module:function", or a policy's file (`comparison.audit.controllers` has what a controller may have).
    robot: a scene or robot file; the controller's own scene where it has one. laws: default all methods as recommended,
    and "mujoco". over: conditions such as ["friction=0.3..1.0", "mass=±10%", "push=0,20,40"]. success: "upright",
    "finished" or "module:function"; default: the controller's word. threshold: m by which two runs count as parted.
    workers, path, on: as `sweep` takes them. folder: where modules and policies are looked for.
    """
    chosen = usual_laws() if laws is None else [laws] if isinstance(laws, str) else list(laws)
    for law in chosen:
        if law != KEY:
            resolve(law)
        if chosen.count(law) > 1:
            raise SceneError("asked for twice", element="laws", value=law, remedy="name it once")
    if len(chosen) < 2:
        raise SceneError("an audit needs two laws or more", element="laws", value=chosen,
                         remedy=f"there is {', '.join(keywords())}, {KEY}")
    setting = Setting(
        _named(controller), tuple(read_conditions(over)), None if robot is None else str(Path(robot).resolve()), pose,
        ground, fixed_base, success, None if time is None else check.number(time, "time", "audit", above=0.0),
        None if dt is None else check.number(dt, "dt", "audit", above=0.0), push_body,
        str(Path.cwd() if folder is None else Path(folder).resolve()))
    setting = replace(setting, contents=contents_of(setting))
    if push_body is not None and push_body not in nominal_scene(setting).bodies:
        raise SceneError("no such body", element="push_body", value=push_body,
                         remedy=f"bodies: {', '.join(nominal_scene(setting).bodies)}")
    nominal_scene(setting)  # what cannot be read is told before any process starts
    grid = {"method": chosen} | {c.name: list(c.values) for c in setting.conditions if c.values}
    study = sweep(partial(run_trial, setting), grid, seeds=seeds, workers=workers, path=path, on=on, progress=progress)
    refused = {law: row["error"].removeprefix(REFUSED) for law in chosen for row in study.failed
               if row["method"] == law and row["error"].startswith(REFUSED)}
    _raise_what_always_fails(study, refused)
    finding = judge(study, [law for law in chosen if law not in refused], chosen)
    case = look_closely(setting, finding, [law for law in chosen if law not in refused], threshold)
    result = Audit(setting, chosen, study, finding, case, refused)
    finding.explain(result)
    return result


def _raise_what_always_fails(study: Study, refused: dict[str, str]) -> None:
    left = [row for row in study if row["method"] not in refused]
    if not left:
        raise SceneError("no law can carry it", element="audit", remedy="; ".join(f"{law}: {why}" for law, why
                                                                                  in refused.items()))
    if all(row["error"] is not None for row in left):
        raise SesshokuError(f"no run could be made: {left[0]['error']}")


def contents_of(setting: Setting) -> str:
    """A hash of the files that the controller, its policy and the robot come from."""
    digest, files = hashlib.sha256(), [Path(setting.robot)] if setting.robot is not None else []
    controller = make_controller(setting.controller, setting.place)
    if isinstance(controller, Policy):
        files += controller.files
    else:
        kind = controller if inspect.isfunction(controller) else type(controller)
        files += [Path(found)] if (found := inspect.getsourcefile(kind)) is not None else []
    for file in files:
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()[:16]


def _named(controller: Any) -> str:
    """The name by which other processes find a controller."""
    if isinstance(controller, (str, Path)):
        path = Path(controller)
        return str(path.resolve()) if ":" not in path.name and path.is_file() else str(controller)
    module, name = getattr(controller, "__module__", ""), getattr(controller, "__qualname__", "")
    if not callable(controller) or not name or "<" in name or module in ("", "__main__"):
        raise SceneError("a controller is named, so that other processes find it", element="audit", value=controller,
                         remedy='put it into a module and give "module:function"')
    return f"{module}:{name}"


def look_closely(setting: Setting, finding: Verdict, laws: list[str], threshold: float) -> Case:
    """Make the run that tells most again under all laws, with films, and find where each parts from the first two."""
    row = finding.telling
    point = point_of(setting.conditions, row, row["seed"])
    case = Case(point, row["seed"])
    traces: dict[str, Trace] = {}
    names: list[str] = []
    parents: dict[str, str | None] = {}
    for law in laws:
        trial, trace = Trial(setting, law, point, row["seed"]), Trace()
        names, parents = list(trial.scene.bodies), {body.name: body.parent for body in trial.scene.bodies.values()}
        watcher = Watcher(_watched(trial), max(round(trial.duration / trial.sim.dt), 1), trial.sim.dt)
        watcher.sample(trial.sim)

        def look(sim: Any, trace: Trace = trace, watcher: Watcher = watcher) -> None:
            trace.look(sim)
            watcher.sample(sim)

        ending = trial.go(look)
        outcome = Outcome(law, asked=law, remark=ending.end)
        watcher.write(outcome)
        case.endings[law], case.outcomes, traces[law] = ending, [*case.outcomes, outcome], trace
    first = finding.pair[0]
    others = [finding.pair[1], *(law for law in laws if law not in finding.pair)]
    for law in others:
        parting = find_parting((first, law), traces[first], traces[law], names, threshold, parents)
        if parting is not None:
            case.partings.append(parting)
    return case


def _watched(trial: Trial) -> list[str]:
    base = base_body(trial.scene)
    return [base] if base is not None else [body.name for body in trial.scene.bodies.values()
                                            if body.joint.kind != "fixed"][-1:]
