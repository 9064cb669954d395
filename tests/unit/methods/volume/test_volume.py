"""The method's parts: options, refusals, islands large and small, joint rows, views, plain Python."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.volume import work as memory
from sesshoku.methods.volume.view import overlaps
from volume_scenes import DT, RUBBER, G, box, inside, volume

PRESET = "volume:recommended"


@pytest.mark.parametrize("wrong", [
    {"integrator": "euler"}, {"depth_integral": "sides"}, {"friction_limit": "none"}, {"sliding_solve": ""},
    {"correction": 3}, {"onset": True}, {"regularization_unit": "mass"}, {"regularization": 0.0},
    {"regularization": float("nan")}, {"regularization": "1"}, {"depth_gain": -1.0}, {"pyramid_sides": 2},
    {"pyramid_sides": 8.0}, {"pyramid_sides": True}, {"pyramid_sides": 361}, {"zero_tolerance": None},
    {"recovery_speed": float("inf")}, {"depth_share": 0.0}, {"energy": "kept"},
    {"pyramid_axis": 1}, {"onset_speed": -1e-9}, {"rest_depth": -1e-6}])
def test_wrong_options_are_refused(wrong):
    with pytest.raises(ss.SesshokuError, match=next(iter(wrong))):
        volume(**wrong)


def test_restitution_is_left_out_by_name():
    bouncy = ss.Material(0.5, restitution=0.3)
    scene = ss.Scene()
    scene.add_ground()
    scene.add_sphere("ball", radius=0.1, mass=1.0, position=(0, 0, 1), material=bouncy)
    with pytest.raises(ss.MethodError, match="restitution.*ball"):
        ss.Simulation(scene, "volume", strict=True)
    scene = ss.Scene()
    scene.add_ground()
    scene.add_box("crate", size=(1, 1, 1), mass=1.0, position=(0, 0, 1))
    scene.friction("crate", "ground", static=0.5, kinetic=0.4, restitution=0.2)
    with pytest.warns(ss.UnsupportedFeature, match="leaves out restitution of crate and ground"):
        sim = ss.Simulation(scene, "volume")
    assert sim.report.left_out == ("restitution of crate and ground",)


def stack(count=5, speed=0.0):
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n in range(count):
        scene.add_box(f"box{n}", size=(0.2, 0.2, 0.1), mass=1.0 + n, position=(0.01 * (n % 2), 0, 0.05 + 0.1 * n),
                      velocity=(speed, 0, 0), material=RUBBER)
    return scene


@pytest.mark.parametrize("keyword", ["volume", PRESET])
@pytest.mark.parametrize("speed", [0.0, 1.0])
def test_sparse_blocks_solve_the_dense_programme(keyword, speed, monkeypatch):
    """Step by step from the same states."""
    dense = ss.Simulation(stack(speed=speed), keyword, DT)
    monkeypatch.setattr(memory, "DENSE", 6)
    sparse = ss.Simulation(stack(speed=speed), keyword, DT)
    for _ in range(60):
        sparse.q[:], sparse.v[:] = dense.q, dense.v
        dense.step()
        sparse.step()
        assert dense.report.converged and sparse.report.converged
        assert sparse.v == pytest.approx(dense.v, rel=1e-4, abs=1e-5 if speed else 1e-7)
    assert sparse.report.iterations > 0


def test_sweeps_carry_an_island_that_no_matrix_fits(monkeypatch):
    """Overlap by overlap: not the one programme, but nothing falls, and what did not settle is said."""
    monkeypatch.setattr(memory, "DENSE", 6)
    monkeypatch.setattr(memory, "BLOCKS", 0)
    sim = ss.Simulation(stack(), PRESET, DT)
    sim.step(300)
    for n in range(5):
        assert sim.bodies[f"box{n}"].position[2] == pytest.approx(0.05 + 0.1 * n - 2e-5 * (n + 1), abs=2e-5)
    assert np.abs(sim.v).max() < 1e-2 and sim.report.momentum_residual < 1e-9


@pytest.mark.parametrize("dense", [180, 6])
def test_joint_rows_take_part(dense, monkeypatch):
    """A ball loop holds a bar over a stack that it leans on; a limit holds a door: both laws are met each step."""
    monkeypatch.setattr(memory, "DENSE", dense)
    scene = stack(3)
    scene.add_box("bar", size=(0.4, 0.05, 0.05), mass=1.0, position=(0.15, 0, 0.3245), material=RUBBER)
    scene.add_loop("ball", "bar", None, position=(0.2, 0, 0))
    sim = ss.Simulation(scene, PRESET, DT)
    sim.step(500)
    assert sim.report.converged and sim.report.residual < 1e-9 and sim.report.loop_error < 1e-6
    assert np.abs(sim.v).max() < 1e-4
    carried = sum(contact.force[2] for contact in sim.contacts if "ground" in contact.bodies)
    assert 6.0 * G < carried < 7.0 * G, "part of the bar hangs on the loop"


def test_a_humanoid_stands_on_two_overlaps():
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnsupportedFeature)
        scene.load(ss.robots.path("humanoid_large.xml"), pose="stand")
    sim = ss.Simulation(scene, PRESET, DT)
    sim.step(500)
    assert len(sim.contacts) == 2 and {contact.state for contact in sim.contacts} == {"stick"}
    mass = float(sim.model.link_mass.sum())
    assert sum(contact.normal_force for contact in sim.contacts) == pytest.approx(mass * G, rel=0.02)


def test_pieces_of_a_body_are_coupled():
    """A table of four legs, one body: four overlaps, one island, each leg a quarter of the weight."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    parts = [ss.Geometry(ss.Box((0.05, 0.05, 0.3)), position=(x, y, 0), material=RUBBER)
             for x in (-0.3, 0.3) for y in (-0.3, 0.3)]
    scene.add_body("table", inertial=ss.Inertial(8.0, (0, 0, 0.15), np.diag([0.5, 0.5, 0.8])), geometries=parts,
                   position=(0, 0, 0.15))
    sim = ss.Simulation(scene, PRESET, DT)
    sim.step(300)
    assert [contact.normal_force for contact in sim.contacts] == pytest.approx([2 * G] * 4, rel=1e-3)
    assert sim.work.contacts.counts[3] == 1


