"""The page of the method: its pictures."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "methods" / "multipoint.md").read_text(encoding="utf-8")


def test_its_pictures_are_there():
    pictures = re.findall(r"\]\(\.\./images/([^)]+)\)", PAGE)
    assert len(pictures) == 11
    assert all((Path(__file__).parents[3] / "docs" / "images" / name).stat().st_size > 5000 for name in pictures)
