"""What goes wrong around a run: no memory, a full or read-only disk, clocks that jump, killed processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from fake_simulation import FakeSimulation
from sesshoku.compiled.store import Store
from sesshoku.errors import RecordingError
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.recording import Recorder
from sesshoku.simulation import simulation as module
from small_package import Package, chain_package
from waiting import PATIENCE

TESTS = Path(__file__).parents[1]


# ---- clocks


@pytest.mark.parametrize("jumps", [[1e9], [-1e9], [0.0], [1e9, -2e9, 0.0, 1e-12]])
def test_clocks_that_jump_change_nothing(jumps: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """Suspended, set back, stuck: all steps are made, and none more."""
    there = ss.Simulation(crate_on_floor(1.0, height=1.0), "exact", 1e-3)
    there.step(3000)
    now, calls = [100.0], [0]

    def clock() -> float:
        now[0] += jumps[calls[0] % len(jumps)]
        calls[0] += 1
        return now[0]

    monkeypatch.setattr(module, "perf_counter", clock)
    sim = ss.Simulation(crate_on_floor(1.0, height=1.0), "exact", 1e-3)
    sim.step(3000)
    assert np.array_equal(sim.q, there.q) and sim.time == there.time


@pytest.mark.parametrize("jump", [-1e9, 1e9])
def test_a_store_keeps_what_it_has_when_the_clock_jumps(jump: float, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    for n in range(5):
        store.write("unit", f"{n:040x}", {}, bytes(100))
    from sesshoku.compiled import store as store_module

    now = store_module.time.time
    monkeypatch.setattr(store_module.time, "time", lambda: now() + jump)
    store.bound()
    assert all(store.read("unit", f"{n:040x}") is not None for n in range(5))


# ---- disks


@pytest.mark.parametrize("number", [28, 30, 5, 122])  # full, read-only, a broken device, quota
@pytest.mark.parametrize("suffix", [".npz", ".ssk", ".csv"])
def test_a_disk_that_takes_nothing_leaves_the_old_file(number: int, suffix: str, tmp_path: Path,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    sim = FakeSimulation()
    recorder = Recorder(sim, channels=["q"])
    for _ in range(20):
        recorder.sample(sim)
        sim.step()
    recording, path = recorder.finish(), tmp_path / f"run{suffix}"
    recording.save(path)
    old = path.read_bytes()

    def fails(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("sesshoku.scene.io.whole_file.os.replace", fails)
    with pytest.raises(RecordingError, match=rf"run{suffix}: cannot be written \({os.strerror(number)}"):
        recording.save(path)
    monkeypatch.undo()
    assert path.read_bytes() == old
    assert [item.name for item in tmp_path.iterdir()] == [path.name]  # and no half of the new one
    recording.save(path)


def test_code_that_cannot_be_kept_is_used_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")

    def fails(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sesshoku.compiled.store.os.replace", fails)
    store.write("unit", "ab" * 20, {}, b"code")
    monkeypatch.undo()
    assert store.read("unit", "ab" * 20) is None
    assert not list((tmp_path / "store").rglob("writing-*"))


# ---- memory


HUNGRY = """
import json, resource, sys, warnings
warnings.simplefilter("ignore")
import numpy as np
import sesshoku as ss
from sesshoku.experiments.scenes import crate_on_floor
sim, there = (ss.Simulation(crate_on_floor(1.0, height=1.0), "exact", 1e-3) for _ in range(2))
sim.step(); there.step()
heap = ss.Scene()
heap.add_ground()
for n in range(4000):
    heap.add_box(f"b{n}", size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2 * (n % 60), 0.2 * (n // 60), 0.2))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 30 * 2**20, resource.RLIM_INFINITY))
said = []
for attempt in (lambda: ss.Simulation(heap, "exact", 1e-3), lambda: ss.Batch(crate_on_floor(1.0), worlds=10**6),
                lambda: sim.run(1e4, record=["poses"]) and None):
    try:
        attempt()
        said.append("done")
    except (MemoryError, ss.SesshokuError) as error:
        said.append(type(error).__name__)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
there.step(round(sim.time / sim.dt) - 1)
sim.step(50); there.step(50)
print(json.dumps([said, bool(np.array_equal(sim.q, there.q))]))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs to know how much memory it uses")
def test_without_memory_there_is_an_error_and_nothing_is_spoilt() -> None:
    """A heap too large, a batch too large, a recording too long: errors, and what was there goes on."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
    done = subprocess.run([sys.executable, "-c", HUNGRY], env=environment, text=True, capture_output=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr[-2000:]
    said, same = json.loads(done.stdout.splitlines()[-1])
    assert same and said[:2] == ["MemoryError", "SceneError"], said


# ---- processes


KILLED = """
import json, os, signal
os.sched_getaffinity = lambda process: {0, 1, 2}
from sesshoku import method
from sesshoku.compiled import prepare
from sesshoku.compiled.prepare import Children
start = Children._start
started = []
def noted(self):
    started.append(start(self))
    return started[-1]
Children._start = noted
def kill(part, share):
    for child in started[:-1]:
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
prepare.prepare([method], kill)
import numpy as np
print(json.dumps([method.run(np.array([5.0]), 1.0, 2), len(started)]))
"""


def test_killed_compile_workers_do_no_harm(tmp_path: Path) -> None:
    """All but one are killed as soon as something is done; the last one, or the parent, does the rest."""
    package: Package = chain_package(tmp_path, 30)
    assert json.loads(package.run(KILLED).stdout) == [38.0, 3]
    assert json.loads(package.run(KILLED).stdout)[0] == 38.0  # what they kept is sound


def test_a_recording_outlives_its_process(tmp_path: Path) -> None:
    """A sample of what `make soak-kills` does a thousand times."""
    from soak_kills import TARGETS

    for n in range(12):
        for target in TARGETS.values():
            target(tmp_path, np.random.default_rng([7, n]))
