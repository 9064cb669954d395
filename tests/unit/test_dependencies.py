"""What the package imports is declared in pyproject.toml, and what is declared is used."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
#: not imported by name: nicegui's wheel is looked into for its bundle, trimesh reads .dae by pycollada, uvicorn serves
#: sockets by websockets
UNSEEN = {"nicegui", "pycollada", "websockets"}
#: parts of declared packages that come and go with them, and packages that are looked for, not required
WITH_OTHERS = {"llvmlite": "numba", "cycler": "matplotlib", "pydantic_core": "pydantic", "robot_descriptions": None,
               "torch": None, "stable_baselines3": None}
RENAMED = {"rerun": "rerun-sdk"}  # modules whose package has another name, where it is not installed


def named(requirements: list[str]) -> set[str]:
    return {re.split(r"[\s<>=!~;\[]", text)[0].lower() for text in requirements}


def imported() -> dict[str, str]:
    """Top-level module of another package -> a file that imports it."""
    found = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            for name in names:
                found[name.partition(".")[0]] = path.relative_to(ROOT).as_posix()
    return {name: path for name, path in found.items() if name not in sys.stdlib_module_names and name != "sesshoku"}


def test_imports_are_declared() -> None:
    declared = named(PROJECT["dependencies"]) | set().union(
        *(named(EXTRAS[extra]) for extra in ("view", "usd", "peers", "video", "cluster", "learn", "data")))
    owners = packages_distributions()
    for name, path in imported().items():
        if WITH_OTHERS.get(name, name) is None:
            continue
        owned = owners.get(WITH_OTHERS.get(name) or name, [RENAMED.get(name, name)])
        distributions = {owner.lower() for owner in owned}
        assert distributions & declared, f"{path} imports {name}, which pyproject.toml does not declare"


def test_what_is_declared_is_used() -> None:
    owners = packages_distributions()
    used = {owner.lower() for name in imported() for owner in owners.get(name, [name])} | UNSEEN
    for name in named(PROJECT["dependencies"]) | named(EXTRAS["view"]):
        assert name in used, f"nothing imports {name}"
