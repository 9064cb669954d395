"""Convex pieces of a concave mesh: coacd does the cutting, the result is kept on disk.

coacd takes seconds and is not bound to give the same pieces in another version, so the cache key covers the mesh, the
version and the parameters. A cache that cannot be read is rebuilt, one that cannot be written is done without.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.errors import SceneError
from sesshoku.scene.io.whole_file import whole_file

DEFAULT_THRESHOLD = 0.05  # coacd's own: concavity a piece may keep, as a share of the mesh's size
SEED = 0


def convex_pieces(vertices: np.ndarray, faces: np.ndarray, threshold: float, element: str) -> list[np.ndarray]:
    """Corner points (n_i, 3) of convex pieces whose union stands for the closed mesh."""
    path = _cache_file(vertices, faces, threshold)
    pieces = _load(path)
    if pieces is None:
        pieces = _decompose(vertices, faces, threshold, element)
        _save(path, pieces)
    return pieces


def _decompose(vertices: np.ndarray, faces: np.ndarray, threshold: float, element: str) -> list[np.ndarray]:
    import coacd

    coacd.set_log_level("off")
    _say(f"sesshoku: cutting {element} ({len(faces)} triangles) into convex pieces (first time only) ...")
    try:
        parts = coacd.run_coacd(coacd.Mesh(vertices, faces), threshold=threshold, seed=SEED)
    except Exception as error:
        raise SceneError(f"convex decomposition failed ({error})", element=element,
                         remedy="simplify the mesh, or load its convex hull") from error
    finally:
        _say(" done\n")
    pieces = [np.asarray(points, dtype=np.float64) for points, _ in parts]
    if not pieces:
        raise SceneError("convex decomposition found no piece", element=element,
                         remedy="simplify the mesh, or load its convex hull")
    return pieces


def _say(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(text)
        sys.stderr.flush()


def _cache_file(vertices: np.ndarray, faces: np.ndarray, threshold: float) -> Path:
    from importlib.metadata import version

    from sesshoku.compiled.store import cache_root

    digest = hashlib.sha256(f"coacd {version('coacd')} threshold {threshold!r} seed {SEED}".encode())
    digest.update(np.ascontiguousarray(vertices, dtype="<f8").tobytes())
    digest.update(np.ascontiguousarray(faces, dtype="<i8").tobytes())
    return cache_root() / "convex_pieces" / f"{digest.hexdigest()[:32]}.npz"


def _load(path: Path) -> list[np.ndarray] | None:
    """The pieces in a cache file, or None when it is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as file:
            points, counts = file["points"], file["counts"]
    except Exception:  # zip, header and content errors of every kind: the file is only a cache
        return None
    whole = (points.ndim == 2 and points.shape[1:] == (3,) and points.dtype == np.float64 and np.isfinite(points).all()
             and counts.ndim == 1 and len(counts) > 0 and (counts >= 4).all() and counts.sum() == len(points))
    return list(np.split(points, np.cumsum(counts)[:-1])) if whole else None


def _save(path: Path, pieces: list[np.ndarray]) -> None:
    content: dict[str, Any] = {"points": np.vstack(pieces), "counts": np.array([len(piece) for piece in pieces])}
    with contextlib.suppress(OSError):  # only a cache
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as part, part.open("wb") as file:
            np.savez(file, **content)
