"""Nothing of the site comes from elsewhere: the script that lets the search work from disk is our own."""

from __future__ import annotations

from typing import Any

ELSEWHERE = "https://unpkg.com/iframe-worker/shim"


def on_post_page(output: str, page: Any, config: Any) -> str:
    """The theme's address in place of ours, as seen from this page."""
    return output.replace(ELSEWHERE, "../" * page.url.count("/") + "frame-worker.js")


def on_post_template(output_content: str, template_name: str, config: Any) -> str:
    """The same for pages that are none of ours, such as the one that says that there is no such page."""
    return output_content.replace(ELSEWHERE, "frame-worker.js")
