"""A CUDA card: what is asked of it, and how kernels are loaded, launched and recorded. All of CuPy's that is used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sesshoku.compiled.gpu.cubin import machine_code
from sesshoku.compiled.gpu.ptx import ENTRY
from sesshoku.compiled.prepare.progress import Progress
from sesshoku.errors import SesshokuError


class NoCard(SesshokuError):
    """There is no card that could be used; says why."""


class Card:
    """The current CUDA device."""

    def __init__(self) -> None:
        try:
            self.xp = importlib.import_module("cupy")
        except ImportError as error:
            raise NoCard(f"CuPy cannot be imported ({error}): pip install 'sesshoku[cuda]'") from None
        try:
            count = self.xp.cuda.runtime.getDeviceCount()
        except self.xp.cuda.runtime.CUDARuntimeError as error:
            raise NoCard(f"CUDA finds no device ({error})") from None
        if count == 0:
            raise NoCard("CUDA finds no device")
        device = self.xp.cuda.Device()
        major, minor = int(device.compute_capability[:-1]), int(device.compute_capability[-1])
        self.capability = major, minor
        properties = self.xp.cuda.runtime.getDeviceProperties(device.id)
        self.name = properties["name"].decode()
        self.processors = int(properties["multiProcessorCount"])

    def free_memory(self) -> int:
        """Bytes that could be had, those that CuPy keeps for reuse included."""
        pool = self.xp.get_default_memory_pool()
        return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def kernels(self, bodies: Mapping[str, Any], registers: int = 0,
                tell: Callable[[Progress], None] | None = None) -> dict[str, Any]:
        """name -> a kernel on the card, compiled or read from the store (`compiled/gpu/cubin.py`)."""
        found = {}
        for name, code in machine_code(bodies, self.capability, registers, tell).items():
            module = self.xp.cuda.function.Module()
            module.load(code)
            found[name] = module.get_function(ENTRY)
        return found

    def launch(self, kernel: Any, count: int, block: int, numbers: tuple[Any, ...]) -> None:
        """Run a kernel for as many worlds, in blocks of so many. numbers: its arguments, whole or not."""
        given = tuple(np.float64(n) if isinstance(n, float) else np.int64(n) for n in numbers)
        kernel((-(-count // block),), (block,), given)

    def recorded(self, launches: Callable[[], None]) -> Callable[[], None]:
        """Launches as one: a CUDA graph."""
        stream = self.xp.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            launches()
            graph = stream.end_capture()
        return lambda: graph.launch(self.xp.cuda.get_current_stream())

    def synchronize(self) -> None:
        """Wait until everything is done."""
        self.xp.cuda.get_current_stream().synchronize()
