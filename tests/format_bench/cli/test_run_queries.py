"""`format-bench run --queries`: a user's own questions to a table and to an array of his own."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from format_bench.cli.main import main
from format_bench.recommendation import questions
from format_bench.recommendation.purposes import Wish
from format_bench.results.load import load

QUESTIONS = """
[[question]]
name = "cheap"
columns = ["id", "price", "when"]
where = [{ column = "price", operator = "<", value = -15 }]

[[question]]
name = "by tag"
words = "prices and weights by tag, also of rows without one"
group = "tag"
aggregates = ["count", "sum(price)", "avg(weight)"]

[[question]]
name = "dearest"
columns = ["city", "price"]
order = "price"
descending = true
limit = 5

[[question]]
name = "an hour"
aggregates = ["count"]
where = [{ column = "when", between = [2024-01-01T01:00:00, 2024-01-01T01:59:00] }]

[[question]]
name = "first and last"
words = "the first and the last time of each city"
group = "city"
aggregates = ["min(when)", "max(when)"]

[[question]]
name = "latest"
columns = ["id", "when"]
order = "when"
descending = true
limit = 3

[[question]]
name = "as SQL"
sql = "SELECT city, sum(price * id) AS worth FROM data WHERE ok GROUP BY city"
"""
OF_TIMES = {"an hour": 1, "first and last": 3, "latest": 3}
FORMATS = "Parquet[duckdb],Parquet[pandas],CSV[pyarrow],JSON[duckdb],Parquet[polars]"


@pytest.fixture
def call(tmp_path, monkeypatch, capfd, libraries_unasked):  # noqa: ARG001 (for what it does)
    """Return a function that writes a file of questions, runs it, and returns status and output."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)

    def run(text, *options, data="mine.parquet"):
        (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
        own = ["--queries", "mine.toml", *(["--data", data] if data else [])]
        places = ["--out", "out", "--scratch", "scratch", "--repeats", "1"]
        with pytest.raises(SystemExit) as ended:
            main(["run", *own, *places, *map(str, options)])
        return ended.value.code or 0, capfd.readouterr().err.strip().rpartition("\n")[2]

    return run


@pytest.fixture
def table(tmp_path):
    """Leave a table with signs, nulls, texts, times and numbers of 32 bits."""
    draw = np.random.default_rng(1)
    df = pd.DataFrame(
        {
            "id": np.arange(400),
            "price": draw.normal(0, 10, 400),
            "city": draw.choice(["Brno", "Oslo", "Rome"], 400),
            "ok": draw.integers(0, 2, 400).astype(bool),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(400), "min"),
        }
    )
    df["weight"] = df.price.where(df.id % 7 != 0).astype("float32")
    df["tag"] = df.city.where(df.id % 5 != 0)
    df.to_parquet(tmp_path / "mine.parquet")


def recorded(tmp_path):
    lines = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    found = [each for each in map(json.loads, lines) if each["metric"] == "query time"]
    return {(each["format"], each["query"]): each for each in found}


def test_every_engine_that_can_answers_and_the_others_say_why(call, table, tmp_path):  # noqa: ARG001
    status, _ = call(QUESTIONS, "--formats", FORMATS, "--report")
    assert status == 0
    found = recorded(tmp_path)
    assert {query for _, query in found} == {
        *("cheap", "by tag", "dearest", "an hour", "first and last", "latest", "as SQL")
    }
    reasons = {cell: each["sentence"] for cell, each in found.items() if each["status"] != "value"}
    assert set(reasons) == {
        ("Parquet[pandas]", "as SQL"),
        ("CSV[pyarrow]", "as SQL"),
        *(("JSON[duckdb]", each) for each in OF_TIMES),
    }
    reason = "its comparisons of times have not been written"
    for name, rows in OF_TIMES.items():
        assert reasons["JSON[duckdb]", name].endswith(reason)
        assert found["Parquet[duckdb]", name]["sentence"] == f"{rows} rows, equal to NumPy's"
    assert reasons["CSV[pyarrow]", "as SQL"] == "pyarrow does not answer this from CSV: it takes no SQL"
    assert found["CSV[pyarrow]", "by tag"]["sentence"] == "4 rows, equal to NumPy's"
    sentence = "3 rows, equal to DuckDB's on the tables in memory"
    assert found["JSON[duckdb]", "as SQL"]["sentence"] == sentence
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "by tag" in page
    assert "dearest" in page
    mixed = "the mean of 7 questions asked equally often"
    assert mixed in page
    answer = questions.answered(load(tmp_path / "out"), Wish())
    assert mixed in answer.asked
    assert {each.candidate.configuration.format for each in answer.ranked} == {
        "Parquet[duckdb]",
        "Parquet[polars]",
    }


