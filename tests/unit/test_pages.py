"""The pages to learn from keep their word: their Python runs as it stands, and what they link to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
#: page -> whether each block stands alone; else they run one after another
TAUGHT = {"getting-started.md": False, "getting-started.ja.md": False, "how-to.md": True, "pictures.md": False}


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL)


CASES = [(page, number, alone) for page, alone in TAUGHT.items()
         for number in (range(len(blocks(page))) if alone else [-1])]


@pytest.mark.parametrize("page, number, alone", CASES, ids=[f"{page} {number}" for page, number, _ in CASES])
def test_the_python_runs(page: str, number: int, alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = blocks(page)[number] if alone else "\n".join(blocks(page))
    exec(compile(code, f"{page}, block {number}", "exec"), {})
    for written in re.findall(r'"(\w+\.(?:png|npz|gif|ssk))"', code):
        assert (tmp_path / written).stat().st_size > 500


def test_there_are_twenty_recipes() -> None:
    assert len(re.findall(r"^## ", (DOCS / "how-to.md").read_text(encoding="utf-8"), re.MULTILINE)) >= 20


def anchors(path: Path) -> set[str]:
    """Names of a page's headings, as links spell them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE):
        plain = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


PAGES = sorted(path for path in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")])


@pytest.mark.parametrize("path", PAGES, ids=[path.relative_to(DOCS.parent).as_posix() for path in PAGES])
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target) or target.startswith("reference/"):  # made when the site is built
            continue
        name, _, anchor = target.partition("#")
        there = (path.parent / name).resolve() if name else path
        assert there.exists(), f"{path.name} links to {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there), f"{path.name} links to {target}: there is no such heading"
