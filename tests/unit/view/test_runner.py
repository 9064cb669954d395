"""The runner: a simulation by the clock, and commands between its steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.registry import keywords, resolve
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.view import messages
from sesshoku.view import runner as runner_module
from sesshoku.view.frame import HEADER
from sesshoku.view.page import Page
from sesshoku.view.runner import Runner
from support import FULL
from viewing import box_scene, compiling
from waiting import PATIENCE, until


@contextmanager
def running(sim: ss.Simulation | None = None, page: Page | None = None, **options: Any) -> Iterator[Runner]:
    sim = sim or ss.Simulation(box_scene())
    sim.step(0)
    runner = Runner(sim, page, **options)
    runner.start()
    try:
        yield runner
    finally:
        runner.stop()
    assert not runner.running


def settle(runner: Runner) -> None:
    """Until all that was asked of the runner is done."""
    done = threading.Event()
    assert runner.ask(done.set) and done.wait(PATIENCE)


def test_time_passes_by_the_clock_at_most() -> None:
    begin = time.monotonic()
    with running(speed=2.0) as runner:
        until(lambda: runner.sim.time > 0.5)
        now = runner.sim.time
        assert now <= 2.0 * (time.monotonic() - begin) + 1e-3


def test_pause_step_and_reset() -> None:
    with running(playing=False) as runner:
        time.sleep(0.05)
        settle(runner)
        assert runner.sim.time == 0.0
        runner.receive(messages.Step(type="step", count=3))
        settle(runner)
        assert runner.sim.time == pytest.approx(3 * runner.sim.dt) and not runner.playing
        runner.receive(messages.Play(type="play"))
        until(lambda: runner.sim.time > 0.02)
        runner.receive(messages.Pause(type="pause"))
        until(lambda: not runner.playing)
        runner.receive(messages.Reset(type="reset"))
        until(lambda: runner.sim.time == 0.0)


def test_reset_repeats_the_run_bit_for_bit() -> None:
    scene = box_scene(2)
    scene.bodies["box1"].position = np.array([0.1, 0.05, 0.65])
    with running(ss.Simulation(scene), playing=False) as runner:
        ends = []
        for _ in range(2):
            runner.receive(messages.Reset(type="reset"))
            runner.receive(messages.Step(type="step", count=300))
            settle(runner)
            assert runner.sim.time == pytest.approx(0.3)
            ends.append(runner.sim.body_poses())
    np.testing.assert_array_equal(*ends)


def test_method_switch_goes_on_from_the_same_state() -> None:
    with running(playing=False) as runner:
        runner.receive(messages.Step(type="step", count=40))
        settle(runner)
        before, old = runner.sim.body_poses(), runner.sim
        runner.receive(messages.ChooseMethod(type="method", name="lcp"))
        until(lambda: runner.sim is not old)
        settle(runner)
        assert runner.sim.method.keyword == "lcp" and runner.sim.time == old.time
        np.testing.assert_allclose(runner.sim.body_poses(), before, atol=1e-12)
        assert runner.status()["method"] == "lcp" and runner.status()["busy"] == ""
        runner.receive(messages.Reset(type="reset"))
        until(lambda: runner.sim.time == 0.0)
        assert runner.sim.method.keyword == "lcp"


def test_unknown_and_refused_methods_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    volume = resolve("volume")
    monkeypatch.setattr(volume.module, "METHOD",
                        replace(volume.definition, supports=lambda compiled: ["it cannot carry boxes"]))
    with running(ss.Simulation(box_scene(1)), playing=False) as runner:
        refused = {entry["name"]: entry["refused"] for entry in runner.methods}
        assert "cannot carry boxes" in refused["volume"] and refused["exact"] == ""
        for name, word in (("../etc", "not offered"), ("volume", "cannot carry boxes")):
            runner.receive(messages.ChooseMethod(type="method", name=name))
            until(lambda word=word: word in runner.notice)
        assert runner.sim.method.keyword == "exact"


def test_a_material_acts_on_the_running_scene() -> None:
    """A box on an incline of 0.3 rad: it stays with mu = 0.5 (tan 0.3 = 0.309), and slides once mu is 0.1."""
    material = ss.Material(0.5)
    scene = ss.Scene(gravity=(9.8 * np.sin(0.3), 0, -9.8 * np.cos(0.3)))
    scene.add_ground(material=material)
    scene.add_box("box", size=(0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.2), material=material)
    with running(ss.Simulation(scene)) as runner:
        until(lambda: runner.sim.time > 0.3)
        assert abs(runner.sim.bodies["box"].position[0]) < 1e-3
        runner.receive(messages.ChangeMaterial(type="material", material=0, field="static_friction", value=0.1))
        until(lambda: runner.sim.bodies["box"].position[0] > 0.05)
        assert runner.status()["materials"][0]["kinetic_friction"] == 0.1
    assert scene.bodies["box"].geometries[0].material is material  # the user's scene is as it was


def test_changes_that_come_quickly_all_act_and_are_built_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way, most, built = 0, 0, 0
    usual = runner_module.Simulation

    def slowly(*given: Any) -> ss.Simulation:
        nonlocal under_way, most, built
        under_way, built = under_way + 1, built + 1
        most = max(most, under_way)
        time.sleep(0.05)
        under_way -= 1
        return usual(*given)

    monkeypatch.setattr(runner_module, "Simulation", slowly)
    with running(ss.Simulation(box_scene(1, ss.Material(0.5)))) as runner:
        for n in range(100):
            runner.receive(messages.ChangeMaterial(type="material", material=0, field="restitution", value=n / 100))
        runner.receive(messages.ChangeMaterial(type="material", material=0, field="static_friction", value=0.2))
        runner.receive(messages.ChooseMethod(type="method", name="lcp"))
        until(lambda: runner.sim.method.keyword == "lcp")
        settle(runner)
        now = runner.status()["materials"][0]
        assert (now["restitution"], now["static_friction"]) == (0.99, 0.2)
        assert most == 1 and built < 20 and runner.status()["busy"] == ""


def test_every_method_takes_over_the_state_and_goes_on() -> None:
    """Two boxes and a pendulum in motion: whatever the law, nothing jumps when it is switched, and time goes on."""
    scene = box_scene(2)
    scene.add_body("arm", position=(0, 1.0, 1.0), joint=Joint("revolute", axis=(0, 1, 0), velocity=[1.0]),
                   inertial=Inertial(1.0, (0, 0, -0.2), (0.02, 0.02, 0.001)))
    with running(ss.Simulation(scene), playing=False) as runner:
        for name in keywords() if FULL else ("springs", "exact"):
            old = runner.sim
            before, speed = old.body_poses(), old.body_velocities()
            runner.receive(messages.ChooseMethod(type="method", name=name))
            until(lambda old=old: runner.sim is not old)
            settle(runner)
            np.testing.assert_allclose(runner.sim.body_poses(), before, atol=1e-9)
            np.testing.assert_allclose(runner.sim.body_velocities(), speed, atol=1e-9)
            begin = runner.sim.time
            runner.receive(messages.Step(type="step", count=20))
            settle(runner)
            assert runner.sim.time == pytest.approx(begin + 20 * runner.sim.dt)
            np.testing.assert_allclose(runner.sim.body_poses()[:, :3], before[:, :3], atol=0.05)
            assert runner.sim.method.keyword == name


def test_drag_moves_a_body_and_release_lets_it_go() -> None:
    with running() as runner:
        drag = messages.Drag(type="drag", body=1, point=(0.0, 0.0, 0.0), target=(0.0, 0.0, 1.0))
        runner.receive(drag, client=5)
        until(lambda: runner.sim.bodies["box0"].position[2] > 0.6)
        runner.receive(messages.Release(type="release"), client=4)  # another browser's: not its to let go
        runner.receive(messages.Release(type="release"), client=5)
        until(lambda: not runner.pulls)
        until(lambda: runner.sim.bodies["box0"].position[2] < 0.25)


def test_every_pull_is_seen_also_while_time_stands_still() -> None:
    def lines(runner: Runner) -> int:
        return int(np.frombuffer(runner.latest[1], "<f4")[HEADER.index("lines")]) if runner.latest[1] else 0

    with running(ss.Simulation(box_scene(2)), playing=False) as runner:
        runner.watchers = 2
        for client in (1, 2):
            runner.receive(messages.Drag(type="drag", body=client, point=(0.0,) * 3, target=(0.0, 0.0, 1.0)), client)
        until(lambda: lines(runner) == 2)
        before = runner.latest
        runner.receive(messages.Drag(type="drag", body=1, point=(0.0,) * 3, target=(0.0, 0.5, 1.0)), 1)
        until(lambda: runner.latest[0] > before[0] and runner.latest[1] != before[1])


def test_a_browser_that_leaves_lets_go() -> None:
    with running() as runner:
        runner.receive(messages.Drag(type="drag", body=1, point=(0.0,) * 3, target=(0.0, 0.0, 1.0)), client=5)
        until(lambda: bool(runner.pulls))
        runner.ask(lambda: runner.leave(5))
        until(lambda: not runner.pulls)


def test_no_frames_are_made_when_nobody_looks() -> None:
    with running() as runner:
        until(lambda: runner.sim.time > 0.2)
        assert runner.latest == (0, b"")
        runner.watchers = 1
        until(lambda: runner.latest[0] > 3)


def test_a_failing_controller_pauses_and_says_why() -> None:
    def controller(sim: ss.Simulation) -> None:
        if sim.time > 0.05:
            raise ValueError("no plan")

    with running(controller=controller) as runner:
        until(lambda: not runner.playing)
        assert "no plan" in runner.notice and runner.running


def test_hooks_of_a_page_are_called_in_order() -> None:
    class Counting(Page):
        def __init__(self) -> None:
            self.calls: list[str] = []

        def begin(self, runner: Runner) -> None:
            self.calls.append("begin")

        def placed(self, sim: ss.Simulation) -> None:
            self.calls.append("placed")

        def before_step(self, sim: ss.Simulation) -> None:
            self.calls.append("before")

        def after_step(self, sim: ss.Simulation) -> None:
            self.calls.append("after")

        def state(self) -> dict[str, int]:
            return {"steps": self.calls.count("after")}

    page = Counting()
    with running(page=page, playing=False) as runner:
        runner.receive(messages.Step(type="step", count=2))
        until(lambda: runner.status()["page"] == {"steps": 2})
        runner.receive(messages.Reset(type="reset"))
        until(lambda: len(page.calls) == 7)
    assert page.calls == ["begin", "placed", "before", "after", "before", "after", "placed"]


def test_a_method_that_compiles_first_says_how_far_it_is() -> None:
    """Before the first frame; time begins to pass when it is ready."""
    sim, compiled = compiling()
    runner = Runner(sim)
    runner.start()
    try:
        until(lambda: runner.status()["progress"] == "compiling exact: 212 of 403 kernels")
        assert runner.status()["busy"] == "exact" and runner.sim.time == 0.0
        compiled.set()
        until(lambda: runner.sim.time > 0.0)
        assert runner.status()["busy"] == runner.status()["progress"] == runner.status()["notice"] == ""
    finally:
        compiled.set()
        runner.stop()


def test_a_viewer_that_ends_while_it_compiles_says_what_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """And does not wait for the compiler."""
    sim, compiled = compiling()
    runner = Runner(sim)
    runner.start()
    until(lambda: bool(runner.progress))
    runner.stop()
    compiled.set()
    assert "ended while compiling exact: 212 of 403 kernels; what is done is kept" in capsys.readouterr().err
    until(lambda: not runner.running)


def test_too_many_commands_are_refused() -> None:
    runner = Runner(ss.Simulation(box_scene()))
    taken = sum(runner.receive(messages.Play(type="play")) for _ in range(5000))
    assert taken == 4096


def test_a_machine_too_slow_runs_slowly_and_evenly() -> None:
    """Each step is made to take 5 dt: the real-time factor settles at a fifth or less, and it says so."""
    class Slow(Page):
        def before_step(self, sim: ss.Simulation) -> None:
            time.sleep(5 * sim.dt)

    with running(ss.Simulation(box_scene(), dt=0.005), Slow()) as runner:
        until(lambda: runner.sim.time > 0.25 and runner.behind and runner.factor > 0.0)
        assert runner.factor <= 0.22


def test_a_page_whose_display_fails_does_not_stop_the_simulation() -> None:
    class Broken(Page):
        def state(self) -> dict[str, int]:
            raise KeyError("score")

    with running(page=Broken()) as runner:
        until(lambda: runner.sim.time > 0.2)
        assert "KeyError" in runner.notice


def test_a_material_that_a_method_does_not_know_is_said() -> None:
    with running(playing=False) as runner:
        assert not next(entry for entry in runner.methods if entry["name"] == "volume")["left_out"]
        runner.receive(messages.ChangeMaterial(type="material", material=0, field="restitution", value=0.5))
        until(lambda: runner.materials[0]["restitution"] == 0.5)
        settle(runner)
        volume = next(entry for entry in runner.methods if entry["name"] == "volume")
        assert "restitution" in volume["left_out"] and volume["refused"] == ""
