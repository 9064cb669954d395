"""What browsers say is checked before anything acts on it."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sesshoku.view import messages
from sesshoku.view.messages import LONGEST, Allowance, Message, Reader
from support import sample_count

READER = Reader()

GOOD: list[dict[str, Any]] = [
    {"type": "play"}, {"type": "pause"}, {"type": "step"}, {"type": "step", "count": 10}, {"type": "reset"},
    {"type": "speed", "value": 1}, {"type": "method", "name": "lcp:recommended"}, {"type": "release"},
    {"type": "material", "material": 0, "field": "static_friction", "value": 0.4},
    {"type": "drag", "body": 1, "point": [0, 0.5, 1], "target": [0, 0, 1e3]}, {"type": "drawn", "number": 12.0},
]
BAD = [
    "", "null", "[]", "7", "{}", "{", '{"type": "eval"}', '{"type": ["play"]}', '{"type": "play", "more": 1}',
    '{"type": "step", "count": 0}', '{"type": "step", "count": 1001}', '{"type": "step", "count": "5"}',
    '{"type": "step", "count": 1.5}', '{"type": "speed", "value": NaN}', '{"type": "speed", "value": 1e9}',
    '{"type": "speed", "value": -1}', '{"type": "speed"}', '{"type": "method", "name": 7}',
    json.dumps({"type": "method", "name": "x" * 65}),
    '{"type": "material", "material": -1, "field": "restitution", "value": 0.1}',
    '{"type": "material", "material": 0, "field": "__class__", "value": 0.1}',
    '{"type": "drag", "body": 0, "point": [0, 0], "target": [0, 0, 0]}',
    '{"type": "drag", "body": 0, "point": [0, 0, 1e7], "target": [0, 0, 0]}',
    '{"type": "drag", "body": 0, "point": [0, 0, null], "target": [0, 0, 0]}', "[" * 2000,
]


@pytest.mark.parametrize("given_message", GOOD, ids=lambda m: m["type"])
def test_good_messages_are_read(given_message: dict[str, Any]) -> None:
    message = Reader().read(json.dumps(given_message))
    assert message is not None
    for name, value in given_message.items():
        assert list(getattr(message, name)) == value if isinstance(value, list) else getattr(message, name) == value


@pytest.mark.parametrize("text", BAD)
def test_bad_messages_are_dropped(text: str) -> None:
    assert Reader().read(text) is None and Reader().read(text.encode()) is None


def test_long_messages_are_dropped() -> None:
    padded = '{"type": "play"}' + " " * (LONGEST - 16)
    assert Reader().read(padded) is not None
    assert Reader().read(padded + " ") is None


@settings(max_examples=sample_count(200, 5000))
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_garbage_never_raises(garbage: bytes | str) -> None:
    assert READER.read(garbage) is None or json.loads(garbage)["type"]


def test_a_page_adds_its_own_inputs() -> None:
    class Press(Message):
        type: Literal["press"]
        down: bool

    reader = Reader((Press,))
    assert reader.read('{"type": "press", "down": true}') == Press(type="press", down=True)
    assert reader.read('{"type": "press", "down": 1}') is None
    assert isinstance(reader.read('{"type": "play"}'), messages.Play)


def test_allowance_refills_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(messages.wall, "monotonic", lambda: now[0])
    allowance = Allowance(rate=10.0, burst=3.0)
    assert [allowance.take() for _ in range(5)] == [True, True, True, False, False]
    now[0] += 0.21
    assert [allowance.take() for _ in range(3)] == [True, True, False]
    now[0] += 100.0
    assert sum(allowance.take() for _ in range(10)) == 3
