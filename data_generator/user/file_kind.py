"""Recognition of the kind of a file by its content, which its name must not contradict."""

from __future__ import annotations

from pathlib import Path

from adapter_core import UnavailableError, whole_file
from adapter_core.availability import import_failure
from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors
from data_generator.location import DataLocation, bare_name
from data_generator.readers import every_reader
from data_generator.readers._reader import TableReader

# Signatures are within the first bytes; the delimiter of a text shows in its first lines.
HEAD_BYTES = 2**16

# Bytes that do not occur in text of any encoding that extends ASCII.
CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r"})

UNPACK = "unpack it first"
# Kinds of files without a reader by their first bytes, each with advice.
FOREIGN = {
    b"PK\3\4": ("a ZIP archive", UNPACK),
    b"PK\5\6": ("an empty ZIP archive", UNPACK),
    b"BZh": ("a file compressed by bzip2", UNPACK),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", UNPACK),
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": (
        "an old (.xls) or an encrypted Excel workbook",
        "save it as .xlsx, without a password",
    ),
    b"\xff\xfe": ("text in UTF-16", "save it as UTF-8"),
    b"\xfe\xff": ("text in UTF-16", "save it as UTF-8"),
    b"\x89PNG": ("an image", "give the folder that it is in"),
    b"\xff\xd8\xff": ("an image", "give the folder that it is in"),
}


def codec_of(place: DataLocation) -> str | None:
    """Return the codec that the whole file is compressed with; None if it is not compressed.

    Raises
    ------
    UnavailableError
        If the package of the codec is missing or broken.
    """
    with library_errors(place.path, "a file"):
        codec = None if place.is_folder else whole_file.codec_of(place.path)
    needed = {each.name: each.requires for each in whole_file.CODECS}.get(codec or "", "")
    reason = import_failure(needed) if needed else ""
    if reason:
        raise UnavailableError(f"the reader of {codec} files", reason, f"python -m pip install {needed}")
    return codec


def reader_of(place: DataLocation, codec: str | None) -> TableReader:
    """Return the reader of the file or folder at a location.

    Raises
    ------
    InvalidDataError
        If it is empty, of an unknown kind, or if name and content contradict each other.
    UnavailableError
        If the package that reads it is missing or broken.
    """
    reader = _folder_reader(place.path) if place.is_folder else _file_reader(place.path, codec)
    if place.table and not reader.has_several_tables:
        problem = f"is {reader.kind}, which contains one table"
        raise InvalidDataError(place.path, problem, f"leave out ::{place.table}")
    reader.check_available()
    return reader


def _folder_reader(path: Path) -> TableReader:
    for reader in every_reader():
        if reader.is_in(path):
            return reader
    raise InvalidDataError(
        path, "is a folder without a table in it", "give one file, or a Lance data set"
    )


def _file_reader(path: Path, codec: str | None) -> TableReader:
    with library_errors(path, codec or "a file"), whole_file.reading(path) as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise InvalidDataError(path, "is empty" if codec is None else "is empty when it is unpacked")
    ending = Path(bare_name(path)).suffix.lower()
    named = [reader for reader in every_reader() if ending in reader.endings]
    found = [reader for reader in every_reader() if reader.recognises(head)]
    if head.translate(None, CONTROL) == head:
        # The header of a text file may equal a binary signature, e.g. a column named ORC.
        found = [reader for reader in found if reader.is_text]
    if not found:
        return _reader_by_name(path, head, named)
    if named and found[0] not in named:
        advice = f"if the content is right, let the name end with {found[0].endings[0]}"
        problem = f"is {_kinds(named)} by its name, but its content is {found[0].kind}"
        raise InvalidDataError(path, problem, advice)
    if codec and not found[0].is_compressible:
        raise InvalidDataError(path, f"is {found[0].kind} inside {codec}", UNPACK)
    return found[0]


def _reader_by_name(path: Path, head: bytes, named: list[TableReader]) -> TableReader:
    """Return the reader of the kind that the name indicates, for content without a signature."""
    kind, advice = next((entry for magic, entry in FOREIGN.items() if head.startswith(magic)), ("", ""))
    nul = head.find(b"\0")
    if named and named[0].is_text and not kind and nul < 0:
        return named[0]
    if not kind:
        kind = "text" if nul < 0 else f"binary: byte {nul:,} (counted from 0) is 0"
    if named:
        problem = f"is {_kinds(named)} by its name, but its content is {kind}"
        raise InvalidDataError(path, problem, advice or "give it the ending of its kind")
    if not advice and nul < 0:
        advice = "let the name end with .csv, .tsv, .json or .jsonl, whichever it is"
    elif not advice:
        advice = f"known are {', '.join(reader.endings[0] for reader in every_reader())}"
    raise InvalidDataError(path, f"is of an unknown kind, its content is {kind}", advice)


def _kinds(readers: list[TableReader]) -> str:
    return " or ".join(reader.kind for reader in readers)
