"""`Page`: what a page of its own adds to the viewer. Subclass it; `view/__init__.py` shows how."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sesshoku.view.messages import Message

if TYPE_CHECKING:
    from sesshoku.methods.registry import Method
    from sesshoku.simulation.simulation import Simulation
    from sesshoku.view.runner import Runner

PANELS = ("playback", "method", "show", "materials", "charts")


class Page:
    """The viewer's own page, and the base of others.

    title: of the browser's tab. panels: the built-in ones that are shown. methods: keywords the menu offers (None: all
    that are registered). draggable: whether the mouse pulls bodies. inputs: message models of its own, each a subclass
    of `Message` with a literal `type`. modules: name for `import` -> file of an ES module, served beside the viewer's;
    `extension` names the one whose `setup(viewer)` is called when the page starts. styles: CSS files.

    All methods below are called in the thread of the simulation, between steps, so they may touch it freely.
    """

    title = "sesshoku"
    panels: tuple[str, ...] = PANELS
    methods: tuple[str, ...] | None = None
    draggable = True
    inputs: tuple[type[Message], ...] = ()
    modules: Mapping[str, Path] = {}
    extension: str | None = None
    styles: tuple[Path, ...] = ()

    def begin(self, runner: Runner) -> None:
        """Before the first step; keep the runner to pause, reset or switch from within."""

    def method(self, name: str) -> str | Method:
        """What a name of the menu stands for: itself, or a method with options of the page's own."""
        return name

    def placed(self, sim: Simulation) -> None:
        """The simulation is another one now, or at its start again: method or material switched, or reset."""

    def before_step(self, sim: Simulation) -> None:
        """Before each step: apply forces, set targets. Override it only where needed: steps then go one by one."""

    def after_step(self, sim: Simulation) -> None:
        """After each step."""

    def receive(self, message: Message, client: int) -> None:
        """A checked message of one of `inputs`, from a browser (each has a number)."""

    def left(self, client: int) -> None:
        """A browser went away: let go of its keys."""

    def state(self) -> dict[str, Any] | None:
        """What the page shows besides the scene (score, timer ...), as JSON can hold it; sent when it changes."""
        return None
