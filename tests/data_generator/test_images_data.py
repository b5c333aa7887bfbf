"""Sets of images: reproducible, lazy, and as hard to compress as real ones."""

from __future__ import annotations

import ast
import hashlib
import io
import pickle
import random
import shutil
import socket
import sys
import tracemalloc

import numpy as np
import pytest

import data_generator
from adapter_core import UnavailableError, UnknownNameError
from data_generator.datasets import bundled_images, scenes
from data_generator.decoding import to_array
from data_generator.lazy_images import LazyImages
from tests.helpers import output_of

SYNTHETIC = tuple(scenes.PARAMETERS)
SAMPLE = 1_000

# Of the images 0, 1 and 2 with the default seed. A change of these numbers is a change of the data,
# after which old and new measurements cannot be compared.
DIGESTS = {
    "cifar-like": "a593d4349b4f60d8",
    "imagenet-like": "8b6c7b137d209c42",
    "digits": "f07a5914b844827e",
    "pictures": "f2f62e11041970ab",
}


def digest(images) -> str:
    sha = hashlib.sha256()
    for image in images:
        sha.update(repr((image.shape, image.dtype.str)).encode() + image.tobytes())
    return sha.hexdigest()[:16]


def same(one, other) -> bool:
    return one.dtype == other.dtype and np.array_equal(one, other)


def png_bytes(image) -> int:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(image).save(file, "png")
    return file.tell()


@pytest.fixture(scope="module")
def shapes():
    """Return the shapes of the first images of ``imagenet-like``."""
    return [image.shape for image in data_generator.images("imagenet-like", SAMPLE).images]


@pytest.mark.parametrize("name", data_generator.image_names())
def test_images_are_the_same_as_ever(name):
    assert digest(data_generator.images(name, 3).images) == DIGESTS[name]


def digests_in_another_order():
    found = {}
    for name in sorted(SYNTHETIC):
        images = data_generator.images(name, 90).images
        assert len(images[88])
        found[name] = digest([images[i] for i in (80, 3, 41)])
    return found


def test_images_are_the_same_in_another_process_and_another_order():
    code = "from tests.data_generator import test_images_data as d; print(d.digests_in_another_order())"
    text = output_of(code, PYTHONHASHSEED="123", OMP_NUM_THREADS="1")
    for name, found in ast.literal_eval(text).items():
        images = list(data_generator.images(name, 90).images)
        assert found == digest([images[80], images[3], images[41]]), name


@pytest.mark.parametrize("name", data_generator.image_names())
def test_random_access_equals_iteration(name):
    images = data_generator.images(name, 18).images
    whole = list(images)
    assert len(images) == len(whole) == 18
    for number in random.Random(1).sample(range(-18, 18), 36):
        assert same(images[number], whole[number])
    assert same(images[np.int64(5)], whole[5])
    assert digest(images[4:15][::-2]) == digest(whole[4:15][::-2])
    with pytest.raises(IndexError):
        images[18]
    with pytest.raises(IndexError):
        images[-19]


@pytest.mark.parametrize("name", data_generator.image_names())
def test_fewer_images_are_the_first_of_more(name):
    more = data_generator.images(name, 18).images
    assert digest(data_generator.images(name, 7).images) == digest(more[:7])


@pytest.mark.parametrize("name", SYNTHETIC)
def test_the_seed_decides(name):
    sets = [data_generator.images(name, 100, seed=seed) for seed in (1, 2)]
    first = {image.tobytes() for made in sets for image in made.images[:10]}
    assert len(first) == 20
    assert (sets[0].labels == sets[1].labels) == (name == "imagenet-like")
    assert digest(sets[0].images[:3]) != digest(sets[1].images[:3]) == digest(sets[1].images[:3])


@pytest.mark.parametrize("name", data_generator.image_names())
def test_images_are_of_the_kind_that_storages_take(name):
    made = data_generator.images(name, 18)
    assert made.name == name
    assert [type(label) for label in made.labels] == [int] * 18
    for image in made.images:
        assert image.dtype == np.uint8
        assert image.flags.c_contiguous
        assert image.ndim == 2 or (image.ndim == 3 and image.shape[2] == 3)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_writing_into_an_image_harms_no_other(name):
    images = data_generator.images(name, 2).images
    before = digest(images)
    images[0][:] = 0
    assert digest(images) == before


