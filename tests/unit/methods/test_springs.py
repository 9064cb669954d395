"""`springs` beside the engine: joints of every kind, states that users set, loops, mimics, refusals, options."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import four_bar
from sesshoku.methods.registry import make
from support import SEED

KEYWORDS = ("springs", "springs:recommended")
everyone = pytest.mark.parametrize("keyword", KEYWORDS)
KINDS = ("revolute", "prismatic", "spherical", "planar")


def one_joint(kind, **joint):
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("link", joint=ss.Joint(kind, axis=(0.6, 0.0, 0.8), **joint), position=(0.1, 0.2, 1.0),
                   inertial=ss.Inertial(1.5, (0.2, 0.1, -0.1), np.diag([0.05, 0.06, 0.07])))
    return scene


@everyone
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_of_springs_moves_as_the_joint_itself(keyword, kind):
    """Against reduced coordinates (`none`), over half a second: first order in the step, and the joint's gap."""
    rng = np.random.default_rng(SEED)
    sims = [ss.Simulation(one_joint(kind), method, 5e-4) for method in (keyword, "none")]
    v = rng.normal(size=sims[0].model.dof_count)
    for sim in sims:
        sim.set_state(v=v)
        sim.step(1000)
    q, wanted = sims[0].q, sims[1].q
    if kind == "spherical" and q @ wanted < 0:
        q = -q
    assert q == pytest.approx(wanted, abs=0.02)
    assert sims[0].v == pytest.approx(sims[1].v, abs=0.1)
    assert 0.0 < sims[0].report.loop_error < 0.01


@everyone
def test_joint_springs_dampers_and_servos_act(keyword):
    """A sprung, damped joint and a servo against reduced coordinates."""
    for extra in ({"stiffness": 8.0, "viscous": 0.4, "rest": 0.3}, {}):
        sims = []
        for method in (keyword, "none"):
            scene = one_joint("revolute", **extra)
            if not extra:
                scene.add_actuator("link", "position", kp=60.0, kd=4.0, target=0.7)
            sims.append(ss.Simulation(scene, method, 1e-3))
            sims[-1].step(1500)
        assert sims[0].joints["link"].position == pytest.approx(sims[1].joints["link"].position, abs=5e-3)


@everyone
def test_external_forces_act(keyword):
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("box", size=(1, 1, 1), mass=2.0)
    sim = ss.Simulation(scene, keyword, 1e-3)
    for _ in range(100):
        sim.apply_force("box", (4.0, 0, 0), torque=(0, 0, 1.0))
        sim.step()
    assert sim.bodies["box"].velocity == pytest.approx([0.2, 0, 0], abs=1e-12)
    assert sim.bodies["box"].angular_velocity == pytest.approx([0, 0, 0.1 * 3.0], abs=1e-9)


