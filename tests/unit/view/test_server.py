"""The server: who may come in, what goes out, and that no browser can slow or stop the simulation."""

from __future__ import annotations

import json
import random
import time
import urllib.error
import urllib.request
from typing import Any

import numpy as np
import pytest
import websockets
import websockets.sync.client

import sesshoku as ss
from sesshoku.errors import SesshokuError
from sesshoku.view import Viewer
from sesshoku.view.messages import LONGEST
from sesshoku.view.server import MOST_CLIENTS, is_loopback, split_host
from viewing import Guest, box_scene, viewing
from waiting import PATIENCE, until


def fetch(viewer: Viewer, path: str, **headers: str) -> tuple[int, str, Any]:
    request = urllib.request.Request(f"http://127.0.0.1:{viewer.server.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), error.headers


def refused(viewer: Viewer, **options: Any) -> bool:
    try:
        Guest(viewer, **options).close()
    except (websockets.exceptions.InvalidStatus, websockets.exceptions.ConnectionClosed):
        return True
    return False


# ---- who may come in


def test_loopback_is_the_default_and_needs_no_token() -> None:
    with viewing() as viewer:
        assert viewer.server.host == "127.0.0.1" and viewer.server.token is None
        assert viewer.server._socket.getsockname()[0] == "127.0.0.1"
        assert fetch(viewer, "/")[0] == 200


@pytest.mark.parametrize(("given", "found"), [
    ("localhost:8080", ("localhost", 8080)), ("[::1]:8080", ("[::1]", 8080)), ("[::1]", ("[::1]", 80)),
    ("localhost", ("localhost", 80)), ("a:b:c", ("", 0)), ("", ("", 0)), ("localhost:", ("", 0)),
    ("localhost:80a", ("", 0)), ("localhost:8080\n", ("", 0))])
def test_the_host_a_request_names_is_taken_apart(given: str, found: tuple[str, int]) -> None:
    assert split_host(given) == found


def test_what_counts_as_loopback() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.0.1", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "example.org")))


def test_other_hosts_need_the_token() -> None:
    with viewing(host="0.0.0.0") as viewer:
        token = viewer.server.token
        assert token is not None and len(token) >= 32 and f"?token={token}" in viewer.url
        assert fetch(viewer, "/")[0] == fetch(viewer, "/?token=wrong")[0] == 403
        assert fetch(viewer, f"/?token={token}")[0] == 200
        with Guest(viewer) as guest:  # it takes the token from the viewer's address
            assert guest.hello["type"] == "hello"
        for query in ("", "?token=", "?token=wrong", f"?token={token}x", f"?token={token[:-1]}"):
            with pytest.raises(websockets.exceptions.InvalidStatus):
                websockets.sync.client.connect(f"ws://127.0.0.1:{viewer.server.port}/socket{query}",
                                               origin=f"http://127.0.0.1:{viewer.server.port}",
                                               open_timeout=PATIENCE).__enter__()


def test_tokens_differ() -> None:
    with viewing(host="0.0.0.0") as one, viewing(host="0.0.0.0") as other:
        assert one.server.token != other.server.token


def test_a_page_of_elsewhere_may_not_connect() -> None:
    with viewing() as viewer:
        port = viewer.server.port
        wrong = ("http://evil.example", f"https://127.0.0.1:{port}", "null", f"http://127.0.0.1:{port + 1}", None)
        for origin in wrong:
            assert refused(viewer, origin=origin), origin
        assert not refused(viewer)


def test_a_name_of_elsewhere_pointed_at_us_is_refused() -> None:
    with viewing() as viewer:
        port = viewer.server.port
        assert fetch(viewer, "/", Host=f"evil.example:{port}")[0] == 403
        assert fetch(viewer, "/", Host=f"localhost:{port}")[0] == 200
        assert refused(viewer, origin=f"http://evil.example:{port}",
                       additional_headers={"Host": f"evil.example:{port}"})


def test_only_listed_files_are_served() -> None:
    with viewing() as viewer:
        assert fetch(viewer, "/module/sesshoku/viewer.js")[0] == fetch(viewer, "/module/three-bundle.js")[0] == 200
        for path in ("/module/../server.py", "/module/%2e%2e/server.py", "/module//etc/passwd", "/style/9.css",
                     "/module/sesshoku/viewer.js/..", "/static/viewer.js", "/etc/passwd"):
            assert fetch(viewer, path)[0] == 404, path


def test_the_page_allows_nothing_from_elsewhere() -> None:
    with viewing() as viewer:
        _, text, headers = fetch(viewer, "/")
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy and "script-src 'self' 'nonce-" in policy
        assert policy.partition("'nonce-")[2].partition("'")[0] in text


def test_more_browsers_than_fit_are_refused() -> None:
    with viewing() as viewer:
        guests = [Guest(viewer) for _ in range(MOST_CLIENTS)]
        assert refused(viewer)
        for guest in guests:
            guest.close()


def test_a_taken_port_is_said_clearly() -> None:
    with viewing() as viewer, pytest.raises(SesshokuError, match="choose another --port"), \
            viewing(port=viewer.server.port):
        pass


# ---- what goes out


def test_frames_and_status_reach_the_browser() -> None:
    with viewing() as viewer, Guest(viewer) as guest:
        assert [body["name"] for body in guest.hello["drawing"]["bodies"]] == ["ground", "box0"]
        guest.until(lambda g: g.frame.get("time", 0.0) > 0.1 and bool(g.status))
        np.testing.assert_allclose(guest.poses[1, :3], [0, 0, 0.2], atol=1e-3)
        assert guest.status["method"] == "exact" and guest.status["playing"]
        guest.send(type="pause")
        guest.until(lambda g: not g.status["playing"])


def test_two_browsers_stay_in_step() -> None:
    """Both see the same frames, and what one does the other sees."""
    with viewing() as viewer, Guest(viewer) as one, Guest(viewer) as two:
        seen: list[dict[float, tuple[float, bytes]]] = [{}, {}]
        for guest, frames in zip((one, two), seen, strict=True):
            for _ in range(40):
                if guest.receive() == "frame":
                    frames[guest.frame["number"]] = guest.frame["time"], guest.poses.tobytes()
        one.send(type="pause")
        for guest in (one, two):
            guest.until(lambda g: bool(g.status) and not g.status["playing"])
        one.send(type="reset")
        one.send(type="step", count=25)
        for guest in (one, two):
            guest.until(lambda g: abs(g.frame.get("time", -1.0) - 0.025) < 1e-6)
        shared = set(seen[0]) & set(seen[1])
        assert all(seen[0][number] == seen[1][number] for number in shared)
        np.testing.assert_array_equal(one.poses, two.poses)


def test_a_browser_that_does_not_draw_gets_no_more_frames_and_slows_nobody() -> None:
    with viewing() as viewer, Guest(viewer, draws=False) as stuck, Guest(viewer) as lively:
        kinds: list[str] = []
        while kinds.count("frame") < 2:
            kinds.append(stuck.receive())
        before = viewer.sim.time
        lively.until(lambda g: g.frame.get("time", 0.0) > before + 1.0)  # meanwhile many frames are made
        with pytest.raises(TimeoutError):  # and not one more until it says it drew them
            while True:
                assert stuck.receive(timeout=0.3) == "status"
        stuck.send(type="drawn", number=stuck.frame["number"])
        stuck.until(lambda g: g.frame["time"] > before)  # the newest, not the next


def test_a_browser_that_goes_away_leaves_the_simulation_running() -> None:
    with viewing() as viewer:
        guest = Guest(viewer)
        guest.until(lambda g: bool(g.frame))
        guest.socket.socket.close()  # no goodbye
        guest.socket.protocol.fail(1006)
        now = viewer.sim.time
        until(lambda: viewer.sim.time > now + 0.2)
        with Guest(viewer) as other:
            other.until(lambda g: g.frame.get("time", 0.0) > now)


# ---- what comes in


def test_too_long_a_message_ends_the_connection_only() -> None:
    with viewing() as viewer:
        with Guest(viewer) as guest, pytest.raises(websockets.exceptions.ConnectionClosed):
            guest.socket.send("x" * (LONGEST + 1))
            while True:
                guest.receive()
        with Guest(viewer) as other:
            other.until(lambda g: bool(g.frame))


def garbage(rng: random.Random) -> str | bytes:
    """Of all kinds: noise, broken JSON, unknown types, wrong fields, numbers out of range, and near misses."""
    match rng.randrange(6):
        case 0: return rng.randbytes(rng.randrange(300))
        case 1: return "".join(chr(rng.randrange(1, 0x2000)) for _ in range(rng.randrange(200)))
        case 2: return '{"type": "play"' * rng.randrange(20)
        case 3: return json.dumps({"type": rng.choice(["eval", "exec", "open", "__import__", ""]), "code": "1/0"})
        case 4: return json.dumps({"type": "drag", "body": rng.choice([-1, 10**9, "0", None, 1e400]),
                                   "point": [rng.uniform(-1e9, 1e9)] * rng.randrange(5), "target": "here"})
        case _: return json.dumps({"type": rng.choice(["speed", "method", "material", "step"]),
                                   "value": rng.choice(["fast", [], {}, -1, 1e99]), "name": "../../etc/passwd",
                                   "count": 10**12})


def test_garbage_does_not_stop_the_simulation(seed: int) -> None:
    """10,000 messages of garbage: the simulation goes on, and good messages still act."""
    rng, count = random.Random(seed), 10_000
    with viewing(ss.Simulation(box_scene())) as viewer, Guest(viewer) as guest:
        guest.until(lambda g: bool(g.frame))
        begin, state = viewer.sim.time, viewer.runner.status()
        for n in range(count):
            guest.socket.send(garbage(rng))
            if n % 100 == 0:
                guest.receive()
        end = time.monotonic() + PATIENCE
        while viewer.server.refused < count:
            assert time.monotonic() < end, viewer.server.refused
            guest.receive()
        assert viewer.server.refused == count
        now = viewer.sim.time
        assert now > begin and viewer.runner.running
        assert viewer.runner.status() == state
        np.testing.assert_allclose(viewer.sim.bodies["box0"].position, [0, 0, 0.2], atol=1e-3)
        with Guest(viewer) as other:
            other.until(lambda g: g.frame.get("time", 0.0) > now)
            other.send(type="pause")
            other.until(lambda g: not g.status["playing"])


def test_a_flood_of_good_messages_is_thinned_out() -> None:
    with viewing() as viewer, Guest(viewer) as guest:
        for _ in range(3000):  # faster than they are allowed, on any machine that runs at all
            guest.send(type="speed", value=1.0)
        end = time.monotonic() + PATIENCE
        while viewer.server.refused < 500:
            assert time.monotonic() < end, viewer.server.refused
            guest.receive()
        assert viewer.runner.running
