"""`sesshoku run --certify`: what the steps of a run came to, and whether the law was kept in all of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from command_line import Call, caller
from mechanisms import pendulum
from sesshoku.compiled.table import Record
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.methods.definition import Definition
from sesshoku.methods.registry import keywords
from sesshoku.recording.certificate import Certificate
from sesshoku.stages.report import CHANNELS

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def sesshoku(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(monkeypatch, capsys)


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    crate_on_floor(2.0, height=0.1).save(tmp_path / "crate.toml")
    return tmp_path / "crate.toml"


def certify(sesshoku: Call, file: Path, *more: Any) -> dict[str, Any]:
    said = sesshoku("run", file, "--dt", 0.005, "--time", 0.5, "--certify", "--json", *more)
    assert said.code == 0, said.err
    found: dict[str, Any] = said.json["certificate"]
    return found


def test_a_run_of_exact_is_certified(sesshoku: Call, crate: Path) -> None:
    found = certify(sesshoku, crate, "--method", "exact")
    assert found["certified"] and found["reasons"] == [] and found["steps"] == 100 and found["tolerance"] == 1e-8
    assert found["residual"]["worst"] <= 1e-10 and found["residual"]["steps_above"] == 0
    assert found["residual"]["median"] <= found["residual"]["worst"]
    energy = found["energy"]
    assert energy["by_contact"] < -2.0 and energy["largest_gain_of_a_step"] == 0.0  # 2 J of slide, 1 J of fall
    # free fall and contact are all there is: what contact took is what is missing, up to the weight times the way by
    # which the landing, from its own instant within a step, differs from one in the step's middle
    assert energy["end"] - energy["start"] == pytest.approx(energy["by_contact"], abs=9.8 * 1.4 * 0.005)
    assert energy["unexplained"] == pytest.approx(0.0, abs=9.8 * 1.4 * 0.005) and energy["not_judged"] == ""
    assert found["momentum_imbalance"] < 1e-12 and found["penetration"]["worst"] < 1e-3  # seen in mid-step
    said = sesshoku("run", crate, "--dt", 0.005, "--time", 0.5, "--method", "exact", "--certify")
    assert said.code == 0 and "certified: all 100 steps keep the law to 1e-08 m/s" in said.out
    for word in ("residual of the law", "momentum imbalance", "tunnelling, overflow", "by depth correction"):
        assert word in said.out


def test_a_run_that_is_not_says_which_steps(sesshoku: Call, crate: Path) -> None:
    """Sweeps stop early: the landing is not solved to 1e-8, and that is said with its times; exit code 0."""
    found = certify(sesshoku, crate, "--method", "lcp:recommended", "-o", "max_sweeps=2")
    assert not found["certified"] and found["residual"]["steps_above"] > 0
    first, last = found["residual"]["when"][0]
    assert 0.14 < first <= last < 0.5001 and first / 0.005 == pytest.approx(round(first / 0.005), abs=1e-6)
    assert found["residual"]["worst"] > 1e-8 and first <= found["residual"]["at"]
    said = sesshoku("run", crate, "--dt", 0.005, "--method", "lcp:recommended", "-o", "max_sweeps=2", "--certify")
    assert said.code == 0 and "not certified: " in said.out and "above 1e-08 m/s, at" in said.out
    loose = certify(sesshoku, crate, "--method", "lcp:recommended", "-o", "max_sweeps=2", "--certify-tolerance", 10.0)
    assert loose["certified"] and loose["tolerance"] == 10.0


@pytest.mark.parametrize("method", keywords())
def test_every_method_has_one(sesshoku: Call, crate: Path, method: str) -> None:
    found = certify(sesshoku, crate, "--method", method)
    assert found["certified"] == (found["reasons"] == []) and found["steps"] == 100
    if method == "none":
        assert "has no contacts" in found["reasons"][0] and "no contacts" in found["covers"]


def test_without_the_flag_there_is_none_and_it_changes_nothing(sesshoku: Call, crate: Path) -> None:
    plain = sesshoku("run", crate, "--time", 0.3, "--method", "exact", "--json").json
    watched = sesshoku("run", crate, "--time", 0.3, "--method", "exact", "--certify", "--json").json
    assert "certificate" not in plain and plain["bodies"] == watched["bodies"]


def test_joints_alone(sesshoku: Call, tmp_path: Path) -> None:
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    scene.add_body("rod", parent="wall", inertial=ss.Inertial(1.0, (0, 0, -0.5), 0.1 * np.eye(3)),
                   joint=ss.Joint("revolute", axis=(0, 1, 0), lower=0.2, upper=1.0, position=0.5))
    scene.save(tmp_path / "rod.toml")
    for method in ("none", "exact"):
        found = certify(sesshoku, tmp_path / "rod.toml", "--method", method)
        assert found["certified"], found["reasons"]
        assert "joint limits" in found["covers"] and "nothing was touched" not in found["covers"]


def test_bad_tolerances_and_runs_of_no_length(sesshoku: Call, crate: Path) -> None:
    for bad in (0, -1, "nan"):
        assert sesshoku("run", crate, "--certify-tolerance", bad).code == 2
    said = sesshoku("run", crate, "--time", 0, "--certify", "--json").json["certificate"]
    assert said["reasons"] == ["no step was made"] and not said["certified"]


# ---- the certificate itself, on reports made up ----------------------------------------------------------------------


class Made:
    """What a Certificate looks at, with reports of our own."""

    def __init__(self, guarantees: dict[str, Any] | None = None) -> None:
        self.time, self.dt, self.report_array = 0.0, 0.1, np.zeros(len(CHANNELS))
        self.model = SimpleNamespace(link_mass=np.array([2.0]), shape_count=1, actuator_count=0, cluster_count=0,
                                     gravity=np.zeros(3),
                                     shape_material=np.zeros((1, 3)), pair_material=np.zeros((0, 3)),
                                     dof_stiffness=np.zeros(0), dof_rest=np.zeros(0),
                                     dof_coordinate=np.zeros(0, dtype=int))
        self.data = SimpleNamespace(kinematic_velocity=np.zeros((1, 6)), q=np.zeros(0))
        self.compiled = SimpleNamespace(frame_names=["slow", "finger"])
        self.pushed, self.kinetic = False, 1.0
        self.method = SimpleNamespace(keyword="made", options=None, definition=Definition(
            "made", object, Record, None, None, guarantees=guarantees or {}))
        self.work = SimpleNamespace(contacts=object())

    @property
    def energy(self) -> tuple[float, float]:
        return self.kinetic, 2.0

    def body_velocities(self) -> np.ndarray:
        return np.array([[0.1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 400.0]])


def certificate(steps: list[dict[str, float]], **made: Any) -> dict[str, Any]:
    sim = Made(**made)
    watch = Certificate(sim)
    for n, step in enumerate(steps):
        watch(sim)  # before the step
        sim.time = 0.1 * (n + 1)
        sim.kinetic = step.get("kinetic", sim.kinetic)
        sim.report_array = np.array([step.get(name, 1.0 if name in ("converged", "rows") else 0.0)
                                     for name in CHANNELS])
    watch.look()
    watch.look()  # once is enough
    return watch.summary()


def test_reports_are_summed_up() -> None:
    found = certificate([{"residual": 1e-12, "energy_change": -3.0, "constraint_work": -2.5},
                         {"residual": 5e-7, "converged": 0.0},
                         {"residual": 2e-6, "energy_change": 0.5, "correction_work": 0.495}, {"penetration": 1e-3}])
    assert found["steps"] == 4 and not found["certified"] and found["unconverged"] == 1
    assert found["residual"]["worst"] == 2e-6 and found["residual"]["at"] == pytest.approx(0.3)
    assert found["residual"]["when"] == [[pytest.approx(0.2), pytest.approx(0.3)]]
    assert found["residual"]["median"] == pytest.approx(0.5 * (1e-12 + 5e-7))
    assert found["energy"]["by_contact"] == -2.5 and found["energy"]["largest_gain_of_a_step"] == pytest.approx(0.005)
    assert found["penetration"] == {"worst": 1e-3, "at": pytest.approx(0.4)}
    assert "2 steps above 1e-08 m/s, at 0.2 to 0.3 s" in found["reasons"][0]


@pytest.mark.parametrize(("step", "reason"), [
    ({"tunnelling": 1.0}, "tunnelled"), ({"overflow": 1.0}, "left out"), ({"momentum_residual": 1e-6}, "no impulse"),
    ({"residual": float("nan")}, "above"),
])
def test_other_reasons(step: dict[str, float], reason: str) -> None:
    found = certificate([{}, step, {}])
    assert not found["certified"] and len(found["reasons"]) == 1 and reason in found["reasons"][0]
    assert "1 step " in found["reasons"][0] + " "
    assert certificate([{}, {}, {}])["certified"]


# ---- the books of energy --------------------------------------------------------------------------------------------


def test_energy_from_nothing_is_not_certified() -> None:
    """A loop whose rows were dependent: from 0.46 J to 1,734 J in five steps, each with a residual of 1e-12."""
    kinetic = [0.46, 0.47, 12.0, 171.0, 612.0, 1734.0]
    steps = [{"kinetic": after, "residual": 1e-12, "energy_change": after - before, "constraint_work": after - before}
             for before, after in zip([0.46, *kinetic], kinetic)]
    found = certificate(steps)
    assert not found["certified"] and len(found["reasons"]) == 1
    assert "5 steps in which contacts or joints brought energy, most at 0.6 s: 1.12e+03 J" in found["reasons"][0]
    assert "body 'finger'" in found["reasons"][0]


def test_energy_that_no_impulse_explains_is_not_certified() -> None:
    found = certificate([{}, {"kinetic": 1.5}, {}])
    assert not found["certified"] and "no work explains: 0.5 J, most of it at 0.2 s" in found["reasons"][0]
    assert "'finger'" in found["reasons"][0] and found["energy"]["unexplained"] == pytest.approx(0.5)
    for booked in ("applied_work", "constraint_work"):  # a motor's work, or that of a spring in a contact
        assert certificate([{}, {"kinetic": 1.5, booked: 0.5}, {}])["certified"]
    assert certificate([{}, {"kinetic": 0.2}, {}])["certified"]  # a scheme may lose energy


def test_gains_hide_behind_no_losses() -> None:
    """What a scheme lost before explains nothing that appears later."""
    found = certificate([{"kinetic": 0.5}, {"kinetic": 0.9}, {}])
    assert not found["certified"] and "0.4 J" in found["reasons"][0]


def test_depth_correction_and_elastic_contacts_may_bring_energy() -> None:
    brought = {"kinetic": 1.5, "energy_change": 0.5, "constraint_work": 0.5}
    assert not certificate([brought])["certified"]
    assert certificate([brought | {"correction_work": 0.5}])["certified"]
    assert certificate([brought], guarantees={"elastic": lambda options: True})["certified"]


def test_what_is_not_judged_says_why() -> None:
    sim = Made(guarantees={"books": lambda options: False})
    sim.pushed = True
    watch = Certificate(sim)
    watch(sim)
    sim.time, sim.kinetic, sim.report_array = 0.1, 5.0, np.zeros(len(CHANNELS))
    watch.look()
    found = watch.summary()
    assert found["certified"] and "actuators and pushes" in found["energy"]["not_judged"]
    sim = Made()
    watch = Certificate(sim)
    sim.data.kinematic_velocity[0, 0] = 1.0
    sim.time, sim.kinetic = 0.1, 5.0
    watch.look()
    assert "scripted body" in watch.summary()["energy"]["not_judged"]


def test_the_thrown_crate_balances() -> None:
    """Friction takes m v^2 / 2 = 48.02 J, and gravity's work is booked to rounding."""
    sim = ss.Simulation(ss.Scene.read(EXAMPLES / "crate_thrown.toml"), "exact")
    watch = Certificate(sim)
    sim.run(2.5, controller=watch)
    watch.look()
    energy = watch.summary()["energy"]
    assert energy["end"] - energy["start"] == pytest.approx(-48.02, abs=1e-6)
    assert energy["by_contact"] == pytest.approx(-48.02, abs=1e-6) and abs(energy["unexplained"]) < 1e-6