@pytest.mark.parametrize("name", SYNTHETIC)
def test_images_travel_between_processes_as_recipes(name):
    images = data_generator.images(name, 100).images
    text = pickle.dumps(images)
    assert len(text) < 100_000
    assert digest(pickle.loads(text)[:3]) == DIGESTS[name]


def test_the_full_set_is_not_held():
    data_generator.images("imagenet-like", 1).images[0]
    tracemalloc.start()
    try:
        images = data_generator.images("imagenet-like", 126_689).images
        for image in images[-300:]:
            assert image.any()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25e6


def test_images_like_those_of_cifar_have_one_shape():
    assert {image.shape for image in data_generator.images("cifar-like", 300).images} == {(32, 32, 3)}


def test_images_like_those_of_imagenet_have_many_shapes(shapes):
    assert {min(shape[:2]) for shape in shapes} == {160}
    longest = [max(shape[:2]) for shape in shapes]
    assert (min(longest), max(longest)) == (160, 298)
    wide = sum(shape[1] > shape[0] for shape in shapes)
    high = sum(shape[1] < shape[0] for shape in shapes)
    assert min(wide, high) > SAMPLE / 3
    assert 100e3 < np.mean([np.prod(shape) for shape in shapes]) < 110e3


def test_two_percent_are_greyscale(shapes):
    grey = sum(len(shape) == 2 for shape in shapes)
    # Four standard deviations of a binomial share.
    assert abs(grey / SAMPLE - 0.02) <= 4 * (0.02 * 0.98 / SAMPLE) ** 0.5


def test_labels_are_of_all_classes():
    sorted_ones = data_generator.images("imagenet-like", 1_050).labels
    assert sorted_ones == sorted(sorted_ones)
    assert set(np.bincount(sorted_ones, minlength=100)) == {10, 11}
    drawn = data_generator.images("cifar-like", 10_000).labels
    shares = np.bincount(drawn, minlength=10)
    assert len(shares) == 10
    # Five standard deviations; and neighbours have the same label as often as chance has it.
    assert abs(shares - 1_000).max() < 5 * 30
    assert abs(np.count_nonzero(np.diff(drawn) == 0) - 1_000) < 5 * 30


@pytest.mark.parametrize(
    ("name", "count", "least", "most"),
    [("cifar-like", 1_000, 0.70, 0.77), ("imagenet-like", 60, 0.57, 0.65)],
)
def test_png_files_are_as_large_as_those_of_real_images(name, count, least, most):
    images = list(data_generator.images(name, count).images)
    raw = sum(image.nbytes for image in images)
    assert least < sum(map(png_bytes, images)) / raw < most


def test_images_have_the_contrast_and_colours_of_real_ones():
    pixels = np.concatenate(
        [image.reshape(-1, 3) for image in data_generator.images("cifar-like", 500).images]
    )
    red, green, blue = pixels.T.astype(float)
    assert 100 < pixels.mean() < 135
    assert 50 < pixels.std() < 75
    assert 0.85 < np.corrcoef(red, green)[0, 1] < 0.99
    assert 0.85 < np.corrcoef(red, blue)[0, 1] < 0.99
    assert np.isin(pixels, (0, 255)).mean() < 0.05


def repeated(images) -> float:
    """Return the share of runs of 8 bytes that occur more than once."""
    data = np.concatenate([image.ravel() for image in images])
    runs = np.lib.stride_tricks.sliding_window_view(data, 8).copy().view(np.uint64)
    counts = np.unique(runs, return_counts=True)[1]
    return counts[counts > 1].sum() / counts.sum()


@pytest.mark.parametrize("name", SYNTHETIC)
def test_images_share_nothing_that_a_compressor_finds(name):
    images = list(data_generator.images(name, 1_000).images[:: 40 if name == "imagenet-like" else 1])
    assert repeated(images) < 0.02
    assert repeated(images[:10] * 2) > 0.99


def test_digits_keep_their_levels():
    from sklearn.datasets import load_digits

    made = data_generator.images("digits", 1_797)
    pixels = np.stack(made.images)
    assert (pixels.shape, pixels.min(), pixels.max()) == ((1_797, 8, 8), 0, 255)
    assert np.array_equal(np.rint(pixels / 255 * 16), load_digits().images)
    assert made.labels == load_digits().target.tolist()


