"""Settings of controllers are dataclasses of numbers; all are checked alike."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from sesshoku.scene import check


def check_all(settings: Any, element: str, above: tuple[str, ...] = ()) -> None:
    """SceneError where a number is negative; those that end in one of `above` must not be zero either.

    None (by rule) and switches (True, False) pass.
    """
    for item in fields(settings):
        value = getattr(settings, item.name)
        if value is None or isinstance(value, bool):
            continue
        if item.name.endswith(above) and above:
            check.number(value, item.name, element, above=0.0)
        else:
            check.number(value, item.name, element, least=0.0)


__all__ = ["check_all"]
