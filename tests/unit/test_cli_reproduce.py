"""What `sesshoku reproduce` prints: tables that fit 80 columns, with every cell and every name."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from sesshoku.cli import reproduce
from sesshoku.experiments.base import Check, Result, Table

LONG = "slip of a standing foot [in the last of nineteen steps], which is a long name for a check"


@pytest.fixture
def printed(monkeypatch):
    """Call a printer with a terminal of 80 columns; its lines."""
    def lines(printer, *arguments):
        text = io.StringIO()
        monkeypatch.setattr(reproduce, "out", Console(file=text, width=80))
        printer(*arguments)
        return text.getvalue().splitlines()

    return lines


def test_a_wide_table_comes_in_parts_that_each_say_what_a_row_is(printed):
    columns = ["walk", "method", *(f"quantity {n} [unit]" for n in range(14))]
    rows = [[walk, method, *(1000.0 * k + n + 0.25 for n in range(14))]
            for k, (walk, method) in enumerate((("small", "lcp"), ("large", "lcp:recommended")))]
    lines = printed(reproduce.print_table, Table("walks", columns, rows))
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert all(f"{value:.4g}" in text for row in rows for value in row[2:])
    assert text.count("lcp:recommended") > 1 and text.count("[unit]") == 14, "in every part, and with units"


def test_checks_of_one_run_stand_under_its_name(printed, monkeypatch):
    monkeypatch.setattr(reproduce.base, "title", lambda name: "a title")
    checks = [Check(f"lcp, rigid soles: {LONG}", 0.123456, 0.2, 0.0, "mm", "at_most"),
              Check("lcp, rigid soles: upright", 1.0, 1.0, 0.0), Check("a lone check", 2.0, 1.5, 0.0, "", "at_least"),
              Check("near", 2.0, 1.0, 0.25)]
    lines = printed(reproduce.print_result, "lcp/landing", Result(checks, lambda figure: None), Path("out"))
    text = "\n".join(lines)
    assert max(len(line) for line in lines if line.startswith(("│", "┃"))) <= 80
    assert text.count("lcp, rigid soles") == 1 and "[in the last" in text
    assert all(wanted in text for wanted in ("≤ 0.2", "≥ 1.5", "1 ± 0.25")) and text.count("FAIL") == 1
