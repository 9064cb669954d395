"""A copy of a folder of robots in which every mesh that is missing, or only a pointer to one, is a 5 cm cube."""

from __future__ import annotations

import os
import struct
import zlib
from itertools import product
from pathlib import Path
from xml.etree import ElementTree

HALF = 0.025  # m
CORNERS = list(product((-HALF, HALF), repeat=3))
TRIANGLES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
             (0, 6, 4), (1, 5, 7), (1, 7, 3)]
POINTER = b"version https://git-lfs"


def cube_stl() -> bytes:
    body = b"".join(struct.pack("<3f", 0, 0, 0) + b"".join(struct.pack("<3f", *CORNERS[i]) for i in triangle) + b"\0\0"
                    for triangle in TRIANGLES)
    return b"\0" * 80 + struct.pack("<I", len(TRIANGLES)) + body


def cube_obj() -> bytes:
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in CORNERS]
    return "\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in TRIANGLES), ""]).encode()


def gray_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress((b"\0" + b"\x80" * 6) * 2))
            + chunk(b"IEND", b""))


STAND_INS = {".stl": cube_stl, ".obj": cube_obj, ".png": gray_png}


def mirror(source: Path, target: Path) -> list[str]:
    """Make `target` a copy of `source` (links to its files) without holes; what was missing, relative to `source`."""
    missing = []
    for folder, _, files in os.walk(source):
        inside = target / Path(folder).relative_to(source)
        inside.mkdir(parents=True, exist_ok=True)
        for name in files:
            original = Path(folder, name)
            if original.suffix.lower() in STAND_INS and _is_pointer(original):
                (inside / name).write_bytes(STAND_INS[original.suffix.lower()]())
                missing.append(original.relative_to(source).as_posix())
            else:
                (inside / name).symlink_to(original.resolve())
    for scene in sorted(source.glob("*/*.xml")):
        for wanted in sorted(meshes_of(scene)):
            place = target / os.path.relpath(wanted, source)
            if not place.exists() and place.suffix.lower() in STAND_INS:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(STAND_INS[place.suffix.lower()]())
                missing.append(os.path.relpath(wanted, source))
    return missing


def _is_pointer(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(POINTER)) == POINTER
    except OSError:
        return True  # a link to nowhere


def meshes_of(scene: Path) -> set[Path]:
    """The meshes and pictures an MJCF file and what it includes ask for."""
    roots, seen, at = [], set(), [scene]
    while at:
        path = at.pop()
        if path in seen or not path.is_file():
            continue
        seen.add(path)
        try:
            root = ElementTree.parse(path).getroot()
        except ElementTree.ParseError:
            continue
        roots.append(root)
        at += [scene.parent / element.get("file", "") for element in root.iter("include")]
    folders = {"mesh": "", "texture": ""}
    for compiler in (element for root in roots for element in root.iter("compiler")):
        for kind in folders:
            folders[kind] = compiler.get(f"{kind}dir") or compiler.get("assetdir") or folders[kind]
    wanted = {(kind, element.get("file")) for root in roots for kind in folders for element in root.iter(kind)}
    return {Path(os.path.normpath(scene.parent / folders[kind] / file)) for kind, file in wanted if file}
