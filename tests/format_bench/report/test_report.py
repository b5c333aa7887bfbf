"""Reports say what the records say: every cell, its mark, what was lost, and why a cell is empty."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import openpyxl
import pytest
from click.testing import CliRunner
from PIL import Image

from adapter_core import errors
from adapter_core.errors import UnavailableError
from format_bench import report
from format_bench.cli.main import format_bench
from format_bench.families.cases import Case
from format_bench.report import writers
from format_bench.report.charts.build import pictures
from format_bench.report.model import outline_of, results_by_suite
from format_bench.results import records
from format_bench.results.candidates import Configuration
from format_bench.results.codec_costs import CODEC_COSTS, codec_costs
from format_bench.results.marks import pareto_front
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus
from format_bench.runner.runner import Limits, Runner
from tests.factories.records import (
    METADATA,
    answered,
    compressed,
    in_rounds,
    labels,
    measured,
    record,
    results,
)

EVIL = (
    """<script>alert(1)</script> "quoted" 'it' & $\\frac{$ | =cmd|' /C calc'!A0"""
    " \x00\x1b[31m \u202egnp.exe 名前"
)


class Page(HTMLParser):
    """The elements of a page and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def read_times(**seconds: float):
    return [record(label, "read time", value, cache="warm") for label, value in seconds.items()]


def only_group(found):
    (family,) = results_by_suite(found)
    (group,) = family.groups
    return group


def charts(found):
    """Return all charts but heat maps."""
    return [chart for _, _, drawn, _ in pictures(outline_of(found)) for chart in drawn]


def every_kind():
    """Return results of all suites, with each kind of empty cell, a loss, and cells not run."""
    lost = "column a: text came back as bytes; column b: text came back as bytes"
    odd = [
        record("JPEG", "changed images", 7, suite="image.ImageLoad", dataset="cifar", sentence="lossy"),
        record("Excel", "lost columns", 2, sentence=lost),
        record("XML", "size", None, status=CellStatus.UNSUPPORTED, sentence="XML cannot store this"),
        record("HDF4", "size", None, status=CellStatus.UNAVAILABLE, sentence="HDF4 is not installed"),
        record(
            "ORC", "size", None, status=CellStatus.TIMED_OUT, sentence="not finished after 15 seconds"
        ),
        record("Lying", "size", None, sentence="came back wrong: column 'a' differs"),
    ]
    images = measured(["PNG", "LMDB"], ["cifar"], suite="image.Image", rows=500)
    return results(
        [*measured(["CSV", "Parquet"], ["eq", "str"]), *odd, *images, *compressed(["webface"])]
    )


# What is found


def test_the_verdict_names_the_best_its_ties_and_how_far_the_last_is_behind():
    found = results(
        in_rounds(
            [
                *read_times(Feather=1.0, Pickle=1.05, CSV=4.0),
                *(replace(each, dataset="str") for each in read_times(Feather=1.0, Pickle=2.0, CSV=9.0)),
                *(replace(each, dataset="int") for each in read_times(Feather=3.0, Pickle=1.0, CSV=8.0)),
            ]
        )
    )
    mean = math.prod([4, 9, 8]) ** (1 / 3)
    assert report.findings(found)[0] == (
        "Fastest to read, warm: Feather, no codec, on 2 of 3 data sets; ties with Pickle on 1;"
        f" elsewhere Pickle on 1; CSV takes {mean:.2f} times as long as the best (geometric mean)."
    )


def test_on_one_data_set_the_verdict_gives_the_value():
    found = results([record("A", "size", 2_000), record("B", "size", 1_000)])
    assert report.findings(found)[0] == "Smallest: B, 1 kB; A is 2.00 times as large as the best."


def test_the_verdict_tells_losses_wrong_values_and_empty_cells():
    (tables, *_) = report.findings(every_kind()), None
    said = "\n".join(tables)
    assert "Tables: Came back with wrong values: Lying on eq;" in said
    assert "Tables: Lost something: Excel; 2 of 7 gave everything back exactly." in said
    assert "Images: Lost something: JPEG, lossy; 2 of 3" in said
    assert re.search(r"Tables: Without a value: \d+ of \d+ cells: .*1 timed out", said)
    assert not any(sentence.startswith("Compression: Without") for sentence in tables)


def test_losses_of_values_are_apart_and_each_data_set_is_named_once():
    lost = {"sentence": "column a: Int64 came back as float64", "dataset": "core"}
    pixels = {"sentence": "pixels of 5 of 5 images changed", "suite": "image", "dataset": "digits"}
    found = results(
        [
            record("CSV", "lost columns", 1, unit="columns", **lost),
            record("JPEG", "changed images", 5, unit="images", **pixels),
        ]
    )
    page = Page(writers.html.page(found))
    said = " ".join(" ".join(page.text).split())
    (changed, kept) = said.index("Values that came back changed"), said.index("with right values")
    assert changed > kept  # in the order of the suites
    assert "JPEG, lossy digits pixels of 5 of 5 images changed" in said[changed:]
    assert "CSV core Int64 came back as float64" in said[kept:changed]
    assert "core, core" not in said


def test_a_tie_is_no_further_from_the_best_than_the_noise_of_the_rounds():
    times = {"A": 1.0, "B": 1.09, "C": 1.3, "D": 2.0, "E": 3.0, "F": 4.0}
    group = only_group(results(in_rounds(read_times(**times))))
    marks = {str(each): mark for each, mark in group.marks(Measure("read time", "warm")).items()}
    assert marks == {"A": "*", "B": "="} | dict.fromkeys("CDEF", "")


def test_without_rounds_a_tie_is_an_interval_that_overlaps_with_the_best():
    cells = zip(read_times(A=1.0, B=1.2, C=1.3), ([0.9, 1.1], [1.1, 1.4], [1.2, 1.5]), strict=True)
    group = only_group(results(replace(each, interval=interval) for each, interval in cells))
    marks = group.marks(Measure("read time", "warm"))
    assert marks == {Configuration("A"): "*", Configuration("B"): "=", Configuration("C"): ""}


def test_what_is_not_ranked_is_not_said_to_be_the_same():
    found = results([record("A", "held memory", 1), record("B", "held memory", 2)])
    assert report.findings(found) == [
        "Nothing to rank: no metric that is ranked has two values that differ."
    ]


@pytest.mark.parametrize("values", [{"A": 1.0}, {"A": 1.0, "B": 1.0}])
def test_nothing_is_best_where_nothing_differs(values):
    group = only_group(results(read_times(**values)))
    assert set(group.marks(Measure("read time", "warm")).values()) == {""}


def test_what_a_codec_costs_is_what_the_comparison_of_codecs_says():
    group = only_group(results(compressed(["eq"])))
    ratio, save, _ = (
        codec_costs(each, group)[Configuration("Parquet", "zstd", 1)] for each in CODEC_COSTS
    )
    assert ratio.value == pytest.approx(0.4)
    plain, packed = (
        group.cell(Configuration("Parquet", *codec), Measure("save time")) for codec in ((), ("zstd", 1))
    )
    assert save.value == pytest.approx(packed.value - plain.value)
    one, other = packed.interval, plain.interval
    assert save.interval == (one[0] - other[1], one[1] - other[0])
    added = next(each for each in CODEC_COSTS if each.measures == (Measure("save time"),))
    assert added.relate(replace(packed, interval=None), plain).interval is None


def test_cells_with_many_samples_are_told_as_quickly_as_any():
    many = [1.0 + number / 1e6 for number in range(20_000)]
    (plain, *_, packed) = compressed(["eq"])
    slow = [replace(each, repeats=many, interval=[1.0, 1.01]) for each in (plain, packed)]
    started = time.process_time()
    report.page(results([replace(each, metric="save time", unit="seconds") for each in slow]))
    assert time.process_time() - started < 10


def test_the_front_is_what_nothing_beats_in_both():
    points = {
        Configuration("A"): (1, 9),
        Configuration("B"): (2, 5),
        Configuration("C"): (2, 6),
        Configuration("D"): (3, 5),
        Configuration("E"): (9, 1),
    }
    assert [entry.format for entry in pareto_front(points)] == ["A", "B", "E"]


def test_thread_policies_and_sizes_are_not_compared_with_each_other():
    several = [
        record("A", "size", 1, threads="1"),
        record("A", "size", 2),
        record("A", "size", 3, rows=10),
    ]
    (family,) = results_by_suite(results(several))
    assert [group.name for group in family.groups] == [
        "eq, 50,000 rows, 1 thread",
        "eq, 50,000 rows, all threads",
        "eq, 10 rows, all threads",
    ]


def test_a_data_set_of_two_kinds_is_named_with_its_kind():
    found = results([record("A", "size", 1), *compressed(["eq", "webface"])])
    names = [group.name for family in results_by_suite(found) for group in family.groups]
    assert names == ["eq, tables", "eq, compression", "webface"]


# Pages and files


def test_every_cell_is_on_the_page():
    found = every_kind()
    page = Page(report.page(found))
    values = {float(facts["data-value"]) for _, facts in page.elements if facts.get("data-value")}
    text = " ".join(page.text)
    for each in found.records:
        if each.value is None:
            assert each.status.value in text
            assert each.sentence in text
        else:
            assert float(f"{each.value:.6g}") in values


def test_what_has_no_record_is_said_not_to_have_been_run():
    found = results(
        [record("A", "size", 1), record("B", "size", 2), record("A", "size", 3, dataset="str")]
    )
    text = " ".join(" ".join(Page(report.page(found)).text).split())
    assert "Not run on this data set: B." in text
    assert "Without a value 1 of 4 cells : 1 not run" in text


ODD = {
    "one cell": [record("A", "size", 5)],
    "one empty cell": [record("A", "read time", None, cache="warm")],
    "only zeros": [record("A", "size", 0), record("B", "size", 0)],
    "no charted metric": [record("A", "held memory", 5)],
    "a data set with one format": [*measured(["A", "B"], ["eq"]), *measured(["A"], ["str"])],
    "three states of the cache": [
        record(label, "read time", 1.0 + n, cache=cache)
        for label in "AB"
        for n, cache in enumerate(("warm", "cold", None))
    ],
    "an unknown family": [record("A", "size", 5, suite="arrays.Arrays")],
    "text of any kind": [
        record(EVIL, "size", 5, dataset=EVIL, suite=EVIL, sentence=EVIL, codec=EVIL),
        record("=1+1", "size", 0, dataset="+1", sentence="@SUM(A1)", suite="tabular"),
        record("x" * 2_000, "size", None, sentence=EVIL),
    ],
}


@pytest.mark.parametrize("output", writers.WRITERS)
@pytest.mark.parametrize("kind", ODD)
def test_any_results_have_a_report(kind, output, tmp_path):
    found = results(ODD[kind], metadata=[], name=EVIL)
    path = writers.path_of(output, tmp_path)
    report.write(found, output, path)
    assert path.exists()
    assert [each for each in tmp_path.iterdir() if each != path] == []


def test_a_parquet_file_explains_and_cites_itself(tmp_path):
    from pyarrow import parquet

    run = METADATA | {
        "command": "format-bench run --data /home/jane/a.csv",
        "scratch": {"path": "/home"},
    }
    found = results([record("CSV", "size", 5), *answered(["CSV"])], metadata=[run])
    report.write(found, "parquet", path := tmp_path / "run.parquet")
    schema = parquet.read_schema(path)
    assert {each.name for each in schema if not (each.metadata or {}).get(b"description")} == set()
    about = json.loads(schema.metadata[b"formatbench"])
    assert about["runs"][0]["libraries"]["pandas"] == "3.1.1"
    assert about["citation"].startswith("made up: results of FormatBench ")
    assert "/home" not in json.dumps(about)
    assert parquet.read_table(path).num_rows == len(found.records)


def test_text_of_records_is_text_on_the_page():
    page = Page(report.page(results(ODD["text of any kind"], name=EVIL)))
    scripts = [facts.get("type") for tag, facts in page.elements if tag == "script"]
    assert scripts == ["application/json", None]
    assert not [name for _, facts in page.elements for name in facts if name.startswith("on")]
    shown = " ".join(page.text)
    assert "<script>alert(1)</script>" in shown
    assert not set(shown) & set("\x00\x1b\u202e")


@pytest.mark.parametrize("output", ["html", "md", "csv"])
def test_no_text_of_records_commands_a_terminal(output, tmp_path):
    names = {"codec": EVIL, "medium": EVIL, "machine": EVIL, "sentence": EVIL, "suite": "tabular"}
    written = [
        record(label + EVIL, "size", size, dataset=dataset + EVIL, **names)
        for dataset in "xy"
        for size, label in enumerate("AB", start=1)
    ]
    path = writers.path_of(output, tmp_path)
    metadata = [{**METADATA, "cpu": EVIL}, {**METADATA, "libraries": {EVIL: EVIL}}]
    report.write(results(written, metadata=metadata, name=EVIL), output, path)
    text = path.read_text(encoding="utf-8")
    assert "\N{REPLACEMENT CHARACTER}[31m" in text.replace("\\", "")
    assert not set(text) & set("\x00\x1b\u202e")


def test_circumstances_of_several_runs_stand_beside_each_other_where_they_differ():
    newer = {"pandas": "3.2.0", "polars": "2.1.0"}
    later = {**METADATA, "started": "2026-12-01T02:00:00+00:00", "libraries": newer}
    found = results([record("A", "size", 1)], metadata=[METADATA, later])
    text = " ".join(" ".join(Page(report.page(found)).text).split())
    assert "pandas 3.1.1 3.2.0 pyarrow 26.0.1 unknown lmdb unknown polars unknown 2.1.0 system" in text
    assert "Some CPU, 8 CPUs, 32 GB of memory, Some Linux 12, 2026-12-01" in text


def test_the_page_names_nothing_outside_itself():
    # A script makes addresses of charts to be saved; the tests in a browser see that it loads nothing.
    html = re.sub("(?s)<script>.*?</script>", "", report.page(every_kind()))
    addresses = re.findall(r"""(?:src|href|url|@import)\s*[=(]\s*["']?([^"')\s>]+)""", html)
    assert {each for each in addresses if not each.startswith("#")} == {"data:,"}


def test_the_same_results_make_the_same_page():
    assert report.page(every_kind()) == report.page(every_kind())


def test_a_report_of_forty_formats_and_ten_data_sets_stays_small_and_quick():
    found = results(measured(labels(40), [f"data_{number}" for number in range(10)]))
    started = time.process_time()
    html = report.page(found)
    assert time.process_time() - started < 30
    assert len(html.encode()) < 5_000_000
    assert html.count("<svg") == 10 * 6


def test_a_workbook_has_numbers_as_numbers_and_text_as_text(tmp_path):
    found = results([*every_kind().records, *ODD["text of any kind"]])
    report.write(found, "xlsx", tmp_path / "report.xlsx")
    book = openpyxl.load_workbook(tmp_path / "report.xlsx")
    types = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert "f" not in types  # a formula
    assert "n" in types
    cells = book["all cells"]
    assert cells.max_row == 1 + len(found.records)
    header = [cell.value for cell in cells[1]]
    values = [row[header.index("value")] for row in cells.iter_rows(min_row=2, values_only=True)]
    assert values == pytest.approx([each.value for each in found.records], nan_ok=True)
    size = book["size (tabular)"]
    assert [cell.value for cell in size[1]][:3] == ["format, bytes", "eq", "str"]
    by_name = {row[0]: row[1:3] for row in size.iter_rows(min_row=2, values_only=True)}
    (expected,) = [
        e.value for e in found.records if (e.format, e.metric, e.dataset) == ("CSV", "size", "str")
    ]
    assert by_name["CSV"][1] == expected
    assert by_name["HDF4"][0] == "unavailable"
    assert {"losses", "empty cells", "circumstances"} <= set(book.sheetnames)


def test_a_csv_has_all_cells_and_no_formula(tmp_path):
    found = results([*every_kind().records, *ODD["text of any kind"]])
    report.write(found, "csv", tmp_path / "report.csv")
    with (tmp_path / "report.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["value"] for row in rows] == [
        "" if e.value is None else str(e.value) for e in found.records
    ]
    assert not [text for row in rows for text in row.values() if text.startswith(("=", "+", "-", "@"))]
    assert "'=1+1" in {row["format"] for row in rows}


def test_markdown_has_the_verdict_and_every_value(tmp_path):
    found = every_kind()
    report.write(found, "md", tmp_path / "report.md")
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(sentence.partition(":")[0] in text for sentence in report.findings(found))
    for title in (
        "Tables: str",
        "Images: cifar",
        "Compression: webface",
        "Losses",
        "Empty cells",
        "Circumstances",
    ):
        assert f"## {title}" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(re.fullmatch(r"\|( [^|]+ \|)+", line.replace("\\|", "")) for line in rows)


def test_pictures_are_one_for_each_chart_and_heat_map(tmp_path):
    found = results(measured(["A", "B"], ["eq"]))
    for kind in ("png", "svg"):
        report.write(found, kind, tmp_path / kind)
    pictures = sorted((tmp_path / "png").iterdir())
    drawings = sorted((tmp_path / "svg").iterdir())
    assert [each.stem for each in pictures] == [each.stem for each in drawings]
    assert len(pictures) == len(charts(found)) + 6
    for path, drawing in zip(pictures, drawings, strict=True):
        width, height = map(float, ET.parse(drawing).getroot().attrib["viewBox"].split()[2:])
        with Image.open(path) as picture:
            assert picture.size == (pytest.approx(2 * width, abs=2), pytest.approx(2 * height, abs=2))
            assert len(picture.convert("RGB").getcolors(100_000)) > 10, path


def test_a_pdf_has_pages_and_text(tmp_path):
    report.write(every_kind(), "pdf", tmp_path / "report.pdf")
    content = (tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF")
    assert content.rstrip().endswith(b"%%EOF")
    assert len(re.findall(rb"/Type /Page\b", content)) >= 5
    assert b"/Subtype /Type3" not in content  # text as outlines could not be searched


def test_a_report_that_fails_leaves_the_earlier_one(tmp_path):
    path = tmp_path / "report.csv"
    path.write_text("earlier", encoding="utf-8")
    broken = results([replace(record("A", "size", 1), repeats=object())])
    with pytest.raises(TypeError):
        report.write(broken, "csv", path)
    assert path.read_text(encoding="utf-8") == "earlier"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("output", ["html", "pdf", "md", "xlsx"])
def test_a_report_that_cannot_be_put_in_its_place_leaves_nothing(output, tmp_path):
    path = writers.path_of(output, tmp_path)
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        report.write(results([record("A", "size", 1)]), output, path)
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_library_is_named_with_what_would_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UnavailableError, match="openpyxl is not installed; try: pip install"):
        report.write(results([record("A", "size", 1)]), "xlsx", tmp_path / "report.xlsx")


# The command


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a folder with results of a real run."""
    folder = tmp_path_factory.mktemp("run")
    cases = [Case(label, "eq", 200) for label in ("CSV", "Pickle")]
    assert list(Runner(folder, folder, Limits(budget_seconds=0)).run(cases))
    return folder


def call(*arguments: object):
    return CliRunner().invoke(format_bench, ["report", *map(str, arguments)])


def test_the_command_writes_a_page_beside_the_results(run):
    done = call(run)
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(run / "report.html")
    text = " ".join(Page((run / "report.html").read_text(encoding="utf-8")).text)
    found = records.read(run / "results.jsonl")
    assert run.name in text
    assert all(each.format in text for each in found)
    assert "libraries" in text
    assert "pandas" in text


def test_the_command_writes_what_it_is_told_where_it_is_told(run, tmp_path):
    assert call(run, "--out", tmp_path / "a" / "run.pdf").exit_code == 0
    assert call(run, "--out", tmp_path / "b", "--format", "md", "--format", "xlsx").exit_code == 0
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert written == {"a/run.pdf", "b/report.md", "b/report.xlsx"}


def test_a_file_of_one_format_is_not_asked_to_hold_another(run, tmp_path):
    done = call(run, "--out", tmp_path / "run.pdf", "--format", "html")
    assert done.exit_code == 2
    assert "run.pdf is for pdf alone" in done.output
    assert list(tmp_path.iterdir()) == []


def test_an_ending_that_no_report_has_is_refused(run, tmp_path):
    done = call(run, "--out", tmp_path / "run.docx")
    assert done.exit_code == 2
    known = ".html, .pdf, .png, .svg, .csv, .xlsx, .parquet, .md"
    assert f"no report is a .docx file; known are {known}" in " ".join(done.output.split())
    assert list(tmp_path.iterdir()) == []
    assert call(run, "--out", tmp_path / "v1.2").exit_code == 0
    assert (tmp_path / "v1.2" / "report.html").exists()


def test_what_is_not_there_is_said_in_a_line(tmp_path):
    done = call(tmp_path)
    assert isinstance(done.exception, errors.InvalidResultsError)
    assert str(tmp_path) in str(done.exception)


def test_the_extent_counts_formats_with_values_alone():
    missing = CellStatus.UNAVAILABLE
    absent = record("Excel", "read time", None, status=missing, sentence="not measured")
    outline = outline_of(results([*measured(labels(3), ["eq"]), absent]))
    assert "Excel" in {each.format for each in outline.suites[0].configurations}
    assert outline.lead == "3 formats on 1 data set"
