"""Claims of papers: their rules, their definitions, and the verdicts of the kept numbers."""

from __future__ import annotations

import functools
import re
from dataclasses import fields, replace

import msgspec
import pytest
from click.testing import CliRunner

import data_formats
from format_bench.cli.main import format_bench
from format_bench.results.export import export
from format_bench.results.load import load
from format_bench.results.suites import SUITES
from format_bench.studies.declared import kept, kept_numbers, study
from format_bench.studies.declared.claims import Claim, Compared
from format_bench.studies.declared.selection import Numbers
from format_bench.studies.declared.verdicts import KINDS, UNDECIDED, Verdict, counts_of
from tests.factories.records import record, results
from tests.helpers import ROOT

PAPERS = ["foxbench", "ipsl", "partial-reads", "qaware", "thesis"]

COUNTS = {
    "foxbench": [4, 5, 5, 0, 1, 0],
    "ipsl": [4, 0, 2, 0, 5, 0],
    "partial-reads": [13, 4, 2, 1, 4, 0],
    "qaware": [14, 2, 11, 0, 3, 0],
    "thesis": [9, 4, 7, 0, 0, 0],
}
"""Numbers of verdicts in the order of `KINDS`, of which the third is of a part or under a condition."""


verdicts_of = functools.cache(kept.verdicts)


def call(*arguments):
    return CliRunner().invoke(format_bench, list(map(str, arguments)))


def numbers(records, suite="tabular"):
    return Numbers.of(results(records), suite)


def sized(**sizes):
    return [record(label, "size", value) for label, value in sizes.items()]


SMALLER = [Compared(select={"format": "B", "metric": "size"}, over={"format": "A"}, below=1)]
SMALLER_THAN_C = [Compared(select={"format": "B", "metric": "size"}, over={"format": "C"}, below=1)]


def test_the_papers_have_a_file_of_claims_each():
    assert sorted(study.papers()) == PAPERS
    for paper in PAPERS:
        claims = [each.claim for each in study.read(paper).claims]
        assert len(claims) == len(set(claims))
        assert len(claims) >= 11


@pytest.mark.parametrize("paper", PAPERS)
def test_each_claim_has_a_rule_or_a_reason_against_one(paper):
    for each in study.read(paper).claims:
        rules = [each.numbers, each.measures, each.tried, each.rule == "order"]
        assert any(rules) != bool(each.untestable), each.claim
        bounded = each.tried or each.measures or any(one.bounds for one in each.numbers)
        assert bounded or each.untestable or each.rule == "order", each.claim
        # A verdict that depends on something says on what.
        is_divided = bool(each.ours) or each.in_part_from < each.confirmed_from
        assert not is_divided or each.on, each.claim
        assert not each.ours or (each.definition and each.our_definition), each.claim
        assert set(each.kept) in ({"verdict", "evidence"}, set()), each.claim


@pytest.mark.parametrize("paper", PAPERS)
def test_each_claim_has_a_verdict_with_evidence(paper):
    found = verdicts_of(paper)
    assert list(found) == [each.claim for each in study.read(paper).claims]
    assert all(each.evidence and each.kind in KINDS for each in found.values())


@pytest.mark.parametrize("paper", PAPERS)
def test_counts_of_a_paper(paper):
    found = [each.kind for each in verdicts_of(paper).values()]
    assert [found.count(kind) for kind in KINDS] == COUNTS[paper]


def test_a_paper_alone_prints_its_claims_with_their_counts():
    done = call("compare", "qaware")
    assert done.exit_code == 0
    assert counts_of(verdicts_of("qaware").values()) in done.stdout
    claims = re.findall(r"^\| (.*?) \| \*\*.*?\*\* \|", done.stdout, re.MULTILINE)
    assert claims == [each.claim for each in study.read("qaware").claims]
    assert call("compare", "analysis").stdout == call("compare", "partial-reads").stdout


def test_what_is_no_paper_needs_results_to_compare_with():
    done = call("compare", "reports/run")
    assert done.exit_code == 2
    assert "name the results to compare with reports/run" in done.output


def test_the_page_of_the_manual_has_all_claims():
    page = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    assert page == call("study", "claims").stdout, "format-bench study claims > docs/claims.md"


def test_counts_are_of_kinds():
    words = ["confirmed", "refuted: zstd is", "no more", "depends on the disk", "confirmed in part"]
    words += ["undecided within the noise", "not measured", "not testable here"]
    assert counts_of(Verdict(each, "") for each in words) == (
        "8 claims: 1 confirmed, 2 refuted, 2 true of a part or under a condition, 1 undecided within "
        "the noise, 1 not testable here, 1 not measured."
    )
    assert [Verdict(each, "").is_measured for each in words] == [True] * 6 + [False] * 2


