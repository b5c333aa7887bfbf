"""Writers of the compatibility study: adapters, and programs in other languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import data_formats
from format_bench.compatibility import foreign
from format_bench.compatibility.files import TableFile, run_writer, write_files
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES
from format_bench.runner.executor import in_turn
from format_bench.studies.compatible.matrix_readers import SUITE, process_of
from format_bench.studies.declared.rows import chosen


def writers_of(formats: str) -> list[str]:
    """Return the labels of the writers that an option names, by default those of the suite."""
    foreign_labels = list(foreign.writers())
    if formats:
        return chosen(formats, [*data_formats.names(), *foreign_labels])
    usual = SUITES[SUITE].formats
    return [*usual, *(each for each in foreign_labels if each.partition("[")[0] in usual)]


def suffix_of(label: str) -> str:
    """Return the suffix of a writer's files."""
    writer = foreign.writers().get(label)
    return data_formats.find(writer.format if writer else label).suffix


def written(
    of_set: str, files: Sequence[TableFile], limit_seconds: float, folder: Path
) -> dict[TableFile, Outcome]:
    """Write files by foreign writers, and by the adapters of a library set.

    Returns
    -------
    dict
        The canonical form of each file's table.
    """
    found = dict[TableFile, Outcome]()
    for label, writer in foreign.writers().items():
        its_files = [file for file in files if file.label == label]
        if lacking := writer.implementation.lacking():
            found |= {each: Outcome(None, CellStatus.UNAVAILABLE, lacking) for each in its_files}
            continue
        how = writer.command, str(writer.implementation.place)
        case = process_of(writer.label, "")
        found |= in_turn(case, its_files, run_writer, *how, limit_seconds, folder=folder)
    others = [file for file in files if file.label not in foreign.writers()]
    case = process_of(others[0].label if others else "", of_set)
    return found | dict(in_turn(case, others, write_files, limit_seconds, folder=folder))
