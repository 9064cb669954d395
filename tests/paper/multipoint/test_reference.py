"""The compiled method against a step in NumPy that shares no code with it, on random heaps of bodies."""

from __future__ import annotations

import numpy as np
import pytest

import multipoint_reference as reference
import sesshoku as ss
from multipoint_scenes import free_velocity, heap
from sesshoku.experiments.multipoint.scenes import multipoint
from support import sample_count

OPTIONS = {
    "paper": {},
    "keep": {"stick_target": "keep"},
    "threshold": {"slip_threshold": 0.05},
    "resolve": {"friction_coupling": "resolve"},
    "readmit": {"readmit": True},
    "depth": {"penetration_rate": 20.0},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_forces_agree_with_the_reference(name, rng):
    options, compared, several = OPTIONS[name], 0, 0
    for _ in range(sample_count(12, 300)):
        bounce = float(rng.choice([0.0, 0.0, 0.5]))
        sim = ss.Simulation(heap(int(rng.integers(2**32)), bounce=bounce), multipoint(**options), 1e-3)
        for _ in range(3):
            q, v, H = sim.q.copy(), sim.v.copy(), sim.mass_matrix()
            free = free_velocity(sim)
            sim.step()
            found, after = sim.contacts, sim.save()
            if not found:
                continue
            forces = np.array([contact.force for contact in found])
            sim.set_state(q=q, v=v)
            points = reference.points_of(sim, bounce)
            given = options.get("slip_threshold")
            expected = reference.step(
                H,
                v,
                free,
                points,
                slip_threshold=given,
                first_threshold=None if given else np.maximum(0.5 * points.kinetic * 9.8 * 1e-3, 1e-12),
                stick_target=options.get("stick_target", "zero"),
                coupling=options.get("friction_coupling", "after"),
                readmit=options.get("readmit", False),
                penetration_rate=options.get("penetration_rate", 0.0),
            )
            sim.restore(after)
            assert forces == pytest.approx(expected.impulse / 1e-3, abs=1e-7 * max(1.0, np.abs(forces).max()))
            if name not in ("resolve",):
                assert sim.report.iterations <= expected.passes  # of the islands the longest, there of all together
            compared += 1
            several += expected.passes > 1
    assert compared > 10 and several > 3
