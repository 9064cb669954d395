"""docs/methods/implicit.md lists every option with the paper's default and the preset's value."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

from sesshoku.methods import implicit

PAGE = Path(__file__).parents[3] / "docs" / "methods" / "implicit.md"


def test_the_page_lists_every_option_with_its_values() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    listed = {name: (default, preset) for name, default, preset in rows}
    assert set(listed) == {field.name for field in dataclasses.fields(implicit.Options)}
    for name, words in listed.items():
        for word, options in zip(words, (implicit.Options(), implicit.PRESETS["recommended"]), strict=True):
            value = {"True": True, "False": False}.get(word) if word in ("True", "False") else json.loads(word)
            assert value == getattr(options, name), f"{name}: the page says {word}"
