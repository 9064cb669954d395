"""In the browser: a live viewer of a simulation, and recordings as pages that play from disk.

In: a simulation or a recording, and what users press and drag. Out: a page that draws it.

    sim.show()                                  # opens a browser; until Ctrl-C
    viewer = show(sim, block=False)             # goes on in the background: viewer.sim, viewer.url, viewer.stop()
    recording.to_html("run.html")               # one self-contained file

How the parts hang together: `Runner` (runner.py) runs the simulation by the clock in a thread of its own and keeps
only its latest frame; `ViewServer` (server.py) serves the page and one websocket: frames go out as float32 (frame.py),
inputs come in as small JSON messages (messages.py). In the browser, static/live.js is the live source and
static/playback.js the recorded one; both hand frames to static/viewer.js, which draws them with static/scene.js and
static/contacts.js.

**A page of its own on top of the viewer**, with inputs, a display and a function of every step, without a copy of
anything: subclass `Page` (page.py), and give it a module with `setup(viewer)`.

    class Press(Message):                       # sesshoku.view.messages.Message: unknown fields are refused
        type: Literal["press"]
        key: Literal["left", "right"]
        down: bool

    class Game(Page):
        title, panels, draggable = "crane", ("method",), False
        methods = ("springs", "exact")          # of the menu; those that cannot carry the scene are greyed, with why
        inputs = (Press,)
        modules = {"game/page": HERE / "page.js"}   # import name -> file; import it or others by these names
        extension = "game/page"
        styles = (HERE / "page.css",)

        def placed(self, sim): ...              # a new simulation or its start: method switched, reset
        def before_step(self, sim): ...         # in the simulation's thread, before every step: set targets, forces
        def after_step(self, sim): ...
        def receive(self, message, client): ... # a checked Press, in the same thread, between steps
        def left(self, client): ...             # a browser closed: let its keys go
        def state(self): return {"score": 3}    # JSON for the display, sent when it changes (asked 60 times a second)

    viewer = show(sim, page=Game())             # or Runner(sim, Game()) and ViewServer(runner, host, port)

    // page.js
    import { add } from "sesshoku/viewer";      // add(parent, tag, class, text)
    import { button, section, slider, menu } from "sesshoku/panel";
    export function setup(viewer) {
      const score = add(viewer.overlay, "div", "score");            // over the canvas; pointer-events: none by default
      viewer.onStatus((status) => { score.textContent = status.page.score; });  // also method, speed, notice ...
      viewer.onFrame((frame) => { frame.head.time, frame.head.factor, frame.head.step; });  // every drawn frame
      addEventListener("keydown", (e) => { if (!e.repeat) viewer.send({ type: "press", key: "left", down: true }) });
      viewer.look([2, -3, 2], [0, 0, 0.5]);     // camera from, to; also viewer.camera, viewer.controls, viewer.canvas
      button(viewer.bar, "drop", "drop the claw", () => viewer.send(...));  // also viewer.side
    }

`runner.pause()`, `runner.reset()`, `runner.switch(name)` may be called from the page's hooks; from other threads by
`runner.ask(function)`. `runner.factor` is the real-time factor, `runner.step_time` seconds a step, `runner.behind`
whether the machine cannot keep up (time then passes more slowly, evenly).
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sesshoku.view.page import Page

if TYPE_CHECKING:
    from sesshoku.simulation.simulation import Simulation


class Viewer:
    """A viewer that is open: `sim` is the simulation shown now (another one once the method was switched)."""

    def __init__(self, sim: Simulation, page: Page | None, host: str, port: int,
                 controller: Callable[[Any], None] | None, playing: bool, speed: float, framed: bool = False) -> None:
        from sesshoku.view.bundle import require

        require()
        from sesshoku.view.runner import Runner
        from sesshoku.view.server import ViewServer

        self.runner = Runner(sim, page, controller=controller, playing=playing, speed=speed)
        self.server = ViewServer(self.runner, host, port, framed)
        self.server.start()

    @property
    def sim(self) -> Simulation:
        return self.runner.sim

    @property
    def url(self) -> str:
        """The address to open; it holds the token where one is needed."""
        return self.server.url

    def _repr_html_(self) -> str:
        """In a notebook: the viewer within the page; its kernel must run where the browser can reach it."""
        return (f"<iframe src='{self.url}' style='width:100%;height:560px;border:0' allow='fullscreen'></iframe>"
                if self.server.framed else f"<a href='{self.url}'>{self.url}</a>")

    def wait(self) -> None:
        """Until Ctrl-C or a signal to end, or `stop` from elsewhere."""
        with contextlib.suppress(KeyboardInterrupt), _ended_by_signals():
            self.server.wait()
        self.stop()

    def stop(self) -> None:
        self.server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP end it as Ctrl-C does, so that what is under way is still written."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    taken = []
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        taken = [number for number in numbers if signal.getsignal(number) == signal.SIG_DFL]
    for number in taken:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this process."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def show(sim: Simulation, *, page: Page | None = None, controller: Callable[[Any], None] | None = None,
         host: str = "127.0.0.1", port: int = 0, block: bool | None = None, browser: bool | None = None,
         playing: bool = True, speed: float = 1.0) -> Viewer:
    """Show a simulation in the browser and let it run by the clock.

    controller(sim) is called before every step. host, port: where to listen; a host that is not this machine's loopback
    puts a random token into the address. block: return only when the viewer ends (Ctrl-C). browser: open one. In a
    notebook neither is done by default: the viewer stands below the cell, and `viewer.stop()` ends it.
    """
    notebook = in_notebook()
    block, browser = (not notebook if given is None else given for given in (block, browser))
    viewer = Viewer(sim, page, host, port, controller, playing, speed, framed=notebook and not block)
    with _ended_by_signals() if block else contextlib.nullcontext():  # before the address is known to anybody
        try:
            print(f"viewer: {viewer.url}" + ("   (Ctrl-C ends it)" if block else ""), flush=True)
            if browser:
                with contextlib.suppress(Exception):  # a machine without one: the address is printed
                    webbrowser.open(viewer.url)
            if block:
                viewer.wait()
        except KeyboardInterrupt:  # before it waited
            viewer.stop()
            if not block:
                raise
    return viewer


__all__ = ["Page", "Viewer", "show"]
