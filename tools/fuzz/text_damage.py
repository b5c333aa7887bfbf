"""Changes to CSV, JSON text, compressed text and pickles."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.fuzz.damage import change_bytes

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries

BOMB_BYTES = 2**24
"""Size of text that compresses to nearly nothing; the limit of memory is proven elsewhere, by larger ones."""


def damage_csv(path: Path, draw: Random, canaries: Canaries) -> None:  # noqa: C901 (a table of changes)
    """Change quotes, separators, line ends, fields and the header."""
    separator = "\t" if path.suffix == ".tsv" else ","
    rows = [line.split(separator) for line in path.read_text(encoding="utf-8").splitlines()]
    row = draw.choice((rows[0], draw.choice(rows)))
    at = draw.randrange(len(row))
    end = "\n"
    match draw.randrange(12):
        case 0:
            row[at] = f'"{row[at]}'
        case 1:
            row[at] = f'"a{end}b""c{separator}"'
        case 2:
            row[at:at] = ["x"] * draw.choice((1, 5, 5000))
        case 3:
            del row[at:]
        case 4:
            row[at] = canaries.text(draw)
        case 5:
            row[at] = draw.choice(
                ("1e999", "9" * 400, "0x1p3", "1_000", "٣", "-nan", "+inf", "1.2.3", "999999-99-99")
            )
        case 6:
            end = draw.choice(("\r", "\r\n", "\n\r", "\n\n", "\0\n", "\u2028", "\x0b"))
        case 7:
            rows[0] = [draw.choice(("", "a", "a.1", "Unnamed: 0", "index", " ", "\ufeff"))] * len(
                rows[0]
            )
        case 8:
            separator = draw.choice((";", "|", ",\t", " ", '"', "'"))
        case 9:
            row[at] = "x" * draw.choice((10, 200_000, 2_000_000))
        case 10:
            rows = rows * draw.choice((0, 1, 500))
        case _:
            row[at] = "=HYPERLINK(A1)&" + canaries.text(draw)
    text = end.join(separator.join(each) for each in rows)
    path.write_bytes(
        text.encode(draw.choice(("utf-8", "utf-8", "utf-8", "utf-16", "cp1250")), "replace")
    )


def damage_json_text(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the text of JSON beyond its grammar, or replace it by something unusual of it."""
    name, url = "fuzz", canaries.url
    depth = draw.choice((100, 2000, 200_000))
    text = draw.choice(
        (
            "[" * depth,
            "[" * depth + "]" * depth,
            '{"a":' * depth + "1" + "}" * depth,
            '[{"a":1,"a":2}]',
            '[{"a":1}, [1], 2, null]',
            f'[{{"a":{"9" * 5000}}}]',
            f'[{{"a":1e{"9" * 20}}}]',
            '[{"a":NaN,"b":Infinity,"c":-Infinity}]',
            '[{"a":"\\ud800"}]',
            '[{"\\u0000":1}]',
            '{"a":1}\n{"b":2}\nnull\n',
            '{"a":1}{"a":2}',
            '{"a":1}\n\n\n{"a":[1,{"b":2}]}',
            "[{}]",
            "[{},{}]",
            "[]",
            f'[{{"$ref":"{url}","__proto__":{{"a":1}}}}]',
            f'[{{"{name}":{{"py/object":"os.system","py/reduce":["x"]}}}}]',
            '[{"index":1,"columns":2,"data":[3]}]',
            '{"schema":{"fields":[]},"data":[]}',
            "[" + ",".join(f'{{"c{number}":1}}' for number in range(3000)) + "]",
        )
    )
    path.write_text(text, encoding="utf-8")


def damage_compressed(path: Path, draw: Random, canaries: Canaries) -> None:
    """Replace compressed text by a changed one, by several streams, or by much of one character."""
    import zstandard

    compress = {".gz": gzip.compress, ".zst": zstandard.compress, ".xz": lzma.compress}[path.suffix]
    content = bytearray(b'{"a":1,"b":"x"}\n' * 20 if ".jsonl" in path.name else b"a,b\n1,x\n2,y\n" * 5)
    match draw.randrange(7):
        case 0:
            change_bytes(content, draw, canaries)
            data = compress(bytes(content))
        case 1:
            data = compress(bytes(content)) * draw.choice((2, 50))
        case 2:
            data = compress(compress(bytes(content)))
        case 3:
            data = compress(bytes(content)) + draw.randbytes(20)
        case 4:
            data = compress(draw.choice((b"a", b",", b"\n", b"\0", b'"')) * BOMB_BYTES)
        case 5:
            data = compress(
                draw.choice((b"PAR1", b"SQLite format 3\0", b"\x89HDF\r\n\x1a\n", b"PK\3\4"))
                + bytes(content)
            )
        case _:
            data = bytearray(compress(bytes(content)))
            change_bytes(data, draw, canaries)
    path.write_bytes(data)


def damage_pickle(path: Path, draw: Random, canaries: Canaries) -> None:
    """Replace a pickle by one with an effect, also compressed or under the name of another kind."""
    path.write_bytes(canaries.pickle(draw))
