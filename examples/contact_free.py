"""Motion without contact: robots that swing, close loops and rest on limits; a table, a plot and pictures in out/."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import sesshoku as ss

HERE = Path(__file__).parent
OUT = Path("out")


def humanoid() -> tuple[ss.Scene, object]:
    """The large humanoid floats without gravity and swings its limbs on its servos: its momentum must stay zero."""
    scene = ss.Scene(gravity=(0, 0, 0), name="humanoid, floating")
    scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    standing = {name: actuator.target for name, actuator in scene.actuators.items()}
    amplitudes = {"shoulder_pitch": -0.9, "hip_pitch": 0.45, "knee": -0.3}

    def swing(sim: ss.Simulation) -> None:
        phase = min(sim.time, 1.0) ** 2 * np.sin(2 * np.pi * 0.4 * sim.time)  # begins gently
        for side, sign in (("left", phase), ("right", -phase)):
            for joint, amplitude in amplitudes.items():
                name = f"{side}_{joint}"
                sim.actuators[name].target = standing[name] + amplitude * sign

    return scene, swing


def in_motion(sim: ss.Simulation) -> float:
    """Sum of the momenta of all bodies regardless of direction, N s: what a total of zero is to be held against."""
    return sum(body.mass * float(np.linalg.norm(body.center_of_mass_velocity)) for body in sim.bodies.values())


def from_file(name: str) -> tuple[ss.Scene, None]:
    return ss.Scene.read(HERE / f"{name}.toml"), None


def main() -> None:
    console = Console(width=120)
    OUT.mkdir(exist_ok=True)
    table = Table(title="motion without contact", title_justify="left")
    for column in ("scene", "method", "dof", "per step", "real time", "what must hold", "measured"):
        right = column in ("dof", "per step", "real time", "measured")
        table.add_column(column, justify="right" if right else "left", no_wrap=True)
    fourth_order = ss.methods.none(integrator="rk4")
    runs = [("humanoid", *humanoid(), fourth_order), ("double_pendulum", *from_file("double_pendulum"), fourth_order),
            ("four_bar", *from_file("four_bar"), "none"), ("arm_on_limits", *from_file("arm_on_limits"), "none")]
    for name, scene, controller, method in runs:
        console.print(f"simulating {name} ...")
        sim = ss.Simulation(scene, method, dt=1e-3)
        start = sum(sim.energy)
        sim.step(0)  # compile before the clock starts
        sim.run(0.0)
        clock = time.perf_counter()
        recording = sim.run(4.0, controller, rate=200)
        per_step = (time.perf_counter() - clock) / round(4.0 / sim.dt)
        report = recording["report"]
        if name == "humanoid":
            holds, measured = "momentum stays zero", f"{abs(sim.momentum()).max():.1e} of {in_motion(sim):.2g} N s"
        elif name == "double_pendulum":
            holds, measured = "energy is kept", f"{abs(sum(sim.energy) - start):.1e} J of {start:.3g} J"
        elif name == "four_bar":
            holds, measured = "the loop stays closed", f"{report[:, 6].max():.1e} m"
        else:
            holds, measured = "joints stay in limits", f"{report[:, 5].max():.1e} rad"
        keyword = f"{sim.method.keyword} ({sim.method.options.integrator})"
        table.add_row(name, keyword, str(sim.model.dof_count), f"{per_step * 1e6:.1f} µs", f"{sim.dt / per_step:.0f} x",
                      holds, measured)
        recording.to_strip(OUT / f"{name}.png")
        recording.save(OUT / f"{name}.npz")
        if name == "double_pendulum":
            recording.plot(path=OUT / "double_pendulum_plot.png")
    console.print(table)
    console.print(f"pictures and recordings are in {OUT}/: " + ", ".join(sorted(path.name for path in OUT.iterdir())))


if __name__ == "__main__":
    main()
