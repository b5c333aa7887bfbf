"""Study of media: real trials on two media, the page, and estimates from seeks and bytes."""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidRequestError, InvalidResultsError
from format_bench.cli.main import format_bench, main
from format_bench.instruments import probe
from format_bench.instruments.medium import MediumFacts
from format_bench.instruments.probe import Probe
from format_bench.report.writers import html
from format_bench.results.load import RESULTS, Results, load
from format_bench.results.study_rows import StudyFile
from format_bench.runner.media import ComparedMedium, Scratch, compared
from format_bench.studies.declared import study as declared
from format_bench.studies.declared.rows import Instrument
from format_bench.studies.storage import media as study
from format_bench.studies.storage import storage_cell as stored
from format_bench.studies.storage.page import MediumModel, ReadCost, read_costs, turned
from format_bench.studies.storage.storage_cell import QUESTIONS, StorageCell, StorageResults
from tests.helpers import ROOT

SHARED_MEMORY = Path("/dev/shm")

FACTS = {
    "file_system": "ext4",
    "block_device": "loop0",
    "read_ahead_bytes": 131072,
    "random_read_seconds": 0.008,
    "random_read_p95_seconds": 0.009,
    "sequential_bytes_per_second": 100e6,
    "sync_seconds": 0.02,
}


def page(results, *further):
    """Return the page on results."""
    facts = {"media": results.media, "loads": results.loads, "formats": results.wanted}
    metadata = [{**facts, "cpu": {"usable": results.cpus}}]
    records = [record for each in results.cells for record in stored.FORM.records(each, "")]
    study_of = declared.read("media", medium=further)
    return study_of.page(Results("media", records, metadata), results.cells).markdown()


def cell(label, question, medium, *seconds, **fields):
    return StorageCell(label, "", question, medium, seconds, rows=1000, **fields)


@pytest.fixture
def made_up():
    """Return results in which SQLite is ahead in memory, and Lance on a disk with heads."""
    disk = {"requests": 300, "read_bytes": 10_000_000}
    cells = [
        cell("SQLite", "rows", "tmpfs", 0.06, 0.05),
        cell("Lance", "rows", "tmpfs", 0.1),
        cell("CSV", "rows", "tmpfs", status="unsupported", sentence="CSV has no rows"),
        cell("SQLite", "rows", "emulated hdd", 1.75, seeks=200, **disk),
        cell("Lance", "rows", "emulated hdd", 0.6, seeks=40, **disk),
        cell("CSV", "rows", "emulated hdd", status="unsupported", sentence="CSV has no rows"),
    ]
    media = {
        "tmpfs": {**FACTS, "file_system": "tmpfs", "block_device": None, "read_ahead_bytes": None},
        "emulated hdd": FACTS,
    }
    return StorageResults(1000, "query", media, 2, [1.0, 3.0], cells)