def test_a_run_goes_on_with_further_questions_and_refuses_changed_ones(call, table, tmp_path):  # noqa: ARG001
    first = QUESTIONS.partition("\n\n")[0]
    assert call(first, "--formats", "Parquet[pyarrow]")[0] == 0
    before = (tmp_path / "out" / "results.jsonl").read_bytes()
    assert call(QUESTIONS + "\n# more", "--formats", "Parquet[pyarrow]")[0] == 0
    after = (tmp_path / "out" / "results.jsonl").read_bytes()
    assert after.startswith(before)
    assert b'"query": "cheap"' not in after[len(before) :]
    assert b'"query": "dearest"' in after[len(before) :]
    status, line = call(first.replace("-15", "-16"), "--formats", "Parquet[pyarrow]")
    assert status == 2
    assert "out contains results of another question 'cheap' to mine; start over with --fresh" in line


def test_workers_of_a_cluster_are_asked_the_same(call, table, tmp_path):  # noqa: ARG001
    status, line = call(QUESTIONS, "--formats", "Parquet[pyarrow]", "--cluster", "local:1")
    assert status == 0, line
    found = recorded(tmp_path)
    assert {query for _, query in found} == {
        *("cheap", "by tag", "dearest", "an hour", "first and last", "latest", "as SQL")
    }
    assert found["Parquet[pyarrow]", "by tag"]["sentence"] == "4 rows, equal to NumPy's"
    log = (tmp_path / "out" / "cluster-log.jsonl").read_text(encoding="utf-8")
    assert {len(json.loads(each)["case"]["questions"]) for each in log.splitlines()} == {32}
    assert questions.answered(load(tmp_path / "out"), Wish()).asked
    status, line = call(QUESTIONS.replace("-15", "-16"), "--cluster", "local:1")
    assert status == 2
    assert "out contains results of another question 'cheap' to mine" in line


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('columns = ["prize"]', "the table has no column prize; did you mean 'price'?"),
        ('columns = ["id"]\nwhere = [{ column = "city", operator = "<", value = 3 }]', "contains text"),
        ('aggregates = ["sum(city)"]', "sum of 'city', which contains text"),
        (
            'aggregates = ["median(id)"]',
            "'median(id)' is not an aggregate; known: count, count(COLUMN), sum",
        ),
        ('columns = ["id"]\nlimit = 3', "a limit needs an order"),
        ('columns = ["id"]\nwhere = [{ column = "id", value = 3 }]', "write an operator with value"),
        ('sql = "SELECT prize FROM data"', 'Referenced column "prize" not found'),
        ("first = { time = 3 }", "it asks an array, and the data are a table"),
        (
            'aggregates = ["count"]\njoin = { table = "b", column = "id", key = "k", columns = [] }',
            "no table",
        ),
    ],
)
def test_a_question_that_does_not_fit_is_one_line(call, table, entry, reason, tmp_path):  # noqa: ARG001
    status, line = call(f'[[question]]\nname = "wrong"\n{entry}\n')
    assert status == 2
    assert line.startswith("format-bench: mine.toml: question 'wrong': ")
    assert reason in line
    assert not (tmp_path / "out").exists()


def test_other_data_than_the_questions_are_refused(call, table):  # noqa: ARG001
    asked = '[[question]]\nname = "all"\nshape = true\n'
    assert "questions to tables are of query" in call(asked, "--suite", "tabular")[1]
    taken = '[[question]]\nname = "point"\nshape = true\n'
    assert "the suite query asks another one of this name; rename it" in call(taken)[1]
    mixed = asked + '[[question]]\nname = "b"\nfirst = { time = 3 }\n'
    assert "question 'b': it asks arrays, and 'all' tables; write two files" in call(mixed, data=None)[1]


