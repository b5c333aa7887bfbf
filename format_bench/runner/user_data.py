"""The user's data, read and described in a process of its own, since files may crash their readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from adapter_core import FormatBenchError
from adapter_core.errors import UserDataError
from data_generator import DEFAULT_SEED
from data_generator.sampling import sampled_rows
from data_generator.user.load import fingerprint
from format_bench.families.operations import operations_of
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.results.suites import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from data_generator.dataset import UserData
    from data_generator.user.summary import ArrayDescription, ImagesDescription, TableDescription

    Description = TableDescription | ImagesDescription | ArrayDescription


# After which reading counts as hung.
LIMIT_SECONDS = 3600


@dataclass(frozen=True)
class Source:
    """Where a user's data come from."""

    path: str
    """A table file, one table of a file as in ``measures.db::trips``, images, or an array."""
    sample: int | None = None
    """Rows, images or chunks to take at random; all by default."""
    trust_pickle: bool = False
    seed: int = DEFAULT_SEED
    chunks: tuple[int, ...] | None = None
    """Shape of the chunks of an array; those of its file by default."""


@dataclass(frozen=True)
class Prepared:
    """Own data, ready to be measured."""

    name: str
    """Name of the data set in results."""
    family: str
    rows: int
    """Or images, or chunks."""
    place: Outcome
    """As `CaseData.of` returns it."""
    fingerprint: str
    """Tells the source's content from any other."""
    description: Description
    """Summary of the data."""
    remarks: tuple[str, ...]
    """Changes made so that formats can keep the data, in sentences without a full stop."""


def prepare(source: Source, folder: Path) -> Prepared:
    """Read own data, leave them in a folder for the runner, and describe them.

    Raises
    ------
    UserDataError
        If they cannot be read, or the process that reads them dies.
    """
    outcome = isolation.run(_prepare, source, folder / "own", limit_seconds=LIMIT_SECONDS)
    if outcome.status:
        raise UserDataError(f"{source.path}: cannot be read: {outcome.sentence}")
    if isinstance(outcome.value, str):
        raise UserDataError(outcome.value)
    prepared: Prepared = outcome.value
    return prepared


def store_samples(own: Prepared, samples: Mapping[int, Path]) -> None:
    """Store samples of prepared data, by their numbers of rows; a smaller one is part of a larger one.

    Raises
    ------
    UserDataError
        If the process that takes them dies.
    """
    outcome = isolation.run(_store_samples, own, samples, limit_seconds=LIMIT_SECONDS)
    if outcome.status:
        raise UserDataError(f"{own.name}: cannot be sampled: {outcome.sentence}")


def _store_samples(own: Prepared, samples: Mapping[int, Path]) -> None:
    operations = operations_of(FAMILIES[own.family])
    data = operations.load(own.place.value[0])
    for rows, path in samples.items():
        positions = sampled_rows(own.rows, rows, DEFAULT_SEED)
        if positions is not None:
            operations.store(operations.take(data, positions.tolist()), path)


def _prepare(source: Source, target: Path) -> Prepared | str:
    from data_generator.user.load import load_data
    from data_generator.user.room import check_room

    try:
        found = load_data(
            source.path,
            sample=source.sample,
            seed=source.seed,
            trust_pickle=source.trust_pickle,
            chunks=source.chunks,
        )
        check_room(source.path, found, target.parent)
        family, data, description = _contents(found)
        rows, columns = operations_of(FAMILIES[family]).store(data, target)
        return Prepared(
            name=found.name,
            family=family,
            rows=rows,
            place=Outcome((target, columns)),
            fingerprint=fingerprint(source.path),
            description=description,
            remarks=found.remarks,
        )
    except FormatBenchError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or source.path}: {error.strerror or error}"


def _contents(found: UserData) -> tuple[str, Any, Description]:
    """Return the family of the data, the data as its operations take them, and a description."""
    from data_generator.user.summary import describe, describe_array, describe_images

    if found.df is not None:
        return "tables", found.df, describe(found.df)
    if found.array is not None:
        return "arrays", found.array, describe_array(found.array)
    images = cast("Sequence[np.ndarray]", found.images)
    labels = cast("Sequence[int]", found.labels)
    return "images", (images, labels), describe_images(images, labels)
