"""Where the equations of a method stand in the code: the tables of docs/methods/*.md, made of the comments in kernels.

    python docs/equations.py        writes them anew

A comment that begins with a number in brackets cites that equation: `# (12)`, `# (26)-(31): ...`, `# (7.3), (7.4)`. So
does a docstring that begins with one, and either may have `eq. (12)` or `eqs. (11), (12)` within. In the folder of a
method the number is that of its paper; elsewhere the source follows: `(5.1), thesis` (that of `springs`), `(16), lcp`.
The numbers of our own derivation, (E1), (E2), ... of `exact`, stand anywhere.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "sesshoku"
PAGES = ROOT / "docs" / "methods"
ROOMS = ("collision", "dynamics", "integrate", "methods", "solvers", "stages")
METHODS = tuple(sorted(page.stem for page in PAGES.glob("*.md") if (PACKAGE / "methods" / page.stem).is_dir()))
SOURCES = {"thesis": "springs"} | {name: name for name in METHODS if name not in ("exact", "springs")}
OWN = "exact"  # whose numbers begin with E

NUMBER = r"\((?:E\d+|\d+(?:\.\d+)?)\)"
LIST = rf"{NUMBER}(?:(?:-|, | and ){NUMBER})*"
SOURCE = rf"(?:, ({'|'.join(SOURCES)})\b)?"
WITHIN = re.compile(rf"\beqs?\.\s+({LIST}){SOURCE}")
FIRST = re.compile(rf"(?:#+\s+)?({LIST}){SOURCE}")
OURS = re.compile(r"\(E\d+\)(?:-\(E\d+\))?")
BLOCK = re.compile(r"(<!-- equations: begin -->\n).*?(<!-- equations: end -->)", re.DOTALL)
ROW = re.compile(r"^\s+(\([^a-z]*?\))\s+(?![-(])(.*?)\s{2,}(\S.*)$")


@dataclass(frozen=True)
class Citation:
    """An equation of a method, by its number, and the function that cites it ("" where the module does)."""

    method: str  # "" where a shared module names no source
    number: str
    module: str  # of the package, with dots
    function: str


def expand(text: str) -> list[str]:
    """The numbers of a list as it is written: "(6)-(8), (12)" has 6, 7, 8 and 12."""
    found: list[str] = []
    for part in re.finditer(rf"({NUMBER})(?:-({NUMBER}))?", text):
        first, last = part[1][1:-1], (part[2] or part[1])[1:-1]
        head, low = re.fullmatch(r"(E|\d+\.|)(\d+)", first).groups()  # type: ignore[union-attr]
        high = last.removeprefix(head)
        found += [f"{head}{n}" for n in range(int(low), int(high) + 1)]
    return found


def place(number: str) -> tuple[int, ...]:
    """Where a number stands in order."""
    return tuple(int(part) for part in number.removeprefix("E").split("."))


def in_text(text: str, own: str) -> list[tuple[str, str]]:
    """Method and number of all citations in one comment or docstring. own: whose folder it stands in, "" elsewhere."""
    found = []
    first = FIRST.match(text.strip())
    for match in [*([first] if first else []), *WITHIN.finditer(text)]:
        method = SOURCES[match[2]] if match[2] else own
        found += [(OWN if number[0] == "E" else method, number) for number in expand(match[1])]
    for match in OURS.finditer(text):
        found += [(OWN, number) for number in expand(match[0])]
    return found


def in_module(path: Path) -> list[Citation]:
    """All citations of a module."""
    source, parts = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE).with_suffix("").parts
    own = parts[1] if parts[0] == "methods" and parts[1] in METHODS else ""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    found = [("", pair) for pair in in_text(ast.get_docstring(tree) or "", own)]
    for function in functions:
        found += [(function.name, pair) for pair in in_text(ast.get_docstring(function) or "", own)]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            around = [f for f in functions if f.lineno <= token.start[0] <= (f.end_lineno or 0)]
            found += [(around[-1].name if around else "", pair) for pair in in_text(token.string, own)]
    return [Citation(method, number, ".".join(parts), name) for name, (method, number) in found]


def citations() -> list[Citation]:
    """All citations of the package, without doubles, in the order of files and lines."""
    found: dict[Citation, None] = {}
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            found |= dict.fromkeys(in_module(path))
    return list(found)


def short(citation: Citation) -> str:
    """A function as the tables name it: from the method's folder, or from the package."""
    inside, module = f"methods.{citation.method}.", citation.module.removesuffix(".__init__")
    return f"{module}.{citation.function}".removeprefix(inside)


def table(method: str, cited: list[Citation]) -> str:
    """Equation -> functions of a method, as the lines of a Markdown table."""
    where: dict[str, list[str]] = {}
    for citation in cited:
        if citation.method == method and citation.function:
            where.setdefault(citation.number, []).append(short(citation))
    rows: list[tuple[list[str], list[str]]] = []
    for number in sorted(where, key=place):
        *chapter, n = place(number)
        if rows and where[number] == rows[-1][1] and place(rows[-1][0][-1]) == (*chapter, n - 1):
            rows[-1][0].append(number)
        else:
            rows.append(([number], where[number]))
    lines = ["| equation | function |", "|---|---|"]
    for numbers, functions in rows:
        name = f"({numbers[0]})" if len(numbers) == 1 else f"({numbers[0]})-({numbers[-1]})"
        lines.append(f"| {name} | {', '.join(f'`{function}`' for function in functions)} |")
    return "\n".join(lines) + "\n"


def listed(method: str) -> list[str]:
    """Numbers of the equations that a page states, in its order: in its tables and formulas, errata aside."""
    text = BLOCK.sub("", (PAGES / f"{method}.md").read_text(encoding="utf-8"))
    if method == OWN:
        found = [number for match in OURS.finditer(text) for number in expand(match[0])]
    else:
        section = text.partition("## The equations\n")[2].partition("\n## ")[0]
        cells = re.findall(r"^\|.*\| ([^|]*) \|$", section, re.MULTILINE)
        found = [number for cell in cells for number in expand(cell)]
    return list(dict.fromkeys(found))


def promised(method: str) -> list[tuple[list[str], list[str]]]:
    """Rows of "equation -> function" in a method's docstring: numbers, and functions as the tables name them."""
    tree = ast.parse((PACKAGE / "methods" / method / "__init__.py").read_text(encoding="utf-8"))
    rows = []
    for line in (ast.get_docstring(tree, clean=False) or "").splitlines():
        match = ROW.match(line)
        if match and expand(match[1]):
            rows.append((expand(match[1]), [name.strip(" `") for name in match[3].split(",")]))
    return rows


def write() -> None:
    """The tables of all pages, anew."""
    cited = citations()
    for method in METHODS:
        page = PAGES / f"{method}.md"
        text = page.read_text(encoding="utf-8")
        page.write_text(BLOCK.sub(lambda match, m=method: match[1] + table(m, cited) + match[2], text),
                        encoding="utf-8")


if __name__ == "__main__":
    write()