@pytest.mark.boundscheck
@everyone
def test_mimics_and_loops_hold(keyword):
    """A gripper's mimic follows; a loop of each kind keeps its gap within the limit."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    for n in range(2):
        scene.add_body(f"finger{n}", position=(0.1 * n, 0, 1), joint=ss.Joint("prismatic", axis=(1, 0, 0)),
                       inertial=ss.Inertial(0.2, (0, 0, 0), 1e-4 * np.eye(3)))
    scene.add_mimic("finger1", "finger0", ratio=-1.0)
    scene.add_actuator("finger0", "position", kp=50.0, kd=5.0, target=0.03)
    for n, kind in enumerate(("ball", "hinge", "weld")):
        scene.add_box(f"bar{n}", size=(0.05, 0.05, 0.3), mass=0.3, position=(1 + n, 0, 1))
        scene.add_loop(kind, f"bar{n}", None, position=(0, 0, 0.15), axis=(0, 1, 0))
    sim = ss.Simulation(scene, keyword, 1e-3)
    sim.step(1000)
    assert sim.joints["finger0"].position == pytest.approx(0.03, abs=1e-3)
    assert sim.joints["finger1"].position == pytest.approx(-0.03, abs=1e-3)
    assert sim.report.loop_error < 0.01
    assert sim.bodies["bar2"].rotation == pytest.approx([1, 0, 0, 0], abs=0.02)


@everyone
def test_states_the_user_sets_are_taken_and_kept(keyword):
    sim = ss.Simulation(one_joint("revolute"), keyword, 1e-3)
    sim.step(10)
    sim.joints["link"].position = 1.2
    sim.joints["link"].velocity = -0.5
    sim.step()
    assert sim.joints["link"].position == pytest.approx(1.2, abs=0.02)
    saved = sim.save()
    sim.step(50)
    ends = sim.q.copy(), sim.work.bodies.position.copy()
    sim.restore(saved)
    sim.step(50)
    assert np.array_equal(sim.q, ends[0]) and np.array_equal(sim.work.bodies.position, ends[1])


def test_scripted_bodies_carry_what_stands_on_them():
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("belt", size=(4, 2, 0.2), position=(0, 0, -0.1), kinematic=True, velocity=(0.5, 0, 0),
                  material=ss.Material(0.8))
    scene.add_box("crate", size=(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.15), material=ss.Material(0.8))
    sim = ss.Simulation(scene, "springs:recommended", 2e-3)
    sim.step(600)
    assert sim.bodies["crate"].velocity == pytest.approx([0.5, 0, 0], abs=1e-3)


def test_a_link_without_inertia_is_lent_some_and_that_is_said():
    scene = ss.Scene()
    scene.add_body("base", joint=ss.Joint("revolute"), inertial=ss.Inertial(1.0, (0, 0, 0), 0.1 * np.eye(3)))
    scene.add_body("hollow", parent="base", joint=ss.Joint("revolute", axis=(1, 0, 0)))
    scene.add_body("tip", parent="hollow", joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.0, (0, 0, 0.2), 0.1 * np.eye(3)))
    with pytest.warns(UserWarning, match="hollow"):
        sim = ss.Simulation(scene, "springs")
    sim.step(100)
    assert np.isfinite(sim.q).all()


@pytest.mark.parametrize("options", [
    {"limit": 0.0}, {"limit": -1.0}, {"rate": 3.0}, {"friction_anchor": "glued"}, {"max_iterations": 0},
    {"joint_stiffness": float("nan")}, {"merge_coplanar": 1}, {"constraint_tol": 0.0}, {"joint_damping": -1.0},
    {"substep_angle": 0.0}, {"max_rounds": 1.5}, {"side_face": "left"}, {"limit": float("inf")}, {"limit": "wide"},
    {"rate": 4.0, "damping_steps": 0.0}, {"rate": None}, {"joint_springs": "stiff"}, {"rotation": 1},
    {"max_correction_speed": -1.0}, {"joint_width": 0.0}, {"stick_speed": float("nan")}, {"max_iterations": True},
])
def test_bad_options_are_refused_with_their_name(options):
    with pytest.raises(ss.MethodError, match=next(iter(options))):
        make("springs", options)


def test_fast_rotation_is_divided_into_parts():
    """A thin bar spinning at 60 rad/s beside a wall at dt 1/50 s is stopped by it."""
    def run(**options):
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_box("wall", size=(0.02, 1, 1), position=(0.3, 0, 0), fixed=True)
        scene.add_box("bar", size=(0.9, 0.02, 0.02), mass=0.2, angular_velocity=(0, 0, 60.0),
                      rotation=(np.cos(np.pi / 4), 0, 0, np.sin(np.pi / 4)))
        sim = ss.Simulation(scene, make("springs", {"limit": 0.002} | options), 1 / 50)
        sim.step(5)
        return sim

    sim = run(substep_angle=0.3)  # thrown off in one of the parts of the first step
    assert abs(sim.bodies["bar"].angular_velocity[2]) < 60.0 and sim.bodies["bar"].position[0] < -0.1


def test_stiffness_per_area_does_not_depend_on_the_triangles():
    """A block of 2000 N/m per square metre sinks by its weight over its face, however many springs carry it."""
    for size in ((1.0, 1.0, 0.5), (2.0, 0.5, 0.5)):
        scene = ss.Scene(gravity=(0, 0, -9.8))
        scene.add_ground(material=ss.Material(0.5))
        material = ss.Material(0.5, stiffness=2000.0, damping=40.0)
        scene.add_box("block", size=size, mass=1.0, position=(0, 0, 0.25), material=material)
        sim = ss.Simulation(scene, make("springs", {"stiffness_per": "area", "limit": 0.05}), 2e-3)
        sim.step(2000)
        assert 0.25 - sim.bodies["block"].position[2] == pytest.approx(9.8 / (2000.0 * size[0] * size[1]), rel=0.02)


def test_correction_speed_is_capped():
    """A crate that begins 3 cm in the floor, beyond the limit of 1 cm: pulled out at once, or at the given speed."""
    def speed(**options):
        scene = ss.Scene(gravity=(0, 0, -9.8))
        scene.add_ground()
        scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.485))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sim = ss.Simulation(scene, make("springs", {"limit": 0.02, "rate": 1e-3} | options), 2e-3)
        sim.step()
        sim.bodies["crate"].set_pose((0, 0, 0.485 - 0.012), (1, 0, 0, 0))
        fastest = 0.0
        for _ in range(20):
            sim.step()
            fastest = max(fastest, sim.bodies["crate"].velocity[2])
        return fastest

    free, capped = speed(), speed(max_correction_speed=0.2)
    assert free > 1.0 and capped < 0.35


@everyone
@pytest.mark.parametrize("kind", ("revolute", "prismatic"))
@pytest.mark.parametrize("dt", (1e-3, 5e-3))
def test_a_limp_link_comes_to_rest_at_its_limit(keyword, kind, dt):
    """Fallen onto its limit, its centre of mass off the joint: never faster than the fall, and at rest in the end."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    axis, bounds = ((0, 1, 0), (-0.3, 0.3)) if kind == "revolute" else ((0, 0, 1), (-0.1, 0.2))
    scene.add_body("link", joint=ss.Joint(kind, axis=axis, lower=bounds[0], upper=bounds[1]), position=(0, 0, 1),
                   inertial=ss.Inertial(1.0, (0.3, 0, 0), 0.02 * np.eye(3)))
    fall = np.sqrt(2 * 9.8 * 0.3 * np.sin(0.3) / 0.11) if kind == "revolute" else np.sqrt(2 * 9.8 * 0.1)
    sim = ss.Simulation(scene, keyword, dt)
    fastest = 0.0
    for _ in range(round(4.0 / dt / 5)):
        sim.step(5)
        fastest = max(fastest, abs(sim.v[0]))
    assert fastest < 1.1 * fall and abs(sim.v[0]) < 0.1 * fall
    assert sim.q[0] == pytest.approx(0.3 if kind == "revolute" else -0.1, abs=0.06)


