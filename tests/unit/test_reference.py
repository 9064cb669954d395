"""docs/reference.py: the reference has what is public, and each thing once."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import sesshoku as ss


def reference() -> ModuleType:
    path = Path(__file__).parents[2] / "docs" / "reference.py"
    specification = importlib.util.spec_from_file_location("reference", path)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_every_public_name_is_there() -> None:
    pages = reference().pages()
    entries = [entry for listed in pages.values() for entry in listed]
    assert len(set(entries)) == len(entries)
    for name in set(ss.__all__) - {"__version__", "methods", "robots"}:
        module = reference().exported()[name]
        assert f"{module}.{name}" in entries or module in entries, name


def test_what_is_named_exists() -> None:
    for modules in reference().MODULES.values():
        for module in modules:
            assert importlib.import_module(f"sesshoku.{module}").__doc__, module
