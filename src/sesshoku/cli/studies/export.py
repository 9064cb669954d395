"""The command `export`: a recording as a file of another kind."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sesshoku.cli.console import print_written


def export(
    file: Annotated[Path, typer.Argument(metavar="RECORDING", help="A recording (.npz, .ssk).")],
    to: Annotated[Path, typer.Argument(metavar="OUT", help=(
        "`.mcap` (Foxglove) or `.rrd` (Rerun), both with the extra `data`; `.csv`, `.npz`, `.ssk`; or `.html`, a page "
        "that plays it (extra `view`)."))],
) -> None:
    """Write a recording as a file of another kind: poses, contacts with forces, joints, sensors.

    `sesshoku export run.npz run.mcap`
    """
    from sesshoku.recording import Recording

    recording = Recording.load(file)
    print_written([recording.to_html(to) if to.suffix == ".html" else recording.save(to)])
