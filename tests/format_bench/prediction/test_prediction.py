"""Predictions: profiles, the regression against its definition, and the command."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import data_generator
from adapter_core.errors import InvalidDataError, NoCandidateError
from adapter_core.kinds import Kind
from format_bench.conformance.strategies import tables, try_values
from format_bench.prediction import model
from format_bench.prediction.model import ERROR_QUANTILE, FEWEST_TABLES, Neighbourhood
from format_bench.prediction.predicted import MeasuredTable, MeasuredTables, Predictor
from format_bench.prediction.table_profile import PLACE_BYTES, TableProfile, profile_of
from format_bench.results.candidates import Configuration
from format_bench.results.export import export
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from tests.commands import run
from tests.factories.answers import undocumented
from tests.factories.records import record, results
from tools import check_prediction

SIZE = Measure("size")
CSV = Configuration("CSV", family="tables")


def made_up(number, seed=1):
    """Return profiles whose sizes for each cell follow from two properties."""
    draw = random.Random(seed)
    profiles = [
        TableProfile(
            1000,
            10,
            80_000.0,
            frozenset(),
            {"rows": 3.0, "texts": 0.0, "categories": 0.0}
            | {"width": draw.random(), "nulls": draw.random()},
        )
        for _ in range(number)
    ]
    logs = {n: 2.0 + 3 * p.features["width"] - p.features["nulls"] for n, p in enumerate(profiles)}
    return profiles, logs


# Profiles


def test_a_profile_has_the_properties_of_a_table():
    df = pd.DataFrame(
        {
            "sorted": np.arange(1000),
            "constant": np.ones(1000),
            "text": ["abcd"] * 500 + [None] * 500,
        }
    )
    found = profile_of(df)
    assert (found.rows, found.columns, found.extent("seconds")) == (1000, 3, 3000)
    assert found.features["integers"] == found.features["floats"] == found.features["texts"] == 1 / 3
    assert found.features["nulls"] == pytest.approx(0.5 / 3)
    assert Kind.TEXT in found.kinds
    assert found.features["distinct"] == pytest.approx((0 - 3 + math.log10(1 / 500)) / 3)
    shuffled = profile_of(df.sample(frac=1, random_state=1).reset_index(drop=True))
    assert shuffled.features["sortedness"] < found.features["sortedness"]


def test_a_profile_counts_all_rows_and_reads_a_block():
    df = data_generator.table("eq", rows=50).df
    assert profile_of(df, 1_000_000).rows == 1_000_000
    assert profile_of(df, 1_000_000).features["rows"] == 6


@pytest.mark.parametrize("name", data_generator.names()[::6])
def test_any_table_has_a_profile(name):
    found = profile_of(data_generator.table(name, rows=10).df)
    assert all(map(math.isfinite, found.features.values()))
    kinds = ("integers", "floats", "texts", "categories", "booleans", "times", "others")
    assert sum(found.features[each] for each in kinds) == pytest.approx(1)


def test_a_table_without_rows_has_a_profile():
    found = profile_of(pd.DataFrame({"a": np.array([], float), "b": [[]][:0]}))
    assert found.extent("bytes") == found.extent("seconds") == 1
    assert all(map(math.isfinite, found.features.values()))


def test_profiles_of_random_tables_are_finite_and_the_same_after_json(request):
    def check(df):
        found = profile_of(df)
        assert all(map(math.isfinite, found.features.values()))
        assert TableProfile.from_dict(json.loads(json.dumps(found.to_dict()))) == found

    try_values(100, tables(), check, request)


@pytest.mark.parametrize("change", [{"features": {}}, {"kinds": ["none"]}, {"columns": None, "more": 1}])
def test_a_damaged_profile_is_refused(change):
    facts = profile_of(data_generator.table("eq", rows=50).df).to_dict() | change
    with pytest.raises(InvalidDataError, match="is none of this version"):
        TableProfile.from_dict(facts)


def test_the_width_of_text_is_that_of_its_bytes():
    df = pd.DataFrame({"text": ["été", None] * 50, "small": np.ones(100, "int8")})
    found = profile_of(df)
    assert found.value_bytes == pytest.approx(100 * (PLACE_BYTES + 5 / 2 + 1))


# The regression


def test_the_error_is_that_of_leaving_each_table_out():
    profiles, logs = made_up(8)
    noisy = {n: log + random.Random(n).gauss(0, 0.5) for n, log in logs.items()}
    # Without their mean, which the regression takes from all tables.
    centre = np.mean([*noisy.values()])
    noisy = {n: log - centre for n, log in noisy.items()}
    space = Neighbourhood(profiles)
    residuals = []
    for left_out in noisy:
        others = [n for n in noisy if n != left_out]
        known = space._covariances[np.ix_(others, others)]
        inverse = np.linalg.inv(known + model._NOISE * np.eye(len(others)))
        there = space._covariances[left_out, others]
        residuals.append(abs(there @ inverse @ [noisy[n] for n in others] - noisy[left_out]))
    found = space.fit(noisy)
    assert found.error == pytest.approx(np.quantile(residuals, ERROR_QUANTILE))


def test_what_follows_from_the_profile_is_predicted():
    profiles, logs = made_up(40)
    space = Neighbourhood(profiles)
    others, unseen = made_up(20, seed=2)
    fit = space.fit(logs)
    places = map(space.place, others)
    found = [model.log_value(fit.centre, space.covariances(each), fit.weights) for each in places]
    errors = [abs(each - unseen[n]) for n, each in enumerate(found)]
    assert np.quantile(errors, 0.9) < 0.1 < np.std([*logs.values()])
    assert fit.error < 0.2


def test_random_values_have_a_large_error():
    profiles, _ = made_up(40)
    draw = random.Random(4)
    found = Neighbourhood(profiles).fit({n: draw.gauss(0, 1) for n in range(40)})
    assert found.error > 0.8


def test_few_tables_have_no_prediction():
    profiles, logs = made_up(FEWEST_TABLES - 1)
    assert Neighbourhood(profiles).fit(logs) is None


def test_the_nearest_table_is_itself():
    profiles, _ = made_up(10)
    space = Neighbourhood(profiles)
    distances = space.distances(space.places[4])
    assert int(np.argmin(distances)) == 4
    assert distances[4] == 0


# Predicted records


def measured(profiles, logs, **fields):
    return [
        MeasuredTable(
            f"t{n}",
            each,
            {(CSV, SIZE): record("CSV", "size", math.exp(logs[n]) * each.extent("bytes"), **fields)},
        )
        for n, each in enumerate(profiles)
    ]


def test_values_grow_with_the_cells_and_have_their_error():
    profiles, logs = made_up(30)
    tables = measured(profiles, logs)
    large = profiles[3]._replace(rows=1_000_000, value_bytes=80_000_000.0)
    one, other = (
        Predictor(tables).predict(each, "mine").results.records[0] for each in (profiles[3], large)
    )
    assert other.value == pytest.approx(1000 * one.value)
    assert (other.dataset, other.rows, other.columns) == ("mine", 1_000_000, 10)
    assert Predictor(tables).predict(large, "mine").is_far
    assert not Predictor(tables).predict(profiles[3], "mine").is_far
    assert one.interval[0] < one.value < one.interval[1]
    assert Predictor(tables).predict(large, "mine").nearest[0] == ("t3", 0.0)


def test_formats_that_cannot_hold_a_kind_are_unsupported():
    profiles, logs = made_up(6)
    tables = measured(profiles, logs)
    tables = [
        MeasuredTable(t.name, t.profile, {(Configuration("ORC"), SIZE): next(iter(t.cells.values()))})
        for t in tables
    ]
    wanted = profiles[0]._replace(kinds=frozenset({Kind.UNSIGNED}))
    (found,) = Predictor(tables).predict(wanted, "mine").results.records
    assert found.status is CellStatus.UNSUPPORTED
    assert "unsigned integers" in found.sentence


def test_too_few_tables_are_an_error():
    profiles, logs = made_up(FEWEST_TABLES - 1)
    with pytest.raises(NoCandidateError, match="too few"):
        Predictor(measured(profiles, logs))


def test_own_tables_are_left_out_with_a_sentence():
    found = MeasuredTables.of([results([record("CSV", "size", 1.0, dataset="mine", rows=9)])])
    assert found.tables == []
    assert found.left_out == ["mine, 9 rows: an own table, measured without a profile"]


def test_own_tables_are_used_by_the_profile_of_their_run():
    own = profile_of(data_generator.table("eq", rows=9).df)
    found = results([record("CSV", "size", 1.0, dataset="mine", rows=rows) for rows in (9, 3)])
    metadata = [{"data": {"mine": {"rows": 9, "profile": own.to_dict()}}}]
    known = MeasuredTables.of([replace(found, metadata=metadata)])
    assert [(each.name, each.profile) for each in known.tables] == [("mine, 9 rows", own)]
    assert known.left_out == ["mine, 3 rows: a sample of an own table, whose profile is of all rows"]


# Commands


NAMES = ("eq", "str", "core", "log", "kaons", "int")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with sizes and times of six tables, where text makes all larger."""
    place = tmp_path_factory.mktemp("measured")
    known = [name for name in NAMES if name in data_generator.names()]
    written = []
    for name in known:
        profile = profile_of(data_generator.table(name, rows=200).df)
        grown = 1 + 5 * profile.features["texts"]
        for label, size, seconds in (("CSV", 9.0, 9e-7), ("Parquet", 2.0, 1e-7), ("Feather", 5.0, 5e-8)):
            facts = {"dataset": name, "rows": 200, "columns": profile.columns}
            cells = profile.extent("seconds") * grown
            written.append(record(label, "size", size * cells, **facts))
            for metric in ("save time", "read time"):
                written.append(record(label, metric, seconds * cells, **facts))
    export(written, place / "results.jsonl")
    df = data_generator.table("eq", rows=500).df
    df.to_csv(place / "mine.csv", index=False)
    return place


