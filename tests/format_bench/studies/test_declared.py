"""Studies as declarations: one file is a command with a page, and old results make the same tables."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass, replace

import msgspec
import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidRequestError, UnknownNameError, UnsupportedError
from format_bench import studies
from format_bench.cli.main import format_bench
from format_bench.instruments.isolation import outcome_of
from format_bench.results.export import export
from format_bench.results.records import under
from format_bench.results.status import CellStatus, Reason
from format_bench.results.study_rows import StudyForm
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.runner.shards import Shard, merge
from format_bench.studies.compatible import matrix_rows as compatibility
from format_bench.studies.damaging import counts as damage
from format_bench.studies.declared import study
from format_bench.studies.declared.blocks import LONG, Block, Page, circumstances
from format_bench.studies.declared.claims import Claim, Compared
from format_bench.studies.declared.rows import Instrument
from format_bench.studies.declared.selection import Numbers
from format_bench.studies.read_maps import mapping as read_maps
from format_bench.studies.surviving import survivors as survival
from tests.commands import run
from tests.factories.records import METADATA, record, results
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "study_results"

TOY = """
title = "Toys"
summary = "Compare toys."
question = "Which toy is the smallest?"
method = "Weighed on {scales}."
suite = "tabular"
options.scales = { help = "What to weigh with.", default = "paper" }
cells = { datasets = "eq", rows = 10, formats = "CSV" }
[[claims]]
claim = "Feather is smaller than CSV"
published = "half the size (table 1)"
numbers = [{ select = { format = "Feather", metric = "size" }, over = { format = "CSV" }, below = 1 }]
[[sections]]
kind = "table"
title = "Sizes"
columns.size.select = { metric = "size" }
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    folder = tmp_path / "studies"
    folder.mkdir()
    (folder / "smallest_toy.toml").write_text(TOY, encoding="utf-8")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(folder)])
    return folder / "smallest_toy.toml"


def sized(**sizes):
    return [record(label, "size", value) for label, value in sizes.items()]


def call(*arguments):
    return CliRunner().invoke(format_bench, list(map(str, arguments)), catch_exceptions=False)


def test_one_file_is_a_study_with_a_page(toy, tmp_path):
    del toy
    assert "smallest-toy" in call("study", "--help").stdout
    told = call("study", "smallest-toy", "--help").stdout
    assert "Compare toys." in told
    assert "format-bench run --suite tabular --datasets eq --rows 10" in " ".join(told.split())
    export(sized(CSV=200.0, Feather=100.0), tmp_path / "results.jsonl")
    out = tmp_path / "toys.md"
    assert call("study", "smallest-toy", tmp_path, "--scales", "brass", "--out", out).exit_code == 0
    text = out.read_text(encoding="utf-8")
    headings = re.findall("^#+ (.*)$", text, re.MULTILINE)
    assert headings == ["Toys", "Findings", "Sizes", "Method"]
    assert (
        "| Feather is smaller than CSV | **confirmed** | "
        "size: Feather, no codec 100 B / CSV 200 B = 0.50 |" in text
    )
    assert "half the size (table 1)" in text
    assert "| Feather, no codec | 100 B |" in text
    assert "Weighed on brass." in text
    # The picture comes before any table.
    assert text.index("](toys.svg)") < text.index("| ---")
    assert "Feather is smaller" in (tmp_path / "toys.svg").read_text(encoding="utf-8")


def test_each_study_is_named_by_a_family_whose_adapters_it_measures():
    declared = {study.read(each).suite for each in study.places()} - {"", *SUITES}
    of_families = {each for family in FAMILIES.values() for each in family.studies} - SUITES.keys()
    assert of_families == declared | {
        read_maps.FORM.suite,
        *({*compatibility.FORM.suites.values()} - SUITES.keys()),
        *damage.SUITES.values(),
        *survival.SUITES.values(),
    }


def test_a_study_asks_the_runner_for_its_cells(toy, tmp_path):
    toy.write_text(TOY.replace('formats = "CSV"', 'formats = "Wooden"'), encoding="utf-8")
    with pytest.raises(UnknownNameError, match="Wooden"):
        call("study", "smallest-toy", tmp_path / "out", "--measure")


