"""Wrong answers to queries that the verifier has to see."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from format_bench.verification import answers

ROWS = 9


def difference(found, right, *, ordered, **options):
    # The key is in no column, so that no rows may change places.
    order = ["?"] if ordered else []
    return answers.difference(found, answers.Answer(right, order=order), **options)


def _answer(seed):
    random = np.random.default_rng(seed)
    whole = random.permutation(1_000)[:ROWS] + 2**53
    texts = random.permutation(["Needle", "needle", "", "\u00e9", "e\u0301", "a", "A", "0", "null"])
    return pa.table(
        {
            "key": texts,
            "whole": whole,
            "maybe": pa.array([None, *map(int, whole[1:])]),
            "real": random.normal(0, 1e3, ROWS),
            "nulls": pa.array([None, *random.normal(0, 1e3, ROWS - 1)]),
            "truth": [True, False, *(random.random(ROWS - 2) < 0.5)],
            "at": pa.array([datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in range(ROWS)]),
        }
    )


def _with(name, change):
    def mutate(table):
        place = table.column_names.index(name)
        return table.set_column(place, name, change(table.column(place)))

    return mutate


def _one(name, change):
    def changed(column):
        values = column.to_pylist()
        values[4] = change(values[4])
        return pa.array(values, column.type)

    return _with(name, changed)


def _two(name):
    return _with(name, lambda column: column.take([0, 2, 1, *range(3, ROWS)]))


WRONG = {
    **{
        f"two values of {name} swapped": _two(name)
        for name in ("key", "whole", "maybe", "real", "nulls", "at")
    },
    **{
        f"a null of {name}": _one(name, lambda _: None)
        for name in ("key", "whole", "real", "truth", "at")
    },
    "a null moved": _with("maybe", lambda column: column.take([1, 0, *range(2, ROWS)])),
    "a null zero": _with("nulls", lambda column: column.fill_null(0.0)),
    "a null of integers zero": _with("maybe", lambda column: column.fill_null(0)),
    "an empty text null": _with(
        "key", lambda column: pa.array([each or None for each in column.to_pylist()])
    ),
    "text of other case": _with("key", pc.ascii_upper),
    "text decomposed": _with("key", lambda column: pc.utf8_normalize(column, "NFD")),
    "text with a space": _one("key", lambda value: value + " "),
    "an integer by one": _one("whole", lambda value: value + 1),
    "an integer among nulls by one": _one("maybe", lambda value: value + 1),
    "integers negative": _with("whole", pc.negate),
    "integers as rounded floats": _with("whole", lambda column: column.cast("float64", safe=False)),
    "integers by a half": _with("whole", lambda column: pc.add(pc.subtract(column, 2**53), 0.5)),
    "integers as text": _with("whole", lambda column: column.cast("string")),
    "the sign of floats": _with("real", pc.negate),
    "a float infinite": _one("real", lambda _: np.inf),
    "a float NaN": _one("real", lambda _: np.nan),
    "a null NaN": _with("nulls", lambda column: column.fill_null(np.nan)),
    "a float zero": _one("real", lambda _: 0.0),
    "floats of 32 bits": _with("real", lambda column: column.cast("float32")),
    "a float beyond the tolerance": _one("real", lambda value: value * (1 + 2e-10)),
    "floats as text": _with("real", lambda column: column.cast("string")),
    "booleans inverted": _with("truth", pc.invert),
    "times by a microsecond": _with(
        "at", lambda column: pc.add(column, pa.scalar(1, pa.duration("us")))
    ),
    "a row lost": lambda table: table.slice(1),
    "a row more": lambda table: pa.concat_tables([table, table.slice(0, 1)]),
    "a row in place of another": lambda table: table.take([1, *range(1, ROWS)]),
    "no rows": lambda table: table.slice(0, 0),
    "a column lost": lambda table: table.drop_columns("truth"),
    "a column more": lambda table: table.append_column("more", table.column("truth")),
    "columns swapped": lambda table: table.select(
        ["key", "maybe", "whole", "real", "nulls", "truth", "at"]
    ),
    "columns reversed": lambda table: table.select(table.column_names[::-1]),
}


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("mutation", WRONG)
def test_a_wrong_answer_differs(mutation, ordered):
    for seed in range(3):
        right = _answer(seed)
        shuffled = right if ordered else right.take(np.random.default_rng(seed).permutation(ROWS))
        assert difference(shuffled, right, ordered=ordered) == ""
        assert difference(WRONG[mutation](right), right, ordered=ordered), seed


def test_rows_in_another_order_differ_if_the_query_has_one():
    right = _answer(0)
    swapped = right.take([1, 0, *range(2, ROWS)])
    assert difference(swapped, right, ordered=True)
    assert difference(swapped, right, ordered=False) == ""


def test_rows_that_tie_in_all_keys_may_change_places():
    right = pa.table({"key": ["a", "a", None], "value": [1, 2, 3]})
    swapped = right.take([1, 0, 2])
    for order, is_equal in (
        (["key"], True),
        (["1"], True),
        (["data.KEY"], True),
        (["key", "value"], False),
    ):
        found = answers.difference(swapped, answers.Answer(right, order=order))
        assert (found == "") is is_equal, order
    assert answers.difference(right.take([0, 2, 1]), answers.Answer(right, order=["key"]))
    assert answers.difference(right.take([2, 0, 1]), answers.Answer(right, order=["key"]))


def test_values_that_nothing_is_computed_from_are_equal_to_the_last_bit():
    right = pa.table({"x": [1.5, -2.5, 0.0]})
    ulp = pa.table({"x": [np.nextafter(1.5, 2), -2.5, 0.0]})
    assert difference(ulp, right, ordered=True) == ""
    assert difference(ulp, right, ordered=True, tolerance=0.0) == "values of column 1, x, differ"
    assert difference(right, right, ordered=True, tolerance=0.0) == ""


def test_decimals_that_a_format_rounds_are_equal_unless_they_are_smaller():
    right = pa.table({"x": [1e-15, 3e-16, 0.5]})
    rounded = pa.table({"x": [1.4e-15, 3e-16, 0.5 + 4e-16]})
    assert difference(rounded, right, ordered=True, absolute=1e-15) == ""
    for wrong in (-3e-16, 0.0, 9e-16):
        found = pa.table({"x": [1e-15, wrong, 0.5]})
        assert difference(found, right, ordered=True, absolute=1e-15)


def test_decimals_of_statements_have_the_digits_of_an_engine():
    found, right = pa.table({"x": [Decimal("0.33"), Decimal("-0.66")]}), pa.table({"x": [1 / 3, -2 / 3]})
    assert answers.difference(found, answers.Answer(right))
    statement = answers.Answer(right, is_statement=True)
    assert answers.difference(found, statement) == ""
    assert answers.difference(pa.table({"x": [Decimal("0.35"), Decimal("-0.66")]}), statement)
    assert answers.difference(pa.table({"x": [0.33, -0.66]}), statement)


SPAN, CLOCK = timedelta(days=-2, microseconds=5), time(7, 30, 0, 5)
SPANS = pa.array([SPAN, None, timedelta(0)], pa.duration("us"))
# Months, days and nanoseconds.
INTERVALS = pa.array([(0, -2, 5_000), None, (0, 0, 0)], pa.month_day_nano_interval())


@pytest.mark.parametrize(
    ("found", "right", "problem"),
    [
        (SPANS.cast(pa.duration("ns")), SPANS, ""),
        (INTERVALS, SPANS, ""),
        (pa.array(["-2 days +00:00:00.000005", None, "0 days"]), SPANS, ""),
        (pa.array(["P-2DT0H0M0.000005S", None, "P0DT0H0M0S"]), SPANS, ""),
        (pa.array(["-2 days", None, "0 days"]), SPANS, "values of column 1, x, differ"),
        (pa.array(["soon", None, "0 days"]), SPANS, "differ: string in place of duration[us]"),
        (SPANS.cast(pa.int64()), SPANS, "differ: int64 in place of duration[us]"),
        (pa.array([SPAN, SPAN, timedelta(0)]), SPANS, "values of column 1, x, differ"),
        (pa.array([CLOCK], pa.time64("ns")), pa.array([CLOCK], pa.time64("us")), ""),
        (pa.array([time(7)], pa.time32("s")), pa.array([time(7)], pa.time64("us")), ""),
        (pa.array([time(7)], pa.time32("s")), pa.array([CLOCK], pa.time64("us")), "07:00:00 instead of"),
    ],
)
def test_time_spans_and_times_of_day_compare_whatever_their_units(found, right, problem):
    differs = difference(pa.table([found], ["x"]), pa.table([right], ["x"]), ordered=True)
    assert problem in differs
    assert bool(problem) == bool(differs)


@pytest.mark.parametrize(
    ("found", "right", "is_equal"),
    [
        (pa.array([Decimal(10**30)]), pa.array([Decimal(10**30)]), True),
        (pa.array([Decimal(10**30)]), pa.array([Decimal(10**30 + 1)]), False),
        (pa.array([Decimal("1.50")]), pa.array([Decimal("1.5000")]), True),
        (pa.array([Decimal("1.50")]), pa.array([1.5]), True),
        (pa.array([Decimal("0.1234567890123456")]), pa.array([Decimal("0.1234567890123457")]), False),
        (pa.array([Decimal("1e-20")]), pa.array([Decimal("2e-20")]), False),
        (pa.array([2**64 - 1], pa.uint64()), pa.array([2**64 - 1], pa.uint64()), True),
        (pa.array([2**64 - 1], pa.uint64()), pa.array([-1], pa.int64()), False),
        (pa.array([2**53 + 1]), pa.array([float(2**53)]), True),
        (pa.array([float(2**53)]), pa.array([2**53 + 1]), False),
        (pa.array([True, None]), pa.array([1, None]), True),
        (pa.array(["1"]), pa.array([1]), False),
        (pa.array([None, None], pa.string()), pa.array([None, None], pa.int64()), True),
    ],
)
def test_numbers_compare_whatever_their_types(found, right, is_equal):
    assert (
        difference(pa.table([found], ["x"]), pa.table([right], ["x"]), ordered=True) == ""
    ) is is_equal
