"""A crooked heap of boxes, a ball and a mechanism, and the problems of its islands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from sesshoku.collision.contacts import ISLANDS
from sesshoku.stages.island_rows import group_joint_rows, island_dofs, island_lists

ARM = """<mujoco><compiler angle="radian"/><worldbody>
<body name="base" pos="0.25 0 0.35"><freejoint/><geom type="box" size="0.1 0.05 0.05" mass="2"/>
<body name="link" pos="0.1 0 0"><joint name="hinge" axis="0 1 0" range="-0.5 0.5"/>
<geom type="box" size="0.1 0.04 0.04" pos="0.1 0 0" mass="1"/></body></body></worldbody></mujoco>"""


def heap(folder: Path, robot: bool, rolling: float = 0.0) -> ss.Simulation:
    """Crooked boxes and a ball on each other; with a mechanism among them."""
    scene, rng = ss.Scene(), np.random.default_rng(3)
    material = ss.Material(0.4, rolling_friction=rolling)
    scene.add_ground(material=ss.Material(0.4))
    for n in range(9):
        turn = np.array([1.0, *rng.normal(scale=0.1, size=3)])
        place = (0.11 * (n % 3), 0.02 * (n % 2), 0.06 + 0.11 * (n // 3))
        turn /= np.linalg.norm(turn)
        if n == 4:
            scene.add_sphere("ball", radius=0.05, mass=0.3, position=place, material=material)
        else:
            scene.add_box(f"box{n}", size=(0.1, 0.12, 0.1), mass=float(rng.uniform(0.2, 5.0)), position=place,
                          rotation=turn)
    if robot:
        (folder / "arm.xml").write_text(ARM, encoding="utf-8")
        scene.load(folder / "arm.xml")
    return ss.Simulation(scene, "exact", 5e-3)


def built(sim: ss.Simulation, steps: int) -> Any:
    """The work record with the problem of a step built, not solved."""
    sim.step(steps)
    for name, stage in sim.method.definition.stages_of(sim.method.options).named.items():
        stage(sim.model, sim.data, sim.work, sim.dt)
        if name == "build problem":
            break
    return sim.work


def islands(sim: ss.Simulation) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    work = sim.work
    rest = group_joint_rows(sim.model, work)
    found = []
    for n in range(int(work.contacts.counts[ISLANDS])):
        contact_list, joint_list = island_lists(work, n, rest)
        trees = island_dofs(sim.model, work, n)
        found.append((contact_list.copy(), joint_list.copy(), work.dof_list[:trees].copy()))
    return found
