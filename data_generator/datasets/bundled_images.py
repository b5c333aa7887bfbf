"""Real images that are part of Python packages: scikit-learn's digits and scikit-image's pictures.

Only files inside the installed packages are opened: nothing is ever downloaded.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnavailableError
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.datasets._packages import module_of
from data_generator.decoding import to_array
from data_generator.lazy_images import LazyImages

if TYPE_CHECKING:
    import numpy as np


# Photographs, micrographs and scans in scikit-image's wheel; its drawings are excluded.
PICTURES = (
    "astronaut.png brick.png camera.png cell.png chelsea.png clock_motion.png coffee.png coins.png "
    "grass.png gravel.png hubble_deep_field.jpg ihc.png moon.png motorcycle_left.png "
    "motorcycle_right.png page.png retina.jpg rocket.jpg text.png"
).split()


def digits(count: int, _seed: int) -> Dataset:
    """Return the first handwritten digits of `sklearn.datasets.load_digits`, labelled 0 to 9.

    Shape (8, 8), dtype uint8. The 17 levels 0 to 16 are spread over 0 to 255 and rounded, which keeps
    them distinct: images of so few levels compress better than others.

    Raises
    ------
    ValueError
        If more than 1,797 are requested.
    UnavailableError
        If scikit-learn is missing or broken.
    """
    import numpy as np

    found = module_of("digits", "scikit-learn", "sklearn", "sklearn.datasets").load_digits()
    _check("digits", count, len(found.images))
    # Rounded to the nearest: (16 * 255 + 8) // 16 is 255.
    pixels = ((found.images[:count].astype(np.uint16) * 255 + 8) // 16).astype(np.uint8)
    return Dataset("digits", images=list(pixels), labels=found.target[:count].tolist())


def pictures(count: int, _seed: int) -> Dataset:
    """Return the first pictures of `PICTURES`, each a class of its own; they are decoded at each access.

    Three are JPEG files,
    whose pixels may differ in the last bit between versions of Pillow.

    Raises
    ------
    ValueError
        If more are requested than there are.
    UnavailableError
        If scikit-image is missing or broken, or if its version lacks one of the pictures.
    """
    _check("pictures", count, len(PICTURES))
    package = module_of("pictures", "scikit-image", "skimage", "skimage")
    paths = [Path(package.__file__).parent / "data" / name for name in PICTURES[:count]]
    for path in paths:
        if not path.is_file():
            reason = f"this version of scikit-image comes without {path.name}"
            raise UnavailableError("pictures", reason, "python -m pip install scikit-image==0.26.0")
    return Dataset(
        "pictures", images=LazyImages(partial(_picture, paths), range(count)), labels=list(range(count))
    )


def _picture(paths: list[Path], number: int) -> np.ndarray:
    from PIL import Image

    with Image.open(paths[number]) as image:
        return to_array(image)


def _check(name: str, count: int, most: int) -> None:
    if count > most:
        raise ValueError(f"{name} has {most:,} images, not {count:,}")


DATASETS = (
    DatasetDefinition(
        name="digits",
        family="images",
        description="real: greyscale images of handwritten digits, 8 x 8 pixels",
        make=digits,
        default_count=1_797,
        is_real=True,
        requires=("scikit-learn",),
    ),
    DatasetDefinition(
        name="pictures",
        family="images",
        description="real: photographs, micrographs and scans of 172 to 1,411 pixels a side",
        make=pictures,
        default_count=len(PICTURES),
        is_real=True,
        requires=("pillow", "scikit-image"),
    ),
)
