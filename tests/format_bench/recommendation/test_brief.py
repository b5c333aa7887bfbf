"""The answer in three lines, and when noise forbids one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from format_bench.cli import summaries
from format_bench.comparison import compare
from format_bench.families.cases import Case
from format_bench.recommendation import Requirement, brief, output, questions, recommend
from format_bench.recommendation.evidence import EVIDENCE, evidence_on
from format_bench.recommendation.purposes import Wish
from format_bench.report import findings, headline_of, write
from format_bench.report.model import results_by_suite
from format_bench.results.disturbance import BUSY, Disturbance, busy_sentence
from format_bench.results.load import Results
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.runner.progress import MeasuredShare, columns_of
from format_bench.runner.session import RunSummary
from tests.factories.records import record

READ, SAVE, SIZE = Measure("read time"), Measure("save time"), Measure("size")
UNITS = {"size": "bytes", "lost columns": "columns"}


def results_of(values, rows=50_000, metadata=(), **facts):
    """Return results of a table by format and metric; a time may be a list of samples."""
    found = []
    for label, metrics in values.items():
        for metric, value in metrics.items():
            several = value if isinstance(value, list) else [value]
            interval = [min(several), max(several)] if isinstance(value, list) else None
            known = {"unit": UNITS.get(metric, "seconds"), "dataset": "mine", "rows": rows}
            middle = sorted(several)[len(several) // 2]
            one = record(label, metric, middle, repeats=several, interval=interval, **(known | facts))
            found.append(one)
    return Results("mine", found, list(metadata))


def facts_of(**facts):
    return {"data": {"mine": {"rows": 50_000, "file": "mine.csv", "bytes": 14_200_000, **facts}}}


OWN = facts_of(baseline={"format": "CSV", "codec": None, "level": None})
TWO = {
    "Feather": {"read time": 0.04, "save time": 0.02, "size": 9e6},
    "Parquet": {"read time": 0.06, "save time": 0.05, "size": 3.1e6},
    "CSV": {"read time": 0.9, "save time": 1.4, "size": 14.2e6},
}


def lines(answer):
    return dict(brief.brief_of(answer).lines)


def test_the_lines_compare_with_the_file_that_the_user_came_with():
    found = lines(recommend(results_of(TWO, metadata=[OWN]), {SIZE: 3, READ: 1}))
    assert found["Use"] == "Parquet, no codec"
    assert found["Because"] == "3.1 MB instead of 14.2 MB, reads in 60 ms instead of 900 ms as CSV"
    # (9.0 - 3.1) MB in 20 ms
    assert found["Or"].startswith("Feather, no codec: first if ")
    assert found["Or"].endswith(
        ". Below 295 MB/s Parquet, no codec, arrives first; above, Feather, no codec"
    )


def test_without_a_file_the_lines_compare_with_the_best():
    found = lines(recommend(results_of(TWO), {SIZE: 3, READ: 1}))
    assert found["Because"] == "3.1 MB (best), reads in 60 ms (1.50 times the best)"


def test_of_a_sample_the_size_of_the_whole_file_is_no_comparison():
    own = facts_of(bytes=None, baseline={"format": "CSV", "codec": None, "level": None})
    found = lines(recommend(results_of(TWO, metadata=[own]), {SIZE: 1}))
    assert found["Because"].startswith("3.1 MB instead of 14.2 MB as CSV, ")


def test_the_same_lines_are_in_json():
    answer = recommend(results_of(TWO, metadata=[OWN]), {SIZE: 3, READ: 1})
    facts = output.to_json(answer)["answer"]
    assert (facts["use"]["format"], facts["use"]["codec"]) == ("Parquet", None)
    assert facts["because"]["own_file"] == {
        "file": "mine.csv", "bytes": 14_200_000, "format": "CSV", "read_seconds": 0.9
    }  # fmt: skip
    assert facts["or"]["name"] == "Feather, no codec"
    assert facts["text"] == lines(answer)


TEN = {
    "CSV": {"read time": 0.002, "size": 60.0, "lost columns": 0.0},
    "Feather": {"read time": 0.001, "size": 2000.0, "lost columns": 0.0},
}


def test_for_ten_rows_any_format_does():
    answer = recommend(results_of(TEN, rows=10), {READ: 1})
    found = lines(answer)
    assert found["Use"] == "CSV: any format does"
    assert "people can read CSV" in found["Because"]
    assert output.paragraph(answer) == f"Use {found['Use']}. Because {found['Because']}."
    assert (answer.ties, answer.change) == ([], None)


@pytest.mark.parametrize(
    ("rows", "changed"), [(10, {"lost columns": 1.0}), (10, {"size": 9000.0}), (1000, {})]
)
def test_csv_is_not_the_answer_if_it_loses_something_or_rows_are_more(rows, changed):
    values = TEN | {"CSV": TEN["CSV"] | changed}
    assert lines(recommend(results_of(values, rows=rows), {READ: 1}))["Use"] == "Feather, no codec"


def noisy(factor):
    """Return three formats whose samples range by a factor and overlap each other."""
    return {
        label: {"read time": [t, t * factor**0.5, t * factor], "size": 1e6}
        for label, t in {"Feather": 1.0, "ORC": 1.01, "Parquet": 1.02}.items()
    }


def test_above_a_noise_of_100_percent_no_winner_is_named_in_any_view():
    found = results_of(noisy(4.0))
    answer = recommend(found, {READ: 1})
    assert answer.is_undecided
    use = lines(answer)["Use"]
    assert use.startswith(
        "no winner: too noisy to name one; candidates are Feather, no codec; ORC and Parquet, no codec"
    )
    facts = output.to_json(answer)
    assert facts["use"] is facts["answer"]["use"] is None
    assert "two runs differ by up to 300%" in facts["banner"]
    top = headline_of(found)
    assert "Times are noisy" in top.banner
    assert any("too noisy" in str(each) for each in top.answer)


def test_a_noise_that_moves_half_of_the_times_by_a_tenth_is_said_first():
    assert "two runs differ by up to 40%" in headline_of(results_of(noisy(1.4))).banner


def test_below_it_ties_are_named():
    answer = recommend(results_of(noisy(1.2)), {READ: 1})
    assert not answer.is_undecided
    assert not answer.disturbance.banner
    assert lines(answer)["Or"].startswith("ORC: as good within noise")


def test_a_busy_machine_is_said_first_by_one_rule():
    assert busy_sentence(BUSY * 4, 4) == ""
    assert busy_sentence(6.1, 4).startswith("The machine was busy, with 6.1 processes for 4 CPUs")
    load = {"load_average": {"start": [9.0, 1.0, 1.0], "end": None}, "cpu": {"usable": 2}}
    found = results_of(TWO, metadata=[load])
    assert "9.0 processes for 2 CPUs" in Disturbance.of(found).banner
    assert headline_of(found).banner == recommend(found, {SIZE: 1}).disturbance.banner


def calls_of(ratios, **fields):
    """Return results of reads whose wall times are so many times their CPU times."""
    records = [
        record(
            f"F{place}",
            "read time",
            1.0,
            repeats=[1.0] * 3,
            cpu_repeats=[1 / ratio] * 3,
            **({"cache": "warm"} | fields),
        )
        for place, ratio in enumerate(ratios)
    ]
    return Results("mine", records, [])


@pytest.mark.parametrize(
    ("ratios", "fields", "said"),
    [
        ([1.02, 1.0, 0.4, 1.1], {}, False),
        # A format that waits for the disk or a server of its own.
        ([1.02, 1.0, 0.4, 1.1, 3.0], {}, False),
        ([4.0, 1.0, 0.4, 1.6], {}, True),
        ([4.0, 4.0, 4.0], {"cache": "cold"}, False),
        ([4.0, 4.0, 4.0], {"medium": "disk"}, False),
    ],
)
def test_calls_that_waited_for_other_work_are_said_first(ratios, fields, said):
    banner = Disturbance.of(calls_of(ratios, **fields)).banner
    assert banner.startswith("Other work slowed this run") is said


def test_earlier_results_have_cpu_times_as_records_of_their_own():
    def found(cpu):
        times = {"save time": 88.5, "save CPU time": cpu}
        return Disturbance.of(results_of({"CSV": times})).banner

    assert "1 of 1 time of calls are 1.5 times their CPU time or more, 24.6 times" in found(3.6)
    assert not found(80.0)


def test_every_view_says_that_other_work_slowed_the_run(tmp_path, capsys):
    found = calls_of([4.0, 5.0])
    said = "Other work slowed this run: 2 of 2 times of calls"
    assert headline_of(found).banner.startswith(said)
    for kind in ("html", "md"):
        write(found, kind, path := tmp_path / f"report.{kind}")
        assert said in path.read_text(encoding="utf-8")
    cases = tuple(Case(each.format, "eq", 50_000) for each in found.records)
    columns = columns_of("tabular", cold=False)
    summaries.show(RunSummary(cases, columns, found.records, MeasuredShare()), tmp_path)
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.startswith(said)
    assert shown.count(said) == 1
    assert said in output.to_json(recommend(found, {READ: 1}))["banner"]


@pytest.fixture
def sampled():
    """Return results of which Feather alone was measured on all rows, after samples of all."""
    samples = results_of(TWO, rows=2_000, metadata=[facts_of()])
    whole = results_of({"Feather": TWO["Feather"]})
    return replace(samples, records=[*samples.records, *whole.records])


def test_samples_are_no_comparison_and_the_others_are_not_yet_measured(sampled):
    answer = recommend(sampled, {SIZE: 1, READ: 1}, [Requirement.COLUMNS])
    assert [each.candidate.name for each in answer.ranked] == ["Feather, no codec"]
    assert list(map(str, answer.unmeasured)) == ["Parquet, no codec", "CSV"]
    assert (
        "the only one that meets columns so far; not yet measured on all rows: Parquet, no codec and CSV"
        in (output.paragraph(answer))
    )
    assert lines(answer)["Use"] == "Feather, no codec, the only one measured on all rows so far"


def test_samples_are_shown_in_a_report_and_count_in_no_verdict(sampled):
    groups = {group.name: group.is_sample for group in results_by_suite(sampled)[0].groups}
    assert groups == {"mine, 2,000 rows, a sample": True, "mine, 50,000 rows": False}
    assert not any("comparisons" in each or "Parquet" in each for each in findings(sampled))
    both = replace(sampled, metadata=[])  # sizes that somebody asked for
    assert any("Parquet" in each for each in findings(both))


def test_samples_are_not_compared(sampled):
    ratios = compare(sampled, sampled).ratios
    assert {each.pair.dataset.rows_a for each in ratios} == {50_000}


def test_where_nothing_was_measured_on_all_rows_the_samples_count():
    samples = results_of(TWO, rows=2_000, metadata=[facts_of()])
    assert len(recommend(samples, {SIZE: 1}).ranked) == 3


def test_evidence_names_its_kind_and_source():
    found = results_of(TWO)
    memory = results_of({"Parquet": {"read memory": 3e6}, "Feather": {"read memory": 1e6}})
    lost = results_of({"Parquet": {"lost columns": 0.0}})
    found = replace(found, records=[*found.records, *memory.records, *lost.records])
    known = {each.kind: each for each in evidence_on(recommend(found, {SIZE: 1}), found)}
    assert known["memory"].text == "read memory 3.00 times the best"
    assert known["losses"] == ("losses", "everything came back as it was saved", "mine")
    assert known["safety"].source == "declaration of the adapter"
    assert known["damage"].source.startswith("study damage, 20")
    assert "round trips" in known["links"].text
    assert known["other machines"].source == "published: thesis"
    assert set(known) <= {each.name for each in EVIDENCE}


@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (Requirement.ROWS, "Pickle reads all rows only"),
        (Requirement.REMOTE, "Pickle reads local files only"),
        (Requirement.STREAMS, "Pickle writes whole tables only"),
    ],
)
def test_requirements_on_features_are_met_as_adapters_declare(requirement, reason):
    found = results_of(TWO | {"Pickle": {"read time": 0.001, "save time": 0.001, "size": 1e6}})
    answer = recommend(found, {READ: 1}, [requirement])
    reasons = {each.candidate.name: each.reasons.get(requirement) for each in answer.excluded}
    assert reasons["Pickle"] == reason
    assert "Parquet, no codec" in {each.candidate.name for each in answer.ranked}


def test_lost_properties_of_an_array_are_in_the_first_line():
    found = [
        record("NPY.memmap", "read time", 0.01, cache="warm", suite="chunks", rows=8),
        record("HDF5", "read time", 0.02, cache="warm", suite="chunks", rows=8),
        record(
            "NPY.memmap",
            "lost properties",
            2,
            suite="chunks",
            rows=8,
            sentence="attributes lost: it has none; coordinates lost: it has none",
        ),
        record("HDF5", "lost properties", 0, suite="chunks", rows=8),
    ]
    answer = recommend(Results("mine", found, []), {READ: 1})
    assert lines(answer)["Use"] == "NPY.memmap; it loses attributes and coordinates"


PAIRS = {
    "CSV[pyarrow]": {"save time": 0.01, "size": 1e6},
    "Parquet[duckdb]": {"save time": 0.02, "size": 2e6},
    "Parquet[polars]": {"save time": 0.02, "size": 2e6},
}
ANSWERS = {
    ("CSV[pyarrow]", "cheap"): None,
    ("CSV[pyarrow]", "by city"): None,
    ("Parquet[duckdb]", "cheap"): 0.010,
    ("Parquet[duckdb]", "by city"): 0.020,
    ("Parquet[polars]", "cheap"): 0.050,
    ("Parquet[polars]", "by city"): 0.004,
}


def asked(often, answers=ANSWERS):
    """Return results of pairs with answers to a user's own questions, so often asked."""
    found = results_of(PAIRS, suite="query", rows=400).records
    for (label, query), seconds in answers.items():
        known = {"query": query, "cache": "warm", "suite": "query", "rows": 400, "dataset": "mine"}
        if seconds is None:
            known |= {"status": CellStatus.UNSUPPORTED, "sentence": "it takes no SQL"}
        found.append(record(label, "query time", seconds, **known))
    return Results("mine", found, [{"data": {"mine": {"rows": 400, "questions": often}}}])


