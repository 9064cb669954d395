"""Tests of the viewer need its extra; without it those that use it are not even imported, and that is said."""

from __future__ import annotations

import importlib.util

NEEDED = ("nicegui", "starlette", "uvicorn", "websockets")
MISSING = [name for name in NEEDED if importlib.util.find_spec(name) is None]
collect_ignore = ["test_bundle.py", "test_server.py", "test_playback.py", "test_command.py"] if MISSING else []


def pytest_report_header() -> str | None:
    return f"sesshoku: viewer not tested, missing {', '.join(MISSING)} (extra `view`)" if MISSING else None
