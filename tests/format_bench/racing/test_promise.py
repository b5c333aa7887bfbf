"""Order of the entries of a race by earlier results."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from data_generator.user.summary import describe
from format_bench.families.operations import operations_of
from format_bench.instruments.isolation import Outcome
from format_bench.racing import promise as of_races
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
    promise = promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, tmp_path, 0)
    without = promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, folder, 0)
    difference = promise.of(CSV) - promise.of(Configuration("Fory"))
    assert difference > 0
    assert difference > without.of(CSV) - without.of(Configuration("Fory"))


def test_damaged_results_of_the_user_are_passed_over(tmp_path):
    folder = tmp_path / "own-other"
    folder.mkdir()
    (folder / RESULTS).write_text("{}\n", encoding="utf-8")
    df = pd.DataFrame({"number": [1.0]})
    promise_for(table(df), FAMILIES["tables"], {READ: 1.0}, tmp_path, 0)


@pytest.fixture
def measured(tmp_path):
    """Return a folder with results of four tables, in which CSV is the best at everything."""
    folder = tmp_path / "run"
    folder.mkdir()
    for dataset in ("eq", "int", "str", "bool"):
        for label, factor in (("CSV", 1.0), ("Feather", 4.0), ("XML", 9.0)):
            for metric in ("save time", "read time"):
                found = record(label, metric, 0.1 * factor, rows=200, dataset=dataset)
                records.append(folder / RESULTS, found)
    return tmp_path


@pytest.fixture
def at_once(monkeypatch):
    """Call here what a process of its own would do."""

    def run(step, *arguments, limit_seconds):
        assert 0 < limit_seconds <= of_races.PREDICTION_SECONDS
        return Outcome(step(*arguments))

    monkeypatch.setattr(of_races.isolation, "run", run)


@pytest.mark.usefixtures("at_once")
def test_a_table_is_tried_in_the_order_that_measured_tables_predict(measured, tmp_path):
    df = pd.DataFrame({"number": range(200)})
    operations_of(FAMILIES["tables"]).store(df, tmp_path / "own")
    own = replace(table(df), place=Outcome((tmp_path / "own", 1)))
    family, entries = FAMILIES["tables"], [XML, FEATHER, CSV]
    without = promise_for(own, family, {READ: 1.0}, measured / "run", 30)
    found = promise_for(own, family, {READ: 1.0}, measured, 30)
    assert not without.is_predicted
    assert sorted(entries, key=without.of) == [FEATHER, CSV, XML]
    assert found.is_predicted
    assert sorted(entries, key=found.of) == [CSV, FEATHER, XML]


@pytest.mark.usefixtures("at_once")
def test_too_few_measured_tables_predict_nothing(measured):
    results = measured / "run" / RESULTS
    lines = results.read_text(encoding="utf-8").splitlines(keepends=True)
    results.write_text("".join(each for each in lines if '"bool"' not in each), encoding="utf-8")
    df = pd.DataFrame({"number": [1.0]})
    own = replace(table(df), place=Outcome((measured / "missing", 1)))
    assert not promise_for(own, FAMILIES["tables"], {READ: 1.0}, measured, 30).is_predicted


def test_predicted_factors_count_on_the_scale_of_the_others():
    known = {CSV: {READ: 2.0}, FEATHER: {READ: 1.0}, XML: {READ: 4.0}}
    promise = Promise({READ: 1.0}, [(1.0, known)], {CSV: {READ: 0.0}, FEATHER: {READ: 1.0}})
    # Both are at 1.5 on average of the others, and at 0.5 of the predicted.
    assert [promise.of(each) for each in (CSV, FEATHER, XML)] == [1.0, 2.0, 4.0]


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
