"""The command `run`: simulate a scene and say what happened."""

from __future__ import annotations

import sys
import time as wall
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sesshoku.cli.certificate import print_certificate
from sesshoku.cli.console import err, print_json
from sesshoku.cli.options import FileTimeStep, FixedBase, Json, OptionalSceneFile, Pose, Repair
from sesshoku.cli.reading import chosen_method, read
from sesshoku.cli.replay import replay as replay_demonstration
from sesshoku.cli.summary import print_summary, summary
from sesshoku.errors import RecordingError, SceneError, SimulationDiverged, UnsupportedFeature

if TYPE_CHECKING:
    from sesshoku.recording import Recording
    from sesshoku.recording.certificate import Certificate
    from sesshoku.simulation.simulation import Simulation

DEFAULT_RATE = 100.0  # samples per second of a recording
DEFAULT_DURATION = 5.0  # s


def run(
    file: OptionalSceneFile = None,
    method: Annotated[str | None, typer.Option(
        help="Contact method: `exact` (default), `lcp` (as in its paper), `lcp:recommended`, `none` ...")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-o", metavar="NAME=VALUE",
                                                     help="An option of the method, e.g. `-o integrator=rk4`.")] = None,
    dt: FileTimeStep = None,
    time: Annotated[float | None, typer.Option("--time", "-t",
                                               help="Seconds to simulate. Default: the file's, else 5.")] = None,
    record: Annotated[Path | None, typer.Option(
        help="Write the recording: .npz at the end, or .ssk streamed as it runs; .mp4 and .gif are films.")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second of the recording. Default: 100.")] = None,
    plot: Annotated[Path | None, typer.Option(
        help="Draw coordinates, energy, contact forces and report into this picture (.png, .pdf, .svg).")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw a strip of frames of the scene into this picture.")] = None,
    video: Annotated[Path | None, typer.Option(help="Write a film of the run (.mp4, .webm, .gif).")] = None,
    camera: Annotated[str | None, typer.Option(
        help="Film and picture through this camera of the file. Default: one view of all of the run.")] = None,
    certify: Annotated[bool, typer.Option(
        "--certify", help="Look at every step's residual, momentum and energy, and say whether all of the run kept the "
                          "contact law.")] = False,
    certify_tolerance: Annotated[float | None, typer.Option(
        metavar="M/S", help="Residual that a certified step may have. Default: 1e-8.")] = None,
    replay: Annotated[Path | None, typer.Option(
        metavar="DEMO", help="Play a demonstration of `sesshoku play --record-demos` again, in place of FILE, and say "
                             "whether it went the same way.")] = None,
    strict: Annotated[bool, typer.Option(
        "--strict", help="Refuse a scene of which the method would leave something out.")] = False,
    fixed_base: FixedBase = False,
    pose: Pose = None,
    repair_inertia: Repair = False,
    json: Json = False,
) -> None:
    """Simulate a scene and say what happened.

    Example: `sesshoku run examples/double_pendulum.toml -o integrator=rk4 --plot swing.png`

    `sesshoku run examples/crate_thrown.toml --method exact --certify` also says how well every step kept the law.

    What is not said here is taken from the scene file's `[run]` table. Exit code: 0 done, 1 diverged, 2 bad input,
    130 interrupted (with what was recorded so far written).
    """
    from sesshoku.recording.render.views import chosen_view
    from sesshoku.simulation.simulation import Simulation

    if replay is not None:
        _refuse_beside_replay({"FILE": file, "--option": option, "--time": time, "--record": record, "--plot": plot,
                               "--picture": picture, "--video": video, "--camera": camera})
        replay_demonstration(replay, method, dt, json)
        return
    if file is None:
        raise typer.BadParameter("Missing argument 'FILE'.")
    scene = read(file, fixed_base, pose, repair_inertia)
    wishes = scene.run
    files = Files.wanted(wishes, file, record, plot, picture, video, camera)
    if camera is not None:
        chosen_view(camera, scene.cameras)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnsupportedFeature)  # the table says what is left out
        sim = Simulation(scene, chosen_method(wishes, method, option or []), wishes.get("dt") if dt is None else dt,
                         strict=strict)
    start_energy = sum(sim.energy)
    sim.step(0)  # compile before the clock starts
    sim.run(0.0)
    certificate = _certificate(sim, certify, certify_tolerance)
    ended = _simulate(sim, float(wishes.get("time", DEFAULT_DURATION)) if time is None else time, certificate,
                      DEFAULT_RATE if rate is None else rate, files.stream, not json and sys.stderr.isatty())
    if ended.interrupted:
        files = Files(files.record)  # pictures would keep the user waiting
    files.write(ended.recording, progress=not json)
    result = summary(sim, ended.recording, ended.seconds_per_step, start_energy) | _ending(sim, ended, certificate)
    if json:
        print_json(result)
    else:
        print_summary(result, files.all)
        if certificate is not None:
            print_certificate(result["certificate"])
    _leave(sim, ended, files.record)


