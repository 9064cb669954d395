"""Force sensors and IMUs against closed forms, without contact."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.spatial.rotation import axis_angle, quaternion_to_matrix
from support import SEED

G = 9.8
TURNED = axis_angle(np.array([0.0, 0.6, 0.8]), 0.9)


def pendulum(angle: float = 0.7, speed: float = 2.0, **sensor: object) -> ss.Scene:
    """A rod of 2 kg about the y axis, its centre 0.5 m below the pin, with a sensor at the pin."""
    scene = ss.Scene()
    scene.add_body("rod", joint=ss.Joint("revolute", "pin", axis=(0, 1, 0), position=angle, velocity=speed),
                   inertial=ss.Inertial(2.0, (0, 0, -0.5), np.diag([0.05, 0.05, 0.001])))
    scene.add_force_sensor("pin", "rod", **sensor)
    return scene


@pytest.mark.nojit
@pytest.mark.parametrize("method", ["none", ss.methods.none(integrator="rk4"), "exact"])
def test_pin_force_of_a_pendulum(method: object) -> None:
    sim = ss.Simulation(pendulum(), method, dt=1e-4)
    before = sim.q[0], sim.v[0]
    sim.step()
    angle, speed = 0.5 * (before[0] + sim.q[0]), 0.5 * (before[1] + sim.v[0])
    rate = -2.0 * G * 0.5 * np.sin(angle) / (0.05 + 2.0 * 0.25)
    # along the rod (its +z): centripetal and weight; across it (its +x): the rod swings back with angle
    along = 2.0 * (speed**2 * 0.5 + G * np.cos(angle))
    across = 2.0 * (-0.5 * rate - G * np.sin(angle))
    force = sim.sensors["pin"].force
    # `none` writes its equation at the start of the step: off by half a step
    near = 1e-6 if method != "none" else 5e-3
    assert force == pytest.approx([across, 0.0, along], abs=near)
    # a free pin; Runge-Kutta schemes are read at the middle of the step, to second order
    assert sim.sensors["pin"].torque == pytest.approx([0, 0, 0], abs=1e-10 if isinstance(method, str) else 1e-6)


@pytest.mark.boundscheck
def test_a_fixed_base_carries_the_weight_of_all_that_hangs_on_it() -> None:
    scene = ss.Scene()
    scene.add_body("base", fixed=True, inertial=ss.Inertial(3.0, (0, 0, 0), np.eye(3)), position=(1, 2, 3))
    scene.add_body("arm", parent="base", joint=ss.Joint("revolute", "elbow", axis=(0, 1, 0)),
                   inertial=ss.Inertial(1.5, (0.4, 0, 0), 0.01 * np.eye(3)))
    scene.add_body("tool", parent="arm", position=(0.8, 0.1, 0), inertial=ss.Inertial(0.5, (0, 0, 0), np.eye(3)))
    scene.add_actuator("elbow", "position", kp=1e5, kd=1e4)
    scene.add_force_sensor("floor", "base", rotation=TURNED)
    scene.add_force_sensor("wrist", "tool", position=(0.2, 0, 0))  # a part of a link
    sim = ss.Simulation(scene, "none")
    sim.step(2000)
    R = quaternion_to_matrix(TURNED)
    sag = sim.q[0]  # of the servo: the arm points down by it
    assert abs(sag) < 1e-3 and np.abs(sim.v).max() < 1e-9
    assert R @ sim.sensors["floor"].force == pytest.approx([0, 0, 5.0 * G], abs=1e-9)
    arm = np.cos(sag)
    assert R @ sim.sensors["floor"].torque == pytest.approx(
        [0.5 * 0.1 * G, -(1.5 * 0.4 + 0.5 * 0.8) * arm * G, 0], abs=1e-9)
    to_tool = np.array([np.cos(sag), 0, np.sin(sag)])  # world z along the tool's axes
    assert sim.sensors["wrist"].force == pytest.approx(0.5 * G * np.array([-np.sin(sag), 0, np.cos(sag)]), abs=1e-9)
    assert sim.sensors["wrist"].torque == pytest.approx([0, 0.2 * 0.5 * G * to_tool[0], 0], abs=1e-9)


def test_pushes_are_taken_off_where_they_act() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_body("base", fixed=True)
    scene.add_body("arm", parent="base", inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3)),
                   joint=ss.Joint("revolute", "hinge", axis=(0, 0, 1), armature=1e12))
    scene.add_body("hand", parent="arm", position=(1, 0, 0), inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3)))
    scene.add_force_sensor("shoulder", "arm")
    scene.add_force_sensor("wrist", "hand")
    sim = ss.Simulation(scene, "none")
    sim.apply_force("hand", (0, 0, 5), point=(1, 0, 0))
    sim.step()
    assert sim.sensors["wrist"].force == pytest.approx([0, 0, -5], abs=1e-9)
    assert sim.sensors["shoulder"].torque == pytest.approx([0, 5, 0], abs=1e-9)
    sim.apply_force("arm", (0, 0, 5))  # the same link, but not the hand
    sim.step()
    assert sim.sensors["wrist"].force == pytest.approx([0, 0, 0], abs=1e-9)
    assert sim.sensors["shoulder"].force == pytest.approx([0, 0, -5], abs=1e-9)
    sim.step()
    assert sim.sensors["shoulder"].force == pytest.approx([0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("method", ["none", "exact"])
def test_a_falling_imu_reads_nothing(method: str) -> None:
    scene = ss.Scene()
    scene.add_box("box", size=(0.3, 0.2, 0.1), mass=2.0, position=(0, 0, 9), angular_velocity=(1, 2, 3))
    scene.add_imu("imu", "box", rotation=TURNED)
    sim = ss.Simulation(scene, method)
    sim.step(50)
    assert sim.sensors["imu"].acceleration == pytest.approx([0, 0, 0], abs=1e-9)
    expected = sim.sensors["imu"].rotation_matrix.T @ sim.bodies["box"].angular_velocity
    assert sim.sensors["imu"].angular_velocity == pytest.approx(expected, abs=1e-12)


def test_a_turning_imu_reads_the_centripetal_acceleration() -> None:
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_body("table", joint=ss.Joint("continuous", "axle", axis=(0, 0, 1), velocity=7.0),
                   inertial=ss.Inertial(1.0, (0, 0, 0), np.eye(3)))
    scene.add_imu("rim", "table", position=(0.3, 0.4, 0), rotation=TURNED)
    sim = ss.Simulation(scene, "none")
    sim.step(37)
    R = quaternion_to_matrix(TURNED)
    assert R @ sim.sensors["rim"].acceleration == pytest.approx([-49 * 0.3, -49 * 0.4, G], abs=1e-9)
    assert R @ sim.sensors["rim"].angular_velocity == pytest.approx([0, 0, 7.0], abs=1e-12)


def random_arm(rng: np.random.Generator) -> ss.Scene:
    """A chain of six hinges and slides with servos, springs and dampers, and a sensor at every joint."""
    scene = ss.Scene()
    scene.add_body("stand", fixed=True)
    parent = "stand"
    for i in range(6):
        kind = "prismatic" if rng.random() < 0.3 else "revolute"
        axis = rng.normal(size=3)
        own = ss.Inertial(rng.uniform(0.5, 2), rng.normal(size=3) * 0.1, np.diag(rng.uniform(0.02, 0.03, 3)))
        scene.add_body(
            f"l{i}", parent=parent, position=rng.normal(size=3) * 0.2, rotation=_turn(rng), inertial=own,
            joint=ss.Joint(kind, f"j{i}", axis=axis / np.linalg.norm(axis), anchor=rng.normal(size=3) * 0.1,
                           velocity=rng.normal(), viscous=rng.uniform(0, 0.2), armature=rng.uniform(0, 0.1)))
        scene.add_actuator(f"j{i}", "position", kp=rng.uniform(1, 50), kd=rng.uniform(0, 2), target=rng.normal() * 0.2)
        scene.add_force_sensor(f"f{i}", joint=f"j{i}")
        parent = f"l{i}" if rng.random() < 0.7 else parent
    return scene


def _turn(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


@pytest.mark.parametrize("method", ["none", "exact"])
def test_along_its_axis_a_joint_passes_what_drives_it(method: str) -> None:
    """Force or torque along the axis = (change of what the joint's drive gives): zero for a limp joint."""
    rng = np.random.default_rng(SEED)
    scene = random_arm(rng)
    limp = "j3"
    del scene.actuators[limp]
    scene.joint(limp).viscous = scene.joint(limp).armature = 0.0
    sim = ss.Simulation(scene, method)
    for _ in range(20):
        sim.step()
        sensor = sim.sensors["f3"]
        reading = sensor.force if scene.joint(limp).kind == "prismatic" else sensor.torque
        assert reading @ scene.joint(limp).axis == pytest.approx(0.0, abs=1e-9 * (1 + np.abs(sensor.force).max()))


@pytest.mark.parametrize("method", ["none", "exact", "lcp:recommended", "implicit", "implicit:recommended"])
def test_forces_of_loops_count(method: str) -> None:
    """Two hanging rods joined at their ends by a bar on a loop: every pin is free, so no torque passes it."""
    scene = ss.Scene()
    for name, x in (("left", 0.0), ("right", 1.0)):
        scene.add_body(name, position=(x, 0, 0), joint=ss.Joint("revolute", f"{name}_pin", axis=(0, 1, 0)),
                       inertial=ss.Inertial(1.0 + x, (0, 0, -0.5), 0.05 * np.eye(3)))
        scene.add_force_sensor(name, name)
    scene.add_body("bar", parent="left", position=(0, 0, -1),
                   joint=ss.Joint("revolute", "bar_pin", axis=(0, 1, 0), velocity=1.0),
                   inertial=ss.Inertial(2.0, (0.5, 0, 0), 0.1 * np.eye(3)))
    scene.add_loop("ball", "bar", "right", position=(1, 0, 0))
    sim = ss.Simulation(scene, method)
    sim.step(50)
    for name in ("left", "right"):
        assert sim.sensors[name].torque[1] == pytest.approx(0.0, abs=1e-6)
        assert np.abs(sim.sensors[name].force).max() > 5.0
    sim.v[:] = 0.0
    for _ in range(4):
        sim.v[:] = 0.0
        sim.step()
    up = sum((sim.sensors[name].rotation_matrix @ sim.sensors[name].force)[2] for name in ("left", "right"))
    assert up == pytest.approx(5.0 * G, rel=0.2)  # they begin to move


def test_a_method_that_cannot_tell_loops_apart_says_so() -> None:
    scene = ss.Scene()
    for name, x in (("a", 0.0), ("b", 1.0)):
        scene.add_body(name, position=(x, 0, 0), joint=ss.Joint("revolute", f"{name}_pin", axis=(0, 1, 0)),
                       inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.05 * np.eye(3)))
    scene.add_loop("ball", "a", "b", position=(1, 0, 0))
    scene.add_force_sensor("left", "a")
    with pytest.raises(ss.SceneError, match="left.*loop|loop.*left"):
        ss.Simulation(scene, "springs")
    scene.sensors.clear()
    scene.add_imu("imu", "a")
    ss.Simulation(scene, "springs")


