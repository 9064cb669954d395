"""Audits: the same runs under several laws, what they say of them, and how sure they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from command_line import caller
from sesshoku.comparison.audit.conditions import Delay, Push, read_conditions, vary_scene
from sesshoku.comparison.audit.controllers import base_body, make_controller
from sesshoku.comparison.audit.parting import Trace, find_parting
from sesshoku.comparison.audit.run import usual_laws
from sesshoku.comparison.audit.statistics import holm, paired_chance, wilson
from sesshoku.comparison.audit.touch import feel
from sesshoku.comparison.audit.verdict import judge
from sesshoku.experiments.scenes import crate_on_floor
from sesshoku.simulation.contacts import Contact

QUICK: dict[str, Any] = {"workers": 0, "progress": False}


# ---- statistics -----------------------------------------------------------------------------------------------------


def test_wilson_interval() -> None:
    """The ends solve (p - share)^2 = z^2 p (1 - p) / n."""
    for count, total in ((0, 10), (3, 10), (10, 10), (57, 200)):
        for p in wilson(count, total):
            if p not in (0.0, 1.0):
                assert (p - count / total)**2 == pytest.approx(1.959963984540054**2 * p * (1 - p) / total)
    assert wilson(0, 10)[0] == 0.0 and wilson(10, 10)[1] == 1.0 and wilson(0, 0) == (0.0, 1.0)
    assert wilson(5, 10) == pytest.approx((0.23659, 0.76341), abs=1e-5)


def test_paired_chance_is_binomial() -> None:
    assert paired_chance([True] * 10, [False] * 10) == 2 / 2**10
    assert paired_chance([True, False, True], [False, True, True]) == 1.0
    assert paired_chance([True] * 8 + [False], [False] * 8 + [True]) == pytest.approx(2 * (1 + 9) / 2**9)
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


# ---- conditions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "values", "low", "high", "spread"), [
    ("friction=0.3..1.0", (), 0.3, 1.0, False), ("mass=±10%", (), -0.1, 0.1, True), ("mass=+-10%", (), -0.1, 0.1, True),
    ("push=0,20,40", (0.0, 20.0, 40.0), 0.0, 0.0, False), ("delay=0..20ms", (), 0.0, 0.02, False),
    ("dt=1ms,2ms", (0.001, 0.002), 0.0, 0.0, False), ("dt=1,2ms", (0.001, 0.002), 0.0, 0.0, False),
    ("gravity=9.81", (9.81,), 0.0, 0.0, False), ("friction=1e-1..2e-1", (), 0.1, 0.2, False),
])
def test_conditions(text: str, values: Any, low: float, high: float, spread: bool) -> None:
    (found,) = read_conditions([text])
    assert found.values == pytest.approx(values) and (found.low, found.high) == pytest.approx((low, high))
    assert found.spread == spread


@pytest.mark.parametrize(("text", "said"), [
    ("frictoin=0.3", "did you mean 'friction'"), ("friction", "reads name=value"), ("friction=a..b", "not a number"),
    ("friction=1..0.5", "swap them"), ("push=-3", "below zero"), ("dt=0..1", "greater than zero"),
    ("delay=±2", "give a range"), ("delay=3min", "not a number with a unit"), ("q=1", "nothing of that name"),
])
def test_conditions_that_will_not_do(text: str, said: str) -> None:
    with pytest.raises(ss.SceneError, match=said):
        read_conditions([text])
    with pytest.raises(ss.SceneError, match="said twice"):
        read_conditions(["push=1", "push=2"])


def test_draws_belong_to_the_seed() -> None:
    (one,) = read_conditions({"friction": (0.2, 0.8)})
    draws = [one.draw(seed) for seed in range(200)]
    assert draws == [one.draw(seed) for seed in range(200)] and 0.2 <= min(draws) < 0.25 and 0.75 < max(draws) <= 0.8


def test_a_scene_takes_friction_and_masses() -> None:
    scene, conditions = crate_on_floor(), read_conditions(["friction=0.2,0.7", "mass=±20%"])
    varied = vary_scene(scene, conditions, {"friction": 0.7, "mass": 0.2}, 3)
    assert varied.bodies["crate"].geometries[0].material.static_friction == pytest.approx(0.7)
    mass = varied.bodies["crate"].inertial.mass
    assert 0.8 <= mass <= 1.2 and mass != 1.0 and scene.bodies["crate"].inertial.mass == 1.0
    assert mass == vary_scene(scene, conditions, {"friction": 0.2, "mass": 0.2}, 3).bodies["crate"].inertial.mass


def test_a_push_is_an_impulse() -> None:
    scene = ss.Scene(gravity=(0, 0, 0))
    scene.add_box("crate", size=(1, 1, 1), mass=2.0, position=(0, 0, 5))
    directions = []
    for seed in range(4):
        sim, push = ss.Simulation(scene, "none", 1e-3), Push("crate", 6.0, 2.0, seed)
        for _ in range(2000):
            push(sim)
            sim.step()
        v = sim.bodies["crate"].velocity
        assert np.hypot(v[0], v[1]) == pytest.approx(3.0, rel=0.011) and v[2] == 0.0  # 100 or 101 steps
        directions.append(v[0])
    assert len(set(directions)) == 4


def test_commands_arrive_late() -> None:
    class Sim:
        actuator_command = np.zeros((1, 3))

    sim, delay = Sim(), Delay(0.003, 1e-3)
    delay.begin(sim)
    followed, found = [], []
    for n in range(6):
        delay.undo(sim)
        found.append(sim.actuator_command[0, 0])
        sim.actuator_command[0, 0] = n + 1.0
        delay(sim)
        followed.append(sim.actuator_command[0, 0])
    assert followed == [0, 0, 0, 1, 2, 3] and found == [0, 1, 2, 3, 4, 5]


# ---- controllers ----------------------------------------------------------------------------------------------------


def test_controllers_by_name() -> None:
    from audited import Leaning

    assert isinstance(make_controller("audited:Leaning"), Leaning)  # a class is made anew for every run
    assert make_controller("audited:push").__name__ == "push"
    with pytest.raises(ss.SceneError, match="did you mean 'Leaning'"):
        make_controller("audited:Leanin")
    with pytest.raises(ss.SceneError, match="module:function"):
        make_controller("audited")
    with pytest.raises(ss.SceneError, match="cannot be imported"):
        make_controller("no_such_module:function")


def test_the_base_is_the_free_body_that_carries_most() -> None:
    scene = ss.Scene()
    scene.add_box("box", size=(1, 1, 1), mass=3.0, position=(5, 0, 0.5))
    scene.load(ss.robots.path("humanoid_small.xml"))
    assert base_body(scene) == "pelvis" or scene.bodies[str(base_body(scene))].joint.kind == "free"
    assert base_body(scene) != "box"
    assert base_body(ss.Scene()) is None


# ---- verdicts -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def leaning() -> ss.Audit:
    return ss.audit("audited:Leaning", laws=["exact", "lcp:recommended", "mujoco"], over=["mass=1.0..1.02"], seeds=3,
                    **QUICK)


def test_a_controller_that_depends_on_the_law(leaning: ss.Audit) -> None:
    """Coulomb's law holds the crate; MuJoCo lets it creep."""
    assert leaning.depends and [leaning.share(law).count for law in leaning.laws] == [3, 3, 0]
    assert "depends on the contact law" in leaning.verdict and "0 % under mujoco" in leaning.verdict
    assert "crate creeps at" in leaning.verdict and "on ground" in leaning.verdict
    creep = leaning.touches("mujoco")["crate and ground"]["creep"]
    way = np.mean([row["score"] for row in leaning.rows("mujoco")])
    assert creep == pytest.approx(way / 2.0, rel=0.1) and leaning.touches("exact")["crate and ground"]["creep"] < 1e-9
    assert leaning.how_it_ended("mujoco").startswith("3 of 3 did not reach its goal")


