"""Table about images of faces, with the schema of the 10-million-row table of the thesis.

The real table describes a face data set: the path of each image, the person whom it shows, and the
measurements of a face-analysis library. The synthetic one has its schema: 6 integer, 21 float and 6 text
columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.random_words import RandomWords
from data_generator.synthetic import uniform_columns

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


PIXEL_COLUMNS = (
    "image_height",
    "image_width",
    "left_eye_x",
    "left_eye_y",
    "right_eye_x",
    "right_eye_y",
)
SCORE_COLUMNS = tuple(
    f"{score}_iface"
    for score in (
        "age background_uniformity brightness confidence contrast eye_gaze eye_status_left "
        "eye_status_right gender glasses mouth_status nose_shadow pitch red_left_eye red_right_eye "
        "roll shadow sharpness specularity unique_intensity_levels yaw"
    ).split()
)
TEXT_COLUMNS = ("bbox", "db_id", "image_container_path", "image_id", "ipt_str", "subject_id")

COLUMNS = tuple(sorted(PIXEL_COLUMNS + SCORE_COLUMNS + TEXT_COLUMNS))

# Chosen, not measured.
IMAGES_PER_SUBJECT = 40
IMAGES_PER_CONTAINER = 10_000


def generate(rows: int, seed: int) -> Dataset:
    """Return the synthetic table, with its columns in alphabetical order."""

    def random(column: str) -> RandomWords:
        return RandomWords("webface", column, seed)

    makers: dict[str, Callable[[], pa.Array]] = {
        name: partial(uniform_columns.integers, rows, random(name), low=16, high=1024)
        for name in PIXEL_COLUMNS
    }
    for name in SCORE_COLUMNS:
        makers[name] = partial(uniform_columns.floats, rows, random(name), low=-1.0, high=1.0)
    makers |= {
        "bbox": partial(_boxes, rows, random("bbox")),
        "db_id": partial(_repeat, "webface", rows),
        "image_container_path": partial(_numbered, rows, IMAGES_PER_CONTAINER, "webface/part-", ".rec"),
        "image_id": partial(_numbered, rows, 1, "img_", ".jpg"),
        "ipt_str": partial(uniform_columns.english_nouns, rows, random("ipt_str")),
        "subject_id": partial(_numbered, rows, IMAGES_PER_SUBJECT, "subject_", ""),
    }
    return Dataset("webface", uniform_columns.to_pandas({name: makers[name] for name in COLUMNS}))


def load(path: Path, rows: int) -> Dataset:
    """Read the first rows of the real table from an HDF5 file that pandas wrote.

    Reading may unpickle objects: open only files from sources that you trust.

    Raises
    ------
    FileNotFoundError
        If nothing is at `path`.
    ValueError
        If the file is not HDF5, or does not contain a table of this schema.
    """
    import pandas as pd

    if not path.is_file():
        raise FileNotFoundError(f"webface: there is no file {path}")
    try:
        df = pd.read_hdf(path, mode="r", stop=rows)
    except Exception as error:
        raise ValueError(f"webface: {path} is not an HDF5 file with one table: {error}") from error
    missing = [name for name in COLUMNS[:1] + TEXT_COLUMNS if name not in df.columns]
    if missing:
        raise ValueError(f"webface: the table in {path} has no column {missing[0]!r}")
    return Dataset("webface", df.reset_index(drop=True))


def _boxes(rows: int, random: RandomWords) -> pa.Array:
    """Return boxes as text, e.g. "[12, 34, 112, 96]": left, top, width, height in pixels."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = [
        uniform_columns.integers(rows, random, low=low, high=high).cast(pa.large_string())
        for low, high in ((0, 200), (0, 200), (40, 400), (40, 400))
    ]
    inside = pc.binary_join_element_wise(*numbers, _scalar(", "))
    return pc.binary_join_element_wise(_scalar("["), inside, _scalar("]"), _scalar(""))


def _numbered(rows: int, rows_per_number: int, prefix: str, ending: str) -> pa.Array:
    """Return text with ascending numbers, one for every `rows_per_number` rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pa.array(np.arange(rows) // rows_per_number).cast(pa.large_string())
    padded = pc.utf8_lpad(numbers, width=8, padding="0")
    return pc.binary_join_element_wise(_scalar(prefix), padded, _scalar(ending), _scalar(""))


def _repeat(value: str, rows: int) -> pa.Array:
    import pyarrow as pa

    return pa.repeat(_scalar(value), rows)


def _scalar(value: str) -> pa.Scalar:
    import pyarrow as pa

    return pa.scalar(value, pa.large_string())


DATASETS = (
    DatasetDefinition(
        name="webface",
        family="tables",
        description="33 columns about images of faces: 6 of integers, 21 of floats, 6 of text",
        make=generate,
        default_count=1_000_000,
        load=load,
    ),
)
