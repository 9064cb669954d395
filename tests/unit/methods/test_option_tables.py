"""Options say what they are, refuse what they are not, and the tables of the pages are made of them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import pytest

from benchmarks import options as pages
from sesshoku.errors import MethodError
from sesshoku.methods.options import check_options, choices_of, declared, explained, option
from sesshoku.methods.registry import MODULES, load


@pytest.mark.parametrize("keyword", pages.pages())
def test_the_page_has_the_table(keyword: str) -> None:
    text = pages.pages()[keyword].read_text(encoding="utf-8")
    assert pages.with_table(keyword, text) == text, "the options changed: run python -m benchmarks.options"


def test_every_method_with_options_to_speak_of_has_a_page() -> None:
    assert set(pages.pages()) == set(MODULES) - {"none"}


@pytest.mark.parametrize("keyword", MODULES)
def test_defaults_and_presets_are_allowed_and_every_option_is_explained(keyword: str) -> None:
    method = load(keyword).METHOD
    for options in (method.options(), *method.presets.values()):
        check_options(options, keyword)
    assert list(explained(method.options)) == [entry.name for entry in fields(method.options)]
    for name, (_, meaning) in explained(method.options).items():
        assert len(meaning) > 5 and not meaning.endswith("."), name


@pytest.mark.parametrize("keyword", MODULES)
def test_what_is_of_another_kind_is_refused_by_every_option(keyword: str) -> None:
    options = load(keyword).METHOD.options
    for name, (kind, _) in declared(options).items():
        wrong = ["no such word", 3.5j, [1.0], *([] if kind is bool else [True]), *([None] if kind is float else []),
                 *([1.5] if kind is int else []), *([0, "Rows"] if choices_of(kind) else [float("nan")])]
        for value in wrong:
            with pytest.raises(MethodError, match=rf"method '{keyword}': {name} must be .*the default is"):
                options(**{name: value})


@dataclass(frozen=True)
class Sample:
    """For these tests.

    share: of something, told in so many words that the sentence does not fit into one line, and goes on: in the
        next one
    speed (m/s): of something
    """

    share: float = option(0.5, least=0.0, most=1.0)
    open_share: float = option(0.5, above=0.0, below=1.0)
    speed: float = option(1.0, above=0.0, infinite=True, hint="inf: no limit")
    width: float | None = option(None, least=1.0)
    count: int = option(3, least=1)
    kind: Literal["a", "b", "c"] = "a"
    on: bool = True

    def __post_init__(self) -> None:
        check_options(self, "sample")


def test_units_and_meanings_are_read_from_the_docstring() -> None:
    said = explained(Sample)
    assert list(said) == ["share", "speed"] and said["speed"] == ("m/s", "of something")
    assert said["share"][1].endswith("and goes on: in the next one")


@pytest.mark.parametrize(("name", "allowed"), [
    ("share", [0, 0.0, 1, np.float64(0.3)]), ("open_share", [1e-300, 0.999]), ("speed", [1e300, float("inf")]),
    ("width", [None, 1.0]), ("count", [1, np.int64(7)]), ("kind", ["c"]), ("on", [False, np.False_])])
def test_bounds_themselves(name: str, allowed: list[object]) -> None:
    for value in allowed:
        assert getattr(Sample(**{name: value}), name) == value  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value", "words"), [
    ("share", -1e-9, "share must be a number from 0 to 1 (got -1e-09); the default is 0.5"),
    ("share", float("inf"), "from 0 to 1"), ("open_share", 0.0, "a number above 0 and below 1"),
    ("open_share", 1, "below 1"),
    ("speed", 0.0, "a number above 0, or inf (got 0.0); the default is 1.0, inf: no limit"),
    ("speed", -float("inf"), "above 0, or inf"), ("speed", 10**400, "above 0, or inf"),
    ("width", 0.5, "a number of at least 1, or None"), ("width", float("inf"), "of at least 1"),
    ("count", 0, "a whole number of at least 1"), ("count", 2**60, "a whole number"),
    ("kind", "d", "kind must be one of a, b, c (got 'd'); the default is a"), ("on", 1, "on must be True or False")])
def test_what_lies_outside_is_refused_in_words(name: str, value: object, words: str) -> None:
    with pytest.raises(MethodError) as refusal:
        Sample(**{name: value})  # type: ignore[arg-type]
    assert words in str(refusal.value) and "method 'sample'" in str(refusal.value)
