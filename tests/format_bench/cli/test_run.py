"""The command `format-bench run`, as a user calls it."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import pandas as pd
import pytest

from adapter_core.errors import InvalidRequestError
from format_bench.cli.main import main
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.runner.session import limits_of
from tests.commands import run
from tests.helpers import ROOT

QUICK = ["--formats", "Feather,Pickle", "--rows", "200", "--repeats", "1"]


@pytest.fixture
def call(tmp_path):
    """Call the command with its results and measured files in folders of the test."""
    return caller(tmp_path)


def caller(folder):
    """Return a function that calls the command with its results and measured files in a folder."""
    scratch = folder / "scratch"
    scratch.mkdir()

    def call(*arguments, out="out"):
        done = run("run", "--out", folder / out, "--scratch", scratch, *arguments)
        assert list(scratch.iterdir()) == []
        return done

    return call


@pytest.fixture(scope="module")
def whole(root, tmp_path_factory):
    """Return a finished run of a process of its own, its folder, and a function that calls it again."""
    folder = tmp_path_factory.mktemp("whole")
    call = caller(folder)
    places = ["--out", folder / "out", "--scratch", folder / "scratch"]
    command = [sys.executable, root / "main.py", "run", *places, *QUICK, "--cold", "--report"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    assert list((folder / "scratch").iterdir()) == []
    return done, folder, call


@pytest.fixture
def call_here(tmp_path, monkeypatch, capfd, libraries_unasked):  # noqa: ARG001 (for what it does)
    """Call the command in this process, which saves the imports."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str, out: str = "out") -> subprocess.CompletedProcess[str]:
        command = ["run", "--out", str(tmp_path / out), "--scratch", str(scratch), *map(str, arguments)]
        with pytest.raises(SystemExit) as ended:
            main(command)
        said = capfd.readouterr()
        assert list(scratch.iterdir()) == []
        return subprocess.CompletedProcess(command, ended.value.code or 0, said.out, said.err)

    return call


def test_a_run_prints_a_table_and_a_verdict(whole):
    done, folder, _ = whole
    assert done.returncode == 0, done.stderr
    header, *_ = [line for line in done.stdout.splitlines() if line.startswith("format")]
    assert header.split()[:5] == ["format", "save", "read", "cold", "size"]
    assert "Fastest to read, warm:" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    assert "measured" in done.stderr
    found = records.read(folder / "out" / RESULTS)
    assert {record.format for record in found} == {"Feather", "Pickle"}
    assert {record.cache for record in found} == {"warm", "cold", None}


def test_the_manual_shows_a_table_of_this_shape(whole):
    sample = (ROOT / "docs/getting_started.md").read_text(encoding="utf-8")
    headers = {
        tuple(line.split())
        for text in (sample, whole[0].stdout)
        for line in text.splitlines()
        if re.match(r"format\s+save", line)
    }
    assert len(headers) == 1
    assert "\n* best, = tie. Smaller is better" in sample
    assert "\n* best, = tie. Smaller is better" in whole[0].stdout


def test_a_finished_run_is_not_measured_again_unless_asked(whole):
    first, folder, call = whole
    before = (folder / "out" / RESULTS).read_bytes()
    again = call(*QUICK, "--cold")
    assert (folder / "out" / RESULTS).read_bytes() == before
    assert again.stdout == first.stdout
    shutil.copytree(folder / "out", folder / "discarded")
    fresh = call(*QUICK, "--cold", "--fresh", out="discarded")
    assert fresh.returncode == 0
    after = (folder / "discarded" / RESULTS).read_bytes()
    assert after != before
    assert after.count(b"\n") == before.count(b"\n")


def test_records_are_printed_as_json_as_they_come(call):
    done = call(*QUICK, "--json")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert {(each["format"], each["rows"], each["rounds"]) for each in found} == {
        ("Feather", 200, 1),
        ("Pickle", 200, 1),
    }


def test_a_finished_run_prints_its_records_as_json(whole):
    _, folder, call = whole
    before = records.read(folder / "out" / RESULTS)
    done = call(*QUICK, "--cold", "--json")
    assert [json.loads(line) for line in done.stdout.splitlines()] == list(map(asdict, before))


def test_quiet_prints_only_results(root, tmp_path):
    command = [sys.executable, str(root / "main.py"), "--quiet", "run", "--out", str(tmp_path), *QUICK]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Feather" in done.stdout


def test_an_interrupted_run_keeps_its_results_and_resumes(root, call, tmp_path):
    results = tmp_path / "out" / RESULTS
    command = [sys.executable, str(root / "main.py"), "run", "--out", str(tmp_path / "out")]
    command += ["--scratch", str(tmp_path / "scratch"), *QUICK[:-1], "3"]
    # What a shell starts in the background ignores SIGINT, and so do the tests there.
    command = ["env", "--default-signal=INT", *command]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while not (results.exists() and results.stat().st_size):
        assert time.monotonic() < deadline, "nothing was measured"
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "the same command resumes" in said
    kept = results.read_bytes()
    done = call(*QUICK[:-1], "3")
    assert done.returncode == 0
    assert results.read_bytes().startswith(kept)
    last = {(r.format, r.metric, r.cache): r.rounds for r in records.read(results)}
    assert set(last.values()) == {3}