def finger(**servo):
    """A finger of 50 g and 6 cm on a servo."""
    scene = ss.Scene(gravity=(0, 0, 0))
    inertia = 0.05 / 12 * np.array([2 * 0.016**2, 0.06**2 + 0.016**2, 0.06**2 + 0.016**2])
    scene.add_body("finger", position=(0, 0, 0.03), joint=ss.Joint("revolute", axis=(0, 1, 0)),
                   inertial=ss.Inertial(0.05, (0.03, 0, 0), inertia),
                   geometries=[ss.Geometry(ss.Box((0.06, 0.016, 0.016)), position=(0.03, 0, 0))])
    scene.add_actuator("finger", "position", target=0.9, **servo)
    return scene


@everyone
def test_a_servo_at_its_effort_neither_overshoots_nor_exceeds_it(keyword):
    """From rest 0.9 rad away at 1/50 s: full effort on the way, none left at the target, whatever the gains."""
    for kp, kd in ((20.0, 0.5), (5.0, 0.2), (100.0, 3.0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ss.UnstableStep)
            sim = ss.Simulation(finger(kp=kp, kd=kd, effort=0.05), keyword, 1 / 50)
        most, used = 0.0, 0.0
        for _ in range(200):  # explicit joints ring for a while
            sim.step()
            most, used = max(most, sim.q[0]), max(used, abs(sim.actuator_force[0]))
        assert 0.045 < used <= 0.05 + 1e-12
        assert most < 0.95 and sim.q[0] == pytest.approx(0.9, abs=1e-3) and abs(sim.v[0]) < 0.01


@everyone
@pytest.mark.parametrize("effort", (0.3, 1.0))
def test_a_hand_at_its_effort_stays_finite(keyword, effort):
    """Three fingers of light links whose servos ask for far more than they may give, on a ring, at 1/50 s."""
    from benchmarks.springs import hand

    scene = hand()
    for actuator in scene.actuators.values():
        actuator.kp, actuator.kd, actuator.effort = 20.0, 0.5, effort
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnstableStep)
        sim = ss.Simulation(scene, keyword, 1 / 50)
    sim.step(100)
    assert np.abs(sim.actuator_force).max() <= effort
    assert sim.report.loop_error < 0.01 and abs(sim.bodies["ring"].position[2]) < 0.5


