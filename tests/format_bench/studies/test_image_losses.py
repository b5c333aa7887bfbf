"""The study of image losses: the page in docs is its output, and it finds errors."""

from __future__ import annotations

import pytest

import data_generator
import image_storages
from data_generator.synthetic.edge_case_images import edge_case_images, random_image, unequal
from format_bench.conformance import image_losses, losses
from format_bench.results.load import Results
from format_bench.studies.declared import study
from format_bench.studies.tables import losses as page_of_losses

SETS = edge_case_images()


def page():
    return study.read("image-losses").page(Results("", [], [])).markdown()


def test_the_page_in_docs_is_of_the_outcomes_that_the_contract_tests_compare(root, monkeypatch):
    text = (root / "docs/image_losses.md").read_text(encoding="utf-8")
    names = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]
    assert [name.partition(",")[0] for name in names] == [*data_generator.image_names(), *SETS]
    documented = losses.documented(losses.IMAGE_PAGE)
    labels = image_storages.names()
    assert documented[""].keys() == {*labels}
    found = {name: {each: documented[name].get(each, "**exact**") for each in labels} for name in names}
    monkeypatch.setattr(page_of_losses, "of_images", lambda: found)
    assert page() == text
    assert "wrong" not in text


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
def test_errors_are_shown_as_wrong(spoil, words, monkeypatch, tmp_path):
    storage = image_storages.get("NumPy")
    read = storage._read
    monkeypatch.setattr(storage, "_read", lambda path: spoil(*read(path)))
    found = image_losses.of_images(storage, unequal(), tmp_path / "set")
    assert found.errors
    assert found.text.startswith(f"**wrong**: {words}")


def test_refusals_and_losses_are_described(tmp_path):
    jpeg = image_storages.get("JPEG")
    five = image_losses.of_images(jpeg, SETS["five channels"], tmp_path / "five")
    assert five.text == "**refused**: image 0 has 5 channels"
    noise = image_losses.of_images(jpeg, ([random_image(9, 9, 3)] * 2, [0, 1]), tmp_path / "noise")
    assert noise.text.startswith("pixels of 2 of 2 images changed, by up to ")
    assert image_losses.of_images(jpeg, SETS["one grey pixel"], tmp_path / "grey").text == "**exact**"


def test_the_page_has_a_summary_and_results_by_set(monkeypatch):
    names = ("HDF5.chunked", "JPEG", "SQLite", "ZIP")
    monkeypatch.setattr(image_storages, "names", lambda: names)
    monkeypatch.setattr(image_losses, "image_sets", edge_case_images)
    text = page()
    assert "| SQLite, ZIP | kept | 1, 2, 3, 4, 5 | kept | kept | kept | kept |" in text
    assert "| HDF5.chunked | kept | 1, 2, 3, 4, 5 | refused | kept | kept | kept |" in text
    assert "| JPEG | changed | 1, 3 | kept | kept | kept | kept |" in text
    one = "### five channels\n\n- JPEG: **refused**: image 0 has 5 channels\n- all others: **exact**\n"
    assert one in text
    assert "### no images\n\n- all: **exact**\n" in text
