"""The user's data, read and described in a confined process, since files may harm their readers."""

from __future__ import annotations

import re
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import FormatBenchError
from adapter_core.array_description import Description as ArrayFacts
from adapter_core.errors import InvalidDataError, InvalidQuestionsError, UserDataError
from adapter_core.text import printable
from data_generator import DEFAULT_SEED, location
from data_generator.confinement.limits import USUAL_LIMITS, DataLimits
from data_generator.confinement.process import Watch, call
from data_generator.sampling import sampled_rows
from data_generator.user import handover
from data_generator.user.summary import (
    ArrayDescription,
    ImagesDescription,
    RecordsDescription,
    TableDescription,
)
from format_bench.families.operations import operations_of
from format_bench.families.questions import Questions, asking
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.prediction.table_profile import profile_of
from format_bench.results.suites import FAMILIES, SUITES, Family

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pandas as pd

    from format_bench.families.cases import Case

    Description = TableDescription | ImagesDescription | ArrayDescription | RecordsDescription


_DESCRIPTIONS: dict[str, type[Description]] = {
    "tables": TableDescription,
    "images": ImagesDescription,
    "arrays": ArrayDescription,
    "records": RecordsDescription,
}


@dataclass(frozen=True)
class Source:
    """Where a user's data come from."""

    path: str
    """A table file, one table of a file as in ``measures.db::trips``, images, an array, or records."""
    sample: int | None = None
    """Rows, images, chunks or records to take at random; all by default."""
    trust_pickle: bool = False
    seed: int = DEFAULT_SEED
    chunks: tuple[int, ...] | None = None
    """Shape of the chunks of an array; by default the file's."""
    limits: DataLimits = USUAL_LIMITS
    """Of the process that reads."""
    edges: tuple[int, ...] | None = None
    """Edges of the part of an array to take, from its middle; all by default."""
    parse_dates: bool = True
    """Dates in delimited text become datetimes."""
    as_records: bool = False
    """The file contains records, not a table."""
    schema: str | None = None
    """Absolute path of a file with the type of the records; by default it follows from the values."""


def each_of(source: Source) -> list[Source]:
    """Return a source of each variable that a path names, as in ``ocean.nc::tos,sos``.

    Names of tables may contain commas: a confined process finds out whether the file contains arrays.

    Raises
    ------
    UserDataError
        If the file cannot be read.
    """
    place, separator, names = source.path.rpartition(location.SEPARATOR)
    if not separator or "," not in names:
        return [source]
    try:
        is_array = call(
            "format_bench.runner.confined:contains_arrays",
            {"path": source.path},
            place=source.path,
            limits=source.limits,
        )
    except InvalidDataError as error:
        raise UserDataError(str(error)) from error
    if is_array is not True:
        return [source]
    wanted = dict.fromkeys(filter(None, map(str.strip, names.split(","))))
    if not wanted:
        raise UserDataError(f"{source.path}: name a variable after {separator}")
    return [replace(source, path=f"{place}{separator}{name}") for name in wanted]


@dataclass(frozen=True)
class Prepared:
    """Own data, ready to be measured."""

    name: str
    """Name of the data set in results."""
    family: str
    rows: int
    """Or images, chunks, or records."""
    place: Outcome
    """As `CaseData.of` returns it."""
    fingerprint: str
    """Tells the source's content from any other."""
    description: Description
    """Summary of the data."""
    remarks: tuple[str, ...]
    """Changes made so that formats can keep the data, in sentences without a full stop."""
    has_other_size: bool = False
    """The file has other data besides, or only describes these."""


def prepare(
    source: Source,
    folder: Path,
    watch: Watch | None = None,
    questions: Questions | None = None,
    suite: str | None = None,
) -> Prepared:
    """Read own data in a confined process, leave them in a folder for the runner, and describe them.

    Parameters
    ----------
    source : Source
        The data.
    folder : pathlib.Path
        An existing folder; the process writes below it.
    watch : callable, optional
        Called with the seconds since the start while the data are read.
    questions : Questions, optional
        The data are made ready to be asked these, which are checked.
    suite : str, optional
        The suite to measure, whose family may make data of its own of them.

    Raises
    ------
    UserDataError
        If they cannot be read, or the process that reads them dies or reaches a limit.
    InvalidQuestionsError
        If a question does not fit the data.
    InvalidRequestError
        If nothing asks data of their family.
    """
    reading, end = folder / "reading", time.monotonic() + source.limits.seconds
    remarks: list[str] = []
    try:
        found = call(
            "format_bench.runner.confined:read",
            {
                "path": source.path,
                "sample": source.sample,
                "seed": source.seed,
                "trust_pickle": source.trust_pickle,
                "parse_dates": source.parse_dates,
                "chunks": source.chunks,
                "edges": source.edges,
                "as_records": source.as_records,
                "schema": source.schema,
                "target": str((reading / "own").absolute()),
            },
            place=source.path,
            folder=reading,
            limits=source.limits,
            watch=watch,
            remark=remarks.append,
        )
    except InvalidDataError as error:
        raise UserDataError(str(error)) from error
    prepared = _prepared(found, reading / "own", remarks)
    if prepared.family == "tables":
        left = max(0.0, end - time.monotonic())
        prepared = replace(prepared, place=_handed_over(source, reading / "own", folder / "own", left))
    if suite in SUITES:
        prepared = _made_into(prepared, FAMILIES[SUITES[suite].family], folder)
    return _asking(prepared, questions, folder) if questions else prepared