def test_servos_too_stiff_for_the_step_are_warned_of():
    def said(dt, **servo):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            ss.Simulation(finger(**servo), "springs", dt)
        return [str(w.message) for w in found if w.category is ss.UnstableStep]

    [text] = said(1 / 50, kp=5.0, kd=0.1)
    assert "'finger'" in text and "lower dt" in text
    # D = dt kd + dt^2 kp = 0.004 over m (l/2)^2 + I = 6.1e-5 kg m^2
    assert "over 66 steps" in text or "over 65 steps" in text
    # 0.3 N m on 6.1e-5 kg m^2 for 1/50 s
    assert any("at its effort" in text and "2 rad" in text for text in said(1 / 50, kp=5.0, kd=0.1, effort=0.3))
    assert not said(1e-3, kp=5.0, kd=0.1) and not said(1 / 50, kp=5.0, kd=0.1, effort=1e-3)


@pytest.mark.nojit
def test_a_crate_without_compiling():
    from sesshoku.experiments.scenes import crate_on_floor

    sim = ss.Simulation(crate_on_floor(1.0, tilt=0.1, height=0.001), "springs", 5e-3)
    sim.step(2)
    assert np.isfinite(sim.q).all()


def spinning(method, joint, seed, dt=1e-3):
    """One free body, or two with a joint, at 37 rad/s about a random axis, without gravity."""
    rng = np.random.default_rng(seed)
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("a", joint=ss.Joint("free"), inertial=ss.Inertial(1.0, (0, 0, 0), np.diag([0.02, 0.05, 0.06])))
    if joint is not None:
        scene.add_body("b", parent="a", position=(0.3, 0, 0), joint=ss.Joint(joint, axis=(0, 0, 1)),
                       inertial=ss.Inertial(0.7, (0.25, 0.05, 0), np.diag([0.01, 0.03, 0.035])))
    sim = ss.Simulation(scene, method, dt)
    axis = rng.normal(size=3)
    sim.set_state(v=np.concatenate([np.zeros(3), 37.0 * axis / np.linalg.norm(axis),
                                    np.zeros(sim.model.dof_count - 6)]))
    return sim


def energy_and_angular_momentum(sim):
    """Of the bodies as they are, gaps of the joints included."""
    bodies, energy, momentum = sim.work.bodies, 0.0, np.zeros(3)
    for b in range(sim.model.link_count):
        xx, yy, zz, xy, xz, yz = bodies.own_inertia[b]
        R, u, m = bodies.rotation[b], bodies.velocity[b], bodies.mass[b]
        spin = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T @ u[3:]
        energy += 0.5 * (m * u[:3] @ u[:3] + u[3:] @ spin)
        momentum += spin + m * np.cross(bodies.position[b], u[:3])
    return energy, momentum


