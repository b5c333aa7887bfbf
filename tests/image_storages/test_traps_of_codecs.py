"""Traps of libraries for image files: noise, full opacity, long sides, and what other readers see."""

from __future__ import annotations

import numpy as np
import pytest

import image_storages
from adapter_core import CannotHoldError
from data_generator.synthetic.edge_case_images import random_image

LOSSLESS = ["AVIF", "HEIF", "HTJ2K", "JPEG-2000", "JPEG-LS", "OpenEXR"]


def read_back(label, image, folder):
    storage = image_storages.get(label)
    path = folder / f"set{storage.suffix}"
    storage.save([image], [7], path)
    (found,), _ = storage.read(path)
    assert (found.shape, found.dtype) == (image.shape, np.uint8)
    return found, next(path.glob(f"*{storage.ending}"))


@pytest.mark.parametrize("label", LOSSLESS)
@pytest.mark.parametrize("channels", [(), (1,), (3,), (4,)])
def test_noise_and_full_opacity_come_back(label, channels, tmp_path):
    """Noise makes files larger than its pixels; libavif drops an opacity that is full everywhere."""
    noise = random_image(64, 48, *channels)
    if channels == (4,):
        noise[:, :, 3] = 255
    found, _ = read_back(label, noise, tmp_path)
    np.testing.assert_array_equal(found, noise)


def test_full_opacity_of_greyscale_comes_back(tmp_path):
    image = random_image(9, 11, 2)
    image[:, :, 1] = 255
    np.testing.assert_array_equal(read_back("AVIF", image, tmp_path)[0], image)


@pytest.mark.parametrize(
    ("label", "side"), [("AVIF", 32_768), ("AVIF.lossy", 32_768), ("DICOM", 65_535), ("HEIF", 65_528)]
)
def test_the_longest_side_is_kept_and_a_longer_one_refused(label, side, tmp_path):
    image = np.full((1, side), 7, np.uint8)
    found, _ = read_back(label, image, tmp_path)
    assert np.abs(found.astype(np.int16) - 7).max() <= 2
    longer = np.full((side + 1, 1), 7, np.uint8)
    with pytest.raises(CannotHoldError, match=f"beyond {side}"):
        image_storages.get(label).save([longer], [1], tmp_path / "longer")


@pytest.mark.parametrize("label", ["AVIF", "AVIF.lossy", "JPEG-2000"])
def test_pillow_opens_the_files(label, tmp_path):
    from PIL import Image

    image = np.full((20, 30, 3), (200, 30, 90), np.uint8)
    _, file = read_back(label, image, tmp_path)
    with Image.open(file) as opened:
        assert np.abs(np.array(opened).astype(np.int16) - image).max() <= 3


def test_a_dicom_file_describes_its_pixels_and_is_unlike_any_other(tmp_path):
    import pydicom

    storage, identifiers = image_storages.get("DICOM"), set()
    for name in ("one", "other"):
        # An odd number of bytes, which DICOM fills up.
        storage.save([random_image(5, 7, 3), random_image(5, 7)], [0, 1], tmp_path / name)
        files = [pydicom.dcmread(file) for file in sorted((tmp_path / name).glob("*.dcm"))]
        assert [file.PhotometricInterpretation for file in files] == ["RGB", "MONOCHROME2"]
        assert all((file.Rows, file.Columns, file.BitsStored) == (5, 7, 8) for file in files)
        identifiers |= {file.SOPInstanceUID for file in files}
    assert len(identifiers) == 4
    assert {len(each) for each in identifiers} == {len(next(iter(identifiers)))} != {0}
    assert storage.size_bytes(tmp_path / "one") == storage.size_bytes(tmp_path / "other")


@pytest.mark.parametrize(
    ("channels", "names"), [((), {"Y"}), ((2,), {"A", "Y"}), ((3,), {"RGB"}), ((4,), {"RGBA"})]
)
def test_channels_of_openexr_have_their_usual_names(channels, names, tmp_path):
    import OpenEXR

    _, path = read_back("OpenEXR", random_image(5, 7, *channels), tmp_path)
    file = OpenEXR.File(str(path))
    assert set(file.channels()) == names
    assert {each.pixels.dtype.name for each in file.channels().values()} == {"float16"}
    assert str(file.header()["compression"]).endswith("ZIP_COMPRESSION")
