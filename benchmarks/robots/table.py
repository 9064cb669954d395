"""The table of docs/robots.md, from a committed result file; its numbers are quoted from nowhere else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "robots"
PAGE = ROOT / "docs" / "robots.md"
BLOCK = re.compile(r"(<!-- robots: begin -->\n).*?(<!-- robots: end -->)", re.DOTALL)
ORDER = ("agrees", "differs", "blows up", "diverges", "too slow", "refused", "MuJoCo diverges", "MuJoCo cannot load")


def centimetres(metres: float) -> str:
    """A distance in words."""
    return f"{100 * metres:.2g} cm" if metres < 1 else f"{metres:.3g} m" if metres < 1e3 else "out of sight"


def summary(results: dict[str, Any]) -> str:
    """One paragraph: how many of each result, and the ratios."""
    rows = results["scenes"].values()
    counts = [(kind, sum(row["result"] == kind for row in rows)) for kind in ORDER]
    ratios = [row["ratio"] for row in rows if row.get("ratio")]
    text = f"{len(rows)} scenes: " + ", ".join(f"**{count}** {kind}" for kind, count in counts if count) + "."
    if ratios:
        over = ", ".join(f"{sum(ratio > bound for ratio in ratios)} above {bound}" for bound in (3, 10))
        text += (f" Step time over `mj_step`: median **{np.median(ratios):.2f}**, worst **{max(ratios):.1f}** "
                 f"({over}).")
    return text


def lines(results: dict[str, Any]) -> list[str]:
    """The table, one scene a row."""
    made = ["| scene | result | distance | contacts (MuJoCo's) | over `mj_step` | unconverged steps | "
            "peak energy (MuJoCo's) | left out | reason |", "|---" * 9 + "|"]
    for name, row in sorted(results["scenes"].items()):
        result = row["result"]
        cells = [name.removesuffix(".xml"), result if result == "agrees" else f"**{result}**",
                 centimetres(row["distance"]) if "distance" in row else "",
                 f"{row['contacts']} ({row['their contacts']})" if "contacts" in row else "",
                 f"{row['ratio']:.2f}" if "ratio" in row else "",
                 str(row["unconverged"]) if row.get("unconverged") else "0" if "unconverged" in row else "",
                 f"{row['peak energy']:.3g} J ({row['their peak energy']:.3g})" if "peak energy" in row else "",
                 ", ".join(row.get("left out", [])), row.get("reason", "")]
        made.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return made


def table(results: dict[str, Any]) -> str:
    """The lines between the marks of the page."""
    head = (f"{results['folder']}, method `{results['method']}`, {results['date']}, {results['machine']}, "
            f"Python {results['python']}, MuJoCo {results['mujoco']}.")
    if results["stand_ins"]:
        head += f" {results['stand_ins']} missing meshes stand as cubes of 5 cm."
    return "\n".join([summary(results), "", head, "", *lines(results)]) + "\n"


def update(path: Path, page: Path = PAGE) -> None:
    """Write the table of a result file into the page."""
    text, made = page.read_text(encoding="utf-8"), table(json.loads(path.read_text()))
    if not BLOCK.search(text):
        raise ValueError(f"{page.name} has lost its marks")
    page.write_text(BLOCK.sub(lambda match: match.group(1) + made + match.group(2), text), encoding="utf-8")