def _handed_over(source: Source, handed: Path, place: Path, limit_seconds: float) -> Outcome:
    """Return the table at its last place, written by a process that has not touched the user's file."""
    arguments = handed, place, source.trust_pickle
    outcome = isolation.run(_take_over, *arguments, limit_seconds=limit_seconds)
    if outcome.status:
        raise UserDataError(f"{source.path}: cannot be read: {outcome.sentence}")
    if isinstance(outcome.value, str):
        raise UserDataError(f"{source.path}: cannot be read: {outcome.value}")
    return Outcome((place, outcome.value))


def profile_own(own: Prepared) -> dict[str, Any]:
    """Return the profile of a table as plain values, which predictions for others need; else nothing."""
    if own.family != "tables":
        return {}
    outcome = isolation.run(_profile, own.place.value[0], limit_seconds=USUAL_LIMITS.seconds)
    return {} if outcome.status else {"profile": outcome.value}


def _profile(stored: Path) -> dict[str, Any]:
    return profile_of(operations_of(FAMILIES["tables"]).load(stored)).to_dict()


def describe_own_array(
    source: Source, watch: Watch | None = None, remark: Callable[[str], object] | None = None
) -> ArrayFacts:
    """Return shape, chunks, dtype and coordinates of a user's array, read in a confined process.

    For `watch` and `remark` see `data_generator.confinement.process.call`.

    Raises
    ------
    UserDataError
        If the data are not an array, or cannot be read.
    """
    try:
        found = call(
            "format_bench.runner.confined:describe_array",
            {"path": source.path},
            place=source.path,
            limits=source.limits,
            watch=watch,
            remark=remark,
        )
        return ArrayFacts.from_dict(found)
    except InvalidDataError as error:
        raise UserDataError(str(error)) from error
    except (ValueError, TypeError, LookupError) as error:
        raise UserDataError(f"{source.path}: the process that read it gave no answer") from error


def _prepared(found: Any, place: Path, further: Sequence[str]) -> Prepared:
    """Return the checked answer of the process that read: its file may have forged the answer.

    Raises
    ------
    UserDataError
        If it is not an answer of that process.
    """
    try:
        family, name, digest = found["family"], found["name"], found["fingerprint"]
        rows, columns, remarks = int(found["rows"]), int(found["columns"]), found["remarks"]
        description = _DESCRIPTIONS[family].from_dict(found["description"])
        is_right = location.safe_name(name, ()) == name and rows > 0 and columns > 0
        is_right = is_right and re.fullmatch(r"[0-9a-f]{32}", digest) is not None
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise UserDataError("the process that read the data gave no answer") from error
    if not is_right:
        raise UserDataError("the process that read the data gave another answer than it should")
    told = [*(printable(str(each)) for each in remarks), *further]
    stored, has_other_size = Outcome((place, columns)), found.get("has_other_size") is True
    return Prepared(name, family, rows, stored, digest, description, tuple(told), has_other_size)


def _take_over(handed: Path, place: Path, trusted: bool) -> int | str:  # noqa: FBT001 (as given)
    """Store a table that was handed over as the runner loads it; return the number of columns."""
    try:
        df = handover.load(handed, trusted=trusted)
    except FormatBenchError as error:
        return str(error)
    handed.unlink()
    _, columns = operations_of(FAMILIES["tables"]).store(df, place)
    return int(columns)


