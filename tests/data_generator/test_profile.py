"""Profiles and twins: as large as the original, and without any of its values."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
from adapter_core.errors import InvalidDataError
from adapter_core.kinds import Kind
from data_generator import ColumnSpec, TableSpec, read_spec, realistic_table
from data_generator.profiling.measures import measure
from data_generator.profiling.profile import NOTE, as_arrow, profile
from data_generator.profiling.twin import texts, twin
from data_generator.random_words import RandomWords
from data_generator.spec.arrow import plain
from data_generator.spec.io import as_text, write_spec
from data_generator.synthetic.edge_case_tables import edge_case_tables
from data_generator.user.table import load_table
from format_bench.cli.commands import profile as command
from format_bench.conformance.strategies import tables, try_values
from format_bench.results.candidates import Configuration
from tests.commands import run

ROWS = 30_000

CASES = (
    Configuration("CSV"),
    Configuration("Feather"),
    Configuration("ORC"),
    Configuration("Parquet"),
    Configuration("Parquet", "zstd"),
)


def made_up() -> pd.DataFrame:
    """Return columns unlike generated ones: sentences, keys, prices, walks, codes and times."""
    bits = RandomWords("made up")
    words = np.array(
        "the of and to in is was for that on as with by at from it an be this which".split()
    )
    picked = words[(bits.uniform(6 * ROWS) ** 2 * len(words)).astype(int)].reshape(6, ROWS)
    steps = (bits.integers(9, ROWS).astype(int) - 4).cumsum()
    start = pd.Timestamp("2024-03-01")
    return pd.DataFrame(
        {
            "id": np.arange(1_000, 1_000 + ROWS),
            "sentence": [" ".join(row) + ", Zürich" for row in picked.T],
            "key": [f"{word:016x}" for word in bits.words(ROWS).tolist()],
            "price": np.rint(bits.uniform(ROWS) ** -0.5 * 1_000) / 100,
            "walk": steps / 10,
            "flag": np.array(["Y", "N"])[(bits.uniform(ROWS) < 0.1).astype(int)],
            "code": np.array(["AMS", "BER", "CDG", "DUB", "EWR"])[bits.integers(5, ROWS).astype(int)],
            "time": start + pd.to_timedelta(bits.integers(90, ROWS).astype(int).cumsum(), unit="s"),
            "rare": pd.Series(bits.integers(50, ROWS).astype(int)).where(bits.uniform(ROWS) < 0.05),
            "json": [f'{{"n": {n}}}' for n in bits.integers(500, ROWS).tolist()],
        }
    )


TABLES = {
    "flights": lambda: data_generator.table("flights", rows=60_000).df,
    "weather": lambda: data_generator.table("weather").df,
    "eq": lambda: data_generator.table("eq", rows=ROWS).df,
    "str": lambda: data_generator.table("str", rows=ROWS).df,
    "core": lambda: data_generator.table("core", rows=ROWS).df,
    "made up": made_up,
}


@pytest.fixture(scope="module", params=TABLES)
def pair(request):
    """Return a table and its twin."""
    original = TABLES[request.param]()
    return original, twin(profile(original), original)


def test_a_twin_is_as_large_as_its_original_in_every_format(pair):
    original, made = pair
    here, there = (command.sizes(df, CASES) for df in (original, made.df))
    for case, size in here.items():
        assert there[case] == pytest.approx(size, rel=0.15), case
    order, again = command.places(here), command.places(there)
    for one in CASES:
        for other in CASES:
            # Formats that are all but equal may change places.
            if here[one] < 0.95 * here[other]:
                assert order[one] < order[other]
                assert again[one] < again[other], (one, other)


def test_a_twin_has_the_properties_of_its_original(pair):
    original, made = pair
    assert list(made.df.columns) == [f"c{i}" for i in range(original.shape[1])]
    assert made.df.dtypes.tolist() == original.dtypes.tolist()
    assert len(made.df) == len(original)
    for name, of_twin in zip(original.columns, made.df.columns, strict=True):
        one, other = (
            measure(plain(as_arrow(column, df[column])))
            for df, column in ((original, name), (made.df, of_twin))
        )
        assert other.distinct == pytest.approx(one.distinct, rel=0.01, abs=0.5), name
        assert other.null_ratio == pytest.approx(one.null_ratio, abs=0.001)
        assert other.sortedness == pytest.approx(one.sortedness, abs=0.15), name


def test_no_text_of_the_original_is_in_the_twin_or_in_its_spec(pair):
    original, made = pair
    there = texts(original)
    assert made.shared_texts == 0
    assert not there & texts(made.df)
    written = as_text(made.spec, ".toml")
    words = {word for text in there for word in text.decode().split() if len(word) > 3}
    assert not [word for word in words if word in written and word not in as_text(EMPTY, ".toml")]
    assert not [name for name in original.columns if f'"{name}"' in written]


EMPTY = TableSpec((ColumnSpec("c0", "str", pattern="measured", rank_shares=(1.0,)),), note=NOTE)


def test_a_spec_contains_no_value_of_the_original():
    secret = 7_351_942_861
    df = pd.DataFrame(
        {
            "number": [secret, secret, secret + 1, 5],
            "real": [73519.42861, 1.5, 73519.42861, 2.25],
            "time": pd.to_datetime(["2031-07-19T03:51:42", "2031-07-20T00:00:00", None, None]),
            "day": [dt.date(2031, 7, 19), dt.date(2031, 7, 21), None, dt.date(2031, 7, 19)],
            "amount": [Decimal("73519.43"), Decimal("1.10"), None, Decimal("73519.43")],
            "word": pd.Categorical(["Ouagadougou", "Ouagadougou", "x", None]),
        }
    )
    text = as_text(profile(df), ".json")
    for value in ("73519", "7351942861", "2031", "03:51", "Ouaga", "number", "amount", "word"):
        assert value not in text
    assert "No value, category or text of the table is in this file" in text
    kept = as_text(profile(df, keep_names=True), ".json")
    assert '"name": "amount"' in kept
    made = realistic_table(profile(df))
    assert made["c2"].max() < pd.Timestamp("2010-01-01")
    assert {str(dtype) for dtype in made.dtypes} == {str(dtype) for dtype in df.dtypes}


REFUSED_IN_PROFILES = ("structs without fields", "lists of decimals", "decimals of 50 digits")


@pytest.mark.parametrize("name", edge_case_tables())
def test_any_column_has_a_twin_or_is_refused_in_a_line(name):
    df = edge_case_tables()[name]
    try:
        made = twin(profile(df), df).df
    except InvalidDataError as refusal:
        assert "leave" in str(refusal)
        assert "\n" not in str(refusal)
        kinds = ("complex128", "objects", "periods", "intervals", "sparse")
        assert name.split()[0] in kinds or name in REFUSED_IN_PROFILES
    else:
        assert made.shape == df.shape
        assert made["c0"].isna().sum() == df["c"].isna().sum()


def test_integers_beyond_64_bits_are_refused_in_a_line():
    with pytest.raises(InvalidDataError, match="column 'x': is not of one type"):
        profile(pd.DataFrame({"x": pd.Series([2**70, 1], dtype=object)}))


UNREPRESENTED = {
    Kind.COMPLEX,
    Kind.PERIOD,
    Kind.INTERVAL,
    Kind.SPARSE,
    Kind.CALENDAR_INTERVAL,
    Kind.EMPTY_STRUCT,
}


def test_profiles_of_random_tables_are_read_back_and_generated(tmp_path, request):
    def check(df):
        spec = profile(df)
        write_spec(spec, tmp_path / "spec.toml")
        assert read_spec(tmp_path / "spec.toml") == spec
        made = realistic_table(spec)
        assert len(made) == len(df)
        for original, generated in zip(df.columns, made.columns, strict=True):
            nulls = as_arrow("original", df[original]).null_count
            assert as_arrow("generated", made[generated]).null_count == nulls

    try_values(100, tables(set(Kind) - UNREPRESENTED - {Kind.MIXED, Kind.WIDE_DECIMAL}), check, request)


def test_the_least_and_the_greatest_floats_have_a_specification(tmp_path):
    spec = profile(pd.DataFrame({"least": [5e-324] * 9, "greatest": [1.7976931348623157e308] * 9}))
    write_spec(spec, tmp_path / "spec.json")
    assert read_spec(tmp_path / "spec.json") == spec
    assert realistic_table(spec)["c0"].between(0, 1e-290).all()


def test_random_columns_without_a_specification_are_refused_in_a_line(request):
    def check(df):
        with pytest.raises(InvalidDataError, match="leave it out") as refusal:
            profile(df)
        assert "\n" not in str(refusal.value)

    try_values(50, tables(UNREPRESENTED), check, request)


def test_lists_and_records_have_twins():
    lists = pd.arrays.ArrowExtensionArray(pa.array([[1, 2], [], None, [3, 4, 5]] * 500))
    records = pd.arrays.ArrowExtensionArray(pa.array([{"a": "x", "b": 1.5}, None] * 1_000))
    spec = profile(pd.DataFrame({"l": lists, "r": records}))
    assert (spec.columns[0].dtype, spec.columns[0].null_share) == ("list", 0.25)
    assert spec.columns[0].items.dtype == "int64"
    assert [field.name for field in spec.columns[1].fields] == ["c0", "c1"]
    made = realistic_table(spec)
    assert made["c0"].list.len().mean() == pytest.approx(5 / 3, abs=0.1)


def test_texts_are_found_wherever_they_are():
    arrow = [pa.array([["a"], None]), pa.array([{"t": "b"}, {"t": "c"}]), pa.array([b"d", None])]
    df = pd.DataFrame({i: pd.arrays.ArrowExtensionArray(array) for i, array in enumerate(arrow)})
    df["category"] = pd.Categorical(["e", None], categories=["e", "unused"])
    df["text"] = ["f", ""]
    df["number"] = [1, 2]
    assert texts(df) == {b"a", b"b", b"c", b"d", b"e", b"unused", b"f"}


def test_texts_shared_by_chance_are_counted():
    small = "abcdefghijklmnopqrstuvwxyz"
    letters = pd.DataFrame({"small": list(small), "large": list(small.upper())})
    assert twin(profile(letters), letters).shared_texts == 52


# --- The command ---


def test_the_command_writes_spec_and_twin_and_sets_them_beside_the_original(tmp_path):
    path, out, made = tmp_path / "mine.parquet", tmp_path / "spec.toml", tmp_path / "twin.parquet"
    df = data_generator.table("weather", rows=3_000).df
    df.to_parquet(path)
    done = run("profile", path, "--out", out, "--twin", made)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1), done.stderr
    assert "no value, category or text of the table" in done.stderr
    assert "No text of the original is in the twin." in done.stdout
    assert "Parquet zstd" in done.stdout
    twin_df = pd.read_parquet(made)
    pd.testing.assert_frame_equal(realistic_table(read_spec(out)), twin_df)
    assert twin_df.shape == df.shape
    assert sorted(each.name for each in tmp_path.iterdir()) == [
        "mine.parquet",
        "spec.toml",
        "twin.parquet",
    ]


def test_who_gets_a_specification_makes_the_twin_and_measures_it(tmp_path):
    out, twin_file, again = (tmp_path / name for name in ("mine.toml", "twin.parquet", "again.parquet"))
    options = ("--sample", "500", "--out", str(out), "--twin", str(twin_file))
    assert run("-q", "profile", "core", *options).returncode == 0
    done = run("profile", str(out), "--twin", str(again))
    assert (done.returncode, done.stdout) == (0, "")
    assert "the table is synthetic: it is generated from this specification" in done.stderr
    made = pd.read_parquet(twin_file)
    pd.testing.assert_frame_equal(pd.read_parquet(again), made)
    read = load_table(out)
    assert (read.name, read.df.shape) == ("mine", made.shape)
    assert read.has_other_size


NUMBERS = '[[columns]]\nname = "a"\ndtype = "int64"'
TEXTS = '[[columns]]\nname = "a"\ndtype = "str"\nwidth = 1000'
VECTORS = '[[columns]]\nname = "a"\ndtype = "vector"\nlength = 100\nitems = {name = "b", dtype = "bool"}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [", "is not TOML: "),
        ("rows = 3", "the table has no columns"),
        (NUMBERS.replace("int64", "int3"), "column 'a': dtype is one of bool, int8"),
        (f"rows = 1000000000000\n{NUMBERS}", "declares 8,000.0 GB, and"),
        (f"rows = 1000000000\n{TEXTS}", "declares 1,000.0 GB, and"),
        (f"rows = 1000000000\n{VECTORS}", "declares 800.0 GB, and"),
        (f"rows = 0\n{NUMBERS}", "contains no rows, so there is nothing to measure"),
    ],
)
def test_a_specification_without_a_table_is_refused(text, message, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidDataError, match=re.escape(message)):
        load_table(path)


def test_the_command_prints_the_spec_of_a_named_table(tmp_path):
    done = run("-q", "profile", "eq", "--sample", "500", "--keep-names")
    assert (done.returncode, done.stderr) == (0, "")
    found = tomllib.loads(done.stdout)
    assert found["rows"] == 500
    assert {column["name"] for column in found["columns"]} == set(data_generator.table("eq", rows=1).df)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("no.csv",), "no.csv"),
        (("eq", "--out", "spec.yaml"), "spec.yaml: a specification is a file *.json or *.toml"),
        (
            ("eq", "--twin", "twin.csv"),
            "a twin is written as Parquet, to a file *.parquet, not twin.csv",
        ),
        (("mine.toml",), "mine.toml is a specification already; --twin writes its table"),
    ],
)
def test_the_command_reports_errors_before_it_measures(arguments, message):
    done = run("profile", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
