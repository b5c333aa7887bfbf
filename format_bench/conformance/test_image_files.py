"""Files of sets of images: bad input, replacement, damage, open files."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adapter_core import CannotHoldError
from data_generator.synthetic.edge_case_images import edge_case_images, equal, random_image
from format_bench.conformance.files import largest_file

SETS = edge_case_images()


BAD = {
    "floats": ([np.zeros((2, 2, 3))], [1]),
    "four dimensions": ([np.zeros((1, 2, 2, 3), np.uint8)], [1]),
    "no pixels": ([np.zeros((0, 2, 3), np.uint8)], [1]),
    "no arrays": (["image"], [1]),
    "a label too few": ([random_image(2, 2, 3)] * 2, [1]),
    "a negative label": ([random_image(2, 2, 3)], [-1]),
    "a label beyond 2**31": ([random_image(2, 2, 3)], [2**31 + 1]),
    "labels of text": ([random_image(2, 2, 3)], ["cat"]),
    "the last image bad": ([*[random_image(2, 2, 3)] * 30, np.zeros((2, 2, 3))], [1] * 31),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_and_leaves_an_earlier_set(storage, name, path):
    storage.save(*equal(), path)
    with pytest.raises(CannotHoldError, match="cannot store these images: "):
        storage.save(*BAD[name], path)
    assert list(path.parent.iterdir()) == [path]
    assert len(storage.read(path)[0]) == 40


def test_check_refuses_what_save_refuses(storage):
    for images, _ in SETS.values():
        try:
            storage.check(images)
        except CannotHoldError as refusal:
            assert str(refusal).startswith(f"{storage.label} cannot store these images: ")
    with pytest.raises(CannotHoldError):
        storage.check(BAD["floats"][0])


def test_saving_replaces_an_earlier_set(storage, path):
    storage.save(*equal(), path)
    storage.save(*SETS["one image"], path)
    assert len(storage.read(path)[0]) == 1
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_folder_or_file_is_named(storage, path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        storage.save(*equal(), path.parent / "missing" / path.name)
    for call in (storage.read, storage.open):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            call(path)


def test_size_counts_all_files_and_remove_leaves_none(storage, path):
    storage.save(*equal(), path)
    files = [each for each in [path, *path.rglob("*")] if each.is_file()]
    assert storage.size_bytes(path) == sum(file.stat().st_size for file in files) > 0
    storage.remove(path)
    assert list(path.parent.iterdir()) == []


# Nothing, half of the images, and all but what some formats keep at their end: a directory, a footer.
SHARES = (0.0, 0.5, 0.95)


@pytest.mark.parametrize("share", SHARES)
def test_a_truncated_file_is_noticed(storage, ordinary_set, share, truncated_reads):
    found = truncated_reads(storage, *ordinary_set)[share]
    if storage.detects_truncation:
        assert found.startswith(("raised ", "crashed ")), found


def test_a_folder_without_its_largest_file_is_an_error(storage, ordinary_set, path):
    storage.save(*ordinary_set, path)
    if not path.is_dir():
        pytest.skip(f"{storage.label} writes one file")
    largest_file(path).unlink()
    with pytest.raises(Exception, match=r"\S"):
        storage.read(path)


@pytest.fixture(scope="module")
def truncated_reads(tmp_path_factory):
    """Return a function that reports, for each share, the result of reading a truncated set."""
    found = {}

    def reads(storage, images, labels):
        if storage.label not in found:
            folder = tmp_path_factory.mktemp("truncated")
            paths = [folder / f"{share}" / f"saved{storage.suffix}" for share in SHARES]
            for share, path in zip(SHARES, paths, strict=True):
                path.parent.mkdir()
                storage.save(images, labels, path)
                _truncate_largest(path, share)
            found[storage.label] = dict(zip(SHARES, _reads_of(storage, paths), strict=True))
        return found[storage.label]

    return reads


def _truncate_largest(path, share):
    largest = largest_file(path)
    with largest.open("r+b") as file:
        file.truncate(int(largest.stat().st_size * share))


READS = """
import importlib
import sys

storage = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])()
for path in sys.argv[3:]:
    try:
        images, labels = storage.read(path)
        line = f"read {len(images)} {sum(int(image.sum()) for image in images)} {len(labels)}"
    except SystemExit:
        raise
    except BaseException as error:  # a panic of Rust is not an Exception
        line = f"raised {type(error).__name__}"
    print(line, flush=True)
"""


def _reads_of(storage, paths):
    """Return a line about reading each path, in a child process, which damage may crash.

    One child reads all, since imports take most of its time; after a crash another continues.
    """
    command = [sys.executable, "-c", READS, type(storage).__module__, type(storage).__name__]
    done = []
    while len(done) < len(paths):
        child = subprocess.run(
            [*command, *map(str, paths[len(done) :])], capture_output=True, text=True, check=False
        )
        done += [line for line in child.stdout.splitlines() if line.startswith(("read ", "raised "))]
        if len(done) < len(paths):
            assert child.returncode < 0, child.stderr
            done.append(f"crashed {child.returncode}")
    return done


def test_no_file_stays_open_or_mapped(storage, ordinary_set, path):
    """Pixels in a mapped file would not have been read yet."""
    storage.save(*ordinary_set, path)
    found, _ = storage.read(path)
    with storage.open(path) as reader:
        alone = reader.get(0)
        batch = reader.get_many([1, 2])
    gc.collect()
    assert not [link for link in Path("/proc/self/fd").iterdir() if _points_into(link, path.parent)]
    assert str(path) not in Path("/proc/self/maps").read_text(encoding="utf-8")
    assert len(found) > len(batch) > 0
    assert alone


def _points_into(link: Path, folder: Path) -> bool:
    try:
        return str(link.readlink()).startswith(str(folder))
    except OSError:
        return False