def test_overlaps_are_shown_with_polygon_and_wrench():
    sim = box((0.2, 0.1, 0.1))
    sim.step(100)
    sim.apply_force("box", (0, 0, -5.0), point=(0.05, 0, 0.1))
    sim.step(20)
    (view,), (contact,) = overlaps(sim), sim.contacts
    assert view.polygon.shape == (4, 3) and view.id == contact.id and view.state == "stick"
    assert np.ptp(view.polygon, axis=0) == pytest.approx([0.2, 0.1, 0], abs=1e-3)
    assert view.force == pytest.approx(contact.force) and view.volume > 0
    assert view.pressure_center == pytest.approx(contact.point)
    # the force at the contact's point has the wrench's tilting torque
    torque = np.cross(contact.point - view.center, view.force)
    assert torque[:2] == pytest.approx(view.torque[:2], abs=1e-9)
    assert inside(view.polygon[:, :2], view.pressure_center[:2])
    assert view.pressure_center[0] == pytest.approx(0.05 * 5.0 / (5.0 + G), rel=0.05)


def test_a_pile_comes_to_rest():
    rng = np.random.default_rng(3)
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n in range(27):
        i, j, k = n % 3, n // 3 % 3, n // 9
        place = np.array([i, j, k]) * 0.104 + (*rng.uniform(-3e-3, 3e-3, 2), 0.055)
        scene.add_box(f"cube{n}", size=(0.1, 0.1, 0.1), mass=1.0, position=place, material=RUBBER)
    sim = ss.Simulation(scene, PRESET, 2e-3)
    energy = sum(sim.energy)
    sim.step(500)
    assert sim.report.converged and sim.report.penetration < 1e-4
    assert np.abs(sim.v).max() < 1e-2 and sum(sim.energy) < energy


