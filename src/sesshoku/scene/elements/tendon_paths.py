"""Paths of spatial tendons: the places they run through. Plain data, checked when made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sesshoku.errors import SceneError
from sesshoku.scene import check
from sesshoku.scene.calls import checked

KINDS = ("site", "pulley", "sphere", "cylinder")
SHAPES = ("sphere", "cylinder")


@checked
@dataclass
class PathPoint:
    """A place on the path of a tendon.

    site: a point of a body (None: of the world) at `position`, through which the tendon runs.
    sphere, cylinder: a shape about `position` that the tendon wraps round between the sites before and behind it where
    it is in its way; `rotation` turns a cylinder, whose axis is z and which has no ends. `side`: a point of `side_body`
    (None: of the world); the tendon passes on that side, or through the shape as through a ring where it is within.
    pulley: begins a new branch, whose length counts by 1 / divisor.
    """

    kind: Literal["site", "pulley", "sphere", "cylinder"] = "site"
    body: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = (1.0, 0.0, 0.0, 0.0)
    radius: float = 0.0
    divisor: float = 1.0
    side: Any = None
    side_body: str | None = None

    def validate(self, element: str) -> None:
        """SceneError where it is none."""
        if self.kind not in KINDS:
            raise SceneError("unknown kind of place on a path", element=element, value=self.kind,
                             remedy=f"use {', '.join(KINDS[:-1])} or {KINDS[-1]}")
        check.text(self.body, "body", element)
        check.text(self.side_body, "side_body", element)
        self.position = tuple(check.vector(self.position, "position", element).tolist())
        self.rotation = tuple(check.quaternion(self.rotation, "rotation", element).tolist())
        self.divisor = check.number(self.divisor, "divisor", element, above=0.0)
        if self.kind in SHAPES:
            self.radius = check.number(self.radius, "radius", element, above=0.0)
        if self.side is not None:
            self.side = tuple(check.vector(self.side, "side", element).tolist())
        if self.kind not in SHAPES and (self.side is not None or self.side_body is not None):
            raise SceneError("only a sphere or cylinder has a side", element=element, value=self.side,
                             remedy="leave side and side_body out")
        if self.side is None and self.side_body is not None:
            raise SceneError("side_body without side", element=element, value=self.side_body,
                             remedy="give side, a point of that body")

    @property
    def bodies(self) -> list[str]:
        """The bodies it names."""
        return [body for body in (self.body, self.side_body) if body is not None]


def check_path(path: Any, element: str) -> tuple[PathPoint, ...]:
    """A path of places, each a PathPoint or a table of its values."""
    if isinstance(path, (str, Mapping)) or not isinstance(path, Iterable):
        raise SceneError("path is not a list of places", element=element, value=path,
                         remedy='give [{"body": "arm", "position": [0, 0, 0.1]}, ...], or names of frames')
    points = []
    for n, given in enumerate(path):
        where = f"{element}, place {n} of its path"
        if isinstance(given, Mapping):
            unknown = sorted(set(given) - set(PathPoint.__dataclass_fields__))
            if unknown:
                raise SceneError("unknown key", element=where, value=unknown[0],
                                 remedy=f"keys: {', '.join(PathPoint.__dataclass_fields__)}")
            given = PathPoint(**given)
        if not isinstance(given, PathPoint):
            raise SceneError("no place of a path", element=where, value=given,
                             remedy='give a PathPoint or {"body": ..., "position": ...}')
        given.validate(where)
        points.append(given)
    _check_order([point.kind for point in points], element)
    return tuple(points)


def _check_order(kinds: list[str], element: str) -> None:
    """Sites at both ends of every branch and of every shape, and two of them at least."""
    if not kinds:
        return
    if kinds.count("site") < 2:
        raise SceneError("a path needs two sites at least", element=element, value=kinds, remedy="add sites")
    for before, kind, after in zip(["pulley", *kinds[:-1]], kinds, [*kinds[1:], "pulley"], strict=True):
        if kind in SHAPES and (before != "site" or after != "site"):
            raise SceneError(f"a {kind} stands between two sites", element=element, value=kinds,
                             remedy="put a site before and behind it")
        if kind == "pulley" and after == "pulley":
            raise SceneError("a pulley begins a branch", element=element, value=kinds, remedy="put sites behind it")
