"""MJCF files to `RobotDescription`.

Decision: `MjSpec` of MuJoCo reads and compiles the file, so that defaults, includes, angle units, orientations, frames,
replicas and inertias inferred from geoms are what MuJoCo itself makes of them; the compiled arrays are then translated.
Nothing of MuJoCo runs afterwards. Compiler settings that would take names away (`fusestatic`, `discardvisual`) or
move frames (`alignfree`) are switched off; those that set masses (`balanceinertia`, `boundmass`, `settotalmass`, ...)
are the file's own words and stay.

How MJCF maps:
- Geoms of the worldbody go to a fixed body "world". A body without joints is fixed, a mocap body is kinematic.
- Several joints on one body become a chain of massless bodies `<body>/<joint>`, the first joint next to the parent;
  the body keeps its name at the end of the chain and never touches its true parent, as in MuJoCo.
- Joint positions equal MuJoCo's qpos. A joint's `ref` is its qpos in the pose of the file, and our bodies are drawn at
  position zero: so the body is drawn turned (shifted) back by `ref`, and the joint starts at `ref`.
- Friction combines as in MuJoCo (`scene.materials`): of two geoms the one of higher `priority` decides; of equals the
  larger coefficients and the larger condim count. The first coefficient is static and kinetic friction, the second
  torsional friction (condim 4 and 6), the third rolling friction (condim 6). The same rule holds against bodies of
  the scene around the file. A <pair> has its own coefficients, and lets just its two geoms touch.
- Collision meshes stand for their convex hulls (see spec.py). Geoms of group 3 and above are hidden, as in MuJoCo's
  viewer.
- Sensors that have a meaning here are read by name (sensors.py), others listed.
- Sites become frames, cameras are kept for renderers (places.py). Sizes and colours of sites are not read.
- Keyframes become the description's `poses`, with velocities and commands (keyframes.py).
- Quaternions are normalised, as MuJoCo does, whatever their length.
- Gravity and time step: MJCF without them means MuJoCo's defaults, (0, 0, -9.81) and 2 ms.
- A missing mesh is an error, for visual geoms too: MuJoCo may need it for the inertia. Textures are not read.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from sesshoku.errors import SceneError, in_file
from sesshoku.scene import check
from sesshoku.scene.elements import RobotDescription
from sesshoku.scene.elements.fluid import Fluid
from sesshoku.scene.io.mjcf import actuators as mjcf_actuators
from sesshoku.scene.io.mjcf import bodies as mjcf_bodies
from sesshoku.scene.io.mjcf import keyframes as mjcf_keyframes
from sesshoku.scene.io.mjcf import parts as mjcf_parts
from sesshoku.scene.io.mjcf import places as mjcf_places
from sesshoku.scene.io.mjcf import sensors as mjcf_sensors
from sesshoku.scene.io.mjcf import tendons as mjcf_tendons
from sesshoku.scene.io.mjcf.guard import Guard
from sesshoku.scene.io.mjcf.trial import try_parsing
from sesshoku.scene.io.spec import Unsupported, read_xml, repaired
from sesshoku.scene.io.unsupported import Grade
from sesshoku.spatial.rotation import matrix_to_quaternion

NAME_KEYS = {"name", "class", "childclass", "file", "model", "body", "joint", "mesh", "material"}
AUTHORED_TIMESTEP, AUTHORED_GRAVITY = 1 << 0, 1 << 7  # bits of MjSpec.authored.option

#: lists of MjSpec whose elements we do not carry, what to call one, and how much it matters
UNCARRIED = {
    "flexes": ("flex", Grade.MOTION), "plugins": ("plugin", Grade.MOTION), "lights": ("light", Grade.LOOKS),
    "skins": ("skin", Grade.LOOKS), "texts": ("text", Grade.LOOKS), "numerics": ("numeric", Grade.LOOKS),
    "tuples": ("tuple", Grade.LOOKS), "textures": ("texture", Grade.LOOKS),
}
REMEDIES = {"flex": "model it as rigid bodies"}

#: options that are read
CARRIED = ("gravity", "timestep", "density", "viscosity", "wind", "disableflags", "enableflags")
#: options and flags that change the motion, and what to do about them; the others say how MuJoCo solves and integrates
STRONG = {
    "disableactuator": "leave those actuators out",
    "contact": 'use method="none"', "constraint": 'use method="none" and leave limits and loops out',
    "equality": "leave the equalities out", "limit": "leave the limits out", "frictionloss": "leave frictionloss out",
    "spring": "leave stiffness out", "damper": "leave damping out", "actuation": "leave the actuators out",
    "clampctrl": "leave ctrlrange out", "filterparent": "include_collision for parents and children",
    "override": "write the numbers into the geoms",
}

# of the interpreter: what is collected just now, or another thread calls, is no matter of the file
NOT_OF_THE_MODEL = (ResourceWarning, DeprecationWarning, PendingDeprecationWarning)


def load_mjcf(path: str | Path, *, decompose: bool = False, repair_inertia: bool = False) -> RobotDescription:
    """Read an MJCF file. See `spec.load_robot` for the arguments and the module's text for what becomes of what."""
    with in_file(path):
        root = read_xml(path)
        if root.tag != "mujoco":
            raise SceneError("not an MJCF file", element=f"root element <{root.tag}>",
                             remedy="the root must be <mujoco>")
        guard = Guard(Path(path))
        guard.walk(Path(path), root)
        for part in guard.roots:
            _refuse_nan(part)
        if guard.unsure:
            try_parsing(Path(path))
        unsupported = Unsupported()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            spec = _read(path)
            _refuse_empty_ranges(spec)
            _list_uncarried(spec, unsupported)
            if repair_inertia:
                _repair_inertias(spec, unsupported)
            model = _compile(spec)
        for warning in said:
            if issubclass(warning.category, NOT_OF_THE_MODEL):
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
            else:
                unsupported.add(f"MuJoCo's compiler warns: {' '.join(str(warning.message).split())}", Grade.SLIGHT)
        description = RobotDescription(check.name(root.get("model") or Path(path).stem, "name of the robot", "mujoco"))
        _read_options(spec, description, unsupported)
        names = mjcf_bodies.ModelNames(model)
        description.bodies = mjcf_bodies.read_bodies(spec, model, names, Path(path), decompose, unsupported)
        description.tendons = mjcf_tendons.read_tendons(model, names, unsupported)
        description.actuators = mjcf_actuators.read_actuators(model, names, {body.name for body in description.bodies},
                                                              unsupported)
        mjcf_sensors.read_sensors(model, names, description, unsupported)
        mjcf_places.read_places(model, names, description, unsupported)
        mjcf_parts.read_equalities(model, names, description, unsupported)
        mjcf_parts.read_pairs(model, names, description, unsupported)
        mjcf_keyframes.read_keyframes(spec, model, names, description, unsupported)
        description.unsupported = unsupported.listed()
        return description