@pytest.mark.parametrize("keyword", ["volume", PRESET])
def test_rkg_rests_and_slides_too(keyword):
    options = vars(ss.methods.resolve(keyword).options) | {"integrator": "rkg"}
    sim = box((0.2, 0.2, 0.05), velocity=(0.5, 0, 0), method=ss.methods.volume(**options))
    sim.step(500)
    assert sim.bodies["box"].position[0] == pytest.approx(0.25 / (2 * 0.3 * G), rel=0.1)
    assert np.abs(sim.v).max() < 2e-2


@pytest.mark.nojit
def test_plain_python():
    for keyword in ("volume", PRESET):
        sim = box((0.2, 0.2, 0.1), velocity=(1.0, 0, 0), depth=1e-4, method=keyword)
        sim.step()
        assert sim.contacts[0].state == "slip" and np.isfinite(sim.v).all()


@pytest.mark.boundscheck
def test_within_bounds(monkeypatch):
    for dense in (180, 6):
        monkeypatch.setattr(memory, "DENSE", dense)
        sim = ss.Simulation(stack(3, speed=0.5), PRESET, DT)
        sim.step(20)
        assert np.isfinite(sim.v).all()


def test_profile_times_the_four_stages_of_rkg_as_one():
    sim = box((0.2, 0.2, 0.05), method=volume(integrator="rkg"))
    other = box((0.2, 0.2, 0.05), method=volume(integrator="rkg"))
    found = sim.profile(3)
    other.step(3)
    assert set(found) == {"gill step", "step"} and all(seconds > 0.0 for seconds in found.values())
    assert np.array_equal(sim.q, other.q) and np.array_equal(sim.v, other.v)


CHANGED = [
    {"integrator": "rkg"}, {"depth_gain": 500.0}, {"depth_share": 0.1}, {"recovery_speed": 0.1}, {"rest_depth": 1e-4},
    {"depth_integral": "thickness"}, {"depth_integral": "section"}, {"regularization": 1e-2},
    {"regularization_unit": "trace"}, {"friction_limit": "separated"}, {"pyramid_sides": 5},
    {"pyramid_axis": "force"}, {"sliding_solve": "coupled"}, {"correction": "nearest"}, {"onset": "free"},
    {"onset": "free", "onset_speed": 1.0}, {"zero_tolerance": 1.0}]


def turning_disc():
    """Turns, and slides a little: its centre of pressure stays inside, so pressure may be spread in many ways."""
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    scene.add_cylinder("disc", radius=0.1, length=0.04, mass=1.0, position=(0, 0, 0.02 - 1e-5),
                       velocity=(2e-3, 1e-3, 0), angular_velocity=(0, 0, 3.0), material=RUBBER)
    return scene


@pytest.mark.parametrize("options", CHANGED, ids=str)
def test_every_option_has_an_effect(options):
    """A tilted box lands sliding and turning; a disc slides and turns; a flat box is pushed, and turned too."""
    usual = {"onset": "free"} if "onset_speed" in options else {}
    moved = 0.0
    for force, torque in ((None, None), (0.0, 0.0), (0.88, 0.0), (0.95, 0.0), (0.8, 0.8)):
        ends = []
        for chosen in (usual, options):
            if force is None:
                sim = box((0.2, 0.15, 0.1), velocity=(0.2, 0.1, -0.1), angular_velocity=(0, 0, 1.0), depth=2e-3,
                          rotation=(np.cos(0.03), np.sin(0.03), 0, 0), method=volume(**chosen))
            elif force == 0.0:
                sim = ss.Simulation(turning_disc(), volume(**chosen), DT)
            else:
                sim = box((0.2, 0.2, 0.05), method=volume(**chosen))
                sim.step(5)
                push = 0.5 * G * force * np.array([np.cos(np.pi / 8), np.sin(np.pi / 8), 0])
                sim.apply_force("box", push, torque=(0, 0, 0.5 * G * torque * 0.1 * np.sqrt(2)), point=(0, 0, 0))
            sim.step(3)
            ends.append(sim.v.copy())
        moved = max(moved, np.abs(ends[0] - ends[1]).max())
    assert moved > 1e-7
