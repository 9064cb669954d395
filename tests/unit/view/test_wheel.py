"""The wheel holds every file of the package: pages are served from what was installed."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_the_wheel_holds_pages_models_and_everything_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("hatchling.build", reason="hatchling is not installed (extra `test`)")
    monkeypatch.chdir(ROOT)
    made = build.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / made) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
        page = "sesshoku/view/static/viewer.js"
        assert wheel.read(page) == (ROOT / "src" / page).read_bytes()
    wanted = {f"sesshoku/{path.relative_to(ROOT / 'src/sesshoku').as_posix()}"
              for path in (ROOT / "src/sesshoku").rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    wanted |= {f"sesshoku/models/{path.name}" for path in (ROOT / "models").iterdir() if path.is_file()}
    assert {"sesshoku/view/static/style.css", "sesshoku/view/crane/page.js", "sesshoku/py.typed"} <= wanted
    assert held == wanted