def _refuse_nan(root: Element) -> None:
    """NaN in a file. MuJoCo only writes a warning of it into a log in the working directory."""
    for element in root.iter():
        for key, value in element.attrib.items():
            if key not in NAME_KEYS and "nan" in value.lower().split():
                label = mjcf_parts.label(element.tag, element.get("name", ""))
                raise SceneError(f"{key} is not finite", element=label, value=value, remedy="replace NaN by a number")


def _read(path: str | Path) -> Any:
    """The file as MjSpec, with the settings off that would lose names or move frames."""
    import mujoco  # slow to import, and URDF does without

    try:
        spec = mujoco.MjSpec.from_file(str(path))
    except Exception as error:  # whatever MuJoCo says: ValueError, FatalError ...
        raise _mujoco_error("MuJoCo cannot read the file", error) from None
    compiler = spec.compiler
    compiler.LRopt.mode = 0  # ranges of tendon lengths, found by simulation that may take minutes, are for muscles only
    compiler.fusestatic = compiler.discardvisual = compiler.alignfree = 0
    for joint in spec.joints:
        joint.align = mujoco.mjtAlignFree.mjALIGNFREE_FALSE
    return spec


def _refuse_empty_ranges(spec: Any) -> None:
    """Ranges whose bounds are reversed or equal, which MuJoCo takes for no limit without a word."""
    for items, kind, keys in ((spec.joints, "joint", ("range", "actfrcrange")),
                              (spec.actuators, "actuator", ("ctrlrange", "forcerange"))):
        for item in items:
            for key in keys:
                low, high = getattr(item, key)
                if low >= high and (low, high) != (0.0, 0.0):
                    raise SceneError(f"lower bound of {key} {low:g} is not below the upper bound {high:g}",
                                     element=mjcf_parts.label(kind, item.name, item.info), remedy="swap them")


