"""The files of a page are where they are looked for, and the three.js bundle offers what our modules take."""

from __future__ import annotations

import re

import pytest

from sesshoku.view import bundle


def test_bundle_is_where_nicegui_of_the_pinned_version_keeps_it() -> None:
    path = bundle.three_bundle()
    assert path.as_posix().endswith("nicegui/elements/scene/dist/index.js")
    assert path.stat().st_size > 400_000


def test_bundle_exports_what_our_modules_import() -> None:
    text = bundle.three_bundle().read_text(encoding="utf-8")
    exported = re.findall(r"(?:\w+ as )?(\w+)", text[text.rindex("export{"):].partition("}")[0][len("export{"):])
    assert set(bundle.EXPORTS) <= set(exported)
    for path in bundle.STATIC.glob("*.js"):
        for names in re.findall(r'import \{([^}]*)\} from "three-bundle"', path.read_text(encoding="utf-8")):
            assert {name.strip() for name in names.split(",")} <= set(bundle.EXPORTS), path.name


def test_bundle_holds_the_parts_of_three_that_we_use() -> None:
    text = bundle.three_bundle().read_text(encoding="utf-8")
    used = set()
    for path in bundle.STATIC.glob("*.js"):
        used |= set(re.findall(r"THREE\.(\w+)", path.read_text(encoding="utf-8")))
    assert "WebGLRenderer" in used
    missing = [name for name in used if not re.search(rf"\b{name}:", text)]  # of the frozen namespace object
    assert not missing


def test_every_module_is_listed_and_imports_only_listed_ones() -> None:
    assert {path.stem for path in bundle.STATIC.glob("*.js")} == set(bundle.MODULES)
    known = set(bundle.modules())
    for path in bundle.STATIC.glob("*.js"):
        imported = set(re.findall(r'from "([^"]+)"', path.read_text(encoding="utf-8")))
        assert imported <= known, path.name


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in [*bundle.STATIC.glob("*")]:
        assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path.name


def test_missing_extra_is_said_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(bundle.MissingViewer, match=r"pip install 'sesshoku\[view\]'"):
        bundle.require()
