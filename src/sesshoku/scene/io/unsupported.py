"""What a file uses and sesshoku does not: collected element by element, graded, and told in a few lines.

Each item has a grade: it changes the motion (with a remedy where there is one), it changes the motion slightly, or it
leaves the motion as it is (looks, sensors, settings of a viewer). A warning tells all of the first kind, the most used
of the second, and of the last one line. Items that differ only in the name of their element are told together,
"gravcomp of 9 bodies (link1, link2, link3, ...)". The full list stays in `unsupported` of description and scene.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

SHOWN = 3  # names in a group
SLIGHT_LINES = 5  # of what changes the motion slightly, in a summary

# "solref of geom 'toe'", "geom 3 of body 'foot'", "light (line 7)": what comes before, kind, name, what comes behind
WORD = r"\b(?:(?:ball or free|ball|free|floating|planar|contact|visual) )?[a-z_]+"
ELEMENT = re.compile(rf"^(.*?)(?:(geom) (\d+ of body '[^']*')|({WORD}) '([^']*)'|({WORD}) \((line \d+)[^)]*\))(.*)$")
OPTION = re.compile(r"^option (.*)$")
PLURALS = {"body": "bodies", "equality": "equalities", "mesh": "meshes", "class": "classes"}


class Grade(IntEnum):
    """How much leaving something out matters."""

    MOTION = 0  # changes the motion
    SLIGHT = 1  # changes it slightly: how soft contacts and limits are, how MuJoCo solves and integrates
    LOOKS = 2  # leaves it as it is


class Item(str):
    """One thing left out or changed, in words; `grade` and `remedy` beside."""

    grade: Grade
    remedy: str

    def __new__(cls, text: str, grade: Grade = Grade.MOTION, remedy: str = "") -> Item:
        item = super().__new__(cls, text)
        item.grade, item.remedy = grade, remedy
        return item

    def within(self, file: str) -> Item:
        """The same with its file named."""
        return Item(f"{file}: {self}", self.grade, self.remedy)

    def __getnewargs__(self) -> tuple[str, Grade, str]:  # type: ignore[override]
        return str(self), self.grade, self.remedy


class Unsupported:
    """Collects items; the same one twice becomes one with a count."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._items: dict[str, Item] = {}

    def add(self, item: str, grade: Grade = Grade.MOTION, remedy: str = "") -> None:
        self._counts[item] = self._counts.get(item, 0) + 1
        self._items.setdefault(item, Item(item, grade, remedy))

    def listed(self) -> list[str]:
        """All items, those that matter most first."""
        items = [item if self._counts[text] == 1 else Item(f"{text} ({self._counts[text]} times)", item.grade,
                                                           item.remedy) for text, item in self._items.items()]
        return [item for grade in Grade for item in items if item.grade == grade]


def summary(items: Iterable[str], verbose: bool = False) -> list[str]:
    """A few lines that tell of the items: grouped by what they are, the most important first. verbose: all names."""
    grades: dict[Grade, list[Item]] = {grade: [] for grade in Grade}
    for text in items:
        item = text if isinstance(text, Item) else Item(text)
        grades[item.grade].append(item)
    lines = [f"changes the motion: {line}" for line in _grouped(grades[Grade.MOTION], verbose)]
    slight = _grouped(_options_together(grades[Grade.SLIGHT]), verbose)
    shown = slight if verbose or len(slight) <= SLIGHT_LINES else slight[:SLIGHT_LINES - 1]
    lines += [f"changes it slightly: {line}" for line in shown]
    if len(shown) < len(slight):
        lines.append(f"changes it slightly: {len(slight) - len(shown)} kinds more (sesshoku info -v lists all)")
    looks = grades[Grade.LOOKS]
    if verbose:
        lines += [f"leaves it as it is: {line}" for line in _grouped(looks, verbose)]
    elif looks:
        lines.append(f"leaves it as it is: {_counted(looks)}")
    return lines


def _grouped(items: list[Item], verbose: bool) -> list[str]:
    """One line for all items that differ in the name of their element alone, those of most elements first."""
    groups: dict[tuple[str, str, str, str], list[tuple[str, Item]]] = {}
    for item in items:
        before, kind, name, behind = _split(item)
        groups.setdefault((before, kind, behind, item.remedy), []).append((name, item))
    lines = []
    for (before, kind, behind, remedy), found in sorted(groups.items(), key=lambda group: -len(group[1])):
        text = str(found[0][1])
        if len(found) > 1:
            shown = [name for name, _ in found][:None if verbose else SHOWN]
            more = ", ..." if len(shown) < len(found) else ""
            text = f"{before}{len(found)} {_plural(kind)} ({', '.join(shown)}{more}){behind}"
        lines.append(f"{text}; {remedy}" if remedy else text)
    return lines


def _split(item: str) -> tuple[str, str, str, str]:
    """What comes before the element, its kind, its name, what comes behind; all before where no element is named."""
    found = ELEMENT.match(item)
    if found is None:
        return item, "", "", ""
    before, geom, place, kind, name, unnamed, line, behind = found.groups()
    if geom:
        number, _, owner = place.partition(" of body ")
        return before, "geom", f"{owner.strip(chr(39))}#{number}", behind
    return (before, kind, name, behind) if kind else (before, unnamed, line, behind)


def _plural(kind: str) -> str:
    return PLURALS.get(kind, f"{kind}s")


def _options_together(items: list[Item]) -> list[Item]:
    """The options of the solver as one item."""
    options = [found.group(1) for item in items if (found := OPTION.match(item))]
    others = [item for item in items if not OPTION.match(item)]
    return others + ([Item(f"options {', '.join(options)}", Grade.SLIGHT)] if options else [])


def _counted(items: list[Item]) -> str:
    """How many elements of each kind: "12 sites, 3 lights, camera 'eye', visual settings"."""
    kinds: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        before, kind, *_ = _split(item)
        kinds.setdefault((before, kind), []).append(item)
    return ", ".join(str(found[0]) if len(found) == 1 else f"{before}{len(found)} {_plural(kind)}"
                     for (before, kind), found in sorted(kinds.items(), key=lambda entry: -len(entry[1])))
