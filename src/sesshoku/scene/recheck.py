"""The checks of a scene once more, before it is compiled or written: elements are open to change once added."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.elements import SINGLE_AXIS, Body, Joint, Material
from sesshoku.scene.elements.actuators import Actuator
from sesshoku.scene.mechanisms import refuse_mimic_circle
from sesshoku.scene.scene import Scene


def recheck(scene: Scene) -> None:
    """Run every element's own check again, and those on how elements name each other. Raises SceneError."""
    check.name(scene.name, "name of the scene")
    if scene.time_step is not None:
        check.number(scene.time_step, "time_step", "scene", above=0.0)
    check.kind(scene.material, Material, "material", "scene", "a Material(static_friction=...)")
    if "fluid" in vars(scene):
        raise SceneError("fluid is called, not assigned", element="scene", value=vars(scene)["fluid"],
                         remedy="scene.fluid(density=1.2, viscosity=1.8e-5)")
    joints: dict[str, str] = {}
    seen: set[str] = set()
    for key, body in scene.bodies.items():
        check.kind(body, Body, "body", f"body {key!r}", "a Body")
        _recheck_body(body)
        if body.name != key:
            raise SceneError("the body was renamed after it was added", element=f"body {key!r}", value=body.name,
                             remedy="give the name when it is added")
        if scene._joint_owner.get(str(body.joint.name)) != key:
            raise SceneError("its joint was renamed after it was added", element=f"body {key!r}", value=body.joint.name,
                             remedy="give the name when it is added")
        if body.parent is not None and body.parent not in seen:
            raise _lost_parent(scene, body)
        seen.add(key)
        joints[str(body.joint.name)] = body.joint.kind
    _recheck_companions(scene, joints)
    _recheck_sensors(scene)
    _recheck_state_sensors(scene)
    _recheck_places(scene)
    _recheck_pairs(scene)


def _recheck_body(body: Body) -> None:
    check.name(body.name, "name of a body")
    body._check_parts(f"body {body.name!r}")
    body.joint.__post_init__()
    if body.inertial is not None:
        body.inertial.__post_init__()
    for geometry in body.geometries:
        geometry.__post_init__()
    body.__post_init__()
    if not body.kinematic:
        _recheck_start(body.joint)


def _recheck_start(joint: Joint) -> None:
    """Where a joint starts: a free one says it by its body alone, one with limits within them."""
    element = f"joint {joint.name!r}"
    if joint.kind == "free" and (not np.array_equal(joint.position, [0, 0, 0, 1, 0, 0, 0]) or joint.velocity.any()):
        raise SceneError("a free joint starts at its body's pose and velocity", element=element,
                         value=joint.position.tolist(), remedy="set position, rotation, velocity of the body")
    if joint.kind in ("revolute", "prismatic"):
        start = float(joint.position[0])
        if not joint.lower - 1e-9 <= start <= joint.upper + 1e-9:
            raise SceneError("the start position is outside the limits", element=element, value=start,
                             remedy=f"limits are {joint.lower:g} .. {joint.upper:g}")


def _lost_parent(scene: Scene, body: Body) -> SceneError:
    """Why a body has no parent above it in the scene: unknown, in a circle, or added later."""
    element = f"body {body.name!r}"
    chain, at = [body.name], body.parent
    while at is not None and at in scene.bodies and at not in chain:
        chain.append(at)
        at = scene.bodies[at].parent
    if at in chain:
        return SceneError("the parents form a circle", element=element, value=" -> ".join([*chain, str(at)]),
                          remedy="give one of them another parent")
    if body.parent not in scene.bodies:
        return SceneError("unknown parent", element=element, value=body.parent, remedy="add the parent first")
    return SceneError("the parent comes later in the scene", element=element, value=body.parent,
                      remedy="add the parent first")


