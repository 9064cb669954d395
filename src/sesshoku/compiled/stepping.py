"""One compiled loop for every method: it calls the method's stages in order, step after step, and can time them.

A stage is a kernel `(model, data, work, dt)`. The loop is written once, here, as the text that Python would have if it
were written out for the stages at hand: compiled code cannot loop over a tuple of kernels. `data.clock` makes it time
the same stages where they stand: `Simulation.profile` reads what they took.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

from sesshoku.compiled.jit import jit

STAGE_CAPACITY = 24  # entries of data.clock: whether it is wanted, then the ticks of each stage


@dataclass(frozen=True)
class Stages:
    """What a step does, in order.

    each: the stages; one of them, by default the last, takes the new state over and returns False where it is not
    finite. before: what is done once a step where `parts` divides it: `parts(model, data, work, dt)` says into how many
    parts of equal length, each of which goes through all stages.
    """

    each: tuple[Any, ...]
    before: tuple[Any, ...] = ()
    parts: Any = None
    takes_over: Any = None

    @property
    def named(self) -> dict[str, Any]:
        """Every stage by its name, in order."""
        return {name_of(stage): stage for stage in (*self.before, *self.each)}

    @property
    def names(self) -> list[str]:
        """Of all stages, in words: "find contacts"."""
        return list(self.named)


def name_of(stage: Any) -> str:
    """A stage's name in words."""
    return str(getattr(stage, "py_func", stage).__name__).replace("_", " ")


if config.DISABLE_JIT:
    ticks: Any = time.perf_counter_ns
else:

    @intrinsic
    def ticks(typing_context):  # type: ignore[no-untyped-def]
        """The processor's own clock."""

        def lower(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), ()))
            return builder.call(counter, ())

        return types.int64(), lower


def make_run(stages: Stages, views: tuple[Callable[..., Any], ...], module: str, name: str = "run") -> Any:
    """The compiled `run(model_table, data_table, work_table, dt, steps)` of some stages.

    views turn the three tables into their records. It returns how many steps were done before the state stopped being
    finite. module, name: where the result is kept, so that other processes find it.
    """
    last = stages.takes_over or stages.each[-1]
    space: dict[str, Any] = {"as_model": views[0], "as_data": views[1], "as_work": views[2], "ticks": ticks,
                             "__name__": module}
    lines = [f"def {name}(model_table, data_table, work_table, dt, steps):",
             "    model, data, work = as_model(model_table), as_data(data_table), as_work(work_table)",
             "    clock = data.clock",
             "    for n in range(steps):",
             "        timed, now, h = clock[0], 0, dt"]
    pad, number = " " * 8, 0

    def call(stage: Any) -> None:
        nonlocal number
        number += 1
        key = f"stage{number}_{getattr(stage, 'py_func', stage).__name__}"
        space[key] = stage
        if number == 1:
            lines.append(f"{pad}if timed:\n{pad}    now = ticks()")
        lines.append(f"{pad}if not {key}(model, data, work, h):\n{pad}    return n" if stage is last
                     else f"{pad}{key}(model, data, work, h)")
        lines.append(f"{pad}if timed:\n{pad}    then, now = now, ticks()\n{pad}    clock[{number}] += now - then")

    for stage in stages.before:
        call(stage)
    if stages.parts is not None:
        space["parts_of"] = stages.parts
        lines += [f"{pad}parts = parts_of(model, data, work, dt)", f"{pad}h = dt / parts",
                  f"{pad}for _ in range(parts):"]
        pad += " " * 4
    for stage in stages.each:
        call(stage)
    if number >= STAGE_CAPACITY:
        raise TypeError(f"{module}: {number} stages where a clock has room for {STAGE_CAPACITY - 1}")
    lines.append("    return steps")
    return jit(written_out(lines, space, name, f"<stages of {module}>"))


def make_run_worlds(run: Any, module: str, name: str = "run_worlds") -> Any:
    """The compiled `run_worlds(model_tables, data_tables, work_tables, dt, steps, done_out)`, without Python's lock.

    A row of the tables (W, n) is a world. All its steps are made before the next world's: its memory is then near.
    done_out (W): how many steps each made before its state stopped being finite; the loop ends behind the first world
    that did not make them all, and returns how many worlds it has been through.
    """
    lines = [f"def {name}(model_tables, data_tables, work_tables, dt, steps, done_out):",
             "    for w in range(len(done_out)):",
             "        done_out[w] = run(model_tables[w], data_tables[w], work_tables[w], dt, steps)",
             "        if done_out[w] < steps:",
             "            return w + 1",
             "    return len(done_out)"]
    return jit(written_out(lines, {"run": run, "__name__": module}, name, f"<worlds of {module}>"), nogil=True)


def written_out(lines: list[str], space: dict[str, Any], name: str, origin: str) -> Any:
    """The function of some lines of Python, as if its module had it."""
    exec(compile("\n".join(lines), origin, "exec"), space)
    function = space[name]
    function.__module__, function.__qualname__ = space["__name__"], name
    return function