def test_generated_data_are_asked_too(call, tmp_path):
    text = (
        '[[question]]\nname = "sum"\naggregates = ["sum($value)"]\n'
        'where = [{ column = "lo", contains = "1" }]\n'
    )
    options = ("--formats", "ORC[pyarrow]", "--rows", 300, "--datasets", "query")
    assert call(text, *options, data=None)[0] == 0
    assert recorded(tmp_path)["ORC[pyarrow]", "sum"]["status"] == "value"
    wrong = text.replace('"lo"', '"low"')
    status, line = call(wrong, *options, data=None)
    assert (status, "the table has no column low; did you mean 'lo'?" in line) == (2, True)


def test_an_array_is_asked_in_its_own_chunks(call, tmp_path):
    import xarray

    values = np.arange(12 * 20 * 30, dtype="float32").reshape(12, 20, 30)
    coordinates = {"time": np.arange(12), "lat": np.linspace(60.0, 40, 20), "lon": np.arange(30)}
    made = xarray.DataArray(values, coordinates, ("time", "lat", "lon"), "wind")
    made["time"].attrs["units"] = "days since 2024-01-01"
    made.to_netcdf(tmp_path / "wind.nc")
    text = (
        "[areas]\nbox = { lat = [45, 55], lon = [3, 9] }\n"
        '[[question]]\nname = "box"\narea = "box"\nfirst = { time = 4 }\n'
        '[[question]]\nname = "spot"\narea = { lat = [40, 40], lon = [7, 7] }\n'
        '[[question]]\nname = "days"\narea = { time = [2024-01-03, 2024-01-05] }\n'
    )
    assert call(text, "--formats", "HDF5,Zarr.dir,NPY.memmap", data="wind.nc")[0] == 0
    found = recorded(tmp_path)
    assert found["HDF5", "box"]["sentence"] == "280 values, all equal to NumPy's"
    assert found["Zarr.dir", "spot"]["sentence"] == "12 values, all equal to NumPy's"
    assert found["HDF5", "days"]["sentence"] == "1,800 values, all equal to NumPy's"
    assert found["HDF5", "box"]["conditions"]["track"] == "own"
    assert "keeps no coordinates" in found["NPY.memmap", "box"]["sentence"]
    for wrong, reason in (
        (text.replace("lon = [7, 7]", "long = [7, 7]"), "no dimension 'long'; did you mean 'lon'?"),
        (text.replace("[40, 40]", "[70, 80]"), "no value of the array is within its bounds"),
        (text.replace("time = 4", "time = 40"), "asks 40 hours, and the array has 12"),
        (text.replace("[40, 40]", "[2024-01-01, 2024-01-02]"), "bounds of lat are dates, and"),
        ('[[question]]\nname = "x"\ncolumns = "*"', "it asks a table, and the data are an array"),
    ):
        status, line = call(wrong, data="wind.nc")
        assert (status, reason in line) == (2, True), line


def test_a_tree_of_root_is_asked(call, tmp_path):
    uproot = pytest.importorskip("uproot")
    import awkward as ak

    counts = np.arange(300) % 4
    jets = ak.unflatten(np.arange(counts.sum(), dtype="float32"), counts)
    with uproot.recreate(tmp_path / "events.root") as file:
        tree = file.mktree("events", {"px": "float64", "charge": "int32", "jets": "var * float32"})
        tree.extend({"px": np.linspace(-3, 3, 300), "charge": np.arange(300) % 3, "jets": jets})
    text = (
        '[[question]]\nname = "fast"\ncolumns = ["px", "jets"]\n'
        'where = [{ column = "px", operator = ">", value = 2 }]\n'
        '[[question]]\nname = "by charge"\ngroup = "charge"\naggregates = ["count", "sum(px)"]\n'
    )
    formats = ("--formats", "Parquet[pyarrow],Parquet[duckdb]")
    assert call(text, *formats, data="events.root::?branches=px,charge,jets")[0] == 0
    found = recorded(tmp_path)
    assert len(found) == 4
    assert found["Parquet[duckdb]", "fast"]["sentence"] == "50 rows, equal to NumPy's"
    assert found["Parquet[pyarrow]", "by charge"]["sentence"] == "3 rows, equal to NumPy's"
    dates = (
        '[[question]]\nname = "x"\ncolumns = "*"\n'
        'where = [{ column = "px", operator = ">", value = 2024-01-01 }]'
    )
    assert (
        "column 'px' contains numbers, which do not compare with" in call(dates, data="events.root")[1]
    )
