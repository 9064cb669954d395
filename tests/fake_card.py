"""A card that is none: kernels run on the CPU, one world after the other, on arrays of NumPy.

What a GPU would run up to LLVM's back end, and all that a batch does around it.
"""

from __future__ import annotations

import numpy as np

from sesshoku.compiled.gpu.words import load_word, store_word
from sesshoku.compiled.jit import jit
from sesshoku.compiled.stepping import written_out

_LINES = ["def all_worlds(model, data, work, own, space, dt, number, first, count, flags):",
          "    for w in range(count):",
          "        flag = flags + 8 * (w + first)",
          "        if load_word(flag) > 0 and not body(model, data, work, own, space, dt, number, first, w):",
          "            store_word(flag, 0)"]
_loops: dict[object, object] = {}


class FakeCard:
    """Takes the place of `compiled.card.Card`."""

    xp, name, capability, processors = np, "no card", (9, 0), 1

    def __init__(self, free: int = 4 << 30) -> None:
        self.free, self.launched = free, []

    def free_memory(self) -> int:
        return self.free

    def kernels(self, bodies, registers=0, tell=None):
        return {name: (name, loop_of(body)) for name, body in bodies.items()}

    def launch(self, kernel, count, block, numbers) -> None:
        name, loop = kernel
        self.launched.append(name)
        model, data, work, own, space, dt, number, first, count, flags = numbers
        loop(model, data, work, own, space, float(dt), number, first, count, flags)

    def recorded(self, launches):
        return launches

    def synchronize(self) -> None:
        pass


def loop_of(body):
    """The compiled loop over worlds of a kernel's body."""
    if body not in _loops:
        space = {"body": body, "load_word": load_word, "store_word": store_word, "__name__": "fake_card"}
        _loops[body] = jit(written_out(_LINES, space, "all_worlds", "<a card>"))
    return _loops[body]