def _refuse_beside_replay(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value:
            raise SceneError(f"{name} does not go with --replay: the demonstration says it all", element="run",
                             value=str(value))


@dataclass
class Files:
    """What a run writes."""

    record: Path | None = None
    plot: Path | None = None
    picture: Path | None = None
    video: Path | None = None
    camera: str | None = None

    @classmethod
    def wanted(cls, wishes: dict[str, Any], file: Path, record: Path | None, plot: Path | None, picture: Path | None,
               video: Path | None, camera: str | None) -> Files:
        """From the options and the scene file's [run]; refused now, not after the run, where they cannot be written."""
        from sesshoku.recording.plot import picture_path
        from sesshoku.recording.render.video import FILMS, check_film

        if record is not None and record.suffix.lower() in FILMS and video is None:
            record, video = None, record
        files = cls(record if record is not None or not wishes.get("record") else Path(wishes["record"]),
                    plot if plot is not None or not wishes.get("plot") else Path(f"{file.stem}_plot.png"), picture,
                    video, camera)
        for drawn in (files.plot, files.picture):
            if drawn is not None:
                picture_path(drawn)
        if files.video is not None:
            check_film(files.video)
        for path in files.all:
            if not path.absolute().parent.is_dir():
                raise RecordingError(f"{path}: cannot be written: there is no folder {path.parent}")
        return files

    @property
    def all(self) -> list[Path]:
        return [path for path in (self.record, self.plot, self.picture, self.video) if path is not None]

    @property
    def stream(self) -> Path | None:
        """The recording's path, where it is written as the simulation runs."""
        return self.record if self.record is not None and self.record.suffix != ".npz" else None

    def write(self, recording: Recording, progress: bool = False) -> None:
        """What is written at the end."""
        if self.record is not None and self.stream is None:
            recording.save(self.record)
        if self.plot is not None:
            recording.plot(path=self.plot)
        if self.picture is not None:
            recording.to_strip(self.picture, camera=self.camera)
        if self.video is not None:
            recording.to_video(self.video, camera=self.camera, progress=progress)


@dataclass
class Ended:
    """How a run ended."""

    recording: Recording
    seconds_per_step: float
    failure: SimulationDiverged | None
    interrupted: bool


def _certificate(sim: Simulation, certify: bool, tolerance: float | None) -> Certificate | None:
    from sesshoku.recording.certificate import TOLERANCE, Certificate

    if not certify and tolerance is None:
        return None
    return Certificate(sim, TOLERANCE if tolerance is None else tolerance)


def _simulate(sim: Simulation, duration: float, certificate: Certificate | None, rate: float, stream: Path | None,
              progress: bool) -> Ended:
    """Run by the clock; what was recorded before a failure or an interruption is kept."""
    failure: SimulationDiverged | None = None
    interrupted = False
    clock = wall.perf_counter()
    try:
        sim.run(duration, certificate, rate=rate, path=stream, progress=progress)
    except SimulationDiverged as error:
        failure = error
    except KeyboardInterrupt:
        interrupted = True
    spent = wall.perf_counter() - clock
    return Ended(sim.recording, spent / max(round(sim.time / sim.dt), 1), failure, interrupted)


def _ending(sim: Simulation, ended: Ended, certificate: Certificate | None) -> dict[str, Any]:
    """What the summary says besides: the certificate, and why the run stopped early."""
    said: dict[str, Any] = {}
    if certificate is not None:
        certificate.look()
        said["certificate"] = certificate.summary()
        if ended.failure is not None:
            said["certificate"]["certified"] = False
            said["certificate"]["reasons"].append("the run diverged")
    if ended.failure is not None:
        said["diverged"] = str(ended.failure)
    if ended.interrupted:
        said["interrupted"] = sim.time
    return said


def _leave(sim: Simulation, ended: Ended, record: Path | None) -> None:
    """The exit code of a run that stopped early."""
    if ended.failure is not None:
        raise ended.failure
    if ended.interrupted:
        kept = f"; {record} holds {len(ended.recording)} samples" if record is not None else ""
        err.print(f"interrupted at t = {sim.time:.6g} s{kept}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(130)
