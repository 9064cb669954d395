"""The map of the package is true: its picture in CONTRIBUTING, what folders say of themselves, how full they are."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sesshoku"
MOST_FOLDERS, MOST_FILES = 20, 18


def top_level() -> set[str]:
    """Folders and modules a reader meets first; what only runs or names the version aside."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_")}


def picture() -> list[list[str]]:
    """Names of each line of the picture in CONTRIBUTING, from the top down."""
    section = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## How data flows")[2].partition("\n## ")[0]
    return [re.split(r",\s*", names) for names in re.findall(r"^    (\w+(?:, \w+)*)  +\S", section, re.MULTILINE)]


def test_a_newcomer_meets_few_folders() -> None:
    assert len(list(PACKAGE.glob("*/__init__.py"))) <= MOST_FOLDERS


def test_the_picture_has_every_room_in_the_order_that_is_checked() -> None:
    drawn = picture()
    assert {name for line in drawn for name in line} == top_level()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    layers = [re.findall(r"\w+", layer) for layer in settings["tool"]["importlinter"]["contracts"][0]["layers"]]
    order = {name: n for n, layer in enumerate(layers) for name in layer}
    places = [[order[name] for name in line] for line in drawn]
    assert [place for line in places for place in line] == sorted(order.values())


def test_every_room_says_what_comes_in_and_what_goes_out() -> None:
    for path in PACKAGE.glob("*/__init__.py"):
        said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        assert re.search(r"^In: .+\. Out: .+", said, re.MULTILINE | re.DOTALL), path.parent.name


def test_every_folder_has_a_docstring_and_is_not_crowded() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), f"{path}: say what lives there"
        count = len(list(path.parent.glob("*.py")))
        assert count <= MOST_FILES, f"{path.parent} holds {count} files: give what belongs together a folder"


def test_things_are_where_the_table_says() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("Where things are")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:\w+/)+\w+\.py)`((?:(?:: |, )`\w+`)*)", table)
    assert len(named) > 15
    for path, names in named:
        text = (PACKAGE / path).read_text("utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(?:def {name}\(|class {name}\b|{name} = )", text, re.MULTILINE), f"{path}: {name}"
