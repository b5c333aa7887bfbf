"""Reports on results with a value for each query."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from openpyxl import load_workbook

from format_bench import report
from format_bench.recommendation.chooser import chooser_of
from format_bench.recommendation.recommend import recommend
from format_bench.report.charts.build import lines_of
from format_bench.report.charts.heat_map import query_map
from format_bench.report.charts.lines import spread
from format_bench.report.losses_and_gaps import gaps
from format_bench.report.model import outline_of, results_by_suite
from format_bench.report.queries import query_tables
from format_bench.report.ranking import headline_of
from format_bench.report.writers.markdown import markdown_page
from format_bench.results.candidates import Configuration
from format_bench.results.groups import query_order
from format_bench.results.metrics import Measure
from tests.factories.records import answered, record, results

FORMATS = ("Zarr.dir[xarray]", "NetCDF4[xarray]", "TileDB")


@pytest.fixture(scope="module")
def whole():
    return results(answered(FORMATS, slowest=0.5))


def tables_of(found):
    (suite,) = results_by_suite(found)
    return {each.title: each for group in suite.groups for each in query_tables(group)}


def asked(values, metric="query time", **fields):
    """Return results with a value for each format and query; None is a failure."""
    facts = {"suite": "foxbench", "track": "paper", "cache": "warm", "dataset": "era5-hourly"} | fields
    return results(
        record(label, metric, value, query=query, **facts)
        for label, by_query in values.items()
        for query, value in by_query.items()
    )


def test_each_track_metric_and_cache_has_a_table_of_the_queries_that_apply(whole):
    tables = tables_of(whole)
    assert "Query time, cold: era5-hourly-soil, track best" in tables
    # Two data sets and two tracks; time warm and cold, writing, bytes and requests.
    assert len(tables) == 2 * 2 * 5
    assert tables["Query time, warm: era5-hourly, track paper"].queries == [
        f"Q{number}" for number in range(1, 29)
    ]
    headings = [heading for heading, _ in tables["Query time, warm: era5-hourly, track paper"].runs]
    assert headings == ["place", "Germany", "USA", "EU", "map"]


def test_the_geometric_mean_of_the_ratios_to_the_best_ranks():
    (table,) = tables_of(
        asked({"A": {"Q1": 1.0, "Q2": 8.0}, "B": {"Q1": 2.0, "Q2": 2.0}, "C": {"Q1": 4.0}})
    ).values()
    means = {each.format: mean for each, mean in table.means.items()}
    assert means["A"].value == pytest.approx((1 * 4) ** 0.5)
    assert means["B"].value == pytest.approx((2 * 1) ** 0.5)
    assert [each.format for each in table.ranked] == ["B", "A", "C"]
    # A mean over fewer queries does not compare.
    assert [each.format for each in table.complete] == ["B", "A"]
    assert table.leaders() == (
        "B",
        ", 1.41 times the best of each query (geometric mean of 2); then A 2.00",
    )


def test_means_over_different_queries_rank_nobody():
    (table,) = tables_of(asked({"A": {"Q1": 1.0}, "B": {"Q2": 3.0}})).values()
    assert table.complete == []


def test_a_best_of_zero_has_no_ratio():
    (table,) = tables_of(
        asked({"A": {"Q1": 0, "Q2": 4}, "B": {"Q1": 2, "Q2": 2}}, "query requests", cache="cold")
    ).values()
    assert list(table.ratios) == ["Q2"]
    cells = {entry.format: [each.text for each in cells] for entry, cells in query_map(table).rows}
    assert cells == {"B": ["1.00", "2", "1.00"], "A": ["2.00", "0", "2.00"]}


@pytest.mark.parametrize("suite", ["foxbench", "query"])
def test_a_query_that_nothing_answered_does_not_count(suite):
    values = {"A": {"Q1": 1.0, "Q2": None}, "B": {"Q1": 2.0, "Q2": None}}
    (table,) = tables_of(asked(values, suite=suite)).values()
    assert table.leaders()[1].startswith(", 1.00 times the best of each query (geometric mean of 1)")


def test_cells_without_a_value_have_their_status_and_its_sentence():
    (table,) = tables_of(asked({"A": {"Q1": 1.0, "Q2": 1.0}, "B": {"Q1": 2.0, "Q2": None}})).values()
    (_, cells) = query_map(table).rows[-1]
    assert [each.text for each in cells] == ["2.00", "2.00", "failed"]
    assert cells[2].tip == "Q2, t2m, place, day: it fell over"


def test_queries_sort_by_their_numbers():
    assert sorted(["Q10", "Q2", "top10", "Q1"], key=query_order) == ["Q1", "Q2", "Q10", "top10"]


def test_lines_show_times_and_name_their_ends(whole):
    outline = outline_of(whole)
    group = outline.suites[0].groups[0]
    charts = {each.title: each for each in lines_of(group)}
    assert {title.partition(":")[0] for title in charts} == {
        "Query time, warm",
        "Query time, cold",
        "Answer write time",
    }
    drawn = charts["Query time, warm: era5-hourly, track paper"]
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn.svg)
    assert {"Germany", "Q10 fortnight", "NetCDF4[xarray]", "TileDB, until Q15"} <= set(texts)
    tips = re.findall(r"<title>(.*?)</title>", drawn.svg)
    assert len([each for each in tips if "times the best" in each]) == len(FORMATS)
    assert "Not all queries have a value of TileDB" in drawn.alt


@pytest.mark.parametrize("wanted", [[0.5] * 5, [0.0, 0.01, 0.02, 0.99, 1.0], [1.0] * 11])
def test_names_are_a_gap_apart_and_inside(wanted):
    places = spread({Configuration(str(at)): each for at, each in enumerate(wanted)}, 0.1)
    found = sorted(places.values())
    assert found[0] >= 0
    assert found[-1] <= 1 + 1e-9
    assert all(b - a >= 0.1 - 1e-9 for a, b in pairwise(found))


def test_no_table_of_measures_has_a_column_for_each_query(whole):
    (suite,) = results_by_suite(whole)
    assert suite.measures == [Measure("size")]
    page = markdown_page(whole)
    assert "| format | size |" in page
    assert "| format | mean | Q1 | Q2 |" in page
    assert re.search(r"not started", page)


def test_gaps_list_queries_that_apply_and_lack_a_value(whole):
    (suite,) = results_by_suite(whole)
    late = [each for each in gaps(suite) if each.groups == ["era5-hourly"]]
    assert {(each.configuration.format, each.status) for each in late} == {("TileDB", "timed out")}
    assert late[0].what.startswith("query time, warm; query time, cold; query CPU time, warm; answer")
    assert late[0].what.endswith(": Q16 to Q28")
    assert "Q29" not in late[0].what


def test_queries_do_not_count_in_recommendations(whole):
    found = recommend(whole, {Measure("size"): 1.0})
    note = "the values of 40 queries do not count: recommend --question takes them in"
    assert note in found.caveats
    assert headline_of(whole).sentences[-1] == f"Note: {note}."
    (suite,) = json.loads(chooser_of(whole).data)["suites"]
    assert suite["questions"][:2] == ["Q1", "Q2"]
    mixed = [each["option"] for each in suite["measures"] if each["mixed"]]
    assert mixed == ["query_time", "cold_query_time"]
    without = replace(whole, records=[each for each in whole.records if not each.query])
    assert not any(each.startswith("Note") for each in headline_of(without).sentences)
    assert [str(each.candidate.configuration) for each in found.ranked] == [
        str(each.candidate.configuration) for each in recommend(without, {Measure("size"): 1.0}).ranked
    ]


def test_the_verdict_names_the_fastest_of_each_track(whole):
    found = [
        each for each in report.findings(whole) if each.startswith("Fastest to answer queries, warm")
    ]
    assert len(found) == 4
    assert "geometric mean of 28" in found[0]


def test_every_output_has_the_values(whole, tmp_path):
    small = replace(whole, records=[each for each in whole.records if each.dataset != "era5-hourly"])
    for output in ("pdf", "xlsx"):
        report.write(small, output, tmp_path / f"report.{output}")
    book = load_workbook(tmp_path / "report.xlsx")
    rows = [[cell.value for cell in row] for row in book["query time, warm, paper"].rows]
    assert rows[0] == ["era5-hourly-soil, seconds", "mean", *(f"Q{n}" for n in range(29, 41))]
    known = [
        each.value
        for each in small.records
        if (each.metric, each.cache, each.track, each.format)
        == ("query time", "warm", "paper", "NetCDF4[xarray]")
        and each.value is not None
    ]
    (row,) = (each for each in rows if each[0] == "NetCDF4[xarray]")
    assert row[2:] == pytest.approx(known)
    assert b"Type /Page" in (tmp_path / "report.pdf").read_bytes()
