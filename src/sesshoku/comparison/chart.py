"""Line charts as plain SVG: text and lines take their colours from the page, so light and dark both read well."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WIDTH, HEIGHT = 520.0, 244.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 20.0, 38.0, 28.0
TICKS = 5
LEAST_SPAN = 0.02  # of the size of the values
DECADES = 10  # most shown on a logarithmic axis, counted from the top


@dataclass(frozen=True)
class Line:
    """A curve: name (shown on hover), class of its colour and dash, x and y of equal length."""

    name: str
    style: str
    x: np.ndarray
    y: np.ndarray


def nice_ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Round numbers (1, 2, 5 times a power of ten) that cover low..high in about `count` steps."""
    if not high > low:
        high = low + max(abs(low), 1.0)
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1.0, 2.0, 5.0, 10.0) if m * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


def _limits(lines: Sequence[Line], log: bool, also: Sequence[float]) -> tuple[float, float] | None:
    values = np.concatenate([line.y for line in lines]) if lines else np.zeros(0)
    values = values[np.isfinite(values) & ((values > 0.0) | (not log))]
    if len(values) == 0 or not (values.any() or any(also)):
        return None
    low, high = min(float(values.min()), *also, math.inf), max(float(values.max()), *also, -math.inf)
    if not log:
        room = 0.5 * max(high - low, LEAST_SPAN * max(abs(high), abs(low)), 1e-9)  # noise shall not fill the chart
        return 0.5 * (low + high) - room, 0.5 * (low + high) + room
    top = math.ceil(math.log10(high) + 1e-9)
    bottom = min(max(math.floor(math.log10(low)), top - DECADES), top - 2)
    return float(bottom), float(top)


def _axis(limits: tuple[float, float], log: bool) -> list[tuple[float, str]]:
    if log:
        low, high = int(limits[0]), int(limits[1])
        stride = max(1, round((high - low) / TICKS))
        return [(float(n), f"10<tspan dy='-4' font-size='8'>{n}</tspan>") for n in range(high, low - 1, -stride)][::-1]
    ticks = nice_ticks(*limits)
    digits = max(0, -math.floor(math.log10(ticks[1] - ticks[0]) + 1e-9))
    return [(tick, f"{0.0 if abs(tick) < 1e-12 else tick:,.{digits}f}".replace(",", "\u2009") if digits < 5
             else f"{tick:.1e}") for tick in ticks]


def line_chart(title: str, unit: str, lines: Sequence[Line], *, log: bool = False,
               levels: Sequence[tuple[float, str]] = ()) -> str:
    """One chart. log: values on a logarithmic axis, zero left out. levels: (value, name) drawn across."""
    drawn = [line for line in lines if len(line.x)]
    limits = _limits(drawn, log, [value for value, _ in levels if not log])
    head = (f"<svg class='chart' viewBox='0 0 {WIDTH:g} {HEIGHT:g}' role='img' aria-label='{html.escape(title)}'>"
            f"<text class='title' x='{LEFT:g}' y='20'>{html.escape(title)}</text>"
            f"<text class='unit' x='{WIDTH - RIGHT:g}' y='20' text-anchor='end'>{html.escape(unit)}</text>")
    if limits is None:
        zero = any(np.isfinite(line.y).any() for line in drawn)
        return (head + f"<text class='none' x='{WIDTH / 2:g}' y='{HEIGHT / 2:g}' text-anchor='middle'>"
                f"{'zero throughout' if zero else 'nothing measured'}</text></svg>")
    ticks = _axis(limits, log)
    low, high = (limits if log else (min(limits[0], ticks[0][0]), max(limits[1], ticks[-1][0])))
    start = min(float(line.x[0]) for line in drawn)
    end = max(max(float(line.x[-1]) for line in drawn), start + 1e-9)

    def across(x: np.ndarray | float) -> np.ndarray:
        return LEFT + (np.asarray(x) - start) / (end - start) * (WIDTH - LEFT - RIGHT)

    def up(y: np.ndarray | float) -> np.ndarray:
        return HEIGHT - BOTTOM - (np.asarray(y) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    parts = [head]
    for value, text in ticks:
        y = float(up(value))
        parts.append(f"<line class='grid' x1='{LEFT:g}' x2='{WIDTH - RIGHT:g}' y1='{y:.1f}' y2='{y:.1f}'/>"
                     f"<text class='tick' x='{LEFT - 6:g}' y='{y + 3.5:.1f}' text-anchor='end'>{text}</text>")
    times = [tick for tick in nice_ticks(start, end) if tick <= end * (1 + 1e-9)]
    for tick in times:
        text = f"{tick:g} s" if tick == times[-1] else f"{tick:g}"
        parts.append(f"<text class='tick' x='{float(across(tick)):.1f}' y='{HEIGHT - 8:g}' "
                     f"text-anchor='middle'>{text}</text>")
    for value, name in levels:
        if not log:
            y = float(up(value))
            parts.append(f"<line class='level' x1='{LEFT:g}' x2='{WIDTH - RIGHT:g}' y1='{y:.1f}' y2='{y:.1f}'/>"
                         f"<text class='level-name' x='{LEFT + 4:g}' y='{y - 4 if y > TOP + 12 else y + 12:.1f}'>"
                         f"{html.escape(name)}</text>")
    for line in drawn:
        values = line.y
        if log:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.log10(np.where(values > 0.0, values, np.nan))
            values = np.where(values >= low, values, np.nan)
        parts.append(f"<path class='{line.style}' d='{_path(across(line.x), up(values))}'>"
                     f"<title>{html.escape(line.name)}</title></path>")
    return "".join(parts) + "</svg>"


def _path(x: np.ndarray, y: np.ndarray) -> str:
    """SVG path with gaps where y is not finite; a lone point becomes a dot."""
    out, pen_down = [], False
    for n in range(len(x)):
        if not math.isfinite(y[n]):
            pen_down = False
            continue
        alone = not pen_down and (n + 1 == len(x) or not math.isfinite(y[n + 1]))
        out.append(f"{'L' if pen_down else 'M'}{x[n]:.1f} {y[n]:.1f}" + ("h.1" if alone else ""))
        pen_down = True
    return "".join(out)
