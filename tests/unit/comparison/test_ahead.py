"""Methods that compile while others run: who is ready runs, results are those of a warm start."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import sesshoku as ss
from sesshoku.comparison import ahead
from sesshoku.comparison.ahead import Ahead
from sesshoku.compiled.prepare.progress import Progress
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods import registry
from waiting import PATIENCE

ASKED = ["none", "lcp", "lcp:recommended", "exact"]
NONE, LCP, EXACT = (registry.load(keyword) for keyword in ("none", "lcp", "exact"))


class Compiler:
    """Stands for the compiler: `missing` methods get ready one by one, each when it is allowed to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *missing: ModuleType) -> None:
        self.allowed = {method: threading.Event() for method in missing}
        self.prepared: list[ModuleType] = []
        self.fails = False
        monkeypatch.setattr(ahead.config, "DISABLE_JIT", 0)
        monkeypatch.setattr(ahead, "uses_numba", lambda: False)
        monkeypatch.setattr(ahead, "missing_of", lambda methods: [m for m in methods if m in self.allowed])
        monkeypatch.setattr(ahead, "prepare", self.prepare)

    def prepare(self, methods: list[ModuleType], tell: Callable[[Progress], None],
                ready: Callable[[ModuleType], None]) -> None:
        for number, method in enumerate(methods):
            tell(Progress(10 * len(methods), 10 * number))
            assert self.allowed[method].wait(PATIENCE)
            if self.fails:
                raise RuntimeError("cannot be compiled")
            self.prepared.append(method)
            ready(method)


def run(**options: Any) -> tuple[ss.comparison.outcome.Comparison, list[str]]:
    rows: list[str] = []
    result = ss.compare(crate_on_floor(1.0), ASKED, time=0.05, dt=1e-3, row=lambda made: rows.append(made.method),
                        **options)
    return result, rows


def test_the_default_is_compiled_first_and_rows_run_as_they_get_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """lcp is held back until exact has run; the result is in the order that was asked for, and the same as ever."""
    run()  # compiles where that was never done
    warm, rows = run()
    assert rows == ASKED
    compiler = Compiler(monkeypatch, LCP, EXACT)
    compiler.allowed[EXACT].set()
    told: list[str] = []

    def progress(label: str, share: float) -> None:
        told.append(label)
        if label.startswith("compiling") and "exact" in told:
            compiler.allowed[LCP].set()

    cold, rows = run(progress=progress)
    assert compiler.prepared == [EXACT, LCP]
    assert rows == ["none", "exact", "lcp", "lcp:recommended"]
    assert [outcome.method for outcome in cold.outcomes] == ASKED
    assert "compiling exact, lcp: 10 of 20 kernels" in told
    for before, after in zip(warm.outcomes, cold.outcomes, strict=True):
        assert before.measures.keys() == after.measures.keys()
        assert after.measures["step"] > 0.0
        assert {k: v for k, v in before.measures.items() if k != "step"} == \
            {k: v for k, v in after.measures.items() if k != "step"}


def test_steps_are_timed_when_nothing_compiles_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Compiler(monkeypatch, LCP, EXACT)
    compiler.allowed[EXACT].set()
    timed: list[int] = []
    module = importlib.import_module("sesshoku.comparison.compare")
    time_steps = module.time_steps
    monkeypatch.setattr(module, "time_steps",
                        lambda *given: timed.append(len(compiler.prepared)) or time_steps(*given))

    def row(outcome: Any) -> None:
        if outcome.method == "exact":
            assert timed == []
            compiler.allowed[LCP].set()

    ss.compare(crate_on_floor(1.0), ASKED, time=0.02, dt=1e-3, row=row)
    assert timed == [2, 2, 2, 2]


def test_a_failure_is_left_to_the_methods_own_run(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Compiler(monkeypatch, LCP)
    compiler.fails = True
    compiler.allowed[LCP].set()
    result, rows = run()
    assert sorted(rows) == sorted(ASKED)
    assert all(outcome.ran for outcome in result.outcomes)


def test_an_interruption_says_what_is_kept(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    compiler = Compiler(monkeypatch, LCP)
    with pytest.raises(KeyboardInterrupt), Ahead([NONE, LCP]) as made:
        assert made.busy
        raise KeyboardInterrupt
    assert "interrupted while compiling lcp; kept: " in capsys.readouterr().err
    compiler.allowed[LCP].set()


def test_with_a_warm_store_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    Compiler(monkeypatch)
    with Ahead([NONE, LCP]) as made:
        assert not made.busy
        assert made.order == [NONE, LCP]
        made.wait(LCP, None)
