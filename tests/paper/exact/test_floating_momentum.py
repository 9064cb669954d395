"""Mechanisms in flight under `exact`: what they hit, and their own links, leave momentum and angular momentum alone."""

from __future__ import annotations

import numpy as np
import pytest

import sesshoku as ss
from sesshoku.methods.exact.work import floating_trees
from support import sample_count


def thrown_arm(rng, gravity=0.0, bounce=0.0, friction=0.4, dt=1e-3):
    """A box with two limbs in flight, turning, and two balls and a second such arm that come at it."""
    material = ss.Material(friction, None, bounce)
    scene = ss.Scene(gravity=(0, 0, -gravity))
    for name, x in (("one", 0.0), ("two", 0.75)):
        scene.add_box(name, size=(0.2, 0.15, 0.1), mass=2.0, position=(x, 0, 1.0), material=material,
                      velocity=(-2.0 * x, 0.1, 0), angular_velocity=rng.normal(size=3))
        parent, z = name, 0.05
        for n in range(2):
            limb = f"{name}_{n}"
            scene.add_box(limb, size=(0.05, 0.05, 0.2), mass=0.5, parent=parent, position=(0, 0, z + 0.1),
                          material=material, joint=ss.Joint("revolute", axis=(0, 1, 0), anchor=(0, 0, -0.1),
                                                            velocity=float(rng.normal())))
            parent, z = limb, 0.1
    for n, place in enumerate(((-0.4, 0.03, 1.02), (0.02, 0.4, 1.3))):
        place = np.array(place) + 0.02 * rng.normal(size=3)
        scene.add_sphere(f"ball_{n}", radius=0.06, mass=0.4, position=place, material=material,
                         velocity=-4.0 * (place - (0, 0, place[2])))
    return ss.Simulation(scene, "exact", dt)


def momenta(sim):
    return np.asarray(sim.momentum(about=(0, 0, 1)))


@pytest.mark.parametrize("dt", [1e-3, 5e-3])
@pytest.mark.parametrize("bounce", [0.0, 0.6])
def test_no_step_with_contacts_changes_the_momenta(dt, bounce, rng):
    """Whatever hits a floating mechanism: P and L are those of the step's start, and the report says so."""
    loaded = 0
    for _ in range(sample_count(2, 20)):
        sim = thrown_arm(rng, 0.0, bounce, dt=dt)
        size = np.abs(momenta(sim)).max() + 1.0
        for _ in range(round(0.4 / dt)):
            before = momenta(sim)
            sim.step()
            assert sim.report.momentum_residual <= 1e-10 * size
            if touches(sim):
                loaded += 1
                assert momenta(sim) == pytest.approx(before, abs=1e-10 * size)
    assert loaded > 0


def touches(sim):
    """Whether both mechanisms are in islands in which a contact carries load: others drift, at their order."""
    held = {name for contact in sim.contacts if contact.normal_force > 0.0 for name in contact.bodies}
    return all(any(name.startswith(robot) for name in held) for robot in ("one", "two"))


def gripper(dt):
    """A base with two fingers that springs press on a ball, thrown up, turning."""
    material = ss.Material(1.0, None, 0.0)
    scene = ss.Scene(gravity=(0, 0, -9.8))
    scene.add_box("base", size=(0.3, 0.1, 0.05), mass=1.0, position=(0, 0, 1), velocity=(0.3, 0, 2),
                  angular_velocity=(0.5, 1.0, -0.7), material=material)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        scene.add_box(name, size=(0.02, 0.08, 0.1), mass=0.1, parent="base", position=(-sign * 0.07, 0, 0.1),
                      material=material, joint=ss.Joint("prismatic", axis=(sign, 0, 0), stiffness=500.0, rest=0.03,
                                                        viscous=5.0, position=0.01))
    place = np.array([0, 0, 0.1])
    scene.add_sphere("ball", radius=0.05, mass=0.3, position=place + (0, 0, 1), material=material,
                     velocity=(0.3, 0, 2) + np.cross((0.5, 1.0, -0.7), place), angular_velocity=(0.5, 1.0, -0.7))
    return ss.Simulation(scene, "exact", dt)


@pytest.mark.boundscheck
def test_forces_bring_what_they_bring():
    """Gravity and a push on one link change the momenta by just their impulses, at second order of where they act."""
    errors = []
    for dt in (2e-3, 1e-3):
        sim = gripper(dt)
        before, given, push = momenta(sim), np.zeros(6), np.array([0.3, -0.2, 0.5])
        weight = np.array([0, 0, -9.8 * 1.5])
        for _ in range(round(0.2 / dt)):
            sim.apply_force("left", push)
            finger, center = sim.bodies["left"].center_of_mass.copy(), sim.center_of_mass()
            sim.step()
            assert sim.report.momentum_residual < 1e-11
            finger = 0.5 * (finger + sim.bodies["left"].center_of_mass) - (0, 0, 1)
            center = 0.5 * (center + sim.center_of_mass()) - (0, 0, 1)
            given += dt * np.concatenate([push + weight, np.cross(finger, push) + np.cross(center, weight)])
        assert min(contact.normal_force for contact in sim.contacts) > 5.0
        errors.append(np.abs(momenta(sim) - before - given).max())
    assert errors[0] < 1e-4 and errors[1] < 0.3 * errors[0] + 1e-11


def test_which_trees_float():
    scene = ss.Scene()
    scene.add_sphere("free", radius=0.1, mass=1.0)
    scene.add_sphere("tied", radius=0.1, mass=1.0, position=(1, 0, 0))
    scene.add_loop("ball", "tied")
    scene.add_box("base", size=(0.1, 0.1, 0.1), mass=1.0, position=(2, 0, 0), fixed=True)
    scene.add_box("arm", size=(0.1, 0.1, 0.1), mass=1.0, parent="base", position=(0, 0, 0.2),
                  joint=ss.Joint("revolute", axis=(0, 1, 0)))
    sim = ss.Simulation(scene, "exact", 1e-3)
    floats = {name: bool(floating_trees(sim.model)[sim.model.link_tree[sim.bodies[name].link]])
              for name in ("free", "tied", "arm")}
    assert floats == {"free": True, "tied": False, "arm": False}
