"""`Study`: the rows of a sweep, to read, to draw and to hand on."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sesshoku.comparison.sweep.job import OWN
from sesshoku.comparison.sweep.store import check_path, column_order, columns_of, read_journal, read_parquet, table_of
from sesshoku.errors import RecordingError, SceneError, did_you_mean
from sesshoku.recording.export import written_file
from sesshoku.scene.calls import checked

MOST_VALUES = 24  # of an axis, each a row or column of the map; more are put into bins
BINS = 10


@checked
class Study:
    """What a sweep found: a row a run, in the order of its points and seeds.

        study = ss.Study.read("walk.parquet")
        study.column("fell").mean(), study.failed
        study.map("friction", "push", "fell", by="method", path="map.png")
        study.to_pandas()
    """

    def __init__(self, rows: list[dict[str, Any]], conditions: Sequence[str], path: Path | None = None) -> None:
        names = column_order(rows)
        self.rows = [{name: row.get(name) for name in names} for row in rows]  # runs that failed have no results
        self.conditions, self.path = list(conditions), path

    @classmethod
    def read(cls, path: Any) -> Study:
        """A study from its file, also while the sweep that writes it goes on."""
        where = check_path(path)
        if not where.is_file() and not where.with_name(where.name + ".journal").is_file():
            raise RecordingError(f"{where}: there is no such file")
        rows: dict[str, dict[str, Any]] = {}
        if where.suffix == ".parquet":
            if where.is_file():
                rows = {row["key"]: row for row in read_parquet(where)[1]}
            where_journal = where.with_name(where.name + ".journal")
        else:
            where_journal = where
        rows.update((row["key"], row) for row in read_journal(where_journal)[1])
        ordered = sorted(rows.values(), key=lambda row: row["run"])
        first = [name for row in ordered[:1] for name in row]
        before = first[first.index("run") + 1:first.index("seed")] if "seed" in first else []
        return cls(ordered, before, where)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, n: int) -> dict[str, Any]:
        return self.rows[n]

    def __repr__(self) -> str:
        place = f", {self.path}" if self.path is not None else ""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return (f"Study of {len(self)} runs over {', '.join(self.conditions) or 'seeds'}: "
                f"{', '.join(self.results) or 'no results'}{failed}{place}")

    @property
    def columns(self) -> list[str]:
        """Names of all columns: conditions, seed, results, and what every study has."""
        return list(columns_of(self.rows))

    @property
    def results(self) -> list[str]:
        """Names of what the function returned."""
        return [name for name in self.columns if name not in OWN and name not in self.conditions]

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows of runs that raised an exception, or whose process died: see their `error`."""
        return [row for row in self.rows if row["error"] is not None]

    def column(self, name: str) -> np.ndarray:
        """The values of a column, one a run; NaN where a run of numbers has none."""
        values = columns_of(self.rows)[self._known(name)]
        numbers = all(value is None or isinstance(value, (bool, int, float)) for value in values)
        if numbers and any(value is None for value in values):
            return np.array([math.nan if value is None else float(value) for value in values])
        return np.array(values)

    def where(self, **values: Any) -> Study:
        """The runs in which conditions have these values."""
        for name in values:
            self._known(name)
        return Study([row for row in self.rows if all(row.get(name) == value for name, value in values.items())],
                     self.conditions, self.path)

    def _known(self, name: str) -> str:
        if name not in self.columns:
            raise SceneError("no such column", element="study", value=name,
                             remedy=did_you_mean(name, self.columns, also=f"columns: {', '.join(self.columns)}"))
        return name

    # ---- other packages

    def table(self) -> Any:
        """A pyarrow table (extra `cluster`); `polars.from_arrow(study.table())`."""
        return table_of(self.rows)

    def to_pandas(self) -> Any:
        """A pandas data frame, where pandas is installed."""
        return self.table().to_pandas()

    # ---- maps

    def mean(self, x: str, y: str, value: str) -> tuple[list[Any], list[Any], np.ndarray]:
        """Values of x, values of y, and the mean of a column (y, x) over all runs there; NaN where there is none.

        Of more than 24 numbers (a sample) the values are the middles of ten equal bins.
        """
        across, along = (self._axis(name) for name in (x, y))
        numbers = self._numbers(value)
        sums, counts = np.zeros((2, len(along[0]), len(across[0])))
        for i, j, number in zip(along[1], across[1], numbers):
            if not math.isnan(number):
                sums[i, j] += number
                counts[i, j] += 1
        return across[0], along[0], np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)

    def _axis(self, name: str) -> tuple[list[Any], list[int]]:
        """Values of an axis, and the number of its value in each row."""
        self._known(name)
        values: list[Any] = [row.get(name) for row in self.rows]
        kinds = list(dict.fromkeys(values))
        numeric = all(isinstance(value, (int, float)) for value in kinds)
        if numeric:
            kinds.sort()
        if not numeric or len(kinds) <= MOST_VALUES:
            return kinds, [kinds.index(value) for value in values]
        low, high = float(kinds[0]), float(kinds[-1])
        middles = [low + (n + 0.5) * (high - low) / BINS for n in range(BINS)]
        return middles, [min(int((value - low) / (high - low) * BINS), BINS - 1) for value in values]

    def _numbers(self, name: str) -> list[float]:
        self._known(name)
        found = []
        for row in self.rows:
            value = row.get(name)
            if value is not None and not isinstance(value, (bool, int, float)):
                raise SceneError("only numbers and truth values have a mean", element=f"study: column {name!r}",
                                 value=value)
            found.append(math.nan if value is None else float(value))
        return found

    def map(self, x: str, y: str, value: str, *, by: str | None = None, path: Any = None, title: str = "") -> Any:
        """Draw the mean of a column over two conditions; by: a map for each value of a third. A Matplotlib figure.

        path: write it there as well (.png, .pdf, .svg).
        """
        from matplotlib.figure import Figure

        parts: Mapping[Any, Study] = {"": self} if by is None else {
            kind: self.where(**{by: kind}) for kind in dict.fromkeys(row.get(self._known(by)) for row in self.rows)}
        numbers = [number for number in self._numbers(value) if not math.isnan(number)]
        if not numbers:
            raise SceneError("no run has a number there", element="study", value=value)
        low, high = (0.0, 1.0) if set(numbers) <= {0.0, 1.0} else (min(numbers), max(numbers))
        across = min(len(parts), 4)
        down = -(-len(parts) // across)
        figure = Figure(figsize=(1.2 + 3.2 * across, 0.6 + 2.7 * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False)
        for axis in axes.flat[len(parts):]:
            axis.set_visible(False)
        image: Any = None
        for axis, (kind, part) in zip(axes.flat, parts.items()):
            xs, ys, mean = part.mean(x, y, value)
            image = axis.imshow(mean, vmin=low, vmax=high, cmap="viridis", aspect="auto", origin="lower")
            axis.set_xticks(range(len(xs)), [_short(v) for v in xs], rotation=45 if len(xs) > 8 else 0)
            axis.set_yticks(range(len(ys)), [_short(v) for v in ys])
            axis.set_xlabel(x)
            axis.set_ylabel(y)
            axis.set_title(str(kind) if by is not None else title, fontsize=9)
        failed = f", {len(self.failed)} runs failed" if self.failed else ""
        figure.colorbar(image, ax=axes, label=f"{value}, mean{failed}")
        if by is not None and title:
            figure.suptitle(title)
        if path is not None:
            with written_file(Path(os.fspath(path))) as part_file:
                figure.savefig(part_file, dpi=150)
        return figure


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
