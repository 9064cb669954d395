"""Recordings as MCAP and as Rerun's files, opened by the packages' own readers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sesshoku as ss
from command_line import caller
from sesshoku.experiments.scenes import crate_on_floor


@pytest.fixture(scope="module")
def recording() -> ss.Recording:
    scene = crate_on_floor(1.0)
    scene.add_sphere("ball", radius=0.1, mass=0.5, position=(2, 0, 0.5))
    scene.add_capsule("rod", radius=0.05, length=0.3, mass=0.5, position=(0, 2, 0.5))
    return ss.Simulation(scene, "exact", 2e-3).run(0.2, rate=100)


def test_mcap_holds_poses_contacts_and_channels(recording: ss.Recording, tmp_path: Path) -> None:
    reader = pytest.importorskip("mcap.reader")
    path = recording.save(tmp_path / "run.mcap")
    found: dict[str, list[tuple[int, dict]]] = {}
    schemas = {}
    with path.open("rb") as file:
        for schema, channel, message in reader.make_reader(file).iter_messages():
            found.setdefault(channel.topic, []).append((message.log_time, json.loads(message.data)))
            schemas[channel.topic] = schema.name
    assert schemas["/tf"] == "foxglove.FrameTransforms" and schemas["/scene"] == "foxglove.SceneUpdate"
    poses = recording["poses"].reshape(len(recording), -1, 7)
    assert len(found["/tf"]) == len(recording)
    for n, (stamp, message) in enumerate(found["/tf"]):
        assert stamp == round(recording.time[n] * 1e9)
        by_name = {one["child_frame_id"]: one for one in message["transforms"]}
        row = list(recording.channels["poses"].labels[0]).index("crate")
        t, q = by_name["crate"]["translation"], by_name["crate"]["rotation"]
        assert [t["x"], t["y"], t["z"], q["w"], q["x"], q["y"], q["z"]] == poses[n, row].tolist()
    energy = [list(message.values()) for _, message in found["/energy"]]
    np.testing.assert_array_equal(energy, recording["energy"])
    entities = {one["id"]: one for one in found["/scene"][0][1]["entities"]}
    assert entities["crate"]["cubes"][0]["size"] == {"x": 1.0, "y": 1.0, "z": 1.0}
    assert entities["ball"]["spheres"][0]["size"]["x"] == pytest.approx(0.2)
    arrows = [message["entities"][0]["arrows"] for _, message in found["/contacts_drawn"]]
    assert any(arrows)
    arrow = next(one for some in arrows for one in some)
    q = np.array([arrow["pose"]["orientation"][key] for key in "wxyz"])
    direction = [1 - 2 * (q[2]**2 + q[3]**2), 2 * (q[1] * q[2] + q[0] * q[3]), 2 * (q[1] * q[3] - q[0] * q[2])]
    assert abs(direction[2]) > 0.5 and np.linalg.norm(q) == pytest.approx(1.0)  # forces of a floor point up or down


def test_rerun_opens_its_file(recording: ss.Recording, tmp_path: Path) -> None:
    pytest.importorskip("rerun")
    path = recording.save(tmp_path / "run.rrd")
    assert path.read_bytes()[:3] == b"RRF"
    stored = _entities(path)
    for entity in ("/world/crate", "/world/contacts", "/energy/kinetic"):
        assert any(name.startswith(entity) for name in stored), (entity, sorted(stored)[:20])


def _entities(path: Path) -> set[str]:
    """Names in the file, by Rerun's own program."""
    import subprocess
    import sys

    said = subprocess.run([sys.executable, "-m", "rerun", "rrd", "print", str(path)], capture_output=True, text=True,
                          check=True, timeout=120)
    return {word.strip("`,\"'") for word in said.stdout.split() if word.strip("`,\"'").startswith("/")}


def test_the_command(recording: ss.Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                     capsys: pytest.CaptureFixture[str]) -> None:
    call = caller(monkeypatch, capsys)
    recording.save(tmp_path / "run.npz")
    assert call("export", tmp_path / "run.npz", tmp_path / "run.csv").code == 0
    assert (tmp_path / "run.csv").read_text().startswith("time [s]")
    assert call("export", tmp_path / "run.npz", tmp_path / "run.doc").code == 2
    assert call("export", tmp_path / "nothing.npz", tmp_path / "run.csv").code == 2


def test_without_the_extra_the_error_names_it(recording: ss.Recording, tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module, ending in (("mcap.writer", "mcap"), ("rerun", "rrd")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ss.MissingExtra, match=r"sesshoku\[data\]"):
            recording.save(tmp_path / f"run.{ending}")
        assert not (tmp_path / f"run.{ending}").exists()
