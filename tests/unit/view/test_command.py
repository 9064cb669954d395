"""`sesshoku view`: a scene is served until interrupted, a recording becomes a page, bad input is said."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import sesshoku as ss
from command_line import Call, caller
from viewing import box_scene
from waiting import PATIENCE, interruptible


def start(*words: str) -> tuple[subprocess.Popen[str], str]:
    """The command in a process of its own, and the address it prints."""
    process = interruptible("-m", "sesshoku", "view", *words, "--no-browser", stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"http://\S+", line)
        if found:
            return process, found[0]
    raise AssertionError(process.communicate())


@pytest.fixture
def scene_file(tmp_path: Path) -> Path:
    box_scene().save(tmp_path / "boxes.toml")
    return tmp_path / "boxes.toml"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_scene_is_served_until_interrupted(scene_file: Path, number: signal.Signals) -> None:
    process, url = start(str(scene_file), "--paused")
    try:
        assert url.startswith("http://127.0.0.1:") and "token" not in url
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            assert "sesshoku/live" in answer.read().decode()
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, errors
    finally:
        process.kill()


AT_ONCE = """
import builtins, os, signal
from sesshoku.view import show
from viewing import box_scene
import sesshoku as ss

builtins.print = lambda *words, **options: os.kill(os.getpid(), signal.{name})   # as soon as the address is said
viewer = show(ss.Simulation(box_scene()), browser=False)
assert not viewer.runner.running and not viewer.server._thread.is_alive()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_as_soon_as_the_address_is_said_ends_it_in_order(name: str) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *filter(None, sys.path)])
    process = interruptible("-c", AT_ONCE.format(name=name), stderr=subprocess.PIPE,
                            env=os.environ | {"PYTHONPATH": path})
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, errors


def test_another_host_gets_a_token(scene_file: Path) -> None:
    process, url = start(str(scene_file), "--host", "0.0.0.0")
    process.kill()
    process.communicate()
    assert re.search(r"\?token=[\w-]{32}$", url)


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    return caller(monkeypatch, capsys)


@pytest.mark.parametrize("suffix", [".npz", ".ssk"])
def test_a_recording_becomes_a_page(tmp_path: Path, call: Call, suffix: str) -> None:
    ss.Simulation(box_scene()).run(0.05).save(tmp_path / f"run{suffix}")
    said = call("view", tmp_path / f"run{suffix}", "--html", tmp_path / "run.html")
    assert said.code == 0 and f"wrote {tmp_path / 'run.html'}" in said.out
    assert (tmp_path / "run.html").stat().st_size > 100_000


@pytest.mark.parametrize(("words", "reason"), [
    (("missing.npz",), "no such file"), (("missing.toml",), "check the path"),
    (("boxes.toml", "--html", "a.html"), "recordings"), (("boxes.toml", "--speed", "0"), "speed"),
    (("boxes.toml", "--method", "magic"), "no such method"),
    (("boxes.toml", "--host", "203.0.113.7"), "cannot listen")])
def test_bad_input_is_said_in_one_line(scene_file: Path, call: Call, monkeypatch: pytest.MonkeyPatch,
                                       words: tuple[str, ...], reason: str) -> None:
    monkeypatch.chdir(scene_file.parent)
    said = call("view", *words, "--no-browser")
    assert said.code == 2 and reason in said.err
