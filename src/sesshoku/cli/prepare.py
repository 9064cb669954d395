"""The command `prepare`: compile methods before they are needed."""

from __future__ import annotations

import time as wall
from typing import Annotated

import typer

from sesshoku.cli.console import out
from sesshoku.methods.registry import keywords, resolve


def prepare(
    method: Annotated[list[str] | None, typer.Argument(metavar="[METHOD]...", help="Default: all.")] = None,
) -> None:
    """Compile methods now, on all cores, so that the first simulation with them does not wait.

    For a fresh machine, an image or a continuous-integration job: `sesshoku prepare`, or `sesshoku prepare exact lcp`.
    """
    from sesshoku.compiled.prepare import prepare as compile_methods
    from sesshoku.compiled.prepare.progress import CompileProgress

    clock = wall.perf_counter()
    modules = dict.fromkeys(resolve(keyword).module for keyword in method or keywords())
    names = [module.__name__.rpartition(".")[2] for module in modules]
    with CompileProgress(", ".join(names) if len(names) < 3 else f"{len(names)} methods") as line:
        compile_methods(list(modules), tell=line.tell)
    out.print(f"ready: {', '.join(names)} ({wall.perf_counter() - clock:.0f} s)", highlight=False)