def test_a_mistake_in_a_declaration_is_named(toy):
    toy.write_text(TOY.replace("claim =", "clam ="), encoding="utf-8")
    with pytest.raises(ValueError, match=r"smallest_toy\.toml.*clam"):
        study.read("smallest-toy")


def tables(page):
    """Return the rows of each table, by its header."""
    found = {}
    header = None
    for line, following in zip(lines := page.splitlines(), [*lines[1:], ""], strict=True):
        cells = tuple(cell.strip() for cell in line.strip("|").split(" | ")) if line[:1] == "|" else None
        if cells is None:
            header = None
        elif following.startswith("| --"):
            header = cells
        elif header and not line.startswith("| --"):
            found.setdefault(header, []).append(cells)
    return found


def without_order(header, rows):
    """Return rows as a set; each configuration that shares a row with others on its own."""
    if header[-1] != "reason":
        return set(rows)
    separator = "; " if any("; " in row[0] for row in rows) else ", "
    return {(name, *row[1:]) for row in rows for name in row[0].split(separator)}


def bare(text):
    """Return a cell without the words that names have had since the kept pages were written."""
    return text.replace(NO_CODEC, "")


NO_CODEC = ", no codec"

WORDS = {"not confirmed": "refuted", "confirmed in part": "depends"}

FINDING = r"^- \*\*(.*?)\.\*\* (Confirmed in part|Confirmed|Not confirmed|No more)[:.]"


@pytest.mark.parametrize("name", ["engines", "foxbench", "ipsl", "partial-reads", "qaware", "queries"])
def test_results_kept_from_before_make_the_same_tables(name):
    done = run("study", name, KEPT / f"{name}.jsonl")
    assert done.returncode == 0, done.stderr
    old = (KEPT / f"{name}.md").read_text(encoding="utf-8")
    # Findings are worded anew.
    before = {each: rows for each, rows in tables(old).items() if each[0] != "published finding"}
    assert before
    now = tables(done.stdout)
    for header, rows in before.items():
        # A column more distinguishes what had a table each.
        wider = header if header in now else next(each for each in now if set(header) <= set(each))
        places = [wider.index(each) for each in header] if wider != header else range(len(header))
        found = [tuple(bare(row[place]) for place in places) for row in now[wider]]
        assert without_order(header, found) == without_order(header, rows), header
    decided = re.findall(r"^\| (.*?) \| \*\*(.*?)\*\* ", done.stdout, re.MULTILINE)
    expected = re.findall(r"^\| (.*?) \| \*\*(.*?)\*\* ", old, re.MULTILINE)
    expected += [(claim, word.lower()) for claim, word in re.findall(FINDING, old, re.MULTILINE)]
    assert len(expected) >= (4 if name in {"ipsl", "partial-reads", "qaware"} else 0)
    # Words of verdicts have changed since.
    decided = [(claim, word.partition(" on ")[0]) for claim, word in decided]
    expected = [(claim, WORDS.get(word, word).partition(" on ")[0]) for claim, word in expected]
    assert [each for each in expected if each not in decided] == []


@pytest.mark.parametrize("name", ["foxbench", "ipsl"])
def test_comparing_with_a_paper_prints_the_page_of_its_study(name):
    found = KEPT / f"{name}.jsonl"
    # A paper without published tables has nothing else to print.
    switches = ["--page"] if name == "foxbench" else []
    page = call("compare", name, found, *switches).stdout
    assert page == call("study", name, found).stdout
    assert "## Findings" in page


def test_only_papers_have_findings_to_compare_with():
    with pytest.raises(UnknownNameError, match="no paper"):
        call("compare", KEPT / "ipsl.jsonl", KEPT / "ipsl.jsonl", "--page")


def numbers(records):
    return Numbers.of(results(records), "tabular")


def verdict(claim, records):
    return claim.judge(numbers(records)).verdict


SMALLER = Claim(
    claim="",
    numbers=[Compared(select={"format": "B*", "metric": "size"}, over={"format": "A"}, below=1)],
)


