"""Studies as TOML files, for `sesshoku sweep STUDY.toml`.

    function = "study:walk"            # module:function; the module may stand beside this file
    seeds = 20
    out = "walk.parquet"
    scene = "scene.toml"               # handed to the function as scene=..., where it is given; so is method
    timeout = 60.0

    [grid]                             # every combination
    friction = [0.2, 0.4, 0.8]
    push = {from = 0, to = 50, count = 6}
    method = ["exact", "lcp"]

    [map]
    x = "friction"
    y = "push"
    value = "fell"
    by = "method"
    file = "map.png"

In place of [grid] a sample: `[sample]` with `count = 10000`, `seed = 0`, ranges `{from = 0.1, to = 1.0}` and lists to
choose from.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sesshoku.comparison.sweep.run import sweep
from sesshoku.comparison.sweep.study import Study
from sesshoku.errors import SceneError, did_you_mean, in_file
from sesshoku.scene.io.toml.errors import parse


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class Range(Part):
    """Numbers between two; count: how many, evenly spread, of a grid."""

    low: float = Field(alias="from")
    high: float = Field(alias="to")
    count: int | None = Field(None, ge=2)


class Sample(BaseModel):
    model_config = ConfigDict(extra="allow")

    count: int = Field(ge=1)
    seed: int = Field(0, ge=0)


class Map(Part):
    x: str
    y: str
    value: str
    by: str | None = None
    file: str | None = None


class StudyFile(Part):
    """The tables and keys of a study."""

    function: str
    seeds: int | list[int] = 1
    out: str | None = None
    scene: str | None = None
    method: str | None = None
    workers: int | None = Field(None, ge=0)
    timeout: float | None = Field(None, gt=0.0)
    grid: dict[str, Any] | None = None
    sample: Sample | None = None
    map: Map | None = None

    @model_validator(mode="after")
    def _one_of(self) -> StudyFile:
        if (self.grid is None) == (self.sample is None):
            raise ValueError("a study has a table [grid] or a table [sample]")
        return self


def read_study(path: Path) -> StudyFile:
    """A study's file; what is wrong names the key."""
    if not path.is_file():
        raise SceneError("there is no such file", file=str(path), remedy="give a study such as study.toml")
    with in_file(path):
        data = parse(path.read_text(encoding="utf-8"))
        try:
            return StudyFile.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "study"
            known = list(StudyFile.model_fields)
            remedy = did_you_mean(where, known, f"keys: {', '.join(known)}") \
                if first["type"] == "extra_forbidden" else None
            raise SceneError(first["msg"].removeprefix("Value error, "), element=where, remedy=remedy) from None


def find_function(name: str, folder: Path | None = None, what: str = "function") -> Callable[..., Any]:
    """`module:function`; folder: where modules are looked for first."""
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute:
        raise SceneError(f"a {what} is named module:function", element=what, value=name,
                         remedy="give study:walk for the function `walk` of study.py")
    if folder is not None and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))  # processes of the sweep inherit it
    try:
        found: Any = importlib.import_module(module)
    except ImportError as error:
        raise SceneError(f"the module cannot be imported ({error})", element=what, value=name,
                         remedy="put it beside the file, or on PYTHONPATH") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise SceneError(f"{module} has no {part!r}", element=what, value=name,
                             remedy=did_you_mean(part, [name for name in dir(found) if not name.startswith("_")]))
        found = getattr(found, part)
    if not callable(found):
        raise SceneError("is not a function", element=what, value=name)
    return found


def run_study(path: Path, **changed: Any) -> tuple[Study, StudyFile]:
    """The sweep that a file describes; changed: arguments of `sweep` in place of the file's."""
    study, folder = read_study(path), path.resolve().parent
    with in_file(path):
        function = find_function(study.function, folder)
        points: dict[str, Any]
        if study.grid is not None:
            points, samples, seed = {name: _values(name, said) for name, said in study.grid.items()}, None, 0
        else:
            assert study.sample is not None
            samples, seed = study.sample.count, study.sample.seed
            points = {name: _range(name, said) for name, said in (study.sample.model_extra or {}).items()}
    given = {"seeds": study.seeds, "workers": study.workers, "timeout": study.timeout, "method": study.method,
             "scene": None if study.scene is None else folder / study.scene,
             "path": None if study.out is None else folder / study.out}
    result = sweep(function, points, samples=samples, sample_seed=seed, **given | changed)
    if study.map is not None and len(result.failed) < len(result):
        m = study.map
        result.map(m.x, m.y, m.value, by=m.by, path=None if m.file is None else folder / m.file)
    return result, study


def _values(name: str, said: Any) -> list[Any]:
    if not isinstance(said, dict):
        return said if isinstance(said, list) else [said]
    found = _as_range(name, said)
    if found.count is None:
        raise SceneError("a range of a grid says how many", element=f"grid.{name}", value=said,
                         remedy="give {from = 0, to = 50, count = 6}, or a table [sample]")
    return np.linspace(found.low, found.high, found.count).tolist()


def _range(name: str, said: Any) -> Any:
    if not isinstance(said, dict):
        return said if isinstance(said, list) else [said]
    found = _as_range(name, said)
    return found.low, found.high


def _as_range(name: str, said: dict[str, Any]) -> Range:
    try:
        return Range.model_validate(said)
    except ValidationError as error:
        raise SceneError(f"is not a range: {error.errors()[0]['msg']}", element=name, value=said,
                         remedy="give {from = 0, to = 50, count = 6}") from None
