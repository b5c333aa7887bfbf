"""The page that puts record stores beside the tables and findings of QAware."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adapter_core.errors import InvalidResultsError
from format_bench.results.export import export
from format_bench.results.load import load
from format_bench.studies.declared import study
from tests.commands import run
from tests.factories.records import record, results

FACTS = {"suite": "records", "dataset": "entities", "rows": 1000, "columns": 10}


def page(found):
    return study.read("qaware").page(found).markdown()


def own(**changes):
    """Return the published records with other values, by metric and label."""
    return [
        replace(each, value=value, repeats=[], interval=each.interval if value == each.value else None)
        for each in load("qaware").records
        for value in [changes.get(f"{each.metric}, {each.format}", each.value)]
    ]


def section(text, heading):
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def test_the_published_tables_agree_with_themselves_and_confirm_their_findings():
    text = page(results(own()))
    tables = section(text, "Beside the published tables")
    for metric in ("Save time", "Read time", "Size", "Held memory"):
        assert f"### {metric}\n\nOrder of" in tables
    assert tables.count("Spearman 1.00") == 4
    assert "| Kryo[jvm-seed] | 4.22 s | 4.22 s | 1.000 |" in tables
    assert "No place differs" in tables
    found = section(text, "Findings")
    # Its own table of heaps contradicts one sentence: MicroStream's objects share their texts as well.
    assert re.findall(r"^\| (.*?) \| \*\*refuted\*\*", found, re.MULTILINE) == [
        "The other formats always make new texts"
    ]
    # JSON with gzip is less than half as large.
    assert found.count("| **depends on ") == 1
    # The same numbers here and in the published tables.
    for words in (
        "Parquet.specific[jvm] 611 MB / median of 5 configurations 3.22 GB = 0.19",
        "SQLite[jvm] gzip 524 s",
        "Kryo[jvm-seed] gzip 7.82 s / Kryo[jvm-seed] 10.9 s = 0.72",
    ):
        assert found.count(words) == 2


def test_a_finding_that_the_values_contradict_is_not_confirmed():
    text = page(
        results(
            own(
                **{
                    "held memory, Parquet.specific[jvm]": 6e9,
                    "held memory, Parquet.group[jvm]": 4e9,
                    "save time, SQLite[jvm]": 10.0,
                    "save time, Kryo[jvm-seed]": 1.0,
                    "read time, Avro.generic[jvm]": 1.9,
                    "size, JSON.yasson[jvm-seed]": 5e8,
                    "save time, Protobuf[jvm-seed]": 3.0,
                }
            )
        )
    )
    found = section(text, "Findings")
    assert "| SQLite with gzip takes minutes | **depends on the copy** |" in found
    for claim in ("Parquet leads reading", "Kryo and Avro are the fastest", "JSON makes the largest"):
        assert re.search(rf"^\| {claim}.*? \| \*\*refuted\*\* ", found, re.MULTILINE), claim
    assert "Parquet.specific[jvm] 6.5 s / Avro.generic[jvm] 1.9 s" in found
    assert "- **Parquet.specific[jvm], held memory**: number" in text
    assert re.search(r"SQLite\[jvm\], save time\*\*: number .* writes through Jdbi", text)
    # This format's time has no explanation in the declaration.
    assert re.search(r"JSON\.yasson\[jvm-seed\], size\*\*: number .* The reason is not known\.", text)


def test_sharing_of_texts_comes_with_its_condition():
    found = section(page(results(own())), "Findings")
    (row,) = re.findall(r"^\| Objects from Parquet .*$", found, re.MULTILINE)
    assert "With 10,000 texts" in row
    assert "of 300,000 texts, and of all distinct ones" in row


def test_the_programs_way_and_shared_texts_are_ratios_to_the_others():
    records = []
    for label, factor in (("Kryo[jvm]", 1.0), ("Kryo[jvm-seed]", 3.0)):
        for dataset, heap in (("entities", 100.0), ("entities-shared", 20.0)):
            facts = FACTS | {"dataset": dataset}
            records += [
                record(label, "size", 50.0, **facts),
                record(label, "save time", factor, **facts),
                record(label, "read time", 2 * factor, cache="warm", **facts),
                record(label, "held memory", heap, **facts),
                record(label, "first read time", 7.0, **facts),
            ]
    text = page(results(records))
    ways = section(text, "The format's time, and the program's")
    assert "| Kryo[jvm-seed] | entities | 1,000 | 3.00 | 3.00 | 1.00 | 1.00 |" in ways
    assert "| Kryo[jvm] | 1,000 | 1.00 | 0.20 |" in section(text, "Shared texts and copies")
    assert "| Kryo[jvm] | - | 1 s | 7 s | 2 s |" in section(text, "First calls")
    assert "no value of a published cell" in section(text, "Beside the published tables")


def test_results_of_other_suites_are_refused():
    with pytest.raises(InvalidResultsError, match="no values of the suite records"):
        page(results([record("CSV", "size", 1.0)]))


def test_the_command_prints_the_page(tmp_path):
    export(own(), tmp_path / "results.jsonl")
    assert run("study", "qaware", tmp_path).stdout.startswith("# Objects on the JVM")
