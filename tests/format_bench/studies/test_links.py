"""The study of links: trials, its table, its page and its refusals."""

from __future__ import annotations

import re

import pytest

from format_bench.network.link_results import FORM, LinkResult, link_results
from format_bench.network.places import Link
from format_bench.results import records
from format_bench.results.study_rows import StudyFile, read
from tests.commands import run


def _study(*arguments):
    return run("study", "links", *arguments)


def test_trials_read_both_questions_at_each_setting(tmp_path):
    settings = {"mbits": (100.0, 1000.0), "round_trips_ms": (0.0, 5.0)}
    with Link(tmp_path, delays_only=True) as link:
        found = list(link_results(link, "CSV", "http", 100, **settings))
        assert list(link.bucket.iterdir()) == []
    assert [(each.question, each.mbit, each.round_trip_ms) for each in found] == [
        (question, mbit, ms)
        for question in ("whole", "sparse")
        for mbit in (100.0, 1000.0)
        for ms in (0.0, 5.0)
    ]
    for each in found:
        assert (each.error, each.requests, each.rows) == ("", 1, 100)
        assert each.sent_bytes == each.file_bytes
        assert each.seconds >= 2 * each.round_trip_ms / 1000


def test_the_page_has_a_row_for_each_protocol_and_a_sentence_for_each_failure(tmp_path):
    usual = [
        LinkResult(
            "Zarr", "http", question, ms, mbit, 0.1 + 3 * ms / 1000 + 8 / mbit, 0.1, 5, 1,
            1_000_000, 2_000_000, 2, "network", 1000, "",
        )
        for question in ("whole", "sparse")
        for mbit in (100.0, 1000.0)
        for ms in (0.0, 20.0, 50.0, 100.0)
    ]  # fmt: skip
    failed = LinkResult(
        "ORC", "s3", "whole", 0.0, 100.0, 0, 0, 0, 0, 0, 1, 1, "network", 1000, "it hung"
    )
    file = StudyFile(FORM, tmp_path / "rows.csv")
    for each in (*usual, failed):
        file.append(each)
    text = _study("--page", tmp_path / "rows.csv").stdout
    assert "| Zarr | HTTP | 5 | 1 | 1.00 | 50.0% | 0.18 | 0.24 | 0.48 |" in text
    assert "| ORC | S3 | - |" in text
    assert "- ORC by S3, whole: it hung" in text
    assert "two network namespaces" in text
    assert re.search(r"Of 2 models, [012] predict within 15% on the mean, and [012] at each", text)
    for out in (tmp_path / "links.csv", tmp_path / "records"):
        file = StudyFile(FORM, out)
        for each in (*usual, failed):
            file.append(each)
        assert read(FORM, out) == [*usual, failed]
        assert _study("--page", out).stdout == text
    found = records.read(tmp_path / "records" / "results.jsonl")
    assert {each.conditions["link"] for each in found} >= {"0 ms, 100 Mbit/s", "20 ms, 1 Gbit/s"}
    assert {each.conditions["place"] for each in found} == {"http", "s3"}


def test_tables_of_other_sizes_and_links_are_apart(tmp_path):
    def reads(seconds, rows, link="network"):
        of_file = {"sent_bytes": 10**6, "file_bytes": 2 * 10**6, "rows": rows, "link": link}
        return [
            LinkResult("Zarr", "http", question, ms, 100.0, seconds, **of_file)
            for question in ("whole", "sparse")
            for ms in (0.0, 20.0, 50.0, 100.0)
        ]

    failed = LinkResult("ORC", "s3", "whole", 0.0, 100.0, rows=2000, error="it hung")
    file = StudyFile(FORM, tmp_path)
    for each in (*reads(0.1, 1000), *reads(0.2, 2000), failed, *reads(0.4, 2000, "delays")):
        file.append(each)
    text = _study("--page", tmp_path).stdout
    assert "The table has 1,000 and 2,000 rows." in text
    for seconds, title in (
        ("0.10", "1,000 rows, network"),
        ("0.20", "2,000 rows, network"),
        ("0.40", "2,000 rows, delays"),
    ):
        part = text[text.index(f"## Whole, 100 Mbit/s, {title}") :]
        assert f"| {seconds} | {seconds} | {seconds} |" in part[: part.index("##", 3)]
    assert "- ORC by S3, whole, 2,000 rows, network: it hung" in text
    facts = _study("--facts", tmp_path).stdout.splitlines()[1:]
    assert len([each for each in facts if each.startswith("Zarr,http,whole,")]) == 3


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "give --out FOLDER"),
        (("--out", "x.csv", "--formats", "Parket"), "did you mean"),
        (("--out", "x.csv", "--formats", "SQLite"), "SQLite: local files only"),
    ],
)
def test_bad_requests_are_one_line(tmp_path, arguments, reason):
    out = tmp_path / "x.csv"
    done = _study(*(out if each == "x.csv" else each for each in arguments))
    assert done.returncode == 2
    assert reason in done.stderr
    assert list(tmp_path.iterdir()) == []