def test_bias_and_noise_are_those_of_the_seed() -> None:
    def run(steps: list[int], **options: object) -> np.ndarray:
        scene = pendulum(**options)  # type: ignore[arg-type]
        sim = ss.Simulation(scene, "none")
        for count in steps:
            sim.step(count)
        return np.concatenate([sim.sensors["pin"].force, sim.sensors["pin"].torque])

    exact = run([5])
    noisy = {"force_noise": 0.5, "torque_noise": 0.1, "force_bias": (1, 2, 3)}
    first = run([5], **noisy)
    assert not np.array_equal(first, exact + [1, 2, 3, 0, 0, 0])
    np.testing.assert_array_equal(run([1] * 5, **noisy), first)  # however the steps are called
    assert not np.array_equal(run([5], **noisy, seed=1), first)
    np.testing.assert_allclose(run([5], force_bias=(1, 2, 3)), exact + [1, 2, 3, 0, 0, 0], rtol=0, atol=1e-12)


def test_noise_is_white() -> None:
    sim = ss.Simulation(pendulum(force_noise=0.5, torque_noise=0.1), "none")
    still = ss.Simulation(pendulum(), "none")
    errors = []
    for _ in range(3000):
        sim.step()
        still.step()
        errors.append(sim.sensor_readings[0] - still.sensor_readings[0])
    errors = np.array(errors)
    assert errors.std(axis=0) == pytest.approx([0.5] * 3 + [0.1] * 3, rel=0.08)
    assert np.abs(errors.mean(axis=0)).max() < 4 * 0.5 / np.sqrt(3000)
    follow = (errors[1:] * errors[:-1]).mean(axis=0) / errors.var(axis=0)
    assert np.abs(follow).max() < 5 / np.sqrt(3000)
    assert np.abs(np.corrcoef(errors.T) - np.eye(6)).max() < 5 / np.sqrt(3000)


