"""Pictures: the right lines in the right panels, and files that are written."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from fake_simulation import FakeSimulation
from sesshoku.errors import RecordingError
from sesshoku.recording import CustomChannel, Recorder, Recording
from sesshoku.recording.plot import LEGEND_LIMIT, POINTS


def record(count: int = 200, channels: object = None, step: int = 1) -> Recording:
    sim = FakeSimulation()
    recorder = Recorder(sim, channels)
    for i in range(count):
        sim.step(step if i else 0)
        recorder.sample(sim)
    return recorder.finish()


def labels(ax: object) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("suffix", [".png", ".pdf", ".svg"])
def test_default_picture(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"run{suffix}"
    figure = record().plot(path=path)
    assert path.read_bytes()[:5] in (b"\x89PNG\r", b"%PDF-", b"<?xml")
    assert len(figure.axes) == 13  # q and v by unit, poses, forces by unit, report, energy, two sensors by unit
    assert {ax.get_ylabel() for ax in figure.axes} == {"[rad]", "[m]", "[rad/s]", "[m/s]", "[m/s^2]", "[N m]", "[N]",
                                                       "[J]", ""}


@pytest.mark.filterwarnings("error")
def test_names_in_any_script_draw_without_warnings(tmp_path: Path) -> None:
    names = CustomChannel(lambda s: [s.time, 2 * s.time], labels=["接触", "संपर्क"], unit="N")
    record(20, {"force": names}).plot(path=tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 1000


def test_nothing_opens_a_window() -> None:
    before = "matplotlib.pyplot" in sys.modules
    record(5).plot("energy")
    assert ("matplotlib.pyplot" in sys.modules) == before


def test_energy_has_a_total() -> None:
    [ax] = record(300, "energy").plot("energy").axes
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert list(lines) == ["kinetic", "potential", "total"]
    np.testing.assert_allclose(lines["total"], 1.0, atol=1e-12)


def test_report_is_logarithmic_and_marks_failures() -> None:
    [ax] = record(300, "report").plot().axes
    assert ax.get_yscale() == "log"
    assert labels(ax) == ["residual [m/s]", "momentum residual [N s]", "energy change [J]", "not converged"]
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), [0.005, 0.102, 0.199, 0.296])


def test_chosen_bodies_and_joints() -> None:
    recording = record(50, ["poses", "q", "actuator_force"])
    axes = recording.plot(bodies="crate", joints=["swing"]).axes
    assert [labels(ax) for ax in axes] == [["crate", "x", "y", "z"], ["swing"], ["servo"]]
    np.testing.assert_array_equal(axes[0].lines[2].get_ydata(), recording["poses", "crate", "z"])
    for options, message in (({"bodies": "crat"}, "did you mean 'crate'"), ({"joints": ["x"]}, "among the joints")):
        with pytest.raises(RecordingError, match=message):
            recording.plot(**options)


def test_many_lines_stay_readable() -> None:
    sizes = np.arange(30.0)
    many = CustomChannel(lambda s: sizes * s.time, labels=[f"line {i}" for i in range(30)], unit="N")
    [ax] = record(50, {"many": many}).plot().axes
    assert labels(ax) == [f"line {i}" for i in range(30 - LEGEND_LIMIT, 30)] + ["22 more"]  # those that move most
    assert len(ax.lines) == 30


def test_peaks_survive_thinning() -> None:
    spikes = {"spike": lambda s: 5.0 if s.steps == 12_345 else -3.0 if s.steps == 17_001 else 0.0}
    [ax, energy] = record(20_001, [spikes, "energy"]).plot().axes
    y = ax.lines[0].get_ydata()
    assert len(y) <= POINTS + 2 and y.max() == 5.0 and y.min() == -3.0
    assert abs(ax.lines[0].get_xdata()[np.argmax(y)] - 12.345) < 0.05
    np.testing.assert_allclose(energy.lines[2].get_ydata(), 1.0, atol=1e-12)  # not the sum of two envelopes


def test_not_finite_values_and_constants() -> None:
    channels = {"nan": CustomChannel(lambda s: [np.nan, np.inf, s.time, 2.0], unit="m"), "zero": lambda s: 0.0}
    record(20, channels).plot().canvas.draw()
    record(1).plot().canvas.draw()


def test_refused(tmp_path: Path) -> None:
    recording = record(5, ["q"])
    for arguments, message in (({"channels": "v"}, "no channel 'v'"), ({"path": tmp_path / "a.txt"}, "png"),
                               ({"path": tmp_path / "no" / "a.png"}, "be written"), ({"channels": []}, "nothing")):
        with pytest.raises(RecordingError, match=message):
            recording.plot(**arguments)
    with pytest.raises(RecordingError, match="no samples"):
        Recorder(FakeSimulation(), "q").finish().plot()
