"""benchmarks/exact.py: violation of Coulomb's law in MuJoCo's steps, where one knows what it must be; the headline."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")

from benchmarks import exact  # noqa: E402
from sesshoku.experiments.exact.measures import LIMIT  # noqa: E402
from sesshoku.experiments.exact.scenes import engine  # noqa: E402
from sesshoku.experiments.scenes import crate_on_floor  # noqa: E402

DT = 1e-3


def after(speed: float, push: float, steps: int) -> tuple[float, float, float]:
    """Normal and tangential violation in the last of `steps` with load, and speed, of a crate in MuJoCo."""
    sim, found, force = engine("mujoco")(crate_on_floor(speed), DT), (np.nan, np.nan), np.zeros(6)
    model, data = sim.peer_model, sim.peer_data
    for _ in range(steps):
        data.xfrc_applied[model.body("crate").id, 0] = push
        mujoco.mj_step(model, data)
        loads = []
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, force)
            loads.append(force[0])
        if loads and min(loads) > 1e-3:
            found = exact.mujoco_violations(model, data, DT)
    return *found, float(data.qvel[0])


def test_at_rest_nothing_is_violated() -> None:
    normal, tangential, _ = after(0.0, 0.0, 500)
    assert normal < 1e-5 and tangential < 1e-5


def test_creep_is_its_own_speed() -> None:
    """Friction within the cone at a contact that moves: the violation is the speed."""
    _, tangential, speed = after(0.0, 0.5 * LIMIT, 500)
    assert 1e-4 < speed < 0.1 and tangential == pytest.approx(speed, rel=0.05)


def test_sliding_rubs_rightly_and_lifts_wrongly() -> None:
    """Friction opposes the slip at its full size (a sign turned round would show as 2 mu g dt, 1e-2 m/s, or more); what
    is wrong is the normal velocity."""
    normal, tangential, speed = after(2.0, 0.0, 60)
    assert speed > 1.5 and tangential < 2e-3, (normal, tangential)
    assert normal > 0.05


def test_amounts_are_written_for_people() -> None:
    found = {"q": {"unit": "m", "closed form": 0.0, "exact": 2e-13, "lcp:recommended": 4.16e-8, "MuJoCo": 0.83605},
             "n": {"unit": "N", "closed form": 4.9, "exact": 4.91, "lcp:recommended": 4.915, "MuJoCo": 2.485}}
    lines = exact.headline_lines(found)
    assert lines[2] == "| q | 0 | 0 | 41.6 nm | 0.836 m |"
    assert lines[3] == "| n | 4.9 N | 4.91 N | 4.915 N | 2.485 N |"
    assert exact._amount(0.0414050, "m") == "41.4 mm" and exact._amount(39.2, "m") == "39.2 m"


def test_the_scenes_are_what_they_say() -> None:
    scene = exact.soles(9)
    sim = engine("exact")(scene, DT)
    for _ in range(5):
        sim.step()
    loaded = [contact for contact in sim.contacts if contact.normal_force > 0.0]
    assert 3 <= len(loaded) <= 18 == len(sim.contacts)
    arm = engine("exact")(exact.arm_with_box(), DT)
    start = arm.bodies["box"].position.copy()
    for _ in range(300):
        arm.step()
    assert np.abs(arm.bodies["box"].position - start).max() < 0.01 and arm.report.converged
