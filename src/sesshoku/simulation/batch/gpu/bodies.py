"""What a card does for worlds in tiles besides stepping: bodies as of `compiled/gpu/stages.py`.

Users hold arrays with a row for each world, kernels work in tiles: `exchange` copies between them. The number that a
step's bodies take as `steps` is here the address of a list of numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sesshoku.compiled.gpu.stages import PARAMETERS, VIEW
from sesshoku.compiled.gpu.words import load_word, matrix_at, store_word
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import written_out
from sesshoku.dynamics.frames import frame_poses, frame_velocities
from sesshoku.dynamics.kinematics import kinematics
from sesshoku.dynamics.rnea import link_velocities
from sesshoku.methods.definition import Definition
from sesshoku.simulation.batch.kernels import remember
from sesshoku.simulation.sensors.measure import take_readings

WORD, ELEMENT = 8, 256  # bytes of a number, and from one of a world's numbers to the next in tiles


@jit
def enter(model_at, data_at, work_at, own_bytes, work_bytes, dt, list_at, first, w):
    """Rows of arrays that users hold into tiles. The list: how many, then of each the array, its tiles, its length."""
    own = ((w + first) >> 5) * own_bytes + ((w + first) & 31) * WORD
    for f in range(load_word(list_at)):
        entry = list_at + WORD + 3 * WORD * f
        words, tiles = load_word(entry + 2 * WORD), load_word(entry + WORD) + own
        row = load_word(entry) + (w + first) * words * WORD
        for k in range(words):
            store_word(tiles + k * ELEMENT, load_word(row + k * WORD))
    return 1


@jit
def leave(model_at, data_at, work_at, own_bytes, work_bytes, dt, list_at, first, w):
    """Tiles into the rows of arrays that users hold."""
    own = ((w + first) >> 5) * own_bytes + ((w + first) & 31) * WORD
    for f in range(load_word(list_at)):
        entry = list_at + WORD + 3 * WORD * f
        words, tiles = load_word(entry + 2 * WORD), load_word(entry + WORD) + own
        row = load_word(entry) + (w + first) * words * WORD
        for k in range(words):
            store_word(row + k * WORD, load_word(tiles + k * ELEMENT))
    return 1


@jit
def renew(model_at, data_at, work_at, own_bytes, work_bytes, dt, list_at, first, w):
    """The work space of worlds that stopped as it began: who uses it next must not find what is not finite.

    The list: flags of the worlds (0: just stopped, then -1), the block of work space, one world's as it begins, words.
    """
    flag = load_word(list_at) + (w + first) * WORD
    if load_word(flag) == 0:
        store_word(flag, -1)
        space = load_word(list_at + WORD) + (w >> 5) * work_bytes + (w & 31) * WORD
        image = load_word(list_at + 2 * WORD)
        for k in range(load_word(list_at + 3 * WORD)):
            store_word(space + k * ELEMENT, load_word(image + k * WORD))
    return 1


@jit
def observe(model, data, w, list_at):
    """Poses (F, 7), velocities (F, 6) and centres of mass (L, 3) of a world. The list: the arrays of all worlds."""
    F, L = model.frame_count, model.link_count
    kinematics(model, data, data.q)
    link_velocities(model, data, data.v)
    frame_poses(model, data, matrix_at(load_word(list_at) + w * F * 7 * WORD, F, 7))
    frame_velocities(model, data, matrix_at(load_word(list_at + WORD) + w * F * 6 * WORD, F, 6))
    centers = matrix_at(load_word(list_at + 2 * WORD) + w * L * 3 * WORD, L, 3)
    for i in range(L):
        R, c, t = data.rotation[i], model.link_center[i], model.link_tree[i]
        for a in range(3):
            centers[i, a] = (data.tree_origin[t, a] + data.offset[i, a]
                             + R[a, 0] * c[0] + R[a, 1] * c[1] + R[a, 2] * c[2])  # fmt: skip


def make_observe(views: tuple[Callable[..., Any], ...], module: str) -> Any:
    """The body of `observe`."""
    return _compiled(["    observe(model, data, w + first, steps)"], {"observe": observe}, views, module, "observe")


def make_sensing(definition: Definition, views: tuple[Callable[..., Any], ...], place: int) -> dict[str, Any]:
    """The bodies in front of and behind a step that sensors read. place: where the method's equation of motion holds
    (sensors/measure.py)."""
    own = definition.start_motion is not None
    space = {"as_mounts": views[3], "remember": remember, "take_readings": take_readings, "place": place,
             "start_motion": definition.start_motion, "leave_motion": definition.leave_motion}
    mounts = "    mounts = as_mounts(steps, own, space)"
    before = [mounts, *(["    start_motion(model, data, work, mounts.start)"] if own else []),
              "    remember(data, mounts)"]
    if "contacts" in definition.work.fields:
        count, contacts = "c.counts[0]", "c.shape, c.point, c.force, c.torque"
        found = ["    c = work.contacts"]
    else:  # nothing is read of these
        count, contacts, found = "0", "mounts.loop_body, mounts.part_center, mounts.part_center, mounts.part_center", []
    behind = [mounts, *(["    leave_motion(model, data, work, mounts.start, dt)"] if own else []), *found,
              f"    take_readings(model, data, mounts, {count}, {contacts}, place, dt)"]
    return {"remember": _compiled(before, space, views, definition.module, "remember"),
            "measure": _compiled(behind, space, views, definition.module, f"measure_{place}")}


def _compiled(lines: list[str], names: dict[str, Any], views: tuple[Callable[..., Any], ...], module: str,
              name: str) -> Any:
    space = {**names, "as_model": views[0], "as_data": views[1], "as_work": views[2], "__name__": module}
    lines = [f"def body({PARAMETERS}):", *VIEW, *lines, "    return 1"]
    function = written_out(lines, space, "body", f"<tiles of {module}>")
    function.__qualname__ = f"tiled_{name}"
    return jit(function)