def _repair_inertias(spec: Any, unsupported: Unsupported) -> None:
    """Replace the inertias that MuJoCo would refuse: it allows no rounding, so nothing is too small to repair."""
    for body in spec.bodies:
        full = body.fullinertia
        if not body.explicitinertial:
            continue
        if np.isnan(full[0]):  # diagonal, in the axes the file gives: they stay
            given = np.diag(body.inertia)
        else:
            given = np.array([[full[0], full[3], full[4]], [full[3], full[1], full[5]], [full[4], full[5], full[2]]])
        physical = repaired(given, mjcf_parts.label("body", body.name, body.info), unsupported, exact=True)
        if physical is given:
            continue
        moments, axes = np.diag(physical), np.eye(3)
        if not np.isnan(full[0]):
            moments, axes = np.linalg.eigh(physical)
            axes[:, 2] *= np.sign(np.linalg.det(axes))
            full[0] = np.nan
            body.iquat = matrix_to_quaternion(axes)
        largest = int(np.argmax(moments))
        others = float(moments.sum() - moments[largest])
        body.inertia = np.where(np.arange(3) == largest, min(float(moments[largest]), others * (1 - 1e-12)), moments)


def _compile(spec: Any) -> Any:
    """Compile without what is for the eye only, so that a missing picture does not keep a robot from moving."""
    try:
        for material in spec.materials:
            material.textures = [""] * len(material.textures)
        for item in [*spec.skins, *spec.textures]:
            spec.delete(item)
        return spec.compile()
    except Exception as error:
        raise _mujoco_error("MuJoCo cannot compile the file", error) from None


def _mujoco_error(problem: str, error: Exception) -> SceneError:
    said = " ".join(str(error).split()) or type(error).__name__
    remedy = "correct the element that MuJoCo names"
    if "inertia" in said:
        remedy += ", or load the robot with repair_inertia=True"
    return SceneError(f"{problem}: {said}", element="mujoco", remedy=remedy)


def _list_uncarried(spec: Any, unsupported: Unsupported) -> None:
    for attribute, (kind, grade) in UNCARRIED.items():
        for item in getattr(spec, attribute):
            unsupported.add(mjcf_parts.label(kind, item.name, item.info), grade, REMEDIES.get(kind, ""))
    if any(getattr(spec.authored, key) for key in dir(spec.authored) if key.startswith("visual_")):
        unsupported.add("visual settings", Grade.LOOKS)
    statistics = [spec.stat.meaninertia, spec.stat.meanmass, spec.stat.meansize, spec.stat.extent, spec.stat.center[0]]
    if not np.isnan(statistics).all():  # NaN says: let the compiler find it
        unsupported.add("statistic", Grade.LOOKS)


def _read_options(spec: Any, description: RobotDescription, unsupported: Unsupported) -> None:
    """Gravity and time step; every other option that differs from MuJoCo's default is listed."""
    import mujoco

    option, usual = spec.option, mjcf_bodies.usual().option
    description.gravity = check.vector(option.gravity, "gravity", "option")
    description.gravity_stated = bool(spec.authored.option & AUTHORED_GRAVITY)
    description.time_step = check.number(option.timestep, "timestep", "option", above=0.0)
    description.time_step_stated = bool(spec.authored.option & AUTHORED_TIMESTEP)
    fluid = Fluid(option.density, option.viscosity, option.wind)
    description.fluid = fluid if fluid.acts else None
    for key in dir(option):
        if key.startswith("_") or key in CARRIED:
            continue
        value = getattr(option, key)
        if not np.array_equal(value, getattr(usual, key)):
            unsupported.add(f"option {key} = {_option_word(key, value)}", *_graded(key))
    for bits, usual_bits, flags, prefix, word in (
            (option.disableflags, usual.disableflags, mujoco.mjtDisableBit, "mjDSBL_", "disabled"),
            (option.enableflags, usual.enableflags, mujoco.mjtEnableBit, "mjENBL_", "enabled")):
        for name, bit in flags.__members__.items():
            if not name.startswith(prefix) or not (bits ^ usual_bits) & bit.value:
                continue
            if name == "mjDSBL_GRAVITY":
                description.gravity, description.gravity_stated = np.zeros(3), True
            else:
                flag = name.removeprefix(prefix).lower()
                unsupported.add(f"option flag {flag} {word if bits & bit.value else 'not ' + word}", *_graded(flag))


def _graded(option: str) -> tuple[Grade, str]:
    return (Grade.MOTION, STRONG[option]) if option in STRONG else (Grade.SLIGHT, "")


def _option_word(key: str, value: Any) -> Any:
    """An option's value as the file writes it."""
    import mujoco

    words = {"integrator": mujoco.mjtIntegrator, "cone": mujoco.mjtCone, "solver": mujoco.mjtSolver,
             "jacobian": mujoco.mjtJacobian}
    if key in words:
        return words[key](value).name.partition("_")[2]
    return value.tolist() if isinstance(value, np.ndarray) else value