def test_readings_are_saved_and_copied() -> None:
    import pickle

    sim = ss.Simulation(pendulum(force_noise=0.5), "none")
    sim.step(10)
    kept, state = sim.sensors["pin"].force, sim.save()
    sim.step(7)
    later = sim.sensors["pin"].force
    sim.restore(state)
    np.testing.assert_array_equal(sim.sensors["pin"].force, kept)
    copy = pickle.loads(pickle.dumps(sim))
    np.testing.assert_array_equal(copy.sensors["pin"].force, kept)
    for simulation in (sim, copy):
        simulation.step(7)
        np.testing.assert_array_equal(simulation.sensors["pin"].force, later)


def test_where_a_sensor_is() -> None:
    scene = pendulum(angle=np.pi / 2, speed=0.0, position=(0, 0, -1), rotation=TURNED)
    sim = ss.Simulation(scene, "none")
    sensor = sim.sensors["pin"]
    assert sensor.position == pytest.approx([-1, 0, 0], abs=1e-12)
    assert sensor.rotation_matrix == pytest.approx(
        sim.bodies["rod"].rotation_matrix @ quaternion_to_matrix(TURNED), abs=1e-12)
    assert sensor.force == pytest.approx([0, 0, 0])  # nothing read yet
    with pytest.raises(ss.SceneError, match="did you mean 'pin'"):
        sim.sensors["pinn"]
    with pytest.raises(AttributeError):
        sensor.force = np.zeros(3)  # type: ignore[misc]


