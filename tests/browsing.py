"""A tab of a browser, for the tests of pages."""

from __future__ import annotations

import time
from typing import Any

from waiting import PATIENCE


class Tab:
    """A page in the browser that remembers every complaint of its console, and every address it asked for."""

    def __init__(self, browser: Any, width: int = 720, height: int = 440) -> None:
        self.page = browser.new_page(viewport={"width": width, "height": height})
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda m: self.complaints.append(m.text) if m.type in ("error", "warning") and
                     "GPU stall" not in m.text else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    def open(self, url: str) -> None:
        self.page.goto(url)
        self.page.wait_for_selector("body[data-drawn]")

    def get(self, script: str) -> Any:
        return self.page.evaluate(script)

    def until(self, script: str, seconds: float = PATIENCE) -> Any:
        """Ask again and again until the answer is true."""
        end = time.monotonic() + seconds
        while True:
            answer = self.get(script)
            if answer:
                return answer
            assert time.monotonic() < end, f"not within {seconds} s: {script}"
            time.sleep(0.05)

    def drawn(self) -> None:
        """Until what was changed so far is in the picture."""
        self.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def pixels(self, selector: str = ".canvas-box > canvas") -> dict[str, float]:
        """Shares of the picture: blue (the first body's colour), and how many different colours there are."""
        return self.page.evaluate(PIXELS, selector)


PIXELS = """(selector) => {
  const from = document.querySelector(selector);
  const canvas = document.createElement("canvas");
  canvas.width = from.width;
  canvas.height = from.height;
  const context = canvas.getContext("2d");
  context.drawImage(from, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const colors = new Set();
  let blue = 0, x = 0, y = 0;
  for (let i = 0; i < data.length; i += 4) {
    colors.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    if (data[i + 2] > data[i] + 40) {
      blue += 1;
      x += (i / 4) % canvas.width;
      y += Math.floor(i / 4 / canvas.width);
    }
  }
  const all = canvas.width * canvas.height;
  return { colors: colors.size, blue: blue / all, x: x / blue / canvas.width, y: y / blue / canvas.height };
}"""
