"""Specifications: tables have the specified properties, and each mistake is reported."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core.errors import InvalidSpecError
from data_generator import ColumnSpec, TableSpec, read_spec, realistic_table, write_spec
from data_generator.profiling import frequencies, windows
from data_generator.profiling.measures import measure
from data_generator.random_words import RandomWords
from data_generator.realistic import numbers, ranks, runs
from data_generator.realistic.columns import column
from data_generator.spec.dtypes import DTYPES, DtypeFamily
from data_generator.spec.io import from_dict
from data_generator.spec.spec import Alphabet

ROWS = 100_000


@pytest.fixture
def calls():
    """Return a function that counts the calls of Python functions that another makes."""

    def count(function) -> int:
        seen = 0

        def one_more(*_):
            nonlocal seen
            seen += 1

        sys.setprofile(one_more)
        try:
            function()
        finally:
            sys.setprofile(None)
        return seen

    return count


EVERYTHING = TableSpec(
    (
        ColumnSpec("id", "uint32", sortedness=1.0, clustering=1.0, width=6, regularity=1.0),
        ColumnSpec("kind", "category", distinct_ratio=0.001, pattern="zipf", exponent=1.5, width=7),
        ColumnSpec("flag", "bool", pattern="binary", top_share=0.9, null_share=0.1, null_run_length=5),
        ColumnSpec("price", "decimal", distinct_ratio=0.2, decimals=2, width=5, negative_share=0.1),
        ColumnSpec("measure", "float32", distinct_ratio=0.05, decimals=1, rank_decimals=(0.0, 1.0)),
        ColumnSpec("day", "date", distinct_ratio=0.01, width=3.5, mean_run_length=20, sortedness=1.0),
        ColumnSpec("time", "datetime", width=7, unit="ms", zone="Europe/Paris", granularity=1000),
        ColumnSpec("text", "str", width=20, width_spread=5, alphabet=Alphabet(0.5, 0.0, 0.25, 0.25)),
        ColumnSpec("tags", "list", width=3, items=ColumnSpec("item", "str", distinct_ratio=0.01)),
        ColumnSpec(
            "place",
            "record",
            null_share=0.2,
            fields=(
                ColumnSpec("x", "float64"),
                ColumnSpec("name", "str", pattern="measured", rank_shares=(0.5, 0.25, 0.25)),
            ),
        ),
    ),
    rows=2_000,
    seed=5,
    note="all that there is",
)


def made(rows=ROWS, seed=1, **properties):
    """Return a column with the given properties, int64 by default."""
    spec = ColumnSpec("c", **{"dtype": "int64", "width": 6, **properties})
    array = column(spec, rows, "test", seed)
    array.validate(full=True)
    return array


# How near to what a spec states a column of 100,000 rows comes.
STATED = [
    ({"distinct_ratio": 0.25}, {"distinct": 25_000, "pattern": "uniform"}),
    ({"distinct_ratio": 1.0}, {"distinct": ROWS, "sortedness": 0.0, "mean_run_length": 1.0}),
    ({"pattern": "constant"}, {"distinct": 1, "pattern": "single", "sortedness": 1.0}),
    ({"pattern": "binary", "top_share": 0.7}, {"distinct": 2, "pattern": "binary"}),
    ({"pattern": "hotspot", "top_share": 0.4, "distinct_ratio": 0.01}, {"pattern": "hotspot"}),
    ({"pattern": "zipf", "exponent": 0.5, "distinct_ratio": 0.01}, {"zipf_s": 0.5}),
    ({"pattern": "zipf", "exponent": 1.5, "distinct_ratio": 0.3}, {"zipf_s": 1.5, "distinct": 30_000}),
    ({"null_share": 0.3, "distinct_ratio": 0.1}, {"null_ratio": 0.3, "distinct": 7_000}),
    ({"sortedness": 0.5}, {"sortedness": 0.5}),
    ({"sortedness": 1.0, "clustering": 1.0}, {"sortedness": 1.0, "clustering": 1.0}),
    ({"sortedness": 0.2, "clustering": 0.7}, {"sortedness": 0.2, "clustering": 0.7}),
    ({"distinct_ratio": 0.01, "mean_run_length": 3}, {"mean_run_length": 3.0, "longest_run": 14.6}),
    (
        {"distinct_ratio": 0.01, "mean_run_length": 3, "longest_run": 60},
        {"mean_run_length": 3.0, "longest_run": 60.0},
    ),
    (
        {"distinct_ratio": 0.0002, "mean_run_length": 5, "sortedness": 0.9},
        {"mean_run_length": 5.0, "sortedness": 0.9},
    ),
    (
        {"distinct_ratio": 0.01, "mean_run_length": 20, "sortedness": 0.97, "clustering": 0.99},
        {"mean_run_length": 20.0, "sortedness": 0.97, "clustering": 0.99},
    ),
]
NEAR = {"distinct": 0, "null_ratio": 0, "mean_run_length": 0.6, "longest_run": 12}


@pytest.mark.parametrize(("properties", "expected"), STATED, ids=[str(given) for given, _ in STATED])
def test_columns_have_the_properties_that_are_stated(properties, expected):
    found = measure(made(**properties))
    for name, value in expected.items():
        if isinstance(value, str):
            assert getattr(found, name) == value
        else:
            assert getattr(found, name) == pytest.approx(value, abs=NEAR.get(name, 0.03))


def test_repetition_is_windows_that_come_again_and_nothing_else():
    fresh, again = (np.asarray(made(distinct_ratio=0.01, repetition=share)) for share in (0, 0.75))
    counts = Counter(window.tobytes() for window in again[: ROWS // 512 * 512].reshape(-1, 512))
    assert len(counts) == pytest.approx(ROWS / 512 / 4, abs=2)
    assert len(set(again)) == len(set(fresh))


def test_the_most_frequent_values_have_the_stated_shares():
    shares = (0.5, 0.2, 0.2, 0.1)
    spec = {"pattern": "measured", "rank_shares": shares, "distinct_ratio": 0.0001}
    counts = np.sort(np.unique(made(**spec), return_counts=True)[1])[::-1]
    assert (counts / ROWS).tolist() == pytest.approx([0.46, 0.18, 0.09, 0.09, *[0.02] * 6], abs=0.03)
    top = made(pattern="binary", top_share=0.7, dtype="bool")
    assert Counter(top.to_pylist()).most_common(1)[0][1] == 70_000


def test_nulls_are_in_blocks():
    array = made(null_share=0.1, null_run_length=25, distinct_ratio=0.1)
    null = np.asarray(array.is_null())
    assert array.null_count == 10_000
    assert int(null[0]) + int((null[1:] > null[:-1]).sum()) == 400


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 511, 513, 1025])
def test_any_number_of_rows_is_made(rows):
    df = realistic_table(EVERYTHING, rows)
    assert df.shape == (rows, 10)
    assert list(df.columns) == [each.name for each in EVERYTHING.columns]


def test_rows_and_seed_decide():
    one = realistic_table(EVERYTHING)
    assert len(one) == 2_000
    pd.testing.assert_frame_equal(one, realistic_table(EVERYTHING, 2_000, 5))
    other = realistic_table(EVERYTHING, seed=6)
    # The numbers that count up, whatever the seed.
    assert [name for name in one.columns if one[name].equals(other[name])] == ["id"]


def test_columns_have_the_stated_dtypes():
    df = realistic_table(EVERYTHING)
    dtypes = df.dtypes.astype(str).to_dict()
    assert dtypes == {
        "id": "uint32",
        "kind": "category",
        "flag": "boolean",
        "price": "object",
        "measure": "float32",
        "day": "object",
        "time": "datetime64[ms, Europe/Paris]",
        "text": "str",
        "tags": "large_list<item: large_string>[pyarrow]",
        "place": "struct<x: double, name: large_string>[pyarrow]",
    }
    assert {type(value).__name__ for value in df["day"]} == {"date"}
    assert {-value.as_tuple().exponent for value in df["price"]} == {2}
    assert 0.05 < (df["price"] < 0).mean() < 0.15


@pytest.mark.parametrize(
    "dtype", [name for name in DTYPES if DTYPES[name].family is not DtypeFamily.NESTED]
)
@pytest.mark.parametrize("null_share", [0.0, 0.5, 1.0])
def test_every_dtype_can_have_nulls(dtype, null_share):
    spec = ColumnSpec("c", dtype, distinct_ratio=0.1, null_share=null_share, decimals=2, width=2)
    df = realistic_table(TableSpec((spec,)), rows=200)
    assert df["c"].isna().sum() == 200 * null_share


def test_integers_have_the_stated_digits():
    values = np.asarray(made(width=4.5, negative_share=0.25, distinct_ratio=0.1))
    assert len(np.unique(values)) == 10_000
    digits = [len(str(abs(value))) for value in values.tolist()]
    assert Counter(digits).keys() == {4, 5}
    assert np.mean(digits) == pytest.approx(4.5, abs=0.05)
    assert (values < 0).mean() == pytest.approx(0.25, abs=0.01)


def test_few_digits_allow_few_numbers():
    assert set(made(width=1, distinct_ratio=0.0001).to_pylist()) == set(range(10))
    thirty = sorted(set(made(width=1, distinct_ratio=0.0003).to_pylist()))
    assert (len(thirty), thirty[:10], thirty[10] >= 10, thirty[-1] < 100) == (
        30,
        [*range(10)],
        True,
        True,
    )
    small = made(dtype="int8", width=2, negative_share=0.5, distinct_ratio=1.0)
    assert set(small.to_pylist()) == set(range(-127, 128))
    assert set(made(dtype="uint8", width=1, distinct_ratio=1.0).to_pylist()) == set(range(256))


def test_granularity_and_regularity_make_even_numbers():
    values = np.unique(made(width=5, granularity=10, regularity=1.0, distinct_ratio=0.01))
    assert (values % 10 == 0).all()
    assert set(np.diff(values).tolist()) == {900}
    uneven = np.unique(made(width=5, regularity=0.5, distinct_ratio=0.01))
    assert frequencies_of(np.diff(uneven)).most_common(1)[0][1] < 500


def frequencies_of(values) -> Counter:
    return Counter(np.asarray(values).tolist())


def test_floats_have_the_stated_digits_after_the_point():
    array = made(dtype="float64", width=4, decimals=2, distinct_ratio=0.05)
    texts = [repr(value) for value in set(array.to_pylist())]
    assert {len(text.partition(".")[2]) for text in texts} == {1, 2}
    assert {len(text.partition(".")[0]) for text in texts} == {2}
    short = made(dtype="float64", width=4, decimals=2, rank_decimals=(0.0,), distinct_ratio=0.0005)
    assert sum(value == int(value) for value in set(short.to_pylist())) >= 35
    whole = np.asarray(made(dtype="float64", width=3, significant_bits=20))
    assert (whole >= 100).all()
    assert (whole < 1000).all()
    assert (whole.view(np.uint64) % 2**33 == 0).all()
    printed = made(dtype="float64", width=1, rank_decimals=(4.0,), distinct_ratio=0.01)
    assert max(len(repr(value)) for value in printed.to_pylist()) == 6


def test_texts_are_as_stated_and_in_order():
    spec = {"dtype": "str", "width": 12, "width_spread": 3, "prefix_length": 3, "quoted_share": 0.5}
    array = made(distinct_ratio=0.1, sortedness=1.0, clustering=1.0, **spec)
    texts = array.to_pylist()
    assert texts == sorted(texts)
    distinct = sorted(set(texts))
    assert len(distinct) == 10_000
    assert np.mean([len(text) for text in distinct]) == pytest.approx(12, abs=0.1)
    assert np.std([len(text) for text in distinct]) == pytest.approx(3, abs=0.3)
    assert all(text.startswith("~~~") and text[3] != "~" for text in distinct)
    assert np.mean(["," in text for text in distinct]) == pytest.approx(0.5, abs=0.02)


def test_texts_have_the_stated_information():
    for bits in (2.0, 3.0, 4.0):
        array = made(20_000, dtype="str", width=24, bits_per_character=bits)
        text = "".join(array.to_pylist()).encode()
        size = len(pa.compress(text, "zstd", asbytes=True))
        assert 8 * size / len(text) == pytest.approx(bits, rel=0.35)


def test_texts_have_the_stated_alphabet():
    alphabet = Alphabet(lower=0.5, upper=0.25, digit=0.25)
    text = "".join(
        made(1_000, dtype="str", width=24, bits_per_character=5, alphabet=alphabet).to_pylist()
    )
    kinds = (str.islower, str.isupper, str.isdigit)
    shares = [np.mean([kind(character) for character in text]) for kind in kinds]
    assert shares == pytest.approx([0.5, 0.25, 0.25], abs=0.1)


def test_texts_that_are_too_short_to_differ_are_longer():
    texts = set(made(dtype="str", width=1, distinct_ratio=0.01).to_pylist())
    assert (len(texts), {len(text) for text in texts}) == (1_000, {3})


def test_tables_are_made_without_a_python_step_per_row(calls):
    spec = TableSpec(tuple(each for each in EVERYTHING.columns if each.dtype not in ("date", "decimal")))
    few, many = (calls(lambda rows=rows: realistic_table(spec, rows)) for rows in (1_000, 100_000))
    assert many < few + 2_000


# --- How properties are measured ---


def slow_sortedness(codes) -> float:
    """Return the study's score by its definition, value by value."""
    scores = []
    for start in range(0, len(codes), 512):
        window = codes[start : start + 512]
        if len(window) < 3:
            continue
        pairs = list(pairwise(window))
        asc, desc, eq = (
            sum(test(a, b) for a, b in pairs) for test in (int.__lt__, int.__gt__, int.__eq__)
        )
        n = len(window)
        scores.append(max(0, (max(asc, desc) + eq - n // 2) / (-(-n // 2) - 1)))
    return sum(scores) / len(scores)


def slow_longest_run(codes) -> float:
    longest = []
    for start in range(0, len(codes), 512):
        run = best = 0
        before = None
        for code in codes[start : start + 512]:
            run = run + 1 if code == before else 1
            before, best = code, max(best, run)
        longest.append(best)
    return sum(longest) / len(longest)


@pytest.mark.parametrize("rows", [3, 511, 512, 514, 2_000])
@pytest.mark.parametrize("distinct", [2, 30, 10**6])
def test_order_is_measured_as_defined(rows, distinct):
    codes = RandomWords("codes", rows, distinct).integers(distinct, rows).astype(np.int64)
    codes[: rows // 2].sort()
    assert windows.sortedness(codes) == pytest.approx(slow_sortedness(codes.tolist()))
    assert windows.longest_run(codes) == pytest.approx(slow_longest_run(codes.tolist()))
    assert windows.mean_run_length(codes) == rows / (1 + (codes[1:] != codes[:-1]).sum())


def test_sortedness_does_not_depend_on_the_direction():
    codes = np.arange(5_000)
    assert windows.sortedness(codes) == windows.sortedness(codes[::-1]) == 1


def test_clustering_is_of_places_and_not_of_order():
    codes = np.arange(51_200)
    assert windows.clustering(codes) == 1
    shuffled = codes.reshape(-1, 512)[:, np.argsort(RandomWords("x").words(512))].ravel()
    assert windows.clustering(shuffled) == pytest.approx(1)
    assert windows.clustering(np.argsort(RandomWords("y").words(51_200))) < 0.01
    # Long runs alone are no clusters.
    assert windows.clustering(np.repeat(np.argsort(RandomWords("z").words(2_000)), 100)) < 0.01


@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 1.7, 2.5])
@pytest.mark.parametrize("distinct", [10, 300, 50_000])
def test_the_exponent_is_found_again(s, distinct):
    weights = np.arange(1, distinct + 1) ** -s
    counts = np.sort(np.rint(weights / weights.sum() * 10**9).astype(np.int64))[::-1]
    assert frequencies.exponent(counts) == pytest.approx(s, abs=0.02)


def test_patterns_are_called_as_in_the_study():
    named = {
        "null": [],
        "single": [5],
        "binary": [9, 1],
        "uniform": [7, 7, 7, 7],
        "hotspot": [91, 10, 10],
        "gentle_zipf": [90, 10, 10],
    }
    for name, counts in named.items():
        assert frequencies.pattern(np.array(counts, np.int64)) == name


# --- What is made of a spec, piece by piece ---


def test_powers_are_powers():
    base = np.array([1.0, 2.0, 10.0, 12345.0])
    for exponent in (0, 1 / 64, 0.5, 1.375, 4):
        assert ranks.powers(base, exponent) == pytest.approx(base**exponent, rel=1e-12)


@pytest.mark.parametrize("pattern", ["uniform", "zipf", "hotspot", "measured"])
@pytest.mark.parametrize(
    ("values", "distinct"), [(1, 1), (3, 3), (1_000, 3), (1_000, 999), (1_000, 1_000)]
)
def test_counts_have_the_right_sum_and_include_all_values(pattern, values, distinct):
    spec = ColumnSpec("c", "int64", pattern=pattern, exponent=2, rank_shares=(0.5, 0.5))
    counts = ranks.counts(spec, values, distinct)
    assert (len(counts), counts.sum(), counts.min() >= 1) == (distinct, values, True)


def test_buckets_double():
    assert [ranks.bucket_sizes(n) for n in (1, 2, 3, 4, 5, 20)] == [
        [1],
        [1, 1],
        [1, 1, 1],
        [1, 1, 2],
        [1, 1, 2, 1],
        [1, 1, 2, 4, 8, 4],
    ]


@pytest.mark.parametrize(("mean", "longest"), [(1.5, 30), (3, 43), (5.4, 174), (16.7, 280)])
def test_mixed_runs_have_the_mean_and_the_longest_run(mean, longest):
    mix = runs.mix_runs(mean, longest, 10**6)
    assert sum(run.per_row for run in mix) == pytest.approx(1 / mean, rel=0.1)
    assert sum(run.per_row * run.length for run in mix) == pytest.approx(1, rel=0.1)
    assert mix[0].length >= longest * 0.9


def test_numbers_without_room_move_to_more_digits_and_back():
    assert numbers._fitted(np.array([30, 0, 0]), np.array([10, 90, 900])) == [10, 20, 0]
    assert numbers._fitted(np.array([0, 0, 40]), np.array([10, 90, 28])) == [0, 12, 28]


# --- Files ---


@pytest.mark.parametrize("ending", [".json", ".toml"])
def test_a_written_spec_is_read(tmp_path, ending):
    path = tmp_path / f"spec{ending}"
    write_spec(EVERYTHING, path)
    assert read_spec(path) == EVERYTHING
    assert "regularity = 0.0" not in path.read_text()
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_file_of_another_kind_is_reported(tmp_path):
    for name, text, message in [
        ("a.yaml", "", r"a.yaml: a specification is a file \*.json or \*.toml"),
        ("a.json", "{", r"a.json: is not JSON: Expecting property name"),
        ("a.toml", "rows = ", r"a.toml: is not TOML: Invalid value"),
        ("b.json", "[1]", r"b.json: is not a table of properties"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(InvalidSpecError, match=message):
            read_spec(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read_spec(tmp_path / "none.json")
    with pytest.raises(InvalidSpecError, match="a specification is a file"):
        write_spec(EVERYTHING, tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()


MISTAKES = [
    ({"dtyp": "int8"}, "column 'c' has no property 'dtyp'; did you mean dtype?"),
    ({"dtype": "int9"}, "column 'c': dtype is one of bool, int8"),
    ({"dtype": 3}, "column 'c': dtype is one of bool, int8"),
    ({"null_share": 1.5}, "column 'c': null_share is a share from 0 to 1, not 1.5"),
    ({"null_share": "much"}, "column 'c': null_share is a share from 0 to 1, not 'much'"),
    ({"null_share": float("nan")}, "column 'c': null_share is a share from 0 to 1, not nan"),
    ({"sortedness": True}, "column 'c': sortedness is a share from 0 to 1, not True"),
    ({"mean_run_length": 0}, "column 'c': mean_run_length is a length of 1 or more, not 0"),
    ({"pattern": "normal"}, "column 'c': pattern is one of constant, binary, uniform, hotspot, zipf"),
    ({"exponent": 5}, "column 'c': exponent is a number from 0 to 4, not 5"),
    ({"pattern": "measured"}, "column 'c': rank_shares and the pattern measured go together"),
    ({"rank_shares": [1.0]}, "column 'c': rank_shares and the pattern measured go together"),
    (
        {"pattern": "measured", "rank_shares": [0.5, 0.2]},
        "column 'c': the sum of rank_shares is 0.7, not 1",
    ),
    (
        {"distinct_ratio": 0.5, "mean_run_length": 4},
        "column 'c': distinct_ratio x mean_run_length is 2, and cannot be more than 1",
    ),
    ({"decimals": 1.5}, "column 'c': decimals is a whole number from 0 to 15, not 1.5"),
    ({"dtype": "decimal"}, "column 'c': decimals need the property decimals"),
    ({"unit": "h"}, "column 'c': unit is one of s, ms, us, ns, not 'h'"),
    ({"dtype": "datetime", "zone": "Europe/Bonn"}, "column 'c': zone is the name of a time zone"),
    ({"zone": "Europe/Paris"}, "column 'c': only datetime has a zone"),
    ({"alphabet": {"lower": 0.5}}, "column 'c': the sum of the alphabet's shares is 0.5, not 1"),
    ({"alphabet": {"greek": 0.5}}, "column 'c': the alphabet has no property 'greek'"),
    ({"dtype": "list"}, "column 'c': items and the dtype list or vector go together"),
    ({"items": {"dtype": "str"}}, "column 'c': items and the dtype list or vector go together"),
    ({"dtype": "record", "fields": []}, "column 'c': fields and the dtype record or map go together"),
    (
        {"dtype": "vector", "items": {"dtype": "int8"}},
        "column 'c': length and the dtype vector go together",
    ),
    (
        {"dtype": "map", "fields": [{"name": "key", "dtype": "str"}]},
        "column 'c': the fields of a map are two, its keys and its values",
    ),
    (
        {"dtype": "list", "items": {"dtype": "str", "width": "wide"}},
        "column 'c': items: width is a width up to 2**31, not 'wide'",
    ),
    (
        {"dtype": "record", "fields": [{"dtype": "str"}]},
        "column 'c': field 0 has no name",
    ),
]


@pytest.mark.parametrize(("change", "message"), MISTAKES, ids=[message for _, message in MISTAKES])
def test_a_mistake_is_reported_in_a_line(change, message):
    with pytest.raises(InvalidSpecError) as caught:
        from_dict({"columns": [{"name": "c", "dtype": "str", **change}]})
    assert len(caught.value.mistakes) == 1
    assert caught.value.mistakes[0].startswith(message)


def test_all_mistakes_are_reported_at_once(tmp_path):
    path = tmp_path / "wrong.json"
    columns = [{"name": "a", "dtype": "str"}, {"name": "a", "dtype": "str", "width": None}, {}, 7]
    path.write_text(json.dumps({"rows": -1, "row": 3, "columns": columns}))
    with pytest.raises(InvalidSpecError) as caught:
        read_spec(path)
    assert caught.value.mistakes == (
        "the table: rows is a whole number that is not negative, not -1",
        "the table has no property 'row'; did you mean rows?",
        "column 'a': width is a width up to 2**31, not None",
        "two columns are named 'a'",
        "column 2 has no dtype",
        "column 2 has no name",
        "column 3 is not a table of properties",
    )
    assert str(caught.value).startswith(f"{path}: the table: rows is")


@pytest.mark.parametrize("columns", [{}, {"columns": []}])
def test_a_table_has_columns(columns):
    with pytest.raises(InvalidSpecError, match="the table has no columns"):
        from_dict(columns)


def test_a_spec_with_mistakes_makes_no_table():
    with pytest.raises(InvalidSpecError, match="the specification: column 'c': width is"):
        realistic_table(TableSpec((ColumnSpec("c", "int8", width=float("inf")),)))