def test_a_ratio_whose_intervals_reach_its_bound_is_not_decided():
    one, other = sized(A=100.0, B=99.0)
    assert verdict(SMALLER, [one, other]) == "confirmed"
    assert verdict(SMALLER, [replace(one, value=98.0), other]) == "refuted"
    noisy = [replace(one, interval=[90.0, 110.0]), replace(other, interval=[98.0, 100.0])]
    assert verdict(SMALLER, noisy) == "undecided within the noise"
    clear = [replace(one, interval=[100.0, 110.0]), replace(other, interval=[98.0, 99.0])]
    assert verdict(SMALLER, clear) == "confirmed"


def coded(**sizes):
    """Return sizes of formats by their names with the codec, e.g. ``A_lz4``; without one, ``A``."""
    return [
        record(name.partition("_")[0], "size", value, codec=name.partition("_")[2] or None)
        for name, value in sizes.items()
    ]


BEST = Claim(claim="", rule="best", expected="lz4", measures=[{"metric": "size"}])


def test_codecs_are_ranked_in_the_formats_that_both_were_measured_in():
    # In A, where both are, zstd is smaller; B alone makes the mean of lz4 the smallest.
    found = coded(A=100, A_lz4=90, A_zstd=80, B=100, B_lz4=40, C=100, C_gzip=10)
    judged = BEST.judge(numbers(found))
    assert judged.verdict == "refuted: zstd is"
    assert "zstd 0.80 where lz4 is 0.90, lz4 0.60" in judged.evidence
    assert judged.evidence.endswith("gzip nowhere beside lz4")
    assert judged.score == pytest.approx(90 / 80)
    assert verdict(BEST, coded(A=100, A_lz4=70, A_zstd=80, B=100, B_lz4=95)) == "confirmed"


def test_a_finding_that_is_true_of_some_formats_depends_on_them():
    by_format = msgspec.structs.replace(BEST, depends_on="format")
    found = coded(A=100, A_lz4=50, A_zstd=60, B=100, B_lz4=60, B_zstd=40)
    judged = by_format.judge(numbers(found))
    assert judged.verdict == "depends on the format"
    assert judged.evidence.startswith("A: confirmed; B: refuted: zstd is by 1.50; geometric means")
    assert verdict(by_format, coded(A=100, A_lz4=50, A_zstd=60, B=100, B_lz4=40)) == "confirmed"
    smaller = msgspec.structs.replace(SMALLER, select={"metric": "size"}, depends_on="data")
    mixed = [
        record(label, "size", value, dataset=dataset)
        for dataset, label, value in [("x", "A", 2.0), ("x", "B", 1.0), ("y", "A", 1.0), ("y", "B", 2.0)]
    ]
    assert verdict(smaller, mixed) == "depends on the data"


def test_a_share_of_the_ratios_confirms_in_part():
    most = Claim(claim="", numbers=SMALLER.numbers, confirmed_from=0.9, in_part_from=0.5)
    records = sized(A=100.0, B1=50.0, B2=60.0, B3=200.0)
    assert verdict(SMALLER, records) == "refuted"
    assert verdict(most, records) == "confirmed in part"
    assert verdict(most, sized(A=10.0, B1=50.0)) == "refuted"


def test_patterns_of_a_selection():
    found = numbers([*sized(A=1.0, B=2.0, **{"B[x]": 3.0}), record("A", "read time", 5.0, cache="cold")])

    def chosen(**wanted):
        return [each.format for each in found.select(wanted)]

    assert chosen(metric="size", format=["A", "B"]) == ["A", "B"]
    assert chosen(metric="size", format="B[*") == ["B[x]"]
    assert chosen(metric="size", format="!B*") == ["A"]
    assert chosen(cache="warm", metric="read time") == []
    assert chosen(rows=50_000, codec="none", metric="size") == ["A", "B", "B[x]"]
    (share,) = found.select({"metric": "read time", "per": "size"})
    assert (share.value, share.unit) == (5.0, "share")


