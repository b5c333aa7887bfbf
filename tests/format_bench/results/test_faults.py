"""Faults at each call to the file system while records are written, read and repaired."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from tools.check_faults import FAULTS, STATE, Calls, library


@pytest.fixture(scope="session")
def preload(tmp_path_factory):
    """Return the variables with which a process has the library, and the state that it shares."""
    folder = tmp_path_factory.mktemp("faults")
    try:
        built = library(folder)
    except RuntimeError as error:
        pytest.skip(str(error))
    calls = Calls(folder / "state")
    return {**os.environ, "LD_PRELOAD": str(built), STATE: str(folder / "state")}, calls


def _run(code, environment, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


WRITE = "import sys; open(sys.argv[1], 'wb', buffering=0).write(b'12345678')"


def test_the_call_of_a_number_fails(preload, tmp_path):
    environment, calls = preload
    calls.count_below(tmp_path)
    path = tmp_path / "a"
    with calls.failing(0, FAULTS["full"]):
        assert _run(WRITE, environment, path).returncode == 0
    assert calls.number == 2
    with calls.failing(2, FAULTS["full"]):
        done = _run(WRITE, environment, path)
    assert f"[Errno {errno.ENOSPC}]" in done.stderr
    assert calls.failed == f"write {path}"
    with calls.failing(2, FAULTS["part"]):
        assert _run(WRITE, environment, path).returncode == 0
    with calls.failing(1, FAULTS["killed"]):
        assert _run(WRITE, environment, path).returncode == -9
    assert calls.failed == f"open64 {path}"


EACH = """
import os, sys
from pathlib import Path
from adapter_core.files import write_atomically
from format_bench.results import records
from tests.factories.records import record
from tools.check_faults import FAULTS, STATE, Calls

folder, step, fault = Path(sys.argv[1]), sys.argv[2], FAULTS[sys.argv[3]]
calls = Calls(Path(os.environ[STATE]))
calls.count_below(folder)
path = folder / "results.jsonl"
old, new = (record(label, "save time", 1.0) for label in ("CSV", "XML"))

def act():
    if step == "append":
        records.append(path, new)
    else:
        with write_atomically(path, durable=True) as temporary:
            temporary.write_bytes(records.line(new))

tried = 0
while True:
    path.write_bytes(records.line(old))
    process = os.fork()
    if not process:
        with calls.failing(tried + 1, fault):
            try:
                act()
            except OSError:
                os._exit(2)
        os._exit(0)
    _, status = os.waitpid(process, 0)
    is_reached = bool(calls.failed)
    with calls.failing(0, fault):
        pass
    found = records.read(path)
    is_done = os.waitstatus_to_exitcode(status) == 0
    if step == "append":
        assert found in ([old], [old, new]), (tried, found)
        assert found == [old, new] or not is_done
        records.append(path, new)
        assert records.read(path) == [*found, new]
    else:
        assert found in ([old], [new]), (tried, found)
        assert found == [new] or not is_done
    for left in folder.glob(".*.partial*"):
        assert sys.argv[3] == "killed", left
        left.unlink()
    if not is_reached:
        break
    tried += 1
print(tried)
"""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", ["append", "replace"])
def test_results_are_whole_after_a_fault_at_any_call(preload, tmp_path, step, fault):
    environment, _ = preload
    done = _run(EACH, environment, tmp_path, step, fault)
    assert done.returncode == 0, done.stderr
    # Open, write, and bring it to the disk at least.
    assert int(done.stdout) >= 3


@pytest.mark.costly("format_bench.results")
@pytest.mark.slow
def test_a_repair_is_whole_after_faults(root):
    command = [sys.executable, "-m", "tools.check_faults", "repair", "--every", "3"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("nothing wrong, nothing half written\n"), done.stdout + done.stderr
