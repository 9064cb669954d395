"""Makes the pictures of the pages, so that they are never stale: python tools/pictures.py [gallery] [report].

gallery: a strip of every scene in examples/, and the list on docs/gallery.md. report: the page of `make demo` as a
browser shows it (needs Chromium and out/report.html).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import sesshoku as ss
from sesshoku.scene.io.toml.read import read_scene

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "gallery.md"
LIST = re.compile(r"(<!-- gallery: begin -->\n).*?(<!-- gallery: end -->)", re.DOTALL)
LONGEST = 3.0  # s of a run that is shown
SIZE = (260, 240)


def gallery() -> None:
    (IMAGES / "gallery").mkdir(exist_ok=True)
    parts = []
    for path in sorted((ROOT / "examples").glob("*.toml")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ss.UnsupportedFeature)
            scene = read_scene(path)
            sim = ss.Simulation(scene, "exact", scene.run.get("dt"))
        run = sim.run(min(float(scene.run.get("time", LONGEST)), LONGEST), rate=100)
        run.to_strip(IMAGES / "gallery" / f"{path.stem}.png", 4, size=SIZE)
        first = path.read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        picture = f"![{path.stem}](images/gallery/{path.stem}.png)"
        title, command = path.stem.replace("_", " "), f"    sesshoku view examples/{path.name}"
        parts.append(f"## {title}\n\n{first}\n\n{picture}\n\n{command}\n")
        print(path.stem)
    text = LIST.sub(lambda found: found.group(1) + "\n".join(parts) + found.group(2), PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(text, encoding="utf-8")


def report() -> None:
    page = ROOT / "out" / "report.html"
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or not page.is_file():
        raise SystemExit("the picture of the report needs Chromium and out/report.html: run make demo first")
    subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900",
                    f"--screenshot={IMAGES / 'report.png'}", page.as_uri()], check=True, timeout=120)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["gallery", "report"]:
        {"gallery": gallery, "report": report}[name]()
