"""Random scenes with contact: shapes, masses, speeds and step sizes far apart.

Nothing may end in NaN, and energy may come from nowhere. Every step of `exact` and of `lcp:recommended` obeys, to 1e-3
of the largest energy that was met,
    energy after <= energy before + depth correction's work (in the report) + work of scripted bodies and pushes.
`lcp:recommended` bounces by Newton's law as it stands, which may bring energy: normal impulse times the speed of the
rebound comes on the right there. `exact` lowers a restitution that would, and has no such term. With `lcp:recommended`
(semi-implicit, lone bodies) the report's `energy_change` is checked as an identity: with gravity's share it explains
every joule by which the total changes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields

import numpy as np
import pytest

import sesshoku as ss
from property_scenes import random_scene
from sesshoku.methods.registry import keywords, resolve
from sesshoku.stages.free_motion import SPIN  # below it explicit gyroscopic torque gains up to its square per step
from sesshoku.stages.report import CHANNELS
from support import FULL, SEED, sample_count

METHODS = [keyword for keyword in keywords() if keyword not in ("none", "lcp")] + (["lcp"] if FULL else [])
BUDGETED = ("lcp:recommended", "exact")
REBOUNDS = ("lcp:recommended",)  # Newton's restitution without a guard
IDENTITY = ("lcp:recommended",)  # semi-implicit: the report's change of energy explains every joule
CHUNKS = 4
G = 9.8


def draw(seed, chunk, n, method):
    """A simulation, its restitution, and a steady push on its first body (often none)."""
    rng = np.random.default_rng([seed, chunk, n])
    restitution = float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    if not resolve(method).module.GUARANTEES.get("restitution", True):
        restitution = 0.0  # the method refuses materials that bounce
    scene = random_scene(rng, restitution)
    dt = float(10 ** rng.uniform(-4, np.log10(0.02)))
    sim = ss.Simulation(scene, method, dt)
    push = rng.normal(size=3) * sim.bodies["b0"].mass * G * rng.choice([0.0, 0.0, 2.0])
    return sim, restitution, push


def rebound_work(sim):
    """Normal impulse times the speed restitution asks for, J: the most that bouncing can bring."""
    contacts, problem, work = sim.records["contacts"], sim.records["problem"], 0.0
    for c in range(contacts.counts[0]):
        before = problem.velocity[c, 2]
        if before < -sim.method.options.restitution_speed and contacts.gap[c] <= 0.0:
            work -= problem.impulse[c, 2] * contacts.material[c, 2] * before
    return work


def script_work(sim, paddle):
    """What the scripted paddle did in the last step, J; paddle: its motion at the step's start."""
    work = 0.0
    for contact in sim.contacts:
        if "paddle" in contact.bodies:
            position, velocity, spin = paddle
            speed = velocity + np.cross(spin, contact.point - position)
            work += sim.dt * (contact.force @ speed) * (1.0 if contact.bodies[0] == "paddle" else -1.0)
    return work


@dataclass
class Tally:
    """What a run of scenes added up to."""

    scenes: int = 0
    bodies: int = 0
    steps: int = 0
    unconverged: int = 0  # steps
    overflowed: int = 0  # steps
    tunnelling: int = 0  # shapes and steps, as reported
    through_floor: int = 0  # bodies below it in the end
    diverged: int = 0  # scenes, where the method says it may
    gaining: int = 0  # scenes with e > 0 that passed 1.01 of their budget
    largest_gain: float = 0.0  # energy over budget, e > 0
    worst_inelastic: float = 0.0  # energy over budget, e = 0

    def add(self, other):
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            most = field.name in ("largest_gain", "worst_inelastic")
            setattr(self, field.name, max(mine, theirs) if most else mine + theirs)


