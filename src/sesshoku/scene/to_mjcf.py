"""Scene -> MJCF, for MuJoCo and everything that reads its files.

Bodies stand at zero joint position, as MJCF wants them; the keyframe "start" holds where and how fast the scene starts.
A planar joint becomes two slides and a hinge, a kinematic body a mocap body. Loops join sites, because MuJoCo would
otherwise take the partner's anchor from the zero position instead of the start: ball = connect, weld = weld,
hinge = two connects at points of the axis 0.2 m apart (one constraint too many, which MuJoCo's soft solver bears).
A concave mesh collides as its convex pieces. What MJCF cannot say stands in a comment on top and in one warning.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sesshoku.errors import UnsupportedFeature
from sesshoku.scene.actuators import Actuator
from sesshoku.scene.elements import Body, Inertial, Joint, Loop
from sesshoku.scene.mass import combine
from sesshoku.scene.mjcf_places import PlaceWriter
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Scene
from sesshoku.scene.to_mjcf_contacts import condim, find_contacts
from sesshoku.scene.to_mjcf_geoms import GeomWriter
from sesshoku.scene.to_mjcf_sensors import SensorWriter
from sesshoku.scene.to_mjcf_text import (
    Lost,
    Naming,
    Xml,
    comment,
    compose,
    inverse,
    nudged_inertia,
    start_pose,
    start_poses,
    unless,
)
from sesshoku.spatial.rotation import frame_with_z, matrix_to_quaternion, quaternion_to_matrix

HINGE_ARM = 0.1  # m from a hinge's anchor to its two connects
ONE_SIDED = 1e6  # stands for an infinite limit where the other one is finite
LEAST_MASS = 1e-9  # kg; MuJoCo refuses moving bodies without mass
LEAST_RANGE = 1e-9  # MuJoCo wants lower < upper
OFF_CENTER = 1e-9  # m between origin and centre of mass that count
DEEPEST = 490  # levels of nesting its XML reader takes


def scene_to_mjcf(scene: Scene) -> str:
    """The scene as MJCF text; one UnsupportedFeature warning lists what MJCF cannot say."""
    recheck(scene)  # its elements are open to change
    export = _Export(scene)
    text = export.text()
    lost = export.lost.listed()
    if lost:
        warnings.warn("MJCF cannot say:\n  - " + "\n  - ".join(lost), UnsupportedFeature, stacklevel=4)
    return text


class _Export:
    def __init__(self, scene: Scene) -> None:
        self.scene, self.lost = scene, Lost()
        self.names = Naming(self.lost)
        self.body_names = {name: self.names.fresh("body", name) for name in scene.bodies}
        self.joint_names = {str(body.joint.name): self.names.fresh("joint", str(body.joint.name))
                            for body in scene.bodies.values()
                            if body.joint.kind not in ("fixed", "planar")}
        self.geoms = GeomWriter(scene, self.lost, self.names)
        self.places = PlaceWriter(scene, self.names)
        self.tendon_names = {name: self.names.fresh("tendon", name) for name in scene.tendons}
        self.ends: dict[str, dict[str, str]] = {}
        self.key: dict[str, list[float]] = {"qpos": [], "qvel": [], "mpos": [], "mquat": []}

    def text(self) -> str:
        scene = self.scene
        # geoms named by pairs and sites named by loops and sensors must be known before the bodies are written
        contact, equality = self.contacts(), self.equalities()
        sensor = SensorWriter(scene, self.places, self.names, self.lost, self.body_names, self.joint_names).write()
        self.ends = self.place_actuators()
        bodies = self.bodies()
        root = Xml()
        root.open("mujoco", model=scene.name)
        root.add("compiler", angle="radian", autolimits=True, inertiafromgeom=False)
        root.add("option", gravity=scene.gravity, timestep=scene.run.get("dt", scene.time_step or 0.001))
        for tag, part in (("asset", self.geoms.assets), ("worldbody", bodies), ("contact", contact),
                          ("tendon", self.tendons()), ("equality", equality), ("actuator", self.actuators()),
                          ("sensor", sensor), ("keyframe", self.keyframe())):
            root.section(tag, part)
        root.close("mujoco")
        return self.head() + "\n".join(root.lines) + "\n"

    def head(self) -> str:
        lines = ["Written by sesshoku. The keyframe \"start\" holds the start: positions, velocities, controls.",
                 "MuJoCo's contacts, limits and loops are soft; sesshoku's limits and loops are not."]
        lost = self.lost.listed()
        if lost:
            lines += ["MJCF cannot say:"] + [f"  - {item}" for item in lost]
        return "<!--\n" + "".join(f"  {comment(line)}\n" for line in lines) + "-->\n"

    # ---- bodies --------------------------------------------------------------------------------------------------

    def bodies(self) -> Xml:
        children: dict[str | None, list[Body]] = {}
        for child in self.scene.bodies.values():
            children.setdefault(child.parent, []).append(child)
        xml = Xml()
        self.place(xml, None)
        stack: list[Body | None] = [*reversed(children.get(None, []))]
        while stack:
            body = stack.pop()
            if body is None:
                xml.close("body")
                continue
            if xml.depth == DEEPEST:
                self.lost.add(f"bodies nested deeper than {DEEPEST} levels (MuJoCo's XML reader may refuse them)")
            self.body(xml, body)
            stack.append(None)
            stack += reversed(children.get(body.name, []))
        return xml

    def body(self, xml: Xml, body: Body) -> None:
        position, rotation = start_pose(body)
        xml.open("body", name=self.body_names[body.name], pos=unless(position, np.zeros(3)),
                 quat=unless(rotation, [1, 0, 0, 0]), mocap=True if body.kinematic else None,
                 gravcomp=body.gravity_compensation or None)
        self.inertial(xml, body)
        if body.kinematic:
            self.key["mpos"] += list(position)
            self.key["mquat"] += list(rotation)
            if body.motion is not None:
                self.lost.add("motions of kinematic bodies (mocap bodies stand still until moved)", body.name)
            elif body.velocity.any() or body.angular_velocity.any():
                self.lost.add("velocities of kinematic bodies (mocap bodies stand still until moved)", body.name)
        elif body.joint.kind != "fixed":
            self.joint(xml, body)
        for index, geometry in enumerate(body.geometries):
            self.geoms.geometry(xml, body, index, geometry)
        self.place(xml, body.name)

    def place(self, xml: Xml, body: str | None) -> None:
        """Sites and cameras of a body, or of the world."""
        for site in self.places.sites.get(body, []):
            xml.add("site", **site)
        for camera in self.places.cameras(body, self.body_names):
            xml.add("camera", **camera)

    def inertial(self, xml: Xml, body: Body) -> None:
        given, moving = body.inertial, body.joint.kind != "fixed"
        if given is None and not moving:
            return
        inertial = given or Inertial(0.0)
        mass, matrix = inertial.mass, inertial.matrix
        if moving and mass < LEAST_MASS:
            mass = LEAST_MASS
            self.lost.add(f"moving bodies without mass ({LEAST_MASS:g} kg is written)", body.name)
        elif mass == 0.0:
            return
        safe = nudged_inertia(matrix)
        if safe is not matrix:
            self.lost.add("inertias at or beyond the edge of the physical (nudged)", body.name)
        xml.add("inertial", pos=inertial.center, mass=mass, fullinertia=safe[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])

    # ---- joints --------------------------------------------------------------------------------------------------

    def joint(self, xml: Xml, body: Body) -> None:
        joint, name = body.joint, str(body.joint.name)
        common: dict[str, Any] = {"damping": joint.viscous or None, "frictionloss": joint.kinetic_friction or None,
                                  "armature": joint.armature or None}
        self.joint_losses(joint, name)
        if joint.kind == "free":
            if any(common.values()) and np.linalg.norm(self.center(body)) > OFF_CENTER:
                self.lost.add("friction, damping and armature of free joints at the centre of mass (MuJoCo has them at "
                              "the body's origin)", name)
            xml.add("joint", name=self.joint_names[name], type="free", **common)
            self.key["qpos"] += [*body.position, *body.rotation]
            # MuJoCo turns a free body in its own axes
            self.key["qvel"] += [*body.velocity, *(quaternion_to_matrix(body.rotation).T @ body.angular_velocity)]
            return
        self.key["qpos"] += list(joint.position)
        self.key["qvel"] += list(joint.velocity)
        anchor = unless(joint.anchor, np.zeros(3))
        if joint.kind == "spherical":
            xml.add("joint", name=self.joint_names[name], type="ball", pos=anchor, **common)
        elif joint.kind == "planar":
            plane = frame_with_z(joint.axis)
            for suffix, kind, axis in (("x", "slide", plane[:, 0]), ("y", "slide", plane[:, 1]),
                                       ("turn", "hinge", joint.axis)):
                xml.add("joint", name=self.names.fresh("joint", f"{name}/{suffix}"), type=kind, pos=anchor, axis=axis,
                        **common)
        else:
            xml.add("joint", name=self.joint_names[name], type="slide" if joint.kind == "prismatic" else "hinge",
                    pos=anchor,
                    axis=joint.axis, range=self.limits(joint, name), actuatorfrcrange=self.bounds(joint.efforts, name),
                    actuatorgravcomp=True if joint.actuator_compensation else None,
                    stiffness=joint.stiffness or None, springref=joint.rest or None, **common)

    def center(self, body: Body) -> np.ndarray:
        """Centre of mass of a body with all that is fixed to it, in its frame."""
        placed = {body.name: (np.zeros(3), np.eye(3))}
        parts = []
        for part in self.scene.bodies.values():  # parents first
            if part.parent in placed and part.joint.kind == "fixed":
                placed[part.name] = compose(placed[part.parent], (part.position, quaternion_to_matrix(part.rotation)))
            if part.name in placed and part.inertial is not None:
                position, rotation = placed[part.name]
                parts.append((part.inertial, position, matrix_to_quaternion(rotation)))
        return combine(parts).center if parts else np.zeros(3)

    def joint_losses(self, joint: Joint, name: str) -> None:
        if joint.static_friction != joint.kinetic_friction:
            self.lost.add("static friction of joints apart from kinetic (the kinetic value is written)", name)
        if np.isfinite(joint.velocity_limit):
            self.lost.add("velocity limits of joints (for information only)", name)
        if not joint.implicit and (joint.stiffness or joint.viscous):
            self.lost.add("explicit integration of joint springs and dampers", name)

    def limits(self, joint: Joint, name: str) -> list[float] | None:
        if np.isinf(joint.lower) and np.isinf(joint.upper):
            return None
        return self.widened(max(joint.lower, -ONE_SIDED), min(joint.upper, ONE_SIDED), name)

    def bounds(self, given: Any, name: str) -> list[float] | None:
        """A range of forces or commands; None where there is none."""
        if given is None or np.isinf(given).all():
            return None
        return self.widened(max(given[0], -ONE_SIDED), min(given[1], ONE_SIDED), name)

    def widened(self, lower: float, upper: float, name: str) -> list[float]:
        if upper - lower < LEAST_RANGE:
            self.lost.add(f"ranges without width (widened by {LEAST_RANGE:g})", name)
            return [lower - LEAST_RANGE / 2, upper + LEAST_RANGE / 2]
        return [lower, upper]

    # ---- the rest ------------------------------------------------------------------------------------------------

    def contacts(self) -> Xml:
        xml = Xml()
        found = find_contacts(self.scene, self.geoms.colliding_names)
        for a, b in found.excludes:
            xml.add("exclude", body1=self.body_names[a], body2=self.body_names[b])
        for a, b, friction in found.pairs:
            sliding, torsional, rolling = friction if condim(friction) > 3 else (friction[0], 0.005, 0.0001)
            xml.add("pair", geom1=a, geom2=b, friction=[sliding, sliding, torsional, rolling, rolling],
                    condim=condim(friction))
        if found.left_out:
            self.lost.add(f"the mean of unlike frictions for {found.left_out} pairs (MuJoCo takes the larger)")
        for (a, b), material in self.scene.pair_friction.items():
            self.geoms.material_losses(material, f"{a} on {b}")
        for ((a, _), (b, _)), pair_material in self.scene.geometry_pairs.items():
            if pair_material is not None:
                self.geoms.material_losses(pair_material, f"{a} on {b}")
        return xml

    def equalities(self) -> Xml:
        xml = Xml()
        poses = start_poses(self.scene) if self.scene.loops else {}
        for loop in self.scene.loops.values():
            self.loop(xml, loop, poses)
            self.lost.add("drift correction of loops (MuJoCo has solref and solimp)", loop.name)
        for mimic in self.scene.mimics.values():
            xml.add("joint", joint1=self.joint_names[mimic.joint], joint2=self.joint_names[mimic.source],
                    polycoef=[mimic.offset, mimic.ratio, 0, 0, 0])
        return xml

    def loop(self, xml: Xml, loop: Loop, poses: dict[str, Any]) -> None:
        frame = frame_with_z(loop.axis)
        world = (np.zeros(3), np.eye(3))
        position_b, rotation_b = compose(inverse(poses[loop.body_b] if loop.body_b else world),
                                         compose(poses[loop.body_a], (loop.position, frame)))
        if loop.position_b is not None:
            position_b = loop.position_b
        if loop.rotation_b is not None:
            rotation_b = quaternion_to_matrix(loop.rotation_b) @ frame
        arms = (HINGE_ARM, -HINGE_ARM) if loop.kind == "hinge" else (0.0,)
        for number, arm in enumerate(arms):
            ends = []
            for side, body, position, rotation in (("a", loop.body_a, loop.position, frame),
                                                   ("b", loop.body_b, position_b, rotation_b)):
                ends.append(self.places.site(f"{loop.name}/{side}{number or ''}", body, position + arm * rotation[:, 2],
                                             matrix_to_quaternion(rotation)))
            name = self.names.fresh("equality", f"{loop.name}/{number}" if number else loop.name)
            xml.add("weld" if loop.kind == "weld" else "connect", name=name, site1=ends[0], site2=ends[1])

    def actuators(self) -> Xml:
        xml = Xml()
        for actuator in self.scene.actuators.values():
            common = {"name": actuator.name, **self.driven(actuator),
                      "forcerange": self.bounds(actuator.forces, actuator.name),
                      "ctrlrange": self.bounds(actuator.command_range, actuator.name)}
            if not actuator.implicit and (actuator.kd or actuator.kind == "general"):
                self.lost.add("explicit integration of servos", actuator.name)
            self.actuator(xml, actuator, common)
        return xml

    def driven(self, actuator: Actuator) -> dict[str, Any]:
        """What an actuator drives, with its gear."""
        gear = None if actuator.gear == 1.0 else actuator.gear
        if actuator.joint is not None:
            return {"joint": self.joint_names[actuator.joint], "gear": gear}
        if actuator.tendon is not None:
            return {"tendon": self.tendon_names[actuator.tendon], "gear": gear}
        ends = self.ends[actuator.name]
        return {**ends, "gear": [actuator.gear * value for value in actuator.wrench]}

    def place_actuators(self) -> dict[str, dict[str, str]]:
        """Sites for the actuators that push bodies: actuator -> attributes of its transmission."""
        places = {}
        for actuator in self.scene.actuators.values():
            if actuator.body is None:
                continue
            turn, plain = np.asarray(actuator.rotation, dtype=float), np.array([1.0, 0, 0, 0])
            own = {"site": self.places.site(f"{actuator.name}/at", actuator.body, actuator.position,
                                            turn if actuator.base is None else plain)}
            if actuator.base is not None:
                own["refsite"] = self.places.site(f"{actuator.name}/base", actuator.base, np.zeros(3), turn)
            places[actuator.name] = own
        return places

    def tendons(self) -> Xml:
        xml = Xml()
        for tendon in self.scene.tendons.values():
            low, high = tendon.rests
            xml.open("fixed", name=self.tendon_names[tendon.name], stiffness=tendon.stiffness or None,
                     springlength=None if not tendon.stiffness else low if low == high else [low, high],
                     damping=tendon.viscous or None, range=self.bounds((tendon.lower, tendon.upper), tendon.name),
                     frictionloss=tendon.friction or None)
            for joint, arm in tendon.joints.items():
                xml.add("joint", joint=self.joint_names[joint], coef=arm)
            xml.close("fixed")
        return xml

    def actuator(self, xml: Xml, actuator: Actuator, common: dict[str, Any]) -> None:
        """A motor, position or velocity servo; <general> where a constant force or a gear comes in, or for one."""
        if actuator.kind == "general":
            if actuator.feed_forward:
                self.lost.add("commands of general actuators beside the target", actuator.name)
            dynamics = {} if actuator.dynamics == "none" else {
                "dyntype": actuator.dynamics, "dynprm": actuator.time_constant,
                "actrange": self.bounds(actuator.activation_range, actuator.name)}
            xml.add("general", **common, gaintype="affine", gainprm=actuator.gain, biastype="affine",
                    biasprm=actuator.bias, **dynamics)
            return
        kp, kd = actuator.kp if actuator.kind == "position" else 0.0, actuator.kd
        constant = actuator.feed_forward + (kd * actuator.target_velocity if actuator.kind == "position" else 0.0)
        if actuator.kind == "torque":
            xml.add("motor", **common)
        elif actuator.gear == 1.0 and constant == 0.0:
            gains = {"kp": kp, "kv": kd} if actuator.kind == "position" else {"kv": kd}
            xml.add(actuator.kind, **common, **gains)
        else:
            # MuJoCo measures length and velocity times gear, we without it
            gear = actuator.gear or 1.0
            xml.add("general", **common, gainprm=kp if actuator.kind == "position" else kd, biastype="affine",
                    biasprm=[constant, -kp / gear, -kd / gear])

    def keyframe(self) -> Xml:
        actuators = self.scene.actuators.values()
        self.key["ctrl"] = [_start_control(actuator) for actuator in actuators]
        self.key["act"] = [actuator.activation for actuator in actuators if actuator.dynamics != "none"]
        xml = Xml()
        filled = {key: values for key, values in self.key.items() if values}
        if filled:
            xml.add("key", name="start", **filled)
        return xml


def _start_control(actuator: Actuator) -> float:
    if actuator.kind == "torque":  # a motor has no constant force of its own
        return actuator.target + actuator.feed_forward
    return actuator.target_velocity if actuator.kind == "velocity" else actuator.target
