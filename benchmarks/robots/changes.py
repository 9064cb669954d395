"""What can be taken away from a scene on both sides, and how MuJoCo can be changed against itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

import sesshoku as ss

Flag = mujoco.mjtDisableBit


@dataclass(frozen=True)
class Change:
    """A change of a scene (`scene`) and of MuJoCo's model (`model`); `applies`: whether the model has the thing."""

    name: str
    model: Callable[[Any], None]
    scene: Callable[[ss.Scene], None] | None = None
    method: str | None = None
    applies: Callable[[Any], bool] = lambda model: True
    step: float = 1.0  # times the file's time step


def disable(*flags: Any) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        for flag in flags:
            model.opt.disableflags |= int(flag)

    return change


def _joints(**values: Any) -> Callable[[ss.Scene], None]:
    def change(scene: ss.Scene) -> None:
        for body in scene.bodies.values():
            if body.joint.kind != "fixed":
                body.joint = replace(body.joint, **values)

    return change


def _no_limits(scene: ss.Scene) -> None:
    for body in scene.bodies.values():
        if body.joint.kind in ("revolute", "prismatic"):
            body.joint = replace(body.joint, lower=-np.inf, upper=np.inf)


def _no_springs(scene: ss.Scene) -> None:
    for body in scene.bodies.values():
        body.joint = replace(body.joint, viscous=0.0, **({"stiffness": 0.0} if body.joint.stiffness else {}))


def _no_drives(scene: ss.Scene) -> None:
    for name, actuator in scene.actuators.items():
        scene.actuators[name] = _idle(actuator)


def _idle(actuator: Any) -> Any:
    return replace(actuator, kind="torque", kp=0.0, kd=0.0, target=0.0, target_velocity=0.0, feed_forward=0.0,
                   dynamics="none", command_range=None)


def _no_loops(scene: ss.Scene) -> None:
    scene.loops.clear()
    scene.mimics.clear()


def _same_surfaces(scene: ss.Scene) -> None:
    for body in scene.bodies.values():
        for geometry in body.geometries:
            geometry.material = ss.Material(1.0)
    scene.pair_friction.clear()
    for pair in scene.geometry_pairs:
        scene.geometry_pairs[pair] = None


def _same_surfaces_there(model: Any) -> None:
    model.geom_friction[:] = (1.0, 0.005, 0.0001)
    model.geom_condim[:] = 3
    model.pair_friction[:] = (1.0, 1.0, 0.005, 0.0001, 0.0001)
    model.pair_dim[:] = 3


def _usual_contacts(model: Any) -> None:
    for prefix in ("geom", "pair"):
        getattr(model, f"{prefix}_solref")[:] = (0.02, 1.0)
        getattr(model, f"{prefix}_solimp")[:] = (0.9, 0.95, 0.001, 0.5, 2.0)
        getattr(model, f"{prefix}_margin")[:] = 0.0
        getattr(model, f"{prefix}_gap")[:] = 0.0


def _no_tendons(model: Any) -> None:
    for name in ("stiffness", "damping", "frictionloss", "limited", "armature"):
        getattr(model, f"tendon_{name}")[:] = 0
    model.eq_active0[model.eq_type == mujoco.mjtEq.mjEQ_TENDON] = 0
    driven = np.isin(model.actuator_trntype, (int(mujoco.mjtTrn.mjTRN_TENDON),))
    model.actuator_gainprm[driven] = 0.0
    model.actuator_biasprm[driven] = 0.0


def _loose_tendons(scene: ss.Scene) -> None:
    for name, tendon in scene.tendons.items():
        scene.tendons[name] = replace(tendon, stiffness=0.0, viscous=0.0, friction=0.0, lower=-np.inf, upper=np.inf)
    for name, actuator in scene.actuators.items():
        scene.actuators[name] = _idle(actuator) if actuator.tendon else actuator


def _no_gravcomp(model: Any) -> None:
    model.body_gravcomp[:] = 0.0


def _weight_everywhere(scene: ss.Scene) -> None:
    for body in scene.bodies.values():
        body.gravity_compensation = 0.0


def _no_fluid(model: Any) -> None:
    model.opt.density = model.opt.viscosity = 0.0


CONTACTS = Change("contacts", disable(Flag.mjDSBL_CONTACT), method="none")
#: of the joints' side; tried without contacts
JOINT_SIDE = (
    Change("gravity compensation", _no_gravcomp, _weight_everywhere, applies=lambda m: bool(m.body_gravcomp.any())),
    Change("tendons", _no_tendons, _loose_tendons, applies=lambda m: m.ntendon > 0),
    Change("loops and other equalities", disable(Flag.mjDSBL_EQUALITY), _no_loops, applies=lambda m: m.neq > 0),
    Change("actuators", disable(Flag.mjDSBL_ACTUATION), _no_drives, applies=lambda m: m.nu > 0),
    Change("joint limits", disable(Flag.mjDSBL_LIMIT), _no_limits, applies=lambda m: bool(m.jnt_limited.any())),
    Change("joint friction", disable(Flag.mjDSBL_FRICTIONLOSS), _joints(static_friction=0.0, kinetic_friction=0.0),
           applies=lambda m: bool(m.dof_frictionloss.any())),
    Change("joint springs and damping", disable(Flag.mjDSBL_SPRING, Flag.mjDSBL_DAMPER), _no_springs,
           applies=lambda m: bool(m.jnt_stiffness.any() or m.dof_damping.any())),
    Change("the fluid", _no_fluid, applies=lambda m: bool(m.opt.density or m.opt.viscosity)),
)
#: of the contacts' side; tried with them
CONTACT_SIDE = (
    Change("different friction of its surfaces (all at 1, condim 3)", _same_surfaces_there, _same_surfaces),
    Change("its own solref, solimp and margin (MuJoCo's usual ones)", _usual_contacts),
)


def _stiffer(model: Any) -> None:
    for prefix in ("geom", "pair"):
        getattr(model, f"{prefix}_solref")[:] = (2.0 * model.opt.timestep, 1.0)
        getattr(model, f"{prefix}_solimp")[:] = (0.99, 0.999, 0.0001, 0.5, 2.0)


def _elliptic(model: Any) -> None:
    model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    model.opt.impratio = 100.0


def _no_slip(model: Any) -> None:
    model.opt.noslip_iterations = 20


STIFFER = Change("its contacts are made stiffer", _stiffer, step=0.25)
#: MuJoCo against itself
VARIANTS = (
    Change("its step is a quarter", lambda model: None, step=0.25),
    STIFFER,
    Change("its friction is made stiffer (elliptic, impratio 100)", _elliptic),
    Change("its friction may not creep (noslip)", _no_slip),
)