def test_the_command_names_a_format_its_error_and_what_measures_it(folder):
    done = run("predict", folder / "results.jsonl", "--data", folder / "mine.csv")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "predicted from other tables" in text
    assert "the nearest, with distances: eq, 200 rows" in text
    assert "were missed by at most" in text
    assert "to measure it: format-bench recommend --data " in text


def test_the_command_prints_json_of_the_schema(folder):
    done = run("predict", folder / "results.jsonl", "--data", folder / "mine.csv", "--json")
    answer = json.loads(done.stdout)
    assert [each.message for each in undocumented(answer)] == []
    assert answer["noise"] == "predictions"
    assert answer["prediction"]["nearest"][0]["table"] == "eq, 200 rows"
    assert answer["answer"]["code"]["text"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--data", "missing.csv"], "missing.csv"),
        ([], "Missing option '--data'"),
    ],
)
def test_bad_input_is_one_line(folder, arguments, sentence):
    done = run("predict", folder / "results.jsonl", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_check_finds_the_profile_better_where_values_follow_from_it():
    found = check_prediction.checked(measured(*made_up(20)))
    profile, one = (
        np.quantile(found[name].logs[SIZE], 0.9) for name in ("profile", "one table for all")
    )
    assert profile < one / 2


def test_the_check_finds_no_skill_in_random_values():
    profiles, _ = made_up(20)
    draw = random.Random(9)
    found = check_prediction.checked(measured(profiles, {n: draw.gauss(0, 1) for n in range(20)}))
    assert np.median(found["profile"].logs[SIZE]) > 0.4


def test_the_check_prints_errors_and_winners(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["check_prediction", str(folder / "results.jsonl")])
    check_prediction.main()
    lines = capsys.readouterr().out.splitlines()
    races = "order of a race | order of a race with these tables"
    assert lines[2] == f"| metric | profile | one table for all | mean of all tables | {races} |"
    # Each format is as many times the others on each table.
    assert lines[-1].startswith("| winner or a tie named | ")
    assert {cell.split(" of ")[0] for cell in lines[-1].split(" | ")[1:3]} == {lines[0].split()[0]}
