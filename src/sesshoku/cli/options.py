"""Arguments and options that several commands share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

SceneFile = Annotated[Path, typer.Argument(metavar="FILE", help="A scene (.toml) or a robot (.urdf, .xml).")]
OptionalSceneFile = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="A scene (.toml) or a robot (.urdf, .xml).")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]

FixedBase = Annotated[bool, typer.Option("--fixed-base", help="Bolt the base of a robot to the world.")]
Pose = Annotated[str | None, typer.Option("--pose", metavar="NAME", help="Start a robot (.xml) in this keyframe.")]
Repair = Annotated[bool, typer.Option("--repair-inertia",
                                      help="Replace inertias no body can have by the nearest possible ones.")]

FileTimeStep = Annotated[float | None, typer.Option(help="Time step, s. Default: the file's, else 0.001.")]
TimeStep = Annotated[float, typer.Option(help="Time step, s.")]

Host = Annotated[str, typer.Option(help="Address to listen on. Default: this machine only. Any other puts a random "
                                        "token into the URL, which a browser then needs.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0: any that is free.")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]
