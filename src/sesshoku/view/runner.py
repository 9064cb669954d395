"""`Runner`: a simulation that runs by the clock in a thread of its own, whoever looks on.

Commands come in through a bounded queue and are done between steps; frames go out by `latest`, which holds one frame
only. Nothing here waits for a browser, so none can slow the simulation or stop it.
"""

from __future__ import annotations

import queue
import sys
import threading
import time as wall
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from sesshoku.compiled.prepare import progress
from sesshoku.errors import SesshokuError, SimulationDiverged
from sesshoku.methods.registry import Method, keywords, left_out, obstacles, resolve
from sesshoku.scene.scene import Scene
from sesshoku.simulation.simulation import Simulation
from sesshoku.view import frame, messages
from sesshoku.view.drag import Pull, can_pull
from sesshoku.view.materials import list_materials, with_material
from sesshoku.view.page import Page

FRAME_RATE = 60.0  # frames per second at most
PATIENCE = 0.05  # s: time the simulation may run behind the clock before it goes slower instead of catching up
SLICE = 0.008  # s of wall time between looks at the commands
WAITING = 4096  # commands that may wait; more are dropped


class Runner:
    """Runs `sim` at `speed` simulated seconds per second. page: hooks (`Page`). controller(sim): before every step."""

    def __init__(self, sim: Simulation, page: Page | None = None, *, controller: Callable[[Any], None] | None = None,
                 playing: bool = True, speed: float = 1.0) -> None:
        self.sim, self.page, self.controller = sim, page or Page(), controller
        self.playing, self.speed = playing, speed
        self.factor, self.step_time, self.behind = 0.0, 0.0, False
        self.notice = ""  # one line for the user: what was refused, and why
        self.busy = ""  # a method that is being made ready,
        self.progress = ""  # and how far it is, while it compiles
        self.pulls: dict[int, Pull] = {}  # by client
        self.watchers = 0  # browsers; without any no frame is made
        self.latest: tuple[int, bytes] = (0, b"")  # number and frame
        self.status_number = 0  # grows with every change that browsers must hear of
        self.on_news: Callable[[], None] = lambda: None  # called in the runner's thread: a new frame or status
        self.methods = _offered(sim, self.page.methods)
        self.materials = list_materials(sim.scene)
        self._commands: queue.Queue[Callable[[], None]] = queue.Queue(WAITING)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._wish: tuple[Scene, Method] | None = None  # what shall be simulated, while that is not yet so
        self._said = threading.Lock()  # of status_number: threads that compile tell of it
        self._building = False  # one at a time, however many wishes come
        self._page_state: Any = None
        self._sight: Any = None  # what the latest frame shows
        self._fresh = sim.save()  # what `reset` goes back to: the method's own memory, and the state
        self._start = {name: values.copy() for name, values in _motion(sim).items()}

    # ---- from other threads --------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop, name="sesshoku simulation", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self.progress:
            print(f"sesshoku: ended while {self.progress}; what is done is kept", file=sys.stderr)
        elif self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=10.0)

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def ask(self, command: Callable[[], None]) -> bool:
        """Do something between steps, in the simulation's thread; False: too much is waiting already."""
        try:
            self._commands.put_nowait(command)
        except queue.Full:
            return False
        return True

    def receive(self, message: messages.Message, client: int = 0) -> bool:
        """Act on a checked message between steps."""
        return self.ask(lambda: self._act(message, client))

    def status(self) -> dict[str, Any]:
        """What browsers show besides frames."""
        return {"type": "status", "playing": self.playing, "speed": self.speed, "method": self.sim.method.keyword,
                "label": self.sim.method.label, "methods": self.methods, "materials": self.materials,
                "notice": self.notice, "busy": self.busy, "progress": self.progress, "dt": self.sim.dt,
                "page": self._page_state}

    # ---- the loop ------------------------------------------------------------------------------------------------

    def _guard(self, action: Callable[[], None]) -> None:
        """Whatever a page's hook or a command raises is said, once, and ends nothing."""
        try:
            action()
        except Exception as error:
            reason = str(error) if isinstance(error, SesshokuError) else f"{type(error).__name__}: {error}"
            if not isinstance(error, SesshokuError) and reason != self.notice:
                traceback.print_exc()
            if reason != self.notice:
                self.changed(reason)

    def _make_ready(self) -> None:
        """Compile the method before time begins to pass; browsers see how far it is."""
        self.busy = self.sim.method.keyword
        progress.listeners.append(self._hear)
        try:
            self.sim.step(0)
        finally:
            progress.listeners.remove(self._hear)
            self.busy = self.progress = ""
            self.changed()

    def _hear(self, text: str) -> None:
        """How far a compilation is; of any thread."""
        self.progress = text
        self.changed()

    def _loop(self) -> None:
        if not self.sim._warm:
            self._guard(self._make_ready)
        self._guard(lambda: self.page.begin(self))
        self._guard(lambda: self.page.placed(self.sim))
        last = frame_due = measured = wall.perf_counter()
        owed, advanced = 0.0, 0.0  # simulated seconds to do, and done since `measured`
        while not self._stop.is_set():
            self._do_commands()
            now = wall.perf_counter()
            if self.playing:
                most = PATIENCE * self.speed + self.sim.dt
                owed += self.speed * (now - last)
                self.behind, owed = owed > most, min(owed, most)
                done = self._advance(owed)
                owed, advanced = owed - done, advanced + done
            else:
                owed = 0.0
            last = now
            now = wall.perf_counter()
            if now - measured > 0.5:
                self.factor, advanced, measured = advanced / (now - measured), 0.0, now
            if now >= frame_due:
                self._guard(self.publish)
                frame_due = max(frame_due + 1.0 / FRAME_RATE, now - 1.0 / FRAME_RATE)
            self._stop.wait(self._idle(owed, frame_due))

    def _idle(self, owed: float, frame_due: float) -> float:
        """How long nothing needs doing, s."""
        until_step = (self.sim.dt - owed) / self.speed if self.playing else 1.0
        return min(max(min(until_step, frame_due - wall.perf_counter()), 0.0005), 0.02)

    def _advance(self, owed: float) -> float:
        """Steps for up to `owed` simulated seconds, within a slice of wall time; returns what was done."""
        steps, begin, done = int(owed / self.sim.dt + 1e-9), wall.perf_counter(), 0
        singly = self._singly()
        while done < steps and self.playing:
            count = 1 if singly else max(1, min(steps - done, int(SLICE / max(self.step_time, 1e-6))))
            self._step(count)
            done += count
            if wall.perf_counter() - begin > SLICE:
                break
        return done * self.sim.dt

    def _singly(self) -> bool:
        hooks = (type(self.page).before_step, type(self.page).after_step) != (Page.before_step, Page.after_step)
        return bool(self.pulls) or self.controller is not None or hooks

    def _step(self, count: int) -> None:
        try:
            if self.controller is not None:
                self.controller(self.sim)
            self.page.before_step(self.sim)
            for pull in self.pulls.values():
                pull.apply(self.sim)
            begin = wall.perf_counter()
            self.sim.step(count)
            spent = (wall.perf_counter() - begin) / count
            self.step_time += 0.1 * (spent - self.step_time) if self.step_time else spent
            self.page.after_step(self.sim)
        except SimulationDiverged as error:
            self.pause(f"stopped: {error}")
        except Exception as error:  # a controller of the user's: say so and stay alive
            traceback.print_exc()
            self.pause(f"stopped: {type(error).__name__}: {error}")

    def publish(self) -> None:
        """Make the present state the latest frame, if anybody looks on, and tell of changes of the page's state."""
        state = self.page.state()
        if state != self._page_state:
            self._page_state = state
            self.changed()
        pulls = [pull.ends(self.sim) for pull in self.pulls.values()]
        held = b"".join(ends.tobytes() for ends in pulls)
        sight = (self.sim.time, id(self.sim), self.watchers, self.status_number, held)
        if self.watchers > 0 and (self.playing or sight != self._sight):  # a picture at rest is not sent again
            self._sight = sight
            number = self.latest[0] + 1
            extra = {"number": number, "running": float(self.playing), "speed": self.speed, "factor": self.factor,
                     "step": self.step_time}
            self.latest = number, frame.snapshot(self.sim, extra, pulls)
            self.on_news()

    def changed(self, notice: str | None = None) -> None:
        """Something besides the frame is new: browsers are told."""
        if notice is not None:
            self.notice = notice
        with self._said:
            self.status_number += 1
        self.on_news()

    # ---- commands ------------------------------------------------------------------------------------------------

    def _do_commands(self) -> None:
        begin = wall.perf_counter()
        while wall.perf_counter() - begin < SLICE and not self._stop.is_set():
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return
            self._guard(command)

    def _act(self, message: messages.Message, client: int) -> None:
        match message:
            case messages.Play():
                self.playing = True
                self.changed("")
            case messages.Pause():
                self.pause()
            case messages.Step(count=count):
                self.pause()
                for _ in range(count):
                    if not self._stop.is_set():
                        self._step(1)
            case messages.Reset():
                self.reset()
            case messages.Speed(value=value):
                self.speed = value
                self.changed()
            case messages.ChooseMethod(name=name):
                self.switch(name)
            case messages.ChangeMaterial(material=number, field=field, value=value):
                self.change_material(number, field, value)
            case messages.Drag():
                self._drag(message, client)
            case messages.Release():
                self.pulls.pop(client, None)
            case _:
                self.page.receive(message, client)

    def pause(self, notice: str = "") -> None:
        self.playing = False
        self.changed(notice)

    def leave(self, client: int) -> None:
        """A browser went away."""
        self.pulls.pop(client, None)
        self.page.left(client)

    def reset(self) -> None:
        """Back to the start, with the method and materials of now."""
        self.sim.restore(self._fresh)
        for name, values in self._start.items():
            getattr(self.sim.data, name)[...] = values
        self.sim._stale = True
        self.pulls.clear()
        self.page.placed(self.sim)
        self.changed("")

    def _drag(self, message: messages.Drag, client: int) -> None:
        pull = self.pulls.get(client)
        if pull is not None and pull.body == message.body:
            pull.target[:] = message.target
        elif self.page.draggable and can_pull(self.sim, message.body):
            self.pulls[client] = Pull(self.sim, message.body, message.point, message.target)

    def switch(self, name: str) -> None:
        """Go on with another method (one of the menu's); the old one runs until the new one is compiled."""
        offered = next((entry for entry in self.methods if entry["name"] == name), None)
        if offered is None or offered["refused"]:
            self.changed(f"method {name!r}: {offered['refused'] if offered else 'not offered'}"[:300])
            return
        self._rebuild(self._wished()[0], resolve(self.page.method(name)))

    def change_material(self, number: int, field: str, value: float) -> None:
        """One number of a material; the simulation is built anew around it and goes on."""
        if number >= len(self.materials) or "materials" not in self.page.panels:
            self.changed("no such material")
            return
        scene, method = self._wished()
        self._rebuild(with_material(scene, number, field, value), method)

    def _wished(self) -> tuple[Scene, Method]:
        """What a change starts from: the latest wish, which may not be fulfilled yet."""
        return self._wish or (self.sim.scene, self.sim.method)

    def _rebuild(self, scene: Scene, method: Method) -> None:
        """Make a simulation beside the running one, in a thread, and swap it in between two steps."""
        self._wish = scene, method
        busy = method.keyword if method.keyword != self.sim.method.keyword else ""
        if busy != self.busy:
            self.busy = busy
            self.changed("")
        if not self._building:
            self._building = True
            wish = self._wish
            threading.Thread(target=lambda: self._build(wish), name="sesshoku build", daemon=True).start()

    def _build(self, wish: tuple[Scene, Method]) -> None:
        made, reason = None, ""
        progress.listeners.append(self._hear)
        try:
            made = Simulation(*wish, self.sim.dt)
            made.step(0)  # compiles
        except Exception as error:
            made, reason = None, str(error)
        finally:
            progress.listeners.remove(self._hear)
            self.progress = ""
        while not self.ask(lambda: self._built(wish, made, reason)) and not self._stop.wait(0.01):
            pass

    def _built(self, wish: tuple[Scene, Method], made: Simulation | None, reason: str) -> None:
        self._building = False
        if self._wish is not None and self._wish is not wish:  # a later one, which holds this one's changes
            self._rebuild(*self._wish)
            return
        self._wish, self.busy = None, ""
        if made is not None:
            self._fresh = made.save()
            for name, values in _motion(made).items():
                values[...] = getattr(self.sim.data, name)
            made._stale = True
            self.sim, self.step_time = made, 0.0
            self.pulls.clear()
            self.materials = list_materials(made.scene)
            self.methods = _offered(made, self.page.methods)  # a material may be what a method cannot carry
            self.page.placed(made)
        self.changed(reason)


def _motion(sim: Simulation) -> dict[str, np.ndarray]:
    """The arrays of the state that mean the same to every method; the report is a method's own."""
    return {name: values for name, values in sim.data.saved().items() if name != "report"}


def _offered(sim: Simulation, names: tuple[str, ...] | None) -> list[dict[str, str]]:
    """The methods of the menu, each with the reason why it cannot carry the scene, if any, and what it leaves out."""
    offered = {name: resolve(name) for name in names or keywords()}
    return [{"name": name, "refused": "; ".join(obstacles(method, sim.compiled)),
             "left_out": "; ".join(left_out(method, sim.compiled))} for name, method in offered.items()]