def test_values_of_an_unknown_number_of_rows_are_not_divided_by_it():
    found = numbers([record("A", "size", 5.0, rows=0), record("B", "size", 0.0, rows=10)])
    assert [each.value for each in found.select({"metric": "size", "per": "row"})] == [0.0]


def test_pages_say_on_what_machine_when_and_under_what_load():
    busy = METADATA | {"load_average": {"start": [0.5, 0.4, 0.3], "end": [2.5, 1.0, 0.8]}}
    assert circumstances([busy]) == (
        "*Measured on Some CPU, 8 CPUs, 32 GB, Some Linux 12; 2026-11-01, 1 run, load 0.5 to 2.5.*"
    )
    later = busy | {"ended": "2026-12-24T00:00:00+00:00"}
    assert "2026-11-01 to 2026-12-24, 2 runs" in circumstances([METADATA, later])
    assert "do not say" in circumstances([])


def test_long_tables_are_folded():
    rows = [[f"{number}", "x"] for number in range(LONG + 1)]
    for fewer, folded in ((rows, True), (rows[1:], False)):
        text = Page("T", "Q", [Block("B", header=["a", "b"], rows=fewer)]).markdown()
        assert ("<details>" in text) is folded
        assert text.count("| x |") == len(fewer)


OF_A_TABLE = """
title = "Toys"
summary = "Compare toys."
question = "Which?"
suite = "tabular"
[[sections]]
kind = "table"
"""
CONDITIONS = (
    OF_A_TABLE
    + """
title = "Reads of {value}"
each_of = "medium"
spread = "link"
marks = true
select = { metric = "read time" }
columns."over {value}" = { select = {}, show = ".1f" }
columns."of 20 ms" = { select = { link = "100 ms" }, over = { link = "20 ms" } }
"""
)


def test_a_table_takes_any_condition_as_rows_columns_or_the_number_below(toy, tmp_path):
    toy.write_text(CONDITIONS, encoding="utf-8")
    found = []
    for medium, link, seconds in [("ssd", "20 ms", 1.0), ("ssd", "100 ms", 4.0), ("hdd", "20 ms", 2.0)]:
        one = record("CSV", "read time", seconds, cache="warm")
        found.append(under(one, medium=medium, link=link))
    lost = record(
        "CSV", "read time", None, cache="warm", status=CellStatus.UNSUPPORTED, sentence="no link"
    )
    found.append(under(lost, medium="hdd", link="100 ms"))
    export(found, tmp_path / "results.jsonl")
    page = call("study", "smallest-toy", tmp_path).stdout
    hdd, ssd = page.split("## Reads of ")[1:]
    assert hdd.startswith("hdd")
    assert "| format | over 20 ms | over 100 ms |" in hdd
    assert "| CSV | 2.0 | unsupported |" in hdd
    assert "| CSV | 1.0 | 4.0 | 4.00 |" in ssd


RANKED = (
    OF_A_TABLE
    + """
title = "Reads"
marks = true
ranked = ["read"]
columns."read".select = { metric = "read time" }
columns."size".select = { metric = "size" }
"""
)


def test_rows_without_a_value_to_rank_by_are_left_out_of_a_table(toy, tmp_path):
    toy.write_text(RANKED, encoding="utf-8")
    lost = record("CSV", "read time", None, cache="warm", status=CellStatus.FAILED, sentence="no read")
    found = [lost, record("CSV", "size", 5.0), record("Feather", "size", 2.0)]
    export([*found, record("Feather", "read time", 1.0, cache="warm")], tmp_path / "results.jsonl")
    page = call("study", "smallest-toy", tmp_path).stdout
    assert "| Feather, no codec | 1 s | 2 B |" in page
    assert "| CSV" not in page


@dataclass(frozen=True)
class Weighed:
    """A row of a study."""

    format: str
    seconds: float | None = None
    reason: str = ""


