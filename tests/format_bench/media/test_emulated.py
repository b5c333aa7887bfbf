"""Emulated media: made, measured and removed whole, as root; refused in one line otherwise."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapter_core.errors import MediumError, UnknownNameError
from format_bench.cli.commands.media import command
from format_bench.media import emulated, probe, registry, slow_disk
from format_bench.media.device_reads import DeviceWatch
from format_bench.media.facts import MediumFacts, mounts
from format_bench.media.probe import Probe

SIZE = 256 << 20

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes media")


def missing(kind):
    """Return the reason why a kind cannot be made here; empty if it can."""
    lacking = [tool for tool in emulated.KINDS[kind].tools if not shutil.which(tool)]
    if lacking:
        return f"{', '.join(lacking)} is not installed"
    if kind != "ram" and not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    return ""


def call(*arguments):
    return CliRunner().invoke(command, [*map(str, arguments)])


def left_in(folder):
    """Return what media leave below a folder: files, mounts, loop devices, processes."""
    return [
        *(each for each in folder.rglob("*") if each.is_file()),
        *(each.point for each in mounts() if each.point.is_relative_to(folder)),
        *emulated._loop_devices(folder),
        *(each.folder for each in registry.media() if each.folder.is_relative_to(folder)),
    ]


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """Keep the entries of other media of this machine out of the test."""
    monkeypatch.setattr(registry, "FOLDER", tmp_path / "registry")
    monkeypatch.setattr(probe, "FILE_BYTES", 8 << 20)
    return tmp_path / "media"


@as_root
@pytest.mark.parametrize("kind", ["ram", "ext4", "btrfs"])
def test_a_medium_is_made_found_out_and_removed(kind, registered):
    if reason := missing(kind):
        pytest.skip(reason)
    folder = registered / kind
    try:
        made = emulated.make(kind, folder, SIZE)
    except MediumError as error:
        if "permission" in str(error).lower():
            pytest.skip(str(error))
        raise
    try:
        found = MediumFacts.of(folder)
        assert found.label() == made.label == emulated.KINDS[kind].label
        assert made.label.startswith("emulated")
        assert found.file_system == {"ram": "tmpfs"}.get(kind, kind)
        assert str(folder) in call("list").output
        assert "something is mounted there" in refused(kind, folder)
        if kind == "ext4":
            check_exact_counters(folder)
    finally:
        assert call("remove", folder).exit_code == 0
    assert left_in(registered) == []


def check_exact_counters(folder):
    """Compare the reads of a loop device with the size of a file."""
    file, watch = folder / "file", DeviceWatch(folder)
    file.write_bytes(os.urandom(4 << 20))
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with watch:
        file.read_bytes()
    assert watch.is_own
    (counted,) = watch.counted
    assert 4 << 20 <= counted.read_bytes <= 5 << 20
    assert counted.requests >= 4


def refused(kind, folder):
    with pytest.raises(MediumError) as error:
        emulated.make(kind, folder, SIZE)
    return str(error.value)


@as_root
def test_a_slow_disk_is_as_wanted_or_nothing_is_left(registered):
    if reason := missing("hdd"):
        pytest.skip(reason)
    folder = registered / "hdd"
    try:
        made = emulated.make("hdd", folder, SIZE)
    except MediumError as error:
        # On a machine that is too busy; the rest of the test is what counts.
        assert "not the one wanted" in str(error)
    else:
        assert made.label == "emulated hdd"
        file = folder / "file"
        file.write_bytes(bytes(range(256)) * 4096)
        assert file.read_bytes() == bytes(range(256)) * 4096
        assert registry.seeks_at(folder) >= probe.FEWEST_READS // 2
        emulated.remove(made)
    assert left_in(registered) == []
    assert list(emulated._processes(folder.with_name(".hdd.format-bench-medium") / "socket")) == []


@as_root
def test_what_a_killed_maker_left_is_removed(registered):
    if reason := missing("ext4"):
        pytest.skip(reason)
    folder = registered / "killed"
    # It hangs in the probe, when all is mounted.
    program = f"""
