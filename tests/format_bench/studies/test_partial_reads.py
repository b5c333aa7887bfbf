"""The page that puts partial reads beside the findings of Blomer's review."""

from __future__ import annotations

import re

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results.export import export
from format_bench.studies.declared import study
from tests.commands import run
from tests.factories.records import record, results

FACTS = {"suite": "analysis", "dataset": "kaons", "rows": 1000, "columns": 26}
ROWS_FORMATS = {"CSV": 9.0, "Avro": 8.0}
COLUMN_FORMATS = {"Parquet": 1.0, "ROOT.TTree": 2.0, "Feather": 0.5}


def answers(label, factor, *, share=1.0, size=1e6, **fields):
    """Yield size, save time, times of all queries, and the bytes of the cold ones."""
    facts = FACTS | fields
    yield record(label, "size", size, **facts)
    yield record(label, "save time", factor, **facts)
    for query, seconds in (("full", 3.0), ("cut", 2.0), ("sparse", 1.0)):
        for cache in ("warm", "cold"):
            cell = facts | {"query": query, "cache": cache}
            yield record(label, "query time", seconds * factor, **cell)
        part = share if query == "sparse" else 1.0
        yield record(label, "query bytes", part * size, **facts | {"query": query, "cache": "cold"})


def usual():
    found = [each for label, factor in ROWS_FORMATS.items() for each in answers(label, factor)]
    return found + [
        each for label, factor in COLUMN_FORMATS.items() for each in answers(label, factor, share=0.06)
    ]


def page(found):
    return study.read("partial-reads").page(found).markdown()


def findings(records):
    rows = re.findall(r"^\| (.*?) \| \*\*(.*?)\*\* \| (.*) \|$", page(results(records)), re.MULTILINE)
    return {claim: (decided, evidence) for claim, decided, evidence in rows}


def verdict(records, start):
    (found,) = [each for claim, each in findings(records).items() if claim.startswith(start)]
    return found


def test_columnar_formats_ahead_in_all_pairs_confirm_the_finding():
    decided, evidence = verdict(usual(), "Columnar")
    assert decided == "confirmed"
    assert "3 configurations beside Avro and CSV" in evidence
    assert "100% within the bounds" in evidence


def test_a_slow_columnar_format_is_an_exception():
    decided, evidence = verdict([*usual(), *answers("Zarr", 20.0, share=0.05)], "Columnar")
    assert decided == "depends on the format"
    assert "to 2.50 (Zarr, no codec); 75% within the bounds" in evidence


def test_parquets_share_of_the_file_decides():
    assert verdict(usual(), "Parquet reads")[0] == "no more"
    whole = [*answers("Parquet", 1.0, share=1.02)]
    decided, evidence = verdict(whole, "Parquet")
    assert decided == "confirmed"
    assert "102.0%" in evidence


def test_root_is_compared_with_the_fastest_other():
    decided, evidence = verdict(usual(), "ROOT is")
    assert decided == "refuted"
    assert "warm query time of cut: ROOT.TTree, no codec 4 s / Feather, no codec 1 s = 4.00" in evidence
    assert verdict([*usual(), *answers("ROOT.RNTuple", 0.1)], "ROOT is")[0] == "confirmed"


@pytest.mark.parametrize(("lz4", "expected"), [(1.1, "confirmed"), (3.0, "refuted: zlib is")])
def test_the_codec_with_the_smallest_product_is_the_best_trade(lz4, expected):
    coded = [
        *answers("Parquet", lz4, size=0.8e6, codec="lz4", level=1),
        *answers("Parquet", 1.5, size=0.7e6, codec="gzip", level=6),
    ]
    decided, evidence = verdict([*usual(), *coded], "LZ4 is")
    assert decided == expected
    assert f"(size 0.80, warm query time cut {lz4:.2f}, save time {lz4:.2f})" in evidence


def test_the_largest_results_with_values_decide():
    large = [*answers("Parquet", 9.0, rows=5000), *answers("CSV", 1.0, rows=5000)]
    decided, evidence = verdict([*usual(), *large], "Columnar")
    assert (decided, "100% within the bounds" in evidence) == ("confirmed", True)
    # Of the larger results no format fetches less than half of the file.
    assert "kaons, 1,000 rows" in evidence
    assert verdict([*usual(), *large], "Parquet")[0] == "confirmed"


def test_findings_without_values_are_not_measured():
    found = {decided for decided, _ in findings([*answers("CSV", 1.0)]).values()}
    assert found == {"not measured", "not testable here"}


def test_threads_are_compared_where_both_were_measured():
    assert "Not measured, or without a difference." in page(results(usual()))
    text = page(results([*usual(), *answers("Parquet", 1.8, share=0.06, threads="1")]))
    assert re.search(
        r"^\| Parquet, no codec \| kaons \| 1,000 \| 1\.80 \| 1\.80 \| 1\.80 \|$", text, re.MULTILINE
    )


def test_the_command_prints_all_sections(tmp_path):
    export(usual(), tmp_path / "results.jsonl")
    done = run("study", "partial-reads", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall("^## (.*)$", done.stdout, re.MULTILINE) == [
        "Findings", "Measured", "kaons, 1,000 rows, all threads",
        "One thread beside all threads", "Left out", "Method",
    ]  # fmt: skip
    assert "| Feather, no codec | 500 ms | 1000.0 |" in done.stdout


def test_names_of_earlier_versions_call_the_study(tmp_path):
    export(usual(), tmp_path / "results.jsonl")
    pages = {run("study", each, tmp_path).stdout for each in ("analysis", "partial-reads")}
    assert pages == {run("compare", "analysis", tmp_path, "--page").stdout}


def test_results_of_other_suites_are_refused():
    with pytest.raises(InvalidResultsError, match="has no answers of the suite analysis"):
        page(results([record("CSV", "size", 5)]))
