"""Kinds of damage to saved files: pure functions of the bytes, a seed and a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from data_generator.random_words import RandomWords

# Size of a page or block: the unit of page caches and of most file systems.
PAGE_BYTES = 4096

# Draws of a damage that changes no byte, e.g. zeros over zeros, before a file counts as unfit for it.
_DRAWS = 50

# Integers of `RandomWords.integers` are below 2**32.
_LARGEST = 2**32 - 1


class Kind(StrEnum):
    """A kind of damage; the value is its name in results."""

    FLIP = "bit flip"
    CUT = "truncation"
    ZERO = "zeroed page"
    SWAP = "swapped pages"
    DUPLICATE = "duplicated block"


@dataclass(frozen=True)
class Damage:
    """One damage to one file."""

    file: str
    """Path of the file below the saved directory; empty if that is the file itself."""
    length: int
    """Length of the damaged file in bytes."""
    edits: tuple[tuple[int, bytes], ...]
    """Offsets and the bytes that are there instead, within the length."""

    @property
    def offset(self) -> int:
        """Return the first changed byte."""
        return self.edits[0][0] if self.edits else self.length

    def apply(self, content: bytes) -> bytes:
        """Return the damaged content of the file."""
        damaged = bytearray(content[: self.length].ljust(self.length, b"\0"))
        for offset, found in self.edits:
            damaged[offset : offset + len(found)] = found
        return bytes(damaged)


def damage(contents: Mapping[str, bytes], kind: Kind, seed: int, number: int) -> Damage | None:
    """Return the damage of a number to saved files; None if they are too small or too uniform for it.

    Of several files one is chosen in proportion to its size. A damage that would change no byte is
    drawn again.

    Parameters
    ----------
    contents : mapping of str to bytes
        All files by their paths, see `contents_of`.
    kind : Kind
        The kind.
    seed, number : int
        Key of the random numbers: each number is another damage.
    """
    names = sorted(contents)
    total = sum(len(contents[name]) for name in names)
    if not total:
        return None
    random = RandomWords("damage", kind.value, seed, number)
    for _ in range(_DRAWS):
        place = _below(random, total)
        for name in names:
            if place < len(contents[name]):
                break
            place -= len(contents[name])
        found = _KINDS[kind](contents[name], place, random)
        if found is not None:
            return Damage(name, *found)
    return None


_Edits = tuple[int, tuple[tuple[int, bytes], ...]]


def _below(random: RandomWords, limit: int) -> int:
    if limit > _LARGEST:
        raise ValueError(f"{limit:,} bytes are too many to damage")
    return int(random.integers(limit, 1)[0])


def _flip(content: bytes, place: int, random: RandomWords) -> _Edits:
    changed = content[place] ^ 1 << _below(random, 8)
    return len(content), ((place, bytes([changed])),)


def _cut(content: bytes, place: int, random: RandomWords) -> _Edits:  # noqa: ARG001 (one signature)
    return place, ()


def _zero(content: bytes, place: int, random: RandomWords) -> _Edits | None:  # noqa: ARG001
    start, page = _page(content, place)
    return (len(content), ((start, bytes(len(page))),)) if any(page) else None


def _swap(content: bytes, place: int, random: RandomWords) -> _Edits | None:
    pages = len(content) // PAGE_BYTES
    if pages < 2:  # noqa: PLR2004 (a swap is of two)
        return None
    first, second = place // PAGE_BYTES % pages, _below(random, pages)
    one, other = (_page(content, each * PAGE_BYTES) for each in (first, second))
    if one[1] == other[1]:
        return None
    return len(content), ((one[0], other[1]), (other[0], one[1]))


def _duplicate(content: bytes, place: int, random: RandomWords) -> _Edits:  # noqa: ARG001
    start, page = _page(content, place)
    end = start + len(page)
    return len(content) + len(page), ((end, page + content[end:]),)


def _page(content: bytes, place: int) -> tuple[int, bytes]:
    start = place // PAGE_BYTES * PAGE_BYTES
    return start, content[start : start + PAGE_BYTES]


_KINDS: dict[Kind, Callable[[bytes, int, RandomWords], _Edits | None]] = {
    Kind.FLIP: _flip,
    Kind.CUT: _cut,
    Kind.ZERO: _zero,
    Kind.SWAP: _swap,
    Kind.DUPLICATE: _duplicate,
}


def contents_of(path: Path) -> dict[str, bytes]:
    """Return the bytes of a saved file under an empty name, or of all files of a directory by path."""
    if not path.is_dir():
        return {"": path.read_bytes()}
    files = sorted(each for each in path.rglob("*") if each.is_file())
    return {each.relative_to(path).as_posix(): each.read_bytes() for each in files}


@contextmanager
def damaged(path: Path, contents: Mapping[str, bytes], change: Damage) -> Iterator[None]:
    """Damage a saved file in place, and mend it at the end of the block.

    Parameters
    ----------
    path : Path
        The file or directory.
    contents : mapping of str to bytes
        Its intact bytes.
    change : Damage
        The damage.
    """
    file = path / change.file if change.file else path
    whole = contents[change.file]
    with file.open("r+b") as stream:
        stream.truncate(change.length)
        for offset, found in change.edits:
            stream.seek(offset)
            stream.write(found)
    try:
        yield
    finally:
        # A library may have replaced or removed the file.
        if not file.exists() or file.stat().st_size != len(whole):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(whole)
        else:
            with file.open("r+b") as stream:
                for offset, found in change.edits:
                    stream.seek(offset)
                    stream.write(whole[offset : offset + len(found)])
