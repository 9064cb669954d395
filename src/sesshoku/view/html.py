"""The HTML around the modules: a live page, and a playback file with everything in it."""

from __future__ import annotations

import base64
import html
import json
import zlib
from typing import Any

from sesshoku.view import bundle

HEAD = ("<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'><link rel='icon' href='data:,'>")


def policy(nonce: str, framed: bool = False) -> dict[str, str]:
    """Headers of the live page: nothing but this server's own files, and unless `framed` no page may frame it."""
    allowed = (f"default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
               "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'"
               + ("" if framed else "; frame-ancestors 'none'"))
    return {"Content-Security-Policy": allowed, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store"}


def live_page(title: str, imports: dict[str, str], styles: list[str], nonce: str) -> str:
    """The page a viewer's server gives out. imports: module name -> address."""
    links = "".join(f"<link rel='stylesheet' href='{html.escape(style)}'>" for style in styles)
    return (f"{HEAD}<title>{html.escape(title)}</title>{links}"
            f"<script type='importmap' nonce='{nonce}'>{json.dumps({'imports': imports})}</script></head>"
            "<body class='sesshoku'><div id='view'></div>"
            f"<script type='module' nonce='{nonce}'>import {{ start }} from 'sesshoku/live'; "
            "start(document.getElementById('view'));</script></body></html>")


def squeezed(data: bytes) -> str:
    """Deflated and as text; the page inflates it with the browser's own DecompressionStream."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


# Runs before any module: inflate the modules, give each an address, make the import map, then start.
_BOOT = """
(async () => {
  const inflate = async (text) => {
    const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return await new Response(stream).arrayBuffer();
  };
  const inner = (element) => inflate(element.textContent);
  const imports = {};
  for (const element of document.querySelectorAll("script[data-module]")) {
    const blob = new Blob([await inner(element)], { type: "text/javascript" });
    imports[element.dataset.module] = URL.createObjectURL(blob);
  }
  const map = document.createElement("script");
  map.type = "importmap";
  map.textContent = JSON.stringify({ imports });
  document.head.append(map);
  const { start } = await import("sesshoku/playback");
  for (const place of document.querySelectorAll("[data-playback]")) {
    const data = document.getElementById(place.dataset.playback);
    start(place, await inner(data));
  }
})().catch((error) => {
  const note = document.createElement("p");
  note.className = "sesshoku-error";
  note.textContent = "This page cannot be played here: " + error;
  document.body.prepend(note);
  console.error(error);
});
"""


def player_parts() -> str:
    """Style and modules that playback needs, once a page."""
    style = bundle.STYLE.read_text(encoding="utf-8")
    scripts = "".join(f"<script type='text/plain' data-module='{name}'>{squeezed(path.read_bytes())}</script>"
                      for name, path in bundle.modules().items() if name != "sesshoku/live")
    return f"<style>{style}</style>{scripts}<script>addEventListener('DOMContentLoaded', () => {{{_BOOT}}});</script>"


def player(name: str, about: dict[str, Any], frames: bytes, height: str = "100vh") -> str:
    """One player. name: unique on the page. about: `playback.describe`. frames: of all its views."""
    told = json.dumps(about).encode()
    told += b" " * (-len(told) % 4)  # frames begin at a multiple of four
    data = len(told).to_bytes(4, "little") + told + frames
    return (f"<div class='sesshoku-player' data-playback='{name}' style='height:{height}'></div>"
            f"<script type='text/plain' id='{name}'>{squeezed(data)}</script>")


def playback_page(title: str, about: dict[str, Any], data: bytes) -> str:
    """One self-contained file."""
    return (f"{HEAD}<title>{html.escape(title)}</title>{player_parts()}</head>"
            f"<body class='sesshoku'>{player('run', about, data)}</body></html>\n")
