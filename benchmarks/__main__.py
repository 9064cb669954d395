"""Run the benchmarks, print tables, and keep results/<machine>.json.

    python -m benchmarks                 # every part, on a quiet machine
    python -m benchmarks lcp exact       # some parts; the others' results stay as they are
    python -m benchmarks --readme        # write the results into the README
    python -m benchmarks robots --folder PATH   # robots beside MuJoCo, for docs/robots.md; --help says more
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import readme

RESULTS = readme.RESULTS
#: each module has `measure(say) -> (comparisons, details)`
PARTS = {name: f"benchmarks.{name}" for name in readme.PARTS}


def machine() -> str:
    """A short name of the processor, as a file name."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return "-".join(f"{model} {os.cpu_count()} cores".lower().replace("(r)", "").replace("(tm)", "").split())


def main() -> None:
    console, words = Console(width=110), sys.argv[1:]
    if words[:1] == ["robots"]:
        from benchmarks.robots import command

        command.main(words[1:])
        return
    if "--readme" in words:  # python -m benchmarks --readme [FILE]
        given = [Path(word).resolve() for word in words if word != "--readme"]
        console.print(f"README.md quotes {readme.update(*given).name}")
        return
    unknown = [word for word in words if word not in PARTS]
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; parts: {', '.join(PARTS)}")
    target = RESULTS / f"{machine()}.json"
    results: dict[str, Any] = json.loads(target.read_text()) if target.is_file() else {}
    for name in words or PARTS:
        console.print(f"[bold]{name}[/]")
        results |= {
            "machine": machine(), "date": date.today().isoformat(), "python": platform.python_version(),
            "packages": {package: version(package) for package in ("numba", "numpy", "mujoco-core", "pin")},
        }
        comparisons, details = importlib.import_module(PARTS[name]).measure(console.print)
        results.setdefault("parts", {})[name] = {
            "date": date.today().isoformat(), "against": [c.as_dict() for c in comparisons], "details": details}
        show(console, results, name)
        target.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"wrote {target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}")


def show(console: Console, results: dict[str, Any], name: str) -> None:
    """One part's comparisons as a table, its other numbers below."""
    part = results["parts"][name]
    table = Table(title=f"{name}: {results['machine']}, {part['date']}", title_justify="left")
    for column in ("what", "ours µs", "peer", "peer µs", "ratio", "middle half"):
        table.add_column(column, justify="left" if column in ("what", "peer") else "right")
    for c in part["against"]:
        table.add_row(c["name"], f"{c['ours_us']:.2f}", c["peer"], f"{c['peer_us']:.2f}", f"{c['ratio']:.2f}",
                      " .. ".join(f"{end:.2f}" for end in c["spread"]))
    if part["against"]:
        console.print(table)
    for what, value in part["details"].items():
        console.print(f"{what}: {value}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
