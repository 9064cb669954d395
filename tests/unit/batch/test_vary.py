"""How worlds differ: what is drawn, what follows from it, and that a world is the simulation of its own scene."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import sesshoku as ss
from batch_scenes import humanoid, mixed
from sesshoku.methods.registry import keywords, resolve
from sesshoku.model.arrays import FREE, REVOLUTE, SPHERICAL
from sesshoku.scene.compiler import compile_scene
from sesshoku.simulation.batch.memory import places_of
from sesshoku.simulation.batch.varied import model_arrays, varied_scene
from sesshoku.simulation.batch.vary import draw_all

pytestmark = pytest.mark.filterwarnings("ignore::sesshoku.UnsupportedFeature", "ignore::sesshoku.UnstableStep")
ALL = {"mass": 0.3, "inertia": 0.2, "friction": (0.2, 0.9), "gain": 0.3, "armature": 0.4, "gravity": 0.2}


def composite() -> ss.Scene:
    """A free body with another one fixed to it, a tendon, a general actuator, a pair with friction of its own, and a
    lifted link."""
    scene = mixed()
    turned = (0.5**0.5, 0.5**0.5, 0, 0)
    scene.add_body("lid", parent="crate", position=(0.1, 0.05, 0.12), rotation=turned,
                   inertial=ss.Inertial(0.7, (0.01, 0, 0.02), np.diag([0.02, 0.03, 0.04])))
    scene.add_tendon("string", {"shoulder": 0.1, "elbow": -0.2}, stiffness=5.0)
    scene.add_actuator(tendon="string", kind="general", name="winch", gain=(3.0, 0.0, 0.0), bias=(0.1, -2.0, -0.5))
    scene.friction("crate", "ground", static=0.8, kinetic=0.4)
    scene.bodies["fore"].gravity_compensation = 0.5
    return scene


def in_water() -> ss.Scene:
    """The same under water, which flows."""
    scene = composite()
    scene.fluid(density=1000.0, viscosity=1e-3, wind=(0.3, 0, 0))
    return scene


@pytest.mark.parametrize("make", [mixed, composite, in_water, humanoid])
def test_arrays_of_a_world_are_those_of_its_own_scene(make):
    compiled = compile_scene(make())
    said = draw_all(compiled, ALL, 3, 5)
    varied = model_arrays(compiled, said, 3)
    for w in range(3):
        ours = compiled.with_arrays({name: values[w] for name, values in varied.items()}).model
        wanted = compile_scene(varied_scene(compiled, said, w)).model
        for name in wanted.fields:
            one, other = np.asarray(getattr(ours, name)), np.asarray(getattr(wanted, name))
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14, err_msg=f"world {w}: {name}")
    differ = [name for name in compiled.model.fields
              if not np.array_equal(getattr(compiled.model, name), getattr(wanted, name))]
    rounding = [name for name in differ if name not in varied]
    for name in rounding:
        np.testing.assert_allclose(getattr(compiled.model, name), getattr(wanted, name), rtol=1e-12, atol=1e-14)
    assert {"link_mass", "link_inertia", "shape_material", "gravity", "dof_inertia"} <= set(differ)


@pytest.mark.parametrize("keyword", keywords())
def test_methods_declare_what_of_their_work_follows_the_model(keyword):
    method, compiled = resolve(keyword), compile_scene(composite())
    said = draw_all(compiled, ALL, 1, 5)
    arrays = {name: values[0] for name, values in model_arrays(compiled, said, 1).items()}
    other = replace(compiled, scene=varied_scene(compiled, said, 0)).with_arrays(arrays)
    one, two = ({"work": method.definition.make_work(c, method.options)} for c in (compiled, other))
    differ = {place.key.removeprefix("work.") for place, saved in places_of("work", one["work"])
              if not saved and not np.array_equal(place.array(one), place.array(two),
                                                  equal_nan=place.array(one).dtype.kind == "f")}
    assert differ <= set(method.definition.follows_model)
    known = {place.key.removeprefix("work.") for place, _ in places_of("work", one["work"])}
    assert set(method.definition.follows_model) <= known


@pytest.mark.parametrize("sensors", [False, True])
@pytest.mark.parametrize("method", keywords())
def test_varied_worlds_do_what_their_simulations_do(method, sensors):
    batch = ss.Batch(mixed(sensors), 4, method, 1e-3, vary=ALL | {"joint_velocity": 0.5, "velocity": 0.3}, seed=2,
                     threads=2)
    sims = [batch[w] for w in range(4)]
    batch.step(40)
    for w, sim in enumerate(sims):
        sim.step(40)
        assert np.array_equal(batch.q[w], sim.q) and np.array_equal(batch.v[w], sim.v)
        if sensors:
            assert np.array_equal(batch.sensor_readings[w], sim.sensor_readings)
    # and what a simulation of the scene itself does, but for rounding that contact may magnify
    fresh = ss.Simulation(sims[1].scene, method, 1e-3)
    fresh.set_state(batch._start["data.q"][1], batch._start["data.v"][1])
    fresh.step(3)
    batch.reset()
    batch.step(3)
    np.testing.assert_allclose(batch.v[1], fresh.v, atol=1e-6)


def test_copies_of_a_varied_world_go_on_alike():
    import copy

    batch = ss.Batch(mixed(), 2, "lcp:recommended", 1e-3, vary={"mass": 0.2, "friction": (0.2, 0.8)})
    batch.step(20)
    sim = batch[1]
    twin = copy.deepcopy(sim)
    sim.step(20)
    twin.step(20)
    batch.step(20)
    assert np.array_equal(sim.q, twin.q) and np.array_equal(sim.q, batch.q[1])


def test_heavier_worlds_press_harder():
    """A closed form: a resting crate presses with its weight, in each world its own."""
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(0.3, 0.3, 0.2), mass=2.0, position=(0, 0, 0.1))
    batch = ss.Batch(scene, 5, "exact", 1e-3, vary={"mass": np.linspace(0.5, 2.0, 5), "gravity": (3.0, 12.0)})
    batch.step(50)
    weight = 2.0 * np.linspace(0.5, 2.0, 5) * np.linalg.norm(batch._memory.arrays["model.gravity"], axis=1)
    np.testing.assert_allclose(batch.contact_force("crate")[:, 2], weight, rtol=1e-6)
    np.testing.assert_allclose(batch.contact_force("ground")[:, 2], -weight, rtol=1e-6)


def test_friction_decides_who_slides():
    """On a slope a crate stays where friction exceeds the slope, and slides with g (sin - mu cos) where not."""
    slope, g = 0.3, 9.8
    scene = ss.Scene(gravity=(g * np.sin(slope), 0, -g * np.cos(slope)))
    scene.add_ground()
    scene.add_box("crate", size=(0.3, 0.3, 0.1), mass=2.0, position=(0, 0, 0.05))
    mu = np.array([0.1, 0.2, 0.4, 0.8])
    batch = ss.Batch(scene, 4, "exact", 1e-3, vary={"friction": mu})
    batch.step(200)
    wanted = np.where(mu < np.tan(slope), g * (np.sin(slope) - mu * np.cos(slope)) * 0.2, 0.0)
    np.testing.assert_allclose(batch.v[:, 0], wanted, atol=1e-6)


def test_draws_depend_on_seed_quantity_and_world_alone():
    compiled = compile_scene(mixed())
    many, few = draw_all(compiled, ALL, 50, 7), draw_all(compiled, {"mass": 0.3, "gain": 0.3}, 3, 7)
    for name in few:
        assert np.array_equal(many[name][0].numbers[:3], few[name][0].numbers)
    other = draw_all(compiled, ALL, 50, 8)
    assert not np.array_equal(many["mass"][0].numbers, other["mass"][0].numbers)
    mass, friction = many["mass"][0].numbers, many["friction"][0].numbers
    assert mass.min() >= 0.7 and mass.max() <= 1.3 and mass.std() > 0.1
    assert friction.min() >= 0.2 and friction.max() <= 0.9
    assert len(np.unique(mass)) == mass.size


def test_a_quantity_may_be_said_of_some_by_name():
    batch = ss.Batch(mixed(), 6, "none", vary={"mass": {"crate": (2.0, 3.0)}, "armature": {"shoulder": 0.5},
                                               "friction": {"ball": np.linspace(0.1, 0.6, 6)}})
    masses = batch._memory.arrays["model.link_mass"]
    crate = batch.compiled.link_names.index("crate")
    assert ((masses[:, crate] >= 4.0) & (masses[:, crate] <= 6.0)).all()
    others = [n for n in range(len(batch.compiled.link_names)) if n != crate]
    assert np.array_equal(masses[:, others], np.tile(batch.model.link_mass[others], (6, 1)))
    ball = batch.model.shape_frame == batch.compiled.frame_index["ball"]
    material = batch._memory.arrays["model.shape_material"]
    np.testing.assert_allclose(material[:, ball, 0].T, [np.linspace(0.1, 0.6, 6)])
    assert np.array_equal(material[:, ~ball], np.tile(batch.model.shape_material[~ball], (6, 1, 1)))


def test_what_was_drawn_can_be_read():
    batch = ss.Batch(mixed(), 3, "none", vary={"friction": (0.1, 0.9), "mass": {"crate": 0.2, "ball": (1.0, 2.0)},
                                               "gain": {}})
    assert {name: values.shape for name, values in batch.varied.items()} == {"friction": (3, 1, 1), "mass": (3, 2, 1)}
    shapes = batch._memory.arrays["model.shape_material"]
    assert np.array_equal(shapes[:, 0, 0], batch.varied["friction"][:, 0, 0])
    crate, ball = (batch.compiled.link_names.index(name) for name in ("crate", "ball"))
    masses = batch._memory.arrays["model.link_mass"][:, [crate, ball]]
    np.testing.assert_allclose(masses, batch.varied["mass"][:, :, 0] * (2.0, 0.5))


def test_starts_vary_within_what_is_said_and_limits():
    batch = ss.Batch(mixed(), 40, "none", vary={
        "joint_position": 0.5, "joint_velocity": (1.0, 2.0), "position": {"crate": (0.1, 0.2, 0.0)}, "rotation": 0.3,
        "velocity": {"ball": 1.0}})
    shoulder = batch.joints["shoulder"].position
    assert shoulder.min() >= 0.4 and shoulder.max() <= 1.2  # 0.9 +- 0.5, upper limit 1.2
    assert (shoulder == 1.2).any()
    assert ((batch.joints["elbow"].velocity >= 1.0) & (batch.joints["elbow"].velocity <= 2.0)).all()
    moved = batch.bodies["crate"].center_of_mass - batch._first.bodies["crate"].center_of_mass
    assert (np.abs(moved) <= (0.1, 0.2, 1e-12)).all() and moved[:, 0].std() > 0.02
    turns = batch.bodies["stone"].rotation
    np.testing.assert_allclose(np.linalg.norm(turns, axis=1), 1.0, atol=1e-12)
    assert turns[:, 1:].std() > 0.05
    before = batch.q.copy()
    batch.step(3)
    batch.reset()
    assert np.array_equal(batch.q, before)


def test_whole_states_can_be_given():
    scene = mixed()
    first = ss.Simulation(scene, "none")
    q = np.tile(first.q, (3, 1))
    q[:, -1] = (0.1, 0.2, 0.3)
    v = np.arange(3.0)[:, None] * np.ones(first.model.dof_count)
    batch = ss.Batch(scene, 3, "none", vary={"q": q, "v": v})
    assert np.array_equal(batch.q, q) and np.array_equal(batch.v, v)


@pytest.mark.parametrize(("vary", "said"), [
    ({"masses": 0.1}, "unknown quantity 'masses'; did you mean 'mass'"),
    ({"mass": 1.5}, "plus or minus must be below 1"),
    ({"mass": -0.1}, "must be at least 0"),
    ({"mass": (1.2, 0.8)}, "lower end is above the upper one"),
    ({"mass": "heavy"}, "neither a number, nor a range, nor an array"),
    ({"mass": np.ones(3)}, r"the array does not fit \(got \(3,\)\); give shape \(4,\), \(4, 1\), \(4, 5\)"),
    ({"mass": np.zeros(4)}, "factors must be greater than 0"),
    ({"mass": {"crat": 0.1}}, "no such body; did you mean 'crate'"),
    ({"gain": {"motor": 0.1}}, "actuator with gains 'motor': no such actuator with gains"),
    ({"friction": np.full(4, -1.0)}, "must be 0 or more"),
    ({"gravity": np.zeros((4, 2))}, r"the array does not fit \(got \(4, 2\)\); give shape \(4, 3\)"),
    ({"q": np.zeros((4, 3))}, "the array does not fit"),
    ({"friction": np.array([1, np.nan, 1, 1])}, "not finite"),
    ([("mass", 0.1)], "vary is not a mapping"),
])
def test_what_cannot_be_is_refused(vary, said):
    with pytest.raises(ss.SceneError, match=said):
        ss.Batch(mixed(), 4, "none", vary=vary)


def test_a_scene_without_what_varies_is_told():
    scene = ss.Scene()
    scene.add_sphere("ball", radius=0.1, mass=0.5)
    with pytest.raises(ss.SceneError, match="the scene has no actuator with gains"):
        ss.Batch(scene, 2, "none", vary={"gain": 0.1})


@pytest.mark.parametrize("rotors", [(), (REVOLUTE,), (REVOLUTE, SPHERICAL, FREE)])
def test_what_hangs_on_force_sensors_is_that_of_each_worlds_scene(rotors):
    from sesshoku.simulation.batch.varied import sensed_parts
    from sesshoku.simulation.sensors.memory import make_mounts

    scene = composite()
    scene.add_force_sensor("wrist", "fore")
    scene.add_force_sensor("root", "upper")
    scene.add_force_sensor("under", "crate")
    compiled = compile_scene(scene)
    said = draw_all(compiled, ALL, 3, 5)
    parts = sensed_parts(compiled, said, 3, rotors)
    for w in range(3):
        wanted = make_mounts(compile_scene(varied_scene(compiled, said, w)), rotors=rotors)
        for name, values in parts.items():
            np.testing.assert_allclose(values[w], getattr(wanted, name), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(make_mounts(compiled, rotors=rotors).part_center, wanted.part_center, atol=1e-15)


@pytest.mark.parametrize("method", ["none", "exact", "springs"])
def test_worlds_under_water_do_what_their_simulations_do(method):
    batch = ss.Batch(in_water(), 3, method, 1e-3, vary={"mass": 0.3, "inertia": 0.3, "velocity": 2.0}, threads=2)
    sims = [batch[w] for w in range(3)]
    batch.step(30)
    for w, sim in enumerate(sims):
        sim.step(30)
        assert np.array_equal(batch.q[w], sim.q) and np.array_equal(batch.v[w], sim.v)
    drag = batch._memory.arrays["model.drag_square"]
    assert not np.array_equal(drag[0], drag[1])
