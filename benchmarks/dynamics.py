"""Forward dynamics: the articulated-body algorithm against Pinocchio, and its growth with the length of a chain."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sesshoku as ss
from benchmarks.peers import example_robots, pinocchio_of
from benchmarks.steps import humanoid_hanging_free
from sesshoku.comparison.bench import Comparison, interleave
from sesshoku.compiled.jit import jit
from sesshoku.dynamics.aba import forward_dynamics
from sesshoku.dynamics.data import as_data
from sesshoku.model.arrays import as_model


@jit
def aba_once(model_table, data_table, force):
    """One forward dynamics, as a user's compiled code would call it."""
    model, data = as_model(model_table), as_data(data_table)
    forward_dynamics(model, data, data.q, data.v, force, data.free_acceleration)


@jit
def aba_many(model, data, force, count):
    for _ in range(count):
        forward_dynamics(model, data, data.q, data.v, force, data.free_acceleration)


def load(path: Path) -> ss.Simulation:
    scene = ss.Scene(gravity=(0, 0, -9.8), name=Path(path).stem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(path)
    return ss.Simulation(scene, "none")


def aba_against_pinocchio() -> list[Comparison]:
    """Ours and pin.aba, both called from Python at the same random state."""
    import pinocchio as pin

    results = []
    robots = {"large humanoid": ss.robots.path("humanoid_large.xml")}
    talos = example_robots() / "talos_data" / "robots" / "talos_reduced.urdf"
    if talos.exists():
        robots["TALOS"] = talos
    for name, path in robots.items():
        sim = load(path)
        rng = np.random.default_rng(0)
        sim.data.q[7:] = rng.uniform(-0.3, 0.3, sim.model.coordinate_count - 7)
        sim.data.v[:] = rng.uniform(-1, 1, sim.model.dof_count)
        force = rng.uniform(-10, 10, sim.model.dof_count)
        peer, q, v, tau = pinocchio_of(sim, force)
        work = peer.createData()
        tables = sim.model.table, sim.data.table
        aba_once(*tables, force)
        check = pin.aba(peer, work, q, v, tau)
        if not np.allclose(check[6:], sim.data.free_acceleration[6:], rtol=1e-8, atol=1e-8):
            raise RuntimeError(f"{name}: the two accelerations differ; the timing would mean nothing")
        results.append(interleave(f"aba, {name} ({sim.model.dof_count} dof)", lambda t=tables, f=force: aba_once(*t, f),
                                  lambda p=peer, w=work, a=(q, v, tau): pin.aba(p, w, *a), "pin.aba"))
    return results


def chain(links: int) -> ss.Scene:
    scene = ss.Scene(name=f"chain of {links}")
    parent = None
    for i in range(links):
        joint = ss.Joint("revolute" if i else "spherical", axis=(i % 2, 1 - i % 2, 0), anchor=(0, 0, 0.05))
        scene.add_box(f"link{i}", size=(0.02, 0.02, 0.1), mass=0.1, parent=parent, joint=joint, position=(0, 0, -0.1))
        parent = f"link{i}"
    return scene


def chain_growth(lengths: tuple[int, ...] = (50, 100, 200, 500, 1000)) -> dict[str, Any]:
    """Seconds per forward dynamics of chains, timed in compiled code, and the exponent of their growth."""
    sims = {n: ss.Simulation(chain(n), "none") for n in lengths}
    best = dict.fromkeys(lengths, np.inf)
    for _ in range(40):  # in turns, so that a busy machine slows all alike
        for n, sim in sims.items():
            force, count = sim.data.work, max(1, 20000 // n)
            force[:] = 0.0
            aba_many(sim.model, sim.data, force, 1)
            start = time.perf_counter()
            aba_many(sim.model, sim.data, force, count)
            best[n] = min(best[n], (time.perf_counter() - start) / count)
    exponent = float(np.polyfit(np.log(lengths), np.log([best[n] for n in lengths]), 1)[0])
    return {"microseconds": {str(n): round(best[n] * 1e6, 2) for n in lengths}, "exponent": round(exponent, 3)}


def measure(say: Callable[[str], None]) -> tuple[list[Comparison], dict[str, Any]]:
    """Forward dynamics against Pinocchio, a whole step without contact against MuJoCo, growth with the length."""
    say("growth with the length of a chain ...")
    chains = chain_growth()
    say("against peers, in turns ...")
    return aba_against_pinocchio() + humanoid_hanging_free(), {"chain": chains}