def test_where_the_laws_part_and_at_which_contact(leaning: ss.Audit) -> None:
    assert leaning.case is not None
    parting = leaning.case.partings[0]
    assert parting.laws == ("exact", "mujoco") and parting.pair == ("crate", "ground") and parting.body == "crate"
    creep = leaning.touches("mujoco")["crate and ground"]["creep"]
    assert parting.time == pytest.approx(0.01 / creep, rel=0.15) and parting.distance >= 0.01
    assert parting.first is not None and parting.second is not None
    assert parting.first.slip < 1e-9 < parting.second.slip
    assert parting.first.normal == pytest.approx(9.8, rel=0.03)
    assert parting.first.friction == pytest.approx(4.8, rel=0.01)


def test_a_difference_that_no_contact_made() -> None:
    """Two bodies that part in free flight: the one that touches nothing is named."""
    def trace(speed: float) -> Trace:
        made = Trace()
        for n in range(100):
            t = 0.002 * n
            made.times.append(t)
            made.places.append(np.array([[0.0, 0.0, 0.0], [speed * t, 0.0, 1.0]]))
            made.felt.append(feel([Contact(0, ("ground", "crate"), np.zeros(3), np.array([0.0, 0, 1]), 0.0,
                                           np.array([0.0, 0, 9.8 + speed]), "stick", 0.0, 0.5, 0.5)]))
        return made

    parents = {"crate": None, "ball": None, "ground": None}
    found = find_parting(("exact", "lcp"), trace(0.0), trace(1.0), ["crate", "ball"], 0.01, parents)
    assert found is not None and found.body == found.untouched == "ball" and "touched nothing" in found.sentence()
    assert found.time == pytest.approx(0.012) and found.since == pytest.approx(0.002)
    hung = find_parting(("exact", "lcp"), trace(0.0), trace(1.0), ["crate", "ball"], 0.01, parents | {"ball": "crate"})
    assert hung is not None and hung.untouched is None and hung.pair == ("crate", "ground")


