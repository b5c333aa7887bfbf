"""Changes to the bytes of a file, and to values that JSON can represent, drawn at random."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzz.canaries import Canaries

Damage = Callable[[Path, Random, Canaries], None]
"""Function that changes a file or a folder in place."""

_MAGIC = (b"PAR1", b"ARROW1", b"ORC", b"PK\3\4", b"\x89HDF\r\n\x1a\n", b"Obj\1", b"\x93NUMPY", b"CDF\1")
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)

DEEP = "@deep@"
"""Text that `dumped` replaces by lists inside of each other, which no encoder writes."""


def one_file(path: Path, draw: Random) -> Path:
    """Return a file, or one of those in a folder."""
    if path.is_dir():
        return draw.choice(sorted(each for each in path.rglob("*") if each.is_file()))
    return path


def damage_bytes(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change, cut, repeat, insert or remove bytes of a file, or of one in a folder."""
    file = one_file(path, draw)
    data = bytearray(file.read_bytes())
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        change_bytes(data, draw, canaries)
    file.write_bytes(data)


def change_bytes(data: bytearray, draw: Random, canaries: Canaries) -> None:
    """Make one change to bytes."""
    at = draw.randrange(len(data) + 1)
    # Most of what a format says of itself is at either end.
    if draw.random() < 0.4:
        at = (
            min(len(data), draw.randrange(64))
            if draw.random() < 0.5
            else max(0, len(data) - draw.randrange(1, 128))
        )
    to = min(len(data), at + draw.choice((1, 2, 4, 8, 64, 1024)))
    match draw.randrange(10):
        case 0 | 1 if at < len(data):
            data[at] ^= 1 << draw.randrange(8)
        case 2 if at < len(data):
            data[at] = draw.randrange(256)
        case 3:
            del data[at:]
        case 4:
            del data[at:to]
        case 5:
            data[at:at] = data[at:to] * draw.choice((1, 2, 100))
        case 6:
            number = draw.choice(_NUMBERS)
            width = draw.choice((2, 4, 8))
            data[at : at + width] = (number % 256**width).to_bytes(width, draw.choice(("little", "big")))
        case 7:
            data[at:at] = draw.randbytes(draw.choice((1, 4, 64)))
        case 8:
            data[at:at] = draw.choice(
                (*_MAGIC, canaries.text(draw).encode("utf-8", "surrogatepass")[:300])
            )
        case _:
            other = draw.randrange(len(data) + 1)
            data[at:to] = data[other : other + to - at]


def scalar(draw: Random, canaries: Canaries) -> Any:
    """Return a value that JSON can represent and that readers may not expect."""
    return draw.choice(
        (
            None,
            True,
            False,
            0,
            -1,
            1,
            2**31,
            2**53 + 1,
            2**63,
            2**64,
            -(2**63) - 1,
            10**400,
            0.5,
            -0.0,
            1e308,
            float("nan"),
            float("inf"),
            [],
            {},
            [[]],
            "0",
            "1e999",
            DEEP,
            canaries.text(draw),
            canaries.text(draw),
        )
    )


def change_tree(tree: Any, draw: Random, canaries: Canaries) -> Any:
    """Return a value of JSON with one part of it changed, removed, repeated or added."""
    tree = copy.deepcopy(tree)
    places = _places(tree)
    if not places or draw.random() < 0.02:
        return scalar(draw, canaries)
    parent, key = draw.choice(places)
    value = parent[key]
    match draw.randrange(9):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, dict):
            parent[canaries.text(draw)] = parent.pop(key)
        case 2 if isinstance(parent, dict):
            parent[draw.choice(("unknown", "__class__", "type", "id", ""))] = value
        case 2 | 3 if isinstance(parent, list):
            parent[key:key] = [value] * draw.choice((1, 3, 1000))
        case 4 if isinstance(value, int | float) and not isinstance(value, bool):
            parent[key] = draw.choice((-value, value + 1, value * 2**31, str(value), value / 3, [value]))
        case 5 if isinstance(value, str):
            at = draw.randrange(len(value) + 1)
            parent[key] = value[:at] + draw.choice((canaries.text(draw), "", value)) + value[at + 1 :]
        case 6:
            parent[key] = draw.choice(([value], {"a": value}, str(value)))
        case 7:
            other, name = draw.choice(places)
            # The part may be gone by now, or contain this one.
            parent[key] = copy.deepcopy(other[name]) if other is not parent else scalar(draw, canaries)
        case _:
            parent[key] = scalar(draw, canaries)
    return tree


def _places(tree: Any) -> list[tuple[Any, Any]]:
    """Return all containers of a tree with the key of each of their values."""
    if isinstance(tree, dict):
        return [(tree, key) for key in tree] + [
            place for value in tree.values() for place in _places(value)
        ]
    if isinstance(tree, list):
        own = [(tree, number) for number in range(len(tree))]
        return own + [place for value in tree[:50] for place in _places(value)]
    return []


def dumped(tree: Any, draw: Random) -> str:
    """Return a value as JSON, with lists 100,000 deep where `DEEP` is."""
    depth = draw.choice((500, 100_000))
    return json.dumps(tree, ensure_ascii=draw.random() < 0.5).replace(
        f'"{DEEP}"', "[" * depth + "]" * depth
    )


def changed_json(text: str, draw: Random, canaries: Canaries) -> bytes:
    """Return a text of JSON with 1 to 3 parts of it changed."""
    tree = json.loads(text)
    for _ in range(draw.choice((1, 1, 2, 3))):
        tree = change_tree(tree, draw, canaries)
    return dumped(tree, draw).encode("utf-8", "surrogatepass")


def damage_json(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change parts of a file of JSON, or of a line of one of JSON lines."""
    file = one_file(path, draw)
    if file.suffix not in (".jsonl", ".ndjson"):
        file.write_bytes(changed_json(file.read_text(encoding="utf-8"), draw, canaries))
        return
    lines = file.read_bytes().split(b"\n")
    number = draw.randrange(max(1, len(lines) - 1))
    match draw.randrange(8):
        case 0:
            lines[number:number] = [b""]
        case 1:
            lines[number] = bytes(draw.choice((1, 4096)))
        case 2:
            lines.append(bytes(4096))
        case 3:
            lines[number] += draw.choice((b",", b"\r", b" ", b"\0", b"\xff", b"{}", b"\xe2\x80\xa8"))
        case _:
            lines[number] = changed_json(lines[number].decode(), draw, canaries)
    file.write_bytes(b"\n".join(lines))


def damage_toml(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change parts of a file of TOML."""
    import tomli_w

    tree = tomllib.loads(path.read_text(encoding="utf-8"))
    for _ in range(draw.choice((1, 2, 3))):
        tree = change_tree(tree, draw, canaries)
    path.write_text(tomli_w.dumps(tree), encoding="utf-8")
