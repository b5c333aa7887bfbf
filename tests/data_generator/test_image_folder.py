"""Folders of a user's own images: selection, labels and pixels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import imagecodecs
import numpy as np
import pytest
import tifffile
from PIL import Image

import image_storages
from adapter_core.errors import InvalidDataError
from data_generator.sampling import sampled_rows
from data_generator.synthetic.edge_case_images import random_image
from data_generator.user.image_folder import load_image_folder
from data_generator.user.load import load_data

if TYPE_CHECKING:
    from pathlib import Path


COLOUR = random_image(5, 7, 3)
LOSSLESS = ["a.png", "a.tif", "a.TIFF", "a.bmp"]


def picture(path: Path, pixels: np.ndarray = COLOUR) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    return path


def test_subfolders_are_classes_in_the_order_of_their_names(tmp_path):
    for name in ("dog/1.png", "cat/2.png", "cat/deep/er/3.png", "ant/4.png"):
        picture(tmp_path / name, random_image(4, 4, 3, seed=int(name[-5])))
    (tmp_path / "bare").mkdir()
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    (tmp_path / "cat" / "._2.png").write_text("no image either")
    found = load_image_folder(tmp_path)
    assert found.labels == [0, 1, 1, 2]
    assert [path.name for path in found.images.paths] == ["4.png", "2.png", "3.png", "1.png"]
    for image, seed in zip(found.images, (4, 2, 3, 1), strict=True):
        assert np.array_equal(image, random_image(4, 4, 3, seed=seed))


def test_a_flat_folder_has_one_label(tmp_path):
    for name in ("b.png", "a.png"):
        picture(tmp_path / name)
    found = load_image_folder(tmp_path)
    assert found.labels == [0, 0]
    assert [path.name for path in found.images.paths] == ["a.png", "b.png"]


def test_files_of_the_png_storage_are_read(tmp_path):
    images, labels = [random_image(4, 5, 3), random_image(6, 3), random_image(2, 2, 4)], [7, 0, 300]
    image_storages.get("PNG").save(images, labels, tmp_path / "set.pngs")
    found = load_data(tmp_path / "set.pngs")
    assert found.labels == labels
    assert found.name == "set_pngs"
    for image, expected in zip(found.images, images, strict=True):
        assert np.array_equal(image, expected)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("file,label\na.png,1\n", r"has no label for b\.png"),
        ("file,label\na.png,1\nb.png,2\nc.png,3\n", r"labels c\.png, which is not in the folder"),
        ("file,label\na.png,1\na.png,1\nb.png,2\n", r"labels a\.png more than once"),
        ("file,label\na.png,cat\nb.png,dog\n", "has labels that are not whole numbers"),
        ("file,label\na.png,-1\nb.png,2\n", "has labels that are not whole numbers"),
        ("file,label\na.png,1\nb.png,\n", "has labels that are not whole numbers"),
        ("name,label\na.png,1\nb.png,2\n", "has no column 'file'"),
        ("file,label\na.png,1,2\nb.png,2,3\n", "cannot be read as CSV"),
    ],
)
def test_labels_that_do_not_fit_are_reported(text, problem, tmp_path):
    for name in ("a.png", "b.png"):
        picture(tmp_path / name)
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(InvalidDataError, match=rf"labels\.csv: {problem}"):
        load_image_folder(tmp_path)


@pytest.mark.parametrize("name", LOSSLESS)
def test_pixels_are_those_of_the_file(name, tmp_path):
    picture(tmp_path / name)
    (image,) = load_image_folder(tmp_path).images
    assert np.array_equal(image, COLOUR)


@pytest.mark.parametrize("name", ["a.jpg", "a.jpeg", "a.webp"])
def test_lossy_files_are_decoded(name, tmp_path):
    Image.fromarray(COLOUR).resize((70, 50)).save(tmp_path / name)
    (image,) = load_image_folder(tmp_path).images
    with Image.open(tmp_path / name) as expected:
        assert np.array_equal(image, np.asarray(expected))


GREY = COLOUR[:, :, 0]
OPACITY = COLOUR[:, :, 1]


@pytest.mark.parametrize(
    ("name", "make", "expected"),
    [
        ("grey.png", lambda: Image.fromarray(GREY), GREY),
        ("black and white.png", lambda: Image.fromarray(GREY > 99), (GREY > 99) * np.uint8(255)),
        (
            "alpha.png",
            lambda: Image.fromarray(np.dstack([COLOUR, OPACITY])),
            np.dstack([COLOUR, OPACITY]),
        ),
        (
            "grey alpha.png",
            lambda: Image.fromarray(np.dstack([GREY, OPACITY])),
            np.dstack([GREY, OPACITY]),
        ),
        ("palette.png", lambda: Image.fromarray(COLOUR).quantize(256), COLOUR),
        (
            "YCbCr.tif",
            lambda: Image.fromarray(np.full_like(COLOUR, 90)).convert("YCbCr"),
            np.full_like(COLOUR, 90),
        ),
        ("CMYK.tif", lambda: Image.fromarray(COLOUR).convert("CMYK"), COLOUR),
    ],
)
def test_modes_of_every_kind_lose_nothing(name, make, expected, tmp_path):
    make().save(tmp_path / name)
    found = load_image_folder(tmp_path).images
    assert found.shapes == [expected.shape]
    assert np.array_equal(found[0], expected)
    assert found[0].dtype == np.uint8


def test_a_transparent_colour_of_a_palette_is_kept(tmp_path):
    image = Image.fromarray(COLOUR).quantize(4)
    image.save(tmp_path / "a.png", transparency=0)
    (found,) = load_image_folder(tmp_path).images
    assert found.shape == (5, 7, 4)
    assert np.array_equal(found[:, :, 3] == 0, np.asarray(image) == 0)


DEEP = (random_image(5, 7, 3).astype(np.uint16) << 8) + 3


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("a.png", lambda path: path.write_bytes(imagecodecs.png_encode(DEEP))),
        ("a.png", lambda path: path.write_bytes(imagecodecs.png_encode(DEEP[:, :, 0].copy()))),
        ("a.tif", lambda path: tifffile.imwrite(path, DEEP, photometric="rgb")),
        ("a.tif", lambda path: tifffile.imwrite(path, DEEP, photometric="rgb", compression="zlib")),
        ("a.tif", lambda path: tifffile.imwrite(path, DEEP[:, :, 0].astype(np.float32))),
    ],
)
def test_images_of_more_than_8_bits_are_refused_and_not_halved(name, write, tmp_path):
    write(tmp_path / name)
    with pytest.raises(
        InvalidDataError, match=rf"{name}: has more than 8 bits a channel; convert it to 8 bits"
    ):
        load_image_folder(tmp_path)


@pytest.mark.parametrize(
    ("values", "options", "problem"),
    [
        (GREY.astype(np.int8), {}, "has signed values; convert them"),
        (
            np.dstack([COLOUR, OPACITY]),
            {"photometric": "rgb", "extrasamples": ["unspecified"]},
            "has a channel that is neither colour nor opacity; measure it as an array",
        ),
    ],
)
def test_values_that_pillow_would_change_are_refused(values, options, problem, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", values, **options)
    with pytest.raises(InvalidDataError, match=f"a.tif: {problem}"):
        load_image_folder(tmp_path)


def test_what_decoding_changes_or_leaves_out_is_said(tmp_path):
    image = Image.fromarray(COLOUR)
    image.save(tmp_path / "a.png")
    assert load_image_folder(tmp_path).remarks == ()
    image.convert("CMYK").save(tmp_path / "b.tif")
    image.convert("LAB").save(tmp_path / "c.tif")
    image.save(tmp_path / "d.webp", save_all=True, append_images=[image.rotate(180)], lossless=True)
    assert load_image_folder(tmp_path).remarks == (
        "2 images in CMYK, LAB converted to RGB, rounded",
        "1 image with several frames or pages, of which the first is taken",
    )


def test_images_are_decoded_when_they_are_asked_for(tmp_path):
    whole = picture(tmp_path / "a.png")
    cut = picture(tmp_path / "b.png", random_image(90, 90, 3))
    cut.write_bytes(cut.read_bytes()[:9000])
    found = load_image_folder(tmp_path)
    assert found.images.shapes == [(5, 7, 3), (90, 90, 3)]
    assert np.array_equal(found.images[0], COLOUR)
    with pytest.raises(InvalidDataError, match=r"b\.png: cannot be read as an image: .*truncated"):
        found.images[1]
    whole.unlink()
    with pytest.raises(InvalidDataError, match=r"a\.png: cannot be read as an image: .*No such file"):
        found.images[0]


def test_a_sample_keeps_order_and_labels(tmp_path):
    for number in range(20):
        picture(tmp_path / f"{number % 3}" / f"{number:02d}.png", random_image(3, 3, seed=number))
    everything, some = load_image_folder(tmp_path), load_image_folder(tmp_path, sample=8, seed=4)
    chosen = sampled_rows(20, 8, 4)
    assert some.images.paths == [everything.images.paths[i] for i in chosen]
    assert some.labels == [everything.labels[i] for i in chosen]
    assert len(load_image_folder(tmp_path, sample=99).images) == 20
    assert Counter(everything.labels) == {0: 7, 1: 7, 2: 6}


def test_a_folder_without_images_is_reported(tmp_path):
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(InvalidDataError, match=r"contains no images; looked for were \.png, \.jpg"):
        load_data(tmp_path)


def test_images_beside_classes_are_reported(tmp_path):
    picture(tmp_path / "a" / "1.png")
    picture(tmp_path / "stray.png")
    with pytest.raises(
        InvalidDataError, match=r"both in subfolders and beside them, e.g. stray\.png; put all"
    ):
        load_data(tmp_path)


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_no_image_is_named(content, tmp_path):
    picture(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(content)
    with pytest.raises(InvalidDataError, match=r"b\.png: cannot be read as an image: "):
        load_data(tmp_path)


def test_an_image_of_a_size_that_only_attacks_have_is_refused(tmp_path):
    data = bytearray(picture(tmp_path / "a.png").read_bytes())
    data[16:24] = (60_000).to_bytes(4, "big") * 2
    data[29:33] = imagecodecs.zlib_crc32(bytes(data[12:29])).to_bytes(4, "big")
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(
        InvalidDataError, match=r"a\.png: cannot be read as an image: Image size .* exceeds limit"
    ):
        load_data(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    with pytest.raises(InvalidDataError, match=r"a\.png: is a file; give the folder"):
        load_image_folder(picture(tmp_path / "a.png"))
