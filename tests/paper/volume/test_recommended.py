"""What the preset mends, and what both must do."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from volume_scenes import DT, RUBBER, G, box, volume

PRESET = "volume:recommended"


def test_weight_does_not_sink():
    """0.5, 50 and 500 kg on the same base rest within 0.1 mm of each other; by the paper's lambda they do not."""
    def depths(method):
        found = []
        for mass in (0.5, 50.0, 500.0):
            sim = box((0.3, 0.3, 0.3), mass=mass, method=method)
            sim.step(1000)
            found.append(0.15 - sim.bodies["box"].position[2])
        return np.ptp(found)

    assert depths(PRESET) < 1e-6
    assert depths("volume") > 1e-3


def test_a_static_load_does_not_creep():
    """20 % of the limit through 15 s: less than a micrometre; by the paper's lambda more."""
    def creep(method):
        sim = box((0.2, 0.2, 0.2), method=method)
        sim.step(200)
        start = sim.bodies["box"].position.copy()
        for _ in range(15):
            sim.apply_force("box", (0.2 * 0.5 * G, 0, 0))
            sim.step(1000)
            assert sim.contacts[0].state == "stick"
        return np.linalg.norm(sim.bodies["box"].position - start)

    assert creep(PRESET) < 1e-6
    assert creep("volume") > 1e-5


def slide(method, speed=1.0):
    """Normal forces and heights of a cube that slides to rest, and where."""
    sim = box((0.2, 0.2, 0.2), velocity=(speed, 0, 0), method=method)
    forces, heights = [], []
    for _ in range(600):
        sim.step()
        forces.append(sum(contact.normal_force for contact in sim.contacts))
        heights.append(sim.bodies["box"].position[2] - 0.1)
    return np.array(forces), np.array(heights), sim.bodies["box"].position[0]


def test_sliding_without_hops():
    """The paper's normal force is found under the hypothesis of no slip: it kicks the cube off the floor."""
    expected = 1.0 / (2 * 0.3 * G)
    forces, heights, distance = slide(PRESET)
    assert distance == pytest.approx(expected, rel=5e-3) and heights.max() < 1e-6
    assert forces[5:300] == pytest.approx(G, abs=0.3)
    forces, heights, distance = slide("volume")
    assert distance == pytest.approx(expected, rel=2e-2)
    assert heights.max() > 3e-3 and forces.max() > 80.0


def test_stacked_boxes_slide_together():
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    for n, size in enumerate((0.3, 0.2)):
        scene.add_box(f"box{n}", size=(size, size, 0.1), mass=1.0, position=(0, 0, 0.05 + 0.1 * n), velocity=(1, 0, 0),
                      material=RUBBER)
    sim = ss.Simulation(scene, PRESET, DT)
    for _ in range(600):
        sim.step()
        apart = sim.bodies["box1"].position - sim.bodies["box0"].position - [0, 0, 0.1]
        assert np.linalg.norm(apart) < 1e-4
    assert sim.bodies["box0"].position[0] == pytest.approx(1.0 / (2 * 0.3 * G), rel=5e-3)


@pytest.mark.parametrize("keyword", ["volume", PRESET])
def test_an_overhang_of_a_centimetre_rests(keyword):
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    scene.add_box("low", size=(0.2, 0.2, 0.1), mass=1.0, position=(0, 0, 0.05), material=RUBBER)
    scene.add_box("high", size=(0.2, 0.2, 0.1), mass=1.0, position=(0.01, 0, 0.15), material=RUBBER)
    sim = ss.Simulation(scene, keyword, DT)
    sim.step(3000)
    assert sim.bodies["high"].position[:2] == pytest.approx([0.01, 0], abs=1e-5)
    assert sim.bodies["high"].position[2] == pytest.approx(0.15, abs=5e-5)  # two rest depths of 20 um
    assert np.abs(sim.v).max() < 1e-6 and {contact.state for contact in sim.contacts} == {"stick"}


@pytest.mark.parametrize("keyword", ["volume", PRESET])
def test_a_spinning_disc_stops_as_if_its_load_sat_on_the_rim(keyword):
    radius, spin = 0.1, 10.0
    scene = ss.Scene(gravity=(0, 0, -G))
    scene.add_ground(material=RUBBER)
    scene.add_cylinder("disc", radius=radius, length=0.02, mass=1.0, position=(0, 0, 0.01),
                       angular_velocity=(0, 0, spin), material=RUBBER)
    sim = ss.Simulation(scene, keyword, DT)
    while abs(sim.bodies["disc"].angular_velocity[2]) > 1e-4 and sim.time < 1.0:
        sim.step()
    rim = 0.5 * radius * spin / (0.3 * G)  # I w / (mu_d m g R)
    assert sim.time == pytest.approx(rim, rel=0.01) and abs(sim.time - 1.5 * rim) > 0.4 * rim


def test_slip_begins_with_friction():
    """At onset the paper finds no slip to oppose and lets go for a step; with the free motion's direction it drags."""
    for onset, drag in (("none", 0.0), ("free", 0.3)):
        sim = box((0.2, 0.2, 0.02), method=volume(onset=onset, regularization=1e-7, regularization_unit="trace"))
        sim.step(100)
        sim.v[:] = 0.0
        sim.apply_force("box", (0.8 * G, 0, 0), point=(0, 0, 0.0))
        sim.step()
        contact = sim.contacts[0]
        assert contact.state == "slip"
        assert contact.friction_force[0] == pytest.approx(-drag * contact.normal_force, abs=1e-3 * contact.normal_force)