def session(media, out, labels, rows, **options):
    """Measure formats on media into a folder, and return all its results."""

    def plan(agenda):
        return study.measured(agenda, media, labels, rows, **{"rounds": 1, **options})

    cells, results = Instrument(stored.FORM, plan, str).run(out)
    return StorageResults.of(cells, results.metadata)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a real session on the temporary folder and in memory."""
    if MediumFacts.of(SHARED_MEMORY).file_system != "tmpfs":
        pytest.skip("/dev/shm is not on tmpfs")
    folder = tmp_path_factory.mktemp("media")
    scratch = folder / "scratch"
    scratch.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probe, "FILE_BYTES", 4 << 20)
        in_memory = Path(tempfile.mkdtemp(dir=SHARED_MEMORY))
        media = compared([Scratch(scratch, "disk"), Scratch(in_memory)])
    out = folder / "out"
    found = session(media, out, ["SQLite"], 2000)
    assert list(scratch.iterdir()) == list(in_memory.iterdir()) == []
    # All is measured; another round adds a time to each cell.
    before = (out / RESULTS).read_bytes()
    assert session(media, out, ["SQLite"], 2000) == found
    assert (out / RESULTS).read_bytes() == before
    again = session(media, out, ["SQLite"], 2000, rounds=2)
    assert {len(each.seconds) for each in again.cells} == {2}
    in_memory.rmdir()
    check_records(load(out))
    with pytest.raises(InvalidResultsError, match="has results of 2,000 rows on disk, tmpfs"):
        session(media, out, ["SQLite"], 3000)
    return found


def check_records(results):
    """Compare the records of a session with those of any run, which a report shows."""
    assert {each.medium for each in results.records} == {"disk", "tmpfs"}
    found = {(each.metric, each.query, each.cache) for each in results.records}
    assert {("durable save time", "", None), ("size", "", None)} <= found
    assert {("query time", query, "cold") for query in ("whole", "columns", "rows")} <= found
    assert ("query time", "rows", "warm") in found
    assert set(results.metadata[-1]["media"]) == {"disk", "tmpfs"}
    assert "SQLite" in html.page(results)


def test_each_question_is_asked_on_each_medium(measured):
    found = {(each.question, each.medium): each for each in measured.cells}
    assert set(found) == {(each, medium) for each in QUESTIONS for medium in ("disk", "tmpfs")}
    assert {each.status for each in found.values()} == {""}
    assert {len(each.seconds) for each in found.values()} == {1}
    assert {each.file_bytes > 100_000 for each in found.values() if each.question == "save"} == {True}
    # A shared disk's counters and memory have nothing to tell.
    if MediumFacts.of(Path(measured.media["disk"]["path"]).parent).has_own_device is False:
        assert {each.requests for each in found.values()} == {None}
    assert found["rows", "disk"].engine == "sqlite3"
    text = page(measured)
    assert "## 100 random rows" in text
    # Without a disk that counts seeks there are no estimates.
    assert "## Any other medium" not in text
    assert "No estimates of tape (5000 ms, 300 MB/s): they need" in page(measured, "tape=5000,300")


def test_time_ends_a_session_between_formats(tmp_path):
    media = compared([Scratch(tmp_path, "disk")])
    with pytest.raises(InvalidRequestError, match="--time-budget was spent before the first of 1 cell"):
        session(media, tmp_path / "out", ["SQLite"], 1000, minutes=0)
    assert not (tmp_path / "out" / RESULTS).exists()


def test_formats_turn_around(made_up):
    assert turned(made_up, "rows") == [("SQLite", "Lance", ["tmpfs"], ["emulated hdd"])]
    slow = [replace(each, seconds=(9.0,)) if each.format == "Lance" else each for each in made_up.cells]
    assert turned(replace(made_up, cells=slow), "rows") == []


def test_the_page_has_times_reads_turns_and_reasons(made_up):
    text = page(made_up, "tape=5000,300")
    assert "| SQLite | **50 ms** | 1.75 s | 300; 10 MB, 200 seeks |" in text
    assert (
        "- SQLite is ahead of Lance on tmpfs (50 ms to 100 ms); Lance is ahead on emulated hdd (600 ms"
        " to 1.75 s)." in text
    )
    assert "- CSV: unsupported: CSV has no rows\n" in text
    assert "1 pair of formats turns around" in text
    made_up.wanted.extend(["SQLite", "DuckDB", "Pickle"])
    assert "Not measured: DuckDB and Pickle." in page(made_up)
    # 0.05 s + 200 * 8 ms + 10 MB / 100 MB/s
    assert "| SQLite | 200 | 10 | 50 ms | 1.75 s | 1.75 s |" in text
    assert "tape (5000 ms, 300 MB/s)" in text
    assert "the 2 estimates are" in text


def test_a_page_without_metadata_has_the_times(made_up):
    records = [record for each in made_up.cells for record in stored.FORM.records(each, "")]
    results = Results("media", records, [])
    text = declared.read("media", medium=("tape=5000,300",)).page(results, made_up.cells).markdown()
    assert "| SQLite | **50 ms** | 1.75 s |" in text
    assert "The load of the machine is not known: an order" in text
    assert "## The media" not in text
    assert "No estimates of tape (5000 ms, 300 MB/s): they need reads in memory" in text


def test_a_read_costs_seeks_and_bytes(made_up):
    cost = ReadCost("X", "rows", 0.1, 10, 2_000_000)
    assert cost.seconds_on(MediumModel("disk", 0.01, 1e6)) == pytest.approx(0.1 + 0.1 + 2)
    assert [(each.format, each.seeks) for each, _ in read_costs(made_up, "rows")] == [
        ("SQLite", 200),
        ("Lance", 40),
    ]
    assert read_costs(made_up, "whole") == []


@pytest.mark.parametrize(
    "text", ["disk", "disk=8", "=8,150", "disk=8,0", "disk=a,b", "disk=-1,5", "disk=nan,5", "disk=8,inf"]
)
def test_other_figures_than_two_are_refused(text):
    with pytest.raises(InvalidRequestError, match="write a name, milliseconds"):
        MediumModel.parse(text)


def test_results_of_an_earlier_version_go_on(tmp_path, monkeypatch):
    kept = ROOT / "tests/data/study_results"
    shutil.copy(kept / "media.json", tmp_path)
    rows, found = study.MEDIA.read(tmp_path / "media.json")
    earlier = StorageResults.of(rows, found.metadata)
    media = [
        ComparedMedium(name, tmp_path, MediumFacts(), Probe(1, 1, 1, 1, 1)) for name in earlier.media
    ]
    monkeypatch.setattr(ComparedMedium, "metadata", property(lambda each: earlier.media[each.name]))
    labels = earlier.formats[:1]
    for place in ("media.json", "media.json", "media"):
        again = session(media, tmp_path / place, labels, earlier.rows)
        assert again == earlier
    (tmp_path / "other.json").write_text('{"rows": 1}')
    with pytest.raises(InvalidResultsError, match="contains no results of `study media`"):
        study.MEDIA.read(tmp_path / "other.json")


def test_records_make_the_page_of_the_earlier_file(tmp_path):
    kept = ROOT / "tests/data/study_results"
    rows, found = study.MEDIA.read(kept / "media.json")
    earlier = StorageResults.of(rows, found.metadata)
    file = StudyFile(stored.FORM, tmp_path)
    for each in earlier.cells:
        file.append(each)
    # The kept page is that of two CPUs.
    facts = {"started": "2026-11-23", "cpu": {"usable": earlier.cpus}, "media": earlier.media}
    facts |= {"loads": earlier.loads, "formats": earlier.wanted}
    (tmp_path / "run.json").write_text(json.dumps(facts))
    done = CliRunner().invoke(format_bench, ["study", "media", "--page", str(tmp_path)])
    lines = [each for each in (kept / "media.md").read_text().splitlines() if each[:2] in {"| ", "- "}]
    assert [each for each in done.output.splitlines() if each in lines] == lines


def test_each_format_of_the_study_has_an_engine_that_reads_it():
    for label in declared.read("media").options["formats"].default.split(","):
        assert study.engine_of(label), label


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give --out FOLDER to measure"),
        (["--out", "x"], "at least two --scratch are needed"),
        (["--out", "x", "--formats", "Parkuet"], "did you mean Parquet"),
        (["--out", "x", "--scratch", "/nowhere"], "there is no such folder"),
    ],
)
def test_bad_input_is_refused_in_one_line(options, message, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["study", "media", *options])
    said = capfd.readouterr().err
    assert (ended.value.code, message in said, said.count("\n")) == (2, True, 1), said
    assert list(tmp_path.iterdir()) == []
