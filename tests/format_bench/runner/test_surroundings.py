"""Cells that fail with their surroundings: a later run measures them again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace

import pytest
from rich.console import Console

from format_bench.families.cases import Case
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.results.records import key
from format_bench.results.status import CellStatus, is_of_surroundings
from format_bench.runner.plan import RunRequest
from format_bench.runner.runner import Limits, Runner
from format_bench.runner.session import measure

RUN = """
import sys
from pathlib import Path
from format_bench.families.cases import Case
from format_bench.metadata import libraries
from format_bench.runner.runner import Limits, Runner

# Asking all libraries for their versions takes seconds.
libraries.facts_from_child = lambda *_: {}

if __name__ == "__main__":
    cases = [Case(label, "eq", int(sys.argv[3])) for label in ("Feather", "Blosc2", "Pickle")]
    runner = Runner(Path(sys.argv[1]), Path(sys.argv[2]), Limits(budget_seconds=0), steps={"save"})
    print(len(list(runner.run(cases))), runner.store.failed_with_surroundings())
"""


def on_disk_of(size: str, folder) -> list[str]:
    """Return the start of a command that runs another on a full small disk at a folder."""
    script = f'mount -t tmpfs -o size={size} none {folder} && exec "$@"'
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh"]


def may_mount(folder) -> bool:
    """Return whether this user may mount a disk in a namespace of its own."""
    command = [*on_disk_of("64k", folder), "true"]
    return bool(shutil.which("unshare")) and not subprocess.run(command, check=False).returncode


def failed(record, sentence):
    """Return a record without its value, as of its first round."""
    empty = {"value": None, "repeats": [], "interval": None, "round_sizes": [], "rounds": 1}
    empty |= {"cpu_repeats": [], "loop_repeats": []}
    return replace(record, **empty, status=CellStatus.FAILED, sentence=sentence)


@pytest.mark.costly
def test_cells_of_a_full_disk_are_measured_when_there_is_room(tmp_path):
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    if not may_mount(scratch):
        pytest.skip("disks of a namespace cannot be mounted here")
    script = tmp_path / "run.py"
    script.write_text(RUN, encoding="utf-8")
    command = [sys.executable, str(script), str(out), str(scratch), "20000"]

    def run(*start: str) -> str:
        done = subprocess.run([*start, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    # The data fit, a saved table beside them does not.
    made, failed = map(int, run(*on_disk_of("1500k", scratch)).split())
    assert made == failed > 0
    full = records.read(out / RESULTS)
    # Each library has words of its own.
    assert len({each.sentence for each in full}) > 1
    assert run().split() == [str(made), "0"]
    assert run().split() == ["0", "0"]
    last = {key(each): each for each in records.read(out / RESULTS)}
    assert {each.status for each in last.values()} == {CellStatus.VALUE}
    assert len(last) == made


@pytest.mark.usefixtures("libraries_unasked")
def test_a_run_says_which_cells_it_tries_again(tmp_path, capsys):
    request = RunRequest(
        suite="tabular", formats=("Pickle",), rows=100, repeats=1, steps=("save",), out=tmp_path,
        scratch=tmp_path,
    )  # fmt: skip
    console = Console(stderr=True, width=200)
    records_of = Runner(tmp_path, tmp_path, Limits(1, 1, 0.0), steps={"save"})
    made = list(records_of.run([Case("Pickle", "eq", 100)]))
    sentence = "OSError: [Errno 28] No space left on device"
    lines = (records.line(failed(each, sentence)) for each in made)
    (tmp_path / RESULTS).write_bytes(b"".join(lines))
    found = measure(request, console, on_own=lambda _: None, on_record=lambda _: None)
    said = capsys.readouterr().err
    assert f"trying {len(made)} cells again that failed for lack of space or memory" in said
    assert {each.status for each in found.records} == {CellStatus.VALUE}
    measure(request, console, on_own=lambda _: None, on_record=lambda _: None)
    assert "again" not in capsys.readouterr().err


def test_a_failure_of_this_run_is_left_to_the_next(tmp_path):
    case = Case("Pickle", "eq", 100)
    runner = Runner(tmp_path, tmp_path, Limits(3, budget_seconds=0), steps={"save"})
    (made, *_) = list(runner.run([case]))
    killed = failed(made, "its process was killed (SIGKILL), as the kernel does when memory runs out")
    records.append(tmp_path / RESULTS, killed)
    assert runner.left([case]) == []
    assert runner.store.failed_with_surroundings() == 1
    again = Runner(tmp_path, tmp_path, Limits(3, budget_seconds=0), steps={"save"})
    assert again.store.tried_again([case]) == 1
    assert {number for number in (1, 2, 3) if again.store.missing(case, number, {"save"})} == {1, 2, 3}
    list(again.run([case]))
    assert again.left([case]) == []
    # A run that was killed after its last cell left its folder.
    (tmp_path / "format-bench-left").mkdir()
    assert (
        list(Runner(tmp_path, tmp_path, Limits(3, budget_seconds=0), steps={"save"}).run([case])) == []
    )
    assert not (tmp_path / "format-bench-left").exists()
    assert {each.status for each in again.store.read()} == {CellStatus.VALUE}


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("OSError: [Errno 28] No space left on device", True),
        ("OSError: [Errno 122] Disk quota exceeded", True),
        ("OSError: [Errno 5] Input/output error", True),
        ("SerialisationError: IO_ENOSPC", True),
        ("OperationalError: database or disk is full", True),
        ("MemoryError: Unable to allocate 8.00 GiB for an array", True),
        ("ArrowMemoryError: malloc of size 64 failed", True),
        ("RuntimeError: std::bad_alloc", True),
        ("its process was killed (SIGKILL), as the kernel does when memory runs out", True),
        (
            "RuntimeError: failed; 0.3 MB were free on the disk of its files",
            True,
        ),
        ("no worker finished it in 3 attempts: one was lost", True),
        ("its process crashed (SIGSEGV)", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'a'", False),
        ("ValueError: errno 2800 rows", False),
    ],
)
def test_failures_of_the_surroundings_are_told_by_their_sentence(sentence, expected):
    assert is_of_surroundings(CellStatus.FAILED, sentence) is expected
    assert not is_of_surroundings(CellStatus.TIMED_OUT, sentence)
