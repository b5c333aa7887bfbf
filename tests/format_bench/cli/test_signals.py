"""Ends of commands by signals: what they leave, and with which status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

RUN = ("run", "--formats", "Feather,Pickle", "--rows", "200", "--repeats", "3", "--out", "out")
COMMANDS = {
    "run": RUN,
    "recommend": ("recommend", "--data", "mine.csv"),
    "plan": ("plan", "mix.toml", "--dataset", "era5-small", "--rows", "20", "--stores", "HDF5"),
    "study": ("study", "cold-reads", "--rows", "200"),
}


@pytest.fixture
def temporary():
    """Return a folder for temporary files; its path is short, as those of sockets must be."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def start(root, tmp_path, temporary):
    """Start a command in a folder of the test, with temporary files and processes of its own."""
    started = []

    def popen(*arguments: str, ignored: str = "") -> subprocess.Popen[str]:
        # Processes of the test may ignore signals, as those in the background of a shell do.
        command = ["env", "--default-signal=INT,TERM,HUP"]
        command += [f"--ignore-signal={ignored}"] * bool(ignored)
        process = subprocess.Popen(
            [*command, sys.executable, str(root / "main.py"), *arguments],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(temporary)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield popen
    for process in started:
        process.kill()
        process.communicate()


def _wait(process, is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.02)


def _processes_below(folder: Path) -> list[str]:
    """Return the commands of all processes whose temporary files are below a folder."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        try:
            if f"TMPDIR={folder}".encode() in (each / "environ").read_bytes():
                found.append((each / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has just ended, or is another user's
    return found


def _check_left_nothing(folder: Path, temporary: Path) -> None:
    assert list(temporary.iterdir()) == []
    assert not [*folder.rglob("*.partial*"), *folder.rglob("*format-bench-*")]
    deadline = time.monotonic() + 10
    # The kernel ends the server of forks a moment later.
    while _processes_below(temporary):
        assert time.monotonic() < deadline, _processes_below(temporary)
        time.sleep(0.05)


@pytest.mark.costly("format_bench.cli", "format_bench.runner")
@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("run", signal.SIGTERM),
        ("recommend", signal.SIGHUP),
        ("plan", signal.SIGTERM),
        ("study", signal.SIGHUP),
    ],
)
def test_a_command_that_a_signal_ends_leaves_nothing(start, tmp_path, temporary, name, number):
    (tmp_path / "mine.csv").write_text("a,b\n" + "1,x\n" * 1000, encoding="utf-8")
    mix = '[[query]]\nname = "a"\ntime = "all"\nlatitude = 1\nlongitude = 1\n'
    (tmp_path / "mix.toml").write_text(mix, encoding="utf-8")
    process = start(*COMMANDS[name])
    # Python tries out a file there first, and TemporaryDirectory needs a moment to know its folder.
    _wait(process, lambda: any(each.is_dir() for each in temporary.iterdir()))
    time.sleep(0.5)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + number, said
    assert f"format-bench: ended by {number.name}" in said
    assert "Traceback" not in said
    _check_left_nothing(tmp_path, temporary)


@pytest.mark.costly("format_bench.cli", "format_bench.runner")
def test_a_closed_terminal_signals_all_processes_and_measured_cells_stay(start, tmp_path, temporary):
    process = start(*RUN)
    results = tmp_path / "out" / "results.jsonl"
    _wait(process, lambda: results.exists() and results.stat().st_size)
    # Twice: the second must not break off the clean-up.
    for number in (signal.SIGHUP, signal.SIGTERM):
        os.killpg(process.pid, number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGHUP, said
    assert "the same command resumes" in said
    assert results.read_bytes().endswith(b"\n")
    _check_left_nothing(tmp_path, temporary)


def test_nohup_is_obeyed(start, temporary):
    process = start(*RUN, ignored="HUP")
    _wait(process, lambda: any(temporary.iterdir()))
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM
