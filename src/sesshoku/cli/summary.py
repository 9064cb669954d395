"""What `run` says of a run: plain values, and the tables made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from sesshoku.cli.console import out, print_written
from sesshoku.recording.channels import REPORT_UNITS
from sesshoku.stages.report import CHANNELS

# of the report: nothing to be worst at
NOT_WORST = ("energy_change", "rows", "iterations", "converged", "constraint_work", "applied_work", "fast_trees")


def summary(sim: Any, recording: Any, per_step: float, start_energy: float) -> dict[str, Any]:
    """What a run did, in plain values."""
    kinetic, potential = sim.energy
    report = recording["report"]
    worst = {name: float(abs(report[:, i]).max()) for i, name in enumerate(CHANNELS)} if len(report) else {}
    worst["converged"] = bool(report[:, CHANNELS.index("converged")].min() > 0) if len(report) else True
    return {
        "scene": sim.scene.name, "method": repr(sim.method), "label": sim.method.label, "dt": sim.dt, "time": sim.time,
        "step_us": round(per_step * 1e6, 3), "real_time_factor": round(sim.dt / per_step, 1),
        "energy": {"start": start_energy, "kinetic": kinetic, "potential": potential},
        "worst_report": worst, "notes": sim.scene.notes, "left_out": list(sim.left_out),
        "joints": {name: _plain(sim.joints[name].position) for name in sim.joints},
        "bodies": {name: sim.bodies[name].position.tolist() for name in sim.bodies},
        "contacts": [
            {"id": c.id, "bodies": list(c.bodies), "point": c.point.tolist(), "normal": c.normal.tolist(),
             "depth": c.depth, "force": c.force.tolist(), "state": c.state, "reason": c.reason} for c in sim.contacts],
    }


def _plain(value: Any) -> Any:
    return value if isinstance(value, float) else value.tolist()


def print_summary(result: dict[str, Any], written: list[Path]) -> None:
    """The tables of `run`."""
    out.print(_run_table(result))
    _print_state(result["joints"], result["bodies"])
    print_written(written)


def _run_table(result: dict[str, Any]) -> Table:
    """How long, how fast, how well."""
    energy, worst = result["energy"], result["worst_report"]
    table = Table(title=escape(f"{result['scene']}: {result['label']}"), title_justify="left", show_header=False)
    table.add_row("simulated", f"{result['time']:.4g} s in steps of {result['dt']:g} s")
    table.add_row("speed", f"{result['step_us']:.1f} µs per step, {result['real_time_factor']:g} x real time")
    kinetic, potential = energy["kinetic"], energy["potential"]
    table.add_row("energy", f"{energy['start']:.6g} J at the start, {kinetic + potential:.6g} J at the end "
                            f"(kinetic {kinetic:.4g}, potential {potential:.4g})")
    shown = [f"{name.replace('_', ' ')} {worst[name]:.2e} {unit}".strip() for name, unit in zip(CHANNELS, REPORT_UNITS)
             if name not in NOT_WORST and worst.get(name)]
    table.add_row("worst step", ", ".join(shown) or "nothing to report")
    states = [contact["state"] for contact in result["contacts"]]
    if states:
        counted = ", ".join(f"{states.count(state)} {state}" for state in ("stick", "slip", "released")
                            if state in states)
        table.add_row("contacts", f"{len(states)} at the end: {counted}")
    if not worst.get("converged", True):
        table.add_row("[red]warning[/]", "some steps did not converge")
    for item in result["left_out"]:
        table.add_row("[yellow]left out[/]", escape(item))
    for note in result["notes"]:
        table.add_row("note", escape(note))
    return table


def _print_state(positions: dict[str, Any], places: dict[str, Any], most: int = 16) -> None:
    """Where joints and bodies are at the end, at most so many of them."""
    joints = [(name, value) for name, value in positions.items() if isinstance(value, float)]
    bodies = list(places.items())
    state = Table(title="final state", title_justify="left")
    state.add_column("joint")
    state.add_column("position", justify="right")
    state.add_column("body")
    state.add_column("x, y, z", justify="right")
    rows = max(len(joints), len(bodies))
    for n in range(min(rows, most)):
        joint = joints[n] if n < len(joints) else ("", "")
        body, place = bodies[n] if n < len(bodies) else ("", [])
        state.add_row(escape(joint[0]), f"{joint[1]:.5f}" if joint[0] else "", escape(body),
                      ", ".join(f"{x:.4f}" for x in place))
    out.print(state)
    if rows > most:
        out.print(f"... and {rows - most} more rows (--json prints them all)")
