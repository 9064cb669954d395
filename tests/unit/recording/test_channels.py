"""Channels: shapes, labels and units of the built-in ones, and those users bring."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fake_simulation import FakeSimulation
from sesshoku.errors import RecordingError
from sesshoku.recording.channels import BUILT_IN, DEFAULT, Channel, CustomChannel, bind


@pytest.fixture
def sim() -> FakeSimulation:
    return FakeSimulation()


@pytest.mark.parametrize("name", BUILT_IN)
def test_description_fits_the_value(sim: FakeSimulation, name: str) -> None:
    [(channel, read)] = bind(sim, name)
    assert channel.name == name
    assert np.shape(read(sim)) == channel.shape
    assert len(channel.columns) == len(channel.units) == channel.size > 0
    assert len(set(channel.columns)) == channel.size
    assert Channel.from_json(json.loads(json.dumps(channel.to_json()))) == channel


def test_default_set(sim: FakeSimulation) -> None:
    assert [channel.name for channel, _ in bind(sim)] == [*DEFAULT, "force_sensors", "imus"]
    sim.compiled.scene.sensors.clear()
    assert [channel.name for channel, _ in bind(sim)] == list(DEFAULT)


def test_labels_and_units_of_coordinates(sim: FakeSimulation) -> None:
    [(q, _), (v, _), (joints, read)] = bind(sim, ["q", "v", "joints"])
    crate = sim.compiled.joint_names[2]
    assert q.columns[:3] == ["swing", "slide", f"{crate}.x"]
    assert q.units == ["rad", "m", "m", "m", "m"] + ["quaternion"] * 4
    assert v.units == ["rad/s", "m/s"] + ["m/s"] * 3 + ["rad/s"] * 3
    assert joints.columns == ["swing", "slide"]
    sim.step(700)
    np.testing.assert_array_equal(read(sim), sim.q[:2])


def test_units_of_actuators(sim: FakeSimulation) -> None:
    [(force, _), (command, _)] = bind(sim, ["actuator_force", "command"])
    assert force.units == ["N m", "N"]
    assert command.units == ["rad", "rad/s", "N m", "N", "m/s", "N"]
    assert command.columns[0] == "servo target"


def test_custom_channels(sim: FakeSimulation) -> None:
    matrix = CustomChannel(lambda s: np.full((2, 3), s.time), labels=(["left", "right"], "xyz"), unit="N")
    [(height, read), (feet, read_feet), (count, read_count)] = bind(
        sim, [{"height": lambda s: s.body_poses()[3, 2], "feet": matrix}, {"step count": lambda s: s.steps}])
    assert (height.shape, feet.shape, count.shape) == ((), (2, 3), ())
    assert feet.columns[3] == "right x" and feet.units == ["N"] * 6
    sim.step(10)
    assert read(sim) == sim.body_poses()[3, 2]
    assert read_count(sim) == 10.0
    np.testing.assert_array_equal(read_feet(sim), np.full((2, 3), sim.time))


def test_custom_channel_must_keep_its_shape(sim: FakeSimulation) -> None:
    [(_, read)] = bind(sim, {"odd": lambda s: np.zeros(3 if s.steps == 0 else 1)})
    read(sim)
    sim.step()
    with pytest.raises(RecordingError, match=r"'odd' changed shape from \(3,\) to \(1,\)"):  # not broadcast in silence
        read(sim)


@pytest.mark.parametrize(("wanted", "message"), [
    ("pose", "did you mean 'poses'"), (["q", "q"], "twice"), (3, "must be names"), ({"q": len}, "taken"),
    ({"time": lambda s: 0.0}, "taken"), ({"a/b": lambda s: 0.0}, "use letters"), ({"a": 3}, "must be a function"),
    ({"a": lambda s: "text"}, "real number"), ({"a": lambda s: 1j}, "real number"),
    ({"a": lambda s: [[1], [1, 2]]}, "real number"),
    ({"a": CustomChannel(lambda s: [1.0, 2.0], labels="xyz")}, "labels"),
    ({"a": CustomChannel(lambda s: [1.0, 2.0], unit=("m",))}, "1 units for 2"),
])
def test_refused(sim: FakeSimulation, wanted: object, message: str) -> None:
    with pytest.raises(RecordingError, match=message):
        bind(sim, wanted)