@pytest.mark.parametrize("joint", [None, "revolute", "spherical", "prismatic"])
def test_a_fast_spin_gains_no_energy(joint):
    """A lone body keeps energy and angular momentum to rounding; two with a joint keep the momentum and lose a little.

    Turned by the spin at the end of the step ("euler"), they gain some per cent in two seconds.
    """
    sim = spinning("springs:recommended", joint, SEED)
    sim.step()
    energy, momentum = energy_and_angular_momentum(sim)
    sim.step(2000)
    after, momentum_after = energy_and_angular_momentum(sim)
    assert momentum_after == pytest.approx(momentum, abs=1e-8 * np.linalg.norm(momentum))
    assert after / energy == pytest.approx(1.0, abs=1e-10) if joint is None else 0.95 < after / energy < 1.001


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("dt", [1e-3, 0.02])
@pytest.mark.parametrize("share", [0.98, 1.03])
def test_static_friction_of_a_joint_bears_sudden_loads_up_to_its_bound(kind, dt, share):
    scene = ss.Scene(gravity=(0, 0, 0))
    axis = (0, 0, 1) if kind == "revolute" else (1, 0, 0)
    scene.add_body("link", joint=ss.Joint(kind, axis=axis, static_friction=2.0, kinetic_friction=1.0),
                   inertial=ss.Inertial(1.0, (0.2, 0, 0), np.diag([0.01, 0.02, 0.02])))
    sim = ss.Simulation(scene, "springs:recommended", dt)
    sim.step(10)
    for _ in range(round(1.0 / dt)):
        if kind == "revolute":
            sim.apply_force("link", (0, 0, 0), torque=(0, 0, 2.0 * share))
        else:
            sim.apply_force("link", (2.0 * share, 0, 0))
        sim.step()
    joint = sim.joints["link"]
    if share < 1.0:
        assert abs(joint.velocity) < 1e-3
        assert joint.position < (0.02 if dt > 0.01 else 1e-4)
    else:
        assert joint.velocity > 0.1


def test_a_chain_is_held_by_the_static_friction_of_its_joints():
    """Let go under gravity that asks every joint for 97 % of its static friction, all at once."""
    scene, g = ss.Scene(gravity=(0, 0, -9.8)), 9.8
    masses, parent = (2.0, 0.6, 0.2), None
    for n, m in enumerate(masses):
        asked = g * sum(later * (0.15 + 0.3 * k) for k, later in enumerate(masses[n:]))
        scene.add_body(f"link{n}", parent=parent, position=(0.3, 0, 0) if n else (0, 0, 1),
                       joint=ss.Joint("revolute", axis=(0, 1, 0), static_friction=asked / 0.97,
                                      kinetic_friction=0.5 * asked),
                       inertial=ss.Inertial(m, (0.15, 0, 0), m * np.diag([0.001, 0.008, 0.008])))
        parent = f"link{n}"
    sim = ss.Simulation(scene, "springs:recommended", 1e-3)
    sim.step(1000)
    assert np.abs(sim.v).max() < 1e-3 and np.abs(sim.q).max() < 1e-3


@pytest.mark.parametrize("dt", [1e-3, 0.01])
def test_a_blow_on_a_joint_at_rest_is_not_borne_by_its_friction(dt):
    """A box that hits a link whose joint rests by a slight friction drives it as it would without."""
    speeds = []
    for friction in (0.0, 0.01):
        scene = ss.Scene(gravity=(0, 0, 0))
        scene.add_body("link", joint=ss.Joint("revolute", axis=(0, 0, 1), static_friction=friction),
                       inertial=ss.Inertial(1.0, (0.2, 0, 0), np.diag([0.01, 0.02, 0.02])))
        scene.bodies["link"].geometries.append(ss.Geometry(ss.Box((0.4, 0.05, 0.05)), position=(0.2, 0, 0)))
        scene.add_box("box", size=(0.06, 0.06, 0.06), mass=0.5, position=(0.35, -0.08, 0))
        sim = ss.Simulation(scene, "springs:recommended", dt)
        sim.step(10)
        sim.set_state(v=np.array([0, 0, 2.0, 0, 0, 0, 0]))
        sim.step(round(0.08 / dt))
        speeds.append(sim.joints["link"].velocity)
    assert speeds[0] > 2.0
    assert speeds[1] == pytest.approx(speeds[0], rel=0.02)


@pytest.mark.parametrize("joint", ["revolute", "spherical", "prismatic"])
def test_a_spin_of_many_turns_a_second_survives_long_steps(joint):
    """0.74 rad per step of 1/50 s. A slider may fly out so fast that its limit acts, which takes energy."""
    for n in range(4):
        sim = spinning("springs:recommended", joint, [SEED, n], 1 / 50)
        sim.step()
        energy, _ = energy_and_angular_momentum(sim)
        sim.step(100)
        after, _ = energy_and_angular_momentum(sim)
        assert (0.9 if joint == "spherical" else 0.1) < after / energy < 1.05


