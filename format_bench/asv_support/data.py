"""Data sets of an asv suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError
from adapter_core.errors import TooFewRowsError
from format_bench.asv_support.run import DATA, missing, prepare
from format_bench.families.operations import operations_of

if TYPE_CHECKING:
    from format_bench.families.operations import Operations
    from format_bench.results.suites import Family, Suite


def prepare_data(family: Family, suite: Suite, scale: str) -> None:
    """Start a run of a suite: generate its data sets, of as many rows as a real one has at most.

    A data set that is not available leaves its reason, and `Cell.start` skips its cells.

    Parameters
    ----------
    family, suite
        As the checkout declares them.
    scale : str
        One of `format_bench.results.suites.SCALES`.
    """
    operations = operations_of(family)

    def make() -> dict[str, tuple[int, int]]:
        shapes: dict[str, tuple[int, int]] = {}
        for name in suite.datasets:
            try:
                data = _generated(operations, name, suite.size(name, scale))
            except UnavailableError as error:
                missing(name).write_text(str(error), encoding="utf-8")
                continue
            shapes[name] = operations.store(data, DATA / name)
        return shapes

    prepare(suite.name, scale, make)


def _generated(operations: type[Operations], name: str, size: int) -> Any:
    try:
        return operations.generate(name, size)
    except TooFewRowsError:
        return operations.generate(name, None)
