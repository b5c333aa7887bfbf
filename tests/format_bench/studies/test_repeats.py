"""Spread of repeated measurements."""

from __future__ import annotations

import pytest

from format_bench.studies.repeats import spread
from tests.helpers import run


def test_the_spread_is_the_range_by_the_median():
    assert spread([10.0, 11.0, 9.5]) == pytest.approx(0.15)
    assert spread([0, 0]) == 0


def test_each_cell_has_the_values_of_all_repeats_or_the_reason():
    options = ("--dataset", "entities-nested", "--rows", "50", "--times", "2")
    done = run("study", "repeats", "MessagePack[msgspec]", "SQLite", *options)
    assert done.stderr.splitlines() == ["repeat 1 of 2", "repeat 2 of 2"]
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["cell", "median", "spread", "values"]
    (size,) = (each for each in lines if each.startswith("MessagePack[msgspec] size "))
    number, unit = size.split()[2:4]
    assert size.split()[4:] == ["0.0%", number, unit, number, unit]
    assert {"save time", "read time", "held memory"} <= {each[21:36].strip() for each in lines}
    (refused,) = (each for each in lines if each.startswith("SQLite save time"))
    assert "unsupported: SQLite cannot store these records" in refused
