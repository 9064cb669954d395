"""Drag of the surrounding fluid: closed forms of falling bodies in every method, its work, steps far too large."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from mechanisms import pendulum
from sesshoku.methods.registry import keywords
from sesshoku.recording.certificate import Certificate
from sesshoku.scene.elements.fluid import Fluid, box_edges, drag_numbers

RADIUS, MASS, G = 0.05, 0.2, 9.8
EDGE = RADIUS * np.sqrt(2.4)  # of the cube with a ball's moments
METHODS = keywords()


def falling(**fluid: object) -> ss.Scene:
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.fluid(**fluid)  # type: ignore[arg-type]
    scene.add_sphere("ball", radius=RADIUS, mass=MASS)
    return scene


def test_the_box_of_a_box_is_itself() -> None:
    x, y, z = 0.1, 0.2, 0.4
    moments = 3.0 / 12 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    np.testing.assert_allclose(box_edges(3.0, moments), (x, y, z), rtol=1e-12)
    linear, square = drag_numbers(Fluid(density=2.0, viscosity=0.5), 3.0, moments)
    d = (x + y + z) / 3
    np.testing.assert_allclose(linear, [1.5 * np.pi * d] * 3 + [0.5 * np.pi * d**3] * 3, rtol=1e-12)
    np.testing.assert_allclose(square[:3], (y * z, x * z, x * y), rtol=1e-12)
    np.testing.assert_allclose(square[3], x * (y**4 + z**4) / 32, rtol=1e-12)


@pytest.mark.boundscheck
@pytest.mark.nojit
def test_drag_acts_along_the_axes_of_the_box() -> None:
    """A plate that is turned by a quarter, moves and spins: force and torque in closed form."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.fluid(density=2.0, viscosity=0.5, wind=(0, 0, 1.0))
    half = np.sqrt(0.5)
    scene.add_box("plate", size=(0.1, 0.2, 0.4), mass=3.0, rotation=(half, 0, 0, half), velocity=(0, 3.0, 1.0),
                  angular_velocity=(0, -2.0, 0))
    sim = ss.Simulation(scene, "none", dt=1e-6)
    d = 0.7 / 3
    force = -(1.5 * np.pi * d * 3.0 + 0.2 * 0.4 * 9.0)  # its x axis points along y
    torque = 0.5 * np.pi * d**3 * 2.0 + 0.1 * (0.2**4 + 0.4**4) / 32 * 4.0
    np.testing.assert_allclose(-sim.bias_force(), [0, force, 0, 0, torque, 0], atol=1e-12)  # a principal axis


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_sinks_in_oil_by_stokes_law(method: str) -> None:
    viscosity, dt = 0.5, 1e-3
    tau = MASS / (3 * np.pi * EDGE * viscosity)
    sim = ss.Simulation(falling(viscosity=viscosity), method, dt=dt)
    for t in (0.3 * tau, 3 * tau):
        sim.step(round(t / dt) - round(sim.time / dt))
        expected = -G * tau * (1.0 - np.exp(-sim.time / tau))
        assert sim.bodies["ball"].velocity[2] == pytest.approx(expected, rel=2 * dt / tau)
    sim.step(round(20 * tau / dt))
    assert sim.bodies["ball"].velocity[2] == pytest.approx(-G * tau, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_a_ball_falls_in_air_by_the_square_of_speed(method: str) -> None:
    density, dt = 30.0, 1e-3
    end = np.sqrt(2 * MASS * G / (density * EDGE * EDGE))
    sim = ss.Simulation(falling(density=density), method, dt=dt)
    sim.step(500)
    assert sim.bodies["ball"].velocity[2] == pytest.approx(-end * np.tanh(G * sim.time / end), rel=5e-3)
    sim.step(6000)
    assert sim.bodies["ball"].velocity[2] == pytest.approx(-end, rel=1e-6)


def test_exact_has_drag_to_second_order() -> None:
    viscosity, T = 0.5, 0.256
    tau = MASS / (3 * np.pi * EDGE * viscosity)
    errors = []
    for dt in (16e-3, 8e-3, 4e-3):
        sim = ss.Simulation(falling(viscosity=viscosity), dt=dt)
        sim.step(round(T / dt))
        errors.append(abs(sim.bodies["ball"].velocity[2] + G * tau * (1.0 - np.exp(-T / tau))))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_wind_carries_a_body_along(method: str) -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.fluid(viscosity=2.0, density=1.2, wind=(1.0, -2.0, 0.5))
    scene.add_box("leaf", size=(0.2, 0.1, 0.02), mass=0.05, angular_velocity=(1, 2, 3))
    sim = ss.Simulation(scene, method, dt=1e-3)
    sim.step(1000)
    np.testing.assert_allclose(sim.bodies["leaf"].velocity, (1.0, -2.0, 0.5), atol=1e-5)
    np.testing.assert_allclose(sim.bodies["leaf"].angular_velocity, 0.0, atol=1e-4)


def test_wind_in_a_vacuum_is_nothing() -> None:
    scene = falling(wind=(5, 0, 0))
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(100)
    assert sim.model.drag_count == 0
    assert sim.bodies["ball"].velocity[0] == 0.0


@pytest.mark.parametrize("method", ["exact", "none", "lcp:recommended", "multipoint", "implicit", "volume:recommended"])
def test_a_pendulum_loses_what_is_booked(method: str) -> None:
    scene = pendulum(position=1.2)
    scene.fluid(density=20.0, viscosity=1.0)
    sim = ss.Simulation(scene, method, dt=1e-3)
    start, booked, least = sim.energy.total, 0.0, 0.0
    for _ in range(2000):
        sim.step()
        booked += sim.report.applied_work
        least = min(least, sim.energy.total - start)
    lost = sim.energy.total - start
    assert lost < -0.5
    assert lost <= least + 1e-3  # it only ever falls
    assert booked == pytest.approx(lost, rel=1e-6 if method == "exact" else 2e-2)


def test_a_run_in_water_is_certified() -> None:
    scene = pendulum(position=1.2)
    scene.fluid(density=1000.0, viscosity=1e-3, wind=(0.3, 0, 0))
    sim = ss.Simulation(scene, dt=2e-3)
    watch = Certificate(sim, tolerance=1e-8)
    sim.run(1.0, controller=watch)
    watch.look()
    assert watch.summary()["certified"], watch.summary()["reasons"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fluid", [{"viscosity": 1e5}, {"density": 1e8}, {"density": 1e5, "viscosity": 1e3}])
def test_no_step_is_too_large(method: str, fluid: dict[str, float]) -> None:
    """Drag that would stop bodies within microseconds, at 10 ms: energy only falls (joints of `springs` swing)."""
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.fluid(**fluid)
    scene.add_body("wall", fixed=True)
    parent = "wall"
    for n, (mass, axis) in enumerate(((1.0, (0, 1, 0)), (1e-3, (1, 0, 0)), (0.3, (0, 1, 1)))):
        scene.add_box(f"link{n}", size=(0.3, 0.05, 0.02), mass=mass, parent=parent, position=(0.3, 0, 0),
                      joint=ss.Joint("continuous", axis=axis, anchor=(-0.15, 0, 0), velocity=3.0))
        parent = f"link{n}"
    scene.add_box("free", size=(0.1, 0.2, 0.3), mass=0.1, position=(0, 3, 0), velocity=(3, 2, 1),
                  angular_velocity=(5, 6, 7))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "method 'volume': depth_gain", ss.UnstableStep)  # of contacts: there are none
        sim = ss.Simulation(scene, method, dt=1e-2)
        first = before = sim.energy.kinetic
        for _ in range(300):
            sim.step()
            assert sim.energy.kinetic <= before * (1 + 1e-9) + (1e-6 * first if method.startswith("springs") else 1e-12)
            before = sim.energy.kinetic
    assert before < 1e-3 * first


def test_a_force_sensor_feels_the_wind() -> None:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.fluid(density=1.2, wind=(10.0, 0, 0))
    scene.add_body("mast", fixed=True)
    scene.add_box("hull", size=(0.1, 0.4, 0.4), mass=0.5, parent="mast", position=(2, 0, 1),
                  joint=ss.Joint("prismatic", axis=(1, 0, 0), lower=0.0, upper=0.0))
    scene.add_force_sensor("rail", body="hull", position=(0, 0, 0))
    sim = ss.Simulation(scene, dt=1e-3)
    sim.step(10)
    drag = 0.5 * 1.2 * 0.4 * 0.4 * 10.0**2  # of a middle in which the rail has not yet held it: g dt of the wind less
    np.testing.assert_allclose(sim.sensors["rail"].force, (-drag, 0, 0.5 * 9.8), rtol=3e-3)
    assert sim.joints["hull"].limit_force == pytest.approx(-drag, rel=3e-3)


def test_fluid_in_scene_files(tmp_path: Path) -> None:
    scene = falling(density=1.2, viscosity=1.8e-5, wind=(1, 2, 3))
    scene.save(tmp_path / "scene.toml")
    assert ss.Scene.read(tmp_path / "scene.toml").medium == Fluid(1.2, 1.8e-5, (1.0, 2.0, 3.0))
    assert ss.Scene().medium == Fluid()


@pytest.mark.parametrize("wrong", [{"density": -1.0}, {"viscosity": float("nan")}, {"wind": (1, 2)}, {"dens": 1.0}])
def test_a_wrong_fluid_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ss.SceneError, match="fluid"):
        ss.Scene().fluid(**wrong)  # type: ignore[arg-type]


def test_an_assigned_fluid_is_refused() -> None:
    scene = falling()
    scene.fluid = Fluid(1.2)  # type: ignore[assignment, method-assign]
    with pytest.raises(ss.SceneError, match="called, not assigned"):
        ss.Simulation(scene)
