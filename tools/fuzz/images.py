"""Folders of images of all kinds with labels, changes to their headers and names, and their reader."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.fuzz.damage import damage_bytes
from tools.fuzz.reading import confined, in_this_process
from tools.fuzz.targets import Target

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries

ENDINGS = ("png", "jpg", "webp", "tif", "bmp")


def _images(folder: Path, *, with_labels: bool) -> None:
    import numpy as np
    from PIL import Image

    folder.mkdir()
    rows = ["file,label"]
    for number, ending in enumerate(ENDINGS):
        values = (np.arange(12 * 9 * 3, dtype="u1") * (number + 1)).reshape(12, 9, 3)
        place = folder if with_labels else folder / f"class {number % 2}"
        place.mkdir(exist_ok=True)
        image = Image.fromarray(values)
        if ending == "png":
            image = image.convert("P")
        image.save(place / f"{number}.{ending}")
        rows.append(f"{number}.{ending},{number}")
    if with_labels:
        (folder / "labels.csv").write_text("\n".join(rows), encoding="utf-8")


def _one(path: Path, draw: Random) -> Path:
    return draw.choice(sorted(each for each in path.rglob("*") if each.suffix[1:] in ENDINGS))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return (
        len(content).to_bytes(4, "big") + kind + content + zlib.crc32(kind + content).to_bytes(4, "big")
    )


def _png(path: Path, draw: Random, canaries: Canaries) -> None:
    """Write a PNG of any size and depth, with texts that expand or profiles that are damaged."""
    edges = [draw.choice((0, 1, 12, 30_000, 2**31 - 1)) for _ in range(2)]
    header = b"".join(edge.to_bytes(4, "big") for edge in edges)
    header += bytes(
        (draw.choice((1, 2, 8, 16, 255)), draw.choice((0, 2, 3, 4, 6, 9)), 0, 0, draw.choice((0, 1)))
    )
    bomb = zlib.compress(bytes(2**24))
    extra = draw.choice(
        (
            b"",
            _chunk(b"zTXt", b"a\0\0" + bomb),
            _chunk(b"iTXt", b"a\0\1\0\0\0" + bomb),
            _chunk(b"iCCP", b"a\0\0" + bomb),
            _chunk(b"PLTE", draw.randbytes(9)),
            _chunk(b"tRNS", draw.randbytes(300)),
            _chunk(b"acTL", b"\xff" * 8) + _chunk(b"fcTL", draw.randbytes(26)),
            _chunk(b"eXIf", draw.randbytes(40)),
            _chunk(b"gAMA", b""),
        )
    )
    rows = draw.choice((bomb, zlib.compress(bytes(12 * 10)), b"", draw.randbytes(30)))
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + extra + _chunk(b"IDAT", rows)
    _one(path, draw).with_suffix(".png").write_bytes(data + draw.choice((b"", _chunk(b"IEND", b""))))


def _tiff(path: Path, draw: Random, canaries: Canaries) -> None:
    """Write a TIFF whose directory has any entries, also one that follows itself."""
    tags = ((256, 4), (257, 4), (258, 3), (259, 3), (262, 3), (273, 4), (277, 3), (278, 4), (279, 4), (322, 4), (323, 4),
            (324, 4), (339, 3), (320, 3), (330, 4), (34665, 4), (700, 1), (33723, 4), (34377, 1))  # fmt: skip
    numbers = (0, 1, 2, 3, 5, 6, 7, 8, 12, 32, 32773, 34676, 50001, 65535, 2**31 - 1, 2**32 - 1)
    entries = []
    for tag, usual in draw.sample(tags, draw.randrange(4, len(tags))):
        value = 12 if tag in (256, 257) and draw.random() < 0.7 else draw.choice(numbers)
        count = draw.choice((1, 1, 1, 0, 3, 2**31))
        kind = draw.choice((usual, usual, usual, 0, 2, 5, 12, 255))
        entries.append(
            tag.to_bytes(2, "little")
            + kind.to_bytes(2, "little")
            + count.to_bytes(4, "little")
            + value.to_bytes(4, "little")
        )
    directory = (
        len(entries).to_bytes(2, "little")
        + b"".join(sorted(entries))
        + draw.choice((0, 8)).to_bytes(4, "little")
    )
    _one(path, draw).with_suffix(".tif").write_bytes(
        b"II*\0\x08\0\0\0" + directory + draw.randbytes(500)
    )


def _others(path: Path, draw: Random, canaries: Canaries) -> None:
    """Give a file of another kind, which Pillow might open by another program, the name of an image."""
    data = draw.choice(
        (
            b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 12 12\n(%s) (w) file\nshowpage\n"
            % str(canaries.touched).encode(),
            b'/* XPM */\nstatic char *a[] = {\n"1 1 1 1",\n"a c #000",\n"a"};\n',
            b"P6 99999999 99999999 255\n",
            b"P6 12 12 65535\n" + bytes(900),
            b"<svg xmlns='http://www.w3.org/2000/svg'><image href='%s'/></svg>" % canaries.url.encode(),
            b"GIF89a" + draw.randbytes(60),
            b"\0\0\1\0\1\0\0\0\0\0\1\0\x18\0\xff\xff\xff\xff\x16\0\0\0",
            b"SIMPLE  =                    T"
            + b" " * 50
            + b"BITPIX  =                    8"
            + b" " * 50,
            b"\0\0\0\x0cjP  \r\n\x87\n" + draw.randbytes(80),
            b"\0\0\0\x1cftypavif" + draw.randbytes(80),
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
            b"\x01\0\0\0" + bytes(100),
            b"8BPS\0\1" + bytes(6) + b"\0\3" + b"\0\0\x75\x30" * 2 + b"\0\x08\0\3" + bytes(40),
            b"qoif" + b"\0\0\xff\xff\0\0\xff\xff\3\0" + draw.randbytes(20),
            canaries.pickle(draw),
        )
    )
    _one(path, draw).write_bytes(data)


def _folder(path: Path, draw: Random, canaries: Canaries) -> None:
    """Add names, folders and links that are unusual."""
    image = _one(path, draw)
    match draw.randrange(6):
        case 0:
            (path / "..png").symlink_to(image.name)
        case 1:
            (path / "loop").symlink_to(path, target_is_directory=True)
        case 2:
            (path / "a\n\x1b[31m.png").write_bytes(image.read_bytes())
        case 3:
            (image.parent / "folder.png").mkdir()
        case 4:
            (image.parent / b"\xff\xfe.png".decode("utf-8", "surrogateescape")).write_bytes(
                image.read_bytes()
            )
        case _:
            deep = path.joinpath(*["d"] * 60)
            deep.mkdir(parents=True)
            image.replace(deep / image.name)


def _labels(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the labels."""
    notes = path / "labels.csv"
    names = [image.name for image in sorted(path.glob("*.*")) if image.suffix != ".csv"]
    label = draw.choice(("-1", "1.5", "x", "99999999999999999999", "", "True", "2147483648", "nan"))
    text = draw.choice(
        (
            "file,label\n" + "".join(f"{name},{label}\n" for name in names),
            "file,label\n" + "".join(f"{name},1\n" for name in names * 2),
            "file,label\n../../etc/passwd,1\n",
            f"file,label\n{canaries.text(draw)},1\n",
            "file\n" + "\n".join(names),
            "label,file\n",
            "",
            "file,label,file\na,1,b\n",
            "1,2\n3,4\n",
        )
    )
    notes.write_text(text, encoding="utf-8", errors="replace")


def targets() -> Iterator[Target]:
    """Yield the reader of folders of images."""
    seeds = {
        "labelled": partial(_images, with_labels=True),
        "classes": partial(_images, with_labels=False),
    }
    damages = (damage_bytes, damage_bytes, _png, _tiff, _others, _folder, _labels)
    yield Target(
        "images",
        seeds,
        damages,
        in_this_process,
        ("PIL.Image", "pandas"),
        is_data=True,
        contained=confined,
    )
