"""Every law on every robot: `python -m benchmarks.laws FOLDER [ROBOT ...] [-m METHOD ...]` writes a table in Markdown.

FOLDER holds robots of MuJoCo's format, one folder each with a file scene*.xml (MuJoCo Menagerie, say). Each runs for a
second at its file's step under each method, from its first keyframe where it has one, in a process for each robot:
ok; wild (a body faster than its weight could make it); diverged; slow (the time ran out); refused. `*`: some of the
scene was left out, which is listed below.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

ROBOTS = (
    "unitree_go1", "unitree_go2", "unitree_a1", "boston_dynamics_spot", "anybotics_anymal_b", "anybotics_anymal_c",
    "unitree_g1", "unitree_h1", "booster_t1", "robotis_op3", "agility_cassie", "franka_emika_panda", "franka_fr3",
    "universal_robots_ur5e", "kuka_iiwa_14", "robotiq_2f85", "shadow_hand", "wonik_allegro", "leap_hand",
    "hello_robot_stretch")
SECONDS = 1.0  # simulated
PATIENCE = 120.0  # s of wall time of a run
WILD = 30.0  # m/s: what falls for a second is three times slower


def scene_file(folder: Path) -> Path:
    """The scene of a robot's folder: scene.xml, or the first of its kind."""
    plain = folder / "scene.xml"
    return plain if plain.is_file() else sorted(folder.glob("scene*.xml"))[0]


def load(file: Path) -> Any:
    """The scene of a file, its robot in its first keyframe."""
    import sesshoku as ss

    poses = next(iter(ss.Scene.read(file).robots.values())).poses
    if not poses:
        return ss.Scene.read(file)
    scene = ss.Scene(name=file.parent.name)
    scene.load(file, pose=next(iter(poses)))
    return scene


def run(scene: Any, method: str) -> dict[str, Any]:
    """One robot under one method."""
    import numpy as np

    import sesshoku as ss

    try:
        sim = ss.Simulation(scene, method)
        sim.step(0)
    except ss.SesshokuError as error:
        return {"verdict": "refused", "why": str(error)[:300]}
    begin, fastest, left = time.perf_counter(), 0.0, list(sim.left_out)
    steps, every = round(SECONDS / sim.dt), max(round(0.01 / sim.dt), 1)
    done = 0
    while done < steps:
        try:
            sim.step(min(every, steps - done))
        except ss.SimulationDiverged as error:
            return {"verdict": "diverged", "why": str(error)[:200], "at": error.time, "left_out": left}
        done += every
        fastest = max(fastest, float(np.linalg.norm(sim.body_velocities()[:, :3], axis=1).max(initial=0.0)))
        if time.perf_counter() - begin > PATIENCE:
            return {"verdict": "slow", "why": f"{sim.time:.2f} s simulated in {PATIENCE:g} s", "left_out": left}
    spent = (time.perf_counter() - begin) / steps
    wild = fastest > WILD
    return {"verdict": "wild" if wild else "ok", "why": f"a body reached {fastest:.3g} m/s" if wild else "",
            "fastest": fastest, "step_us": 1e6 * spent, "left_out": left,
            "converged": bool(sim.report.converged), "depth": sim.report.penetration}


def run_apart(file: Path, methods: list[str]) -> dict[str, dict[str, Any]]:
    """A robot under some methods in a process of its own, which may die or hang."""
    command = [sys.executable, "-m", "benchmarks.laws", "--one", str(file)]
    for method in methods:
        command += ["-m", method]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE * len(methods), check=False)
        told, said = done.stdout, (done.stderr.strip().splitlines() or ["no output"])[-1][:200]
    except subprocess.TimeoutExpired as late:
        told, said = (late.stdout or b"").decode(), "the process was stopped"
    found: dict[str, dict[str, Any]] = {}
    for line in told.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    return {method: found.get(method, {"verdict": "failed", "why": said}) for method in methods}


def table(found: dict[str, dict[str, dict[str, Any]]], methods: list[str]) -> str:
    """Robots down, methods across; what went wrong and what was left out below."""
    lines = ["| robot | " + " | ".join(f"`{method}`" for method in methods) + " |", "|---" * (len(methods) + 1) + "|"]
    notes: list[str] = []
    for robot, row in found.items():
        cells = [row[method]["verdict"] + ("*" if row[method].get("left_out") else "") if method in row else ""
                 for method in methods]
        lines.append(f"| {robot} | " + " | ".join(cells) + " |")
        notes += [f"- {robot}, `{method}`: {result['verdict']}: {result['why']}" for method, result in row.items()
                  if result["verdict"] != "ok"]
    left = {(robot, item) for robot, row in found.items() for result in row.values()
            for item in result.get("left_out", ())}
    return "\n".join([*lines, "", *notes, *(f"- {robot} *: {item}" for robot, item in sorted(left))]) + "\n"


def main() -> None:
    from sesshoku.methods.registry import keywords

    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path, nargs="?")
    words.add_argument("robots", nargs="*", default=ROBOTS)
    words.add_argument("-m", "--method", action="append")
    words.add_argument("--one", type=Path)
    words.add_argument("--results", type=Path, default=Path("out/laws.json"), help="kept, and gone on with")
    given = words.parse_args()
    if given.one is not None:
        warnings.simplefilter("ignore")
        scene = load(given.one)
        for method in given.method:
            print(json.dumps({method: run(scene, method)}), flush=True)
        return
    methods = given.method or [keyword for keyword in keywords() if keyword != "none"]
    given.results.parent.mkdir(parents=True, exist_ok=True)
    found = json.loads(given.results.read_text()) if given.results.is_file() else {}
    for robot in given.robots or ROBOTS:
        left = [method for method in methods if method not in found.setdefault(robot, {})]
        if left:
            found[robot] |= run_apart(scene_file(given.folder / robot), left)
            given.results.write_text(json.dumps(found, indent=1))
            print(robot, {method: result["verdict"] for method, result in found[robot].items()}, file=sys.stderr,
                  flush=True)
    print(table(found, methods))


if __name__ == "__main__":
    main()