def said(results):
    return {each.subject: f"{each.lead}{each.rest}" for each in headline_of(results).answer}


def test_a_pair_that_answered_none_of_the_own_questions_is_never_the_one_to_use():
    found = said(asked({"cheap": 1.0, "by city": 1.0}))
    assert found["Use"] == "Parquet[duckdb]"
    assert found["Because"].endswith(
        "answers a question in 15 ms (best), the mean of 2 questions asked equally often"
    )
    assert found["Not"] == (
        "CSV[pyarrow], which did not answer every question: unsupported, cheap: it takes no SQL"
    )


def test_weights_of_own_questions_decide():
    found = said(asked({"cheap": 1.0, "by city": 9.0}))
    assert found["Use"] == "Parquet[polars]"
    assert "the mean of 2 questions asked so often: cheap (1) and by city (9)" in found["Because"]


def test_results_without_own_questions_are_ranked_as_before():
    without = said(replace(asked({}), metadata=[]))
    assert without["Use"] == "CSV[pyarrow]"
    assert "question" not in without["Because"]
    assert "Not" not in without


def test_a_question_that_nothing_answered_does_not_count():
    answers = ANSWERS | {(label, "odd"): None for label in PAIRS}
    often = {"cheap": 1.0, "by city": 1.0, "odd": 5.0}
    assert said(asked(often, answers)) == said(asked({"cheap": 1.0, "by city": 1.0}))
    answer = questions.answered(asked(often, answers), Wish())
    assert "questions that nothing answered do not count: odd" in answer.caveats


