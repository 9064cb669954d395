"""What every step of `volume` must keep, over random scenes of boxes and hulls: the law's own invariants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import sesshoku as ss
from sesshoku.methods.volume.view import overlaps
from support import SEED, sample_count
from volume_scenes import G, inside, polygon, wrench

KEYWORDS = ("volume", "volume:recommended")


def scene_of(rng):
    """Boxes and hulls thrown on the ground and on each other, masses a hundred to one."""
    material = ss.Material(float(rng.uniform(0.2, 1.0)), float(rng.uniform(0.05, 0.2)))
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=material)
    for n in range(int(rng.integers(1, 5))):
        q = rng.normal(size=4)
        common = {"mass": float(10 ** rng.uniform(-1, 1)), "material": material, "velocity": 0.5 * rng.normal(size=3),
                  "angular_velocity": rng.normal(size=3), "rotation": q / np.linalg.norm(q),
                  "position": (*rng.uniform(-0.1, 0.1, 2), 0.2 + 0.35 * n)}
        if rng.random() < 0.6:
            scene.add_box(f"b{n}", size=rng.uniform(0.15, 0.4, 3), **common)
        else:
            scene.add_convex(f"b{n}", rng.uniform(-0.2, 0.2, (12, 3)), **common)
    return scene


def carried(corners, mu, w, slack):
    """Whether forces in a pyramid of 8 sides, widened by `slack`, at the corners add up to the wrench: HiGHS."""
    l = np.hypot(*corners.T).max()
    angle = np.arange(8) * np.pi / 4
    columns = np.array([[1, y / l, -x / l, mu * np.cos(p), mu * np.sin(p), mu * (x * np.sin(p) - y * np.cos(p)) / l]
                        for x, y in (1 + slack) * corners for p in angle])
    columns[:, 3:] *= 1 + slack
    return linprog(np.zeros(len(columns)), A_eq=columns.T,
                   b_eq=np.array([w[2], w[3] / l, w[4] / l, w[0], w[1], w[5] / l]) / w[2], method="highs").status == 0


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_every_step_keeps_the_law(keyword):
    rng, judged = np.random.default_rng([SEED, len(keyword)]), {"stick": 0, "slip": 0, "released": 0}
    for n in range(sample_count(4, 150)):
        sim = ss.Simulation(scene_of(rng), keyword, 1e-3)
        for step in range(900):
            label = (SEED, keyword, n, step)
            sim.step()
            assert sim.report.converged and sim.report.momentum_residual < 1e-9 * (1 + np.abs(sim.v).max()), label
            for c, view in enumerate(overlaps(sim)):
                judged[view.state] += 1
                w, corners = wrench(sim, c), polygon(sim, c)
                mu_s, mu_d, _ = sim.work.contacts.material[c]
                if view.state == "released":
                    assert not w.any(), label
                    continue
                l = np.hypot(*corners.T).max() if len(corners) else 1.0
                assert w[2] > 0, label
                if len(corners):
                    assert inside(corners, np.array([-w[4], w[3]]) / w[2], 1e-6 * l), label
                if view.state == "slip":
                    assert np.hypot(w[0], w[1]) <= mu_d * w[2] * (1 + 1e-6), label
                    problem, onset = sim.work.problem, sim.method.options.onset == "free"
                    v, spin = problem.velocity[2 * c], problem.velocity[2 * c + 1, 2]
                    if not onset or np.hypot(v[0], v[1]) > 0.05:  # at onset the direction is that of the free motion
                        assert w[0] * v[0] + w[1] * v[1] + w[5] * spin <= 1e-6 * w[2] * (1 + abs(spin)), label
                elif len(corners) and step % 20 == 0:
                    assert carried(corners, mu_s, w, 1e-5), label
    assert judged["stick"] > 0 and judged["slip"] > 0 and judged["stick"] + judged["slip"] > 200, judged


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_momentum_of_two_bodies_in_space(keyword):
    """Action is reaction: what one gets the other loses; turning too, but for explicit steps of fast spins."""
    rng, touched = np.random.default_rng(SEED), 0
    for _ in range(sample_count(8, 100)):
        scene = ss.Scene(gravity=(0, 0, 0))
        for n, side in enumerate((-1, 1)):
            q = rng.normal(size=4)
            scene.add_box(f"b{n}", size=rng.uniform(0.2, 0.4, 3), mass=float(10 ** rng.uniform(-1, 1)),
                          position=(0.36 * side, *rng.uniform(-0.05, 0.05, 2)), rotation=q / np.linalg.norm(q),
                          velocity=-side * np.array([10.0, 0, 0]), angular_velocity=rng.normal(size=3))
        sim = ss.Simulation(scene, keyword, 1e-4)
        before = sim.momentum(about=(0, 0, 0))
        for _ in range(300):
            sim.step()
            touched += any(contact.normal_force > 0 for contact in sim.contacts)
        after = sim.momentum(about=(0, 0, 0))
        assert after[:3] == pytest.approx(before[:3], abs=1e-11 * (1 + np.abs(before).max()))
        assert after[3:] == pytest.approx(before[3:], abs=5e-3 * (1 + np.abs(before[3:]).max()))
    assert touched > 0


def test_the_motion_does_not_depend_on_the_axes_of_the_plane():
    """Turned about the vertical, everything turns with it; sliding and sticking alike (P = 360: a round cone)."""
    ends = []
    for angle in (0.0, 0.7):
        c, s = np.cos(angle), np.sin(angle)
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(0.5, 0.3))
        scene.add_box("box", size=(0.3, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05),
                      rotation=(np.cos(angle / 2), 0, 0, np.sin(angle / 2)), velocity=(0.8 * c, 0.8 * s, 0),
                      angular_velocity=(0, 0, 4.0), material=ss.Material(0.5, 0.3))
        options = vars(ss.methods.resolve("volume:recommended").options) | {"pyramid_sides": 360}
        sim = ss.Simulation(scene, ss.methods.volume(**options), 1e-3)
        sim.step(150)
        x, y, z = sim.bodies["box"].position
        ends.append((c * x + s * y, c * y - s * x, z, *sim.bodies["box"].angular_velocity[2:]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)
