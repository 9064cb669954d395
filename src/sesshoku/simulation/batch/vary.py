"""How the worlds of a batch differ: what users say, drawn as numbers.

    vary={"mass": 0.1, "friction": (0.4, 1.0), "gain": {"left_knee": 0.2}, "gravity": vectors}

A number, a pair (low, high) or an array is said of a quantity, or of some of its elements by name. `QUANTITIES` lists
them. What is drawn for a world depends on the seed, the quantity and the world's number alone: not on how many worlds
there are, nor on what else varies.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sesshoku.errors import SceneError, did_you_mean
from sesshoku.model.arrays import FREE, GENERAL, KINEMATIC, PRISMATIC, REVOLUTE
from sesshoku.scene import check
from sesshoku.scene.compiler import CompiledScene
from sesshoku.scene.names import unknown

FACTOR, VALUE, OFFSET, WHOLE = range(4)


@dataclass(frozen=True)
class Quantity:
    """Something that may vary.

    kind: FACTOR, of what the scene has; VALUE, in its place; OFFSET, added to it; WHOLE, arrays alone, in its place.
    elements(compiled): names of what has it. each: False where one draw serves all elements of a world. size: numbers
    of each element.
    """

    kind: int
    elements: Callable[[CompiledScene], list[str]]
    each: bool = True
    size: int = 1
    what: str = "body"


def moving_bodies(compiled: CompiledScene) -> list[str]:
    """The body that owns each link's joint; scripted ones have no mass that counts."""
    return [name for name, kind in zip(compiled.link_names, compiled.model.link_joint, strict=True)
            if kind != KINEMATIC]


def _jointed(*kinds: int) -> Callable[[CompiledScene], list[str]]:
    return lambda compiled: [name for name, kind in zip(compiled.joint_names, compiled.model.link_joint, strict=True)
                             if kind in kinds]


def free_bodies(compiled: CompiledScene) -> list[str]:
    """Bodies with a free joint."""
    return [name for name, kind in zip(compiled.link_names, compiled.model.link_joint, strict=True) if kind == FREE]


def solid_bodies(compiled: CompiledScene) -> list[str]:
    """Bodies with something to touch."""
    frames = dict.fromkeys(compiled.model.shape_frame.tolist())
    return [compiled.frame_names[f] for f in sorted(frames)]


def geared(compiled: CompiledScene) -> list[str]:
    """Actuators with gains: servos and general ones."""
    model = compiled.model
    gains = model.actuator_kp.astype(bool) | model.actuator_kd.astype(bool) | (model.actuator_kind == GENERAL)
    return [name for name, has in zip(compiled.actuator_names, gains, strict=True) if has]


_single, _world = _jointed(REVOLUTE, PRISMATIC), lambda compiled: ["world"]
QUANTITIES: dict[str, Quantity] = {
    "mass": Quantity(FACTOR, moving_bodies),
    "inertia": Quantity(FACTOR, moving_bodies),
    "friction": Quantity(VALUE, solid_bodies, each=False),
    "gain": Quantity(FACTOR, geared, what="actuator with gains"),
    "armature": Quantity(FACTOR, _jointed(*range(KINEMATIC)), what="joint"),
    "gravity": Quantity(VALUE, _world, size=3, what="element"),
    "joint_position": Quantity(OFFSET, _single, what="joint with one axis"),
    "joint_velocity": Quantity(OFFSET, _single, what="joint with one axis"),
    "position": Quantity(OFFSET, free_bodies, size=3, what="free body"),
    "rotation": Quantity(OFFSET, free_bodies, size=3, what="free body"),
    "velocity": Quantity(OFFSET, free_bodies, size=3, what="free body"),
    "angular_velocity": Quantity(OFFSET, free_bodies, size=3, what="free body"),
    "q": Quantity(WHOLE, _world, what="element"),
    "v": Quantity(WHOLE, _world, what="element"),
}


@dataclass(frozen=True)
class Drawn:
    """What was drawn of a quantity: (worlds, elements, size) numbers; relative: factors, also where it is a value."""

    elements: list[str]
    numbers: np.ndarray
    relative: bool


def draw_all(compiled: CompiledScene, vary: Any, worlds: int, seed: int) -> dict[str, list[Drawn]]:
    """quantity -> what was drawn of it, one entry for all elements or one for each that is named."""
    return {name: _draw_quantity(compiled, name, said, worlds, seed) for name, said in _checked(vary).items()}


def trial_draw(compiled: CompiledScene, vary: Any) -> dict[str, list[Drawn]]:
    """As `draw_all`, of one world that does not differ: which arrays vary, before all are drawn."""
    nothing = {"q": compiled.q[None], "v": compiled.v[None]}
    return draw_all(compiled, {name: nothing.get(name, 0.0) for name in _checked(vary)}, 1, 0)


def _checked(vary: Any) -> Mapping[str, Any]:
    """Known quantities, and what is said of them."""
    if vary is None:
        return {}
    if not isinstance(vary, Mapping):
        raise SceneError("vary is not a mapping of quantities", element="Batch: vary", value=vary,
                         remedy='give one such as {"mass": 0.1, "friction": (0.4, 1.0)}')
    for name in vary:
        if name not in QUANTITIES:
            raise SceneError(f"unknown quantity {name!r}", element="Batch: vary", remedy=did_you_mean(
                name, QUANTITIES, also=f"quantities: {', '.join(QUANTITIES)}"))
    return vary