def test_two_definitions_may_have_different_verdicts():
    both = Claim(claim="", numbers=SMALLER, ours=SMALLER_THAN_C, our_definition="C", on="the other")
    found = both.judge(numbers(sized(A=3.0, B=2.0, C=1.0)))
    assert found.verdict == "depends on the other"
    assert found.evidence.startswith("by the paper's definition: confirmed, size: B")
    assert "; by ours, C: refuted, size: B" in found.evidence
    assert both.judge(numbers(sized(A=3.0, B=2.0, C=4.0))).verdict == "confirmed"
    assert both.judge(numbers(sized(A=1.0, B=2.0, C=1.0))).verdict == "refuted"
    # One definition alone counts where the other has no numbers.
    assert both.judge(numbers(sized(A=3.0, B=2.0))).verdict == "confirmed"
    alone = both.judge(numbers(sized(B=2.0, C=1.0)))
    assert (alone.verdict, alone.evidence[:20]) == ("refuted", "by ours, C: refuted,")


ORDER = Claim(
    claim="", rule="order", select={"metric": "size"}, confirmed_from=0.9, in_part_from=0.5, on="luck"
)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((1, 2, 3, 4), "confirmed"),
        ((2, 1, 3, 4), "depends on luck"),
        ((4, 3, 2, 1), "refuted"),
        ((1, 2), "not measured"),
    ],
)
def test_a_table_is_confirmed_by_the_order_of_its_values(values, verdict):
    published = numbers(sized(A=10.0, B=20.0, C=30.0, D=40.0))
    own = dict(zip("ABCD", map(float, values), strict=False))
    # Another number of rows has the same order.
    mine = [replace(each, rows=7) for each in sized(**own, E=9.0)]
    assert ORDER.judge(numbers(mine), published).verdict == verdict
    assert ORDER.judge(numbers(mine)).verdict == "not measured"


def test_a_published_label_is_the_plain_call_not_other_settings():
    published = numbers(sized(A=10.0, B=20.0, C=30.0))
    plain = sized(A=1.0, B=2.0, C=3.0)
    tuned = [replace(each, value=1 / each.value) for each in plain]
    tuned = [replace(each, conditions={**each.conditions, "settings": "recommended"}) for each in tuned]
    found = ORDER.judge(numbers([*plain, *tuned]), published)
    assert (found.verdict, found.evidence[-9:]) == ("confirmed", " 3 values")
    smaller = Claim(claim="", numbers=SMALLER)
    assert smaller.judge(numbers([*plain, *tuned])).verdict == "refuted"
    assert smaller.judge(numbers(tuned)).verdict == "not measured"


def test_a_published_table_may_be_of_another_data_set():
    images = {"PNG": 3.0, "SQLite": 1.0, "LMDB": 2.0}
    theirs = [record(label, "size", value, dataset="CIFAR-10") for label, value in images.items()]
    mine = [record(label, "size", 7 * value, dataset="cifar-like") for label, value in images.items()]
    other = [record(label, "size", 1 / value, dataset="scenes") for label, value in images.items()]
    claim = msgspec.structs.replace(
        ORDER,
        select={"metric": "size", "dataset": "cifar-like"},
        published_as={"dataset": "CIFAR-10"},
    )
    found = claim.judge(numbers([*mine, *other]), numbers(theirs))
    assert (found.verdict, found.evidence[-9:]) == ("confirmed", " 3 values")


def test_a_folder_of_the_paper_s_name_does_not_replace_its_tables(tmp_path, monkeypatch):
    mine = [
        record(label, "size", size, dataset="eq")
        for label, size in (("ORC", 3.0), ("CSV", 2.0), ("XML", 1.0))
    ]
    (tmp_path / "thesis").mkdir()
    export(mine, tmp_path / "thesis" / "results.jsonl")
    declared = study.read("thesis")

    def verdict():
        judged = declared.judged(results(mine))
        return next(each.verdict for _, claim, each in judged if claim.claim == "The tables of sizes")

    assert verdict() == "refuted"
    monkeypatch.chdir(tmp_path)
    assert verdict() == "refuted"


def test_the_paper_s_own_code_is_judged_by_the_same_rules():
    declared = study.read("thesis")
    found = [record(label, "size", value, dataset="eq") for label, value in (("ORC", 1.0), ("CSV", 2.0))]
    text = declared.page(results(found)).markdown()
    assert "its own code, run here: " in text
    alone = msgspec.structs.replace(declared, own_code="")
    assert "its own code, run here" not in alone.page(results(found)).markdown()


def test_a_claim_that_cannot_be_tested_says_why():
    found = Claim(claim="", untestable="there is no loader").judge(numbers(sized(A=1.0)))
    assert (found.verdict, found.evidence) == ("not testable here", "there is no loader")


def test_claims_of_other_suites_are_judged_by_their_results():
    facts = {"suite": "links", "dataset": "kaons", "query": "whole"}
    link = {"link": "20 ms, 1 Gbit/s", "threads": "all"}
    found = [
        replace(record(label, metric, value, **facts), conditions=link)
        for label, values in {"ORC": (3e7, 9.0), "Feather": (4e7, 1.0)}.items()
        for metric, value in zip(("query bytes", "query time"), values, strict=True)
    ]
    found += [
        replace(record(label, "query requests", 5.0, **facts), conditions=link)
        for label in ("ORC", "Feather")
    ]
    answer = record("Parquet", "query time", 1.0, suite="analysis", dataset="kaons", query="cut")
    judged = study.read("partial-reads").judged(results([*found, answer]))
    (verdict,) = [each for _, claim, each in judged if claim.claim == "At high latency the bytes decide"]
    assert verdict.verdict == "refuted"
    assert "ORC 9 s / Feather, no codec 1 s = 9.00" in verdict.evidence


