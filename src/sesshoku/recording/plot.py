"""Pictures of a recording: one panel per channel (per unit, where a channel mixes several), time along the bottom."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sesshoku.errors import RecordingError, did_you_mean
from sesshoku.recording.channels import QUATERNION, Channel
from sesshoku.recording.plot_contacts import bodies_in_contact, draw_contacts
from sesshoku.stages import report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sesshoku.recording.recording import Recording

# told apart by all eyes
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6f4ba8", "#8c6d31")
GREY = "#c8c8c8"
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1, 1, 1)))
LEGEND_LIMIT = 8  # owners of lines with a colour and a name; the rest are grey
LIMIT_WITH_PARTS = 5  # where each has several lines
POINTS = 2000  # across a panel; more are drawn as their envelope
CONTACT_PANELS = 6  # bodies whose contacts are drawn: those with the largest forces
LABEL_LENGTH = 24
NOISE, LEAST_ERROR = 1e-9, 1e-18  # smaller changes of a quantity, smaller errors of a step, are rounding
WIDTH, PANEL_HEIGHT, TWO_COLUMNS_FROM = 9.5, 1.9, 7
STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.titlesize": 9.5, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "axes.labelsize": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e6e6e6", "grid.linewidth": 0.6, "axes.edgecolor": "#808080", "xtick.color": "#404040",
    "ytick.color": "#404040", "lines.linewidth": 1.3, "legend.frameon": False, "legend.fontsize": 8,
    "legend.handlelength": 1.6, "figure.dpi": 110, "svg.fonttype": "none", "axes.formatter.limits": (-3, 4),
    "axes.formatter.useoffset": False,
}
TITLES = {
    "q": "coordinates q", "v": "velocities v", "joints": "joint positions", "joint_velocities": "joint velocities",
    "poses": "positions of bodies", "actuator_force": "actuator forces", "command": "actuator commands",
    "force_sensors": "force sensors", "imus": "IMUs", "contact_wrenches": "contact forces on bodies",
    "report": "report: errors of each step", "energy": "energy", "momentum": "momentum", "com": "centre of mass",
}
QUANTITIES = {"m/s": "velocity", "rad/s": "angular velocity", "N s": "linear",
              "N m s": "angular, about the centre of mass"}


@dataclass
class Panel:
    """Columns of one channel that share a unit."""

    channel: Channel
    unit: str
    columns: list[int]


def plot(recording: Recording, channels: Sequence[str] | str | None = None, path: str | Path | None = None,
         show: bool = False, *, bodies: Sequence[str] | str | None = None,
         joints: Sequence[str] | str | None = None) -> Figure:
    """Draw channels (default: all recorded) over time and return the matplotlib Figure.

    path: also write it there; .png, .pdf or .svg. show: open a window. bodies, joints: draw only these, in the channels
    that have bodies or joints. Of many lines those that move most are coloured and named, the others are grey.
    Quaternions are not drawn. More samples than points are drawn as their envelope, so no peak is lost.
    """
    if path is not None:
        path = picture_path(path)
    if len(recording) == 0:
        raise RecordingError("the recording has no samples to plot")
    wanted = recording.channels if channels is None else channels
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    keep = {"bodies": _names(bodies, recording, "bodies"), "joints": _names(joints, recording, "joints")}
    panels = [panel for name in names for panel in _panels(recording, name, keep)]
    if not panels:
        raise RecordingError(f"nothing to plot in {', '.join(names) or 'no channels'}; "
                             f"recorded: {', '.join(recording.channels)}")
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure, axes = _layout(len(panels), show)
        for ax, panel in zip(axes, panels):
            _draw(ax, recording, panel)
        figure.suptitle(_headline(recording), fontsize=10.5, x=0.01, ha="left")
        if path is not None:
            write_picture(figure, Path(path))
        if show:
            from matplotlib import pyplot

            pyplot.show()
    return figure


# ---- what to draw --------------------------------------------------------------------------------------------------


def _names(given: Sequence[str] | str | None, recording: Recording, kind: str) -> list[str] | None:
    if given is None:
        return None
    known = recording.meta.get(kind, [])
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known[:12]) or 'none'}")
            raise RecordingError(f"no {name!r} among the {kind} of the recording; {hint}")
    return names


def _panels(recording: Recording, name: str, keep: dict[str, list[str] | None]) -> list[Panel]:
    if name not in recording.channels:
        recording.read(name, 0, 0)  # raises, with a suggestion
    channel = recording.channels[name]
    if name == "report":
        return [Panel(channel, "", list(range(channel.size)))]
    if name == "contacts":
        return _contact_panels(recording, channel, keep["bodies"])
    owners = _owners(recording, channel)
    wanted = keep["bodies"] if name in ("poses", "velocities") else keep["joints"]
    by_unit: dict[str, Panel] = {}
    for column, unit in enumerate(channel.units):
        if unit == QUATERNION or (owners and wanted is not None and owners[column] not in wanted):
            continue
        by_unit.setdefault(unit, Panel(channel, unit, [])).columns.append(column)
    return list(by_unit.values())


def _contact_panels(recording: Recording, channel: Channel, wanted: list[str] | None) -> list[Panel]:
    """One panel a body: those asked for, else those that touched something."""
    parts = channel.shape[1]  # fewer in recordings of older versions
    _, values = _envelope(recording, channel, list(range(channel.size)))
    bodies = bodies_in_contact(values.reshape(len(values), -1, parts), CONTACT_PANELS) if wanted is None else \
        [channel.labels[0].index(name) for name in wanted if name in channel.labels[0]]
    return [Panel(channel, "N", list(range(parts * body, parts * (body + 1)))) for body in bodies]


def _owners(recording: Recording, channel: Channel) -> list[str]:
    """The body or joint each column belongs to; empty for channels that have neither."""
    name = channel.name
    if name in ("poses", "velocities"):
        return [body for body in channel.labels[0] for _ in channel.labels[1]]
    if name in ("actuator_force", "command"):
        parts = channel.labels[1] if len(channel.labels) > 1 else ("",)
        return [joint for joint in recording.meta.get("actuator_joints", []) for _ in parts]
    if name in ("q", "v", "joints", "joint_velocities"):
        joints = set(recording.meta.get("joints", []))
        return [label if label in joints else label.rpartition(".")[0] for label in channel.labels[0]]
    return []


def _envelope(recording: Recording, channel: Channel, columns: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Times (m) and values (m, columns); of too many samples the least and greatest of each bucket, in turn."""
    count = len(recording)
    time = recording.time
    bucket = -(-count // (POINTS // 2))
    if count <= POINTS:
        return time, recording[channel.name].reshape(count, -1)[:, columns]
    values = np.empty((2 * (-(-count // bucket)), len(columns)))
    step = bucket * max(1, 2**18 // (bucket * channel.size))  # a block of whole buckets
    for start in range(0, count, step):
        block = recording.read(channel.name, start, start + step).reshape(-1, channel.size)[:, columns]
        edges = np.arange(0, len(block), bucket)
        first = 2 * (start // bucket)
        values[first:first + 2 * len(edges):2] = np.fmin.reduceat(block, edges)
        values[first + 1:first + 1 + 2 * len(edges):2] = np.fmax.reduceat(block, edges)
    return np.repeat(time[::bucket], 2), values


# ---- drawing -------------------------------------------------------------------------------------------------------


def _layout(count: int, show: bool) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    heights = [count] if count < TWO_COLUMNS_FROM else [-(-count // 2), count // 2]  # panels in each column
    size = (WIDTH * (1.0 if len(heights) == 1 else 1.6), PANEL_HEIGHT * heights[0] + 0.9)
    if show:
        from matplotlib import pyplot

        figure: Figure = pyplot.figure(figsize=size, layout="constrained")
    else:
        figure = Figure(figsize=size, layout="constrained")  # without pyplot: no window system, nothing to close
    axes: list[Axes] = []
    for column, down in zip(figure.subfigures(1, len(heights), squeeze=False)[0], heights):
        panels = column.subplots(down, 1, sharex=True, squeeze=False)[:, 0]
        for ax in panels:
            ax.margins(x=0.0, y=0.08)
        panels[-1].set_xlabel("time [s]")
        axes += list(panels)
    return figure, axes


def _headline(recording: Recording) -> str:
    meta = recording.meta
    parts = [f"{meta.get('scene')}", f"method {meta['method']}" if meta.get("method") else "",
             f"dt {meta['dt']:g} s" if "dt" in meta else "", "cut short" if recording.truncated else ""]
    return "   ".join(part for part in parts if part)


def _draw(ax: Axes, recording: Recording, panel: Panel) -> None:
    time, values = _envelope(recording, panel.channel, panel.columns)
    name = panel.channel.name
    ax.set_title(TITLES.get(name, name if name != "velocities" else f"{QUANTITIES[panel.unit]} of bodies"))
    if name == "momentum":
        ax.set_title(f"momentum, {QUANTITIES[panel.unit]}")
    ax.set_ylabel(f"[{panel.unit}]" if panel.unit else "")
    if name == "report":
        _draw_report(ax, time, values, panel)
    elif name == "contacts":
        body = panel.channel.labels[0][panel.columns[0] // panel.channel.shape[1]]
        ax.set_title(f"contact forces of {body}, and whether it sticks or slips")
        draw_contacts(ax, time, values)
        _legend(ax)
        return
    elif name == "energy":
        _draw_energy(ax, time, recording, panel)
    else:
        _draw_lines(ax, time, values, panel)
    if name != "report" and panel.unit:
        _widen(ax)


def _widen(ax: Axes) -> None:
    """Rounding noise of a constant shall not fill the panel."""
    low, high = ax.get_ylim()
    middle = 0.5 * (low + high)
    if high - low < NOISE * max(abs(middle), 1.0):
        half = 0.1 * max(abs(middle), 1.0)
        ax.set_ylim(middle - half, middle + half)


def _draw_lines(ax: Axes, time: np.ndarray, values: np.ndarray, panel: Panel) -> None:
    """One colour per owner (first axis of the channel), one dash per component (the others)."""
    labels, shape = panel.channel.labels, panel.channel.shape
    places = [np.unravel_index(column, shape) if shape else () for column in panel.columns]
    owners = [int(place[0]) if place else 0 for place in places]
    parts = [tuple(int(i) for i in place[1:]) for place in places]
    colors = _chosen(values, owners, LEGEND_LIMIT if len(set(parts)) < 2 else LIMIT_WITH_PARTS)
    dashes = {part: DASHES[i % len(DASHES)] for i, part in enumerate(dict.fromkeys(parts))}
    named: set[int] = set()
    for rank, k in sorted((owners[k] in colors, k) for k in range(len(owners))):  # grey ones first, behind
        owner = owners[k]
        label = None
        if rank and owner not in named and shape:
            named.add(owner)
            label = _short(labels[0][owner])
        ax.plot(time, values[:, k], color=colors.get(owner, GREY), linestyle=dashes[parts[k]], label=label,
                linewidth=None if rank else 0.7)
    several = [(dashes[part], " ".join(labels[1 + i][p] for i, p in enumerate(part))) for part in dashes if part]
    hidden = len(set(owners)) - len(colors)
    _legend(ax, hidden, several if len(several) > 1 else [])


def _chosen(values: np.ndarray, owners: list[int], limit: int) -> dict[int, str]:
    """owner -> colour of those that move most, in their own order."""
    everyone = list(dict.fromkeys(owners))
    finite = np.where(np.isfinite(values), values, np.nan)
    with np.errstate(all="ignore"):
        span = np.fmax.reduce(finite) - np.fmin.reduce(finite)
    span = np.nan_to_num(span)
    moves = {owner: max(span[k] for k, other in enumerate(owners) if other == owner) for owner in everyone}
    best = sorted(everyone, key=lambda owner: -moves[owner])[:limit]
    return {owner: COLORS[i] for i, owner in enumerate(sorted(best, key=everyone.index))}


def _draw_energy(ax: Axes, time: np.ndarray, recording: Recording, panel: Panel) -> None:
    """Kinetic, potential, total; the total drawn from the sum of each sample, not of the envelopes."""
    _, values = _envelope(recording, panel.channel, [0, 1])
    ax.plot(time, values[:, 0], color=COLORS[1], label="kinetic")
    ax.plot(time, values[:, 1], color=COLORS[0], label="potential")
    ax.plot(time, _total(recording, panel.channel, time), color="#202020", linewidth=1.6, label="total")
    _legend(ax)


def _total(recording: Recording, channel: Channel, time: np.ndarray) -> np.ndarray:
    count = len(recording)
    total = np.concatenate([recording.read(channel.name, i, i + 2**18).sum(axis=1) for i in range(0, count, 2**18)])
    if len(time) == count:
        return total
    edges = np.arange(0, count, -(-count // (POINTS // 2)))
    return np.stack([np.fmin.reduceat(total, edges), np.fmax.reduceat(total, edges)], axis=1).reshape(-1)


def _draw_report(ax: Axes, time: np.ndarray, values: np.ndarray, panel: Panel) -> None:
    """Errors on a logarithmic scale, each with its unit; a red mark where the solver did not converge."""
    units, drawn = panel.channel.units, 0
    for column, label in enumerate(panel.channel.labels[0]):
        if not units[column]:  # counts and flags
            continue
        size = np.abs(values[:, column])
        size = np.where(size > LEAST_ERROR, size, np.nan)  # zero has no place on a logarithmic scale
        if np.isfinite(size).any():
            ax.plot(time, size, color=COLORS[drawn % len(COLORS)], label=f"{label.replace('_', ' ')} [{units[column]}]")
            drawn += 1
    if drawn:
        ax.set_yscale("log")
        _tidy_log(ax)
    else:
        ax.text(0.5, 0.5, "all errors are zero", transform=ax.transAxes, ha="center", va="center", color="#808080")
        ax.set_yticks([])
    failed = time[values[:, report.CONVERGED] < 0.5]
    if len(failed):
        ax.plot(failed, np.full(len(failed), 0.02), "|", color="#d00000", markersize=7, label="not converged",
                transform=ax.get_xaxis_transform())
    ax.set_xlim(time[0], time[-1] if time[-1] > time[0] else time[0] + 1.0)
    _legend(ax)


def _tidy_log(ax: Axes) -> None:
    """Whole decades at the limits, at least two of them, five labels at most."""
    from matplotlib.ticker import LogLocator, NullLocator

    low, high = ax.dataLim.intervaly
    low, high = np.floor(np.log10(low)), np.ceil(np.log10(high))
    low = min(low, high - 2)
    ax.set_ylim(10.0**low, 10.0**high)
    ax.yaxis.set_major_locator(LogLocator(numticks=6))
    ax.yaxis.set_minor_locator(NullLocator())


def _legend(ax: Axes, hidden: int = 0, parts: Sequence[tuple[Any, str]] = ()) -> None:
    """To the right of the panel: names by colour, then components by dash, then how many lines are grey."""
    from matplotlib.lines import Line2D

    handles, labels = ax.get_legend_handles_labels()
    handles += [Line2D([], [], color="#404040", linestyle=dash) for dash, _ in parts]
    labels += [part.replace("_", " ") for _, part in parts]
    if hidden > 0:
        handles.append(Line2D([], [], color=GREY))
        labels.append(f"{hidden} more")
    if handles:
        across = 1 if len(handles) <= LEGEND_LIMIT + 1 else 2
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.04), ncols=across, borderaxespad=0.3,
                  labelspacing=0.25, columnspacing=1.0)


def _short(label: str) -> str:
    return label if len(label) <= LABEL_LENGTH else label[:LABEL_LENGTH - 1] + "…"


def picture_path(path: str | Path) -> Path:
    """A path that a picture can be written to."""
    if not isinstance(path, (str, Path)):
        raise RecordingError(f"a path must be a string or a Path (got {path!r}); give the name of a picture")
    path = Path(path)
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise RecordingError(f"{path}: pictures are written as .png, .pdf or .svg; choose one of these endings")
    return path


def write_picture(figure: Figure, path: Path, dpi: float = 150) -> None:
    try:
        with warnings.catch_warnings():
            # names may be in any script; a box in place of a letter says as much as a page of warnings
            warnings.filterwarnings("ignore", message=r"Glyph .* missing from")
            figure.savefig(path, dpi=dpi)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written ({error.strerror})") from error