def _draw_quantity(compiled: CompiledScene, name: str, said: Any, worlds: int, seed: int) -> list[Drawn]:
    quantity = QUANTITIES[name]
    elements = quantity.elements(compiled)
    if quantity.kind == WHOLE:
        size = compiled.model.coordinate_count if name == "q" else compiled.model.dof_count
        return [Drawn(["world"], _given(name, said, (worlds, size), worlds).reshape(worlds, 1, size), False)]
    if not elements:
        raise SceneError(f"the scene has no {quantity.what}", element=f"Batch: vary {name!r}", remedy="leave it out")
    if name == "gravity":
        return [_draw_gravity(compiled, quantity, said, worlds, seed)]
    if not isinstance(said, Mapping):
        return [_draw(name, quantity, elements, said, worlds, seed, name)]
    for element in said:
        if element not in elements:
            raise unknown(quantity.what, element, elements)
    return [_draw(name, quantity, [element], one, worlds, seed, f"{name} {element}") for element, one in said.items()]


def _draw(name: str, quantity: Quantity, elements: list[str], said: Any, worlds: int, seed: int, stream: str) -> Drawn:
    """One quantity, of some elements."""
    count = len(elements) if quantity.each else 1
    shape = (count, quantity.size)
    relative = quantity.kind == FACTOR
    if isinstance(said, np.ndarray) and said.ndim > 0:
        return Drawn(elements, _sound(name, _spread(name, said, (worlds, *shape), worlds)), relative)
    low, high, by_factor = _range(name, quantity, said)
    unit = np.empty((worlds, *shape))
    key = [seed, zlib.crc32(stream.encode())]
    for w in range(worlds):
        unit[w] = np.random.Generator(np.random.Philox(key=key, counter=w << 64)).random(shape)
    return Drawn(elements, _sound(name, low + (high - low) * unit), relative or by_factor)


def _draw_gravity(compiled: CompiledScene, quantity: Quantity, said: Any, worlds: int, seed: int) -> Drawn:
    """Vectors (worlds, 1, 3): as given, or the scene's direction with another strength."""
    if isinstance(said, np.ndarray) and said.ndim == 2:
        return Drawn(["world"], _given("gravity", said, (worlds, 3), worlds)[:, None], False)
    drawn = _draw("gravity", replace(quantity, size=1), ["world"], said, worlds, seed, "gravity")
    g = compiled.model.gravity
    strength = float(np.linalg.norm(g))
    along = g if drawn.relative else np.array([0.0, 0.0, -1.0]) if strength == 0.0 else g / strength
    return Drawn(["world"], drawn.numbers * along, False)


def _range(name: str, quantity: Quantity, said: Any) -> tuple[Any, Any, bool]:
    """Lowest and highest number, and whether they are factors."""
    element = f"Batch: vary {name!r}"
    if isinstance(said, (tuple, list)) and len(said) == 2:
        low, high = (check.number(end, name, element) for end in said)
        if low > high:
            raise SceneError("the lower end is above the upper one", element=element, value=(low, high),
                             remedy="swap them")
        return low, high, False
    if isinstance(said, (tuple, list)) and len(said) == quantity.size == 3 and quantity.kind == OFFSET:
        around = np.abs(check.vector(said, name, element))  # one for each axis
        return -around, around, False
    if isinstance(said, (tuple, list, str, Mapping)) or said is None:
        raise SceneError("neither a number, nor a range, nor an array", element=element, value=said,
                         remedy="give 0.1 for plus or minus, (low, high), or a NumPy array with a row for each world")
    if quantity.kind == OFFSET:
        around = check.number(said, name, element, least=0.0)
        return -around, around, False
    share = check.number(said, name, element, least=0.0)
    if share >= 1.0:
        raise SceneError("plus or minus must be below 1: it is a share", element=element, value=said,
                         remedy="give a range (low, high) for more")
    return 1.0 - share, 1.0 + share, True


def _given(name: str, said: Any, shape: tuple[int, ...], worlds: int) -> np.ndarray:
    """An array that users hand in, of that shape."""
    try:
        if not check.is_numeric(said):
            raise TypeError
        values = np.array(said, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise SceneError("not an array of numbers", element=f"Batch: vary {name!r}", value=type(said).__name__,
                         remedy=f"give an array of shape {shape}") from None
    if values.shape != shape:
        raise SceneError("the array does not fit", element=f"Batch: vary {name!r}", value=values.shape,
                         remedy=f"give shape {shape}, a row for each world")
    return _sound(name, values)


def _spread(name: str, said: np.ndarray, shape: tuple[int, int, int], worlds: int) -> np.ndarray:
    """(worlds, elements, size) from an array with or without the axes that have one entry; (worlds): for all elements.
    """
    _, count, size = shape
    known = {(worlds,): (worlds, 1, 1)} | {(worlds, size): (worlds, 1, size)} | {(worlds, count): (worlds, count, 1)} \
        | {shape: shape}
    if said.dtype.kind not in "fiu" or said.shape not in known or (said.ndim == 2 and 1 < count == size):
        wanted = ", ".join(map(str, sorted(known, key=len)))
        raise SceneError("the array does not fit", element=f"Batch: vary {name!r}", value=said.shape,
                         remedy=f"give shape {wanted}")
    return np.broadcast_to(said.astype(np.float64).reshape(known[said.shape]), shape)


def _sound(name: str, numbers: np.ndarray) -> np.ndarray:
    element = f"Batch: vary {name!r}"
    if not np.isfinite(numbers).all():
        raise SceneError("a number is not finite", element=element, value=numbers[~np.isfinite(numbers)].flat[0],
                         remedy="replace NaN and infinity by numbers")
    lowest = numbers.min()
    if name in ("mass", "inertia") and lowest <= 0.0:
        raise SceneError("factors must be greater than 0", element=element, value=lowest)
    if name in ("friction", "gain", "armature") and lowest < 0.0:
        raise SceneError("must be 0 or more", element=element, value=lowest)
    return numbers
