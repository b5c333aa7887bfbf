"""The page that puts results beside the published tables of FoxBench."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results.export import export
from format_bench.results.published import foxbench as published
from format_bench.results.status import WRONG, CellStatus
from format_bench.studies.declared import study
from tests.commands import run
from tests.factories.records import answered, record, results

STACKS = (
    "NetCDF4[xarray-h5netcdf]",
    "TileDB",
    "TileDB[xarray]",
    "Zarr.dir[xarray]",
    "Zarr[tensorstore]",
    "Zarr[xarray-tensorstore]",
)
FACTS = {"suite": "foxbench", "dataset": "era5-hourly", "rows": 168, "track": "paper"}


def page(found):
    return study.read("foxbench").page(found).markdown()


def timed(label, seconds, query, **fields):
    return record(label, "query time", seconds, **FACTS | {"cache": "warm", "query": query} | fields)


def as_published(**factors):
    """Return the published times as if measured on a week, those of some stacks by a factor."""
    week = {"Q1", "Q2", "Q3", "Q8", "Q9", "Q14", "Q15"}
    return [
        timed(each.format, each.value * factors.get(each.format.partition("[")[0], 1), each.query)
        for each in published.records()
        if each.query in week and each.metric == "query time"
    ]


def row_of(text, *starts):
    (found,) = re.findall(rf"^\| {re.escape(' | '.join(starts))} \| (.*) \|$", text, re.MULTILINE)
    return found.split(" | ")


def test_equal_times_agree_and_the_largest_disagreement_is_named():
    agreed = page(results(as_published()))
    assert row_of(agreed, "query time", "**all stacks**") == ["28", "1.00", "1.00"]
    faster = page(results(as_published(TileDB=1 / 81)))
    # The mean of the four moves by the fourth root of the factor, the stack by the rest.
    first = re.search(
        r"^- \*\*(.*?)\*\*: (\S+) times the mean published, (\S+) times here", faster, re.MULTILINE
    )
    assert first[1].startswith("TileDB[xarray], query time, ")
    assert float(first[2]) / float(first[3]) == pytest.approx(81**0.75, rel=0.02)


def test_an_explanation_appears_with_its_disagreement_alone():
    words = study.read("foxbench").explanations["TileDB[xarray]"]
    text = page(results(as_published(TileDB=1 / 81)))
    assert text.count(f"- TileDB[xarray]: {words}") == 1
    others = [each for each in as_published(TileDB=1 / 81) if each.format != "TileDB[xarray]"]
    assert words not in page(results(others))


def test_the_orders_of_the_published_tables_are_judged():
    def verdicts(factor):
        year = [
            replace(each, value=each.value * (factor if each.format.startswith("TileDB") else 1))
            for each in published.records()
        ]
        found = re.findall(r"^\| (T.*?) \| \*\*(.*?)\*\*", page(results(year)), re.MULTILINE)
        return [word for claim, word in found if "through xarray" in claim]

    assert verdicts(1.0) == ["confirmed", "confirmed"]
    assert verdicts(1e-3) == ["confirmed", "refuted"]


def test_stacks_of_other_codecs_are_compared():
    times = [timed("TileDB[xarray]", 4.0, "Q3", codec="lz4")]
    times += [timed("NetCDF4[xarray-h5netcdf]", 1.0, "Q3", codec="blosc:lz4", level=6)]
    claim = "TileDB through xarray answers slower than NetCDF4 through xarray"
    assert verdict_of(results(times), claim).verdict == "confirmed"


def verdict_of(found, claim):
    (verdict,) = [each for _, one, each in study.read("foxbench").judged(found) if one.claim == claim]
    return verdict


LONGEST = "Queries of the longest durations: months, quarters and years"


def test_queries_of_months_and_years_are_compared_at_one_degree():
    year = [
        timed(
            *(each.format, each.value / 16, each.query),
            dataset=f"{each.dataset}-1deg",
            rows=8760,
            codec="blosc:lz4",
            level=6,
        )
        for each in published.records()
        if each.metric == "query time"
    ]
    found = verdict_of(results(year), LONGEST)
    # 18 queries of a month and more, and four stacks.
    assert (found.verdict, "1.00 of 72 values" in found.evidence) == ("confirmed", True)
    opposite = [replace(each, value=1 / each.value) for each in year]
    assert verdict_of(results(opposite), LONGEST).verdict == "refuted"
    week = [timed(each.format, each.value, "Q3", dataset="era5-hourly-1deg") for each in year]
    assert verdict_of(results(week), LONGEST).verdict == "not measured"


def test_sizes_of_a_year_are_compared_by_their_order():
    labels = ["Zarr.dir[xarray]", "TileDB[xarray]", "NetCDF4[xarray-h5netcdf]"]
    facts = FACTS | {"dataset": "era5-hourly-soil-1deg", "rows": 8760}

    def verdict(*sizes):
        own = [record(*each, **facts) for each in zip(labels, ["size"] * 3, sizes, strict=True)]
        return verdict_of(results(own), "The sizes of a month, a quarter and a year").verdict

    assert verdict(1e9, 2e9, 3e9) == "confirmed"
    assert verdict(1e9, 3e9, 2e9) == "depends on the stack"
    assert verdict(3e9, 2e9, 1e9) == "refuted"


CSV = "CSV takes more space than all others, and was left out beyond a fortnight"


def sized(label, size, **fields):
    return record(label, "size", size, **FACTS | {"rows": 24} | fields)


def test_csv_is_compared_with_the_largest_of_the_same_hours():
    own = [sized("CSV[polars]", 30.0), sized("Parquet[polars]", 20.0), sized("HDF5", 10.0, codec="lz4")]
    found = verdict_of(results(own), CSV)
    assert (found.verdict, "= 1.50" in found.evidence) == ("confirmed", True)
    assert verdict_of(results([replace(own[0], value=15.0), *own[1:]]), CSV).verdict == "refuted"
    week = [replace(own[0], rows=168), *own[1:]]
    assert verdict_of(results(week), CSV).verdict == "not measured"
    # Parquet of a year takes less an hour than of a fortnight, the last that has CSV.
    of_paper = dict(study.read("foxbench")._of_paper())
    assert of_paper[CSV].evidence == "size: CSV 79.3 GB / Parquet 15.3 GB = 5.17"


def test_sizes_of_each_data_set_are_beside_zarr():
    own = [
        sized("CSV[polars]", 4800.0),
        sized("Zarr.dir[xarray]", 240.0, codec="blosc:lz4", level=6),
        sized("Zarr.dir[xarray]", 120.0, codec="blosc:lz4", level=6, track="best"),
    ]
    text = page(results([*own, timed("HDF5", 1.0, "Q2")]))
    (table,) = re.findall(r"## Sizes of era5-hourly, 24 .*?(?=\n## )", text, re.DOTALL)
    assert row_of(table, "CSV[polars]") == ["200 B", "4.8 kB", "20.0"]
    assert row_of(table, "Zarr.dir[xarray]") == ["10 B", "240 B", "1.00"]


def test_times_of_kept_samples_have_their_interval_beside_the_published():
    zarr = replace(timed("Zarr.dir[xarray]", 0.004, "Q10"), interval=[0.0035, 0.005])
    text = page(results([zarr, timed("TileDB[xarray]", 0.05, "Q2"), timed("HDF5", 0.05, "Q2")]))
    (table,) = re.findall(r"## Times of .*?(?=\n## )", text, re.DOTALL)
    assert "HDF5" not in table
    assert re.findall(r"^\| (Q\d+) ", table, re.MULTILINE) == ["Q2", "Q10"]
    assert row_of(table, "Q10") == ["4 ms (3.5 ms to 5 ms)", "9.6 ms", "-", "946 ms"]
    assert row_of(table, "Q2") == ["-", "2.4 ms", "50 ms", "916 ms"]


def test_the_published_tensorstore_is_compared_with_the_one_through_xarray():
    week = [each for each in as_published() if not each.format.startswith("Zarr[")]
    facts = [each for each in as_published() if each.format == "Zarr[xarray-tensorstore]"]
    assert facts
    without = [replace(each, format="Zarr[tensorstore]") for each in facts]
    assert "| query time | Zarr[" not in page(results([*week, *without]))
    assert row_of(page(results([*week, *facts])), "query time", "Zarr[xarray-tensorstore]")[0] == "7"


def test_the_explanation_of_zarr_is_of_the_papers_version():
    words = study.read("foxbench").explanations["Zarr.dir[xarray]"]
    assert "2.18.2" in words
    assert re.search(r"about \d+ times slower for each chunk", words)
    assert "larger chunks" not in words


def test_sizes_of_both_variables_are_summed_and_related_to_zarr():
    sizes = {"Zarr.dir[xarray]": 2.0, "NetCDF4[xarray-h5netcdf]": 3.0, "CSV": 100.0}
    found = [
        record(label, "size", share * size, **FACTS | {"dataset": dataset})
        for label, size in sizes.items()
        for dataset, share in (("era5-hourly", 1e8), ("era5-hourly-soil", 4e8))
    ]
    text = page(results([*found, *as_published()]))
    assert "168 hours here, the week published" in text
    # Published for a week: 1.13, 0.86 and 39.66 GB.
    expected = 1.5 / (1.13 / 0.86) - 1
    assert row_of(text, "NetCDF4[xarray-h5netcdf]", "1.13 GB") == [
        "1.31", "1.5 GB", "1.50", f"{expected:+.0%}",
    ]  # fmt: skip
    assert row_of(text, "CSV", "39.7 GB")[2] == "50.0"
    assert row_of(text, "TileDB[xarray]", "1.06 GB")[1] == "not measured"


def test_the_cost_of_xarray_is_a_factor_for_each_area():
    times = {"Q1": (4.0, 2.0), "Q2": (9.0, 1.0), "Q3": (3.0, 1.0), "Q8": (5.0, 10.0)}
    found = [
        timed(label, seconds[place], query)
        for query, seconds in times.items()
        for place, label in enumerate(("TileDB[xarray]", "TileDB"))
    ]
    assert row_of(page(results(found)), "TileDB[xarray] / TileDB", "era5-hourly", "paper") == [
        "3 (2 to 9)", "0.5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "native"),
    [
        ("TileDB[xarray]", "TileDB"),
        ("Zarr.dir[xarray]", "Zarr.dir"),
        ("NetCDF4[xarray-h5netcdf]", "NetCDF4[h5netcdf]"),
    ],
)
def test_the_native_stack_of_a_label(label, native):
    text = page(results([timed(each, 1.0, "Q1") for each in (label, native, "Zarr[tensorstore]")]))
    assert re.findall(r"^\| (\S+ / \S+) \|", text, re.MULTILINE) == [f"{label} / {native}"]


def test_tracks_are_compared_with_each_other():
    found = [
        timed("TileDB", seconds, query, track=track)
        for track, factor in (("paper", 1.0), ("best", 0.25))
        for query, seconds in (("Q1", factor), ("Q2", 3 * factor))
    ]
    assert row_of(page(results(found)), "TileDB", "era5-hourly") == ["4 (4 to 4)", "-", "-"]


def test_compared_answers_are_counted():
    exact = {"sentence": "24 values, all equal to NumPy's"}
    wrong = {"sentence": f"WrongValuesError: {WRONG}3 of 24 values", "status": CellStatus.FAILED}
    found = [
        timed("TileDB", 1.0, "Q1", **exact),
        timed("TileDB", 1.0, "Q1", cache="cold", **exact),
        timed("TileDB", 1.0, "Q2"),
        timed("HDF5", None, "Q1", **wrong),
        timed("HDF5", 1.0, "Q2", **exact),
    ]
    text = " ".join(page(results(found)).split())
    assert "Of 3 answers 2 were compared" in text
    assert "1 answer came back wrong" in text
    assert (
        "| HDF5 (paper) | era5-hourly | query time, warm: Q1 | failed | WrongValuesError: came back"
        in text
    )


def test_the_command_prints_all_sections(tmp_path):
    export(list(answered(STACKS, hours=168)), tmp_path / "results.jsonl")
    done = run("study", "foxbench", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall("^## (.*)$", done.stdout, re.MULTILINE) == [
        "Findings", "Measured", "Beside the published times", "Storage",
        "Sizes of era5-hourly", "Sizes of era5-hourly-soil",
        "Times of era5-hourly", "Times of era5-hourly-soil", "Ranking", "Cost of xarray",
        "Published chunks beside better ones", "Left out", "Spread", "Method",
    ]  # fmt: skip
    assert "nan" not in done.stdout


def test_results_without_queries_are_refused():
    with pytest.raises(InvalidResultsError, match="has no answers of the suite foxbench"):
        page(results([record("CSV", "size", 5)]))
    only_refused = [replace(timed("HDF5", 1.0, "Q1"), value=None, repeats=[], status=CellStatus.FAILED)]
    with pytest.raises(InvalidResultsError):
        page(results(only_refused))
