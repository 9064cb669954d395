"""Springs, viscous friction and actuators: forces, clipping, and the implicit diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sesshoku.dynamics.actuation import joint_forces
from sesshoku.scene.elements import Inertial, Joint
from sesshoku.scene.scene import Scene
from trees import Posed

pytestmark = pytest.mark.boundscheck


def one_joint(joint: dict[str, Any] | None = None, actuators: tuple[dict[str, Any], ...] = ()) -> Posed:
    scene = Scene(gravity=(0, 0, 0))
    scene.add_body("wall", fixed=True)
    scene.add_body("arm", parent="wall", inertial=Inertial(1.0, (0, 0, 0), np.eye(3)),
                   joint=Joint("revolute", **{"position": 0.3, "velocity": -0.7} | (joint or {})))
    for n, actuator in enumerate(actuators):
        scene.add_actuator("arm", name=f"m{n}", **actuator)
    return Posed(scene)


def forces(posed: Posed, dt: float) -> tuple[float, float]:
    """Joint force and implicit diagonal."""
    joint_forces(posed.model, posed.data, posed.data.q, posed.data.v, dt, 1.0)
    return float(posed.data.joint_force[0]), float(posed.data.implicit_diagonal[0])


@pytest.mark.nojit
def test_spring_and_damper() -> None:
    joint = {"stiffness": 20.0, "rest": 0.1, "viscous": 3.0}
    assert forces(one_joint(joint), 0.0) == pytest.approx((-20 * 0.2 + 3 * 0.7, 0.0))
    h = 0.01  # implicit: the spring is taken at q + h v, and h d + h^2 k is added to the inertia
    assert forces(one_joint(joint), h) == pytest.approx((-20 * (0.2 - h * 0.7) + 3 * 0.7, h * 3 + h * h * 20))
    assert forces(one_joint(joint | {"implicit": False}), h) == pytest.approx((-20 * 0.2 + 3 * 0.7, 0.0))


@pytest.mark.parametrize(("actuator", "force", "diagonal"), [
    ({"kind": "torque", "target": 2.0, "feed_forward": 0.5}, 2.5, 0.0),
    ({"kind": "torque", "target": 2.0, "gear": -3.0}, -6.0, 0.0),
    ({"kind": "position", "kp": 10.0, "kd": 2.0, "target": 1.0, "target_velocity": 0.5, "feed_forward": 0.25},
     10 * 0.7 + 2 * 1.2 + 0.25, 0.0),
    ({"kind": "position", "kp": 10.0, "target": 1.0, "gear": 2.0}, 14.0, 0.0),
    ({"kind": "velocity", "kd": 2.0, "target_velocity": 0.5, "kp": 99.0, "target": 7.0}, 2 * 1.2, 0.0),
    ({"kind": "position", "kp": 10.0, "target": 1.0, "effort": 3.0}, 3.0, 0.0),
    ({"kind": "position", "kp": 10.0, "target": -1.0, "effort": 3.0, "gear": 2.0}, -6.0, 0.0),
])
@pytest.mark.parametrize("explicit", [True, False])
def test_actuator_laws(actuator: dict[str, Any], force: float, diagonal: float, explicit: bool) -> None:
    """Explicitly the law as written; with dt a servo is taken at q + dt v and stiffens the diagonal, unless clipped."""
    h = 0.01
    posed = one_joint(actuators=({**actuator, "implicit": not explicit},))
    given, extra = forces(posed, h)
    kp = actuator.get("kp", 0.0) if actuator["kind"] == "position" else 0.0
    kd = actuator.get("kd", 0.0) if actuator["kind"] != "torque" else 0.0
    gear, clipped = actuator.get("gear", 1.0), "effort" in actuator
    if explicit or clipped:
        assert (given, extra) == pytest.approx((force, diagonal))
    else:
        assert given == pytest.approx(force + gear * kp * h * 0.7)
        assert extra == pytest.approx(gear * (h * kd + h * h * kp))
    assert posed.data.actuator_force[0] == given


def test_the_joints_effort_clips_the_sum() -> None:
    servo = {"kind": "position", "kp": 100.0, "target": 5.0, "implicit": False}
    posed = one_joint({"effort": 4.0}, (servo, {"kind": "torque", "target": -9.0}))
    assert forces(posed, 0.01) == (4.0, 0.0)  # 470 - 9, clipped
    np.testing.assert_allclose(posed.data.actuator_force, [470.0, -9.0])
    posed = one_joint({"effort": 4.0}, (servo,))
    assert forces(posed, 0.01) == (4.0, 0.0)
    assert posed.data.actuator_force[0] == 4.0  # it alone drives the joint
    posed = one_joint({"effort_range": (-7.0, 3.0)}, ({"target": -9.0}, {"target": 1.0}))
    assert forces(posed, 0.01) == (-7.0, 0.0)


def test_nothing_drives_a_scene_without_actuators(rng: np.random.Generator) -> None:
    from trees import random_scene

    posed = Posed(random_scene(rng, trees=2))
    joint_forces(posed.model, posed.data, posed.data.q, posed.data.v, 0.01, 1.0)
    assert not posed.data.joint_force.any() and not posed.data.implicit_diagonal.any()
