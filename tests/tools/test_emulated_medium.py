"""Recipe of emulated media: made, found out and removed whole, as root; else refused in one line."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from format_bench.instruments import probe
from format_bench.instruments.medium import DeviceWatch, MediumFacts, mounts, seeks_at
from tests.helpers import ROOT
from tools import slow_disk

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes media")

TOOLS = {
    "ram": [],
    "ext4": ["losetup", "mkfs.ext4"],
    "btrfs": ["losetup", "mkfs.btrfs"],
    "hdd": ["losetup", "mkfs.ext4", "nbdkit", "nbdfuse"],
    "ssd": ["losetup", "mkfs.ext4", "nbdkit", "nbdfuse"],
}
LABELS = {"ram": "emulated ram disk", "btrfs": "emulated btrfs zstd"}


def recipe(*arguments, **options):
    program = [ROOT / "tools/emulated_medium", *map(str, arguments)]
    return subprocess.run(program, capture_output=True, text=True, check=False, **options)


def left_in(folder):
    """Return what media leave below a folder: files, mounts, loop devices, processes."""
    devices = subprocess.run(["losetup", "--list"], capture_output=True, text=True, check=True).stdout
    processes = subprocess.run(["ps", "axww"], capture_output=True, text=True, check=True).stdout
    return [
        *(each for each in folder.rglob("*") if each.is_file()),
        *(each.point for each in mounts() if each.point.is_relative_to(folder)),
        *(each for each in (devices + processes).splitlines() if str(folder) in each),
    ]


@as_root
@pytest.mark.parametrize("kind", TOOLS)
def test_a_medium_is_made_found_out_and_removed(kind, tmp_path):
    lacking = [tool for tool in TOOLS[kind] if not shutil.which(tool)]
    if lacking:
        pytest.skip(f"{', '.join(lacking)} is not installed")
    folder = tmp_path / "media" / kind
    made = recipe("make", kind, folder, "256M")
    try:
        if "permission" in made.stderr.lower() or "loop" in made.stderr.lower():
            pytest.skip(made.stderr)
        assert made.returncode == 0, made.stderr
        found = MediumFacts.of(folder)
        assert found.label() == LABELS.get(kind, f"emulated {kind}")
        assert made.stdout == f"{folder}: {found.label()}\n"
        assert found.file_system == {"ram": "tmpfs", "hdd": "ext4", "ssd": "ext4"}.get(kind, kind)
        assert "something is mounted there" in recipe("make", kind, folder).stderr
        if kind == "ext4":
            check_exact_counters(folder)
        if kind == "hdd":
            check_slow_reads(folder)
        elif kind == "ssd":
            # A busy machine gives less; reads that continue each other win back 2 ms at most.
            assert probe.measure(folder).sequential_bytes_per_second <= 1.1 * 550e6
            assert seeks_at(folder) > 0
        else:
            assert seeks_at(folder) is None
    finally:
        removed = recipe("remove", folder)
    assert removed.returncode == 0, removed.stderr
    assert left_in(tmp_path / "media") == []


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


def check_slow_reads(folder):
    """Compare the counted seeks of a slow disk with the probe's random reads, of 8 ms each."""
    before = seeks_at(folder)
    found = probe.measure(folder)
    assert found.random_read_seconds >= 0.008
    assert seeks_at(folder) - before >= found.random_reads // 2


@as_root
def test_an_error_while_making_leaves_nothing(tmp_path):
    failed = recipe("make", "ext4", tmp_path / "media/small", "1K")
    assert failed.returncode != 0
    assert left_in(tmp_path / "media") == []
    assert list((tmp_path / "media").glob(".*")) == []


@as_root
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["make", "hd", "{}/x"],
            "there is no kind of medium 'hd'; the kinds are hdd, ssd, btrfs, ext4 and ram",
        ),
        (["make", "ram", "{}/full"], "full: it is not empty; name another"),
        (["remove", "{}/x"], "x: no emulated medium is there"),
        (["make", "ram"], "usage: "),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_made(arguments, message, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    done = recipe(*(each.format(tmp_path) for each in arguments))
    assert (done.returncode, message in done.stderr, done.stderr.count("\n")) == (2, True, 1), (
        done.stderr
    )
    assert [each.name for each in tmp_path.iterdir()] == ["full"]


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
