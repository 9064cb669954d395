"""What `exact` is to reach at its default options: plain tests of Coulomb's law with known answers, and their verdicts.

Limits are ten times what the solver came to on its own, outside a simulation (but not below 1e-12 m), or what the time
step allows: mu g dt^2/8 for a stop between two steps, g dt^2/8 for sampling the top of a rebound.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from sesshoku.experiments.base import Check, Result
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.measures import LIMIT, RAYS
from sesshoku.experiments.exact.scenes import (
    G,
    double_pendulum,
    engine,
    grasp,
    stack,
    standing_humanoid,
    tumbling,
)
from sesshoku.simulation.simulation import Simulation

TITLE = "creep, thresholds, stacks, grasps, slopes, rebounds, smooth motion: every target of `exact`, with its verdict"
Say = Callable[[str], None]


def at_most(name: str, measured: float, limit: float, unit: str = "m") -> Check:
    return Check(name, measured, 0.0, limit, unit)


def friction(say: Say, long: bool) -> list[Check]:
    """A crate of 1 kg and 1 m, mu 0.5: pushed, thrown, on a slope."""
    run, checks = engine(), []
    for dt in (1 / 50, 1 / 1000):
        say(f"creep at 1/{round(1 / dt)} s")
        seconds = 12.0 if long or dt > 0.01 else 2.0
        moved = float(np.abs(measures.pushed(run, 0.98 * LIMIT, seconds, dt)).max())
        checks.append(at_most(f"creep at 0.98 of the limit, {seconds:g} s, 1/{round(1 / dt)} s", moved, 1e-12))
    say("thresholds")
    moved = abs(float(measures.pushed(run, 0.9999 * LIMIT, 15.0, 1 / 50, ramp=2.0)[0]))
    checks.append(at_most("way at 0.9999 of the limit, 15 s", moved, 5e-12))
    moved, way = float(measures.pushed(run, 1.0001 * LIMIT, 15.0, 1 / 50, 2.0)[0]), measures.pushed_way(
        1.0001 * LIMIT, 15.0, 1 / 50, 2.0)
    checks.append(Check("way at 1.0001 of the limit, 15 s", moved, way, 1e-10, "m"))
    say("slides")
    found = measures.slide(run, 19.6, 0.0, 1 / 50)
    checks += [at_most("thrown at 19.6 m/s, 1/50 s: error on the way", found.on_the_way, 1e-12),
               at_most("thrown at 19.6 m/s: lift", found.lift, 1e-12),
               at_most("thrown at 19.6 m/s: worst residual", found.residual, 1e-11, "m/s")]
    oblique = [measures.slide(run, 19.6, np.radians(angle), 1 / 200) for angle in (15, 30, 45)]
    checks += [at_most("thrown obliquely, 1/200 s: error of the stopping place", max(s.along for s in oblique), 3e-12),
               at_most("thrown obliquely: sideways", max(s.sideways for s in oblique), 1e-12)]
    stops = max(measures.slide(run, v0, 0.0, 1 / 50).along for v0 in (19.61, 7.77, 3.333))
    checks.append(at_most("stop inside a step, 19.61, 7.77, 3.333 m/s, 1/50 s", stops, 0.5 * G / 50**2 / 8))
    say("slopes")
    checks.append(at_most("slope of 0.49, 10 s", abs(measures.slid_down(run, 0.49, 10.0, 1 / 200)), 2.5e-12))
    angle = np.pi / 6
    way = 0.5 * G * (np.sin(angle) - 0.5 * np.cos(angle)) * 4.0
    checks.append(Check("way down a slope of 30 degrees, 2 s", measures.slid_down(run, np.tan(angle), 2.0, 1 / 200),
                        way, 1e-12, "m"))
    return checks


def static_and_kinetic(say: Say, long: bool) -> list[Check]:
    """mu .5/.3: breaking away, stopping against a force, loads of force and torque together."""
    run, checks = engine(), []
    say("breaking away")
    for dt in (1 / 50, 1 / 200, 1 / 1000):
        found = measures.break_away(run, dt)
        checks += [Check(f"ramp of 1 N/s, 1/{round(1 / dt)} s: breaks away so many steps above 4.9 N",
                         (found.force - LIMIT) / dt, 1.0, 0.5, "steps"),
                   at_most(f"speed before and after, 1/{round(1 / dt)} s", found.speed_error, 3e-12, "m/s")]
    say("stopping against a force")
    for share, returns in ((0.25, False), (0.4, False), (0.6, True)):
        for dt, bound in ((1 / 200, 2.1e-4), (1 / 50, 3.8e-3)):
            top, speed = measures.turning_point(run, 1.0, share, dt)
            checks.append(at_most(f"turns against {share} m g, 1/{round(1 / dt)} s: error",
                                  abs(top - 1.0 / (2 * (0.3 + share) * G)), bound))
        checks.append(Check("and comes back at 0.6 m g: speed", -speed, 0.1, 0.0, "m/s", "at_least")
                      if returns else at_most(f"and stays at {share} m g: speed", abs(speed), 1e-11, "m/s"))
    for kinetic in (0.5, 0.3) if long else (0.3,):
        say(f"force and torque, mu .5/{kinetic}")
        worst = max(abs(measures.load_limit(run, force, torque, kinetic) - 1.0) for force, torque in RAYS)
        checks.append(at_most(f"limit of force and torque, 6 rays, mu .5/{kinetic:g}", worst, 1.5e-3, "of it"))
    return checks


def loads(say: Say, long: bool) -> list[Check]:
    """Stacks, heavy on light, a grasp, a standing humanoid."""
    run, checks, unsolved = engine(), [], 0
    for offset, gap, bound in ((5e-3, 2e-4, 1.3e-11), (0.0, 0.0, 4e-12)):
        say(f"stack of ten, {'offset' if offset else 'aligned'}")
        moved, failed = measures.drift(Simulation(stack([1.0] * 10, offset, gap), "exact", 1 / 60), 10.0,
                                       50.0 if long else 5.0)
        checks.append(at_most(f"stack of ten, {'5 mm offsets' if offset else 'aligned'}, 1/60 s: drift", moved, bound))
        unsolved += failed
    for ratio, bound in ((1e3, 1e-12), (1e4, 1.3e-12), (1e6, 1e-9)):
        say(f"{ratio:g}:1")
        moved, failed = measures.drift(Simulation(stack([1.0, ratio], 1e-2, 1e-4), "exact", 1 / 200), 2.0, 5.0)
        checks.append(at_most(f"{round(ratio):,}:1, 1/200 s, 5 s: drift", moved, bound))
        unsolved += failed
    checks.append(at_most("steps of these that were not solved", float(unsolved), 0.0, ""))
    say("grasp")
    checks.append(at_most("grasp at 1.2 of what holds, 10 s: way", measures.sunk(run, grasp(6.0), ["box"], 10.0,
                                                                                1 / 200), 1e-12))
    checks.append(at_most("grasp at 0.8: error of the fall", measures.grasp_fall(run, 4.0)[0], 1e-12))
    say("standing humanoid")
    moved, slip = measures.standing_drift(Simulation(standing_humanoid(), "exact", 1e-3), 0.5, 1.5)
    checks += [at_most("standing humanoid, 1 ms: drift of its feet", moved, 1e-7),
               at_most("standing humanoid: slip added up", slip, 1e-12)]
    return checks


def motion(say: Say, long: bool) -> list[Check]:
    """Rebounds, landings, and smooth motion at second order."""
    run, checks = engine(), []
    say("rebounds")
    for bounce in (0.5, 1.0):
        for dt in (1 / 1000, 1 / 100, 1 / 50):
            tops, _ = measures.rebounds(run, bounce, dt)
            error = max(abs(top - bounce ** (2 * n + 2)) for n, top in enumerate(tops)) if len(tops) == 3 else np.inf
            checks.append(at_most(f"three rebounds, e {bounce:g}, 1/{round(1 / dt)} s: height", error,
                                  1.01 * G * dt**2 / 8))
    low, high, _ = measures.dropped(run, 1 / 100)
    checks.append(at_most("lands with e 0, 1/100 s: depth or hop", max(-low, high), 1e-12))
    say("smooth motion")
    sizes = (0.02, 0.01, 0.005)
    for name, scene, seconds, bound in (("double pendulum", double_pendulum(), 2.0, 5.5e-3),
                                        ("tumbling", tumbling(), 5.0, 6e-3)):
        errors = measures.smooth_errors(scene, sizes, seconds)
        order = float(np.log2(min(one / half for one, half in pairwise(errors))))
        checks += [at_most(f"{name}, {sizes[0]} s: error", errors[0], bound, "rad"),
                   Check(f"{name}: order", order, 2.0, 0.23, "", "at_least")]
    return checks


def run(progress: Say, long: bool = True) -> Result:
    """long: for the whole times; else the long runs are cut short."""
    checks = [check for part in (friction, static_and_kinetic, loads, motion) for check in part(progress, long)]

    def draw(figure: Any) -> None:
        axis = figure.add_subplot()
        shown = [check for check in checks if check.kind == "near" and check.tolerance > 0.0]
        ratios = [abs(check.measured - check.expected) / check.tolerance for check in shown]
        least = 1e-4
        for n, (check, ratio) in enumerate(zip(shown, ratios, strict=True)):
            color = "#009e73" if check.passed else "#d55e00"
            axis.plot([least, max(ratio, least)], [n, n], color=color, linewidth=0.8, alpha=0.5)
            axis.plot(max(ratio, least), n, "o" if ratio > least else "<", color=color, markersize=4)
            limit = f"{check.expected:.6g} ± {check.tolerance:.2g}" if check.expected else f"≤ {check.tolerance:.2g}"
            axis.text(1.25, n, f"{check.measured:.6g} {check.unit}  ({limit})" if check.expected
                      else f"{check.measured:.2g} {check.unit}  ({limit})", va="center", fontsize=7)
        axis.axvline(1.0, color="#404040", linewidth=1.0)
        axis.set_xscale("log")
        axis.set_xlim(0.8 * least, 60.0)
        axis.set_xticks([1e-4, 1e-3, 1e-2, 1e-1, 1.0])
        axis.set_yticks(range(len(shown)), [check.name for check in shown], fontsize=7.5)
        axis.set_ylim(len(shown) - 0.4, -0.6)
        axis.set_xlabel("measured error / limit  (left end: a ten-thousandth, or none at all)")
        axis.set_title("exact at its default options: measured, and the limit")

    return Result(checks, draw, {}, figure_size=(10.5, 8.6))
