"""What `make demo` runs: robots that swing, tumble and follow their servos; a table, a plot and pictures in out/."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import sesshoku as ss
from sesshoku.cli import draw_strip

HERE = Path(__file__).parent
OUT = Path("out")


def humanoid() -> tuple[ss.Scene, object]:
    """The large humanoid floats without gravity and swings its arms and legs on its servos: its momentum must stay zero."""
    scene = ss.Scene(gravity=(0, 0, 0), name="humanoid, floating")
    scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")

    def swing(sim: ss.Simulation) -> None:
        phase = np.sin(2 * np.pi * 0.5 * sim.time)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            sim.actuators[f"{side}_shoulder_pitch"].target = -0.4 - 1.2 * sign * phase
            sim.actuators[f"{side}_hip_pitch"].target = -0.4 + 0.6 * sign * phase
            sim.actuators[f"{side}_knee"].target = 0.8 - 0.4 * sign * phase

    return scene, swing


def from_file(name: str) -> tuple[ss.Scene, None]:
    return ss.Scene.read(HERE / f"{name}.toml"), None


def main() -> None:
    console = Console(width=120)
    OUT.mkdir(exist_ok=True)
    table = Table(title="sesshoku demo: motion without contact", title_justify="left")
    for column in ("scene", "method", "dof", "per step", "real time", "what must hold", "measured"):
        right = column in ("dof", "per step", "real time", "measured")
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    fourth_order = ss.methods.none(integrator="rk4")
    runs = [("humanoid", *humanoid(), fourth_order), ("double_pendulum", *from_file("double_pendulum"), fourth_order),
            ("four_bar", *from_file("four_bar"), "none"), ("arm_on_limits", *from_file("arm_on_limits"), "none")]
    for name, scene, controller, method in runs:
        console.print(f"simulating {name} ...")
        sim = ss.Simulation(scene, method, dt=1e-3)
        start = sum(sim.energy())
        sim.run(0.0)
        clock = time.perf_counter()
        recording = sim.run(4.0, controller, rate=200)
        per_step = (time.perf_counter() - clock) / round(4.0 / sim.dt)
        report = recording["report"]
        if name == "humanoid":
            holds, measured = "momentum stays zero", f"{abs(sim.momentum()).max():.1e} N s"
        elif name == "double_pendulum":
            holds, measured = "energy is kept", f"{abs(sum(sim.energy()) - start):.1e} J of {start:.3g} J"
        elif name == "four_bar":
            holds, measured = "the loop stays closed", f"{report[:, 6].max():.1e} m"
        else:
            holds, measured = "joints stay in limits", f"{report[:, 5].max():.1e} rad"
        keyword = f"{sim.method.keyword} ({sim.method.options.integrator})"
        table.add_row(name, keyword, str(sim.model.dof_count), f"{per_step * 1e6:.1f} µs", f"{sim.dt / per_step:.0f} x",
                      holds, measured)
        draw_strip(scene, recording, OUT / f"{name}.png")
        recording.save(OUT / f"{name}.npz")
        if name == "double_pendulum":
            recording.plot(path=OUT / "double_pendulum_plot.png")
    console.print(table)
    console.print(f"pictures and recordings are in {OUT}/: " + ", ".join(sorted(path.name for path in OUT.iterdir())))


if __name__ == "__main__":
    main()
