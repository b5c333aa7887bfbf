"""The data of cases, made when first needed, in a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.runner.steps import store_data

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from format_bench.families.cases import Case


class CaseData:
    """Data sets in a folder, each made once.

    Parameters
    ----------
    folder : Path
        Where they are kept.
    prepared : mapping of str to Outcome
        Data sets that exist already, by name.
    limit_seconds : float
        How long making one may take.
    """

    def __init__(self, folder: Path, prepared: Mapping[str, Outcome], limit_seconds: float) -> None:
        self._folder, self._prepared = folder, prepared
        self._limit_seconds = limit_seconds
        self._made: dict[Path, Outcome] = {}

    def of(self, case: Case) -> Outcome:
        """Return the path of a case's data and the number of columns, or why there are none."""
        if case.dataset in self._prepared:
            return self._prepared[case.dataset]
        path = self._folder / f"{case.family.name}-{case.dataset}-{case.rows}"
        if path not in self._made:
            made = isolation.run(store_data, case, path, limit_seconds=self._limit_seconds)
            self._made[path] = made if made.status else Outcome((path, made.value[1]))
        return self._made[path]
