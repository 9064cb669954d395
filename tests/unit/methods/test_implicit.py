"""Parts of `implicit`: couplings by two ways, elasticity of pairs, what options cannot carry."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import everything, four_bar, turntable, wheel
from sesshoku.methods.registry import make


def implicit(**options):
    return make("implicit", options)


def stack():
    scene = ss.Scene()
    scene.add_ground()
    for n in range(3):
        scene.add_box(f"b{n}", size=(0.5, 0.5, 0.5), mass=1.0 + n, position=(0.03 * n, 0, 0.25 + 0.5 * n))
    return scene


def folded_arm():
    """A free chain of four boxes whose last one is pressed against the first: contact within a tree."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("arm0", size=(0.5, 0.2, 0.1), mass=1.0)
    for n in range(1, 4):
        scene.add_box(f"arm{n}", size=(0.5, 0.2, 0.1), mass=1.0, parent=f"arm{n - 1}", position=(0.6, 0, 0),
                      joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(-0.3, 0, 0), position=2.0 if n > 1 else 1.9,
                                     velocity=1.0))
    scene.include_collision("arm0", "arm3")
    scene.include_collision("arm0", "arm2")
    return scene


def chained():
    """Two rods, one hung from the world by a ball, the other from the first by a hinge."""
    scene = ss.Scene()
    scene.add_box("a", size=(0.02, 0.02, 0.3), mass=0.2, position=(1, 0, 0.5))
    scene.add_box("b", size=(0.02, 0.02, 0.3), mass=0.4, position=(1, 0, 0.2), velocity=(0.5, 0, 0))
    scene.add_loop("ball", "a", None, position=(0, 0, 0.15))
    scene.add_loop("hinge", "b", "a", position=(0, 0, 0.15), axis=(0, 1, 0))
    return scene


@pytest.mark.parametrize("rate_terms", [True, False])
@pytest.mark.parametrize("scene, error", [(stack, 1e-11), (turntable, 1e-11), (folded_arm, 1e-9), (chained, 1e-7)])
def test_both_schedules_move_alike(scene, error, rate_terms):
    """Handles of trees from the leaves to the root, and the assembly in balanced order, which dense systems check."""
    ends = []
    for schedule in ("leaves", "balanced"):
        sim = ss.Simulation(scene(), implicit(schedule=schedule, rate_terms=rate_terms), 2e-3)
        touched = 0
        for _ in range(60):
            sim.step()
            touched += any(contact.normal_force > 0.0 for contact in sim.contacts)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert touched > 0 or scene is chained
    assert ends[1] == pytest.approx(ends[0], abs=error)


def rubbing_slide(gravity):
    """2 kg on a slide that holds 0.7 N and rubs with 0.5 N."""
    return wheel(gravity=(gravity, 0, 0), kind="prismatic", axis=(1, 0, 0), static_friction=0.7, kinetic_friction=0.5)


@pytest.mark.nojit
@pytest.mark.parametrize("scene, error", [
    (lambda: wheel(gravity=(9.8, 0, 0), kind="prismatic", axis=(1, 0, 0), upper=0.05), 1e-6),
    (lambda: wheel(velocity=3.0, static_friction=0.7, kinetic_friction=0.5), 1e-4),
    (lambda: rubbing_slide(0.3), 1e-6),
    (lambda: rubbing_slide(0.4), 1e-3),
    (lambda: four_bar("ball", 1.0), 1e-4),
    (everything, 1e-3),
], ids=["limit", "joint friction slips", "holds", "breaks away", "loop", "everything"])
def test_joints_obey_the_laws_that_none_solves_exactly(scene, error):
    ends = []
    for method in ("none", "implicit"):
        sim = ss.Simulation(scene(), method, 1e-3)
        sim.step(60)
        ends.append(np.concatenate([sim.q, sim.v]))
    assert ends[1] == pytest.approx(ends[0], abs=error)


def elastic_of(scene):
    sim = ss.Simulation(scene, "implicit", 1e-3)
    sim.step()
    assert len(sim.contacts) > 0
    return sim.work.elastic[0].copy()


def ball_on(floor, ball, **options):
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_ground(material=floor)
    scene.add_sphere("ball", radius=0.1, mass=2.0, position=(0, 0, 0.0999), material=ball)
    return scene


