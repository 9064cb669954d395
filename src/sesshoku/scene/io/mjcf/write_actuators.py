"""Actuators and tendons of a scene as MJCF."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.scene.elements.actuators import Actuator
from sesshoku.scene.io.mjcf.places import PlaceWriter
from sesshoku.scene.io.mjcf.write_text import Lost, Naming, Xml
from sesshoku.scene.scene import Scene

ONE_SIDED = 1e6  # stands for an infinite limit where the other one is finite
LEAST_RANGE = 1e-9  # MuJoCo wants lower < upper


def force_bounds(given: Any, name: str, lost: Lost) -> list[float] | None:
    """A range as MJCF takes it; None where there is none."""
    if given is None or np.isinf(given).all():
        return None
    lower, upper = max(given[0], -ONE_SIDED), min(given[1], ONE_SIDED)
    if upper - lower < LEAST_RANGE:
        lost.add(f"ranges without width (widened by {LEAST_RANGE:g})", name)
        return [lower - LEAST_RANGE / 2, upper + LEAST_RANGE / 2]
    return [lower, upper]


def start_control(actuator: Actuator) -> float:
    """The command an actuator starts with, as MuJoCo's ctrl."""
    if actuator.kind == "torque":  # a motor has no constant force of its own
        return actuator.target + actuator.feed_forward
    return actuator.target_velocity if actuator.kind == "velocity" else actuator.target


class ActuatorWriter:
    """Writes actuators and tendons; those that push bodies get sites of their own, added to `places`."""

    def __init__(self, scene: Scene, lost: Lost, names: Naming, joint_names: dict[str, str],
                 places: PlaceWriter) -> None:
        self.scene, self.lost, self.joint_names, self.places = scene, lost, joint_names, places
        self.tendon_names = {name: names.fresh("tendon", name) for name in scene.tendons}
        self.ends, self.paths = self.place_actuators(), self.place_paths()

    def bounds(self, given: Any, name: str) -> list[float] | None:
        return force_bounds(given, name, self.lost)

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
        found = {}
        for actuator in self.scene.actuators.values():
            if actuator.body is None:
                continue
            turn, plain = np.asarray(actuator.rotation, dtype=float), np.array([1.0, 0, 0, 0])
            own = {"site": self.places.site(f"{actuator.name}/at", actuator.body, np.asarray(actuator.position),
                                            turn if actuator.base is None else plain)}
            if actuator.base is not None:
                own["refsite"] = self.places.site(f"{actuator.name}/base", actuator.base, np.zeros(3), turn)
            found[actuator.name] = own
        return found

    def tendons(self) -> Xml:
        xml = Xml()
        for tendon in self.scene.tendons.values():
            low, high = tendon.rests
            kind = "spatial" if tendon.path else "fixed"
            xml.open(kind, name=self.tendon_names[tendon.name], stiffness=tendon.stiffness or None,
                     springlength=None if not tendon.stiffness else low if low == high else [low, high],
                     damping=tendon.viscous or None, range=self.bounds((tendon.lower, tendon.upper), tendon.name),
                     frictionloss=tendon.friction or None)
            for joint, arm in tendon.joints.items():
                xml.add("joint", joint=self.joint_names[joint], coef=arm)
            for element, attributes in self.paths[tendon.name]:
                xml.add(element, **attributes)
            xml.close(kind)
        return xml

    def place_paths(self) -> dict[str, list[tuple[str, dict[str, Any]]]]:
        """Sites and shapes of the tendons' paths: tendon -> elements of its path."""
        plain = np.array([1.0, 0, 0, 0])
        found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for tendon in self.scene.tendons.values():
            path = found.setdefault(tendon.name, [])
            for n, point in enumerate(tendon.path):
                name = f"{tendon.name}/{n}"
                if point.kind == "pulley":
                    path.append(("pulley", {"divisor": point.divisor}))
                elif point.kind == "site":
                    path.append(("site", {"site": self.places.site(name, point.body, np.array(point.position), plain)}))
                else:
                    side = None if point.side is None else self.places.site(
                        f"{name}/side", point.side_body, np.array(point.side), plain)
                    shape = self.places.wrapped(name, point.body, point.kind, point.radius, np.array(point.position),
                                                np.array(point.rotation))
                    path.append(("geom", {"geom": shape, "sidesite": side}))
        return found

    def actuator(self, xml: Xml, actuator: Actuator, common: dict[str, Any]) -> None:
        """A motor, position or velocity servo; <general> where a constant force or a gear comes in, or for one."""
        if actuator.kind == "general":
            dynamics = {} if actuator.dynamics == "none" else {
                "dyntype": actuator.dynamics, "dynprm": actuator.time_constant,
                "actrange": self.bounds(actuator.activation_range, actuator.name)}
            xml.add("general", **common, gaintype="affine", gainprm=actuator.gain, biastype="affine",
                    biasprm=[actuator.bias[0] + actuator.feed_forward, *actuator.bias[1:]], **dynamics)
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
