"""`exact` against MuJoCo on the same model, and what scenes come to under both.

Times in turns in one process, detection included; physics with closed forms beside (`headline`), each measured by the
code that the tests and `sesshoku reproduce exact/targets` use.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.contact import pile, robots_and_pile, standing, whole_run
from sesshoku.comparison.bench import Comparison, interleave, mujoco_of
from sesshoku.experiments.exact import measures
from sesshoku.experiments.exact.scenes import Engine, engine, grasp, stack
from sesshoku.scene.elements import Geometry
from sesshoku.scene.geometry.shapes import Box, Sphere

Say = Callable[[str], None]
FEET = ("left_foot", "right_foot")


def in_turns(label: str, scene: ss.Scene, method: Any, dt: float, settle: float, calls: int = 100,
             rounds: int = 40) -> tuple[Comparison, ss.Simulation, Any]:
    """Both settle first, then `sim.step()` and `mj_step` are timed in turns; also the two at their end."""
    import mujoco

    sim = ss.Simulation(scene, method, dt)
    model, data = mujoco_of(scene, dt)
    sim.step(round(settle / dt))
    for _ in range(round(settle / dt)):
        mujoco.mj_step(model, data)
    comparison = interleave(label, sim.step, lambda: mujoco.mj_step(model, data), "mj_step", calls=calls, rounds=rounds)
    return comparison, sim, (model, data)


# ---- robots ----------------------------------------------------------------------------------------------------------


def standing_by_tolerance() -> tuple[list[Comparison], dict[str, Any]]:
    """The large humanoid on its feet, for three tolerances of the solve."""
    comparisons, found = [], {}
    for tolerance in (1e-8, 1e-10, 1e-12):
        method = ss.methods.exact(tolerance=tolerance)
        comparison, sim, _ = in_turns(f"large humanoid standing, exact, tolerance {tolerance:g}: sim.step()",
                                      standing(), method, 1e-3, 0.5)
        comparisons.append(comparison)
        residuals, steps = [], []
        for _ in range(500):
            sim.step()
            residuals.append(sim.report.residual)
            steps.append(sim.report.iterations)
        found[f"{tolerance:g}"] = {"residual_worst": max(residuals), "newton_steps_mean": float(np.mean(steps))}
    return comparisons, found


def arm_with_box() -> ss.Scene:
    """A six-axis arm whose gripper holds a box of 0.5 kg by friction 0.8; one finger mimics the other."""
    material = ss.Material(0.8)
    scene = ss.Scene(gravity=(0, 0, -9.8), material=material, name="arm holding a box")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("arm_gripper.xml"), pose="home")
    scene.add_box("box", size=(0.04, 0.04, 0.04), mass=0.5, position=(0.3969327, 0, 0.345), material=material)
    for name in ("left_fingertip", "right_fingertip"):
        scene.bodies[name].joint.position = np.array([0.02])
    scene.actuators["left_finger"].target = 0.016  # 4 mm inside the box: 20 N
    return scene


def arm() -> tuple[list[Comparison], dict[str, Any]]:
    """Time of a step, and how fast the box slips out of the gripper."""
    scene = arm_with_box()
    comparison, _, _ = in_turns(f"{scene.name}, exact: sim.step()", scene, "exact", 1e-3, 1.0)
    slips = {}
    for name in ("exact", "mujoco"):
        sim = engine(name)(scene, 1e-3)
        heights = []
        for _ in range(2):
            for _ in range(1000):
                sim.step()
            heights.append(float(sim.bodies["box"].position[2] - sim.bodies["gripper"].position[2]))
        slips[f"{name}, slip m/s"] = abs(heights[1] - heights[0])
    return [comparison], slips


def soles(points: int) -> ss.Scene:
    """The large humanoid on `points` small balls under each foot: one contact each."""
    scene = standing()
    scene.name = f"{points} contact{'s' if points > 1 else ''} per sole"
    columns = int(np.ceil(np.sqrt(points)))
    rows = int(np.ceil(points / columns))
    for foot in FEET:
        body = scene.bodies[foot]
        sole = next(g for g in body.geometries if isinstance(g.shape, Box) and g.collides)
        assert isinstance(sole.shape, Box)
        sx, sy, sz = sole.shape.size
        body.geometries = [g for g in body.geometries if g is not sole]
        for n in range(points):
            at = np.array([(n % columns + 0.5) / columns - 0.5, (n // columns + 0.5) / rows - 0.5, 0.0]) * (sx, sy, 0.0)
            body.geometries.append(Geometry(Sphere(0.005), position=sole.position + at - (0, 0, 0.5 * sz - 0.005),
                                            material=sole.material, category=sole.category, mask=sole.mask))
    return scene


def contacts_per_sole(counts: tuple[int, ...] = (1, 4, 9, 16, 36, 64)) -> tuple[list[Comparison], dict[str, Any]]:
    """A humanoid on more and more contacts, from a settled stand."""
    comparisons, found = [], {}
    for count in counts:
        scene = soles(count)
        comparison, sim, (_, data) = in_turns(f"{scene.name}, exact: sim.step()", scene, "exact", 1e-3, 0.05, calls=10,
                                              rounds=20)
        comparisons.append(comparison)
        found[str(count)] = {"us": round(comparison.ours * 1e6, 1), "contacts": len(sim.contacts),
                             "mujoco_contacts": int(data.ncon), "residual": sim.report.residual,
                             "newton_steps": sim.report.iterations}
    return comparisons, found


# ---- boxes -----------------------------------------------------------------------------------------------------------


def stack_of_ten() -> list[Comparison]:
    """Ten boxes on each other: at rest, and from their fall by 0.2 mm each through two seconds."""
    scene = stack([1.0] * 10, 5e-3, 2e-4)
    scene.name = "stack of 10"
    rest, _, _ = in_turns("stack of 10, exact: sim.step() at rest", scene, "exact", 1 / 200, 2.0)
    run, _ = whole_run(scene, "exact", 1 / 200, 2.0)
    return [rest, run]


def separate_groups(counts: tuple[int, ...] = (100, 1000, 10_000)) -> dict[str, Any]:
    """Microseconds of CPU per body and step for stacks of four that stand apart, and the exponent of growth."""
    found = {}
    for count in counts:
        scene = ss.Scene(gravity=(0, 0, -9.8), name=f"{count} bodies in stacks of four")
        scene.add_ground()
        side = int(np.ceil(np.sqrt(count / 4)))
        for n in range(count):
            group, level = divmod(n, 4)
            scene.add_box(f"box{n}", size=(0.5, 0.5, 0.5), mass=1.0,
                          position=(group % side, group // side, 0.25 + 0.5 * level))
        sim = ss.Simulation(scene, "exact", 1e-3)
        sim.step(20)
        best = np.inf
        for _ in range(5):
            clock = time.process_time()
            sim.step(10)
            best = min(best, (time.process_time() - clock) / 10)
        found[str(count)] = best * 1e6 / count
    fit = np.polyfit(np.log(counts), np.log([found[str(n)] * n for n in counts]), 1)
    return {"us_per_body": {name: round(value, 3) for name, value in found.items()},
            "exponent": round(float(fit[0]), 3)}


def mujoco_violations(model: Any, data: Any, dt: float) -> tuple[float, float]:
    """Violation of Coulomb's law in MuJoCo's last step, m/s, from its forces and its new velocity: normal, tangential.

    The same measure as ours (docs/methods/exact.md): impulse x = force dt and new velocity u of every contact, along
    its normal and tangents, where a gap may close: u_n + gap/dt in place of u_n. Needs data as mj_step leaves it.
    """
    import mujoco

    pressing, rubbing, force = 0.0, 0.0, np.zeros(6)
    J = [np.zeros((3, model.nv)) for _ in range(2)]
    for i in range(data.ncon):
        contact = data.contact[i]
        if contact.exclude:
            continue
        mujoco.mj_contactForce(model, data, i, force)
        for side in range(2):
            mujoco.mj_jac(model, data, J[side], None, contact.pos, int(model.geom_bodyid[contact.geom[side]]))
        rows = contact.frame.reshape(3, 3) @ (J[1] - J[0])  # normal, t1, t2; from geom 1 to geom 2
        solved = np.zeros_like(rows)
        mujoco.mj_solveM(model, data, solved, np.ascontiguousarray(rows))
        g = float(np.sum(rows * solved, axis=1).max())
        if g <= 0.0:
            continue
        u, x, mu = rows @ data.qvel, dt * force[:3], float(contact.friction[0])
        normal = abs(x[0] - max(0.0, x[0] - (u[0] + max(contact.dist, 0.0) / dt) / g))
        target = x[1:] - u[1:] / g
        size, radius = float(np.linalg.norm(target)), mu * max(x[0], 0.0)
        if size > radius:
            target *= radius / size
        pressing, rubbing = max(pressing, g * normal), max(rubbing, g * float(np.linalg.norm(x[1:] - target)))
    return pressing, rubbing


def pile_residuals(seconds: float = 2.0, dt: float = 1 / 200, every: int = 5) -> dict[str, Any]:
    """The pile of 125 boxes under `exact` and MuJoCo: violation of Coulomb's law, by the same measure."""
    import mujoco

    scene = pile()
    sim = ss.Simulation(scene, "exact", dt)
    ours, theirs, deepest = [], [], 0.0
    model, data = mujoco_of(scene, dt)
    for n in range(round(seconds / dt)):
        sim.step()
        ours.append(sim.report.residual)
        mujoco.mj_step(model, data)
        if n % every == every - 1:
            theirs.append(max(mujoco_violations(model, data, dt)))
    deepest = max((-float(data.contact[i].dist) for i in range(data.ncon)), default=0.0)

    def spread(values: list[float]) -> dict[str, float]:
        return {"median": float(np.median(values)), "p95": float(np.percentile(values, 95)), "worst": max(values)}

    return {"exact residual m/s": spread(ours), "mujoco residual m/s": spread(theirs),
            "exact depth at end": sim.report.penetration, "mujoco depth at end": deepest}


