"""What a notebook shows of a scene, a simulation, a recording and a comparison."""

from __future__ import annotations

import base64
import html
import io
import re

import numpy as np
from PIL import Image

import sesshoku as ss


def crate() -> ss.Scene:
    scene = ss.Scene(name="a <crate>")
    scene.add_ground()
    scene.add_box("crate", size=(0.4, 0.4, 0.4), mass=2.0, position=(0, 0, 0.4), color=(1.0, 0.0, 0.0))
    return scene


def pictures(text: str) -> list[np.ndarray]:
    return [np.asarray(Image.open(io.BytesIO(base64.b64decode(code))).convert("RGB"))
            for code in re.findall(r"data:image/png;base64,([^']+)'", text)]


def test_scene_and_simulation_show_a_picture_and_say_what_they_are() -> None:
    sim = ss.Simulation(crate(), "none")
    for shown in (crate()._repr_html_(), sim._repr_html_()):
        (picture,) = pictures(shown)
        red = (picture[..., 0] > 120) & (picture[..., 1] < 60)
        assert red.sum() > 500  # the crate is in it
        assert "a &lt;crate&gt;" in shown and "<crate>" not in shown


def test_a_recording_plays_within_a_frame() -> None:
    run = ss.Simulation(crate(), "none", 1e-3).run(0.05, rate=100)
    shown = run._repr_html_()
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', shown).group(1))
    assert page.startswith("<!doctype html>") and "sesshoku-player" in page
    assert "sandbox='allow-scripts'" in shown  # its scripts see nothing of the notebook


def test_without_the_viewer_a_recording_shows_pictures(monkeypatch) -> None:
    from sesshoku.errors import SesshokuError
    from sesshoku.view import bundle

    def missing() -> None:
        raise SesshokuError("not installed")

    monkeypatch.setattr(bundle, "require", missing)
    run = ss.Simulation(crate(), "none", 1e-3).run(0.05, rate=100)
    assert pictures(run._repr_html_())[0].shape == (240, 960, 3)


def test_a_comparison_is_its_page() -> None:
    result = ss.compare(crate(), methods=["exact"], time=0.02, dt=1e-3)
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', result._repr_html_()).group(1))
    assert "How to read it" in page


def test_what_has_no_pictures_is_text() -> None:
    run = ss.Simulation(crate(), "none", 1e-3).run(0.01, record=["q"])
    assert run._repr_html_().startswith("<pre")
