"""What the steps do with a kind of data, tables or sets of images: one of these in each process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.instruments import threads

if TYPE_CHECKING:
    from format_bench.operations.cases import Case
    from format_bench.operations.work import Work


def work_on(case: Case) -> Work:
    """Return the work of a case, ready and under the case's thread policy."""
    from format_bench.operations.images import ImageWork
    from format_bench.operations.tables import TableWork

    work: Work = ImageWork(case) if case.suite == "image" else TableWork(case)
    threads.apply(case.threads)
    return work