def test_a_controller_that_does_not_depend() -> None:
    result = ss.audit("audited:Gentle", laws=["exact", "mujoco"], seeds=2, **QUICK)
    assert not result.depends and result.finding.decided and "No dependence" in result.verdict
    assert "34 % to 100 %" in result.verdict  # of two runs


def test_a_difference_that_may_be_chance_is_left_open() -> None:
    """Two runs of ten differ, both the same way: p = 1/2. Eight of ten: p = 1/128."""
    def study(lost: int) -> ss.Study:
        return ss.Study([{"run": n, "method": law, "seed": n, "error": None, "key": f"{law}{n}",
                          "success": law == "exact" or n >= lost} for law in ("exact", "lcp") for n in range(10)],
                        ["method"])

    few = judge(study(2), ["exact", "lcp"], ["exact", "lcp"])
    assert not few.depends and not few.decided and few.chance == 0.5 and few.differing == 2
    many = judge(study(8), ["exact", "lcp"], ["exact", "lcp"])
    assert many.depends and many.chance == 1 / 128 and many.pair == ("exact", "lcp") and many.telling["seed"] == 0
    none = judge(study(0), ["exact", "lcp"], ["exact", "lcp"])
    assert not none.depends and none.decided


def test_functions_with_a_robot_and_a_rule(tmp_path: Path) -> None:
    crate_on_floor().save(tmp_path / "crate.toml")
    result = ss.audit("audited:push", robot=tmp_path / "crate.toml", laws=["exact", "mujoco"], success="audited:stays",
                      time=1.5, over={"dt": [1e-3, 2e-3]}, seeds=1, **QUICK)
    assert result.depends and [result.share(law).count for law in result.laws] == [2, 0]
    heads, cells = result.cells(result.mapped[0])
    assert heads == ["0.001", "0.002"] and [share.total for share in cells["mujoco"]] == [1, 1]
    upright = ss.audit("audited:push", robot=tmp_path / "crate.toml", laws=["exact", "lcp"], time=0.1, seeds=1, **QUICK)
    assert not upright.depends  # by the rule: it stands


