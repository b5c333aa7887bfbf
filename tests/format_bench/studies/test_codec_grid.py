"""The study of codecs: its cases, tables, page and pictures."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

import data_formats
from adapter_core import UnavailableError
from format_bench.cli.main import format_bench, main
from format_bench.families.cases import Case
from format_bench.families.operations import Measured
from format_bench.instruments.isolation import Outcome
from format_bench.results import records
from format_bench.results.display.text import quantity
from format_bench.results.load import RESULTS, Results
from format_bench.results.records import key
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import RunRequest, plan
from format_bench.runner.result_store import keys, records_of
from format_bench.runner.runner import Limits, Runner
from format_bench.studies.declared import runs, study
from format_bench.studies.declared.blocks import Context
from format_bench.studies.declared.selection import Numbers
from format_bench.studies.tables import codecs as tables
from tests.commands import run


def cases(labels, *, full=False):
    """Return the cases of a run with all codecs."""
    codecs_of_all = "all:all" if full else "all"
    request = RunRequest(formats=tuple(labels), datasets=("eq",), rows=ROWS, codecs=(codecs_of_all,))
    return list(plan(request).cases)


def results_of(found):
    return Results("made up", found, metadata=[])


def page_of(found):
    """Return the page of some records."""
    return study.read("codecs").page(results_of(found)).markdown()


SAVE, READ, *_ = FAMILIES["tables"].steps

ROWS = 300

PAGE = "grid.md"

# The command, but with no more repeats than there must be, and libraries are not asked their versions.
HASTY = """
from format_bench.cli.main import main
from format_bench.metadata import libraries
from format_bench.studies.declared import runs
libraries.facts_from_child = lambda *_: {}
limits = runs.Limits
runs.Limits = lambda rounds, repeats, _: limits(rounds, repeats, 0)
main()
"""


def lines_of(page: str, title: str) -> list[list[str]]:
    """Return the rows of a table of the page, as the texts of their cells."""
    section = page.partition(f"## {title}\n")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split("|") for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows[2:]]


@pytest.fixture(scope="module")
def orc(tmp_path_factory):
    """Measure ORC with a kill; return the folder, the lines at the kill, and the page."""
    folder = tmp_path_factory.mktemp("grid")
    out, scratch = folder / "out", folder / "scratch"
    scratch.mkdir()
    results = out / RESULTS
    options = ("--rows", str(ROWS), "--out", out, "--scratch", scratch)
    command = [sys.executable, "-c", HASTY, "study", "codecs", "ORC", *options]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not (results.exists() and results.read_bytes().count(b"\n") > len(SAVE.metrics)):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    killed_at = results.read_bytes()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(scratch.iterdir()) == []
    return out, killed_at.splitlines(keepends=True), done.stdout


def test_a_killed_study_resumes_and_measures_no_cell_twice(orc):
    out, killed_at, _ = orc
    wanted = cases(["ORC"])
    cells = {each for case in wanted for step in (SAVE, READ) for each in keys(case, step)}
    assert len(SAVE.metrics) < len(killed_at) < len(cells)
    whole = [line for line in killed_at if line.endswith(b"\n")]
    assert (out / RESULTS).read_bytes().startswith(b"".join(whole))
    found = [key(record) for record in records.read(out / RESULTS)]
    assert len(found) == len(set(found))
    assert set(found) == cells


def test_the_page_is_printed_and_written(orc):
    out, _, printed = orc
    assert printed == (out / PAGE).read_text(encoding="utf-8")
    assert printed.startswith(f"# Codecs and levels: eq, {ROWS} rows\n")
    assert [line[:2] for line in lines_of(printed, "ORC")] == [
        ["none", ""],
        ["snappy", ""],
        ["zlib", ""],
        ["lz4", ""],
        ["zstd", ""],
    ]
    assert list(out.glob("*.partial*")) == []


def test_a_declined_codec_is_noted(orc):
    _, _, printed = orc
    size = {line[0]: line[2] for line in lines_of(printed, "ORC")}["lz4"]
    number = size.partition("[")[2].rstrip("]")
    own = printed.partition("## ORC\n")[2]
    assert f"\n{number}. ORC was told to use lz4; its file shows none\n" in own


def test_ratio_and_added_times_follow_from_the_records(orc):
    out, _, printed = orc
    found = {(record.codec, record.metric): record for record in records.read(out / RESULTS)}
    lines = {line[0]: line for line in lines_of(printed, "ORC")}
    assert {lines["none"][at] for at in (3, 5, 7)} == {"-"}
    for codec in ("snappy", "zlib", "lz4", "zstd"):
        size, plain = found[codec, "size"].value, found[None, "size"].value
        assert lines[codec][2].partition(" [")[0].rstrip("*=") == quantity(size, "bytes")
        assert float(lines[codec][3]) == pytest.approx(size / plain, abs=5e-4)
        for at, metric in ((4, "save time"), (6, "read time")):
            one, other = found[codec, metric], found[None, metric]
            assert lines[codec][at].rstrip("*=") == quantity(one.value, "seconds")
            differences = (
                one.value - other.value,
                one.interval[0] - other.interval[1],
                one.interval[1] - other.interval[0],
            )
            middle, low, high = (
                f"{'+' if each >= 0 else '-'}{quantity(abs(each), 'seconds')}" for each in differences
            )
            assert lines[codec][at + 1] == f"{middle} ({low} to {high})"


def test_the_pictures_are_whole_and_name_each_codec(orc):
    out, _, _ = orc
    texts = {node.text for node in ET.parse(out / "grid.svg").iter() if node.text}
    assert {"ORC", "none", "snappy", "zlib", "lz4", "zstd"} <= texts
    with Image.open(out / "grid.png") as picture:
        assert picture.width > tables.WIDTH
        colours = np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)
    drawn = {"#{:02X}{:02X}{:02X}".format(*colour) for colour in colours}
    assert {tables.look(codec)[0] for codec in (None, "snappy", "zlib", "lz4", "zstd")} <= drawn


def made_up(wanted: list[Case]) -> list[records.Record]:
    """Return results with sizes that fall, and times that rise, from case to case."""
    found = []
    for at, case in enumerate(wanted, start=1):
        save = [Measured("size", [1e6 / at])]
        save += [Measured(metric, [at + 0.1, at, at + 0.2]) for metric in SAVE.metrics[:-1]]
        read = [Measured(metric, [at / 10, at / 8, at / 9]) for metric in READ.metrics]
        for step, measured in ((SAVE, save), (READ, read)):
            found += records_of(case, 8, step, Outcome(measured), "made up")
    return found


def keep(found: list[records.Record], out: Path) -> None:
    for record in found:
        records.append(out / RESULTS, record)


@pytest.mark.usefixtures("libraries_unasked")
def test_an_unavailable_codec_is_a_cell_with_a_reason(tmp_path):
    answer = data_formats.get("HDF5.fixed").codec_availability("lzo")
    if answer:
        pytest.skip("PyTables was built with lzo")
    lzo = [Case("HDF5.fixed", "eq", ROWS, codec="lzo", level=level) for level in (1, 9)]
    wanted = [Case("HDF5.fixed", "eq", ROWS), *lzo]
    keep(made_up(wanted[:1]), tmp_path)
    runner = Runner(tmp_path, tmp_path, Limits(budget_seconds=0), steps=("save", "read"))
    list(runner.run(wanted))
    page = page_of(runner.store.read())
    lines = [line for line in lines_of(page, "HDF5.fixed") if line[0] == "lzo"]
    assert [line[1] for line in lines] == ["1", "9"]
    assert {tuple(line[2:]) for line in lines} == {("unavailable [1]", "-") * 3}
    why = f"HDF5.fixed with lzo is unavailable: {answer.reason}; try: {answer.install_hint}"
    assert f"\n\n1. {why}\n\n" in page.partition("## HDF5.fixed")[2]


@pytest.fixture(scope="module")
def feather(tmp_path_factory):
    """Return a folder with results for all levels of Feather, and the bytes of these results."""
    out = tmp_path_factory.mktemp("feather")
    keep(made_up(cases(["Feather"], full=True)), out)
    return out, (out / RESULTS).read_bytes()


@pytest.fixture(scope="module")
def default_cases():
    """Return the default cases."""
    return cases([])


def levels_of(page: str, codec: str) -> list[int]:
    return [int(line[1]) for line in lines_of(page, "Feather") if line[0] == codec]


def test_all_levels_are_measured_on_request(feather):
    out, before = feather
    done = run("study", "codecs", "Feather", "--rows", ROWS, "--full", "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert levels_of(done.stdout, "zstd") == list(range(1, 23))
    assert levels_of(done.stdout, "lz4") == list(range(1, 13))
    assert (out / RESULTS).read_bytes() == before


def test_by_default_few_levels_are_measured(feather, monkeypatch):
    out, before = feather
    # Without matplotlib there is no picture, and all else is as it was.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for path in out.glob("grid.*"):
        path.unlink()
    done = CliRunner().invoke(
        format_bench, ["study", "codecs", "Feather", "--rows", str(ROWS), "--out", str(out)]
    )
    assert done.exit_code == 0
    assert levels_of(done.stdout, "zstd") == [1, 7, 13, 19, 22]
    assert levels_of(done.stdout, "lz4") == [1, 12]
    assert done.stderr.count("\n") == 1
    assert "no picture, since " in done.stderr
    assert [path.name for path in out.glob("grid.*")] == [PAGE]
    assert (out / RESULTS).read_bytes() == before


def test_levels_are_the_lowest_the_default_the_highest_and_steps_in_long_ranges(default_cases):
    levels: dict[tuple[str, str], list[int | None]] = {}
    for case in default_cases:
        levels.setdefault((case.format, case.codec or "none"), []).append(case.level)
    assert levels["Parquet", "snappy"] == [None]
    assert levels["Parquet", "brotli"] == [0, 8, 11]
    assert levels["HDF5.table", "blosc:zstd"] == [1, 5, 9]
    assert levels["CSV", "gzip"] == [1, 9]
    assert levels["CSV", "zstd"] == [1, 3, 7, 13, 19, 22]
    usual = data_formats.registry.usual_names()
    with_codecs = [label for label in usual if data_formats.find(label).codecs]
    assert list(dict.fromkeys(label for label, _ in levels)) == with_codecs
    for label in with_codecs:
        offered = {codec.name for codec in data_formats.find(label).codecs} | {"none"}
        assert {codec for each, codec in levels if each == label} == offered


def test_both_tracks_are_columns_of_one_table(default_cases):
    found = {(each.format, each.codec, each.level, each.metric): each for each in made_up(default_cases)}
    results = results_of(list(found.values()))
    (table,) = tables.tracks(Context(results, Numbers.of(results, "tabular"), "", {}))
    lines = {(line[0], line[1]): line[2:] for line in table.rows}

    def check(label, own, *chosen):
        for metric in ("size", "save time", "read time"):
            line = lines[label, metric]
            assert line[0] == (own or "none")
            for text, cell in zip(line[1:], chosen, strict=True):
                if cell is None:
                    number = int(text.removeprefix("unsupported [").rstrip("]"))
                    assert table.notes[number - 1].startswith(f"{label} offers no ")
                    continue
                record = found[label, *cell, metric]
                words = quantity(record.value, record.unit)
                assert text.partition(" (")[0].partition(" [")[0].rstrip("*=") == words
                if metric == "size":
                    plain = found[label, None, None, "size"].value
                    assert f"({record.value / plain:.3f})" in text

    check("Parquet", "snappy", ("snappy", None), ("zstd", 1), ("lz4", 1), ("gzip", 1))
    check("Feather", "lz4", ("lz4", 1), ("zstd", 1), ("lz4", 1), None)
    check("CSV", None, (None, None), ("zstd", 1), None, ("gzip", 1))
    check("Avro", None, (None, None), ("zstandard", 1), ("lz4", None), ("deflate", 1))
    check("HDF5.table", None, (None, None), ("blosc:zstd", 1), ("blosc:lz4", 1), ("zlib", 1))
    check("ORC", None, (None, None), ("zstd", None), ("lz4", None), ("zlib", None))
    assert "HDF5.table: blosc:zstd 1" in table.notes
    assert "ORC: zlib, which has no levels" in table.notes
    assert {each.format for each in default_cases} == {label for label, _ in lines}


def test_a_format_that_cannot_be_loaded_is_a_row_with_a_reason(monkeypatch):
    def find(label):
        raise UnavailableError(label, "it is broken", "pip install it")

    monkeypatch.setattr(data_formats.registry, "find", find)
    monkeypatch.setattr(data_formats, "find", find)
    (case,) = cases(["Feather"], full=True)
    outcome = Outcome(status=CellStatus.UNAVAILABLE, sentence="it is broken")
    found = [each for step in (SAVE, READ) for each in records_of(case, 0, step, outcome, "made up")]
    page = page_of(found)
    rows = lines_of(page, tables.TITLE)
    assert [row[:3] for row in rows] == [
        ["Feather", metric, "none"] for metric in ("size", "save time", "read time")
    ]
    assert {cell for row in rows for cell in row[3:]} == {"unavailable [1]"}
    # Named by what is known of the adapter: nothing, or the facts that another test has read.
    assert len(re.findall(r"1\. Feather(, no codec)?: unavailable: it is broken\n", page)) == 2


def test_each_round_is_as_thorough_as_one_alone(tmp_path, monkeypatch):
    asked = []

    def measure(_, __, *, limits, **___):
        asked.append((limits.rounds, Runner(tmp_path, tmp_path, limits).effort.min_repeats))
        raise SystemExit(0)

    monkeypatch.setattr(runs.session, "measure", measure)
    arguments = ["study", "codecs", "ORC", "--rows", str(ROWS), "--rounds", "3", "--out", str(tmp_path)]
    assert CliRunner().invoke(format_bench, arguments).exit_code == 0
    assert asked == [(3, 3)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["Parkett"], "there is no format 'Parkett'; did you mean Parquet"),
        (["Parquet", "--dataset", "webfaces"], "there is no data set 'webfaces'; did you mean webface"),
        (["Parquet", "--rows", "-1"], "--rows -1: at least 1 is needed"),
        (["Excel"], "nothing is left to measure: Excel offers no choice of a codec"),
    ],
)
def test_wrong_input_is_reported_in_one_line(arguments, words, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["study", "codecs", *arguments, "--out", str(tmp_path / "out")])
    printed = capsys.readouterr()
    assert (ended.value.code, printed.out) == (2, "")
    assert printed.err.startswith(f"format-bench: {words}")
    assert printed.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_codecs_in_docs_are_those_of_the_formats(root):
    page = (root / "docs/compression.md").read_text(encoding="utf-8")
    printed = run("list", "codecs", "--markdown").stdout
    assert printed in page, "update it: format-bench list codecs --markdown"
    assert run("study", "codec-offers").stdout == printed
