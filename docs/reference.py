"""Makes one reference page per folder of the package, from its docstrings; a new module appears by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "sesshoku"


def pages_and_modules() -> dict[str, list[str]]:
    """Page name -> modules on it."""
    pages: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[-1].startswith("_") or not path.read_text(encoding="utf-8").lstrip().startswith('"""'):
            continue
        pages.setdefault(parts[0], []).append(".".join(("sesshoku", *parts)))
    return pages


def on_config(config: Any) -> Any:
    """Add the pages to the navigation."""
    config.nav.append({"Reference": [f"reference/{name}.md" for name in pages_and_modules()]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Make the pages."""
    for name, modules in pages_and_modules().items():
        entries = [f"::: {module}\n    options:\n      heading_level: 2" for module in modules]
        content = "\n\n".join([f"# {name}", *entries])
        files.append(File.generated(config, f"reference/{name}.md", content=content + "\n"))
    return files
