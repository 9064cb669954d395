"""Reading files from outside: only what is a file, and only so much of it.

A path in a robot file may name a device or a pipe, which never end. `read_file` takes regular files up to a stated
size.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from xml.etree import ElementTree

from sesshoku.errors import SceneError

MOST_BYTES = 256 * 2**20  # of a text file: a robot, a scene, elevations, VRML shapes
MOST_MESH_BYTES = 2**30  # of a mesh
MOST_XML_ELEMENTS = 1_000_000
MOST_XML_DEPTH = 500  # elements within each other


def check_file(path: str | Path, most: int = MOST_BYTES) -> None:
    """Refuse what is no regular file (a device, a pipe, a folder) or too large; nothing is opened."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise SceneError("no such file", remedy="check the path") from None
    except (OSError, ValueError) as error:  # no permission, a path with a null character
        raise SceneError(f"cannot be read: {error}", remedy="check the path and its permissions") from None
    if stat.S_ISDIR(found.st_mode):
        raise SceneError("cannot be read: Is a directory", remedy="give a file")
    if not stat.S_ISREG(found.st_mode):
        raise SceneError("cannot be read: it is a device or a pipe, not a file", remedy="give a file")
    if found.st_size > most:
        raise SceneError(f"cannot be read: it is larger than {most // 2**20} MB", value=found.st_size,
                         remedy="divide it")


def is_odd(path: str | Path, most: int) -> bool:
    """Whether there is something that is neither a folder nor a file of at most that size."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return not stat.S_ISDIR(found.st_mode) and (not stat.S_ISREG(found.st_mode) or found.st_size > most)


def read_file(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most so many bytes."""
    check_file(path, most)
    try:
        with open(path, "rb") as file:
            data = file.read(most + 1)  # it may have grown since
    except (OSError, ValueError) as error:
        raise SceneError(f"cannot be read: {error}", remedy="check the path and its permissions") from None
    if len(data) > most:
        raise SceneError(f"cannot be read: it is larger than {most // 2**20} MB", remedy="divide it")
    return data


def parse_xml(data: bytes) -> ElementTree.Element:
    """The root element of XML text, with a bound on how many elements there are and how deep they stand."""
    if data.count(b"<") > MOST_XML_ELEMENTS * 2:
        raise SceneError(f"holds more than {MOST_XML_ELEMENTS} elements", remedy="divide it")
    parser = ElementTree.XMLParser(target=_Bounded())
    try:
        parser.feed(data)
        root: ElementTree.Element = parser.close()
    except (ElementTree.ParseError, ValueError, LookupError) as error:  # the latter two: unknown encodings
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"is not well-formed XML: {error}", remedy="correct the file at that place") from None
    return root


class _Bounded(ElementTree.TreeBuilder):
    """A tree of elements that stops growing beyond its bounds; entities of a file's own could make it without end."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> ElementTree.Element:
        self._depth += 1
        self._count += 1
        if self._depth > MOST_XML_DEPTH:
            raise SceneError(f"elements stand deeper than {MOST_XML_DEPTH} in each other", element=f"<{tag}>")
        if self._count > MOST_XML_ELEMENTS:
            raise SceneError(f"holds more than {MOST_XML_ELEMENTS} elements", element=f"<{tag}>")
        return super().start(tag, attributes)

    def end(self, tag: str) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag)
