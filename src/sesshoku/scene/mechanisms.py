"""The part of `Scene` that drives joints and ties them: actuators, tendons, loops, mimics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from sesshoku.errors import SceneError
from sesshoku.scene.contents import Contents, listed
from sesshoku.scene.elements import SINGLE_AXIS, Loop, Mimic
from sesshoku.scene.elements.actuators import Actuator, ActuatorKind, Tendon, belongs_to
from sesshoku.scene.elements.tendon_paths import PathPoint


class Mechanisms(Contents):
    """What acts on joints, or between bodies."""

    def add_actuator(self, joint: str | None = None, kind: ActuatorKind = "torque", *, name: str | None = None,
                     **options: Any) -> Actuator:
        """Drive a joint: `add_actuator("knee", "position", kp=100, kd=5, effort=40)`; or a tendon (`tendon=`), or push
        a body (`body=` with position and rotation, or `site=`, a frame of the scene: a thruster). See `Actuator`."""
        if "site" in options:
            name = options["site"] if name is None else name
            options = self._at_site(options, name)
        driven = [joint, options.get("tendon"), options.get("body")]
        usual = next((value for value in driven if value is not None), "actuator")
        actuator = Actuator(usual if name is None else name, joint, kind, **options)
        self._insert_actuator(actuator)
        for robot in self.robots.values():
            if belongs_to(actuator, self.tendons, robot.bodies, robot.joints):
                robot.actuators.append(actuator.name)  # what drives a robot is the robot's
        return actuator

    def _at_site(self, options: dict[str, Any], name: str) -> dict[str, Any]:
        """`site=` as the body and the place it stands for; with a base the axes stay the base's."""
        site, element = options["site"], f"actuator {name!r}"
        if site not in self.frames or self.frames[site].body is None:
            raise SceneError("no such frame on a body", element=element, value=site,
                             remedy=f"frames: {listed(key for key, frame in self.frames.items() if frame.body)}")
        frame = self.frames[site]
        place = {"body": frame.body, "position": frame.position}
        given = {key: value for key, value in options.items() if key != "site"}
        for key in place.keys() & given.keys():
            raise SceneError(f"site= and {key}= say the same", element=element, value=given[key],
                             remedy="give one of them")
        return {"rotation": frame.rotation} | place | given if "base" not in given else place | given

    def _insert_actuator(self, actuator: Actuator) -> Actuator:
        element = f"actuator {actuator.name!r}"
        if actuator.name in self.actuators:
            raise SceneError("the name is taken already", element=element, remedy="give name=")
        if actuator.joint is not None and self.joint(actuator.joint).kind not in SINGLE_AXIS:
            raise SceneError(f"a {self.joint(actuator.joint).kind} joint can't be driven", element=element,
                             value=actuator.joint, remedy="drive a revolute, continuous or prismatic joint")
        if actuator.tendon is not None and actuator.tendon not in self.tendons:
            raise SceneError("no such tendon", element=element, value=actuator.tendon,
                             remedy=f"add it first; tendons: {listed(self.tendons)}")
        for body in (actuator.body, actuator.base):
            if body is not None:
                self._body(body, element)
        self.actuators[actuator.name] = actuator
        return actuator

    def add_tendon(self, name: str, joints: Mapping[str, float] | None = None, *, path: Any = (),
                   **options: Any) -> Tendon:
        """Tie joints together: `add_tendon("grip", {"left": 0.5, "right": 0.5}, stiffness=10)`; or run a cord through
        space: `path=["anchor", {"body": "arm", "position": (0, 0, 0.1)}]`, names of frames and places on bodies. See
        `Tendon` and `PathPoint`."""
        if not isinstance(path, (str, Mapping)) and isinstance(path, Iterable):
            path = [self._at_frame(place, name) if isinstance(place, str) else place for place in path]
        return self._insert_tendon(Tendon(name, {} if joints is None else joints, path=path, **options))

    def _at_frame(self, name: str, tendon: str) -> PathPoint:
        """A site where a frame of the scene is."""
        if name not in self.frames:
            raise SceneError("no such frame", element=f"tendon {tendon!r}", value=name,
                             remedy=f"frames: {listed(self.frames)}")
        return PathPoint("site", self.frames[name].body, self.frames[name].position)

    def _insert_tendon(self, tendon: Tendon) -> Tendon:
        element = f"tendon {tendon.name!r}"
        if tendon.name in self.tendons:
            raise SceneError("the name is taken already", element=element, remedy="give every tendon its own name")
        for joint in tendon.joints:
            if self.joint(joint).kind not in SINGLE_AXIS:
                raise SceneError("a tendon runs over joints of one axis", element=element, value=joint,
                                 remedy="name a revolute, continuous or prismatic joint")
        for body in tendon.bodies:
            self._body(body, element)
        self.tendons[tendon.name] = tendon
        return tendon

    def add_loop(self, kind: Literal["ball", "hinge", "weld"], body_a: str, body_b: str | None = None, *,
                 name: str | None = None, **options: Any) -> Loop:
        """Close a loop between two bodies (None: the world) at `position` of body_a; see `Loop`."""
        usual = f"{kind} {body_a}-{body_b or 'world'}"
        loop = Loop(usual if name is None else name, kind, body_a, body_b, **options)
        return self._insert_loop(loop)

    def _insert_loop(self, loop: Loop) -> Loop:
        if loop.name in self.loops:
            raise SceneError("the name is taken already", element=f"loop {loop.name!r}", remedy="give name=")
        self._body(loop.body_a, f"loop {loop.name!r}")
        if loop.body_b is not None:
            self._body(loop.body_b, f"loop {loop.name!r}")
        if loop.body_a == loop.body_b:
            raise SceneError("a loop joins two different bodies", element=f"loop {loop.name!r}", value=loop.body_a)
        self.loops[loop.name] = loop
        return loop

    def add_mimic(self, joint: str, source: str, ratio: float = 1.0, offset: float = 0.0) -> Mimic:
        """Make `joint` follow `source`: q = ratio * q_source + offset."""
        return self._insert_mimic(Mimic(joint, source, ratio, offset))

    def _insert_mimic(self, mimic: Mimic) -> Mimic:
        element = f"mimic of joint {mimic.joint!r}"
        for name in (mimic.joint, mimic.source):
            if self.joint(name).kind not in ("revolute", "continuous", "prismatic"):
                raise SceneError("mimic joins joints of one axis", element=element, value=name)
        if mimic.joint == mimic.source:
            raise SceneError("a joint can't mimic itself", element=element, value=mimic.source)
        if mimic.joint in self.mimics:
            raise SceneError("the joint mimics another one already", element=element,
                             value=self.mimics[mimic.joint].source)
        refuse_mimic_circle(self.mimics | {mimic.joint: mimic}, mimic.joint)
        self.mimics[mimic.joint] = mimic
        return mimic


def refuse_mimic_circle(mimics: Mapping[str, Mimic], start: str) -> None:
    """SceneError if a joint comes back to itself along what it follows."""
    seen, at = [start], mimics[start].source
    while at in mimics and at not in seen:
        seen.append(at)
        at = mimics[at].source
    if at == start:
        raise SceneError("mimic joints follow each other in a circle", element=f"mimic of joint {start!r}",
                         value=" -> ".join([*seen, start]), remedy="let one of them move by itself")
