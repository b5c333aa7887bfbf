"""The named sets of images."""

from __future__ import annotations

from collections.abc import Callable

from adapter_core.errors import UnknownNameError
from data_generator.catalog.tables import DEFAULT_SEED
from data_generator.dataset import Dataset
from data_generator.lazy import LazyImages
from data_generator.real import photographs
from data_generator.synthetic import scenes

_REAL: dict[str, Callable[[int], Dataset]] = {
    "digits": photographs.digits,
    "pictures": photographs.pictures,
}


def image_names() -> list[str]:
    """Return the names of all sets of images that `images` gives."""
    return [*scenes.KINDS, *_REAL]


def images(name: str, count: int, seed: int = DEFAULT_SEED) -> Dataset:
    """Return a named set of images, the same for the same (name, count, seed) on every machine.

    The images are made each time they are asked for, in any order, and are not kept: 126,689 of
    ``imagenet-like`` would take 13 GB. Fewer images are the first ones of more; sorted labels are spread
    anew.

    Parameters
    ----------
    name : str
        - ``cifar-like``: shape (32, 32, 3), labels 0 to 9 at random; PNG files take 0.74 of the raw
          bytes, as those of CIFAR-10 do.
        - ``imagenet-like``: short side 160 and long side 160 to 298 pixels, upright or not, 2 % of them
          greyscale of shape (height, width); labels 0 to 99, sorted; 105 kB on average, of which PNG
          files take 0.60, as those of ImageNet-100 do.
        - ``digits``: the handwritten digits of scikit-learn, see `real.photographs.digits`.
        - ``pictures``: pictures of scikit-image, see `data_generator.real.photographs.pictures`.
    count : int
        Number of images; of the real sets, the first ones.
    seed : int
        Synthetic images of different seeds have nothing in common. Labels say nothing about what is in
        them. For the real sets it has no meaning.

    Raises
    ------
    UnknownNameError
        If there is no such set.
    ValueError
        If `count` is negative, or if a real set has not as many.
    UnavailableError
        If the package that a real set comes with is missing.
    """
    if name not in image_names():
        raise UnknownNameError("set of images", name, image_names())
    if count < 0:
        raise ValueError(f"a set cannot have {count} images")
    if name in _REAL:
        return _REAL[name](count)
    made = LazyImages(scenes.Scenes(name, count, seed), range(count))
    return Dataset(name, images=made, labels=scenes.labels(name, count, seed))
