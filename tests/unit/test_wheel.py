"""The wheel that needs no compiler: built, installed into a clean environment, and a step taken with an empty home."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sesshoku.compiled import target
from sesshoku.compiled.shipped import FOLDER
from support import FULL
from tools import wheel as wheel_tool
from waiting import PATIENCE

pytestmark = [
    pytest.mark.skipif(not any(platform.machine() in machines for machines, _ in target.BASELINES.values()),
                       reason="no code is shipped for machines of this kind"),
    pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")]
METHODS = ("exact", "none", "lcp", "springs", "volume", "implicit", "multipoint") if FULL else ("none",)
LONG = 3.0 * PATIENCE  # s: all methods are compiled where they never were
STEP = """
import json, sys
import sesshoku as ss
scene = ss.Scene()
scene.add_ground()
scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 2.0))
sim = ss.Simulation(scene, sys.argv[1], dt=1e-3)
sim.step(10)
sim.energy, sim.contacts, sim.body_poses()
from sesshoku.compiled import kernel, target
print(json.dumps([ss.__file__, sim.bodies["crate"].position.tolist(), dict(kernel.counts), target.processor().name]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return wheel_tool.build(folder, folder / "code", METHODS)


class Clean:
    """A virtual environment with the wheel, what it depends on, and an empty home."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir()
        self.python, self.packages = wheel_tool.install(wheel, folder / "environment")

    def step(self, method: str) -> list[Any]:
        done = subprocess.run([self.python, "-c", STEP, method], env=wheel_tool.without_settings(self.home),
                              cwd=self.home, text=True, check=True, timeout=PATIENCE, stdout=subprocess.PIPE)
        found: list[Any] = json.loads(done.stdout)
        return found


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Clean:
    return Clean(tmp_path_factory.mktemp("clean"), wheel)


@pytest.mark.timeout(LONG)
def test_a_wheel_of_a_platform(wheel: Path) -> None:
    """Its name says for which Python and machine; it holds machine code and no cache of anything else."""
    assert f"-cp{sys.version_info.major}{sys.version_info.minor}-" in wheel.name
    assert platform.machine().lower() in wheel.name.lower()
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        root_is_purelib = next(archive.read(name) for name in names if name.endswith("dist-info/WHEEL"))
    assert b"Root-Is-Purelib: false" in root_is_purelib
    shipped = [name for name in names if name.startswith("sesshoku/compiled/shipped/")]
    assert "sesshoku/compiled/shipped/code.json" in shipped
    assert {name.split("/")[3].partition("-")[2] for name in shipped} >= {"kernel", "entry"}
    assert not [name for name in names if "__pycache__" in name or name.startswith("tools")]
    assert not FOLDER.exists()  # sources stay as they are


@pytest.mark.timeout(LONG)
@pytest.mark.parametrize("method", METHODS)
def test_a_step_in_a_clean_environment_compiles_nothing(clean: Clean, method: str) -> None:
    file, position, counts, processor = clean.step(method)
    assert Path(file).is_relative_to(clean.packages)
    assert set(counts) == {"entry read"}
    assert processor == target.baseline().name
    assert position[:2] == [0.0, 0.0]
    assert position[2] == pytest.approx(2.0 - 0.5 * 9.8 * 0.01**2, abs=1e-4)  # falls for 10 ms
    assert not [path for path in clean.home.rglob("*") if path.is_file()]


@pytest.mark.timeout(LONG)
def test_a_damaged_file_of_the_wheel_is_compiled_anew(clean: Clean) -> None:
    """Into the user's cache, for the processor of the rest; the installation stays as it is."""
    path = next(path for path in (clean.packages / "sesshoku/compiled/shipped").glob("??-entry/*")
                if b"sesshoku.methods.none:run:" in path.read_bytes())
    sound = path.read_bytes()
    path.write_bytes(sound[:-1])
    try:
        _, position, _, processor = clean.step("none")
        assert path.read_bytes() == sound[:-1]
    finally:
        path.write_bytes(sound)
    made = clean.home / ".cache" / "sesshoku" / "kernels" / path.parent.name / path.name
    assert made.is_file()
    assert processor == target.baseline().name
    assert position[2] == pytest.approx(2.0 - 0.5 * 9.8 * 0.01**2, abs=1e-4)
