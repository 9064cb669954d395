"""Robots by name, through the package robot_descriptions: `scene.load("robot_descriptions:go2_mj_description")`.

The package keeps a list of robots and fetches their files from where their makers publish them, at first use over the
network, then from its own cache. It is no dependency: who wants it installs it.
"""

from __future__ import annotations

import difflib
import importlib
import os
from pathlib import Path
from typing import Any

from sesshoku.errors import SceneError

PREFIX = "robot_descriptions:"


def is_described(path: str | Path) -> bool:
    """Whether a path is the name of a robot and not of a file."""
    return str(path).startswith(PREFIX)


def described_robot(path: str | Path) -> tuple[Path, tuple[Path, ...]]:
    """The file of a robot by its name, and folders in which its meshes are sought."""
    name = str(path).removeprefix(PREFIX)
    try:
        package = importlib.import_module("robot_descriptions")
    except ImportError:
        raise SceneError("a robot by its name needs the package robot_descriptions", element=name,
                         remedy="pip install robot_descriptions, or give a file") from None
    known = list(getattr(package, "DESCRIPTIONS", ()))
    if not name.isidentifier() or known and name not in known:
        near = difflib.get_close_matches(name, known, n=3) or known[:3]
        raise SceneError("robot_descriptions knows no such robot", element=name,
                         remedy=f"did you mean {', '.join(near)}?" if near else "its page lists them")
    try:
        module: Any = importlib.import_module(f"robot_descriptions.{name}")
    except Exception as error:  # git, network, disk, packages it needs: whatever it says
        said = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(f"robot_descriptions cannot give its files: {type(error).__name__}: {said[:400]}",
                         element=name, remedy="it fetches them over the network at first use; connect, or give a file",
                         ) from None
    for attribute in ("MJCF_PATH", "URDF_PATH"):
        found = getattr(module, attribute, None)
        if found:
            around = (getattr(module, key, None) for key in ("PACKAGE_PATH", "REPOSITORY_PATH"))
            folders = [Path(folder) for folder in around if folder]
            # package://NAME/... may mean a folder beside the package's own
            return Path(os.fspath(found)), tuple(dict.fromkeys([*folders, *(folder.parent for folder in folders)]))
    raise SceneError("this robot comes as neither URDF nor MJCF", element=name,
                     remedy="where it is a xacro file, expand it first: xacro robot.urdf.xacro > robot.urdf")