def test_pictures_need_no_network(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no network here")

    monkeypatch.setattr(socket, "socket", refuse)
    made = data_generator.images("pictures", len(bundled_images.PICTURES))
    shapes = [image.shape for image in made.images]
    assert len({len(shape) for shape in shapes}) == 2
    assert shapes[0] == (512, 512, 3)
    assert all(min(shape[:2]) > 150 for shape in shapes)
    assert made.labels == list(range(len(shapes)))


@pytest.mark.parametrize("name", data_generator.image_names())
def test_no_images_are_a_set_too(name):
    made = data_generator.images(name, 0)
    assert list(made.images) == []
    assert made.labels == []


def test_bad_arguments_are_reported():
    with pytest.raises(UnknownNameError, match="no set of images 'cifar'; did you mean cifar-like"):
        data_generator.images("cifar", 1)
    with pytest.raises(ValueError, match="a set cannot have -1 images"):
        data_generator.images("cifar-like", -1)
    with pytest.raises(ValueError, match=r"digits has 1,797 images, not 1,798"):
        data_generator.images("digits", 1_798)
    with pytest.raises(ValueError, match=r"pictures has 19 images, not 2,000"):
        data_generator.images("pictures", 2_000)
    with pytest.raises(
        UnknownNameError, match="no set of real images 'CIFAR-100'; did you mean CIFAR-10"
    ):
        data_generator.load_images("CIFAR-100")


@pytest.mark.parametrize(
    ("module", "call", "message"),
    [
        ("sklearn", lambda: data_generator.images("digits", 1), "digits is unavailable: sklearn is not"),
        (
            "skimage",
            lambda: data_generator.images("pictures", 1),
            "pictures is unavailable: skimage is not",
        ),
        (
            "datasets",
            lambda: data_generator.load_images("CIFAR-10"),
            "CIFAR-10 is unavailable: datasets is",
        ),
    ],
)
def test_a_missing_package_is_reported(monkeypatch, module, call, message):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UnavailableError, match=message + r".*; try: python -m pip install"):
        call()


def test_a_picture_that_scikit_image_no_longer_ships_is_reported(monkeypatch):
    monkeypatch.setattr(bundled_images, "PICTURES", ["astronaut.png", "gone.png"])
    assert len(data_generator.images("pictures", 1).images) == 1
    with pytest.raises(UnavailableError, match=r"this version of scikit-image comes without gone\.png"):
        data_generator.images("pictures", 2)


@pytest.mark.parametrize(
    ("mode", "shape"),
    [("1", (3, 2)), ("L", (3, 2)), ("LA", (3, 2))]
    + [(mode, (3, 2, 3)) for mode in ("RGB", "RGBA", "P", "CMYK", "YCbCr", "HSV", "LAB")],
)
def test_pictures_of_other_modes_become_grey_or_rgb(mode, shape):
    from PIL import Image

    array = to_array(Image.new(mode, (2, 3)))
    assert (array.shape, array.dtype) == (shape, np.uint8)


def test_transparency_is_dropped_and_white_is_255():
    from PIL import Image

    assert (to_array(Image.new("RGBA", (2, 3), (1, 2, 3, 0))) == (1, 2, 3)).all()
    assert (to_array(Image.new("1", (2, 3), 1)) == 255).all()