def test_the_time_budget_leaves_the_rest_for_later(call_here):
    done = call_here(*QUICK[:-1], "3", "--time-budget", "1s")
    assert done.returncode == 0
    assert "left; results so far are in" in done.stderr


@pytest.mark.costly("format_bench.runner")
def test_within_a_time_budget_dear_formats_have_values_on_a_sample_and_a_reason(call_here, tmp_path):
    done = call_here("--formats", "Excel,Feather", "--rows", 400_000, "--time-budget", "25s")
    assert done.returncode == 0
    found = records.read(tmp_path / "out" / RESULTS)
    rows = {label: {r.rows for r in found if r.format == label} for label in ("Excel", "Feather")}
    # Excel comes first in the alphabet, but would take longer than the rest of the budget.
    assert rows["Excel"] == {16_000}
    assert 400_000 in rows["Feather"]
    assert "not run: the time budget of 25 s was spent" in done.stdout
    assert "16,000 rows" in done.stdout
    (metadata,) = (tmp_path / "out").glob("*-threads-all.json")
    assert json.loads(metadata.read_text())["scale"] == "16000 rows; 400000 rows"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_user_tables_are_described_and_measured(call_here, tmp_path, kind):
    df = pd.DataFrame({"number": range(300), "word": [f"w{i % 7}" for i in range(300)]})
    path = tmp_path / f"mine.{kind}"
    getattr(df, f"to_{kind}")(path, index=False)
    done = call_here("--data", path, "--sample", 100, *QUICK[:2], "--repeats", 1)
    assert done.returncode == 0, done.stderr
    assert "100 rows, 2 columns" in done.stdout
    assert "mine, 100 rows" in done.stdout
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine." + kind, "out", "scratch"]


def test_results_of_different_data_with_one_name_are_not_mixed(call_here, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    assert call_here("--data", path, *QUICK[:2], "--repeats", 1).returncode == 0
    path.write_text("a,b\n1,3\n", encoding="utf-8")
    done = call_here("--data", path, *QUICK[:2], "--repeats", 1)
    assert done.returncode == 2
    assert "contains results of another mine; start over with --fresh" in done.stderr


def test_user_images_are_measured(call_here, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    for name in ("cat", "dog"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        pillow.new("RGB", (8, 9), "red").save(tmp_path / "pets" / name / "one.png")
    done = call_here("--data", tmp_path / "pets", "--formats", "NumPy,PNG", "--repeats", 1)
    assert done.returncode == 0, done.stderr
    assert "pets, 2 images" in done.stdout


def test_the_report_is_written_on_request(whole):
    done, folder, _ = whole
    assert done.returncode == 0, done.stderr
    assert "<html" in (folder / "out" / "report.html").read_text(encoding="utf-8")


def test_the_switches_of_the_thesis_work(call_here, tmp_path):
    done = call_here("--compression", "--formats", "Pickle", "--rows", 50, "--repeats", 1)
    assert done.returncode == 0, done.stderr
    assert "Pickle zstd 1" in done.stdout
    table = tmp_path / "web.csv"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    done = call_here("--tabular", "--webface", table, "--formats", "CSV", "--repeats", 1, out="web")
    assert "web, 1 rows" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--data", "missing.csv"], "there is no such file"),
        (["--data", "."], "contains no images"),
        (["--data", "empty.csv"], "empty.csv"),
        (["--data", "text.csv", "--rows", "5"], "--data cannot be combined"),
        (["--data", "text.csv", "--webface", "text.csv"], "cannot be combined"),
        (["--data", "text.csv", "--sample", "0"], "not in the range"),
        (["--data", "text.csv", "--image"], "text is a table"),
        (["--sample", "5"], "need --data"),
        (["--formats", "Parkett"], "did you mean Parquet"),
        (["--formats", ","], "no name is given"),
        (["--datasets", "eqq"], "did you mean eq?"),
        (["--rows", "-5"], "at least 1"),
        (["--rows", "many"], "not a valid integer"),
        (["--repeats", "0"], "not in the range"),
        (["--codecs", "zzip", "--formats", "CSV"], "zzip"),
        (["--codecs", "zstd:99", "--formats", "Parquet"], "levels 1 to 22, not 99"),
        (["--image", "--codecs", "zstd"], "no choice of a codec"),
        (["--suite", "video"], "not one of"),
        (["--threads", "2"], "it is one of 1 and all"),
        (["--time-budget", "soon"], "is not a duration"),
        (["--scratch", "nowhere"], "there is no such folder"),
        (["--out", "text.csv"], "not a folder"),
        (["--unknown"], "No such option"),
    ],
)
def test_bad_input_gets_one_clear_line(tmp_path, monkeypatch, capfd, arguments, words):
    (tmp_path / "text.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "empty.csv").touch()
    before = sorted(tmp_path.iterdir())
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["run", "--out", "out", *arguments])
    said = capfd.readouterr()
    assert ended.value.code == 2
    assert said.err.count("\n") == 1, said.err
    assert words in said.err
    assert said.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_step_has_the_time_that_is_given(call_here, monkeypatch):
    seen = []

    def note(request, *_, **__):
        seen.append(limits_of(request).limit_seconds)
        raise InvalidRequestError("noted")

    monkeypatch.setattr("format_bench.cli.commands.run.measure", note)
    for given in ((), ("--step-limit", "2h")):
        assert "noted" in call_here(*QUICK, *given).stderr
    assert seen == [1800, 7200]
