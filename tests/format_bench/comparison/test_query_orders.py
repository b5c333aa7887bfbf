"""Comparisons of results with a value for each query."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from adapter_core.errors import NoCommonCellsError
from format_bench.cli.commands.compare import to_json
from format_bench.comparison import compare
from format_bench.results.export import export
from format_bench.results.load import load
from format_bench.results.records import under
from tests.commands import run
from tests.factories.records import record, results

PUBLISHED = (
    "NetCDF4[xarray-h5netcdf]",
    "TileDB[xarray]",
    "Zarr.dir[xarray]",
    "Zarr[xarray-tensorstore]",
)


def asked(values, **fields):
    """Return results with query times by format, of Q1 and so on."""
    facts = {"suite": "foxbench", "dataset": "era5-hourly", "track": "paper", "cache": "warm"} | fields
    return results(
        (
            record(label, "query time", value, query=f"Q{number}", **facts)
            for label, times in values.items()
            for number, value in enumerate(times, start=1)
        ),
        metadata=[],
    )


def test_the_order_of_queries_is_compared_by_format_and_over_all_cells():
    a = asked({"A": [1, 2, 3, 4], "B": [10, 20, 30, 40]})
    b = asked({"A": [2, 4, 6, 8], "B": [4.5, 3.5, 2.5, 1.5]})
    found = {str(each.configuration): each for each in compare(a, b).query_agreements}
    assert found["A (paper)"].spearman == pytest.approx(1)
    assert found["B (paper)"].spearman == pytest.approx(-1)
    assert found["B (paper)"].kendall_tau_b == pytest.approx(-1)
    # Ranks 1 to 8 beside 2 5 7 8 6 4 3 1: 1 - 6 * 112 / (8 * 63).
    assert (found["None"].cells, found["None"].spearman) == (8, pytest.approx(1 - 6 * 112 / 504))


def test_places_in_a_query_are_relative_to_the_mean_of_the_common_formats():
    a = asked({"A": [1.0], "B": [4.0], "only here": [9.0]})
    b = asked({"A": [9.0], "B": [1.0]})
    first, second = compare(a, b).query_disagreements
    assert {first.pair.configuration.format, second.pair.configuration.format} == {"A", "B"}
    places = {each.pair.configuration.format: each for each in (first, second)}
    assert (places["A"].relative_a, places["A"].relative_b) == (pytest.approx(0.5), pytest.approx(3))
    assert (places["B"].relative_a, places["B"].relative_b) == (pytest.approx(2), pytest.approx(1 / 3))


def test_a_track_decides_the_codec_so_its_names_may_differ():
    a, b = asked({"A": [1, 2]}, codec="lz4", level=6), asked({"A": [2, 4]}, codec="blosc:lz4", level=6)
    assert [each.value for each in compare(a, b).ratios] == [2, 2]
    plain = [
        replace(results, records=[under(each, track=None) for each in results.records])
        for results in (a, b)
    ]
    with pytest.raises(NoCommonCellsError, match="nothing was measured in both"):
        compare(*plain)


def test_a_caveat_covers_all_queries_of_a_measure():
    found = compare(asked({"A": [1, 2]}, rows=5), asked({"A": [1, 2]}, rows=7)).caveats
    assert sum("is left out" in each for each in found) == 1
    assert any("query time of era5-hourly, 2 queries, is left out" in each for each in found)


def test_published_times_agree_with_themselves_at_another_size():
    published = load("foxbench")
    # The short queries alone, as results of a week have them.
    short = {"Q1", "Q2", "Q3", "Q8", "Q9", "Q14", "Q15", "Q20", "Q21", "Q26", "Q27"}
    own = [
        under(replace(each, rows=168), cache="warm") for each in published.records if each.query in short
    ]
    own = [each for each in own if each.metric == "query time"]
    found = compare(published, results(own, metadata=[]))
    assert {each.cells for each in found.query_agreements} == {11, 44}
    assert all(each.spearman == pytest.approx(1) for each in found.query_agreements)
    assert all(each.relative_a == pytest.approx(each.relative_b) for each in found.query_disagreements)
    assert {each.pair.configuration.format for each in found.query_disagreements} == set(PUBLISHED)
    json.dumps(to_json(found), allow_nan=False)


def test_the_command_prints_queries_as_rows(tmp_path):
    own = [
        replace(each, rows=168) for each in load("foxbench").records if each.query in {"Q1", "Q2", "Q3"}
    ]
    export(own, tmp_path / "results.jsonl")
    done = run("compare", "foxbench", tmp_path)
    assert done.returncode == 0
    assert "query time of era5-hourly, relative" in done.stdout
    assert done.stdout.index("Q1 ") < done.stdout.index("Q2 ") < done.stdout.index("Q3 ")
    assert "agreement of ranks over queries" in done.stdout
    assert "over the formats of each query, Spearman is 1.00" in " ".join(done.stdout.split())
