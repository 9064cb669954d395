"""Unknown names suggest near ones, in every mapping, which else is as any mapping."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import sesshoku as ss
from mechanisms import everything, simulate
from sesshoku.errors import nearest
from sesshoku.scene.names import Named


@pytest.fixture(scope="module")
def sim() -> ss.Simulation:
    scene = everything()
    scene.add_imu("tilt", "rock")
    scene.load(ss.robots.path("arm_gripper.urdf"), fixed_base=True, position=(20, 0, 0))
    return simulate(scene)


MAPPINGS: dict[str, tuple[Callable[[ss.Simulation], Any], str, str]] = {
    "bodies": (lambda sim: sim.bodies, "rok", "rock"), "joints": (lambda sim: sim.joints, "armm0", "arm0"),
    "actuators": (lambda sim: sim.actuators, "pusch", "push"), "sensors": (lambda sim: sim.sensors, "tlt", "tilt"),
    "robots": (lambda sim: sim.robots, "arm_griper", "arm_gripper"),
    "scene.bodies": (lambda sim: sim.scene.bodies, "Rock", "rock"),
    "scene.actuators": (lambda sim: sim.scene.actuators, "pusch", "push"),
    "scene.sensors": (lambda sim: sim.scene.sensors, "tlt", "tilt"),
    "scene.robots": (lambda sim: sim.scene.robots, "arm_griper", "arm_gripper"),
    "scene.loops": (lambda sim: sim.scene.loops, "hugn", "hung"),
    "scene.mimics": (lambda sim: sim.scene.mimics, "arm1_", "arm1"),
}


@pytest.mark.parametrize("key", MAPPINGS)
def test_an_unknown_name_suggests_the_nearest(sim: ss.Simulation, key: str) -> None:
    find, typo, meant = MAPPINGS[key]
    mapping = find(sim)
    if meant not in mapping:
        meant = next(iter(mapping))
        typo = meant + "x"
    with pytest.raises(ss.SceneError, match=f"no such .*did you mean '{meant}'"):
        mapping[typo]
    with pytest.raises(KeyError):
        mapping[typo]
    assert typo not in mapping and meant in mapping
    assert mapping.get(typo) is None and mapping.get(typo, 3) == 3 and mapping.get(meant) is mapping[meant]


def test_where_none_is_near_names_are_listed(sim: ss.Simulation) -> None:
    with pytest.raises(ss.SceneError, match="sensor 'qqq': no such sensor; there are 1: tilt"):
        sim.sensors["qqq"]
    with pytest.raises(ss.SceneError, match="there are none"):
        simulate(everything()).sensors["tilt"]


def test_prefixes_and_cases_are_seen_through() -> None:
    assert nearest("KNEE", ["left/knee", "knee"]) == "knee"
    assert nearest("calf", ["front_left/calf", "front_right/calf"]) == "front_left/calf"
    assert nearest("zzz", ["a"]) is None


def test_recordings_suggest_as_well(sim: ss.Simulation) -> None:
    recording = sim.run(0.002)
    with pytest.raises(ss.RecordingError, match="did you mean 'poses'"):
        recording["pose"]
    with pytest.raises(ss.RecordingError, match="did you mean 'rock'"):
        recording["poses", "rok"]
    assert "poses" in recording and "pose" not in recording


def test_named_dicts_survive_copies_and_failed_loads(sim: ss.Simulation) -> None:
    scene = everything()
    for again in (copy.copy(scene.bodies), copy.deepcopy(scene.bodies), pickle.loads(pickle.dumps(Named("body")))):
        with pytest.raises(ss.SceneError, match="no such body"):
            again["nobody"]
    scene.load(ss.robots.path("arm_gripper.urdf"), fixed_base=True)
    with pytest.raises(ss.SceneError):
        scene.load(ss.robots.path("arm_gripper.urdf"), fixed_base=True)  # the name is taken: all is as before
    with pytest.raises(ss.SceneError, match="did you mean 'rock'"):
        scene.bodies["rok"]