@pytest.mark.parametrize("mode", ["I", "F", "I;16"])
def test_deep_images_are_refused(mode):
    from PIL import Image

    with pytest.raises(ValueError, match=f"mode {mode} has more than 8 bits"):
        to_array(Image.new(mode, (2, 3)))


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """Return `datasets`, with a cache of its own, in silence and without the Hub."""
    import datasets
    import huggingface_hub

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for module in (datasets.config, huggingface_hub.constants):
        monkeypatch.setattr(module, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()
    return datasets


def rows(datasets, column="img", count=4):
    """Return rows as the real sets have them: PNG bytes, every second one greyscale, and labels."""
    from PIL import Image

    images = [Image.fromarray(array) for array in arrays(count)]
    features = datasets.Features(
        {column: datasets.Image(), "label": datasets.ClassLabel(names=["a", "b", "c"])}
    )
    labels = [number % 3 for number in range(count)]
    return datasets.Dataset.from_dict({column: images, "label": labels}, features=features)


def arrays(count=4):
    noise = np.random.default_rng(1).integers(0, 256, (count, 5, 4, 3), dtype=np.uint8)
    return [image[:, : 3 + i, i % 2] if i % 2 else image for i, image in enumerate(noise)]


def check(made, count=4):
    assert isinstance(made.images, LazyImages)
    assert digest(made.images) == digest(arrays()[:count])
    assert made.labels == [0, 1, 2, 0][:count]
    assert all(type(label) is int for label in made.labels)
    assert same(made.images[-1], arrays()[count - 1])


def test_real_images_are_read_from_a_saved_folder(hub, tmp_path):
    rows(hub).save_to_disk(tmp_path / "one")
    check(data_generator.load_images("CIFAR-10", path=tmp_path / "one"))
    check(data_generator.load_images("CIFAR-10", 2, path=tmp_path / "one"), 2)
    two = hub.DatasetDict({"train": rows(hub, "image"), "test": rows(hub, "image", 1)})
    two.save_to_disk(tmp_path / "two")
    check(data_generator.load_images("ImageNet-100", path=str(tmp_path / "two")))


def test_real_images_are_read_from_parquet(hub, tmp_path):
    folder = tmp_path / "copy" / "data"
    folder.mkdir(parents=True)
    whole = rows(hub)
    whole.select([0, 1]).to_parquet(folder / "train-00000-of-00002.parquet")
    whole.select([2, 3]).to_parquet(folder / "train-00001-of-00002.parquet")
    whole.select([0]).to_parquet(folder / "test-00000-of-00001.parquet")
    check(data_generator.load_images("CIFAR-10", path=tmp_path / "copy"))
    check(data_generator.load_images("CIFAR-10", path=folder / "train-00000-of-00002.parquet"), 2)


def test_parquet_files_that_others_wrote_are_read(hub, tmp_path):
    import pyarrow.parquet as pq

    rows(hub).to_parquet(tmp_path / "annotated.parquet")
    plain = pq.read_table(tmp_path / "annotated.parquet").replace_schema_metadata()
    pq.write_table(plain, tmp_path / "plain.parquet")
    check(data_generator.load_images("CIFAR-10", path=tmp_path / "plain.parquet"))


def test_real_images_are_read_from_the_cache_of_hugging_face(hub, tmp_path):
    rows(hub).to_parquet(tmp_path / "train.parquet")
    builder = hub.load_dataset_builder("parquet", data_files=str(tmp_path / "train.parquet"))
    builder.download_and_prepare()
    cached = tmp_path / "cache" / "uoft-cs___cifar10" / "default" / "0.0.0" / ("a" * 40)
    shutil.copytree(builder.cache_dir, cached)
    (cached / "parquet-train.arrow").rename(cached / "cifar10-train.arrow")
    info = (cached / "dataset_info.json").read_text()
    (cached / "dataset_info.json").write_text(info.replace('"parquet"', '"cifar10"'))
    check(data_generator.load_images("CIFAR-10"))


def test_wrong_copies_are_reported(hub, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"CIFAR-10: there is nothing at .*gone"):
        data_generator.load_images("CIFAR-10", path=tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"CIFAR-10: .*empty contains no saved images"):
        data_generator.load_images("CIFAR-10", path=tmp_path / "empty")
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(ValueError, match=r"CIFAR-10: .*text.parquet contains no saved images"):
        data_generator.load_images("CIFAR-10", path=tmp_path / "text.parquet")
    rows(hub, "image").save_to_disk(tmp_path / "other")
    with pytest.raises(ValueError, match=r"CIFAR-10: .*other has no column 'img'"):
        data_generator.load_images("CIFAR-10", path=tmp_path / "other")
    for count in (5, -1):
        with pytest.raises(ValueError, match=rf"ImageNet-100: there are 4 images, not {count}"):
            data_generator.load_images("ImageNet-100", count, path=tmp_path / "other")


@pytest.mark.usefixtures("hub")
def test_a_set_that_is_not_in_the_cache_is_reported_when_offline():
    with pytest.raises(
        UnavailableError, match=r"could not be loaded from https://.*: OfflineModeIsEnabled"
    ):
        data_generator.load_images("ImageNet-100")
