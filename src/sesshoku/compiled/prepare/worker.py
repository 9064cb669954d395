"""A child process that compiles: tasks on standard input, one JSON line each; answers on standard output.

    {"do": "kernel", "name": "module:function", "args": [...]}       front end, into the store
    {"do": "unit", "name": ..., "args": ..., "unit": "symbol"}        machine code of one unit of an entry
    {"do": "entry", "name": ..., "args": ...}                         the entry itself

The answer is {} or {"error": "..."}. The process ends with its input.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import Any

from numba.core.compiler_lock import global_compiler_lock


@global_compiler_lock
def work(task: dict[str, Any]) -> None:
    """Do one task."""
    from sesshoku.compiled.kernel import translate
    from sesshoku.compiled.library import units_of
    from sesshoku.compiled.prepare.signatures import find_kernel, read_type

    kernel = find_kernel(task["name"])
    args = tuple(map(read_type, task["args"]))
    kernel.targetctx.refresh()
    library = kernel.resolve(args).library
    if task["do"] == "unit":
        for unit in units_of(library):
            if unit.root.symbol == task["unit"]:
                translate(unit, kernel.targetctx.codegen())
    elif task["do"] == "entry":
        kernel.link_ahead(args)


def answer(task: dict[str, Any]) -> dict[str, str]:
    """Do one task and say how it went."""
    try:
        work(task)
    except Exception as error:
        return {"error": f"{task['name']}: {type(error).__name__}: {error}"}
    return {}


def serve() -> None:
    """Answer tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, and ends this process
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a module prints on import is no answer
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)  # the front end makes many objects that stay: looking through them is in vain
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    serve()