@pytest.mark.parametrize(("call", "words"), [
    (lambda scene: scene.add_force_sensor("pin", "rod"), "taken already"),
    (lambda scene: scene.add_force_sensor("f"), "needs a body or a joint"),
    (lambda scene: scene.add_force_sensor("f", "rod", joint="pin"), "needs a body or a joint"),
    (lambda scene: scene.add_force_sensor("f", "rot"), "no such body"),
    (lambda scene: scene.add_force_sensor("f", joint="pim"), "no such joint"),
    (lambda scene: scene.add_imu("i", "rod", gyro_noise=-1), "gyro_noise"),
    (lambda scene: scene.add_imu("i", "rod", gyro_noisy=1), "unknown keyword 'gyro_noisy'"),
    (lambda scene: scene.add_imu("i", "rod", seed=-1), "seed"),
    (lambda scene: scene.add_imu("i", "rod", seed=0.5), "seed"),
    (lambda scene: scene.add_imu("", "rod"), "name"),
    (lambda scene: scene.add_imu("i", "rod", rotation=(0, 0, 0, 0)), "rotation"),
])
def test_bad_sensors_are_refused(call: object, words: str) -> None:
    with pytest.raises(ss.SceneError, match=words):
        call(pendulum())  # type: ignore[operator]


def test_compiling_before_the_first_step_reads_nothing() -> None:
    """`step(0)` compiles what reads the sensors too, so that no clock of a run measures it; readings stay zero."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("box", size=(1, 1, 1), mass=1.0, position=(0, 0, 0.5))
    scene.add_imu("imu", "box")
    sim = ss.Simulation(scene)
    state = sim.q.copy(), sim.v.copy()
    sim.step(0)
    assert not sim.sensor_readings.any()
    assert np.array_equal(sim.q, state[0]) and np.array_equal(sim.v, state[1])
    sim.step()
    assert sim.sensors["imu"].acceleration == pytest.approx([0, 0, 9.8])
