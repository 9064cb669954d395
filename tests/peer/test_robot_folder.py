"""Every robot of the folder named by SESSHOKU_ROBOTS (a copy of MuJoCo Menagerie, say) moves as it does in MuJoCo."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from benchmarks.robots import command

FOLDER = os.environ.get("SESSHOKU_ROBOTS", "")
SCENES = command.scene_files(Path(FOLDER), [], []) if FOLDER else []
LEAST_AGREEING = 0.85  # of the scenes that MuJoCo itself can run; each other one has its reason

pytestmark = [pytest.mark.peer, pytest.mark.timeout(4 * 3600),
              pytest.mark.skipif(not FOLDER, reason="SESSHOKU_ROBOTS names no folder of robots")]


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    return command.measure_all(Path(FOLDER), SCENES, "exact", stand_ins=True)["scenes"]  # type: ignore[no-any-return]


def test_none_is_refused_and_none_blows_up(rows: dict[str, dict[str, Any]]) -> None:
    bad = {name: (row["result"], row["reason"]) for name, row in rows.items()
           if row["result"] in ("refused", "blows up", "diverges", "too slow")}
    assert not bad


def test_nearly_all_agree_and_the_others_have_their_reason(rows: dict[str, dict[str, Any]]) -> None:
    ran = {name: row for name, row in rows.items() if not row["result"].startswith("MuJoCo")}
    agreeing = [name for name, row in ran.items() if row["result"] == "agrees"]
    assert len(agreeing) >= LEAST_AGREEING * len(ran), sorted(set(ran) - set(agreeing))
    assert all(row["reason"] for name, row in ran.items() if name not in agreeing)