@pytest.mark.nojit
@pytest.mark.boundscheck
def test_elasticity_of_a_pair():
    """The pair's own, materials in series and by the mean, one given alone; else depth and restitution."""
    soft, hard = ss.Material(0.5, stiffness=1e4, damping=40), ss.Material(0.5, stiffness=3e4, damping=80)
    plain = ss.Material(0.5)
    assert elastic_of(ball_on(soft, hard)) == pytest.approx([7500.0, 60.0])
    assert elastic_of(ball_on(soft, plain)) == pytest.approx([1e4, 40.0])
    assert elastic_of(ball_on(plain, plain)) == pytest.approx([2 * 9.8 / 4e-3, 2 * np.sqrt(2 * 9.8 / 4e-3 * 2)])
    bouncing = ball_on(ss.Material(0.5, restitution=0.6), plain)
    k, d = elastic_of(bouncing)
    ratio = ss.methods.implicit.damping_ratio_of(0.6)
    assert d == pytest.approx(2 * ratio * np.sqrt(k * 2) - 1e-3 * k, rel=1e-3)  # on one point; less the step's own
    paired = ball_on(soft, hard)
    paired.friction("ball", "ground", static=0.7, stiffness=5e3)
    assert elastic_of(paired) == pytest.approx([5e3, 60.0])


def test_a_pair_in_a_scene_file_reaches_the_contact(tmp_path):
    scene = ball_on(ss.Material(0.5), ss.Material(0.5))
    scene.friction("ball", "ground", static=0.7, stiffness=5e3, damping=30.0)
    scene.save(tmp_path / "scene.toml")
    assert elastic_of(ss.Scene.read(tmp_path / "scene.toml")) == pytest.approx([5e3, 30.0])


def test_what_an_option_cannot_carry_is_refused():
    for options in ({"integrator": "rk4"}, {"coupling": "frozen"}):
        with pytest.raises(ss.SesshokuError, match="cannot carry"):
            ss.Simulation(everything(), implicit(**options))


def test_lookahead_softens_the_first_impact():
    """A fast ball at a large step: seen coming it does not enter by a whole step's way."""
    deepest = {}
    for speculative in (False, True):
        scene = ball_on(ss.Material(0.5, stiffness=1e6, damping=1e3), ss.Material(0.5))
        scene.bodies["ball"].position, scene.bodies["ball"].velocity = np.array([0, 0, 0.16]), np.array([0, 0, -8.0])
        sim = ss.Simulation(scene, implicit(speculative=speculative), 1e-2)
        deepest[speculative] = 0.0
        for _ in range(20):
            sim.step()
            deepest[speculative] = max(deepest[speculative], 0.1 - sim.bodies["ball"].position[2])
    assert deepest[True] < 0.6 * deepest[False]


@pytest.mark.nojit
@pytest.mark.parametrize("dt", [5e-3, 0.1])
@pytest.mark.parametrize("stiffness", [1e8, 1e10, 1e12])
def test_schedules_agree_however_stiff_the_contact(stiffness: float, dt: float) -> None:
    """Where inverses have no digits left for contacts so stiff, the balanced schedule goes from the leaves as well."""
    ends = []
    for schedule in ("leaves", "balanced"):
        scene = ss.Scene()
        scene.add_ground(material=ss.Material(0.5, stiffness=stiffness, damping=stiffness))
        scene.add_box("crate", size=(0.2, 0.2, 0.2), mass=1.0, position=(0, 0, 0.0999), velocity=(1, 0, 0))
        sim = ss.Simulation(scene, method=ss.methods.implicit(schedule=schedule), dt=dt)
        sim.step(20)
        ends.append(sim.v.copy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-3)


def servo_arm(kp: float, kd: float) -> ss.Scene:
    """Six light links, one under the other, each on a servo that wants it 0.2 rad off."""
    scene, parent = ss.Scene(gravity=(0, 0, -9.8)), None
    for n in range(6):
        scene.add_body(f"link{n}", parent=parent, position=(0, 0, -0.1 if n else 1.0),
                       joint=ss.Joint("revolute", f"joint{n}", axis=(n % 2, 1 - n % 2, 0)),
                       inertial=ss.Inertial(0.02, (0.01, 0, -0.05), 2e-5 * np.eye(3)))
        scene.add_actuator(f"joint{n}", "position", kp=kp, kd=kd, target=0.2)
        parent = f"link{n}"
    return scene


@pytest.mark.parametrize("kp", [1e2, 1e4, 1e8])
def test_stiff_servos_stay_stable_at_five_milliseconds(kp: float) -> None:
    """They come to their targets and sag by load over gain; explicit, the same gains throw the arm away."""
    for options in ({}, {"schedule": "balanced"}, {"rate_terms": False, "speculative": True}):
        sim = ss.Simulation(servo_arm(kp, 0.02 * kp), method=ss.methods.implicit(**options), dt=5e-3)
        sim.step(160)  # forty times kd / kp
        assert np.abs(sim.v).max() < 1e-3
        force = np.array([sim.actuators[f"joint{n}"].force for n in range(6)])
        np.testing.assert_allclose(sim.q - 0.2, -force / kp, rtol=0, atol=1e-4)
        np.testing.assert_allclose(force, sim.bias_force(), rtol=0, atol=1e-3)
    explicit = ss.Simulation(servo_arm(kp, 0.02 * kp), method=ss.methods.implicit(implicit_drive=False), dt=5e-3)
    with pytest.raises(ss.SimulationDiverged):
        explicit.step(400)
