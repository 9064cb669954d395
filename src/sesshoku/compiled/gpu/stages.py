"""The stages of a method for worlds in tiles: one compiled function for each stage, and one that makes whole steps.

A function takes whole numbers and dt alone, and so serves as the body of a GPU's kernel as well as on a CPU:
    body(model_at, data_at, work_at, own_bytes, work_bytes, dt, steps, first, w) -> 1, or 0 where the world stops
*_at: addresses of the tables (`compiled/table.py`). own_bytes, work_bytes: from one tile to the next, in the two blocks
that a world's numbers lie in (`compiled/gpu/tiles.py`). w: the world among those that have work space, first: how many
worlds lie before these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import Stages, name_of, written_out

PARAMETERS = "model_at, data_at, work_at, own_bytes, work_bytes, dt, steps, first, w"
#: argument types of every body
ARGUMENTS = (*[types.int64] * 5, types.float64, *[types.int64] * 3)
LOOP = "loop"  # the name of what makes whole steps

VIEW = ["    own = ((w + first) >> 5) * own_bytes + ((w + first) & 31) * 8",
         "    space = (w >> 5) * work_bytes + (w & 31) * 8",
         "    model, data = as_model(model_at, own, space), as_data(data_at, own, space)",
         "    work = as_work(work_at, own, space)"]


def make_bodies(stages: Stages, views: tuple[Callable[..., Any], ...], module: str) -> dict[str, Any]:
    """name of a stage -> its body; empty where a step has parts, whose number each world has for itself."""
    if stages.parts is not None:
        return {}
    last = stages.takes_over or stages.each[-1]
    return {name_of(stage): _body(stage, stage is last, views, module) for stage in (*stages.before, *stages.each)}


def _body(stage: Any, tells: bool, views: tuple[Callable[..., Any], ...], module: str) -> Any:
    call = "stage(model, data, work, dt)"
    lines = [f"def body({PARAMETERS}):", *VIEW,
             *([f"    return 1 if {call} else 0"] if tells else [f"    {call}", "    return 1"])]
    space = {"stage": stage, "as_model": views[0], "as_data": views[1], "as_work": views[2], "__name__": module}
    return _compiled(lines, space, "body", f"tiled_{name_of(stage).replace(' ', '_')}")


def make_loop(stages: Stages, views: tuple[Callable[..., Any], ...], module: str) -> Any:
    """The body that makes `steps` whole steps of a world."""
    last = stages.takes_over or stages.each[-1]
    space: dict[str, Any] = {"as_model": views[0], "as_data": views[1], "as_work": views[2], "__name__": module}
    lines = [f"def body({PARAMETERS}):", *VIEW, "    h = dt", "    for _ in range(steps):"]
    pad = " " * 8

    def call(stage: Any) -> None:
        key = f"stage{len(space)}_{getattr(stage, 'py_func', stage).__name__}"
        space[key] = stage
        lines.append(f"{pad}if not {key}(model, data, work, h):\n{pad}    return 0" if stage is last
                     else f"{pad}{key}(model, data, work, h)")

    for stage in stages.before:
        call(stage)
    if stages.parts is not None:
        space["parts_of"] = stages.parts
        lines += [f"{pad}parts = parts_of(model, data, work, dt)", f"{pad}h = dt / parts",
                  f"{pad}for _p in range(parts):"]
        pad += " " * 4
    for stage in stages.each:
        call(stage)
    lines.append("    return 1")
    return _compiled(lines, space, "body", "tiled_loop_" + "_".join(name.replace(" ", "_") for name in stages.names))


def _compiled(lines: list[str], space: dict[str, Any], name: str, known_as: str) -> Any:
    function = written_out(lines, space, name, f"<tiles of {space['__name__']}>")
    function.__qualname__ = known_as
    return jit(function)
