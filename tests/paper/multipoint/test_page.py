"""The page of the method: its table of options is the options."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from sesshoku.methods import load

PAGE = (Path(__file__).parents[3] / "docs" / "methods" / "multipoint.md").read_text(encoding="utf-8")


def test_the_page_lists_every_option_with_its_values():
    module = load("multipoint")
    table = PAGE.partition("| option | paper (default)")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", table, re.MULTILINE)
    listed = {name: (default, preset) for name, default, preset in rows}
    assert set(listed) == {field.name for field in dataclasses.fields(module.Options)}
    for name, words in listed.items():
        for word, options in zip(words, (module.Options(), module.PRESETS["recommended"]), strict=True):
            value = {"True": True, "False": False}[word] if word in ("True", "False") else json.loads(word)
            assert value == getattr(options, name), f"{name}: the page says {word}"


def test_its_pictures_are_there():
    pictures = re.findall(r"\]\(\.\./images/([^)]+)\)", PAGE)
    assert len(pictures) == 8
    assert all((Path(__file__).parents[3] / "docs" / "images" / name).stat().st_size > 5000 for name in pictures)