def test_data_of_which_nothing_was_answered_do_not_count():
    found = asked({"cheap": 1.0, "by city": 1.0})
    silent = [
        replace(each, dataset="other", value=None, status=CellStatus.TIMED_OUT, sentence="too slow")
        for each in found.records
        if each.query
    ]
    facts = found.metadata[0]["data"]
    both = {"data": {**facts, "other": facts["mine"]}}
    answer = questions.answered(replace(found, records=found.records + silent, metadata=[both]), Wish())
    assert answer.first.candidate.name == "Parquet[duckdb]"
    assert "questions that nothing answered do not count: cheap and by city" in answer.caveats


def test_where_nothing_answered_nothing_is_named():
    found = said(asked({"cheap": 1.0, "by city": 1.0}, dict.fromkeys(ANSWERS)))
    assert found == {"Use": "none: nothing answered any question (cheap: it takes no SQL)"}


def test_own_questions_count_in_the_command_unless_weights_are_given():
    found = asked({"cheap": 1.0})
    assert lines(questions.answered(found, Wish()))["Because"].endswith(", the only one asked")
    assert lines(questions.answered(found, Wish({SIZE: 1.0})))["Use"] == "CSV[pyarrow]"
    archive = questions.answered(found, Wish(preset="exchange"))
    assert archive.weights == {SIZE: 2.0, SAVE: 1.0, Measure("query time"): 1.0}
