"""The crane game in the browser: keys, buttons and a joystick in, score and clock out; `sesshoku play crane`."""

from __future__ import annotations

import threading
import time as wall
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from sesshoku.apps.crane.demos import Recorder, next_path
from sesshoku.apps.crane.game import TIME_STEP, game_method, playable
from sesshoku.apps.crane.motion import AXES, Inputs
from sesshoku.apps.crane.round import SECONDS, Round
from sesshoku.errors import RecordingError
from sesshoku.methods.registry import Method
from sesshoku.simulation.simulation import Simulation
from sesshoku.view.messages import Message
from sesshoku.view.page import Page

if TYPE_CHECKING:
    from sesshoku.view.runner import Runner

HERE = Path(__file__).parent
KEEP = 5.0  # s of play between writes of a round under way, so that a game that is killed loses no more
REFRESH = 0.05  # s between looks at clock and crane; what changes the game is told at once
Share = Annotated[float, Field(allow_inf_nan=False, ge=-1.0, le=1.0)]


class Key(Message):
    """A key or button goes down or up."""

    type: Literal["key"]
    key: Literal["left", "right", "forward", "back", "up", "down", "turn_left", "turn_right", "grab", "hurry"]
    down: bool


class Stick(Message):
    """The joystick is moved: x to the right, y away from the player."""

    type: Literal["stick"]
    x: Share
    y: Share


class LetGo(Message):
    """All keys up: the window lost the keyboard."""

    type: Literal["let_go"]


class NewRound(Message):
    type: Literal["new_round"]


class CranePage(Page):
    """The game as a page of the viewer."""

    title = "crane game"
    panels = ("method",)
    draggable = False
    inputs = (Key, Stick, LetGo, NewRound)
    modules = MappingProxyType({"crane/page": HERE / "page.js"})
    extension = "crane/page"
    styles = (HERE / "page.css",)

    def __init__(self, dt: float = TIME_STEP, seconds: float = SECONDS, demos: Path | None = None) -> None:
        self.round = Round(dt, seconds)
        self.methods = tuple(playable())
        self.demos, self.recorder = demos, Recorder(self.round)
        if demos is not None:
            next_path(demos)  # now, not after the first round
        self.written: list[Path] = []
        self._path: Path | None = None  # of the round under way, once some of it is written
        self._keeping: threading.Thread | None = None
        self._trouble = ""  # why the last write failed
        self._keys: dict[int, set[str]] = {}  # by browser
        self._sticks: dict[int, tuple[float, float]] = {}
        self._sim: Simulation | None = None
        self._shown: tuple[float, dict[str, Any]] = (-1.0, {})

    def method(self, name: str) -> Method:
        """A method of the menu with the game's options."""
        return game_method(name)

    # ---- hooks of the viewer -------------------------------------------------------------------------------------

    def begin(self, runner: Runner) -> None:
        self.runner = runner

    def placed(self, sim: Simulation) -> None:
        """At the start: a new round. With another method: the round goes on, what was recorded so far is kept."""
        self._save()
        self.round.attach(sim)
        if sim.time == 0.0:
            self.round.begin()
        self._sim = sim

    def before_step(self, sim: Simulation) -> None:
        held = self.held()
        if self.demos is not None:
            self.recorder.before(sim, held)
        self.round.before_step(sim, held)

    def after_step(self, sim: Simulation) -> None:
        was_over = self.round.over
        self.round.after_step(sim)
        if self.demos is not None:
            self.recorder.after(sim)
            if self.round.over and not was_over:
                self._save()
            elif self.recorder.used and len(self.recorder.inputs) % max(1, round(KEEP / self.round.dt)) == 0:
                self._keep(self.demos)

    def receive(self, message: Message, client: int) -> None:
        keys = self._keys.setdefault(client, set())
        match message:
            case Key(key=key, down=down):
                (keys.add if down else keys.discard)(key)
            case Stick(x=x, y=y):
                self._sticks[client] = (x, y)
            case LetGo():
                self.left(client)
            case NewRound():
                self.runner.reset()
                self.runner.playing = True

    def left(self, client: int) -> None:
        self._keys.pop(client, None)
        self._sticks.pop(client, None)

    def state(self) -> dict[str, Any]:
        now, game = wall.perf_counter(), self.round
        told = {"phase": game.state.phase, "score": game.score, "won": list(game.won), "closed": game.inputs.grab,
                "behind": self.runner.behind, "demos": self._told()}
        if now - self._shown[0] < REFRESH and all(self._shown[1].get(key) == value for key, value in told.items()):
            return self._shown[1]
        places = {} if self._sim is None else {prize.name: [round(float(x), 3) for x in
                                                            self._sim.bodies[prize.name].position]
                                               for prize in game.prizes}
        shown = told | {"time_left": round(game.time_left, 1), "places": places,
                        "prizes": [[prize.name, prize.points] for prize in game.prizes],
                        "crane": [round(float(x), 3) for x in (*game.path.position, game.path.angle)],
                        "speed": [round(float(x), 3) for x in game.path.velocity]}
        self._shown = (now, shown)
        return shown

    # ---- the game's own ------------------------------------------------------------------------------------------

    def held(self) -> Inputs:
        """What all browsers together hold down."""
        keys = Inputs.of_keys(set().union(*self._keys.values())) if self._keys else Inputs()
        values = {axis: getattr(keys, axis) for axis in AXES}
        for x, y in self._sticks.values():
            values["x"], values["y"] = values["x"] + x, values["y"] + y
        return Inputs(**{axis: min(max(value, -1.0), 1.0) for axis, value in values.items()}, grab=keys.grab,
                      hurry=keys.hurry)

    def write(self) -> None:
        """Write the round that was played so far, if demonstrations are wanted and there is one."""
        if self._keeping is not None:
            self._keeping.join()  # it writes the same file
        try:
            if self.demos is not None and self.recorder.used:
                self.written.append(self.recorder.save(self._path or next_path(self.demos)))
        finally:
            self._path = None
            self.recorder.clear()

    def _save(self) -> None:
        """The same while the game goes on: what fails is told on the page."""
        try:
            self.write()
            self._trouble = ""
        except RecordingError as error:
            self._trouble = str(error)

    def _keep(self, folder: Path) -> None:
        """Write the round so far, in a thread of its own: physics must not wait for a disk."""
        if self._keeping is not None and self._keeping.is_alive():
            return  # a slow disk: at the next turn
        held = self.recorder.so_far()

        def save() -> None:
            try:
                self._path = self._path or next_path(folder)
                held.save(self._path)
                self._trouble = ""
            except RecordingError as error:
                self._trouble = str(error)

        self._keeping = threading.Thread(target=save, name="sesshoku demonstration", daemon=True)
        self._keeping.start()

    def _told(self) -> dict[str, str] | None:
        """Of demonstrations, where they are wanted: what becomes of this round, and the last file."""
        if self.demos is None:
            return None
        if self.recorder.start is not None:
            now = "recording"
        elif self.round.begun and not self.round.over:
            now = "not recorded: the law was switched in the middle of the round; the next round will be"
        else:
            now = "recorded from the first key on"
        last = f"Written last: {self.written[-1].name}" if self.written else ""
        return {"now": now, "last": self._trouble or last}