def test_the_published_tables_confirm_their_own_orders():
    for paper in ("qaware", "thesis", "foxbench"):
        declared = study.read(paper)
        found = [
            verdict.verdict
            for _, claim, verdict in declared.judged(load(declared.published))
            if claim.rule == "order"
        ]
        assert found.count("confirmed") >= 2, paper
        assert set(found) <= {"confirmed", "not measured"}


def test_a_claim_has_the_verdict_of_a_page_or_of_its_numbers(monkeypatch):
    printed = Claim(claim="y", numbers=SMALLER, kept={"verdict": "refuted", "evidence": "of a page"})
    claims = [Claim(claim="x", numbers=SMALLER), printed]
    declared = msgspec.structs.replace(study.read("thesis"), claims=claims)
    monkeypatch.setattr(study, "read", lambda _: declared)
    own = dict.fromkeys((each.name for each in fields(kept.KeptNumber)), "")
    sizes = [
        kept.KeptNumber(
            **own
            | {
                "suite": "tabular",
                "format": label,
                "level": -1,
                "rows": 1,
                "metric": "size",
                "value": value,
            }
        )
        for label, value in (("A", 3.0), ("B", 2.0))
    ]
    monkeypatch.setattr(kept, "numbers_of", lambda _: sizes)
    assert [each.verdict for each in kept.verdicts("thesis").values()] == ["confirmed", "refuted"]
    monkeypatch.setattr(kept, "numbers_of", lambda _: [])
    found = kept.verdicts("thesis")
    assert [found[each].kind for each in "xy"] == ["not measured", "refuted"]
    assert found["y"].evidence == "of a page"


def test_a_kept_verdict_of_blomers_review_is_of_several_runs_that_disagree():
    paper = "partial-reads"
    judged = study.read(paper).judged(kept_numbers.results(paper, kept.numbers_of(paper)))
    measured = {claim.claim: verdict.is_measured for _, claim, verdict in judged if claim.kept}
    assert measured == {"Splitting halves the rate of flat events": True}
    assert verdicts_of(paper)["Splitting halves the rate of flat events"].kind == UNDECIDED


def test_the_suite_of_partial_reads_has_the_numbers_of_bound_branches():
    claim = "Branches bound by SetBranchAddress are ROOT's fastest way to single values"
    labels = ["ROOT.TTree[branches]", "ROOT.TTree[TTreeReader]"]
    assert all(SUITES["analysis"].includes(each, data_formats.find(each).suite) for each in labels)
    facts = {"suite": "analysis", "dataset": "kaons", "cache": "warm"}
    for seconds, verdict in (((1.0, 2.0), "confirmed"), ((2.0, 1.0), "refuted")):
        records = [
            record(label, "query CPU time", value, query=query, **facts)
            for label, value in zip(labels, seconds, strict=True)
            for query in ("full", "cut", "sparse")
        ]
        judged = study.read("partial-reads").judged(results(records))
        (found,) = [each for _, of, each in judged if of.claim == claim]
        assert found.verdict == verdict


def spread_of(records, paper="ipsl"):
    text = study.read(paper).page(results(records)).markdown()
    return text.split("\n## Spread\n")[1].split("\n## ")[0]


def chunk_time(values, label="NPY", **fields):
    facts = {"suite": "chunks", "dataset": "era5-like", "rows": 35}
    return replace(record(label, "save time", values[0], **facts), repeats=list(values), **fields)


def test_times_that_spread_more_than_the_paper_allowed_are_named():
    steady, wide = chunk_time((1.0, 1.01, 1.02)), chunk_time((1.0, 1.2, 1.4), "HDF5")
    few = chunk_time((1.0, 2.0), "Zarr.dir")
    stores = [
        record(label, "size", 1.0, suite="chunks", dataset="era5-like", rows=35)
        for label in ("NPY", "NPY.tar", "HDF5", "Zarr.dir", "Zarr.zip")
    ]
    text = " ".join(spread_of([steady, wide, few, *stores]).split())
    assert "Of 2 times with 3 samples or more" in text
    assert "16.7% at most; of 1 it is above 5%." in text
    assert "1 time with fewer samples have none." in text
    assert "| HDF5 | era5-like | 35 | save time | 1 s | 3 | 16.7% |" in text
    assert "| NPY |" not in text
    assert "so that the spread is not known" in spread_of([few, *stores])


def test_rounds_are_samples_where_there_are_three():
    rounds = chunk_time((1.0, 9.0, 1.0, 9.0, 1.0, 9.0), rounds=3, round_sizes=[2, 2, 2])
    assert "0.0% at most; of 0 it is above 5%" in " ".join(spread_of([rounds]).split())
