"""Fingerprint of a user's data: a hash of the content, independent of its location."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from data_generator import location
from data_generator.errors import library_errors

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
