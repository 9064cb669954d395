"""The real page in a real browser: it draws, its buttons act, the mouse pulls, and files play from disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sesshoku as ss
from browsing import Tab
from sesshoku.comparison.compare import compare
from sesshoku.view import Viewer
from sesshoku.view.messages import Play
from viewing import box_scene, compiling, viewing
from waiting import until

# where a body's centre is on the screen
PLACE = """(body) => {
  const world = sesshoku.worlds[0];
  const at = world.bodies[body].getWorldPosition(sesshoku.controls.target.clone()).project(sesshoku.camera);
  const box = sesshoku.canvas.getBoundingClientRect();
  return [box.left + (at.x + 1) / 2 * box.width, box.top + (1 - at.y) / 2 * box.height];
}"""


@pytest.fixture(scope="module")
def viewer() -> Iterator[Viewer]:
    """One simulation for all tests of the live page; each resets it."""
    sim = ss.Simulation(box_scene(1, ss.Material(0.5, name="wood")))
    sim.step(0)
    with viewing(sim) as made:
        yield made


@pytest.fixture(scope="module")
def shared_tab(browser: Any, viewer: Viewer) -> Iterator[Any]:
    made = Tab(browser)
    made.open(viewer.url)
    yield made
    made.page.close()


@pytest.fixture
def live(shared_tab: Any, viewer: Viewer) -> Iterator[Any]:
    """The live page, the same for all (opening one is slow), with the simulation at its start and running."""
    viewer.runner.ask(viewer.runner.reset)
    viewer.runner.ask(lambda: viewer.runner._act(Play(type="play"), 0))
    yield shared_tab
    viewer.runner.ask(viewer.runner.pause)
    assert not shared_tab.complaints


def test_a_page_before_its_first_frame_says_how_far_the_compiler_is(browser: Any) -> None:
    sim, compiled = compiling()
    with viewing(sim) as made:
        tab = Tab(browser)
        tab.page.goto(made.url)
        note = "document.querySelector('.note')?.textContent"
        tab.until(f"{note} === 'compiling exact: 212 of 403 kernels; the first time only'")
        compiled.set()
        tab.page.wait_for_selector("body[data-drawn]")
        tab.until(f"{note} === ''")
        assert not tab.complaints
        tab.page.close()


def test_the_page_draws_the_scene(live: Any, viewer: Viewer) -> None:
    seen = live.pixels()
    assert seen["colors"] > 50 and 0.005 < seen["blue"] < 0.5
    assert abs(seen["x"] - 0.5) < 0.25 and abs(seen["y"] - 0.5) < 0.25  # the box is in the middle
    assert all(url.startswith((viewer.url, "data:")) for url in live.asked)


def test_contacts_are_drawn_with_their_forces(live: Any) -> None:
    live.until("sesshoku.worlds[0].contacts.heads.mesh.count === 4")
    assert live.get("sesshoku.worlds[0].contacts.cones.mesh.count") == 0
    live.page.locator("input[data-kind=cones]").check()
    live.until("sesshoku.worlds[0].contacts.cones.mesh.count === 4")
    live.page.locator("input[data-kind=forces]").uncheck()
    live.until("sesshoku.worlds[0].contacts.heads.mesh.count === 0")
    live.page.locator("input[data-kind=forces]").check()


def test_buttons_pause_step_and_reset(live: Any, viewer: Viewer) -> None:
    live.page.locator("#play").click()
    until(lambda: not viewer.runner.playing)
    before = viewer.sim.time
    live.page.locator("#step").click()
    until(lambda: viewer.sim.time > before)
    assert viewer.sim.time == pytest.approx(before + viewer.sim.dt)
    live.page.locator("#reset").click()
    until(lambda: viewer.sim.time == 0.0)
    live.page.locator("#play").click()
    until(lambda: viewer.sim.time > 0.0)
    live.page.locator("#speed").fill("-1")
    until(lambda: viewer.runner.speed == pytest.approx(0.1))
    live.page.locator("#speed").fill("0")
    until(lambda: viewer.runner.speed == pytest.approx(1.0))


def test_hovering_shows_the_name(live: Any) -> None:
    x, y = live.page.evaluate(PLACE, 1)
    live.page.mouse.move(x, y)
    live.until("document.querySelector('.tip').style.display === 'block'")
    assert live.get("document.querySelector('.tip').textContent") == "box0"


def test_dragging_moves_the_body(live: Any, viewer: Viewer) -> None:
    x, y = live.page.evaluate(PLACE, 1)
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x, y - 120, steps=4)
    until(lambda: viewer.sim.bodies["box0"].position[2] > 0.3)
    drawn = "sesshoku.worlds[0].contacts"
    live.until(f"{drawn}.shafts.mesh.count === {drawn}.heads.mesh.count + 1")  # the spring is seen: a shaft and no head
    live.page.mouse.up()
    until(lambda: not viewer.runner.pulls)
    until(lambda: viewer.sim.bodies["box0"].position[2] < 0.3)


def test_the_mouse_turns_the_camera_elsewhere(live: Any, viewer: Viewer) -> None:
    before = live.get("sesshoku.camera.position.toArray()")
    live.page.mouse.move(30, 60)
    live.page.mouse.down()
    live.page.mouse.move(120, 80, steps=3)
    live.page.mouse.up()
    live.until(f"sesshoku.camera.position.x !== {before[0]}")
    assert not viewer.runner.pulls


def test_switching_the_method(live: Any, viewer: Viewer) -> None:
    for name in ("lcp", "exact"):
        live.page.locator("#method").select_option(name)
        until(lambda name=name: viewer.sim.method.keyword == name)
        live.until(f"document.querySelector('#method').value === '{name}'")
        live.until(f"sesshoku.live.frame.head.time > {viewer.sim.time}")  # and it goes on


def test_material_sliders_act(live: Any, viewer: Viewer) -> None:
    live.page.locator("fieldset input[type=range]").first.fill("0.2")
    until(lambda: viewer.runner.materials[0]["static_friction"] == 0.2)
    assert viewer.sim.scene.bodies["box0"].geometries[0].material.static_friction == 0.2


def test_what_methods_leave_out_is_named(live: Any, viewer: Viewer) -> None:
    slide = live.page.locator("fieldset input[type=range]").nth(2)
    slide.fill("0.3")  # restitution, which `volume` and `springs` do not have
    live.until("/volume, volume:recommended.*left out: restitution/.test("
               "document.querySelector('.reasons').textContent)")
    assert not live.get("document.querySelector('#method option[value=volume]').disabled")
    slide.fill("0")
    live.until("document.querySelector('.reasons').textContent === ''")


def test_charts_draw(live: Any) -> None:
    live.until("sesshoku.live.charts.times.length > 5")
    assert live.get("sesshoku.live.charts.charts.length") == 5
    live.until("document.querySelector('.chart-now').textContent.includes('N')")
    assert live.pixels(".chart canvas")["colors"] > 3


def test_two_pages_stay_in_step(live: Any, viewer: Viewer, browser: Any) -> None:
    other = Tab(browser)
    other.open(viewer.url)
    live.page.locator("#play").click()
    until(lambda: not viewer.runner.playing)
    for tab in (live, other):
        tab.until("!sesshoku.live.playing")
        tab.until(f"Math.abs(sesshoku.live.frame.head.time - {viewer.sim.time}) < 1e-4")
    other.page.locator("#play").click()
    live.until("sesshoku.live.playing")
    other.page.close()  # a page that closes stops nothing
    now = viewer.sim.time
    until(lambda: viewer.sim.time > now + 0.05)
    assert not other.complaints


def test_a_recording_plays_from_disk(tab: Any, tmp_path: Path) -> None:
    scene = ss.Scene(name="falling")
    scene.add_ground()
    scene.add_box("crate", size=(0.4, 0.4, 0.4), mass=1.0, position=(0, 0, 0.8))
    path = ss.Simulation(scene).run(0.6).to_html(tmp_path / "run.html")
    tab.open(path.as_uri())
    high = tab.pixels()
    assert high["blue"] > 0.005
    tab.page.locator("button.play").click()
    tab.until("sesshokuPlayers[0].time >= 0.6 && !sesshokuPlayers[0].playing")
    tab.until("sesshokuPlayers[0].viewer.worlds[0].contacts.heads.mesh.count === 4")
    tab.drawn()
    assert tab.pixels()["y"] > high["y"] + 0.03  # it fell
    tab.page.locator("input.timeline").fill("0.1")
    tab.until("Math.abs(sesshokuPlayers[0].time - 0.1) < 1e-6")
    z = tab.get("sesshokuPlayers[0].viewer.worlds[0].bodies[1].position.z")
    assert z == pytest.approx(0.8 - 4.9 * 0.1**2, abs=0.02)
    assert all(url.startswith(("file:", "blob:", "data:")) for url in tab.asked)


def test_compare_plays_methods_side_by_side_in_sync(tab: Any, tmp_path: Path) -> None:
    scene = box_scene(1)
    scene.bodies["box0"].velocity = (2.0, 0, 0)
    compare(scene, ["exact", "lcp"], time=0.4).to_html(tmp_path / "report.html")
    tab.open((tmp_path / "report.html").as_uri())
    titles = tab.get("[...document.querySelectorAll('.cell-title')].map((e) => e.textContent)")
    assert titles == ["exact", "lcp"]
    tab.get("sesshokuPlayers[0].goTo(0.2)")
    times = tab.get("sesshokuPlayers[0].runs.map((run) => run.times[run.shown])")
    assert times == pytest.approx([0.2, 0.2], abs=1e-3)
    places = tab.get("sesshokuPlayers[0].viewer.worlds.map((world) => world.bodies[1].position.x)")
    assert places == pytest.approx([2.0 * 0.2 - 0.5 * 4.9 * 0.04] * 2, abs=0.01)


def test_in_a_notebook_it_stands_within_the_page(browser: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A page of another origin shows it in a frame; without the token, and without being asked for, it does not."""
    from sesshoku import view

    monkeypatch.setattr(view, "in_notebook", lambda: True)
    sim = ss.Simulation(box_scene(1))
    sim.step(0)
    with sim.show() as made:  # neither blocks nor opens a browser
        assert "?token=" in made.url
        (tmp_path / "notebook.html").write_text(f"<p>a cell</p>{made._repr_html_()}")
        tab = Tab(browser, 900, 700)
        tab.page.goto((tmp_path / "notebook.html").as_uri())
        frame = tab.page.frames[-1]
        frame.wait_for_selector("body[data-drawn]")
        assert frame.url == made.url
        tab.page.goto(made.url.partition("?")[0])
        assert "token" in tab.page.content() or not tab.page.query_selector("body[data-drawn]")
        tab.page.close()
