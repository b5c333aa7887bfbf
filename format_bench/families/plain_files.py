"""Data of cases as plain files, which scripts read without this project.

A table is a Parquet file, an array a .npy file, images are a folder of PNG files, records JSON lines.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core.errors import UnsupportedError
from adapter_core.files import write_atomically
from adapter_core.snippets import Given, literal
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import numpy as np
    import pandas as pd

    from adapter_core import ArraySource, RecordSet


@dataclass(frozen=True)
class Reading:
    """Code that reads a plain file into the variables of a snippet."""

    imports: tuple[str, ...]
    lines: tuple[str, ...]


_SUFFIXES = {"tables": ".parquet", "images": "-images", "arrays": ".npy", "records": ".jsonl"}


def file_name(family: str, dataset: str, count: int) -> str:
    """Return the name of the plain file of a data set of some rows, images, chunks or records.

    Raises
    ------
    UnsupportedError
        If data of the family have no plain file.
    """
    if family not in _SUFFIXES:
        raise UnsupportedError(f"{family} have no plain file of their data")
    return f"{dataset.replace('/', '-')}-{count}{_SUFFIXES[family]}"


def reading(family: str, given: Given, name: str, size: Sequence[int]) -> Reading:
    """Return the code that reads a plain file, and checks its size.

    Parameters
    ----------
    family : str
        Family of the data.
    given : Given
        The variables.
    name : str
        Name of the file in the working directory.
    size : sequence of int
        Rows and columns of a table, chunk edges of an array, the number of images or records.
    """
    place = literal(name)
    if family == "tables":
        rows, columns = size
        lines = [f"df = pd.read_parquet({place})", f"assert df.shape == ({rows}, {columns})"]
        return Reading(("import pandas as pd",), tuple(lines))
    if family == "images":
        lines = [
            f"files = sorted(pathlib.Path({place}).iterdir())",
            "images = [np.array(Image.open(each)) for each in files]",
            'labels = np.array([int(each.stem.partition("-")[2]) for each in files])',
            f"assert len(images) == {size[0]}",
        ]
        return Reading(("import numpy as np", "from PIL import Image"), tuple(lines))
    if family == "arrays":
        chunks = [f"chunks = {tuple(size)}"] if "chunks" in given.names else []
        if given is not Given.LABELLED:
            return Reading(("import numpy as np",), (f"array = np.load({place})", *chunks))
        array = f'array = xarray.DataArray(np.load({place}), name="values")'
        return Reading(("import numpy as np", "import xarray"), (array, *chunks))
    lines = [
        f'records = [json.loads(line) for line in open({place}, encoding="utf-8")]',
        f"assert len(records) == {size[0]}",
        *(["names = list(records[0])"] if "names" in given.names else []),
    ]
    return Reading(("import json",), tuple(lines))


def write(family: str, data: Any, path: Path) -> str:
    """Write data as a plain file, or a folder of them; an earlier one is replaced.

    Returns
    -------
    str
        SHA-256 of the file as hexadecimal digits; empty for a folder.

    Raises
    ------
    UnsupportedError
        If the data would not come back from it as they are.
    """
    with write_atomically(path) as temporary:
        _WRITERS[family](data, temporary)
        if temporary.is_dir():
            shutil.rmtree(path, ignore_errors=True)
            return ""
        with temporary.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _write_table(df: pd.DataFrame, path: Path) -> None:
    import pandas as pd

    try:
        df.to_parquet(path, index=False, row_group_size=max(1, len(df)))
        found = verify(df, pd.read_parquet(path))
        reason = "; ".join((*found.errors, *found.losses))
    except (ValueError, TypeError, NotImplementedError) as error:  # nested columns and the like
        reason = str(error)
    if reason:
        raise UnsupportedError(f"the table does not come back from Parquet as it is: {reason}")


def _write_images(data: tuple[Sequence[np.ndarray], Sequence[int]], path: Path) -> None:
    import numpy as np
    from PIL import Image

    path.mkdir()
    for number, (image, label) in enumerate(zip(*data, strict=True)):
        file = path / f"{number:07}-{int(label)}.png"
        try:
            Image.fromarray(image).save(file)
        except TypeError as error:
            raise UnsupportedError(f"PNG has no images of shape {image.shape}") from error
        if not np.array_equal(np.array(Image.open(file)), image):
            raise UnsupportedError(f"image {number} does not come back from PNG as it is")


def _write_array(source: ArraySource, path: Path) -> None:
    import numpy as np

    with path.open("wb") as file:
        np.save(file, source.read(tuple(slice(0, edge) for edge in source.shape)), allow_pickle=False)


def _write_records(records: RecordSet, path: Path) -> None:
    of = records.of
    if not of.is_flat:
        raise UnsupportedError("code to paste is for records of required texts and numbers of 32 bits")
    with path.open("w", encoding="utf-8") as file:
        for each in records.iterate():
            row = dict(zip(of.names, of.plain(each), strict=True))
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "tables": _write_table,
    "images": _write_images,
    "arrays": _write_array,
    "records": _write_records,
}
