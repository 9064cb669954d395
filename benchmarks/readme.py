"""The tables of measurements in the README and on the page of humanoids, from a committed result file.

Numbers are quoted from nowhere else.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.start import WHEEL

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results"
README = ROOT / "README.md"
HUMANOIDS = ROOT / "docs" / "humanoids.md"
#: parts of the benchmarks, in the order of the table; each is a module of this package
PARTS = ("start", "dynamics", "interface", "exact", "lcp", "multipoint", "volume", "implicit", "springs", "scenes",
         "batch", "walking", "view", "crane")
#: rows that only the result file has, by a word of their names
LEFT_OUT = {"batch": ("worlds",), "dynamics": ("step(1000)",), "lcp": ("step(1000)",),
            "exact": ("per sole", "tolerance", "at rest"),
            "walking": ("small", "lcp", "multipoint", "volume", "implicit", "springs", "stabiliser")}
LEFT_OUT_ELSE = ("step(1000)", "whole run", "box at rest", "5 ms")
BLOCK = re.compile(r"(<!-- benchmarks: begin -->\n).*?(<!-- benchmarks: end -->)", re.DOTALL)
WALKING_BLOCK = re.compile(r"(<!-- walking: begin -->\n).*?(<!-- walking: end -->)", re.DOTALL)
SPLIT = ("control", "detection", "contact", "dynamics", "sensors, calls from Python")


def table(path: Path) -> str:
    """The lines between the README's marks, for one result file."""
    results: dict[str, Any] = json.loads(path.read_text())
    lines = ["| what | ours | peer | ratio |", "|---|---|---|---|"]
    for name in PARTS:
        for entry in results["parts"].get(name, {"against": []})["against"]:
            if not any(word in entry["name"] for word in LEFT_OUT.get(name, LEFT_OUT_ELSE)):
                lines.append(f"| {entry['name']} | {entry['ours_us']:.1f} µs | `{entry['peer']}` "
                             f"{entry['peer_us']:.1f} µs | **{entry['ratio']:.2f}** |")
    details = {name: part["details"] for name, part in results["parts"].items()}
    chain, packages = details["dynamics"]["chain"], results["packages"]
    lengths = list(chain["microseconds"])
    starts = {method: start for method, start in details["start"].items() if method != WHEEL}
    cold = ", ".join(f"{start['cold_s']:.0f} s with `{method}`" for method, start in starts.items())
    warm = max(start["warm_s"] for start in starts.values())
    wheel = f", from a wheel {details['start'][WHEEL]['best_s']:.1f} s" if WHEEL in details["start"] else ""
    lines += [
        "", f"Forward dynamics of chains of {lengths[0]} to {lengths[-1]} links grows with exponent "
        f"{chain['exponent']:.2f}. From the shell to the first step of a simple scene with an empty compile cache: "
        f"{cold}; with a warm one {warm:.1f} s at most{wheel}.",
        "", f"{results['date']}, {path.stem.replace('-', ' ')}, Python {results['python']}, "
        + ", ".join(f"{name} {version}" for name, version in packages.items())
        + f" ([all numbers]({path.relative_to(ROOT).as_posix()})).",
    ]
    return "\n".join(lines) + "\n"


def walking_table(path: Path) -> str:
    """The lines between the marks of the page of humanoids: a walking step of both robots under every method."""
    results: dict[str, Any] = json.loads(path.read_text())
    part = results["parts"]["walking"]
    ratios, details = {entry["name"]: entry["ratio"] for entry in part["against"]}, part["details"]
    lines = ["| robot, method | step [µs] | times real time | over MuJoCo's | " + " | ".join(SPLIT) + " |",
             "|---" * (4 + len(SPLIT)) + "|"]
    faster = {}
    for name, ratio in ratios.items():
        found, robot, method = details[name], name.split()[0], name.split(", ", 2)[2]
        fell = "" if found["end"] == "upright" else " (falls, and lies)"
        parts = " | ".join(f"{found['split [us]'][key]:.1f}" for key in SPLIT)
        lines.append(f"| {robot}, `{method.replace(', ', '`, ') if ', ' in method else method + '`'}{fell} | "
                     f"{found['whole step [us]']:.1f} | {found['times real time']:.1f} | {ratio:.2f} | {parts} |")
        if "the paper's step over ours" in found:
            faster[f"{robot}, `{method}`"] = found["the paper's step over ours"]
    papers = "; ".join(f"{1e3 * seconds:g} ms {words}"
                       for words, seconds in details["papers, seconds per step"].items())
    shorter = ", ".join(f"{times:.0f} times ({name})" for name, times in faster.items())
    lines += ["", f"The papers' own steps: {papers}. Ours are shorter by {shorter}, on a machine twenty years younger.",
              "", f"{results['date']}, {path.stem.replace('-', ' ')}."]
    return "\n".join(lines) + "\n"


def quoted(text: str) -> tuple[str, Path | None]:
    """What stands between the marks of a README, and the result file it names."""
    match = BLOCK.search(text)
    if match is None:
        raise ValueError("the README has lost its benchmark marks")
    inside = match.group(0).removeprefix(match.group(1)).removesuffix(match.group(2))
    named = re.search(r"\((benchmarks/results/[^)]+\.json)\)", inside)
    return inside, ROOT / named.group(1) if named else None


def update(path: Path | None = None) -> Path:
    """Write the tables of a result file (by default the newest by its date) into the README and the page."""
    path = path or max(RESULTS.glob("*.json"), key=lambda file: json.loads(file.read_text())["date"])
    for page, block, made in ((README, BLOCK, table(path)), (HUMANOIDS, WALKING_BLOCK, walking_table(path))):
        text = page.read_text(encoding="utf-8")
        page.write_text(block.sub(lambda match, made=made: match.group(1) + made + match.group(2), text),
                        encoding="utf-8")
    return path
