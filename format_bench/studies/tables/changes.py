"""Instrument of changes to saved tables: their time, the bytes they write, and reads afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import data_formats
from adapter_core import Changeable, TableChange
from adapter_core.errors import (
    InvalidRequestError,
    UnavailableError,
    UnsupportedError,
    WrongValuesError,
)
from adapter_core.text import shortened
from data_generator.datasets.query import rows_of_query
from format_bench.instruments import isolation, threads
from format_bench.instruments.clock import Stopwatch
from format_bench.results.status import CellStatus, Reason
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.rows import Agenda, Instrument, chosen

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

SAVE, ADDED = "save", "added"

KEY = "id"

# Of all steps of one format; a million rows take the slowest one minutes, and a hung library no more.
LIMIT_SECONDS = 900.0

SEED = 1


@dataclass(frozen=True)
class ChangeResult:
    """Measured values of one change of a table in one format; 0 if it has a reason.

    A reason for *save* concerns the whole format, any other an unsupported change.
    """

    format: str
    rows: int
    changed_rows: int
    change: str
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    written_bytes: int = 0
    file_bytes: int = 0
    """Of the whole table after the change."""
    read_seconds: float = 0.0
    """CPU time of a read of the whole table after the change."""
    reason: str = ""
    """Sentence on why values are missing."""

    def __post_init__(self) -> None:
        # Tables of earlier versions have sentences without their status.
        if self.reason and self.change != SAVE and not isinstance(self.reason, Reason):
            object.__setattr__(self, "reason", Reason(self.reason, CellStatus.UNSUPPORTED))


FORM = StudyForm(
    suite="table-changes",
    of=ChangeResult,
    values={
        "wall_seconds": "change time",
        "cpu_seconds": "change CPU time",
        "written_bytes": "written bytes",
        "file_bytes": "size",
        "read_seconds": "read CPU time",
    },
    named={"change": "query"},
    dataset="query",
)


@dataclass(frozen=True)
class _Rows:
    """A table, and the rows of its changes."""

    whole: pd.DataFrame
    new: pd.DataFrame
    replaced: pd.DataFrame
    gone: np.ndarray

    @classmethod
    def generate(cls, rows: int, changed_rows: int) -> Self:
        """Return a table, and scattered rows of it."""
        import numpy as np

        df = rows_of_query(0, rows, SEED)
        places = np.linspace(0, rows - 1, 2 * changed_rows).astype(int)
        replaced = df.iloc[places[::2]].assign(f1=-1.5).reset_index(drop=True)
        new = rows_of_query(rows, rows + changed_rows, SEED)
        return cls(df, new, replaced, df[KEY].iloc[places[1::2]].to_numpy())


def changeable() -> list[str]:
    """Return the labels of all formats that change saved tables."""
    found = []
    for label in data_formats.names():
        try:
            adapter = data_formats.find(label)
        except UnavailableError:
            continue
        if isinstance(adapter, Changeable):
            found.append(label)
    return found


def measure(
    agenda: Agenda[ChangeResult], formats: str, rows: int, changed: int
) -> Iterator[ChangeResult]:
    """Return the results of formats, named with commas, change by change.

    Raises
    ------
    InvalidRequestError
        If more than half of the rows change: the updated and the deleted ones differ.
    UnknownNameError
        If there is no format of a name.
    UnsupportedError
        If a format changes no saved tables.
    """
    if 2 * changed > rows:
        raise InvalidRequestError(f"--changed {changed}: at most half as many as --rows")
    labels = chosen(formats, data_formats.names()) if formats else changeable()
    for label in labels:
        if not isinstance(data_formats.find(label), Changeable):
            raise UnsupportedError(f"{label} changes no saved tables")
    return _measured(agenda, labels, rows, changed)


def _measured(
    agenda: Agenda[ChangeResult], labels: Sequence[str], rows: int, changed: int
) -> Iterator[ChangeResult]:
    for label in labels:
        blank = ChangeResult(label, rows, changed, "")
        if not agenda.has(format=label, rows=rows, changed_rows=changed):
            continue
        outcome = isolation.run(
            changes, blank, limit_seconds=LIMIT_SECONDS, environment=threads.environment("1")
        )
        if outcome.status:
            yield replace(blank, change=SAVE, reason=outcome.reason)
        else:
            yield from outcome.value


def changes(blank: ChangeResult) -> list[ChangeResult]:
    """Return the results of one format, whose tables are verified.

    Raises
    ------
    WrongValuesError
        If a table differs from pandas'.
    """
    adapter = data_formats.get(blank.format)
    if not isinstance(adapter, Changeable):
        raise UnsupportedError(f"{blank.format} changes no saved tables")
    threads.apply("1")
    given = _Rows.generate(blank.rows, blank.changed_rows)
    with TemporaryDirectory() as folder:
        path = Path(folder, f"table{adapter.suffix}")
        # The first call of each change loads code: a small table has it.
        small = Path(folder, f"small{adapter.suffix}")
        for step in _steps(adapter, small, _Rows.generate(200, 5)).values():
            with suppress(UnsupportedError):
                step()
        steps = _steps(adapter, path, given)
        wanted = given.whole
        results = []
        for name, step in steps.items():
            written = _written_bytes()
            stopwatch = Stopwatch()
            try:
                with stopwatch:
                    step()
            except UnsupportedError as error:
                results.append(replace(blank, change=name, reason=isolation.outcome_of(error).reason))
                continue
            written = _written_bytes() - written
            wanted = _changed(wanted, name, given)
            reader = Stopwatch()
            for _ in range(2):
                with reader:
                    found = adapter.read(path)
            _verify(blank.format, name, found, wanted)
            del found
            results.append(
                replace(
                    blank,
                    change=name,
                    wall_seconds=stopwatch.last.wall_seconds,
                    cpu_seconds=stopwatch.last.cpu_seconds,
                    written_bytes=written,
                    file_bytes=adapter.size_bytes(path),
                    read_seconds=reader.last.cpu_seconds,
                )
            )
    return results


def _steps(adapter: Changeable, path: Path, given: _Rows) -> dict[str, Callable[[], None]]:
    """Return the calls of all changes by name, in their order."""
    return {
        SAVE: partial(adapter.save, given.whole, path),
        TableChange.APPEND.value: partial(adapter.append, path, given.new),
        TableChange.UPDATE.value: partial(adapter.update, path, KEY, given.replaced),
        TableChange.DELETE.value: partial(adapter.delete, path, KEY, given.gone.tolist()),
        TableChange.ADD_COLUMN.value: partial(adapter.add_column, path, ADDED),
    }


def _changed(df: pd.DataFrame, change: str, given: _Rows) -> pd.DataFrame:
    """Return the right table after a change, by pandas."""
    import pandas as pd

    match change:
        case TableChange.APPEND:
            return pd.concat([df, given.new], ignore_index=True)
        case TableChange.UPDATE:
            updated = df.set_index(KEY)
            updated.loc[given.replaced[KEY], "f1"] = -1.5
            return updated.reset_index()[df.columns]
        case TableChange.DELETE:
            return df[~df[KEY].isin(given.gone)].reset_index(drop=True)
        case TableChange.ADD_COLUMN:
            return df.assign(**{ADDED: float("nan")})
    return df


def _verify(label: str, change: str, found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    import pandas as pd

    ordered = found.sort_values(KEY, ignore_index=True)
    if ADDED in ordered:
        ordered[ADDED] = ordered[ADDED].astype(float)
    try:
        pd.testing.assert_frame_equal(ordered, wanted, check_dtype=False, check_exact=True)
    except AssertionError as error:
        sentence = f"{label}, {change}: the table differs from pandas': {error}"
        raise WrongValuesError(shortened(sentence)) from error


def _written_bytes() -> int:
    """Return the bytes of all write calls of the process so far."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["wchar"])


CHANGES = Instrument(
    FORM, measure, lambda row: f"{row.format}, {row.change}: {row.reason or f'{row.wall_seconds:.3g} s'}"
)
