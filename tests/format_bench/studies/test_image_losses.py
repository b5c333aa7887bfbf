"""The study of image losses: the page in docs is its output, and it finds errors."""

from __future__ import annotations

import pytest

import data_generator
import image_storages
from data_generator.synthetic.edge_case_images import edge_case_images, random_image, unequal
from format_bench.studies import image_losses
from format_bench.studies.image_losses import RoundTrip, round_trip, sets
from tests.helpers import run, skip_if_unconcerned

SETS = edge_case_images()


def test_the_page_in_docs_is_up_to_date(root):
    skip_if_unconcerned(image_storages, __name__)
    missing = [name for name in image_storages.names() if not image_storages.find(name).availability()]
    if missing:
        pytest.skip(f"not available here: {', '.join(missing)}")
    page = (root / "docs/image_losses.md").read_text(encoding="utf-8")
    done = run("study", "image-losses")
    assert done.returncode == 0, done.stderr
    assert page == done.stdout, "run: format-bench study image-losses > docs/image_losses.md"
    assert "wrong" not in page


def test_all_sets_of_the_generator_are_covered():
    tried = [name.partition(",")[0] for name in sets()]
    assert tried == [*data_generator.image_names(), *SETS]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda images, labels: (images[::-1], labels), "image 0: uint8 (30, 17) came back as"),
        (lambda images, labels: (images, labels[::-1]), "24 labels differ: 0 at 0 came back as 2400"),
        (lambda images, labels: (images, labels.astype("int32")), "labels came back as int32"),
        (lambda images, labels: (images[:-1], labels), "25 images came back as 24"),
        (lambda images, labels: ([i ^ 1 for i in images], labels), "pixels of 25 of 25 images changed"),
    ],
    ids=["order", "order of labels", "dtype of labels", "number", "pixels"],
)
def test_errors_are_shown_as_wrong(spoil, words, monkeypatch):
    storage = image_storages.get("NumPy")
    read = storage._read
    monkeypatch.setattr(storage, "_read", lambda path: spoil(*read(path)))
    found = round_trip(storage, unequal())
    assert found.kind == "wrong"
    assert not found.kept
    assert found.text.startswith(f"**wrong**: {words}")


def test_refusals_and_losses_are_described():
    jpeg = image_storages.get("JPEG")
    five = round_trip(jpeg, SETS["five channels"])
    assert five == RoundTrip("refused", "**refused**: image 0 has 5 channels")
    assert not five.kept
    noise = round_trip(jpeg, ([random_image(9, 9, 3)] * 2, [0, 1]))
    assert noise.kept
    assert noise.text.startswith("pixels of 2 of 2 images changed, by up to ")
    assert round_trip(jpeg, SETS["one grey pixel"]) == RoundTrip("exact", "**exact**")


def test_the_page_has_a_summary_and_results_by_set(monkeypatch):
    names = ("HDF5.chunked", "JPEG", "SQLite", "ZIP")
    monkeypatch.setattr(image_storages, "names", lambda: names)
    monkeypatch.setattr(image_losses, "sets", edge_case_images)
    page = image_losses.page()
    assert "| SQLite, ZIP | kept | 1, 2, 3, 4, 5 | kept | kept | kept | kept |" in page
    assert "| HDF5.chunked | kept | 1, 2, 3, 4, 5 | refused | kept | kept | kept |" in page
    assert "| JPEG | changed | 1, 3 | kept | kept | kept | kept |" in page
    one = "### five channels\n\n- JPEG: **refused**: image 0 has 5 channels\n- all others: **exact**\n"
    assert one in page
    assert "### no images\n\n- all: **exact**\n" in page
