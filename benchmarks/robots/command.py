"""The command: every scene of a folder in a child process, the results as JSON and as the table of docs/robots.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.robots import table
from benchmarks.robots.stand_ins import mirror

SAVED = 25  # last lines of a child's error output that are kept


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks robots", description=__doc__)
    made.add_argument("scenes", nargs="*", help="scene files; by default every */scene*.xml of the folder")
    made.add_argument("--folder", type=Path, required=True, help="folder of robots, such as a copy of MuJoCo Menagerie")
    made.add_argument("--only", action="append", default=[], metavar="NAME", help="scenes whose path has this word")
    made.add_argument("--method", default="exact")
    made.add_argument("--jobs", type=int, default=1, help="scenes at a time (timings need a quiet machine and 1)")
    made.add_argument("--limit", type=float, default=300.0, help="seconds a scene may take")
    made.add_argument("--stand-ins", action="store_true", help="missing meshes stand as cubes of 5 cm")
    made.add_argument("--out", type=Path, help="write FILE.json and FILE.md here, and leave docs/robots.md alone")
    return made


def scene_files(folder: Path, scenes: list[str], only: list[str]) -> list[Path]:
    """The scenes to measure, relative to the folder."""
    for scene in scenes:
        if not Path(scene).is_file():
            sys.exit(f"{scene}: no such file")
    found = [Path(os.path.relpath(Path(scene).resolve(), folder.resolve())) for scene in scenes] or sorted(
        path.relative_to(folder) for path in folder.glob("*/scene*.xml"))
    chosen = [path for path in found if not only or any(word in path.as_posix() for word in only)]
    if not chosen:
        sys.exit(f"no scene in {folder}; wanted */scene*.xml" + (f" with {', '.join(only)}" if only else ""))
    return chosen


def measure_all(folder: Path, scenes: list[Path], method: str, *, jobs: int = 1, limit: float = 300.0,
                stand_ins: bool = False, say: Any = print, keep: Any = lambda rows: None) -> dict[str, Any]:
    """Rows by scene, and how many meshes were replaced. keep(rows) is called after each scene."""
    rows: dict[str, Any] = {}
    folder = folder.resolve()
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(jobs) as pool:
        missing = mirror(folder, Path(work, "robots")) if stand_ins else []
        place = Path(work, "robots") if stand_ins else folder

        def one(scene: Path) -> tuple[Path, dict[str, Any]]:
            return scene, child(place / scene, method, limit, Path(work))

        for n, (scene, row) in enumerate(pool.map(one, scenes), 1):
            text = json.dumps(row)
            for path in (str(place), str(folder), work):  # no paths of this machine
                text = text.replace(f"{path}/", "")
            row = rows[scene.as_posix()] = json.loads(text)
            apart = f", {table.centimetres(row['distance'])}" if "distance" in row else ""
            ratio = f", {row['ratio']:.2f} x mj_step" if "ratio" in row else ""
            say(f"[{n}/{len(scenes)}] {scene.as_posix()}: {row['result']}{apart}{ratio}"
                + (f"; {row['reason']}" if row["reason"] else ""))
            keep(rows)
    return {"scenes": rows, "stand_ins": len(missing)}


def child(scene: Path, method: str, limit: float, work: Path) -> dict[str, Any]:
    """Measure one scene in a process of its own."""
    handle, name = tempfile.mkstemp(suffix=".json", dir=work)
    os.close(handle)
    out = Path(name)
    run = [sys.executable, "-m", "benchmarks.robots.measure", str(scene), name, method]
    said, ended = "", f"more than {limit:g} s"
    try:
        done = subprocess.run(run, cwd=table.ROOT, timeout=limit, capture_output=True, text=True)
        said = " ".join(done.stderr.splitlines()[-SAVED:])[-600:]
        ended = f"the process ended with {done.returncode}: {said}" if done.returncode else ""
    except subprocess.TimeoutExpired:
        pass
    text = out.read_text()
    if text:
        return json.loads(text)  # type: ignore[no-any-return]
    return {"result": "too slow" if not said and ended else "refused", "reason": ended}


def main(words: list[str]) -> None:
    from benchmarks.__main__ import machine

    given = parser().parse_args(words)
    if not given.folder.is_dir():
        sys.exit(f"{given.folder}: no such folder")
    scenes = scene_files(given.folder, given.scenes, given.only)
    out: Path = given.out or table.RESULTS / f"{given.folder.resolve().name}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = bool(given.only or given.scenes) and out.is_file()
    before = json.loads(out.read_text())["scenes"] if partial else {}
    results = {"folder": given.folder.resolve().name, "method": given.method, "date": date.today().isoformat(),
               "machine": machine().replace("-", " "), "python": platform.python_version(),
               "mujoco": version("mujoco-core"), "stand_ins": 0, "scenes": before}

    def keep(rows: dict[str, Any]) -> None:
        results["scenes"] = before | rows
        out.write_text(json.dumps(results, indent=1) + "\n")

    found = measure_all(given.folder, scenes, given.method, jobs=given.jobs, limit=given.limit,
                        stand_ins=given.stand_ins, keep=keep)
    results["stand_ins"] = found["stand_ins"]
    keep(found["scenes"])
    if given.out:
        out.with_suffix(".md").write_text(table.table(results))
    else:
        table.update(out)
    print(table.summary(results))
