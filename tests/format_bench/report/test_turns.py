"""Results of several media: kept apart in every view, and rankings that turn around."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adapter_core import UnknownNameError
from format_bench.comparison import pairs_of
from format_bench.recommendation import recommend
from format_bench.recommendation.chooser import chooser_of
from format_bench.recommendation.scope import of_condition, of_dataset
from format_bench.report import findings
from format_bench.report.model import results_by_suite
from format_bench.report.turns import rows_of_turns, turns
from format_bench.report.writers import html, markdown
from format_bench.results.candidates import candidates_of
from format_bench.results.metrics import Measure
from format_bench.results.records import under
from format_bench.results.status import CellStatus
from tests.factories.records import record, results, results_of

COLD = {
    "tmpfs": {"SQLite": 0.05, "Lance": 0.09, "CSV": 0.5},
    "emulated hdd": {"SQLite": 1.9, "Lance": 0.8, "CSV": 4.0},
}


def cold(medium, label, value, **fields):
    spread = [0.98 * value, value, 1.02 * value]
    known = {"repeats": spread, "interval": [spread[0], spread[2]], "cache": "cold", "medium": medium}
    return record(label, "read time", value, **known | fields)


@pytest.fixture
def of_media():
    return results([cold(medium, *each) for medium, those in COLD.items() for each in those.items()])


def test_each_medium_has_a_group_of_its_own(of_media):
    (suite,) = results_by_suite(of_media)
    assert [group.name for group in suite.groups] == ["eq on tmpfs", "eq on emulated hdd"]
    assert {(group.data, group.conditions["medium"]) for group in suite.groups} == {
        ("eq", "tmpfs"),
        ("eq", "emulated hdd"),
    }


def test_a_pair_turns_around_if_each_is_ahead_somewhere(of_media):
    (suite,) = results_by_suite(of_media)
    (turn,) = turns(suite)
    assert {turn.one.format, turn.other.format} == {"SQLite", "Lance"}
    (row,) = rows_of_turns([suite])
    assert row == [
        "eq",
        "read time, cold",
        "Lance",
        "emulated hdd (800 ms before 1.9 s)",
        "SQLite",
        "tmpfs (50 ms before 90 ms)",
    ]


def test_any_condition_may_turn_a_pair(of_media):
    axes = {"tmpfs": {"memory limit": "1G"}, "emulated hdd": {}}
    found = results(
        [under(each, **axes[each.medium], medium=None, link="20 ms") for each in of_media.records]
    )
    ((data, _, _, behind, _, ahead),) = rows_of_turns(results_by_suite(found))
    assert (data, behind) == ("eq, link 20 ms", "memory limit none (800 ms before 1.9 s)")
    assert ahead == "memory limit 1G (50 ms before 90 ms)"
    two = [under(each, **axes[each.medium], link=each.medium) for each in of_media.records]
    assert rows_of_turns(results_by_suite(results(two))) == []  # nobody knows which one decides


@pytest.mark.parametrize(
    ("interval", "value", "is_turned"),
    [([0.7, 2.0], 0.8, False), (None, 0.8, True), (None, 1.8, False)],
)
def test_noise_turns_nothing_around(interval, value, is_turned, of_media):
    others = [
        each for each in of_media.records if (each.format, each.medium) != ("Lance", "emulated hdd")
    ]
    noisy = cold("emulated hdd", "Lance", value, interval=interval)
    (suite,) = results_by_suite(replace(of_media, records=[*others, noisy]))
    assert bool(turns(suite)) is is_turned


def test_results_without_media_are_as_before():
    found = results_of({"CSV": {"read time": 2}, "ORC": {"read time": 1}}, cache="warm")
    (suite,) = results_by_suite(found)
    assert ([group.name for group in suite.groups], turns(suite)) == (["eq"], [])
    assert "turn around" not in html.page(found) + markdown.markdown_page(found)


def test_reports_name_what_turns_around(of_media):
    sentence = "Turned around by the medium, cold read time: Lance and SQLite: Lance is ahead on"
    assert any(each.startswith(sentence) for each in findings(of_media))
    for text in (html.page(of_media), markdown.markdown_page(of_media)):
        assert "Rankings that turn around between conditions" in text
        assert "50 ms before 90 ms" in text


def test_the_chooser_and_recommendations_keep_media_apart(of_media):
    # The chooser starts with weights of these.
    usual = {"save time": None, "read time": "warm", "size": None}
    more = [
        record(label, metric, value, cache=cache, medium=medium)
        for medium, those in COLD.items()
        for label, value in those.items()
        for metric, cache in usual.items()
    ]
    data = json.loads(chooser_of(replace(of_media, records=[*of_media.records, *more])).data)
    (suite,) = data["suites"]
    assert [name for name, _ in suite["datasets"]] == ["eq on tmpfs", "eq on emulated hdd"]
    # All data sets together, and each of them.
    assert [each["dataset"] for each in suite["scopes"]] == [None, "eq on tmpfs", "eq on emulated hdd"]
    weights = {Measure("read time", "cold"): 1.0}
    best = {
        place: recommend(of_dataset(of_media, place), weights).ranked[0].candidate.name
        for place in ("eq on tmpfs", "eq on emulated hdd")
    }
    assert best == {"eq on tmpfs": "SQLite", "eq on emulated hdd": "Lance"}


def test_a_recommendation_is_for_one_medium_or_for_all(of_media):
    weights = {Measure("read time", "cold"): 1.0}
    best = {
        medium: recommend(of_condition(of_media, "medium", medium), weights).ranked[0].candidate.name
        for medium in COLD
    }
    assert best == {"tmpfs": "SQLite", "emulated hdd": "Lance"}
    (caveat,) = [each for each in recommend(of_media, weights).caveats if "medium" in each]
    assert "once for each medium (tmpfs, emulated hdd); --under medium=VALUE takes one" in caveat
    with pytest.raises(UnknownNameError, match="did you mean tmpfs"):
        of_condition(of_media, "medium", "tmpf")


def test_values_of_any_axis_count_as_data_sets(of_media):
    limits = {"1G": 1.0, "4G": 0.5}
    found = results(
        [
            under(replace(each, value=each.value * factor), **{"memory limit": limit})
            for each in of_media.records
            if each.medium == "tmpfs"
            for limit, factor in limits.items()
        ]
    )
    weights = {Measure("read time", "cold"): 1.0}
    (caveat,) = [each for each in recommend(found, weights).caveats if "memory" in each]
    advice = "--under 'memory limit=VALUE' takes one"
    assert caveat == f"each data set counts once for each memory limit (1G, 4G); {advice}"


def test_a_medium_without_cold_reads_excludes_nobody(of_media):
    records = [
        replace(each, value=None, interval=None, repeats=[], status=CellStatus.UNAVAILABLE, sentence="-")
        if each.medium == "tmpfs"
        else each
        for each in of_media.records
    ]
    found = recommend(replace(of_media, records=records), {Measure("read time", "cold"): 1.0})
    assert [each.candidate.name for each in found.ranked] == ["Lance", "SQLite", "CSV"]


def test_a_candidate_has_the_values_of_all_media(of_media):
    sqlite = next(each for each in candidates_of(of_media.records) if each.name == "SQLite")
    assert {dataset.dataset for dataset, _ in sqlite.cells} == {"eq on tmpfs", "eq on emulated hdd"}


def test_comparisons_pair_equal_media_alone(of_media):
    on_tmpfs = replace(of_media, records=[each for each in of_media.records if each.medium == "tmpfs"])
    found = pairs_of(of_media, on_tmpfs).pairs
    assert {(each.a.medium, each.b.medium) for each in found} == {("tmpfs", "tmpfs")}
    assert len(found) == len(COLD["tmpfs"])