def _recheck_companions(scene: Scene, joints: dict[str, str]) -> None:
    for actuator in scene.actuators.values():
        actuator.__post_init__()
        _recheck_driven(scene, actuator, joints)
    for tendon in scene.tendons.values():
        tendon.__post_init__()
        for joint in tendon.joints:
            _recheck_axis(joint, joints, f"tendon {tendon.name!r}")
        for body in tendon.bodies:
            if body not in scene.bodies:
                raise SceneError("no such body", element=f"tendon {tendon.name!r}", value=body, remedy="name a body")
    for loop in scene.loops.values():
        loop.__post_init__()
        for name in (loop.body_a, loop.body_b):
            if name is not None and name not in scene.bodies:
                raise SceneError("no such body", element=f"loop {loop.name!r}", value=name, remedy="name a body")
    for joint, mimic in scene.mimics.items():
        mimic.__post_init__()
        for name in (mimic.joint, mimic.source):
            _recheck_axis(name, joints, f"mimic of joint {joint!r}")
        refuse_mimic_circle(scene.mimics, joint)


def _recheck_driven(scene: Scene, actuator: Actuator, joints: dict[str, str]) -> None:
    element = f"actuator {actuator.name!r}"
    if actuator.joint is not None:
        _recheck_axis(actuator.joint, joints, element)
    if actuator.tendon is not None and actuator.tendon not in scene.tendons:
        raise SceneError("no such tendon", element=element, value=actuator.tendon, remedy="name a tendon")
    for name in (actuator.body, actuator.base):
        if name is not None and name not in scene.bodies:
            raise SceneError("no such body", element=element, value=name, remedy="name a body")


def _recheck_sensors(scene: Scene) -> None:
    for key, sensor in scene.sensors.items():
        sensor.__post_init__()
        if sensor.name != key:
            raise SceneError("the sensor was renamed after it was added", element=f"sensor {key!r}", value=sensor.name,
                             remedy="give the name when it is added")
        if sensor.body not in scene.bodies:
            raise SceneError("no such body", element=f"sensor {key!r}", value=sensor.body, remedy="name a body")


def _recheck_state_sensors(scene: Scene) -> None:
    for key, sensor in scene.state_sensors.items():
        sensor.__post_init__()
        if sensor.name != key or key in scene.sensors:
            raise SceneError("the sensor was renamed after it was added", element=f"sensor {key!r}", value=sensor.name,
                             remedy="give the name when it is added")
        scene._check_state_sensor(sensor)


def _recheck_places(scene: Scene) -> None:
    kinds: tuple[tuple[str, Any], ...] = (("frame", scene.frames), ("camera", scene.cameras))
    for what, places in kinds:
        for key, place in places.items():
            place.__post_init__()
            if place.name != key:
                raise SceneError(f"the {what} was renamed after it was added", element=f"{what} {key!r}",
                                 value=place.name,
                                 remedy="give the name when it is added")
            for body in (place.body, getattr(place, "target", None)):
                if body is not None and body not in scene.bodies:
                    raise SceneError("no such body", element=f"{what} {key!r}", value=body, remedy="name a body")


def _recheck_pairs(scene: Scene) -> None:
    for pair, material in scene.pair_friction.items():
        check.kind(material, Material, "friction of a pair", f"pair {pair}", "a Material(static_friction=...)")
    for pair in [*scene.pair_friction, *scene.excluded_pairs, *scene.forced_pairs]:
        for name in pair:
            if name not in scene.bodies:
                raise SceneError("no such body", element=f"pair {pair}", value=name, remedy="name two bodies")
    for ends, own in scene.geometry_pairs.items():
        if own is not None:
            check.kind(own, Material, "material", f"geometry pair {ends}", "a Material(static_friction=...)")
        for name, number in ends:
            geometries = scene.bodies[name].geometries if name in scene.bodies else []
            if not 0 <= number < len(geometries) or not geometries[number].collides:
                raise SceneError("no such colliding geometry", element=f"geometry pair {ends}", value=(name, number),
                                 remedy="name two geometries that collide")


def _recheck_axis(name: str, joints: dict[str, str], element: str) -> None:
    if joints.get(name) not in SINGLE_AXIS:
        raise SceneError("names no joint of one axis", element=element, value=name,
                         remedy=f"name a joint of the kind {', '.join(SINGLE_AXIS)}")
