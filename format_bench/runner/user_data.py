"""A user's own data, read and described in a process of its own, since files may crash their readers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from adapter_core.errors import FormatBenchError, UserDataError
from data_generator import DEFAULT_SEED
from data_generator.user.fingerprint import fingerprint
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.operations.images import leave_images
from format_bench.operations.tables import leave_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

    from data_generator.user.dataset import UserData
    from data_generator.user.summary import ImagesDescription, TableDescription
    from format_bench.operations.cases import Suite

    Description = TableDescription | ImagesDescription


LIMIT_SECONDS = 3600
"""After which reading counts as hung."""


@dataclass(frozen=True)
class Source:
    """Where a user's data come from."""

    path: str
    """A table file, one table of a file as in ``measures.db::trips``, or a folder of images."""
    sample: int | None = None
    """Rows or images to take at random; all by default."""
    trust_pickle: bool = False
    seed: int = DEFAULT_SEED


@dataclass(frozen=True)
class Prepared:
    """Own data, ready to be measured."""

    name: str
    """What results call the data set."""
    suite: Suite
    rows: int
    """Or images."""
    place: Outcome
    """As `CaseData.of` returns it."""
    fingerprint: str
    """Tells the source's content from any other."""
    description: Description
    """What the data hold."""
    remarks: tuple[str, ...]
    """What was changed so that formats can keep the data, in sentences without a full stop."""


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


def _prepare(source: Source, target: Path) -> Prepared | str:
    from data_generator.user.load import load_data

    try:
        found = load_data(
            source.path, sample=source.sample, seed=source.seed, trust_pickle=source.trust_pickle
        )
        leave = _leave_images if found.df is None else _leave_table
        suite, rows, columns, description = leave(found, target)
        return Prepared(
            name=found.name,
            suite=suite,
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


def _leave_table(found: UserData, target: Path) -> tuple[Suite, int, int, Description]:
    from data_generator.user.summary import describe

    df = cast("pd.DataFrame", found.df)
    return "tabular", *leave_table(df, target), describe(df)


def _leave_images(found: UserData, target: Path) -> tuple[Suite, int, int, Description]:
    from data_generator.user.summary import describe_images

    images = cast("Sequence[np.ndarray]", found.images)
    labels = cast("Sequence[int]", found.labels)
    return "image", *leave_images(images, labels, target), describe_images(images, labels)
