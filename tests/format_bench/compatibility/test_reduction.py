"""The reduction of tables to the smallest part that shows a finding."""

from __future__ import annotations

import pytest

from format_bench.compatibility.files import Cut
from format_bench.compatibility.reduction import smallest


@pytest.mark.parametrize(("columns", "rows"), [(1, 1), (2, 4), (7, 1000), (64, 3)])
def test_one_bad_value_is_found(columns, rows):
    column, row = columns - 1, rows // 2
    tried = []

    def shows(parts):
        tried.extend(parts)
        return [column in part.columns and part.first <= row < part.end for part in parts]

    assert smallest(columns, rows, shows) == Cut((column,), row, row + 1)
    assert len(tried) < 300


def test_what_needs_two_rows_and_two_columns_keeps_them():
    def shows(parts):
        return [{1, 4} <= {*part.columns} and part.first <= 10 and part.end > 20 for part in parts]

    assert smallest(6, 100, shows) == Cut((1, 4), 10, 21)


def test_a_finding_that_no_smaller_part_shows_keeps_the_table():
    assert smallest(3, 5, lambda parts: [False] * len(parts)) == Cut((0, 1, 2), 0, 5)
