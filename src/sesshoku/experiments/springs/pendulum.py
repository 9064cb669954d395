"""Fig. 8.8 to 8.13: a double pendulum of springs against the Lagrange equations (8.5).

Two boxes of 2 x 2 x 6 m and 5 kg on axes along x, the second 4 m below the first, centres 2 m below their axes,
released at rest at pi/4, 0.3 N m of friction in each joint. The moment of a link about its joint axis is 110/3 kg m^2:
50/3 about the centre and 5 kg (2 m)^2 (the print says 100/3). The thesis leaves the springs unsaid; here 200 N/m,
2 N s/m and axes of 2 m, soft enough for the limit w to matter, as in the thesis. With springs of 1000 N/m it would not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.methods.registry import make
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation

MASS, CENTER, LENGTH, MOMENT, G, FRICTION, DURATION = 5.0, 2.0, 4.0, 110.0 / 3.0, 9.8, 0.3, 10.0
STIFFNESS, DAMPING, WIDTH = 200.0, 2.0, 1.0
REFERENCE_STEP = 0.005
WITHIN = 0.1  # of the RMS that is expected
#: (dt, w) -> most mean iterations of the descent
ITERATIONS = {(0.02, 0.4): 0.1, (0.02, 0.2): 1.6, (0.02, 0.1): 5.5, (0.02, 0.05): 10.0, (0.01, 0.05): 5.0,
              (0.005, 0.05): 2.2}
#: (dt, w) -> RMS of the two angles that a prototype of ours found, rad
EXPECTED = {(0.02, 0.4): (0.133, 0.196), (0.02, 0.2): (0.080, 0.085), (0.02, 0.1): (0.039, 0.059),
            (0.02, 0.05): (0.039, 0.071), (0.01, 0.05): (0.023, 0.043), (0.005, 0.05): (0.018, 0.027)}


def pendulum_scene() -> Scene:
    """The two links."""
    scene = Scene(gravity=(0, 0, -G), name="double pendulum")
    inertia = MASS / 12.0 * np.diag([4.0 + 36.0, 4.0 + 36.0, 4.0 + 4.0])
    for name, parent, drop, angle in (("upper", None, 0.0, np.pi / 4), ("lower", "upper", -LENGTH, 0.0)):
        scene.add_body(name, parent=parent, position=(0, 0, drop),
                       joint=Joint("revolute", axis=(1, 0, 0), static_friction=FRICTION, position=[angle]),
                       inertial=Inertial(MASS, (0, 0, -CENTER), inertia))
    return scene


def lagrange(dt: float = REFERENCE_STEP, duration: float = DURATION) -> np.ndarray:
    """(8.5) by symplectic Euler: rows of time and both angles, the second relative to the first link."""
    m, s, l, I = MASS, CENTER, LENGTH, MOMENT
    angle, rate = np.array([np.pi / 4, 0.0]), np.zeros(2)
    rows = [(0.0, *angle)]
    for n in range(round(duration / dt)):
        c, d = np.cos(angle[1]), np.sin(angle[1])
        H = np.array([[2 * I + m * l * l + 2 * m * l * s * c, I + m * l * s * c], [I + m * l * s * c, I]])
        weight = m * s * G * np.sin(angle.sum())
        bias = np.array([-m * l * s * d * rate[1] * (2 * rate[0] + rate[1]) + (m * s + m * l) * G * np.sin(angle[0])
                         + weight, m * l * s * d * rate[0] ** 2 + weight])
        rate = rate + dt * np.linalg.solve(H, -FRICTION * np.sign(rate) - bias)
        angle = angle + dt * rate
        rows.append(((n + 1) * dt, *angle))
    return np.array(rows)


def simulate(dt: float, limit: float, solver: str = "descent") -> tuple[np.ndarray, float, float]:
    """Rows of time and both angles; largest joint gap over the limit; mean iterations of the descent."""
    how = make("springs", {"joint_stiffness": STIFFNESS, "joint_damping": DAMPING, "joint_limit": limit,
                           "joint_width": WIDTH, "constraint_solver": solver})
    sim = Simulation(pendulum_scene(), how, dt)
    rows, gap, iterations = [(0.0, *sim.q)], 0.0, 0
    for _ in range(round(DURATION / dt)):
        sim.step()
        rows.append((sim.time, *sim.q))
        gap, iterations = max(gap, sim.report.loop_error), iterations + sim.report.iterations
    return np.array(rows), gap / limit, iterations / (len(rows) - 1)


def errors(rows: np.ndarray, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """RMS and largest deviation (2) of the angles."""
    stride = round((rows[1, 0] - rows[0, 0]) / REFERENCE_STEP)
    off = rows[:, 1:] - reference[::stride, 1:]
    return np.sqrt((off**2).mean(axis=0)), np.abs(off).max(axis=0)


def one_run(dt: float, limit: float, progress: Callable[[str], None]) -> Result:
    """A figure of one step size and one limit."""
    progress(f"dt = {dt} s, w = {limit} m")
    reference = lagrange()
    rows, gap, iterations = simulate(dt, limit)
    rms, most = errors(rows, reference)
    checks = [
        Check("RMS of the first angle", float(rms[0]), EXPECTED[dt, limit][0], WITHIN * EXPECTED[dt, limit][0], "rad"),
        Check("RMS of the second angle", float(rms[1]), EXPECTED[dt, limit][1], WITHIN * EXPECTED[dt, limit][1], "rad"),
        Check("largest joint gap", gap, 1.01, 1e-9, "w", "at_most"),
        Check("mean iterations of the descent", iterations, ITERATIONS[dt, limit], 0.0, "", "at_most"),
    ]

    def draw(figure: Any) -> None:
        axes = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        for k, name in enumerate(("first", "second")):
            axes[0].plot(rows[:, 0], rows[:, 1 + k], label=f"{name} joint")
            axes[0].plot(reference[:, 0], reference[:, 1 + k], color="#404040", linewidth=0.9, linestyle=(0, (3, 1.5)),
                         label="Lagrange equations" if k == 0 else None)
            stride = round(dt / REFERENCE_STEP)
            axes[1].plot(rows[:, 0], rows[:, 1 + k] - reference[::stride, 1 + k])
        axes[0].set_title(f"joint angles [rad], w = {limit} m, dt = {dt} s")
        axes[1].set_title("deviation from the Lagrange equations [rad]")
        axes[1].set_xlabel("time [s]")
        axes[0].legend(loc="lower right", ncols=3)

    values = {"rms": [float(x) for x in rms], "largest": [float(x) for x in most], "gap_over_w": gap,
              "iterations": iterations}
    return Result(checks, draw, values, figure_size=(8.0, 5.5))
