"""Loading and fingerprint of a user's own data: a table, a folder of images, an array or records."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from adapter_core.errors import InvalidDataError
from data_generator import location
from data_generator.array_files import array_file
from data_generator.dataset import UserData
from data_generator.errors import library_errors
from data_generator.readers import every_reader
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user.array import load_array
from data_generator.user.image_folder import load_image_folder
from data_generator.user.records import load_records
from data_generator.user.table import load_table

# 128 bits: two files of a user never have one digest by chance.
DIGEST_BYTES = 16


def fingerprint(data: str | os.PathLike[str]) -> str:
    """Return a hash of the content of a file, or of the names and contents of a folder's files.

    The hash is BLAKE2b (RFC 7693) of 128 bits, in hexadecimal. If a file has several tables, the whole
    file is hashed. Modification times and the name of the file or folder have no influence.

    Raises
    ------
    InvalidDataError
        If the file or folder does not exist, or cannot be read.
    """
    found = location.find(data)
    with library_errors(found.path, "a file"):
        return _hash_of_folder(found.path) if found.is_folder else _hash(found.path).hexdigest()


def _hash(path: Path) -> hashlib._Hash:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGEST_BYTES))


def _hash_of_folder(folder: Path) -> str:
    whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            # Hashing digests of one length, instead of names and contents, separates the two.
            whole.update(hashlib.blake2b(os.fsencode(path.relative_to(folder))).digest())
            whole.update(_hash(path).digest())
    return whole.hexdigest()


def load_data(  # noqa: PLR0913 (as `load_table`)
    path: str | os.PathLike[str],
    *,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
    trust_pickle: bool = False,
    chunks: tuple[int, ...] | None = None,
    parse_dates: bool = True,
    as_records: bool = False,
    schema: str | os.PathLike[str] | None = None,
) -> UserData:
    """Return the table, the images, the array or the records at a path.

    Raises the errors of `load_table`, `load_image_folder`, `load_array` and `load_records`.

    Parameters
    ----------
    path : path-like
        A file, whose content decides: the kinds of `data_generator.array_files` are arrays, HDF5 that
        pandas wrote and others are tables. Or a folder, which contains images unless it is a Lance data
        set, a Zarr array or group, or a TileDB array.
    sample : int, optional
        Number of rows or images in a random sample, or of first chunks of an array; all if not given.
    seed : int
        Seed of the sample.
    trust_pickle : bool
        Load pickles, which can run any program.
    chunks : tuple of int, optional
        Shape of the chunks of an array; see `load_array`.
    parse_dates : bool
        Turn dates in delimited text into datetimes; see `load_table`.
    as_records : bool
        The file contains records, one JSON object a line; see `load_records`.
    schema : path-like, optional
        File with the type of the records.

    Raises
    ------
    InvalidDataError
        If chunks are given for a table or images, or as those functions do.
    """
    if as_records:
        return load_records(path, sample=sample, seed=seed, schema=schema)
    found = location.find(path)
    if array_file(found) is not None:
        return load_array(path, chunks=chunks, sample=sample)
    if chunks is not None:
        raise InvalidDataError(found.path, "is not an array: it has no chunks")
    if found.is_folder and not any(reader.is_in(found.path) for reader in every_reader()):
        return load_image_folder(path, sample, seed)
    return load_table(
        path, sample_rows=sample, seed=seed, trust_pickle=trust_pickle, parse_dates=parse_dates
    )
