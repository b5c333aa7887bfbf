"""Runs that compare media: names of media, an axis of the records, and cold reads in memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from adapter_core.errors import InvalidFolderError, InvalidRequestError
from format_bench.cli.main import main
from format_bench.instruments import medium, probe
from format_bench.instruments.medium import MediumFacts
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.runner.media import Scratch, compared, for_data

SHARED_MEMORY = Path("/dev/shm")


@pytest.fixture(autouse=True)
def small_probe(monkeypatch):
    monkeypatch.setattr(probe, "FILE_BYTES", 4 << 20)


@pytest.fixture
def memory():
    """Return a folder in memory."""
    if MediumFacts.of(SHARED_MEMORY).file_system != "tmpfs":
        pytest.skip("/dev/shm is not on tmpfs")
    with tempfile.TemporaryDirectory(dir=SHARED_MEMORY) as folder:
        yield Path(folder)


def test_media_have_the_users_names_or_are_found_out(tmp_path, memory):
    disk, found = compared([Scratch(tmp_path, "disk"), Scratch(memory)])
    assert (disk.name, found.name) == ("disk", "tmpfs")
    assert found.probe.random_read_seconds < disk.probe.random_read_p95_seconds
    # Data of the cases do not take the memory that is measured.
    assert for_data([found, disk]) == tmp_path
    assert disk.metadata["mount_point"] == disk.facts.mount_point
    json.dumps(disk.metadata)


def test_a_mounted_file_system_is_measured_once(tmp_path, monkeypatch):
    measured = []
    actual = probe.measure
    monkeypatch.setattr(probe, "measure", lambda folder: measured.append(folder) or actual(folder))
    compared([Scratch(tmp_path, "one"), Scratch(tmp_path, "two")])
    assert measured == [tmp_path]


def test_two_media_of_one_name_are_refused(tmp_path):
    with pytest.raises(InvalidRequestError, match="are both disk; name them"):
        compared([Scratch(tmp_path, "disk"), Scratch(tmp_path, "disk")])
    with pytest.raises(InvalidFolderError, match="there is no such folder"):
        compared([Scratch(tmp_path / "none")])


def test_a_users_name_of_an_emulated_medium_is_marked(tmp_path, monkeypatch):
    monkeypatch.setattr(medium, "_emulation_of", lambda _: tmp_path)
    (tmp_path / "label").write_text("emulated hdd\n")
    names = [each.name for each in compared([Scratch(tmp_path, "slow"), Scratch(tmp_path)])]
    assert names == ["emulated slow", "emulated hdd"]


@pytest.mark.usefixtures("libraries_unasked")
def test_each_cell_is_measured_on_each_medium(tmp_path, memory, capfd):
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    command = ["run", "--formats", "Pickle,Feather", "--rows", "200", "--repeats", "1", "--cold"]
    command += ["--out", str(out), "--scratch", f"disk={scratch}", "--scratch", str(memory)]
    for _ in range(2):  # the second resumes, and finds all measured
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert not ended.value.code
    shown = capfd.readouterr()
    found = records.read(out / RESULTS)
    assert len({records.key(each) for each in found}) == len(found)
    assert {each.medium for each in found} == {"disk", "tmpfs"}
    assert {each.dataset for each in found} == {"eq"}
    cold = [each for each in found if each.cache == "cold" and each.medium == "tmpfs"]
    assert {each.status for each in cold} == {"unavailable"}
    assert {"tmpfs keeps its files in memory" in each.sentence for each in cold} == {True}
    assert [each for each in found if each.cache == "cold" and each.value is not None]
    assert None not in {each.value for each in found if each.cache == "warm"}
    for title in ("eq on disk, 200 rows", "eq on tmpfs, 200 rows"):
        assert title in shown.out
    (metadata,) = out.glob("*-threads-all.json")
    media = json.loads(metadata.read_text())["media"]
    assert {name: each["path"] for name, each in media.items()} == {
        "disk": str(scratch),
        "tmpfs": str(memory),
    }
    assert media["tmpfs"]["random_read_seconds"] > 0
    assert list(scratch.iterdir()) == list(memory.iterdir()) == []


@pytest.mark.parametrize(
    ("scratches", "message"),
    [
        (["=x"], "not a folder with a name"),
        (["ssd="], "not a folder with a name"),
        (["ssd=/nowhere"], "--scratch /nowhere: there is no such folder"),
        (["/nowhere", "/nowhere"], "--scratch /nowhere: there is no such folder"),
    ],
)
def test_bad_folders_are_refused_in_one_line(scratches, message, capfd, tmp_path):
    options = [option for each in scratches for option in ("--scratch", each)]
    with pytest.raises(SystemExit) as ended:
        main(["run", "--out", str(tmp_path / "out"), *options])
    said = capfd.readouterr().err
    assert (ended.value.code, message in said, said.count("\n")) == (2, True, 1), said
    assert not (tmp_path / "out").exists()


def test_a_folder_with_an_equals_sign_in_its_name_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").mkdir()
    assert Scratch.parse("a=b") == Scratch(Path("a=b"))
    assert Scratch.parse("/x/a=b") == Scratch(Path("/x/a=b"))
    assert Scratch.parse("fast=/x/a=b") == Scratch(Path("/x/a=b"), "fast")
