"""Makes the reference pages: the public interface and nothing else, from its docstrings.

What `sesshoku/__init__.py` exports stands on the page of the folder it comes from, by itself. What is public beside it
(what a simulation hands out, what a method of one's own is made of) is named in `MODULES`.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.files import Files

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "sesshoku"
#: page -> modules that are public as a whole
MODULES = {
    "simulation": ["simulation.views", "simulation.robot_views", "simulation.sensors.views",
                   "simulation.sensors.places", "simulation.batch.views", "simulation.batch.robots",
                   "simulation.batch.sensors", "simulation.batch.places"],
    "scene": ["scene.materials"],
    "recording": ["recording.certificate", "recording.picture"],
    "methods": ["methods.registry", "methods.definition", "methods.options", "methods.features", "methods.none",
                "methods.exact.options", "methods.lcp.options", "methods.multipoint.options", "methods.springs.options",
                "methods.volume.options", "methods.implicit.options", "compiled.jit", "compiled.stepping",
                "compiled.table"],
    "comparison": ["comparison.outcome", "comparison.audit.check", "comparison.audit.contract",
                   "comparison.audit.controllers"],
    "control": ["control.biped", "control.jump", "control.fall", "control.balance", "control.walking.walker"],
    "view": ["view"],
    "robots": ["robots"],
    "errors": ["errors"],
}


def exported() -> dict[str, str]:
    """Public name -> the module that `sesshoku/__init__.py` takes it from."""
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    inside = [node for block in tree.body if isinstance(block, ast.If) for node in block.body]  # of TYPE_CHECKING
    return {alias.asname or alias.name: str(node.module) for node in tree.body + inside
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("sesshoku.")
            for alias in node.names if not alias.name.startswith("_")}


def pages() -> dict[str, list[str]]:
    """Page -> what stands on it: names first, then modules. What is public in a module of MODULES is not repeated."""
    found: dict[str, list[str]] = {}
    whole = {f"sesshoku.{module}" for modules in MODULES.values() for module in modules}
    for name, module in exported().items():
        if module not in whole:
            found.setdefault(module.split(".")[1], []).append(f"{module}.{name}")
    for page, modules in MODULES.items():
        found.setdefault(page, []).extend(f"sesshoku.{module}" for module in modules)
    return dict(sorted(found.items()))


def on_config(config: Any) -> Any:
    """Add the pages to the navigation."""
    config.nav.append({"Reference": [f"reference/{name}.md" for name in pages()]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Make the pages. A class shows what it inherits: `Scene` and `Simulation` are made of parts."""
    from mkdocs.structure.files import File

    for name, entries in pages().items():
        parts = [f"::: {entry}\n    options:\n      heading_level: 2\n      inherited_members: true"
                 for entry in entries]
        files.append(File.generated(config, f"reference/{name}.md", content="\n\n".join([f"# {name}", *parts]) + "\n"))
    return files
