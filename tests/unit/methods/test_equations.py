"""Numbers of equations in the kernels' comments are those of the methods' pages; the pages' tables are the comments."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SPEC = importlib.util.spec_from_file_location("equations", ROOT / "docs" / "equations.py")
assert SPEC is not None and SPEC.loader is not None
equations = importlib.util.module_from_spec(SPEC)
sys.modules["equations"] = equations  # where dataclasses look it up
SPEC.loader.exec_module(equations)

CITED = equations.citations()
PAPERS = [method for method in equations.METHODS if method != equations.OWN]


def cited(method: str) -> dict[str, set[str]]:
    """Number -> functions that cite it."""
    found: dict[str, set[str]] = {}
    for citation in CITED:
        if citation.method == method:
            found.setdefault(citation.number, set()).add(equations.short(citation))
    return found


@pytest.mark.parametrize("method", equations.METHODS)
def test_every_number_in_the_kernels_is_on_the_page(method: str) -> None:
    assert cited(method)
    strange = {number: names for number, names in cited(method).items() if number not in equations.listed(method)}
    assert not strange, f"docs/methods/{method}.md does not state what these cite: {strange}"


@pytest.mark.parametrize("method", equations.METHODS)
def test_every_equation_of_the_page_is_cited_by_a_function(method: str) -> None:
    in_functions = {c.number for c in CITED if c.method == method and c.function}
    missing = [number for number in equations.listed(method) if number not in in_functions]
    assert not missing, f"no kernel of {method} has the comment (number) for these"


@pytest.mark.parametrize("method", equations.METHODS)
def test_the_table_of_the_page_is_that_of_the_comments(method: str) -> None:
    page = (equations.PAGES / f"{method}.md").read_text(encoding="utf-8")
    block = equations.BLOCK.search(page)
    assert block is not None, f"docs/methods/{method}.md has no table of equations"
    assert block[0].split("\n", 1)[1].rpartition("<!--")[0] == equations.table(method, CITED), (
        "write it anew: python docs/equations.py")


@pytest.mark.parametrize("method", PAPERS)
def test_functions_cite_what_the_docstring_of_their_method_promises(method: str) -> None:
    rows = equations.promised(method)
    assert rows, f"the docstring of methods/{method} has no list equation -> function"
    where = cited(method)
    for numbers, functions in rows:
        for number in numbers:
            assert where.get(number, set()) & set(functions), f"({number}): {functions}"
        for function in functions:
            assert any(function in where.get(number, set()) for number in numbers), f"{function}: {numbers}"


def test_our_own_equations_are_numbered_in_the_order_of_their_page() -> None:
    numbers = equations.listed(equations.OWN)
    assert numbers == [f"E{n + 1}" for n in range(len(numbers))] and len(numbers) >= 30


def test_shared_modules_name_the_source() -> None:
    assert [c for c in CITED if not c.method] == []


def test_thesis_numbers_within_sentences_are_equations_too() -> None:
    """Numbers with a dot are nothing else, so those that a sentence mentions must be on the page as well."""
    known = set(equations.listed("springs"))
    for room in ("methods/springs", "collision/swept"):
        for path in sorted((equations.PACKAGE / room).rglob("*.py")):
            found = set(re.findall(r"(?<!\w)\((\d\.\d+)\)", path.read_text(encoding="utf-8")))
            assert found <= known, f"{path.name}: {found - known}"


def test_numbers_are_read_as_they_are_written() -> None:
    assert equations.expand("(6)-(8), (12)") == ["6", "7", "8", "12"]
    assert equations.expand("(5.9)-(5.11) (E2)-(E3)") == ["5.9", "5.10", "5.11", "E2", "E3"]
    assert equations.in_text("# (11), (12): a law", "lcp") == [("lcp", "11"), ("lcp", "12")]
    assert equations.in_text("# (5.1), thesis", "") == [("springs", "5.1")]
    assert equations.in_text("# (15), multipoint; eq. (13), volume", "") == [("multipoint", "15"), ("volume", "13")]
    assert equations.in_text("of eqs. (3) and (8), summed", "volume") == [("volume", "3"), ("volume", "8")]
    assert equations.in_text("Wrench (6) and force (3) of a contact", "volume") == []  # shapes of arrays
    assert ("exact", "E5") in equations.in_text("Z of (E5) in place", "")


def test_a_comment_belongs_to_the_function_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = tmp_path / "methods" / "lcp" / "sample.py"
    module.parent.mkdir(parents=True)
    module.write_text('"""eq. (1)."""\n\n\ndef one():\n    """(2): what it does."""\n    x = 1  # (3)\n    return x\n')
    monkeypatch.setattr(equations, "PACKAGE", tmp_path)
    found = [(c.number, c.function) for c in equations.in_module(module)]
    assert found == [("1", ""), ("2", "one"), ("3", "one")]
