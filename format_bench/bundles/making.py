"""Making of a bundle from results: redacted records and metadata, digests of data, noise, self-check."""

from __future__ import annotations

import importlib.metadata
import statistics
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapter_core.errors import FormatBenchError, InvalidBundleError
from format_bench.bundles.data_digests import data_digest
from format_bench.bundles.redaction import Names, command_of, is_own, redacted, scrubbed
from format_bench.results.bundle import FORM, MOST_RECORDS, VERSION, Bundle
from format_bench.results.display.text import plural
from format_bench.results.load import Results, suite_of
from format_bench.results.records import Record
from format_bench.results.self_check import SelfCheck
from format_bench.results.suites import FAMILIES, family_of_suite
from format_bench.runner import folders

# Parts of metadata that stay at home, for whoever reads the list before the bundle is written.
_LEFT_OUT = (
    "name of the machine and of its user",
    "folders and devices of measured files, paths and addresses in reasons",
    "own kernel names, mount options, environment variables",
)

_WORDS = {
    "own": "own data set",
    "question": "own question",
    "medium": "own name of a medium",
    "place": "address of an object store",
    "library-set": "own name of a library set",
}


def own_names(source: str) -> Mapping[str, str]:
    """Return fingerprints of own data and questions, as the folder of results has them by name."""
    place = Path(source.rpartition("#")[0] or source)
    folder = place if place.is_dir() else place.parent
    return folders.fingerprints_in(folder)


def made(
    results: Results,
    own: Mapping[str, object],
    say: Callable[[str], object],
    *,
    with_names: bool = False,
) -> Bundle:
    """Return the bundle of results.

    Parameters
    ----------
    results : Results
        The results.
    own : mapping
        Names of own data and questions.
    say : callable
        Called with a line for each data set, whose digest takes up to seconds.
    with_names : bool
        Keep the names of own data, questions, media and places, and reasons that name columns.

    Raises
    ------
    InvalidBundleError
        If there are too many records.
    """
    if len(results.records) > MOST_RECORDS:
        number = plural(len(results.records), "record")
        raise InvalidBundleError(
            f"{results.name}: {number} are more than the {MOST_RECORDS:,} of a bundle"
        )
    names = Names(with_names)
    records, metadata = redacted(results, own, names)
    generated = {each.dataset for each in results.records if not is_own(each, own)}
    replaced = (
        f"{plural(number, _WORDS.get(kind, f'value of {kind}'))}, now {kind}-1 ..."
        for kind, number in names.counts.items()
    )
    order = SelfCheck.of(records)
    head = {
        "form": FORM,
        "version": VERSION,
        "made": f"{datetime.now(UTC):%Y-%m-%d}",
        "program": importlib.metadata.version("formatbench"),
        "commands": [*dict.fromkeys(filter(None, map(command_of, results.metadata)))],
        "metadata": metadata,
        "noise": noise_of(order),
        "self_check": counts_of(order),
        "data": [*_data(records, generated, say)],
        "left_out": [*_LEFT_OUT, *replaced],
    }
    return Bundle(head, records)


def counts_of(found: SelfCheck) -> dict[str, int]:
    """Return the counts of pairs of values: all, pairs out of order, and pairs by more than noise."""
    wrong = found.out_of_order
    beyond = sum(each.is_beyond_noise for each in wrong)
    return {"pairs": len(found.pairs), "out_of_order": len(wrong), "beyond_noise": beyond}


def noise_of(found: SelfCheck) -> dict[str, float] | None:
    """Return the noise of timed cells; None where rounds do not show it."""
    if found.noise_quantile is None:
        return None
    return {
        "cells": len(found.noise),
        "median": statistics.median(found.noise),
        "quantile_95": found.noise_quantile,
    }


def data_sets_of(records: Iterable[Record]) -> dict[tuple[str, str, int], int]:
    """Return family, name and rows of the data sets with values, and their columns, in order."""
    found: dict[tuple[str, str, int], int] = {}
    for each in records:
        if each.value is not None:
            family = family_of_suite(suite_of(each)).name
            found.setdefault((family, each.dataset, each.rows), each.columns)
    return found


def _data(
    records: Iterable[Record], generated: set[str], say: Callable[[str], object]
) -> Iterable[dict[str, Any]]:
    """Yield the data sets with values and their digests, or why they have none."""
    for (family, name, rows), columns in data_sets_of(records).items():
        digest, reason = None, "own data"
        if name in generated:
            say(f"digest of {name}, {plural(rows, FAMILIES[family].item)}")
            try:
                digest, reason = data_digest(family, name, rows, columns), ""
            except FormatBenchError as error:
                reason = scrubbed(str(error))
        facts = {"family": family, "name": name, "rows": rows, "columns": columns}
        yield {**facts, "digest": digest, "reason": reason}
