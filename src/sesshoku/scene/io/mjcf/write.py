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
from sesshoku.scene.elements import Body, Inertial, Joint, Loop
from sesshoku.scene.elements.fluid import principal_axes
from sesshoku.scene.geometry.mass import combine
from sesshoku.scene.io.mjcf.places import PlaceWriter
from sesshoku.scene.io.mjcf.write_actuators import ActuatorWriter, force_bounds, start_control
from sesshoku.scene.io.mjcf.write_contacts import condim, find_contacts
from sesshoku.scene.io.mjcf.write_geoms import GeomWriter
from sesshoku.scene.io.mjcf.write_sensors import SensorWriter
from sesshoku.scene.io.mjcf.write_text import (
    Lost,
    Naming,
    Xml,
    comment,
    nudged_inertia,
    start_pose,
    start_poses,
    unless,
)
from sesshoku.scene.recheck import recheck
from sesshoku.scene.scene import Scene
from sesshoku.spatial.poses import compose, inverse
from sesshoku.spatial.rotation import frame_with_z, matrix_to_quaternion, quaternion_to_matrix

HINGE_ARM = 0.1  # m from a hinge's anchor to its two connects
LEAST_MASS = 1e-9  # kg; MuJoCo refuses moving bodies without mass
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
        self.key: dict[str, list[float]] = {"qpos": [], "qvel": [], "mpos": [], "mquat": []}

    def text(self) -> str:
        scene = self.scene
        # geoms named by pairs and sites named by loops and sensors must be known before the bodies are written
        contact, equality = self.contacts(), self.equalities()
        sensor = SensorWriter(scene, self.places, self.names, self.lost, self.body_names, self.joint_names).write()
        drives = ActuatorWriter(scene, self.lost, self.names, self.joint_names, self.places)
        bodies = self.bodies()
        root = Xml()
        root.open("mujoco", model=scene.name)
        root.add("compiler", angle="radian", autolimits=True, inertiafromgeom=False)
        medium = scene.medium
        root.add("option", gravity=scene.gravity, timestep=scene.run.get("dt", scene.time_step or 0.001),
                 density=medium.density or None, viscosity=medium.viscosity or None,
                 wind=medium.wind if any(medium.wind) else None)
        for tag, part in (("asset", self.geoms.assets), ("worldbody", bodies), ("contact", contact),
                          ("tendon", drives.tendons()), ("equality", equality), ("actuator", drives.actuators()),
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
        """Sites, cameras and shapes for tendons of a body, or of the world."""
        for shape in self.places.wraps.get(body, []):
            xml.add("geom", **shape)
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
        if not self.scene.medium.acts:
            xml.add("inertial", pos=inertial.center, mass=mass,
                    fullinertia=safe[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
            return
        moments, axes = principal_axes(safe, inertial.axes)  # drag is along them: MuJoCo might find others
        largest = int(np.argmax(moments))
        moments[largest] = min(moments[largest], np.delete(moments, largest).sum() * (1.0 - 1e-15))
        xml.add("inertial", pos=inertial.center, quat=matrix_to_quaternion(axes), mass=mass, diaginertia=moments)

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
                    axis=joint.axis, range=self.limits(joint, name),
                    actuatorfrcrange=force_bounds(joint.efforts, name, self.lost),
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
        return force_bounds((joint.lower, joint.upper), name, self.lost)

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

    def keyframe(self) -> Xml:
        actuators = self.scene.actuators.values()
        self.key["ctrl"] = [start_control(actuator) for actuator in actuators]
        self.key["act"] = [actuator.activation for actuator in actuators if actuator.dynamics != "none"]
        xml = Xml()
        filled = {key: values for key, values in self.key.items() if values}
        if filled:
            xml.add("key", name="start", **filled)
        return xml
