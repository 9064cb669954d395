"""The command `cache`: what the package keeps on disk, and what a wheel brought; cli/app.py registers it."""

from __future__ import annotations

import json as json_module
import shutil
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from sesshoku.compiled import shipped, store, target

out = Console()
WORDS = {"kernel": "kernels, as bitcode", "unit": "machine code, shared", "entry": "machine code that Python calls"}
#: folders of the cache -> what is in them, where it is not kernels
FOLDERS = {"compiled": "compiled by Numba itself, and finished runs of experiments",
           "convex_pieces": "convex pieces of meshes"}


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove it all. It is made anew when it is needed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before removing.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Show or clear what is kept on disk: compiled code and convex pieces of meshes.

    It lies in the user's cache folder, or where SESSHOKU_CACHE says. Code that was not used for longest is removed
    above 1 GiB. What a wheel brought is part of the installation and stays.
    """
    root = store.cache_root()
    if clear:
        _clear(root, yes)
        return
    found = contents(root)
    if json:
        typer.echo(json_module.dumps(found))
        return
    table = Table(title=f"{root}: {_size(found['bytes'])}", title_justify="left")
    for column in ("what", "entries", "size", "last used"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for row in found["rows"]:
        table.add_row(row["what"], str(row["entries"]), _size(row["bytes"]), _age(row["newest"], row["oldest"]))
    out.print(table)
    out.print(f"code is bounded to {_size(found['limit'])}: what was not used for longest goes first, what was used "
              "within the hour stays", highlight=False, soft_wrap=True)
    came = found["shipped"]
    if came["entries"]:
        serves = "serves here" if not came["misfit"] else f"does not serve here: {came['misfit']}"
        out.print(f"came with the package: {came['entries']} files, {_size(came['bytes'])}, for {came['processor']}; "
                  f"{serves}", highlight=False, soft_wrap=True)
    else:
        out.print("no code came with the package: kernels are compiled where they are first used", highlight=False)
    out.print(f"code is made for {found['processor']}", highlight=False)


def contents(root: Path) -> dict[str, Any]:
    """What the cache holds and what came with the package, as JSON can hold it; times in s since 1970."""
    groups: dict[str, list[tuple[int, float]]] = {word: [] for word in WORDS.values()}
    for path, status in store.Store(root / "kernels").files():
        word = WORDS.get(path.parent.name.partition("-")[2])
        if word is not None:
            groups[word].append((status.st_size, status.st_mtime))
    for folder, word in FOLDERS.items():
        groups[word] = [(path.stat().st_size, path.stat().st_mtime) for path in (root / folder).rglob("*")
                        if path.is_file()]
    rows = [{"what": word, "entries": len(files), "bytes": sum(size for size, _ in files),
             "newest": max((then for _, then in files), default=None),
             "oldest": min((then for _, then in files), default=None)} for word, files in groups.items()]
    came = list(store.Store(shipped.FOLDER).files())
    made_for = shipped.shipped_for()
    return {"folder": str(root), "rows": rows, "bytes": sum(row["bytes"] for row in rows), "limit": store.LIMIT,
            "processor": target.processor().name,
            "shipped": {"entries": len(came), "bytes": sum(status.st_size for _, status in came),
                        "processor": made_for.name if made_for else None, "misfit": shipped.misfit()}}


def _clear(root: Path, yes: bool) -> None:
    found = contents(root)
    if not found["bytes"]:
        out.print(f"{root} holds nothing", highlight=False, soft_wrap=True)
        return
    if not yes:
        typer.confirm(f"Remove {_size(found['bytes'])} in {root}? Methods are then compiled again", abort=True)
    for name in ("kernels", *FOLDERS):  # what is ours: the folder may be one that the user named
        shutil.rmtree(root / name, ignore_errors=True)
    left = contents(root)["bytes"]
    out.print(f"removed {_size(found['bytes'] - left)}" + (f"; {_size(left)} could not be removed" if left else ""),
              highlight=False)


def _size(count: int) -> str:
    return f"{count / 2**20:.1f} MiB" if count < 2**30 else f"{count / 2**30:.2f} GiB"


def _age(newest: float | None, oldest: float | None) -> str:
    """How long ago the newest and the oldest were used."""
    if newest is None or oldest is None:
        return "-"
    days = [max(0.0, time.time() - then) / 86400.0 for then in (newest, oldest)]
    words = ["today" if day < 1.0 else f"{day:.0f} days ago" for day in days]
    return words[0] if words[0] == words[1] else " to ".join(words)
