"""Rows of the compatibility study: a file of a writer, as another reader read it."""

from __future__ import annotations

from dataclasses import dataclass

from format_bench.compatibility.verdicts import Verdict, verdict_of
from format_bench.results.study_rows import StudyForm
from format_bench.studies.compatible.matrix_readers import SUITE, named


@dataclass(frozen=True)
class CompatibilityRow:
    """An edge-case table in a file of one adapter, as another reader read it."""

    format: str
    """The adapter that wrote it, or the foreign writer."""
    dataset: str
    """The table."""
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

    @property
    def verdict(self) -> Verdict:
        """What the reader made of the file."""
        return verdict_of(self.sentence, self.status)

    @property
    def writer(self) -> str:
        """The adapter with its library set."""
        return named(self.format, self.library_set)

    @property
    def subject(self) -> str:
        """The feature, or the table."""
        return self.feature or self.dataset


FORM = StudyForm(
    suite=SUITE,
    of=CompatibilityRow,
    values={"changed": "changed values", "retyped": "changed types"},
    reason="sentence",
    threads="all",
)
