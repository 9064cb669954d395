"""The tables of options in docs/methods, made from the options themselves.

    python -m benchmarks.options        # write them into the pages
"""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

from sesshoku.methods.definition import Definition
from sesshoku.methods.options import choices_of, declared, explained
from sesshoku.methods.registry import MODULES, load

PAGES = Path(__file__).parent.parent / "docs" / "methods"
BLOCK = re.compile(r"(<!-- options: begin -->\n).*?(<!-- options: end -->)", re.DOTALL)


def table(method: Definition) -> str:
    """Options of a method: defaults, presets, what is allowed, what they mean."""
    columns = {"default": method.options(), **{f"`{name}`": options for name, options in method.presets.items()}}
    lines = ["| option | " + " | ".join(columns) + " | allowed | meaning |", "|---" * (len(columns) + 3) + "|"]
    for entry in fields(method.options):
        (kind, said), (unit, text) = declared(method.options)[entry.name], explained(method.options)[entry.name]
        allowed = ", ".join(choices_of(kind)) or ("True, False" if kind is bool else said.range.removeprefix("of "))
        allowed += ", None" if type(None) in get_args(kind) else ""
        values = " | ".join(_word(getattr(options, entry.name)) for options in columns.values())
        lines.append(f"| `{entry.name}` | {values} | {allowed} | {unit}{'; ' if unit else ''}{text} |")
    return "\n".join(lines) + "\n"


def _word(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return "no bound" if value in (1e300, float("inf")) else f"{value:g}"


def pages() -> dict[str, Path]:
    """Methods that have a page."""
    return {keyword: PAGES / f"{keyword}.md" for keyword in MODULES if (PAGES / f"{keyword}.md").is_file()}


def with_table(keyword: str, text: str) -> str:
    """A page with its table made anew."""
    if BLOCK.search(text) is None:
        raise ValueError(f"docs/methods/{keyword}.md: no place for the table of options; write <!-- options: begin --> "
                         "and <!-- options: end --> where it belongs")
    return BLOCK.sub(lambda found: found[1] + table(load(keyword).METHOD) + found[2], text)


if __name__ == "__main__":
    for name, page in pages().items():
        page.write_text(with_table(name, page.read_text(encoding="utf-8")), encoding="utf-8")