@pytest.mark.parametrize("loop", ["ball", "hinge"])
@pytest.mark.parametrize("dt, off, gap", [(1e-3, 1e-4, 1e-5), (1 / 50, 0.01, 3e-3)])
def test_a_four_bar_linkage_moves_as_it_should(loop, dt, off, gap):
    """Against the joint-space equations with the loop as a constraint; the cranks swing through 1.3 rad."""
    sims = [ss.Simulation(four_bar(loop, speed=3.0), keyword, dt) for keyword in ("none", "springs:recommended")]
    most = 0.0
    for _ in range(round(2.0 / dt)):
        for sim in sims:
            sim.step()
        assert sims[1].q == pytest.approx(sims[0].q, abs=off)
        assert sims[1].report.loop_error < gap
        most = max(most, abs(sims[0].q[0]))
    assert most > 0.7


def test_a_loop_between_two_trees_and_to_the_world_is_hard():
    """A beam of 10 kg hangs by loops from the world and from a 50 g rod; with the rod's joint it is a pendulum."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("beam", size=(1.0, 0.1, 0.1), mass=10.0, position=(0, 0, 1))
    scene.add_box("rod", size=(0.02, 0.02, 0.4), mass=0.05, position=(0.5, 0, 1.2),
                  joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(0, 0, 0.2)))
    scene.add_loop("ball", "beam", "rod", position=(0.5, 0, 0))
    scene.add_loop("hinge", "beam", None, position=(-0.5, 0, 0), axis=(0, 1, 0))
    sim = ss.Simulation(scene, "springs:recommended", 1e-3)
    for _ in range(500):
        sim.step()
        assert sim.report.loop_error < 1e-5
        assert sim.report.momentum_residual < 1e-9
    assert sim.bodies["beam"].position == pytest.approx([0, 0, 1], abs=1e-4)
    assert np.abs(sim.v).max() < 1e-3


@pytest.mark.parametrize("method", ["springs", "springs:recommended"])
def test_armature_is_no_gyroscope(method: str) -> None:
    """A rotor behind a gear, on an arm that tumbles about a ball joint: its inertia acts along its joint alone."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    scene.add_body("arm", parent="wall", joint=ss.Joint("spherical", velocity=(0, 0, 2.0)),
                   inertial=ss.Inertial(1.0, (0, 0, 0), 0.01 * np.eye(3)))
    scene.add_body("rotor", parent="arm", joint=ss.Joint("continuous", axis=(1, 0, 0), armature=0.01, velocity=20.0),
                   inertial=ss.Inertial(0.1, (0, 0, 0), 1e-4 * np.eye(3)))
    turned = []
    for each in ("none", method):
        sim = ss.Simulation(scene, each, dt=1e-3)
        sim.step(300)
        turned.append(sim.bodies["arm"].rotation_matrix)
    np.testing.assert_allclose(turned[1], turned[0], atol=0.03)
    assert turned[0][0, 0] == pytest.approx(np.cos(0.6), abs=0.03)  # it just goes on about z


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_armature_turns_against_the_parent(kind: str) -> None:
    """Two links of which the second has far more armature than inertia fall as the equations of motion say."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    arm = ss.Inertial(0.5, (0.15, 0, 0), np.diag([1e-4, 4e-3, 4e-3]))
    scene.add_body("upper", parent="wall", joint=ss.Joint("revolute", axis=(0, 1, 0)), inertial=arm)
    scene.add_body("lower", parent="upper", position=(0.3, 0, 0), inertial=arm, joint=ss.Joint(
        kind, axis=(0, 1, 0) if kind == "revolute" else (1, 0, 0), armature=0.1 if kind == "revolute" else 2.0))
    true = ss.Simulation(scene, ss.methods.none(integrator="rk4"), dt=1e-4)
    true.step(3000)
    errors = []
    for dt in (1e-3, 2.5e-4):
        sim = ss.Simulation(scene, "springs:recommended", dt=dt)
        sim.step(round(0.3 / dt))
        errors.append(float(np.abs(sim.q - true.q).max()))
    assert errors[0] < 5e-3 and errors[1] < 0.35 * errors[0]