def step(sim, label):
    """One step; False where the state stopped being finite, which only methods that say so may let happen.

    And only to bodies that turn by radians per step; the last good state must stand.
    """
    try:
        sim.step()
    except ss.SimulationDiverged as error:
        declared = sim.method.module.GUARANTEES.get("finite", lambda options: True)(sim.method.options)
        spin = np.abs(sim.v.reshape(-1, 6)[:, 3:]).max()
        assert not declared and sim.dt * spin > 1.0, (label, error)
        assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all() and "rad per step" in str(error), (label, error)
        return False
    return True


def run_scene(sim, restitution, push, budgeted, label):
    """Step a scene through up to a second, holding the energy to its budget; what happened."""
    tally = Tally(scenes=1, bodies=len(sim.bodies) - 1)
    mass = np.array([sim.bodies[name].mass for name in sim.bodies if name.startswith("b")])
    start = before = sum(sim.energy)
    scale, work = abs(start), 0.0
    for _ in range(min(round(1.0 / sim.dt), 400)):
        paddle = None
        if "paddle" in sim.bodies:
            body = sim.bodies["paddle"]
            paddle = body.position, body.velocity, body.angular_velocity
        if push.any():
            sim.apply_force("b0", push)
        lifts, place = sim.v[2::6].copy(), sim.bodies["b0"].center_of_mass.copy()
        if not step(sim, label):
            tally.diverged = 1
            return tally
        report = sim.report
        tally.steps += 1
        tally.unconverged += not report.converged
        tally.overflowed += report.overflow
        tally.tunnelling += report.tunnelling
        assert all(np.isfinite(getattr(report, name)) for name in CHANNELS), label
        if not budgeted:
            continue
        now = sum(sim.energy)
        given = report.correction_work + push @ (sim.bodies["b0"].center_of_mass - place)
        given += script_work(sim, paddle) if paddle is not None else 0.0
        work += given
        scale = max(scale, abs(now), abs(work))
        allowed = before + given
        bounces = restitution > 0.0 and sim.method.keyword in REBOUNDS
        if bounces:
            allowed += rebound_work(sim)
        assert now <= allowed + 1e-3 * scale, (label, now, before, given, scale)
        if not push.any() and sim.method.keyword in IDENTITY:  # gravity's part of the change, the same for every body
            gravity = mass @ (G * sim.dt * (sim.v[2::6] - lifts) + 0.5 * (G * sim.dt) ** 2)
            assert now - before == pytest.approx(report.energy_change + gravity, abs=(1e-8 + SPIN**2) * scale), label
        over = now / (start + max(work, 0.0)) if start + work > 0.0 else 0.0
        if restitution > 0.0:
            tally.largest_gain = max(tally.largest_gain, float(over))
        else:
            tally.worst_inelastic = max(tally.worst_inelastic, float(over))
        if not bounces:
            assert now <= 1.01 * start + work + 1e-9 * scale, (label, now, start, work)
        before = now
    tally.gaining = int(tally.largest_gain > 1.01)
    assert np.isfinite(sim.q).all() and np.isfinite(sim.v).all(), label
    names = [name for name in sim.bodies if name.startswith("b")]
    tally.through_floor = sum(bool(sim.bodies[name].position[2] < -0.5) for name in names)
    return tally


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_scenes_stay_finite_and_within_their_energy(method, chunk):
    """No NaN, no energy from nowhere; SimulationDiverged only where the method says so. Tunnelling is counted."""
    total = Tally()
    for n in range(sample_count(24, 2000) // CHUNKS):
        sim, restitution, push = draw(SEED, chunk, n, method)
        total.add(run_scene(sim, restitution, push, method in BUDGETED, (SEED, chunk, n)))
    print(f"{method}, seed {SEED}, chunk {chunk}: {json.dumps(vars(total))}")
    assert total.overflowed == 0 and total.diverged <= 0.01 * total.scenes
    chosen = resolve(method)
    if chosen.module.GUARANTEES.get("carries_any_mass", lambda options: True)(chosen.options):
        assert total.through_floor <= 0.05 * total.bodies + 1
