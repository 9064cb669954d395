"""The panel of a body's contacts: normal force, friction and what it may reach; below, when it sticks and slips."""

from __future__ import annotations

from typing import Any

import numpy as np

from sesshoku.collision.per_body import FRICTION, LIMIT, NORMAL, SLIPPING, STICKING

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#404040"
BANDS = (("sticks", GREEN, 0.85), ("partly slips", ORANGE, 0.45), ("slips", ORANGE, 0.95))
BAND_HEIGHT = 0.09  # of the panel
PEAK = 2.0  # forces above so many times the 95th percentile are cut off: impacts would hide all else


def bodies_in_contact(values: np.ndarray, most: int) -> list[int]:
    """Of values (n, bodies, 6) the bodies that carried force, at most `most`, the heaviest loaded, in their order."""
    loads = np.nanmax(values[:, :, NORMAL], axis=0, initial=0.0)
    heaviest = sorted(np.flatnonzero(loads > 0.0), key=lambda body: -np.nanmean(values[:, body, NORMAL]))[:most]
    return sorted(int(body) for body in heaviest)


def draw_contacts(ax: Any, time: np.ndarray, values: np.ndarray) -> None:
    """values (n, 6) of one body over time (n)."""
    ax.plot(time, values[:, NORMAL], color=BLUE, label="normal")
    ax.plot(time, values[:, FRICTION], color=ORANGE, label="friction")
    ax.plot(time, values[:, LIMIT], color=GREY, linestyle=(0, (4, 2)), linewidth=1.0, label="friction limit")
    carried = values[values[:, NORMAL] > 0.0, NORMAL]
    peak = float(np.nanmax(values[:, :3], initial=0.0))
    top = min(peak, PEAK * float(np.percentile(carried, 95))) if len(carried) else 1.0
    ax.set_ylim(-(BAND_HEIGHT + 0.05) * top, 1.08 * top)
    if peak > top:
        ax.text(0.995, 0.97, f"peak {peak:.4g} N", transform=ax.transAxes, ha="right", va="top", color=BLUE, fontsize=8)
    _bands(ax, time, values)


def _bands(ax: Any, time: np.ndarray, values: np.ndarray) -> None:
    sticks, slips = values[:, STICKING] > 0.0, values[:, SLIPPING] > 0.0
    ends = np.append(time[1:], time[-1])  # a sample speaks of the step before it; drawn until the next one
    for (label, color, alpha), chosen in zip(BANDS, (sticks & ~slips, sticks & slips, slips & ~sticks)):
        spans = _runs(time, ends, chosen)
        if spans:
            ax.broken_barh(spans, (0.01, BAND_HEIGHT), facecolor=color, alpha=alpha, linewidth=0, label=label,
                           zorder=3, transform=ax.get_xaxis_transform())


def _runs(start: np.ndarray, end: np.ndarray, chosen: np.ndarray) -> list[tuple[float, float]]:
    """(start, length) of the stretches where `chosen` holds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]]).astype(int)))
    return [(float(start[a]), float(end[b - 1] - start[a])) for a, b in zip(edges[::2], edges[1::2])]
