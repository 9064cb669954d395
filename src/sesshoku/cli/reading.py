"""The scene and the method that the words of a command name."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

from sesshoku.cli.console import err
from sesshoku.errors import MethodError, SceneError, UnsupportedFeature
from sesshoku.methods.registry import DEFAULT, Method, make, resolve
from sesshoku.scene.scene import Scene


def read(file: Path, fixed_base: bool = False, pose: str | None = None, repair_inertia: bool = False) -> Scene:
    """The scene of a file; what the file uses and we don't is printed once. The options are for robots alone."""
    scene_file = file.suffix.lower() == ".toml"
    if scene_file and (fixed_base or pose is not None or repair_inertia):
        raise SceneError("--fixed-base, --pose and --repair-inertia are for a robot's own file", value=file.name,
                         remedy="write fixed_base, pose or repair_inertia into the [[robot]] table of the scene")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if fixed_base or pose is not None or repair_inertia:
            scene = Scene(name=file.stem)
            scene.load(file, fixed_base=fixed_base or None, pose=pose, repair_inertia=repair_inertia)
        else:
            scene = Scene.read(file)
    for warning in caught:
        if issubclass(warning.category, UnsupportedFeature):
            err.print(str(warning.message), style="yellow", markup=False, highlight=False, soft_wrap=True)
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return scene


def chosen_method(wishes: dict[str, Any], keyword: str | None, options: list[str]) -> Method:
    """A method from `--method` and `--option name=value`, and before them from the scene file's [run]."""
    wanted = wishes.get("method", DEFAULT)
    values: dict[str, Any] = {}
    if keyword in (None, wanted):  # options belong to the method they stand with
        values |= wishes.get("options", {})
        values |= {"integrator": wishes["integrator"]} if wishes.get("integrator") else {}
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            raise MethodError("an option reads name=value", element="--option", value=option)
        try:
            values[name] = json.loads(text)
        except json.JSONDecodeError:
            values[name] = text
    return make(keyword or wanted, values) if values else resolve(keyword or wanted)
