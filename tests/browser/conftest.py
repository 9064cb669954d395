"""A headless Chromium with software GL for the tests of pages; where there is none they are skipped, and say why."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from browsing import Tab

FLAGS = ("--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests of a worker."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra `test`)")
    pytest.importorskip("nicegui", reason="NiceGUI is not installed (extra `view`)")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium on this machine: pages are not tested (install the system's package `chromium`)")
    with api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield made
        made.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Tab]:
    """A fresh tab; at the end the test fails if its console complained."""
    made = Tab(browser)
    yield made
    made.page.close()
    assert not made.complaints
