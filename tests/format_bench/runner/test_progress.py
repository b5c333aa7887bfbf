"""Progress of a run: its tables and lines, of each thread policy apart."""

from __future__ import annotations

import io
import re

from rich.console import Console

from format_bench.cli import summaries
from format_bench.families.cases import Case
from format_bench.results.conditions import Conditions
from format_bench.runner.progress import Display, MeasuredShare, columns_of
from format_bench.runner.session import RunSummary
from tests.factories.records import record

LABELS = ("CSV", "Pickle")
COLUMNS = columns_of("tabular", cold=False)


def cases_under(*policies):
    return tuple(
        Case(label, "eq", 50_000, Conditions({"threads": each})) for label in LABELS for each in policies
    )


def saves_of(cases):
    """Return a record of each case: of one thread it takes ten times as long."""
    return [
        record(each.format, "save time", 10.0 if each.threads == "1" else 1.0, threads=each.threads)
        for each in cases
    ]


def test_each_thread_policy_has_a_table(tmp_path, capsys):
    cases = cases_under("1", "all")
    summaries.show(RunSummary(cases, COLUMNS, saves_of(cases), MeasuredShare()), tmp_path)
    shown = capsys.readouterr().out
    for policy, save in (("1 thread", "10 s"), ("all threads", "1 s")):
        _, title, rest = shown.partition(f"eq, {policy}, 50,000 rows\n")
        assert title
        rows = [re.split(r" {2,}", line.strip()) for line in rest.splitlines()[1 : 1 + len(LABELS)]]
        assert [row[0] for row in rows] == list(LABELS)
        assert all(save in row for row in rows), rows


def test_a_single_thread_policy_is_not_named(tmp_path, capsys):
    cases = cases_under("1")
    summaries.show(RunSummary(cases, COLUMNS, saves_of(cases), MeasuredShare()), tmp_path)
    assert capsys.readouterr().out.startswith("eq, 50,000 rows\n")


def test_lines_of_progress_name_the_thread_policy():
    cases = cases_under("1", "all")[:2]
    file = io.StringIO()
    steps = [(case, case.steps[0]) for case in cases]
    with Display(Console(file=file, width=200), cases, steps, COLUMNS, []) as display:
        for (case, step), found in zip(steps, saves_of(cases), strict=True):
            display.begin(case, step, 1)
            display.add(found)
    first, second = file.getvalue().splitlines()
    assert "CSV on eq, 1 thread: save 10 s" in first
    assert "CSV on eq, all threads: save 1 s" in second
