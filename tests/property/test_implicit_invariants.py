"""What `implicit` must keep on random scenes: momentum, no adhesion, friction's bound and power, energy, invariance."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import make
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from support import SEED, sample_count
from trees import unit

G = 9.8


def implicit(**options):
    return make("implicit", options)


def boxes(rng, gravity=(0, 0, -G), floor=True, count=3, spread=0.35, **material):
    """Boxes of different sizes and masses that tumble into each other."""
    scene = ss.Scene(gravity=gravity)
    given = ss.Material(float(rng.uniform(0.2, 0.8)), **material)
    if floor:
        scene.add_ground(material=given)
    for n in range(count):
        scene.add_box(f"b{n}", size=rng.uniform(0.2, 0.5, size=3), mass=float(rng.uniform(0.5, 3)),
                      rotation=unit(rng, 4), position=(*rng.uniform(-0.1, 0.1, 2), 0.35 + spread * n),
                      velocity=rng.normal(size=3),
                      angular_velocity=rng.normal(size=3), material=given)
    return scene


@pytest.mark.parametrize("method", ["implicit", "implicit:recommended"])
def test_momentum_of_a_free_system(method):
    """Linear momentum stays; the angular one is off by the pose update alone, little at small steps."""
    for n in range(sample_count(2, 30)):
        rng, offs = np.random.default_rng([SEED, n]), []
        scene = boxes(rng, gravity=(0, 0, 0), floor=False, spread=0.25)
        for dt in (2e-3, 2.5e-4):
            sim = ss.Simulation(scene, method, dt)
            before, touched = sim.momentum(about=(0, 0, 0)), 0
            for _ in range(round(0.1 / dt)):
                sim.step()
                touched += len(sim.contacts)
                stiffest = sim.work.elastic[:, 0].max()  # boxes may start deep in each other
                scale = dt * stiffest * sim.report.penetration  # springs and dampers of this size cancel
                if sim.report.converged:
                    assert sim.report.momentum_residual < 1e-9 * max(1.0, scale)
            after = sim.momentum(about=(0, 0, 0))
            assert after[:3] == pytest.approx(before[:3], abs=1e-10 * max(1.0, np.abs(before).max()))
            offs.append(np.abs(after[3:] - before[3:]).max())
        assert touched > 0
        assert offs[1] < 5e-3 * max(1.0, np.abs(before).max())  # the runs part ways: no order can be read off two


@pytest.mark.parametrize("method", ["implicit", "implicit:recommended"])
def test_contacts_push_and_rub_within_their_law(method):
    """Settled steps: nothing pulls, friction stays in its cone and never drives sliding; equal and opposite always."""
    checked = 0
    for n in range(sample_count(3, 60)):
        rng = np.random.default_rng([SEED, 1, n])
        sim = ss.Simulation(boxes(rng), method, float(10 ** rng.uniform(-3.3, -2)))
        bound = 1.0 + 2.0 * sim.method.options.friction_tolerance
        contacts, memory = sim.work.contacts, sim.work
        for _ in range(120):
            sim.step()
            for c, contact in enumerate(sim.contacts):
                assert contact.normal_force >= 0.0
                if not sim.report.converged or contact.normal_force == 0.0:
                    continue
                friction = np.linalg.norm(contact.friction_force)
                assert friction <= bound * contacts.material[c, 0] * contact.normal_force + 1e-9
                if memory.slides[c]:
                    assert contact.friction_force @ memory.after[c] <= 1e-12
                checked += 1
    assert checked > 0


def test_energy_does_not_grow_on_a_fixed_set_of_points():
    """A body on springs and dampers, sticking: kinetic, gravity and spring energy together never rise."""
    for n in range(sample_count(2, 20)):
        rng = np.random.default_rng([SEED, 2, n])
        k, d, mass = 10 ** rng.uniform(3.5, 5.5), 10 ** rng.uniform(0, 2), rng.uniform(0.5, 3)
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(5.0, stiffness=k, damping=d))
        scene.add_box("box", size=(0.4, 0.5, 0.2), mass=mass, position=(0, 0, 0.1 - 1.5 * mass * G / (4 * k)),
                      velocity=(0.01, 0, 0), material=ss.Material(5.0))
        sim = ss.Simulation(scene, implicit(), float(10 ** rng.uniform(-4, -2)))
        last = None
        for _ in range(100):
            sim.step()
            memory, contacts = sim.work, sim.work.contacts
            on = [c for c in range(contacts.counts[0]) if memory.on[c]]
            if len(on) < 4 or any(memory.slides[c] for c in on):
                break
            body = sim.bodies["box"]
            corners = np.array([(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.25, 0.25)])
            depths = -(body.position + corners @ body.rotation_matrix.T)[:, 2]
            along = sum(float(memory.stretch[c] @ memory.stretch[c]) for c in on)
            energy = sum(sim.energy) + 0.5 * k * (float(depths @ depths) + along)
            assert last is None or energy <= last + 1e-6 * abs(last)
            last = energy


def test_kinetic_and_gravity_energy_of_drops_stays_near_the_start():
    """Entering by v dt stores spring energy the flight did not have; motion must not gain from it."""
    for n in range(sample_count(4, 100)):
        rng = np.random.default_rng([SEED, 3, n])
        scene = boxes(rng, count=1)
        scene.bodies["b0"].position = np.array([0, 0, 0.5])  # clear of the floor however it is turned
        sim = ss.Simulation(scene, "implicit:recommended", float(10 ** rng.uniform(-3.5, np.log10(0.02))))
        start = sum(sim.energy)
        for _ in range(min(400, round(1.0 / sim.dt))):
            sim.step()
            assert sum(sim.energy) <= 1.05 * start + 1e-9


def test_rest_does_not_depend_on_the_step():
    rng = np.random.default_rng([SEED, 4])
    ends = []
    size, mass = rng.uniform(0.2, 0.5, size=3), float(rng.uniform(0.5, 5))
    for dt in (1e-3, 3e-3, 1e-2):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_ground(material=ss.Material(0.5, stiffness=3e4, damping=200.0))
        scene.add_box("box", size=size, mass=mass, position=(0, 0, 0.5 * size[2]), material=ss.Material(0.5))
        sim = ss.Simulation(scene, implicit(), dt)
        sim.step(round(3.0 / dt))
        ends.append(sim.bodies["box"].position[2])
    assert ends == pytest.approx([0.5 * size[2] - mass * G / (4 * 3e4)] * 3, abs=1e-9)


def test_a_scene_turned_and_moved_as_a_whole_moves_alike():
    """Without gravity: the same collision elsewhere and otherwise turned; bodies named in another order."""
    rng = np.random.default_rng([SEED, 5])
    R_quaternion, shift = axis_angle(unit(rng, 3), 1.3), 3.0 * rng.normal(size=3)
    R = quaternion_to_matrix(R_quaternion)
    parts = [{"size": (0.3, 0.25, 0.4), "mass": 1.0, "position": np.array([-0.3, 0.02, 0.0]),
              "velocity": np.array([1.5, 0, 0]), "angular_velocity": rng.normal(size=3)},
             {"size": (0.3, 0.35, 0.2), "mass": 2.0, "position": np.array([0.3, 0.0, 0.05]),
              "velocity": np.array([-1.0, 0.2, 0]), "angular_velocity": rng.normal(size=3)}]

    def ends(turned, order):
        scene = ss.Scene(gravity=(0, 0, 0))
        for n in order:
            part = dict(parts[n])
            if turned:
                part = part | {key: R @ part[key] for key in ("position", "velocity", "angular_velocity")}
                part |= {"position": part["position"] + shift, "rotation": R_quaternion}
            scene.add_box(f"b{n}", material=ss.Material(0.0), **part)
        sim = ss.Simulation(scene, implicit(), 1e-3)
        sim.step(150)
        assert sim.work.contacts.counts[4] > 0
        return np.array([[sim.bodies[f"b{n}"].position, sim.bodies[f"b{n}"].velocity] for n in range(2)])

    plain = ends(False, (0, 1))
    turned = ends(True, (0, 1))
    turned[:, 0] -= shift
    assert turned @ R == pytest.approx(plain, abs=1e-9)
    assert ends(False, (1, 0)) == pytest.approx(plain, abs=1e-9)


def test_loops_stay_closed():
    """A four-bar linkage of loops: the gap stays where Baumgarte's correction keeps it."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("frame", fixed=True)
    for n, (parent, x) in enumerate((("frame", 0.0), ("rod0", 0.0), ("rod1", 0.0))):
        scene.add_box(f"rod{n}", size=(0.05, 0.05, 1.0), mass=1.0, parent=parent, position=(x, 0, -1.0 if n else -0.5),
                      joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(0, 0, 0.5), position=0.5 if n else 0.4),
                      )
    scene.add_loop("ball", "rod2", None, position=(0, 0, -0.5))
    sim = ss.Simulation(scene, "implicit", 1e-3)
    worst = 0.0
    for _ in range(500):
        sim.step()
        worst = max(worst, sim.report.loop_error)
    assert worst < 1e-4 and np.abs(sim.v).max() > 1e-3


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
def test_stiff_servos_stay_calm_at_large_steps_only_if_implicit(dt):
    """An arm of 0.02 kg m^2 held by 2,000 N m/rad: explicit at 5 ms it diverges, implicit it stays."""
    def arm(implicit_drive):
        scene = ss.Scene(gravity=(0, 0, -G))
        scene.add_body("wall", fixed=True)
        scene.add_body("arm", parent="wall", joint=ss.Joint("revolute", axis=(0, 1, 0)),
                       inertial=ss.Inertial(0.5, (0.1, 0, 0), np.diag([0.01, 0.015, 0.01])))
        scene.add_actuator("arm", "position", kp=2000.0, kd=20.0, target=0.3)
        sim = ss.Simulation(scene, implicit(implicit_drive=implicit_drive), dt)
        fastest = 0.0
        for _ in range(round(0.5 / dt)):
            try:
                sim.step()
            except ss.SesshokuError:
                return np.inf, np.inf
            fastest = max(fastest, abs(sim.v[0]))
        return float(sim.q[0]), fastest

    end, fastest = arm(True)
    assert end == pytest.approx(0.3, abs=1e-3) and fastest < 100.0
    if dt > 2e-3:
        assert not arm(False)[1] < 100.0
