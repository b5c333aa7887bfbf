"""Rows of the compatibility study: a file of a writer, as another reader read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adapter_core.adapter import format_of
from format_bench.compatibility.verdicts import Verdict, verdict_of
from format_bench.results.study_rows import StudyForm
from format_bench.studies.compatible.matrix_readers import SUITES, named

VERSIONS = "compatibility_versions"
"""Name in the metadata of a run: the versions of libraries by library set."""

SERIOUS = (Verdict.CRASH, Verdict.HANG, Verdict.DIFFERENT, Verdict.REFUSED)
"""Verdicts that are findings, the worst first."""

REDUCED = "smallest table: "
"""Begins the part of a row's sentence that names the smallest table with its verdict."""


@dataclass(frozen=True)
class CompatibilityRow:
    """An edge case in a file of one adapter, as another reader read it."""

    format: str
    """The adapter that wrote it, or the foreign writer."""
    dataset: str
    """The edge case."""
    rows: int
    reader: str
    """The reader, with its library set after "@" if it is not this environment's."""
    library_set: str = ""
    """The writer's library set; empty for this environment."""
    feature: str = ""
    """The feature that a library's own call wrote; empty for a file of the adapter."""
    changed: int | None = None
    """Values that came back otherwise; None if none came back."""
    retyped: int | None = None
    """Columns that came back with another type."""
    sentence: str = ""
    """The verdict, and after a colon the differences, the message or the reason."""
    status: str = ""
    """Why there are no values; empty if there are."""
    family: str = "tables"
    """One of `SUBJECTS`."""

    @property
    def verdict(self) -> Verdict:
        """Verdict of the reader on the file."""
        return verdict_of(self.sentence, self.status)

    @property
    def writer(self) -> str:
        """The adapter with its library set."""
        return named(self.format, self.library_set)

    @property
    def cell(self) -> tuple[str, str, str, str, str]:
        """Facts that distinguish it from all others of its family."""
        return self.format, self.library_set, self.reader, self.dataset, self.feature

    @property
    def base(self) -> str:
        """The format without its engine."""
        return format_of(self.format)

    @property
    def group(self) -> str:
        """The format whose writers and readers are beside each other on the page."""
        # Layouts of an array's format read each other's files.
        name = self.base.partition(".")[0] if self.family == "arrays" else self.base
        return name if self.family == "tables" else f"{name} ({self.family})"

    @property
    def subject(self) -> str:
        """The feature, or the edge case."""
        return self.feature or self.dataset


FORM = StudyForm(
    suite=SUITES["tables"],
    suites=SUITES,
    of=CompatibilityRow,
    values={"changed": "changed values", "retyped": "changed types"},
    reason="sentence",
    threads="all",
)


def findings(rows: Iterable[CompatibilityRow]) -> list[list[CompatibilityRow]]:
    """Return the rows of each finding, the worst first: one of a reader, in any version, and a verdict.

    The first of its rows has the smallest table, if one of them has.
    """
    seen: dict[tuple[str, str, Verdict], list[CompatibilityRow]] = {}
    for row in sorted(rows, key=lambda row: REDUCED not in row.sentence):
        if row.verdict in SERIOUS:
            reader = row.reader.partition("@")[0]
            seen.setdefault((row.group, reader, row.verdict), []).append(row)
    return sorted(seen.values(), key=lambda found: (SERIOUS.index(found[0].verdict), -len(found)))