# ---- what scenes come to ---------------------------------------------------------------------------------------------

ENGINES = {"exact": "exact", "lcp:recommended": "lcp:recommended", "MuJoCo": "mujoco"}
DT = 1 / 200


def third_rebound(run: Engine) -> float:
    tops, _ = measures.rebounds(run, 0.5, DT)
    tops = [top for top in tops if top > 1e-3]
    return tops[2] if len(tops) > 2 else 0.0


#: question -> (unit, right answer, measure of an engine); dt 1/200 s
HEADLINE: dict[str, tuple[str, float, Callable[[Engine], float]]] = {
    "crate thrown at 19.6 m/s: lifts off by": ("m", 0.0, lambda run: max(measures.slide(run, 19.6, 0.0, DT).lift, 0.0)),
    "and stops after": ("m", 39.2, lambda run: measures.slide(run, 19.6, 0.0, DT).end),
    "pushed at 98 % of its limit: creeps in 12 s": (
        "m", 0.0, lambda run: float(np.abs(measures.pushed(run, 0.98 * measures.LIMIT, 12.0, DT)).max())),
    "on a slope of 98 % of its limit: creeps in 10 s": (
        "m", 0.0, lambda run: abs(measures.slid_down(run, 0.49, 10.0, DT))),
    "pushed at 100.01 % of its limit: slides in 15 s": (
        "m", measures.pushed_way(1.0001 * measures.LIMIT, 15.0, DT, 2.0),
        lambda run: float(measures.pushed(run, 1.0001 * measures.LIMIT, 15.0, DT, 2.0)[0])),
    "friction 0.5/0.3, growing push: moves at 1 cm/s from": (
        "N", measures.LIMIT, lambda run: measures.break_away(run, DT, start=0.0, still=1e-2).force),
    "1000 kg on 1 kg: sinks in 5 s": (
        "m", 0.0, lambda run: measures.sunk(run, stack([1.0, 1e3], 1e-2, 0.0), ["box0", "box1"], 5.0, DT)),
    "10,000 kg on 1 kg: sinks in 5 s": (
        "m", 0.0, lambda run: measures.sunk(run, stack([1.0, 1e4], 1e-2, 0.0), ["box0", "box1"], 5.0, DT)),
    "stack of ten: moves in 60 s": (
        "m", 0.0,
        lambda run: measures.sunk(run, stack([1.0] * 10, 5e-3, 0.0), [f"box{n}" for n in range(10)], 60.0, DT)),
    "held between fingers at 1.2 times what it takes: slips in 10 s": (
        "m", 0.0, lambda run: measures.sunk(run, grasp(6.0), ["box"], 10.0, DT)),
    "dropped from 1 m with restitution 0.5: third rebound": ("m", 0.5**6, third_rebound),
}