def test_a_reason_has_the_status_of_its_error_also_in_another_process():
    reason = outcome_of(UnsupportedError("CSV has no links")).reason
    assert (reason, reason.status) == ("CSV has no links", CellStatus.UNSUPPORTED)
    assert pickle.loads(pickle.dumps(reason)).status is CellStatus.UNSUPPORTED
    form = StudyForm("toys", Weighed, {"seconds": "read time"}, dataset="eq")
    found = list(form.records(Weighed("CSV", reason=reason), "a run"))
    assert {each.status for each in found} == {CellStatus.UNSUPPORTED}
    (back,) = form.rows(found)
    assert back.reason.status is CellStatus.UNSUPPORTED


@dataclass(frozen=True)
class Step(Weighed):
    """A row of a study whose cells have several steps."""

    step: str = ""


WEIGHED = StudyForm("toys", Weighed, {"seconds": "read time"}, dataset="eq")


def weigh(folder, *, failing=(), **options):
    """Measure toys into a folder; return those that were measured now, and all rows of the folder."""
    measured = []

    def measure(agenda):
        for label in ("CSV", "JSON", "Avro", "ORC", "Excel"):
            if agenda.has(format=label):
                measured.append(label)
                reason = Reason("it broke") if label in failing else ""
                yield Weighed(label, None if reason else 0.5, reason)

    rows, _ = Instrument(WEIGHED, measure, lambda row: row.format).run(folder, **options)
    return measured, rows


def test_an_instrument_measures_what_a_folder_lacks_and_what_failed(tmp_path):
    first, rows = weigh(tmp_path, failing=["Avro"])
    assert len(first) == len(rows) == 5
    assert len(list(tmp_path.glob("*-threads-1.json"))) == 1
    again, rows = weigh(tmp_path)
    assert again == ["Avro"]
    assert {each.seconds for each in rows} == {0.5}
    assert weigh(tmp_path)[0] == []
    # A run without a cell leaves no metadata.
    assert len(list(tmp_path.glob("*-threads-1.json"))) == 2


def test_a_cell_is_measured_again_where_a_step_of_it_failed_with_its_surroundings(tmp_path):
    form = replace(WEIGHED, named={"step": "query"}, of=Step)
    reasons, measured = {"Avro": "No space left on device", "CSV": "other values came back"}, []

    def measure(agenda):
        for label in ("Avro", "CSV", "ORC"):
            if agenda.has(format=label):
                measured.append(label)
                yield Step(label, 0.5, step="save")
                reason = Reason(reasons[label]) if label in reasons else ""
                yield Step(label, None if reason else 0.5, reason, "read")

    instrument = Instrument(form, measure, lambda row: row.format)
    assert len(instrument.run(tmp_path)[0]) == 6
    del reasons["Avro"]
    rows, _ = instrument.run(tmp_path)
    assert measured == ["Avro", "CSV", "ORC", "Avro"]
    assert [each.format for each in rows if each.reason] == ["CSV"]
    instrument.run(tmp_path)
    assert len(measured) == 4


def test_shards_of_an_instrument_are_the_whole_and_can_be_merged(tmp_path):
    parts = [weigh(tmp_path / text, shard=Shard(int(text), 2))[0] for text in "12"]
    assert parts == [["CSV", "Avro", "Excel"], ["JSON", "ORC"]]
    merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2"])
    measured, rows = weigh(tmp_path / "all")
    assert (measured, len(rows)) == ([], 5)


def test_an_instrument_starts_no_cell_when_the_time_is_spent(tmp_path, capsys):
    weigh(tmp_path, shard=Shard(1, 2))
    capsys.readouterr()
    weigh(tmp_path, seconds=0)
    said = capsys.readouterr().err
    assert "since the time is spent: 2 cells (JSON and ORC); the same command resumes" in said


def test_a_time_budget_that_no_cell_fits_says_what_to_do(tmp_path):
    sentence = r"before the first of 2 cells \(JSON\): give more time, as in --time-budget 10m"
    with pytest.raises(InvalidRequestError, match=sentence):
        weigh(tmp_path, shard=Shard(2, 2), seconds=0)


@pytest.mark.parametrize(
    ("option", "text", "sentence"),
    [("--time-budget", "soon", "is not a duration"), ("--shard", "3/2", "write the second of three")],
)
def test_limits_of_an_instrument_are_refused_in_a_line(option, text, sentence):
    done = run("study", "nesting", option, text)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
