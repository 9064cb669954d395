"""Hundreds of broken scene files: nothing but a SceneError comes out, it names the file, and what reads round-trips.

The mutations are seeded, so a failure repeats.
"""

from __future__ import annotations

import copy
import random
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest

from every_kind import assert_same_scene, every_kind
from sesshoku.errors import SceneError
from sesshoku.scene.io.toml.read import read_scene, write_scene
from sesshoku.scene.io.toml.write import dumps
from sesshoku.scene.scene import Scene
from support import SEED, sample_count

ROOT = Path(__file__).parents[2]
COUNT = sample_count(300, 3000)
# tables without mesh or robot files, so that no mutation runs a decomposition
SOURCES = ("double_pendulum", "four_bar", "gripper_and_belt", "tumbling")
ODD: list[Any] = [float("nan"), float("inf"), -float("inf"), -1, 0, 1e308, -1e308, 1e-320, 10**30, 10**400, "",
                  "world", "x" * 300,
                  True, [], {}, [[]], [1], [1, 2, 3], [0, 0, 0], [1, 0, 0, 0], ["a",
                                                                                "b"], [["a"]], {"kind": "free"}, [{}],
                  "free", "fixed", "mesh", "\x7f\t", "../..", [1e200, 1e200, 1e200], 1.5, 0.0, -0.0]


def tables(folder: Path) -> list[dict[str, Any]]:
    write_scene(every_kind(), folder / "every.toml")
    paths = [folder / "every.toml"] + [ROOT / f"examples/{name}.toml" for name in SOURCES]
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in paths]


# ---- mutations of tables ------------------------------------------------------------------------------------------


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside nested tables and lists."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, inner in items:
        found += [(value, key), *places(inner)]
    return found


def replace_value(data: dict[str, Any], rng: random.Random) -> None:
    container, key = rng.choice(places(data))
    container[key] = copy.deepcopy(rng.choice(ODD))


def delete_key(data: dict[str, Any], rng: random.Random) -> None:
    container, key = rng.choice(places(data))
    del container[key]


def rename_key(data: dict[str, Any], rng: random.Random) -> None:
    container, key = rng.choice([place for place in places(data) if isinstance(place[0], dict)])
    container[rng.choice(["", "x", key + "s", key[1:], "name", "parent", "a.b", "é"])] = container.pop(key)


def swap_values(data: dict[str, Any], rng: random.Random) -> None:
    (one, key), (other, at) = rng.sample(places(data), 2)
    one[key], other[at] = copy.deepcopy(other[at]), copy.deepcopy(one[key])


def double_element(data: dict[str, Any], rng: random.Random) -> None:
    lists = [container[key] for container, key in places(data) if isinstance(container[key], list)]
    chosen = rng.choice([value for value in lists if value] or [[0]])
    chosen.insert(rng.randrange(len(chosen) + 1), copy.deepcopy(rng.choice(chosen)))


TABLE_MUTATIONS = (replace_value, replace_value, delete_key, rename_key, swap_values, double_element)

# ---- mutations of text --------------------------------------------------------------------------------------------


def mutate_text(text: str, rng: random.Random) -> bytes:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    raw = text.encode()
    spot = rng.randrange(len(raw))
    return rng.choice([
        lambda: "\n".join(lines[:at] + lines[at + 1:]).encode(),
        lambda: "\n".join(lines[:at] + [lines[other]] + lines[at:]).encode(),
        lambda: raw[:spot],
        lambda: raw[:spot] + bytes([rng.randrange(256)]) + raw[spot + 1:],
        lambda: raw[:spot] + rng.choice([b'"', b"[", b"]]", b"{", b"=", b"\n", b"'''", b"9" * 5000, b"[" * 3000,
                                         b"\0"]) + raw[spot:],
        lambda: raw[:spot] + raw[rng.randrange(len(raw)):],
        lambda: text.replace("\n", "\r\n").replace("=", rng.choice(["==", "=", ":"]), 1).encode(),
    ])()


# ---- the property -------------------------------------------------------------------------------------------------


def check(path: Path) -> bool:
    """True if the file was read; then it round-trips and can be exported. False if it was refused properly."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            scene = read_scene(path)
        except SceneError as error:
            assert str(path) in str(error) and error.problem
            return False
        again = path.with_name("again.toml")
        write_scene(scene, again)
        assert_same_scene(scene, read_scene(again))
        assert isinstance(scene, Scene) and "<mujoco" in scene.to_mjcf()
        return True


@pytest.fixture(autouse=True)
def _no_lasting_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSHOKU_CACHE", str(tmp_path / "cache"))


def test_broken_tables_give_scene_errors(tmp_path: Path) -> None:
    originals, outcomes = tables(tmp_path), []
    for number in range(COUNT):
        rng = random.Random(SEED * 100_003 + number)
        data = copy.deepcopy(rng.choice(originals))
        for _ in range(rng.choice([1, 1, 2, 3])):
            if len(places(data)) > 1:  # an earlier mutation may have left next to nothing
                rng.choice(TABLE_MUTATIONS)(data, rng)
        path = tmp_path / "scene.toml"
        path.write_text(dumps(data), encoding="utf-8")
        outcomes.append(check_named(path, f"table mutation {number} of seed {SEED}"))
    assert 0.2 < outcomes.count(False) / COUNT < 0.99  # mutations bite, and not every file is refused


def test_broken_text_gives_scene_errors(tmp_path: Path) -> None:
    texts = [dumps(data) for data in tables(tmp_path)]
    outcomes = []
    for number in range(COUNT):
        rng = random.Random(SEED * 100_019 + number)
        path = tmp_path / "scene.toml"
        path.write_bytes(mutate_text(rng.choice(texts), rng))
        outcomes.append(check_named(path, f"text mutation {number} of seed {SEED}"))
    assert 0.2 < outcomes.count(False) / COUNT < 0.99


def check_named(path: Path, name: str) -> bool:
    try:
        return check(path)
    except Exception as error:
        error.add_note(f"{name}; the file:\n{path.read_bytes()[:4000]!r}")
        raise
