"""The web server of a viewer: one page, its modules, and one websocket for frames and inputs.

Who may come in: on a loopback address anybody of this machine whose browser shows our own page; on another address
only who has the token of the URL as well. Every request must name a host we are known by (a page elsewhere that
re-points its name at us is refused), and a websocket must come from a page of this very server (`Origin`). Inputs:
see `messages`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import json
import re
import secrets
import socket
import threading
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sesshoku.errors import SesshokuError
from sesshoku.scene.geometry.drawing import drawing
from sesshoku.view import bundle, html
from sesshoku.view.frame import LAYOUT
from sesshoku.view.messages import LONGEST, Allowance, Drawn, Reader
from sesshoku.view.runner import Runner

MOST_CLIENTS = 16
AHEAD = 2  # frames sent that the browser has not drawn yet; with more under way new frames are dropped
LOOPBACK = "127.0.0.1"
LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


class ViewServer:
    """Serves a `Runner`. host: an address of this machine; port 0: any free one.

    framed: other pages (a notebook) may show it within themselves, those that know its token.
    """

    def __init__(self, runner: Runner, host: str = LOOPBACK, port: int = 0, framed: bool = False) -> None:
        self.runner, self.host = runner, host
        self.loopback = is_loopback(host)
        self.framed = framed
        self.token = None if self.loopback and not framed else secrets.token_urlsafe(24)
        self._socket = _listen(host, port)
        self.port = int(self._socket.getsockname()[1])
        self.refused = 0  # messages dropped: malformed, too long or too many
        self.clients: dict[int, Client] = {}
        self._next_client = 1
        self._modules = bundle.modules() | dict(runner.page.modules)
        self._paths = {f"/module/{name}.js": path for name, path in self._modules.items()}
        self._paths |= {f"/style/{n}.css": path for n, path in enumerate((bundle.STYLE, *runner.page.styles))}
        self._reader = Reader(runner.page.inputs)
        self._drawing = drawing(runner.sim.scene, runner.sim.body_poses())
        self._loop: asyncio.AbstractEventLoop | None = None
        routes = [Route("/", self._page), Route("/module/{path:path}", self._file),
                  Route("/style/{path:path}", self._file), WebSocketRoute("/socket", self._socket_route)]
        config = uvicorn.Config(Starlette(routes=routes), log_level="warning", ws_max_size=LONGEST, ws_max_queue=64,
                                lifespan="off", server_header=False, ws_per_message_deflate=False,
                                timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None
        runner.on_news = self._news

    # ---- life ----------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        shown = f"[{self.host}]" if ":" in self.host else self.host
        if self.host in ("0.0.0.0", "::"):
            shown = socket.gethostname()
        return f"http://{shown}:{self.port}/" + (f"?token={self.token}" if self.token else "")

    def start(self) -> None:
        """Serve from a thread of its own, and let the simulation run."""
        self.runner.start()
        self._thread = threading.Thread(target=self._run, name="sesshoku viewer", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            self._thread.join(timeout=0.01)

    def _run(self) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._socket])

    def wait(self) -> None:
        """Until interrupted, or stopped from elsewhere."""
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(timeout=0.5)

    def stop(self) -> None:
        self._server.should_exit = True
        for client in list(self.clients.values()):
            client.wake()
        if self._thread is not None:
            self._thread.join(timeout=5.0)
        self.runner.stop()
        self._socket.close()

    # ---- who may come in -----------------------------------------------------------------------------------------

    def known_host(self, connection: HTTPConnection) -> bool:
        """Whether the request names a host we are: on loopback only local names (no page of another name may)."""
        name, port = split_host(connection.headers.get("host", ""))
        return port == self.port and (not self.loopback or name in LOCAL_NAMES or name.strip("[]") == self.host)

    def has_token(self, connection: HTTPConnection) -> bool:
        given = connection.query_params.get("token", "")
        return self.token is None or hmac.compare_digest(given.encode(), self.token.encode())

    def same_origin(self, connection: HTTPConnection) -> bool:
        return connection.headers.get("origin", "") == f"http://{connection.headers.get('host', '')}"

    # ---- pages ---------------------------------------------------------------------------------------------------

    async def _page(self, request: Request) -> Response:
        if not self.known_host(request) or not self.has_token(request):
            return PlainTextResponse("not allowed: open the address that sesshoku printed", status_code=403)
        nonce = secrets.token_urlsafe(16)
        imports = {name: f"/module/{name}.js" for name in self._modules}
        styles = [path for path in self._paths if path.startswith("/style/")]
        return HTMLResponse(html.live_page(self.runner.page.title, imports, styles, nonce),
                            headers=html.policy(nonce, self.framed))

    async def _file(self, request: Request) -> Response:
        path = self._paths.get(request.url.path)  # a fixed list: no path of a request is ever opened
        if path is None or not self.known_host(request):
            return PlainTextResponse("not found", status_code=404)
        kind = "text/css" if path.suffix == ".css" else "text/javascript"
        return FileResponse(path, media_type=kind, headers={"Cache-Control": "no-cache",
                                                            "X-Content-Type-Options": "nosniff"})

    def hello(self, client: int) -> dict[str, Any]:
        """What a browser is told first."""
        page = self.runner.page
        return {"type": "hello", "client": client, "drawing": self._drawing, "layout": LAYOUT, "title": page.title,
                "panels": list(page.panels), "draggable": page.draggable, "extension": page.extension}

    # ---- the websocket -------------------------------------------------------------------------------------------

    async def _socket_route(self, socket: WebSocket) -> None:
        allowed = self.known_host(socket) and self.same_origin(socket) and self.has_token(socket)
        if not allowed or len(self.clients) >= MOST_CLIENTS:
            await socket.close(code=1008)  # before it is accepted: the browser sees a refused connection
            return
        await socket.accept()
        self._loop = asyncio.get_running_loop()
        number, self._next_client = self._next_client, self._next_client + 1
        client = self.clients[number] = Client(self, socket, number)
        self.runner.watchers = len(self.clients)
        try:
            await client.serve()
        finally:
            del self.clients[number]
            self.runner.watchers = len(self.clients)
            self.runner.ask(lambda: self.runner.leave(number))

    def _news(self) -> None:
        """From the simulation's thread: something to send."""
        loop = self._loop
        if loop is not None and self.clients:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(self._wake_all)

    def _wake_all(self) -> None:
        for client in self.clients.values():
            client.wake()


