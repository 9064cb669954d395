"""Run every benchmark, print a table, and write results/<machine>.json; with --readme, quote results in the README."""

from __future__ import annotations

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
    console = Console(width=110)
    if "--readme" in sys.argv[1:]:  # python -m benchmarks --readme [FILE]
        given = [Path(argument).resolve() for argument in sys.argv[1:] if argument != "--readme"]
        console.print(f"README.md quotes {readme.update(*given).name}")
        return
    measure(console)


def measure(console: Console) -> None:
    from benchmarks import contact, dynamics, scenes, start, steps  # the peers, which --readme does without

    results: dict[str, Any] = {
        "machine": machine(), "date": date.today().isoformat(), "python": platform.python_version(),
        "packages": {name: version(name) for name in ("numba", "numpy", "mujoco-core", "pin")},
    }
    console.print("first step, cold and warm ...")
    results["start"] = start.first_step() | {"lcp": start.first_step("lcp:recommended")}
    console.print("growth with the length of a chain ...")
    results["chain"] = dynamics.chain_growth()
    console.print("against peers, in turns ...")
    comparisons = dynamics.aba_against_pinocchio() + steps.humanoid_hanging_free()
    console.print("with contact, in turns ...")
    preset, results["contact"] = "lcp:recommended", {}
    comparisons += contact.steady(contact.standing(), preset, 1e-3, 0.5)
    for scene, dt, duration in ((contact.limp(), 1e-3, 1.2), (contact.pile(), 1 / 200, 2.0)):
        comparison, details = contact.whole_run(scene, preset, dt, duration)
        comparisons.append(comparison)
        results["contact"][scene.name] = details
    results["contact"]["separate boxes, us per box"] = contact.separate_boxes(preset)
    console.print("growth with the number of contacts on one robot ...")
    results["contact"]["contacts on one tree"] = contact.contact_growth(preset)
    young = "exact"
    comparisons += contact.steady(contact.standing(), young, 1e-3, 0.5)
    for scene, dt, duration in ((contact.limp(), 1e-3, 1.2), (contact.pile(), 1 / 200, 2.0)):
        comparison, details = contact.whole_run(scene, young, dt, duration)
        comparisons.append(comparison)
        results["contact"][f"{scene.name}, {young}"] = details
    console.print("the demo's scenes under every method ...")
    results["scenes"] = scenes.outcomes()
    results["against"] = [comparison.as_dict() for comparison in comparisons]
    table = Table(title=f"{results['machine']}, {results['date']}", title_justify="left")
    for column in ("what", "ours µs", "peer", "peer µs", "ratio", "middle half"):
        table.add_column(column, justify="left" if column in ("what", "peer") else "right")
    for c in comparisons:
        table.add_row(c.name, f"{c.ours * 1e6:.2f}", c.peer_name, f"{c.peer * 1e6:.2f}", f"{c.ratio:.2f}",
                      f"{c.spread[0]:.2f} .. {c.spread[1]:.2f}")
    console.print(table)
    console.print(f"chain of 50 to 1000 links, forward dynamics: exponent {results['chain']['exponent']}, "
                  f"{results['chain']['microseconds']} µs")
    for what, row in results["scenes"].items():
        console.print(f"{what}: {row}")
    console.print(f"contacts on one tree: {results['contact']['contacts on one tree']}")
    first = results["start"]
    console.print(f"first step of a simple scene: {first['cold_s']} s cold, {first['warm_s']} s warm")
    target = RESULTS / f"{results['machine']}.json"
    target.write_text(json.dumps(results, indent=1) + "\n")
    console.print(f"wrote {target.relative_to(Path.cwd()) if target.is_relative_to(Path.cwd()) else target}")


if __name__ == "__main__":
    sys.exit(main())
