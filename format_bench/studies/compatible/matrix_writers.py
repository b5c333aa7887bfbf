"""Writers of the compatibility study: adapters, and programs in other languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from adapter_core.adapter import format_of
from format_bench.compatibility import foreign
from format_bench.compatibility.files import TableFile, run_writer, write_files
from format_bench.compatibility.subjects import SUBJECTS, Subject
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.runner.executor import in_turn
from format_bench.studies.compatible.matrix_readers import process_of
from format_bench.studies.declared.rows import chosen


def writers_of(family: str, formats: str) -> list[str]:
    """Return the labels of the writers that an option names, by default the usual ones."""
    subject = SUBJECTS[family]
    foreign_labels = [
        label
        for label, writer in foreign.writers().items()
        if family == writer.implementation.declaration.families[0]
    ]
    if formats:
        return chosen(formats, [*subject.labels(), *foreign_labels])
    usual = subject.formats
    return [*usual, *(each for each in foreign_labels if format_of(each) in usual)]


def suffix_of(subject: Subject, label: str) -> str:
    """Return the suffix of a writer's files."""
    writer = foreign.writers().get(label)
    return subject.suffix(writer.format if writer else label)


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
    by_label: dict[str, list[TableFile]] = {}
    for each in files:
        by_label.setdefault(each.label, []).append(each)
    writers = foreign.writers()
    for label in by_label.keys() & writers.keys():
        writer, its_files = writers[label], by_label[label]
        if lacking := writer.implementation.lacking():
            found |= {each: Outcome(None, CellStatus.UNAVAILABLE, lacking) for each in its_files}
            continue
        how = writer.command, str(writer.implementation.place)
        case = process_of(label, its_files[0].family, "")
        found |= in_turn(case, its_files, run_writer, *how, limit_seconds, folder=folder)
    others = [file for file in files if file.label not in writers]
    if others:
        case = process_of(others[0].label, others[0].family, of_set)
        found |= in_turn(case, others, write_files, limit_seconds, folder=folder)
    return found