def test_what_a_law_cannot_carry_is_refused_by_name() -> None:
    result = ss.audit("audited:Ours", laws=["exact", "lcp", "mujoco"], seeds=1, time=0.05, **QUICK)
    assert list(result.refused) == ["mujoco"] and "MuJoCo" in result.refused["mujoco"]
    with pytest.raises(ss.SesshokuError, match="RuntimeError: no idea"):
        ss.audit("audited:broken", robot=_crate_file(), laws=["exact", "lcp"], seeds=1, **QUICK)
    for options, said in (({"laws": ["exact"]}, "two laws"), ({"laws": ["exact", "exact"]}, "asked for twice"),
                          ({"laws": ["exact", "lpc"]}, "did you mean"), ({"push_body": "crote"}, "no such body")):
        with pytest.raises(ss.SceneError, match=said):
            ss.audit("audited:Leaning", **{"laws": ["exact", "lcp"]} | options, **QUICK)
    with pytest.raises(ss.SceneError, match="no robot is named"):
        ss.audit("audited:push", laws=["exact", "lcp"], **QUICK)
    with pytest.raises(ss.SceneError, match="a controller is named"):
        ss.audit(lambda sim: None, laws=["exact", "lcp"], **QUICK)


def _crate_file() -> Path:
    return Path(__file__).parents[3] / "examples" / "crate_at_rest.toml"


def test_every_law_by_default() -> None:
    laws = usual_laws()
    assert laws[0] == "exact" and laws[-1] == "mujoco" and "lcp:recommended" in laws and "lcp" not in laws
    assert "none" not in laws and len(laws) == 7


def test_the_page_is_whole(leaning: ss.Audit, tmp_path: Path) -> None:
    leaning.to_html(tmp_path / "audit.html")
    text = (tmp_path / "audit.html").read_text()
    for word in ("Does it depend on the simulator?", "depends on the contact law", "Where they part",
                 "crate and ground", "Wilson", "One over the other", "by mass", "What contacts do"):
        assert word in text, word
    assert "src='http" not in text and "nan" not in text.lower().replace("nano", "").split("<script")[0]


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(monkeypatch, capsys)
    said = call("audit", "audited:Leaning", "--law", "exact", "--law", "mujoco", "--over", "mass=1.0..1.01", "push=0",
                "--seeds", 2, "--workers", 0, "--html", tmp_path / "audit.html", "--out", tmp_path / "runs.jsonl")
    assert said.code == 1 and "depends on the contact law" in said.out and "succeeds, by mass" in said.out
    assert (tmp_path / "audit.html").is_file() and len(ss.Study.read(tmp_path / "runs.jsonl")) == 4
    said = call("audit", "audited:Gentle", "--law", "exact", "--law", "mujoco", "--seeds", 1, "--workers", 0, "--json")
    assert said.code == 0 and said.json["depends"] is False and said.json["laws"][1]["runs"] == 1
    assert said.json["case"]["endings"] == {"exact": "succeeded", "mujoco": "succeeded"}
    assert call("audit", "walk/nosuch").code == 2
    assert call("audit", "audited:Gentle", "--over", "frction=1").code == 2


@pytest.mark.peer
def test_a_walk_without_training(tmp_path: Path) -> None:
    """The small humanoid walks four steps by its plan alone, under Coulomb's law and MuJoCo."""
    result = ss.audit("sesshoku.control.walking.audited:Small", laws=["exact", "mujoco"], seeds=1, **QUICK)
    assert [result.share(law).count for law in result.laws] == [1, 1] and not result.depends
    feet = result.touches("mujoco")
    assert feet["ground and left_foot"]["creep"] > 3.0 * result.touches("exact")["ground and left_foot"]["creep"]
    assert result.case is not None and [one.success for one in result.case.endings.values()] == [True, True]
