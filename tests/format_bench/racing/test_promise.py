"""Order of the entries of a race by earlier results."""

from __future__ import annotations

import pandas as pd
import pytest

from data_generator.user.summary import describe
from format_bench.instruments.isolation import Outcome
from format_bench.racing.promise import NUMBERS, TEXT, Promise, kinds_of_data, logs_of, promise_for
from format_bench.results import records
from format_bench.results.candidates import Configuration
from format_bench.results.load import RESULTS
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner.user_data import Prepared
from tests.factories.records import record

READ, SIZE = Measure("read time"), Measure("size")
CSV, FEATHER, XML = (Configuration(each) for each in ("CSV", "Feather", "XML"))


def table(df):
    return Prepared("mine", "tables", len(df), Outcome(), "", describe(df), ())


def test_weights_decide_who_comes_first():
    logs = {CSV: {READ: 2.0, SIZE: 0.0}, FEATHER: {READ: 0.0, SIZE: 1.5}}
    by_read = Promise({READ: 3.0, SIZE: 1.0}, [(1.0, logs)])
    by_size = Promise({SIZE: 1.0}, [(1.0, logs)])
    assert sorted([CSV, FEATHER], key=by_read.of) == [FEATHER, CSV]
    assert sorted([CSV, FEATHER], key=by_size.of) == [CSV, FEATHER]


def test_an_unknown_codec_has_the_promise_of_its_format_and_an_unknown_format_that_of_the_middle():
    promise = Promise({READ: 1.0}, [(1.0, {FEATHER: {READ: 0.5}, XML: {READ: 4.0}})])
    other = Configuration("Feather", "zstd", 19)
    assert promise.of(other) == promise.of(FEATHER) == 0.5
    assert promise.of(FEATHER) < promise.of(Configuration("New")) < promise.of(XML)


def test_the_kinds_of_columns_weigh_the_sources():
    df = pd.DataFrame({"a": ["x"], "b": ["y"], "c": [1], "d": [0.5]})
    assert kinds_of_data(table(df)) == {TEXT: 0.5, NUMBERS: 0.5}
    assert kinds_of_data(table(df[["c"]])) == {TEXT: 0.0, NUMBERS: 1.0}


def test_earlier_results_of_the_user_count(tmp_path):
    folder = tmp_path / "own-other"
    folder.mkdir()
    values = {"Fory": 0.001, "CSV": 5.0}
    for label, value in values.items():
        records.append(folder / RESULTS, record(label, "read time", value, rows=100_000))
    df = pd.DataFrame({"number": [1.0]})
    promise = promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, tmp_path)
    without = promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, folder)
    difference = promise.of(CSV) - promise.of(Configuration("Fory"))
    assert difference > 0
    assert difference > without.of(CSV) - without.of(Configuration("Fory"))


def test_damaged_results_of_the_user_are_passed_over(tmp_path):
    folder = tmp_path / "own-other"
    folder.mkdir()
    (folder / RESULTS).write_text("{}\n", encoding="utf-8")
    df = pd.DataFrame({"number": [1.0]})
    promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, tmp_path)


def test_factors_are_relative_to_the_best_of_the_same_data():
    found = [
        record("CSV", "read time", 2.0, rows=1000),
        record("Feather", "read time", 1.0, rows=1000),
        record("Feather", "read time", 9.0, rows=5000),  # alone there
    ]
    logs = logs_of(found)
    assert logs[FEATHER] == {READ: pytest.approx(0.0)}
    assert logs[CSV][READ] == pytest.approx(0.69, abs=0.01)


def test_an_entry_that_did_not_end_is_worse_than_all_others():
    found = [
        record("CSV", "read time", 2.0, rows=1000),
        record("Feather", "read time", 1.0, rows=1000),
        record("XML", "read time", None, rows=1000, status=CellStatus.TIMED_OUT),
    ]
    logs = logs_of(found)
    assert logs[XML][READ] > logs[CSV][READ] > logs[FEATHER][READ]
