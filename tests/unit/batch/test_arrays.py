"""What is read of a batch and written to it: arrays, names, forces, sensors, states."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from batch_scenes import humanoid, mixed, stirred

pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep")
W = 5


def made(method: str = "lcp:recommended", scene: ss.Scene | None = None, **given) -> ss.Batch:
    batch = ss.Batch(mixed(True) if scene is None else scene, W, method, 1e-3, **given)
    stirred(batch)
    batch.step(30)
    return batch


def test_views_show_what_simulations_show():
    batch = made()
    for w in range(W):
        sim = batch[w]
        assert np.array_equal(batch.body_poses()[w], sim.body_poses())
        assert np.array_equal(batch.body_velocities()[w], sim.body_velocities())
        for name, body in sim.bodies.items():
            ours = batch.bodies[name]
            for what in ("position", "rotation", "velocity", "angular_velocity", "center_of_mass"):
                assert np.array_equal(getattr(ours, what)[w], getattr(body, what)), (name, what)
        for name in ("shoulder", "elbow"):
            assert batch.joints[name].position[w] == sim.joints[name].position
            assert batch.joints[name].velocity[w] == sim.joints[name].velocity
        for name, actuator in sim.actuators.items():
            for what in ("target", "target_velocity", "feed_forward", "force", "activation"):
                assert getattr(batch.actuators[name], what)[w] == getattr(actuator, what)
        assert batch.contact_count[w] == len(sim.contacts)
        assert batch.converged[w] == sim.report.converged and batch.overflow[w] == sim.report.overflow


def test_contact_forces_are_the_sums_of_contacts():
    batch = made()
    seen = 0.0
    for w in range(W):
        sim = batch[w]
        for name in sim.bodies:
            total = np.zeros(3)
            for contact in sim.contacts:
                total += contact.force * ((contact.bodies[1] == name) - float(contact.bodies[0] == name))
            np.testing.assert_allclose(batch.contact_force(name)[w], total, atol=1e-9)
            np.testing.assert_allclose(batch.bodies[name].contact_force[w], total, atol=1e-9)
            seen += np.abs(total).sum()
    assert seen > 1.0
    assert not made("none").contact_force("crate").any()


def test_q_v_and_commands_are_live():
    batch = made()
    batch.q[:, 2] += np.arange(W)
    np.testing.assert_allclose(np.diff(batch.bodies["crate"].position[:, 2] - batch.q[:, 2]), 0.0, atol=1e-2)
    batch.actuators["servo"].command[:] = np.linspace(-0.5, 0.5, W)
    assert np.array_equal(batch.command[:, 0], np.linspace(-0.5, 0.5, W))
    assert np.array_equal(batch.actuator_command[:, 0, 0], batch.command[:, 0])
    batch.command[:, 1] = 3.0
    batch.step(1)
    np.testing.assert_allclose(batch.actuators["motor"].force, 3.0)
    batch.joints["elbow"].position[:] = 0.25
    assert (batch.q[:, batch.model.link_coordinate[batch.compiled.joint_link["elbow"]]] == 0.25).all()


def test_arrays_are_handed_on_without_a_copy():
    batch = made()
    for name in ("q", "v", "command", "actuator_command", "time"):
        array = getattr(batch, name)
        other = np.from_dlpack(array)
        assert np.shares_memory(array, other) and other.shape == array.shape, name


def test_tensors_share_the_memory_of_a_batch():
    torch, batch = pytest.importorskip("torch"), made()
    for name in ("q", "v", "command"):
        array = getattr(batch, name)
        tensor = torch.from_dlpack(array)
        tensor += 1.0
        assert np.array_equal(tensor.numpy(), array) and tensor.data_ptr() == array.ctypes.data, name


def test_forces_act_through_one_call_as_in_a_simulation():
    batch = made()
    sims = [batch[w] for w in range(W)]
    force = np.arange(3.0 * W).reshape(W, 3)
    for count, point in ((1, None), (10, (0.3, 0.1, 0.2))):
        batch.apply_force("crate", force, torque=(0, 0, 1.0), point=point)
        batch.apply_force("fore", (0, 1.0, 0))
        batch.step(count)
        batch.step(2)
        for w, sim in enumerate(sims):
            sim.apply_force("crate", force[w], torque=(0, 0, 1.0), point=point)
            sim.apply_force("fore", (0, 1.0, 0))
            sim.step(count)
            sim.step(2)
            np.testing.assert_allclose(batch.q[w], sim.q, atol=1e-13)
            np.testing.assert_allclose(batch.v[w], sim.v, atol=1e-11)
    assert not batch._memory.arrays["data.external_force"].any()


@pytest.mark.parametrize("method", ["lcp:recommended", "lcp", "none", "springs"])
def test_sensors_read_what_those_of_simulations_read(method):
    batch = ss.Batch(mixed(True), W, method, 1e-3)
    stirred(batch)
    sims = [batch[w] for w in range(W)]
    for count in (1, 20):
        batch.apply_force("fore", (0, 0, 2.0))
        batch.step(count)
        for w, sim in enumerate(sims):
            sim.apply_force("fore", (0, 0, 2.0))
            sim.step(count)
            assert np.array_equal(batch.sensors["wrist"].force[w], sim.sensors["wrist"].force)
            assert np.array_equal(batch.sensors["wrist"].torque[w], sim.sensors["wrist"].torque)
            assert np.array_equal(batch.sensors["top"].acceleration[w], sim.sensors["top"].acceleration)
            assert np.array_equal(batch.sensors["top"].angular_velocity[w], sim.sensors["top"].angular_velocity)
            assert np.array_equal(batch.sensors["top"].value[w], sim.sensors["top"].value)
    noise = batch.sensors["wrist"].force - batch.sensors["wrist"].force.mean(axis=0)
    assert len(np.unique(noise[:, 0])) == W


def test_each_world_has_noise_of_its_own():
    batch = ss.Batch(mixed(True), W, "none", 1e-3)
    batch.step(1)
    assert len(np.unique(batch.sensors["wrist"].force[:, 0])) == W


@pytest.mark.parametrize("vary", [None, {"mass": 0.2}])
def test_state_sensors_read_what_those_of_simulations_read(vary):
    scene = mixed(True)
    at = {"body": "fore", "position": (0.1, 0.02, -0.1), "rotation": (0.8, 0.6, 0, 0)}
    for kind in ("framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel",
                 "framelinacc", "frameangacc", "velocimeter"):
        scene.add_sensor(kind, kind, **at)
        scene.add_sensor(f"{kind} of the world", kind)
    scene.add_sensor("relative", "framepos", relative=True, reference="crate", **at)
    for kind in ("jointpos", "jointvel", "jointactuatorfrc", "jointlimitpos", "jointlimitfrc"):
        scene.add_sensor(kind, kind, "elbow", cutoff=0.1)
    scene.add_sensor("actuatorfrc", "actuatorfrc", "servo")
    scene.add_sensor("force", "force", "wrist", cutoff=1.0)
    scene.add_sensor("gyro", "gyro", "top")
    scene.add_sensor("gyro of a place", "gyro", **at)
    for kind in ("subtreecom", "subtreelinvel"):
        scene.add_sensor(kind, kind, body="upper")
    scene.add_sensor("touch", "touch", body="crate", zone="sphere", zone_size=(1, 1, 1))
    for kind in ("clock", "e_kinetic", "e_potential"):
        scene.add_sensor(kind, kind)
    batch = ss.Batch(scene, 3, "lcp:recommended", 1e-3, vary=vary)
    stirred(batch)
    sims = [batch[w] for w in range(3)]
    batch.step(30)
    for sim in sims:
        sim.step(30)
    for name in scene.state_sensors:
        value = batch.sensors[name].value
        assert len(value) == 3
        for w, sim in enumerate(sims):
            np.testing.assert_allclose(value[w], sim.sensors[name].value, rtol=1e-12, atol=1e-13, err_msg=name)


def test_frames_are_where_those_of_simulations_are():
    scene = mixed()
    scene.add_frame("tip", "fore", position=(0, 0, -0.4), rotation=(0.8, 0, 0.6, 0))
    batch = made(scene=scene)
    for w in range(W):
        sim = batch[w]
        for what in ("position", "rotation", "rotation_matrix", "velocity", "angular_velocity"):
            np.testing.assert_allclose(getattr(batch.frames["tip"], what)[w], getattr(sim.frames["tip"], what),
                                       atol=1e-13)


def test_a_saved_batch_goes_on_bit_for_bit():
    batch = made()
    state = batch.save()
    batch.step(15)
    after = batch.q.copy(), batch.report_array.copy(), batch.sensor_readings.copy()
    batch.step(5)
    batch.restore(state)
    batch.step(15)
    assert all(map(np.array_equal, after, (batch.q, batch.report_array, batch.sensor_readings)))
    other = made()
    other.restore(state)
    other.step(15)
    assert np.array_equal(other.q, after[0])


def test_a_batch_with_diverged_worlds_can_be_saved_and_restored():
    batch = made()
    batch.v[1] = 1e200
    batch.step(2)
    state = batch.save()
    batch.reset()
    assert not batch.diverged.any()
    batch.restore(state)
    assert batch.diverged.tolist() == [w == 1 for w in range(W)]


@pytest.mark.parametrize(("change", "said"), [
    (lambda s: s.pop("q"), "q must have shape"),
    (lambda s: s.update(q=s["q"][:-1]), r"q must have shape \(5, 23\)"),
    (lambda s: s["q"].__setitem__((3, 0), np.nan), r"world 3: q \[0\] must be finite"),
    (lambda s: s["contacts.counts"].__setitem__((2, 0), 10**6), r"world 2: contacts.counts \[0\] must lie within"),
    (lambda s: s.update(fingerprint=None), "another scene or method"),
])
def test_a_bad_state_is_refused_and_nothing_changes(change, said):
    batch = made()
    state = batch.save()
    change(state)
    before = batch.q.copy()
    with pytest.raises(ss.SceneError, match=said):
        batch.restore(state)
    assert np.array_equal(batch.q, before)


def test_a_state_of_a_simulation_or_another_batch_is_refused():
    batch = made()
    with pytest.raises(ss.SceneError, match="belongs to another batch"):
        batch.restore(batch[0].save())
    with pytest.raises(ss.SceneError, match="another scene or method: method differ"):
        batch.restore(made("none").save())
    with pytest.raises(ss.SceneError, match="not a snapshot"):
        batch.restore(3)


def test_reset_brings_back_the_start_of_chosen_worlds():
    batch, fresh = made(), ss.Batch(mixed(True), W, "lcp:recommended", 1e-3)
    kept = batch.q[[0, 2, 4]].copy()
    batch.reset([1, 3])
    assert np.array_equal(batch.q[[1, 3]], fresh.q[[1, 3]]) and np.array_equal(batch.q[[0, 2, 4]], kept)
    assert batch.time.tolist() == [0.03, 0.0, 0.03, 0.0, 0.03] or np.allclose(batch.time, [0.03, 0, 0.03, 0, 0.03])
    batch.reset()
    batch.step(20)
    fresh.step(20)
    assert np.array_equal(batch.q, fresh.q) and np.array_equal(batch.sensor_readings, fresh.sensor_readings)
    q = fresh.q[:2] + 0.0
    q[:, 2] += 1.0
    batch.reset(np.array([False, True, False, True, False]), q=q, v=np.ones(fresh.v.shape[1]))
    assert np.array_equal(batch.q[[1, 3]], q) and (batch.v[[1, 3]] == 1.0).all() and (batch.time[[1, 3]] == 0).all()


@pytest.mark.parametrize(("given", "said"), [
    ({"mask": np.ones(3, bool)}, "a mask has True or False for each world"),
    ({"mask": [7]}, "numbers of worlds"), ({"mask": "all"}, "numbers of worlds"),
    ({"q": np.zeros(3)}, "q does not fit"), ({"v": np.full(20, np.nan)}, "v is not finite"),
    ({"q": np.zeros(23)}, "not a unit quaternion"), ({"qq": 1}, "unknown keyword 'qq'; did you mean 'q'"),
])
def test_a_bad_reset_changes_nothing(given, said):
    batch = made()
    before = batch.q.copy()
    with pytest.raises(ss.SceneError, match=said):
        batch.reset(**given)
    assert np.array_equal(batch.q, before)


@pytest.mark.parametrize(("given", "said"), [
    ({"worlds": 0}, r"worlds must be a whole number, 1 or more \(got 0\)"),
    ({"worlds": 2.5}, "worlds must be a whole number"), ({"worlds": True}, "worlds must be a whole number"),
    ({"threads": 0}, "threads must be a whole number, 1 or more"), ({"threads": -1}, "threads must be"),
    ({"seed": -1}, "seed must be a whole number, 0 or more"),
    ({"device": "tpu"}, 'no such device.*"cpu" or "cuda"'),
    ({"device": 3}, "no such device"),
    ({"method": "lpc"}, "no such method; did you mean 'lcp'"),
    ({"dt": 0.0}, "dt must be greater than 0"),
    ({"world": 3}, "unknown keyword 'world'; did you mean 'worlds'"),
    ({"worlds": 10**9}, r"not enough memory: \d+ KiB a world .* \d+ worlds fit"),
    ({"worlds": 10**9, "vary": {"mass": 0.1, "friction": (0.1, 0.9)}}, r"not enough memory: .* \d+ worlds fit"),
    ({"scene": "mixed"}, "a Batch needs a Scene"),
])
def test_bad_arguments_are_refused(given, said):
    with pytest.raises(ss.SceneError, match=said):
        ss.Batch(**({"scene": mixed(), "worlds": 2, "method": "lcp:recommended"} | given))


def test_a_method_that_cannot_carry_the_scene_refuses_it():
    scene = ss.Scene()
    scene.add_ground()
    scene.add_sphere("ball", radius=0.1, mass=0.5, material=ss.Material(0.5, rolling_friction=0.01))
    with pytest.raises(ss.MethodError, match="rolling friction"):
        ss.Batch(scene, 2, "lcp", strict=True)
    with pytest.warns(ss.UnsupportedFeature, match="rolling friction"):
        assert ss.Batch(scene, 2, "lcp").left_out


@pytest.mark.parametrize(("call", "said"), [
    (lambda b: b["x"], "no such world"), (lambda b: b[5], "no such world"), (lambda b: b.step(-1), "steps must be"),
    (lambda b: b.bodies["crat"], "did you mean 'crate'"), (lambda b: b.contact_force("nobody"), "no such body"),
    (lambda b: b.apply_force("ground", (0, 0, 1)), "fixed or scripted"),
    (lambda b: b.apply_force("crate", np.zeros((3, 3))), "force does not fit"),
    (lambda b: b.apply_force("crate", (0, np.inf, 0)), "force is not finite"),
    (lambda b: b.bodies["crate"].push((0, 0, 1), until=2.0), "a batch has no standing forces; call batch.apply_force"),
])
def test_bad_calls_are_refused(call, said):
    with pytest.raises(ss.SceneError, match=said):
        call(made())


def test_memory_of_a_world_is_what_it_keeps(monkeypatch):
    batch = made()
    arrays = batch._memory.arrays
    held = sum(values[0].nbytes for values in arrays.values())
    assert held <= batch.bytes_per_world <= held + 64
    from sesshoku.simulation.batch import memory

    monkeypatch.setattr(memory, "free_memory", lambda: 100 * batch.bytes_per_world)
    with pytest.raises(ss.SceneError, match="not enough memory"):
        ss.Batch(mixed(True), 200, "lcp:recommended")


@pytest.mark.parametrize(("method", "most"), [("lcp:recommended", 200), ("lcp", 600), ("exact", 600),
                                              ("multipoint", 600)])
def test_a_humanoid_takes_little_memory(method, most):
    scene = humanoid()
    scene.add_ground()
    assert ss.Batch(scene, 1, method).bytes_per_world <= 1024 * most


def test_a_batch_tells_what_it_is():
    batch = made()
    batch.v[1] = 1e200
    batch.step(1)
    assert len(batch) == W
    assert repr(batch) == (f"Batch of 5 worlds of 'mixed': lcp:recommended, steps of 0.001 s, {batch.threads} threads "
                           "on the cpu; 1 diverged")
    assert batch[-1].time == batch.time[4]
    with pytest.raises(AttributeError, match=r"a Batch has no 'contacts'; of one world: batch\[0\].contacts"):
        batch.contacts  # noqa: B018
    assert not hasattr(batch, "speed")


def test_robots_are_arrays_in_the_order_of_their_files():
    scene = ss.Scene()
    scene.add_ground()
    robot = scene.load(ss.robots.path("humanoid_large.xml"), pose="stand", position=(0, 0, 0.1))
    batch = ss.Batch(scene, 3, "none", 1e-3, vary={"rotation": 0.3})
    stirred(batch, speed=0.2)
    ours, sims = batch.robots[robot], [batch[w] for w in range(3)]
    batch.step(5)
    for sim in sims:
        sim.step(5)
    theirs = [sim.robots[robot] for sim in sims]
    for what in ("q", "v", "command"):
        np.testing.assert_allclose(getattr(ours, what), [getattr(one, what) for one in theirs], atol=1e-12)
    assert ours.joint_names == theirs[0].joint_names and ours.actuator_names == theirs[0].actuator_names
    assert ours.places == theirs[0].places and ours.dofs == theirs[0].dofs
    q, v = ours.q, ours.v
    q[:, 7:] += 0.1
    q[:, 2] += (0.1, 0.2, 0.3)
    v[:, :6] = np.arange(18.0).reshape(3, 6)
    ours.q, ours.v = q, v
    ours.command = np.arange(3.0)[:, None] * np.ones(len(ours.actuator_names))
    for w, one in enumerate(theirs):
        one.q, one.v = q[w], v[w]
        np.testing.assert_allclose(batch.q[w], sims[w].q, atol=1e-12)
        np.testing.assert_allclose(batch.v[w], sims[w].v, atol=1e-12)
    np.testing.assert_allclose(ours.q, q, atol=1e-12)
    np.testing.assert_allclose(ours.v, v, atol=1e-12)
    assert (ours.command == np.arange(3.0)[:, None]).all() and (batch.command[2] == 2.0).all()
    np.testing.assert_allclose(ours.base.position, q[:, :3], atol=1e-12)
    for bad, said in ((np.zeros(3), "command does not fit"), ("up", "command does not fit"),
                      (np.full(len(ours.actuator_names), np.nan), "command is not finite")):
        with pytest.raises(ss.SceneError, match=said):
            ours.command = bad
    assert list(batch.robots) == [robot.name] and robot in batch.robots and len(batch.robots) == 1


def test_a_command_is_what_the_kind_of_actuator_follows():
    scene = mixed()
    scene.add_actuator("elbow", "velocity", name="spinner", kd=2.0)
    batch = ss.Batch(scene, 2, "none", 1e-3)
    batch.command = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    assert batch.actuators["spinner"].target_velocity.tolist() == [0.3, 0.6]
    assert batch.actuators["spinner"].command.tolist() == [0.3, 0.6]
    assert batch.actuators["spinner"].target.tolist() == [0.0, 0.0]
    assert batch.command.tolist() == [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    with pytest.raises(ValueError, match="read-only"):
        batch.command[:] = 0.0
    with pytest.raises(ss.SceneError, match=r"command does not fit \(got \(2,\)\); give \(2, 3\) or \(3,\)"):
        batch.command = [1.0, 2.0]


def test_reset_takes_a_pose_of_the_robots_files():
    scene = humanoid()
    batch, sim = ss.Batch(scene, 3, "none", 1e-3), ss.Simulation(scene, "none", 1e-3)
    batch.step(5)
    before = batch.q[0].copy()
    batch.reset([1, 2], pose="stand")
    sim.reset("stand")
    for w in (1, 2):
        assert np.array_equal(batch.q[w], sim.q) and np.array_equal(batch.actuator_command[w], sim.actuator_command)
    assert np.array_equal(batch.q[0], before)
    batch.reset()
    assert np.array_equal(batch.q[2], ss.Simulation(scene, "none").q)
    with pytest.raises(ss.SceneError, match="no such pose"):
        batch.reset(pose="sand")
    with pytest.raises(ss.SceneError, match="either a pose or q and v"):
        batch.reset(q=before, pose="stand")


def test_copies_go_on_alike():
    import copy
    import pickle

    batch = made(vary={"mass": 0.2, "position": {"ball": 0.01}})
    batch.apply_force("crate", (0, 0, 5.0))
    others = [copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))]
    batch.step(3)
    batch.step(10)
    for other in others:
        other.step(3)
        other.step(10)
        assert np.array_equal(other.q, batch.q) and np.array_equal(other.sensor_readings, batch.sensor_readings)
        assert not np.shares_memory(other.q, batch.q)


def test_forces_that_wait_are_saved():
    batch = made()
    batch.apply_force("crate", (0, 0, 5.0))
    state = batch.save()
    batch.step(2)
    batch.step(2)
    after = batch.q.copy()
    batch.restore(state)
    batch.step(2)
    batch.step(2)
    assert np.array_equal(batch.q, after)


def test_assigning_writes_and_misspelling_is_refused():
    batch = made()
    q, held = batch.q.copy(), batch.q
    q[:, 2] += 1.0
    batch.q, batch.v = q, np.zeros(batch.v.shape[1])
    assert np.array_equal(held, q) and not batch.v.any()
    batch.actuators["servo"].target = 0.3
    batch.actuators["motor"].command = np.arange(W)
    batch.joints["elbow"].position = 0.2
    batch.joints["elbow"].velocity = np.arange(W)
    assert (batch.command[:, 0] == 0.3).all() and batch.command[:, 1].tolist() == [0, 1, 2, 3, 4]
    assert (batch.joints["elbow"].position == 0.2).all() and batch.joints["elbow"].velocity.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ss.SceneError, match="no 'comand' to assign to; did you mean 'command'"):
        batch.comand = 0.0
    with pytest.raises(ss.SceneError, match="no 'diverged' to assign to"):
        batch.diverged = None
    with pytest.raises(ss.SceneError, match="q does not fit"):
        batch.q = np.zeros(3)
    with pytest.raises(ss.SceneError, match="not a unit quaternion"):
        batch.q = np.zeros_like(q)
    with pytest.raises(ss.SceneError, match=r"actuator 'motor': command does not fit \(got \(2,\)\); give \(5,\)"):
        batch.actuators["motor"].command = [1.0, 2.0]
    with pytest.raises(ss.SceneError, match="target is not finite"):
        batch.actuators["servo"].target = np.nan
    assert np.array_equal(held, batch.q)