def headline() -> dict[str, dict[str, Any]]:
    """Question -> right answer and every engine's."""
    found: dict[str, dict[str, Any]] = {}
    for question, (unit, right, measured) in HEADLINE.items():
        row: dict[str, Any] = {"unit": unit, "closed form": float(f"{right:.6g}")}
        for name, key in ENGINES.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ss.UnsupportedFeature)
                row[name] = float(f"{measured(engine(key)):.6g}")
        found[question] = row
    return found


def headline_lines(found: dict[str, dict[str, Any]]) -> list[str]:
    """The headline as the lines of a Markdown table."""
    lines = ["| | closed form | " + " | ".join(name if name == "MuJoCo" else f"`{name}`" for name in ENGINES) + " |",
             "|---|" + "---|" * (len(ENGINES) + 1)]
    for question, row in found.items():
        cells = [_amount(row[name], row["unit"]) for name in ("closed form", *ENGINES)]
        lines.append(f"| {question} | " + " | ".join(cells) + " |")
    return lines


def _amount(value: float, unit: str) -> str:
    """A length to four digits in m, mm, µm or nm; what is below a nanometre is nothing."""
    if unit != "m":
        return f"{value:.4g} {unit}"
    if abs(value) < 1e-9:
        return "0"
    for factor, name in ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm")):
        if abs(value) >= 0.1 * factor or factor == 1e-9:
            digits = f"{value / factor:.4g}" if factor == 1.0 else f"{value / factor:.3g}"
            return f"{digits} {name}"
    raise AssertionError