def _made_into(own: Prepared, family: Family, folder: Path) -> Prepared:
    """Return data of a family that are made of own data; these, if it makes none of their kind."""
    if own.family not in operations_of(family).made_of:
        return own
    place = folder / "made"
    arguments = family.name, own.family, own.place.value[0], place
    outcome = isolation.run(_make_of, *arguments, limit_seconds=USUAL_LIMITS.seconds)
    if outcome.status:
        raise UserDataError(f"{own.name}: {outcome.sentence.removeprefix('UserDataError: ')}")
    rows, columns = outcome.value
    return replace(own, family=family.name, rows=rows, place=Outcome((place, columns)))


def _make_of(family: str, of: str, stored: Path, place: Path) -> tuple[int, int]:
    return operations_of(FAMILIES[family]).store_made_of(of, stored, place)


def _asking(own: Prepared, questions: Questions, folder: Path) -> Prepared:
    """Return own data made ready to be asked questions, which are checked."""
    family = asking(own.family)
    place = folder / "asked"
    _asked(own.name, _ask_own, family.name, own.name, own.place.value[0], questions, place)
    return replace(own, family=family.name, place=Outcome((place, own.place.value[1])))


def check_questions(cases: Iterable[Case]) -> None:
    """Check that a user's questions fit generated data, on few rows.

    Raises
    ------
    InvalidQuestionsError
        If one does not.
    """
    first = {case.dataset: case for case in cases}
    for dataset, case in first.items():
        _asked(dataset, _ask_few, replace(case, rows=min(case.rows, FEW_ROWS)))


def _asked(name: str, step: Callable[..., None], *arguments: Any) -> None:
    outcome = isolation.run(step, *arguments, limit_seconds=USUAL_LIMITS.seconds)
    if outcome.error == InvalidQuestionsError.__name__:
        raise InvalidQuestionsError(outcome.sentence.removeprefix(f"{outcome.error}: "))
    if outcome.status:
        raise UserDataError(f"{name}: cannot be asked: {outcome.sentence}")


def _ask_own(family: str, name: str, stored: Path, questions: Questions, place: Path) -> None:
    operations_of(FAMILIES[family]).ask_own(name, stored, questions, place)


def _ask_few(case: Case) -> None:
    operations = operations_of(case.family)
    data = operations.asking(operations.generate(case.dataset, case.rows), case.asked)
    operations.check_asked(data, case.asked)


# Rows of a generated table, or chunks of an array, that questions are checked on. A question with a
# mistake is refused before the data are made.
FEW_ROWS = 1_000


def read_table(source: Source, watch: Watch, remark: Callable[[str], object]) -> pd.DataFrame:
    """Return a table that was read in a confined process.

    For `watch` and `remark` see `data_generator.confinement.process.call`.

    Raises
    ------
    InvalidDataError
        If it cannot be read, or the process dies or reaches a limit.
    UserDataError
        If the package that reads it is missing, or it holds values of another kind than data.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "reading", "table")
        remarks = call(
            "format_bench.runner.confined:read_table",
            {
                "path": source.path,
                "trust_pickle": source.trust_pickle,
                "parse_dates": source.parse_dates,
                "target": str(target),
            },
            place=source.path,
            folder=target.parent,
            limits=source.limits,
            watch=watch,
            remark=remark,
        )
        for each in remarks if isinstance(remarks, list) else ():
            remark(printable(str(each)))
        return handover.load(target, trusted=source.trust_pickle)


class OwnData:
    """Prepared data, and samples of them, each stored once; a smaller one is part of a larger one.

    Parameters
    ----------
    own : Prepared
        The data.
    folder : pathlib.Path
        Where samples are stored.
    """

    def __init__(self, own: Prepared, folder: Path) -> None:
        self._own, self._folder = own, folder
        self._places = {own.rows: own.place}

    def of(self, rows: int, limit_seconds: float = USUAL_LIMITS.seconds) -> Outcome:
        """Return the path and the number of columns of so many rows, as `CaseData.of` does.

        Raises
        ------
        UserDataError
            If the process that samples the data dies, or has not ended after some seconds.
        """
        if rows not in self._places:
            path = self._folder / f"sample-{rows}"
            outcome = isolation.run(_store_sample, self._own, rows, path, limit_seconds=limit_seconds)
            if outcome.status:
                raise UserDataError(f"{self._own.name}: cannot be sampled: {outcome.sentence}")
            self._places[rows] = Outcome((path, self._own.place.value[1]))
        return self._places[rows]


def _store_sample(own: Prepared, rows: int, path: Path) -> None:
    operations = operations_of(FAMILIES[own.family])
    positions = sampled_rows(own.rows, rows, DEFAULT_SEED)
    if positions is not None:
        data = operations.load(own.place.value[0])
        operations.store(operations.take(data, positions.tolist()), path)
