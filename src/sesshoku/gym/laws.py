"""Which law an episode runs under, and what of the scene it varies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sesshoku.errors import SceneError
from sesshoku.methods.registry import Method, resolve


def choose_laws(method: str | Method | None, laws: Sequence[str | Method] | None, usual: str) -> list[Method]:
    """The laws of an environment: one, or several of which each episode draws one."""
    if laws is not None and method is not None:
        raise SceneError("either a method or several laws", element="environment", value=method, remedy="leave one out")
    wanted: list[Any] = [usual if method is None else method] if laws is None else list(laws)
    if not wanted:
        raise SceneError("no law", element="environment: laws", remedy='give some, such as ["exact", "lcp"]')
    return [resolve(law) for law in wanted]