def measure(say: Say) -> tuple[list[Comparison], dict[str, Any]]:
    """All of it: comparisons with MuJoCo, and the rest by name."""
    say("exact: standing, falling, a pile ...")
    comparisons, found = robots_and_pile("exact")
    say("exact: standing at three tolerances ...")
    more, found["tolerances"] = standing_by_tolerance()
    comparisons += more
    say("exact: arm with a box ...")
    more, found["arm holding a box"] = arm()
    comparisons += more
    say("exact: stack of ten ...")
    comparisons += stack_of_ten()
    say("exact: contacts per sole ...")
    more, found["contacts per sole"] = contacts_per_sole()
    comparisons += more
    say("exact: separate groups ...")
    found["separate groups"] = separate_groups()
    say("exact: residual of the pile ...")
    found["pile of 125, violations"] = pile_residuals()
    say("scenes under exact, lcp:recommended and MuJoCo ...")
    found["headline"] = headline()
    for line in headline_lines(found["headline"]):
        say(line)
    return comparisons, found


#: rows of the README's table; docs/methods/exact.md has all
IN_README = ("lifts off by", "98 % of its limit: creeps in 12 s", "growing push", "1000 kg", "fingers", "third rebound")
ROOT = Path(__file__).parent.parent
PAGES = {ROOT / "README.md": IN_README, ROOT / "docs" / "methods" / "exact.md": ("",)}
BLOCK = re.compile(r"(<!-- headline: begin -->\n).*?(<!-- headline: end -->)", re.DOTALL)


def quote(lines: list[str]) -> None:
    """Write the headline between the marks of the pages that have them."""
    for page, wanted in PAGES.items():
        chosen = [line for n, line in enumerate(lines) if n < 2 or any(part in line for part in wanted)]
        text, block = page.read_text(encoding="utf-8"), "\n".join(chosen) + "\n"
        page.write_text(BLOCK.sub(lambda match, block=block: match.group(1) + block + match.group(2), text),
                        encoding="utf-8")


if __name__ == "__main__":
    import json

    if "--headline" in sys.argv[1:]:  # print the table, and write it into the pages
        table = headline_lines(headline())
        print("\n".join(table))
        quote(table)
        sys.exit()
    timed, rest = measure(print)
    for comparison in timed:
        print(f"{comparison.name}: {comparison.ours * 1e6:.1f} µs, mj_step {comparison.peer * 1e6:.1f} µs, "
              f"ratio {comparison.ratio:.2f}")
    print(json.dumps(rest, indent=1))
