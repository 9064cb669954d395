"""Contact methods, one module each. `sesshoku.methods.none(integrator="rk4")` is a method with options.

In: a model, its state, a time step. Out: the state after it, contacts with their forces, a report.
"""

from __future__ import annotations

from types import ModuleType

from sesshoku.methods.registry import MODULES, Method, keywords, load, resolve


def __getattr__(name: str) -> ModuleType:
    if name in MODULES:
        return load(name)
    raise AttributeError(name)


__all__ = ["Method", "keywords", "resolve"]
