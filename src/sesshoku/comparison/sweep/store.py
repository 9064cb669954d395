"""Rows of a study on disk, as they arrive: a Parquet file, and a journal of the rows since it was last written.

`study.parquet` is replaced as a whole now and then, so that anyone can read it at any moment. Between, every row is a
line of `study.parquet.journal`, written before the next is waited for: a sweep that is killed loses no row. At the end
the journal goes. With the ending `.jsonl` the journal is all there is, which needs no other package.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from sesshoku.errors import RecordingError, from_extra
from sesshoku.scene.io.whole_file import whole_file

Row = dict[str, Any]
ENDINGS = (".parquet", ".jsonl")
WRITTEN = 5.0  # s between two writings of the Parquet file, at least
SHARE = 0.05  # of the time is spent on writing it, at most
AFTER_RESULTS = "error"  # the first column after the results
ABOUT = b"sesshoku"  # key of what a Parquet file says about the study


class Store:
    """The rows of one study. about: what rows must have in common to belong together."""

    def __init__(self, path: Path, about: dict[str, Any]) -> None:
        self.path, self.about = path, about
        self.parquet = path.suffix == ".parquet"
        self.journal = path.with_name(path.name + ".journal") if self.parquet else path
        self.rows: dict[str, Row] = {}
        self._file: TextIO | None = None
        self._last, self._took = time.monotonic(), 0.0

    @contextmanager
    def opened(self, fresh: bool) -> Iterator[Store]:
        """Read what there is and go on with it; fresh: begin anew. One sweep at a time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.journal.open("a+", encoding="utf-8")
        except OSError as error:
            raise RecordingError(f"{self.path}: cannot be written ({error.strerror})") from error
        try:
            _lock(self._file, self.path)
            if fresh:
                self._file.truncate(0)
                if self.parquet:
                    self.path.unlink(missing_ok=True)
            self._take_over()
            yield self
            self._finish()
        finally:
            self._file.close()

    def _take_over(self) -> None:
        """Rows of an earlier sweep that was cut short, or is made larger now."""
        assert self._file is not None
        if self.parquet and self.path.is_file():
            about, rows = read_parquet(self.path)
            self._belong(about)
            self.rows.update((row["key"], row) for row in rows)
        about, rows = read_journal(self.journal)
        if about is not None:
            self._belong(about)
            self.rows.update((row["key"], row) for row in rows)
        if about is None:
            self._file.truncate(0)
            self._line({"study": self.about})
        else:
            self._file.write("\n")  # ends a line that was cut off

    def _belong(self, about: dict[str, Any] | None) -> None:
        for name, value in self.about.items():
            if (about or {}).get(name) != value:
                raise RecordingError(f"{self.path}: holds a study of another {name} ({(about or {}).get(name)}, now "
                                     f"{value}); give fresh=True (--fresh) to begin anew, or another path")

    def add(self, row: Row) -> None:
        """Keep a row: at once in the journal, soon in the Parquet file."""
        self.rows[row["key"]] = row
        self._line(row)
        if self.parquet and time.monotonic() - self._last > max(WRITTEN, self._took / SHARE):
            self._write()

    def _line(self, value: Any) -> None:
        assert self._file is not None
        try:
            self._file.write(json.dumps(value) + "\n")
            self._file.flush()
        except OSError as error:
            raise RecordingError(f"{self.journal}: cannot be written ({error.strerror})") from error

    def _write(self) -> None:
        begin = time.monotonic()
        write_parquet(self.path, list(self.rows.values()), self.about)
        assert self._file is not None
        self._file.truncate(0)
        self._line({"study": self.about})
        self._last = time.monotonic()
        self._took = self._last - begin

    def _finish(self) -> None:
        if self.parquet:
            self._write()
            self.journal.unlink(missing_ok=True)


def _lock(file: TextIO, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        return
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise RecordingError(f"{path}: another sweep is writing it; wait for it, or give another path") from None


def read_journal(path: Path) -> tuple[dict[str, Any] | None, list[Row]]:
    """What the study is about (None: an empty file), and its rows; a line cut off when the machine stopped is left."""
    about, rows = None, []
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict) and "study" in value:
            about = value["study"]
        elif isinstance(value, dict) and "key" in value:
            rows.append(value)
    return about, rows


# ---- Parquet ---------------------------------------------------------------------------------------------------------


def columns_of(rows: list[Row]) -> dict[str, list[Any]]:
    """name -> values, one a row, in the order of `column_order`."""
    return {name: _alike([row.get(name) for row in rows]) for name in column_order(rows)}


def column_order(rows: list[Row]) -> list[str]:
    """Run, conditions, seed, results, then what every row has; runs that failed have no results."""
    first: dict[str, None] = {}
    last: dict[str, None] = {}
    for row in rows:
        names = list(row)
        at = names.index(AFTER_RESULTS) if AFTER_RESULTS in row else len(names)
        first.update(dict.fromkeys(names[:at]))
        last.update(dict.fromkeys(names[at:]))
    return [*first, *(name for name in last if name not in first)]


def _alike(values: list[Any]) -> list[Any]:
    """Values of one type: numbers as floats where some are, anything else that is mixed as text."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    if kinds <= {int, float, bool}:
        return [None if value is None else float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]


def table_of(rows: list[Row], about: dict[str, Any] | None = None) -> Any:
    """A pyarrow table."""
    with from_extra("cluster", "a study as a table"):
        import pyarrow

    table = pyarrow.table(columns_of(rows))
    return table if about is None else table.replace_schema_metadata({ABOUT: json.dumps(about)})


def write_parquet(path: Path, rows: list[Row], about: dict[str, Any]) -> None:
    """The file appears whole or not at all."""
    with from_extra("cluster", "a study as Parquet"):
        from pyarrow import parquet

    try:
        with whole_file(path) as part:
            parquet.write_table(table_of(sorted(rows, key=lambda row: row["run"]), about), part)
    except OSError as error:
        raise RecordingError(f"{path}: cannot be written ({error.strerror or error})") from error


def read_parquet(path: Path) -> tuple[dict[str, Any] | None, list[Row]]:
    """What the study is about, and its rows."""
    with from_extra("cluster", "a study as Parquet"):
        from pyarrow import ArrowException, parquet

    try:
        table = parquet.read_table(path)
        about = (table.schema.metadata or {}).get(ABOUT)
        rows = table.to_pylist()
        if about is None or not all("key" in row for row in rows):
            raise RecordingError(f"{path}: is Parquet, but not a study of sesshoku")
        return json.loads(about), rows
    except (OSError, ArrowException, ValueError) as error:
        if isinstance(error, RecordingError):
            raise
        raise RecordingError(f"{path}: cannot be read as a study ({error})") from error


def check_path(path: Any) -> Path:
    """A path a study can be written to; asked before the runs, with the package that writes it."""
    found = Path(os.fspath(path))
    if found.suffix not in ENDINGS:
        raise RecordingError(f"{found}: studies are written as {' or '.join(ENDINGS)}; choose one of these endings")
    if found.is_dir():
        raise RecordingError(f"{found}: is a folder; give the name of a file, such as {found / 'study.parquet'}")
    if found.suffix == ".parquet":
        with from_extra("cluster", "a study as Parquet"):
            import pyarrow.parquet  # noqa: F401
    return found
