"""The files a page is made of: our own ES modules, and the three.js bundle that NiceGUI ships.

NiceGUI is not imported: only its bundle is read, by path. Modules import each other by names ("three-bundle",
"sesshoku/scene"), which an import map turns into addresses: of this server, or of blobs in a playback file.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sesshoku.errors import SesshokuError

STATIC = Path(__file__).parent / "static"
BUNDLE = Path("elements/scene/dist/index.js")  # within the package nicegui
EXPORTS = ("THREE", "OrbitControls")  # what our modules take from it
THREE = "three-bundle"
MODULES = ("viewer", "scene", "contacts", "frame", "charts", "panel", "live", "playback")
STYLE = STATIC / "style.css"


class MissingViewer(SesshokuError):
    """The extra `view` is not installed, or holds another NiceGUI than it should."""


def three_bundle() -> Path:
    """The file with three.js. NiceGUI is found, not imported: that would cost a second and start its own machinery."""
    found = importlib.util.find_spec("nicegui")
    if found is None or not found.submodule_search_locations:
        raise MissingViewer("the viewer needs the extra `view`: pip install 'sesshoku[view]'")
    path = Path(next(iter(found.submodule_search_locations))) / BUNDLE
    if not path.is_file():
        raise MissingViewer(f"{path}: the three.js bundle of NiceGUI is not there; install the version that "
                            "'sesshoku[view]' pins")
    return path


def modules() -> dict[str, Path]:
    """Name for `import` -> file."""
    return {THREE: three_bundle()} | {f"sesshoku/{name}": STATIC / f"{name}.js" for name in MODULES}


def require() -> None:
    """A clear word where the extra is not installed, instead of a failing import."""
    three_bundle()
    for name in ("starlette", "uvicorn", "websockets"):
        if importlib.util.find_spec(name) is None:
            raise MissingViewer(f"the viewer needs {name}, which the extra `view` brings: pip install 'sesshoku[view]'")
