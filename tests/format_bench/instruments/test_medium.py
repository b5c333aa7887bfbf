"""Facts of media, their labels, the probe, and the counters of block devices."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidFolderError
from format_bench.cli.commands.media import command
from format_bench.instruments import medium, probe
from format_bench.instruments.medium import DeviceReads, DeviceWatch, MediumFacts

SHARED_MEMORY = Path("/dev/shm")

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
30 22 0:25 / /mnt/a\\040b rw - tmpfs tmpfs rw,size=10k
31 30 0:26 / /mnt/a\\040b/c ro,nosuid master:2 - nfs4 server:/x rw
32 22 0:27 / /mnt/a\\040b/c rw - btrfs /dev/none rw
"""


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    file = tmp_path / "mountinfo"
    file.write_text(MOUNTS)
    monkeypatch.setattr(medium, "MOUNTS", file)


def test_facts_agree_with_findmnt(tmp_path):
    columns = "FSTYPE,SOURCE,TARGET"
    done = subprocess.run(
        ["findmnt", "--json", "--target", tmp_path, "--output", columns],
        capture_output=True,
        text=True,
        check=True,
    )
    (known,) = json.loads(done.stdout)["filesystems"]
    found = MediumFacts.of(tmp_path)
    assert (found.file_system, found.mount_point) == (known["fstype"], known["target"])
    # findmnt adds the root of the mount in brackets.
    assert known["source"].startswith(found.source or "")


@pytest.mark.usefixtures("made_up")
def test_the_deepest_mount_counts_and_of_several_the_last():
    assert medium.mount_of(Path("/home")).file_system == "ext4"
    inner = medium.mount_of(Path("/mnt/a b/file"))
    assert (inner.point, inner.file_system) == (Path("/mnt/a b"), "tmpfs")
    assert inner.options == "rw,size=10k"
    assert medium.mount_of(Path("/mnt/a b/c/d")).file_system == "btrfs"


@pytest.mark.parametrize(
    ("fields", "seconds", "label"),
    [
        ({"file_system": "tmpfs"}, None, "tmpfs"),
        ({"file_system": "overlay"}, None, "overlay"),
        ({"file_system": "nfs4"}, None, "network nfs4"),
        ({"file_system": "fuse.sshfs"}, None, "fuse.sshfs"),
        ({"file_system": "ext4", "block_device": "loop3"}, 0.009, "loop ext4"),
        ({"file_system": "xfs", "block_device": "nvme0n1p2"}, None, "nvme xfs"),
        ({"file_system": "ext4", "block_device": "sda1", "rotational": True}, None, "hdd ext4"),
        # The kernel's flag gives way to a measurement.
        ({"file_system": "ext4", "block_device": "sda1", "rotational": True}, 1e-4, "ssd ext4"),
        ({"file_system": "ext4", "block_device": "sda1", "rotational": False}, 0.009, "hdd ext4"),
        ({"file_system": "ext4", "block_device": "vda"}, 1e-4, "virtual disk ext4"),
        (
            {"file_system": "ext4", "block_device": "loop1", "emulated": "emulated hdd"},
            1,
            "emulated hdd",
        ),
    ],
)
def test_a_medium_is_named_by_its_facts_and_by_measurement(fields, seconds, label):
    assert MediumFacts(**fields).label(seconds) == label


def test_the_probe_measures_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "FILE_BYTES", 4 << 20)
    found = probe.measure(tmp_path)
    assert 0 < found.random_read_seconds <= found.random_read_p95_seconds
    assert found.random_reads >= probe.FEWEST_READS
    assert found.sequential_bytes_per_second > 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_not_measured():
    with pytest.raises(InvalidFolderError, match="/proc: the medium cannot be measured"):
        probe.measure(Path("/proc"))


def test_show_prints_the_medium(tmp_path, monkeypatch):
    monkeypatch.setattr(probe, "FILE_BYTES", 4 << 20)
    done = CliRunner().invoke(command, ["show", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "random 4 KiB" in done.output
    assert f"mount point: {MediumFacts.of(tmp_path).mount_point}" in done.output


@pytest.mark.parametrize("name", ["make", "list", "remove"])
def test_emulated_media_are_made_by_a_recipe(name):
    done = CliRunner().invoke(command, [name, "hdd", "/mnt/slow", "--size", "4G"])
    assert done.exit_code == 2
    assert f"`media {name} hdd /mnt/slow --size 4G`: `sudo tools/emulated_medium`" in done.output


def test_nothing_is_counted_without_a_block_device():
    if MediumFacts.of(SHARED_MEMORY).file_system != "tmpfs":
        pytest.skip("/dev/shm is not on tmpfs")
    watch = DeviceWatch(SHARED_MEMORY)
    with watch:
        pass
    assert (watch.counted, str(watch)) == ([], "")


def test_reads_of_a_shared_disk_are_counted_with_a_remark(tmp_path):
    watch = DeviceWatch(tmp_path)
    if watch.device is None or watch.is_own:
        pytest.skip("the temporary folder is not on a shared disk")
    file = tmp_path / "file"
    file.write_bytes(os.urandom(1 << 20))
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with watch:
        file.read_bytes()
    assert watch.counted[0].requests >= 1
    assert watch.counted[0].read_bytes >= 1 << 20
    assert "other programs on this disk" in str(watch)


def test_a_watch_gives_the_median_of_its_blocks():
    watch = DeviceWatch(Path("/proc"))
    watch.device, watch.is_own = "loop7", True
    watch.counted = [DeviceReads(n, n * 1_000_000) for n in (3, 900, 5)]
    assert str(watch) == "the device loop7 answered 5 reads of 5 MB"
