"""What `make demo` runs: four scenes under every contact method, a table here and a page with plots in out/report.html.

Methods and presets that are registered later appear by themselves. Each scene is a file in this folder; where Coulomb's
law for rigid bodies has an answer in closed form it stands beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

import sesshoku as ss
from sesshoku.cli.console import ProgressLine
from sesshoku.comparison.outcome import MEASURES
from sesshoku.comparison.page import write_page
from sesshoku.comparison.table import say, summary

HERE = Path(__file__).parent
OUT = Path("out")
LIMIT = 0.5 * 1.0 * 9.8  # mu m g of examples/crate_at_rest.toml, N
PUSHED = 5.0  # s
TITLE = "One scene, every contact law"
INTRO = ("The same scenes, step size and forces under every contact method of sesshoku, and under MuJoCo with its "
         "default settings. Where Coulomb's law for rigid bodies has an answer in closed form, it stands beside.")


@dataclass
class Case:
    """A scene to compare, the question it asks, and the measure that answers it."""

    file: str
    title: str
    heading: str
    key: str
    note: str
    expected: dict[str, Any]
    push: float = 0.0
    more: dict[str, Any] = field(default_factory=dict)

    def controller(self) -> Callable[[Any], None] | None:
        return None if self.push == 0.0 else lambda sim: sim.apply_force("crate", (self.push, 0, 0))


CASES = [
    Case("crate_thrown", "A crate thrown across the floor", "crate thrown at 9.8\u00a0m/s stops after", "travel",
         "9.8 m/s, friction 0.5: it must stop after v² / 2µg = 9.8 m, on the floor all the way and without turning. "
         "Half a step's way, 5 mm, is what a first-order scheme may miss.",
         {"travel": (9.8, 0.0059), "lift": (0.0, 1e-4), "turned": (0.0, 0.06)}),
    Case("crate_at_rest", "A crate pushed with 98 % of its friction limit",
         "crate pushed at 98\u00a0% of its limit creeps", "travel",
         f"Friction holds up to µmg = {LIMIT:g} N. Pushed with {0.98 * LIMIT:.4g} N it must not move at all, however "
         "long.", {"travel": (0.0, 1e-5)}, 0.98 * LIMIT, {"time": PUSHED}),
    Case("crate_at_rest", "The same crate pushed with 102 %", f"at 102\u00a0% it slides, in\u00a0{PUSHED:g}\u00a0s",
         "travel", f"Pushed with {1.02 * LIMIT:.4g} N it must slide: 2 % of µmg is left to accelerate it, 0.098 m/s², "
         f"which makes {0.5 * 0.02 * LIMIT * PUSHED**2:.4g} m in {PUSHED:g} s.",
         {"travel": (0.5 * 0.02 * LIMIT * PUSHED**2, 0.01)}, 1.02 * LIMIT, {"time": PUSHED}),
    Case("humanoid_drop", "A humanoid dropped onto its feet", "humanoid dropped on its feet sinks in", "penetration",
         "58 kg fall 5 cm onto flat soles, eight contacts, the servos holding the posture. Rigid soles must not sink "
         "into the floor (MuJoCo's contacts are soft by design), and the normal forces must settle at the weight.",
         {"penetration": (0.0, 1e-4)}, more={"watch": ["pelvis"]}),
]


def why(console: Console) -> None:
    """A contact says why it slips."""
    sim = ss.Simulation(ss.Scene.read(HERE / "crate_at_rest.toml"))
    for _ in range(100):
        sim.apply_force("crate", (1.02 * LIMIT, 0, 0))
        sim.step()
    contact = max(sim.contacts, key=lambda contact: contact.normal_force)
    console.print(f"A contact says why, with {sim.method.keyword}: contact {contact.id} between "
                  f"{' and '.join(contact.bodies)} {contact.reason}.", highlight=False)


def first_row(case: Case, console: Console) -> Callable[[Any], None]:
    """Prints what a scene asks once, then the answer of each method as soon as it has run."""
    console.print(f"[bold]{case.title}[/]: {case.note}", highlight=False)
    measure = MEASURES[case.key]

    def row(outcome: Any) -> None:
        answer = say(outcome.measures.get(case.key, float("nan")), measure.unit)
        console.print(f"  {outcome.method:<24} {outcome.refused or f'{measure.heading} {answer}'}", markup=False,
                      highlight=False)

    return row


def main() -> None:
    console = Console()
    OUT.mkdir(exist_ok=True)
    page = OUT / "report.html"
    keys, headings = [case.key for case in CASES], [case.heading for case in CASES]
    console.print(f"\n[bold]{TITLE}[/]\n{INTRO}\nThe first run compiles the methods, once, while those that are ready "
                  "run; then each scene takes seconds.\n", highlight=False)
    clock = time.perf_counter()
    results: list[Any] = []
    with ProgressLine() as progress:
        for case in CASES:
            scene = ss.Scene.read(HERE / f"{case.file}.toml")
            options = {"time": scene.run["time"], "dt": scene.run["dt"]} | case.more
            results.append(ss.compare(
                scene, controller=case.controller(), peers=("mujoco",), expected=case.expected, title=case.title,
                note=case.note, row=None if results else first_row(case, console),
                progress=lambda label, done, title=case.title: progress(label, done, title), **options))
            write_page(results, page, TITLE, INTRO, keys[:len(results)], headings[:len(results)])
            if len(results) == 1:
                console.print(f"  side views and plots: [bold]{page}[/], which grows scene by scene\n",
                              highlight=False)
    console.print(summary([*results, results[-1]], [*keys, "step"], [*headings, "a step of the humanoid takes"]))
    console.print("\n[green]Green[/] agrees with Coulomb's law for rigid bodies, [red]red[/] does not.\n")
    for result in results:
        for outcome in result.outcomes:
            if outcome.refused:
                console.print(f"{result.title}: {outcome.method} {outcome.refused}", markup=False, highlight=False)
    why(console)
    console.print(f"\nAll numbers, side views and plots: [bold]{page}[/] (open it in a browser). "
                  f"Took {time.perf_counter() - clock:.0f} s.", highlight=False)


if __name__ == "__main__":
    main()
