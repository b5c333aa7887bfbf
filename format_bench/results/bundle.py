"""Bundle: the results of a run as one file to pass on, gzip-compressed JSON Lines.

The first line is the head, which `bundle_schema.json` describes: circumstances, digests of the data,
noise. Each further line is a record. There are no names of files inside, and a bundle from anybody is
read within limits: a file that exceeds them, or is not a bundle, is refused before it takes memory.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidBundleError, InvalidRecordError
from adapter_core.files import write_atomically
from adapter_core.text import printable
from format_bench.results.display.text import quantity
from format_bench.results.record_form import sentence_of, strict_validator
from format_bench.results.records import Record, key, line, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import jsonschema

SUFFIX = ".bundle.gz"

FORM = "formatbench-bundle"

VERSION = 1
"""Version of `bundle_schema.json`; raised when something is removed or changes its meaning."""

# A run of all formats on ten data sets has 10,000 records, of 500 bytes each and 50 compressed.
MOST_FILE_BYTES = 2**25
MOST_BYTES = 2**27
MOST_LINE_BYTES = 2**20
MOST_RECORDS = 50_000

_RULES = Path(__file__).with_name("bundle_schema.json")

# What a page that forgets to escape would take for markup. "pyarrow < 15" is none.
_MARKUP = re.compile(r"<(?=[A-Za-z/!?])")


@dataclass(frozen=True)
class Bundle:
    """Head and records of a bundle."""

    head: dict[str, Any]
    """As `bundle_schema.json` describes it."""
    records: list[Record]
    is_unchanged: bool = True
    """Whether the records have the digest that the head names."""


def plain_text(text: str) -> str:
    """Return text as bundles have it: on one line, without commands to terminals and without markup."""
    return _MARKUP.sub("\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", printable(text))


def is_bundle(path: Path) -> bool:
    """Return whether a path has the name of a bundle."""
    return path.name.endswith(SUFFIX)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of heads, draft 2020-12."""
    found: dict[str, Any] = json.loads(_RULES.read_text(encoding="utf-8"))
    return found


def write(head: dict[str, Any], records: Sequence[Record], path: Path) -> None:
    """Write a bundle; the same head and records give the same bytes.

    Parameters
    ----------
    head : dict
        As `schema` describes it, without number and digest of the records, which are added.
    records : sequence of Record
        One for each cell.
    path : Path
        The file, which is replaced if it exists.

    Raises
    ------
    InvalidBundleError
        If no reader would take it; nothing is written then.
    """
    lines = [*map(line, records)]
    whole = {**head, "records": len(lines), "records_sha256": _digest(lines)}
    first = json.dumps(whole, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with write_atomically(path, durable=True) as temporary:
        with temporary.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            packed.writelines([first, *lines])
        read(temporary, path)


def read(path: Path, shown: Path | None = None) -> Bundle:
    """Return a bundle.

    Parameters
    ----------
    path : Path
        The file.
    shown : Path, optional
        Its name in messages.

    Raises
    ------
    InvalidBundleError
        If it is none, is damaged, or exceeds a limit; the message has one line.
    """
    try:
        return _read(path)
    except (ValueError, RecursionError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = printable(str(error))[:300] or type(error).__name__
        raise InvalidBundleError(printable(f"{shown or path} is refused: {reason}")) from error


def _read(path: Path) -> Bundle:
    if not path.is_file():
        raise ValueError("it is not a file")
    if (size := path.stat().st_size) > MOST_FILE_BYTES:
        raise ValueError(f"its {_bytes(size)} are more than {_bytes(MOST_FILE_BYTES)}")
    lines = _lines(path)
    head = _head(next(lines, b""))
    cells: dict[tuple[object, ...], Record] = {}
    checked: set[str] = set()
    digest = hashlib.sha256()
    for number, each in enumerate(lines, start=2):
        if len(cells) == MOST_RECORDS:
            raise ValueError(f"it has more than {MOST_RECORDS:,} records")
        try:
            record = parsed(each)
        except InvalidRecordError as error:
            raise ValueError(f"line {number}: {error}") from error
        cell = key(record)
        if cell in cells:
            raise ValueError(f"line {number} is another record of one cell")
        texts = _texts(record)
        # Most texts are those of an earlier record.
        if not checked.issuperset(texts):
            for text in texts:
                _check_text(text, number)
            checked.update(texts)
        cells[cell] = record
        digest.update(each)
    if len(cells) != head["records"]:
        raise ValueError(f"its head announces {head['records']:,} records, but {len(cells):,} follow")
    is_unchanged = digest.hexdigest() == head["records_sha256"]
    return Bundle(head, list(cells.values()), is_unchanged)


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines; a file that unpacks to more than the limits is refused on the way."""
    total = 0
    with gzip.open(path) as file:
        while found := file.readline(MOST_LINE_BYTES + 1):
            total += len(found)
            if len(found) > MOST_LINE_BYTES:
                raise ValueError(f"a line has more than {_bytes(MOST_LINE_BYTES)}")
            if total > MOST_BYTES:
                raise ValueError(f"it unpacks to more than {_bytes(MOST_BYTES)}")
            yield found


def _head(first: bytes) -> dict[str, Any]:
    import msgspec

    head = msgspec.json.decode(first)
    form = head.get("version") if isinstance(head, dict) and head.get("form") == FORM else None
    if isinstance(form, int) and form > VERSION:
        raise ValueError(f"its version is {form}, and this FormatBench reads versions up to {VERSION}")
    if (error := next(_validator().iter_errors(head), None)) is not None:
        raise ValueError(sentence_of(error))
    for text in _texts_in(head):
        _check_text(text, 1)
    return dict(head)


@functools.cache
def _validator() -> jsonschema.Draft202012Validator:
    return strict_validator(schema())


def _texts(record: Record) -> tuple[str, ...]:
    named = (record.suite, record.format, record.dataset, record.codec or "", record.query)
    further = (record.sentence, record.run_id, record.machine, record.environment)
    return (*named, *further, *record.conditions, *record.conditions.values())


def _texts_in(facts: Any) -> Iterator[str]:
    """Yield all texts of JSON values, whose depth the schema limits."""
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, dict):
        for name, value in facts.items():
            yield name
            yield from _texts_in(value)
    elif isinstance(facts, list):
        for each in facts:
            yield from _texts_in(each)


def _check_text(text: str, number: int) -> None:
    if plain_text(text) != text:
        raise ValueError(f"line {number}: {text[:40]!r} contains markup or control characters")


def _digest(lines: Sequence[bytes]) -> str:
    return hashlib.sha256(b"".join(lines)).hexdigest()


def _bytes(number: int) -> str:
    return quantity(number, "bytes")
