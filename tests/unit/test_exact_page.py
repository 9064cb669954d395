"""docs/methods/exact.md: what it says of the solver, pictures that are there, experiments that exist."""

from __future__ import annotations

import re
from pathlib import Path

from sesshoku.experiments import base
from sesshoku.methods import exact
from sesshoku.solvers.proximal.work import NewtonOptions

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "methods" / "exact.md").read_text(encoding="utf-8")


def test_what_the_page_says_of_the_solver_is_so() -> None:
    options = NewtonOptions()
    assert options.sigma == 0.01 and options.shrink == 0.3 and options.few == 3 and options.most_flops == 2e6
    assert (options.inner, options.inner_many, options.large) == (8, 12, 250)
    assert options.accept == 1e-8 and options.rescue == 50
    assert (options.quiet, options.batch, options.batches, options.ahead, options.rounds) == (3e-4, 10, 12, 6.0, 6)
    assert exact.Options().pile_tolerance == 5e-4 and options.share == 0.1 and options.crowd == 12
    assert (options.group_flops, options.group_outer, options.group_inner, options.group_cap) == (3e5, 4, 8, 20)
    assert exact.options.RELATIVE == 1e-3


def test_links_and_experiments_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / "methods" / target).exists(), target
    named = set(re.findall(r"`(?:sesshoku reproduce )?(exact/[\w-]+)`", TEXT))
    assert named == {name for name in base.EXPERIMENTS if name.startswith("exact/")}


def test_the_headline_is_what_the_benchmark_prints() -> None:
    """Questions, closed forms and our own column; the others need their engines and are written by the benchmark."""
    from benchmarks import exact as benchmark
    from sesshoku.experiments.exact.scenes import engine

    readme = benchmark.BLOCK.search((ROOT / "README.md").read_text(encoding="utf-8"))
    page = benchmark.BLOCK.search(TEXT)
    assert readme is not None and page is not None
    ours = {}
    for question, (unit, right, measured) in benchmark.HEADLINE.items():
        ours[question] = (benchmark._amount(right, unit), benchmark._amount(measured(engine("exact")), unit))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.group(0).splitlines()[3:-1]]
    assert [row[0] for row in rows] == list(ours)
    for row in rows:
        assert tuple(row[1:3]) == ours[row[0]] and len(row) == 5
    quoted = readme.group(0).splitlines()[3:-1]
    assert len(quoted) == len(benchmark.IN_README) and all(line in page.group(0) for line in quoted)
