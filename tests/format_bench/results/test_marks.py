"""The best value and its ties: one rule, and the same marks in every view of one run."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import openpyxl
import pytest

from format_bench import report
from format_bench.cli import summaries
from format_bench.dashboard import postprocessing
from format_bench.dashboard.pages import comparisons
from format_bench.dashboard.site_data import LatestRun
from format_bench.families.cases import Case
from format_bench.recommendation import recommend
from format_bench.report.model import outline_of, results_by_suite
from format_bench.results.display.markdown import markdown
from format_bench.results.marks import BEST, TIE
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.runner.progress import MeasuredShare, columns_of
from format_bench.runner.session import RunSummary
from tests.factories.records import record, results

LABELS = ("CSV", "Excel", "ORC", "Pickle")

READ, COLD = Measure("read time", "warm"), Measure("read time", "cold")
SAVE, SIZE, LOST = Measure("save time"), Measure("size"), Measure("lost columns")
SAVE_MEMORY, READ_MEMORY = Measure("save memory"), Measure("read memory", "warm")

MARKS = {
    SAVE: {"CSV": BEST, "Excel": TIE, "ORC": ""},
    # Without several samples nothing shows how they vary.
    READ: {"CSV": "", "Excel": BEST, "ORC": "", "Pickle": ""},
    COLD: {"CSV": "", "Excel": "", "ORC": BEST, "Pickle": TIE},
    SIZE: {"CSV": "", "Excel": BEST, "ORC": BEST, "Pickle": ""},
    SAVE_MEMORY: {"Pickle": ""},
    READ_MEMORY: {"CSV": "", "Excel": BEST, "ORC": "", "Pickle": ""},
    LOST: {"CSV": "", "Excel": "", "ORC": "", "Pickle": ""},
}


def cells(measure, values, intervals=None):
    """Yield the records of a measure, by label; those without a value failed."""
    for label, value in zip(LABELS, values, strict=True):
        interval = (intervals or {}).get(label)
        samples = {} if interval is None else {"interval": interval, "repeats": [*interval, value]}
        yield record(label, measure.metric, value, cache=measure.cache, **samples)


def one_run():
    """Return results with ties, equal values, a value alone, and empty cells of several kinds."""
    interval = {"CSV": [0.9, 1.1], "Excel": [1.05, 1.3], "ORC": [1.15, 1.9]}
    found = [
        *cells(SAVE, [1.0, 1.2, 1.5, None], interval),
        *cells(READ, [3.0, 1.0, 1.05, 2.0]),
        *cells(COLD, [4.0, 5.0, 2.0, 2.5], {"ORC": [1.5, 2.7], "Pickle": [2.4, 2.8]}),
        *cells(SIZE, [102.0, 100.0, 100.0, 101.0]),
        *cells(SAVE_MEMORY, [None, None, None, 1e6]),
        *cells(READ_MEMORY, [2e6, 1e6, 1.04e6, 3e6]),
        *cells(LOST, [0, 0, 0, 0]),
    ]
    unsupported = replace(found[16], status=CellStatus.UNSUPPORTED, sentence="CSV cannot do this")
    return results([*found[:16], unsupported, *found[17:]])


@pytest.fixture
def run():
    """Return results, and the marks that they have."""
    return one_run(), MARKS


def test_the_rule_is_the_same_for_all_measures(run):
    found, expected = run
    ((group,),) = [suite.groups for suite in results_by_suite(found)]
    for measure, wanted in expected.items():
        marks = group.marks(measure)
        assert {str(each): mark for each, mark in marks.items()} == wanted, measure


def test_the_rounds_of_the_run_count_before_intervals():
    # Each within 0.2 % between its two rounds, but for the last, whose rounds are 40 % apart.
    values = dict(zip("ABCDEFG", [1.0, 1.05, 1.2, 1.4, 1.6, 1.8, 1.3], strict=True))
    found = []
    for label, value in values.items():
        apart = 0.17 if label == "G" else 0.001
        samples = [value * (1 - apart)] * 3 + [value * (1 + apart)] * 3
        facts = {"repeats": samples, "round_sizes": [3, 3], "interval": [samples[0], samples[-1]]}
        found.append(record(label, "read time", value, cache="warm", **facts))
    ((group,),) = [suite.groups for suite in results_by_suite(results(found))]
    marks = {str(each): mark for each, mark in group.marks(READ).items()}
    assert marks == dict.fromkeys("BCDEF", "") | {"A": BEST, "G": TIE}
    answer = recommend(results(found), {Measure("read time"): 1})
    assert answer.noise == "rounds"
    assert [each.candidate.name for each in answer.ties] == ["G"]


def test_cpu_times_and_memory_tie_by_their_rounds():
    for metric in ("save CPU time", "save memory"):
        found = []
        for place, label in enumerate("ABCDEFG"):
            value = 1e6 * (1.04 if label == "B" else 1 + place)
            samples = [value * 0.95, value * 1.05]
            found.append(record(label, metric, value, repeats=samples, round_sizes=[1, 1]))
        ((group,),) = [suite.groups for suite in results_by_suite(results(found))]
        marks = {str(each): mark for each, mark in group.marks(Measure(metric)).items()}
        assert marks == dict.fromkeys("CDEFG", "") | {"A": BEST, "B": TIE}


def test_ratios_are_not_marked():
    amplification = Measure("read amplification", "cold")
    found = results(cells(amplification, [1.0, 2.0, 3.0, 4.0]))
    ((group,),) = [suite.groups for suite in results_by_suite(found)]
    assert set(group.marks(amplification).values()) == {""}


# The views


def test_the_terminal_shows_these_marks(run, tmp_path, capsys):
    found, expected = run
    cases = tuple(Case(label, "eq", 50_000) for label in LABELS)
    columns = columns_of("tabular", cold=True)
    summaries.show(RunSummary(cases, columns, found.records, MeasuredShare()), tmp_path)
    title, *lines = capsys.readouterr().out.splitlines()
    assert title == "eq, 50,000 rows"
    rows = [re.split(r" {2,}", line.strip()) for line in lines[: 1 + len(LABELS)]]
    names = {column.title: column.measure for column in columns}
    shown = marks_in_rows(rows)
    assert {names[title]: marks for title, marks in shown.items()} == expected


def test_asvs_comparison_shows_these_marks(run):
    found, expected = run
    text = "\n".join(markdown(each) for each in postprocessing.tables(found))
    assert marks_in_markdown(text) == by_name(expected)


def test_the_report_in_markdown_shows_these_marks(run, tmp_path):
    found, expected = run
    report.write(found, "md", tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    section = text.partition("## Tables")[2].partition("\n## ")[0]
    assert marks_in_markdown(section) == by_name(expected)


def test_the_report_in_html_shows_these_marks(run):
    found, expected = run
    assert NumbersTable(report.page(found)).marks == by_name(expected)


def test_the_workbook_shows_these_marks(run, tmp_path):
    found, expected = run
    report.write(found, "xlsx", tmp_path / "report.xlsx")
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    for measure, wanted in expected.items():
        rows = [row[:2] for row in book[str(measure)].iter_rows(min_row=2)]
        shown = {
            label.value: cell.number_format.removeprefix("General").strip('"')
            for label, cell in rows
            if cell.data_type == "n"
        }
        assert shown == wanted, measure


def test_the_site_shows_these_marks(run):
    found, expected = run
    benchmark = "tabular.Tabular.time_save"
    run_of_asv = SimpleNamespace(
        cells=[
            SimpleNamespace(benchmark=benchmark, format=each.format, dataset=each.dataset, axes={})
            for each in found.records
        ],
        machine="laptop",
    )
    benchmarks = {benchmark: {"param_names": ["format", "dataset"]}}
    latest = LatestRun(
        run_of_asv, found.records, found, outline_of(found), benchmarks, changes=SimpleNamespace()
    )
    site = SimpleNamespace(latest=latest, other_machines=[], runs=[latest])
    (page,) = comparisons.pages(site)
    assert NumbersTable(page.body_html).marks == by_name(expected)


def by_name(expected):
    return {str(measure): marks for measure, marks in expected.items()}


def marks_in_markdown(text):
    """Return the marks of all tables by column and row."""
    found = {}
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        header, _, *rows = (
            [cell.strip().replace("\\", "") for cell in line.strip("|").split("|")]
            for line in block.splitlines()
        )
        found |= marks_in_rows([header, *rows])
    return found


def marks_in_rows(rows):
    """Return the marks behind the values of a table by column and row, without empty cells."""
    (_, *names), *lines = rows
    found = {name: {} for name in names}
    for label, *texts in lines:
        for name, text in zip(names, texts, strict=True):
            value = text.partition(" [")[0]
            if value not in ("failed", "unsupported"):
                found[name][label] = value[-1] if value[-1] in (BEST, TIE) else ""
    return found


class NumbersTable(HTMLParser):
    """The marks in a page's table of numbers, by column and row."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.marks: dict[str, dict[str, str]] = {}
        self._names: list[str] = []
        self._inside, self._scope, self._label = False, "", ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        if tag == "table":
            self._inside = (facts.get("class") or "").startswith("numbers")
        elif self._inside and tag == "th":
            self._scope = facts["scope"]
        elif self._inside and tag == "td":
            name = self._names[self._column]
            self._column += 1
            if "data-value" in facts:
                mark = {"best": BEST, "tie": TIE, None: ""}[facts.get("class")]
                self.marks.setdefault(name, {})[self._label] = mark

    def handle_data(self, data):
        if self._inside and self._scope == "col" and data != "format":
            self._names.append(data)
        elif self._inside and self._scope == "row":
            self._label, self._column = data, 0
        self._scope = ""
