"""What is said while kernels compile: counts, what is left, one line in a terminal, few elsewhere."""

from __future__ import annotations

import io
import itertools
import re
import signal
import subprocess
from pathlib import Path

import pytest

from sesshoku.compiled.prepare import progress
from sesshoku.compiled.prepare.progress import CompileProgress, Progress, seconds, sentence
from small_package import Package, chain_package
from waiting import PATIENCE, interruptible


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Stands for the module `time`."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


def test_the_sentence() -> None:
    assert sentence("exact", Progress(), 0.0) == "compiling exact"
    assert sentence("exact", Progress(403, 0), 0.1) == "compiling exact: 0 of 403 kernels"
    half = Progress(160, 80)
    assert sentence("exact", half, 10.0) == (
        f"compiling exact: 80 of 160 kernels, about {round(10.0 * (1 - half.share) / half.share)} s left")
    assert sentence("exact", Progress(160, 160, 20, 5), 0.0) == "compiling exact: machine code, 5 of 20 parts"
    assert sentence("exact", Progress(160, 160, 20, 20), 9.0) == "compiling exact: machine code, 20 of 20 parts"


def test_what_is_left_follows_from_what_was_spent() -> None:
    """Kernels of equal cost and as many parts as were expected: half is done after half of the time."""
    kernels = 10 * progress.UNIT_KERNELS
    done = Progress(kernels, kernels // 2, 10, 5)
    assert done.share == pytest.approx(0.5)
    assert "about 30 s left" in sentence("exact", done, 30.0)
    shares = [Progress(kernels, n).share for n in range(kernels + 1)]
    assert shares == sorted(shares) and shares[0] == 0.0
    assert Progress(kernels, kernels, 40, 0).share <= shares[-1]
    assert Progress(kernels, kernels, 40, 40).share == 1.0


@pytest.mark.parametrize(("value", "said"), [(0.0, "1 s"), (15.4, "15 s"), (99.4, "99 s"), (150.0, "2 min")])
def test_seconds_as_one_says_them(value: float, said: str) -> None:
    assert seconds(value) == said


def test_one_line_in_a_terminal(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    out = Terminal()
    monkeypatch.setattr(progress.sys, "stderr", out)
    with CompileProgress("exact") as line:
        for n in range(1, 101):
            line.tell(Progress(100, n))
            clock.now += 0.1
    text = out.getvalue()
    assert text.count("\n") == 1 and text.endswith("kept in the cache\n")
    assert 30 <= text.count("\r") <= 60  # five a second
    assert re.search(r"\rsesshoku: compiling exact: \d+ of 100 kernels, about \d+ s left", text)
    assert "compiled exact: 100 kernels in 10 s" in text
    shown = text.strip("\r\n").split("\r")
    for before, after in itertools.pairwise(shown):  # nothing of the text before is left standing
        assert len(after) >= len(before.rstrip())


def test_few_lines_elsewhere(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    out = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", out)
    with CompileProgress("exact") as line:
        for n in range(100):
            line.tell(Progress(100, n))
            clock.now += 0.35
    lines = out.getvalue().splitlines()
    assert len(lines) == 5  # at 0, 10, 20 and 30 s, and at the end
    assert lines[0] == "sesshoku: compiling exact: 0 of 100 kernels"
    assert re.fullmatch(r"sesshoku: compiling exact: \d+ of 100 kernels, about \d+ s left", lines[2])


def test_listeners_hear_it_even_where_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    out, heard = io.StringIO(), []
    monkeypatch.setattr(progress.sys, "stderr", out)
    monkeypatch.setattr(progress, "listeners", [heard.append])
    with CompileProgress("exact", quiet=True) as line:
        line.tell(Progress(100, 7))
    assert heard == ["compiling exact: 7 of 100 kernels", ""]
    assert out.getvalue() == ""


def test_nothing_is_said_where_nothing_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    with CompileProgress("exact"):
        pass
    assert capsys.readouterr().err == ""


def test_an_interruption_says_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.StringIO()
    monkeypatch.setattr(progress.sys, "stderr", out)
    with pytest.raises(KeyboardInterrupt), CompileProgress("exact") as line:
        line.tell(Progress(403, 212))
        raise KeyboardInterrupt
    assert out.getvalue().splitlines()[-1] == ("sesshoku: interrupted while compiling exact; kept: 212 of 403 kernels. "
                                               "The next run goes on from there")


CALLED = """
import os, sys
os.sched_getaffinity = lambda process: {cores}
import numpy as np
from sesshoku import method
from sesshoku.compiled import prepare
from sesshoku.compiled.prepare import progress
progress.listeners.append(lambda text: print(text, flush=True))
with CompileProgress("method") as line:
    prepare.prepare([method], tell=line.tell)
    print(method.run(np.array([5.0]), 1.0, 2))
"""


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Twenty-eight kernels that call each other, and an entry like a method's."""
    return chain_package(tmp_path, 28)


@pytest.mark.parametrize("cores", ["{0}", "{0, 1}"])
def test_kernels_are_counted_on_one_core_and_on_several(package: Package, cores: str) -> None:
    said = package.run(CALLED.replace("{cores}", cores)).stdout.splitlines()
    assert said[0] == "compiling method: 0 of 29 kernels"
    counted = [int(found[1]) for line in said if (found := re.search(r"(\d+) of 29 kernels", line))]
    assert counted == sorted(counted)
    assert "36.0" in said
    assert said[-1] == ""


def test_ctrl_c_says_what_is_kept_and_the_next_run_goes_on(package: Package) -> None:
    head = "from sesshoku.compiled.prepare.progress import CompileProgress\n"
    with interruptible("-c", head + CALLED.replace("{cores}", "{0, 1}"), env=package.environment(), cwd=package.root,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        while not re.search(r"[1-9]\d* of 29", process.stdout.readline()):
            pass
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode != 0
    found = re.search(r"interrupted while compiling method; kept: (\d+) of 29 kernels", err)
    assert found, err
    assert len(package.files("kernel")) >= int(found[1]) >= 1
    again = package.run(CALLED.replace("{cores}", "{0, 1}")).stdout
    assert "36.0" in again
    left = re.search(r"0 of (\d+) kernels", again)
    assert left is None or int(left[1]) <= 29 - int(found[1])