def test_a_run_that_is_meddled_with_is_not_certified() -> None:
    """Velocities grow by half between two steps: no force did it."""
    sim = ss.Simulation(crate_on_floor(2.0), "exact", 0.005)

    def meddle(sim: ss.Simulation) -> None:
        if round(sim.time / sim.dt) == 20:
            sim.set_state(v=1.5 * sim.v)

    watch = Certificate(sim, controller=meddle)
    sim.run(0.3, controller=watch)
    watch.look()
    found = watch.summary()
    assert not found["certified"] and "no work explains" in found["reasons"][0] and "'crate'" in found["reasons"][0]


@pytest.mark.parametrize("method", ["exact", "lcp:recommended", "none", "multipoint", "volume", "implicit"])
def test_motors_springs_and_pushes_are_booked(method: str) -> None:
    """A driven, damped, sprung arm that is pushed: a hundredth of what is turned over, at most, stays unexplained."""
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_body("wall", fixed=True)
    rod = ss.Inertial(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    scene.add_body("upper", parent="wall", inertial=rod, joint=ss.Joint("revolute", "a", axis=(0, 1, 0), viscous=0.3))
    scene.add_body("lower", parent="upper", position=(0, 0, -1), inertial=rod,
                   joint=ss.Joint("revolute", "b", axis=(0, 1, 0), stiffness=5.0, rest=0.4))
    scene.add_actuator("a", "position", name="servo", kp=60.0, kd=3.0)
    sim = ss.Simulation(scene, method, 0.001)
    sim.actuators["servo"].target = 0.8
    watch = Certificate(sim, controller=lambda sim: sim.apply_force("lower", (0.0, 0, 4.0)))
    sim.run(1.0, controller=watch)
    watch.look()
    energy = watch.summary()["energy"]
    assert energy["by_actuators_springs_dampers_pushes"] > 1.0 and energy["not_judged"] == ""
    assert abs(energy["unexplained"]) < 0.01 * watch.ledger.turned_over
    assert watch.summary()["energy"]["gained"] == []


def test_a_method_without_a_residual_says_so() -> None:
    found = certificate([{"residual": 1.0}], guarantees={"residual": lambda options: False})
    assert not found["certified"] and "reports no residual" in found["reasons"][0]
    assert found["residual"]["worst"] == 0.0 and "no residual" in found["covers"]


def test_a_controller_goes_on_controlling() -> None:
    sim = ss.Simulation(crate_on_floor(), "exact", 0.01)
    watch = Certificate(sim, controller=lambda sim: sim.apply_force("crate", (10.0, 0, 0)))
    sim.run(0.1, controller=watch)
    watch.look()
    assert watch.summary()["steps"] == 10 and sim.bodies["crate"].velocity[0] == pytest.approx(0.51, abs=1e-9)


@pytest.mark.parametrize("method", ["springs", "springs:recommended"])
def test_energy_from_nothing_is_not_certified_where_no_books_are_kept(method: str) -> None:
    """The energy in joints that are springs is not booked; a pendulum that doubles its speed is told all the same."""
    for meddled in (False, True):
        sim = ss.Simulation(pendulum(position=1.0), method, dt=2e-3)
        watch = Certificate(sim, tolerance=1.0)
        sim.run(0.3, watch)
        if meddled:
            sim.joints["rod"].velocity *= 2.0
        sim.run(0.1, watch)
        watch.look()
        found = watch.summary()
        assert found["energy"]["not_judged"]
        assert found["certified"] != meddled, found["reasons"]
        if meddled:
            assert "energy that no work explains" in found["reasons"][0] and "body 'rod'" in found["reasons"][0]