class Client:
    """One browser: sends it the latest frame whenever it has drawn the ones before."""

    def __init__(self, server: ViewServer, socket: WebSocket, number: int) -> None:
        self.server, self.socket, self.number = server, socket, number
        self.sent = self.status = 0  # numbers of the last frame and status that went out
        self.under_way = 0
        self._news = asyncio.Event()
        self._allowance = Allowance()

    def wake(self) -> None:
        self._news.set()

    async def serve(self) -> None:
        sender = asyncio.create_task(self._send())
        try:
            await self._receive()
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await sender

    async def _send(self) -> None:
        runner = self.server.runner
        await self.socket.send_text(json.dumps(self.server.hello(self.number)))
        while True:
            if self.status != runner.status_number + 1:
                self.status = runner.status_number + 1
                await self.socket.send_text(json.dumps(runner.status()))
            number, data = runner.latest
            if number > self.sent and self.under_way < AHEAD and data:
                self.sent = number
                self.under_way += 1
                await self.socket.send_bytes(data)  # waits while the browser's buffers are full
                continue
            await self._news.wait()
            self._news.clear()

    async def _receive(self) -> None:
        while True:
            event = await self.socket.receive()
            if event["type"] == "websocket.disconnect":
                return
            given = event.get("text") or event.get("bytes") or ""
            message = self.server._reader.read(given)
            if isinstance(message, Drawn) and self.under_way > 0:  # one for each frame: no more can come than we sent
                self.under_way -= 1
                self.wake()
            elif not self._allowance.take() or message is None or isinstance(message, Drawn) \
                    or not self.server.runner.receive(message, self.number):
                self.server.refused += 1


def split_host(given: str) -> tuple[str, int]:
    """Name and port of a `Host` header; browsers leave out port 80. Port 0: not a host."""
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{1,5}))?", given)
    return (found[1], int(found[2] or 80)) if found else ("", 0)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise SesshokuError(f"cannot listen on {host}:{port} ({error.strerror or error}); "
                            "choose another --port or --host") from error
    return made