from pathlib import Path
from format_bench.media import emulated, probe, registry
registry.FOLDER = Path({str(registry.FOLDER)!r})
probe.measure = lambda folder: __import__("time").sleep(60)
emulated.make("ext4", Path({str(folder)!r}), {SIZE})
"""
    process = subprocess.Popen([sys.executable, "-c", program])
    deadline = time.monotonic() + 60
    while not any(each.point == folder for each in mounts()):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not registry.media()[0].is_unfinished
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert registry.media()[0].is_unfinished
    assert "unfinished" in call("list").output
    (removed,) = emulated.remove_unfinished()
    assert removed.folder == folder
    assert left_in(registered) == []


@as_root
def test_an_error_while_making_leaves_nothing(registered, monkeypatch):
    if reason := missing("ext4"):
        pytest.skip(reason)

    def fails(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(probe, "measure", fails)
    assert refused("ext4", registered / "full") == "emulated ext4: No space left on device"
    assert left_in(registered) == []


def test_only_root_makes_and_removes(registered, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "by root alone" in refused("ram", registered / "ram")
    assert not registered.exists()


def test_bad_requests_are_refused_before_anything_is_made(registered, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(emulated, "_PATH", str(tmp_path))
    assert refused("hdd", registered).startswith("emulated hdd: losetup is not installed; it is in")
    monkeypatch.setattr(emulated.shutil, "which", lambda tool, path=None: tool)  # noqa: ARG005
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    assert "not an empty folder" in refused("ram", tmp_path / "full")
    with pytest.raises(MediumError, match="are too few"):
        emulated.make("ram", registered, 1000)
    with pytest.raises(MediumError, match="name a smaller --size"):
        emulated.make("ext4", registered, 1 << 60)
    with pytest.raises(UnknownNameError, match="did you mean hdd"):
        emulated.make("hd", registered, SIZE)
    assert not registered.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["make", "ram", "x", "--size", "many"], "'many' is no size"),
        (["make", "ram", "x", "--seek-ms", "3"], "are of hdd alone"),
        (["remove", "/nowhere"], "no emulated medium is there"),
    ],
)
def test_bad_input_is_one_line(arguments, message):
    done = call(*arguments)
    assert (done.exit_code, message in done.output) == (2, True), done.output


def test_a_model_refuses_other_figures_than_its_own():
    model = emulated.Model()
    good = Probe(0.0085, 0.009, 100, 140e6, 0.02)
    model.check(good)
    for bad in (
        replace(good, random_read_seconds=0.015),
        replace(good, sequential_bytes_per_second=1e8),
    ):
        with pytest.raises(MediumError, match=r"random 4 KiB 8.03 ms, sequential 150 MB/s, but has"):
            model.check(bad)


def test_the_disk_seeks_transfers_and_reads_ahead(tmp_path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(slow_disk.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(slow_disk.time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    (tmp_path / "disk").write_bytes(bytes(10))
    disk = slow_disk._Disk(str(tmp_path / "disk"), str(tmp_path / "seeks"), 0.008, 100e6)

    def seconds_of(size, place, pause=0.0):
        now[0] += pause
        start = now[0]
        disk.wait(size, place)
        return round(now[0] - start, 6)

    mebibyte = 1 << 20
    assert seconds_of(1_000_000, 100 * mebibyte) == 0.018
    # The next bytes, and those nearby, cost their transfer alone.
    assert seconds_of(1_000_000, 100 * mebibyte + 1_000_000) == 0.01
    # A disk reads ahead while the computer thinks, but not for long.
    assert seconds_of(1_000_000, 100 * mebibyte + 2_000_000, pause=0.001) == 0.009
    assert seconds_of(1_000_000, 100 * mebibyte + 3_000_000, pause=5) == 0.008
    assert seconds_of(0, 0, pause=5) == 0.008
    assert int.from_bytes((tmp_path / "seeks").read_bytes(), "little") == 2
