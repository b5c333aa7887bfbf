"""Changes to members of workbooks, and to headers of Avro files."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.fuzz.damage import change_bytes, change_tree, dumped

if TYPE_CHECKING:
    from tools.fuzz.canaries import Canaries

_SHEET = "xl/worksheets/sheet1.xml"


def _members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist()}


def _rewritten(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            # Without the time of writing, which would make another file each time.
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            archive.writestr(info, content, method)


_DIMENSIONS = (
    "A1:XFD1048576",
    "A1",
    "XFD1048576",
    "A1:A99999999999",
    "A0:A0",
    "ZZZZZZ1:A1",
    "",
    "B2:A1",
    "A1:Z",
)


def _sheet(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change references, types and values of a sheet's cells."""
    members = _members(path)
    text = members[_SHEET].decode()
    value = draw.choice(("-1", "99999999999999999999", "1e999", "nan", "", "x", "2147483648", "0.5"))
    match draw.randrange(9):
        case 0:
            text = re.sub(
                r'<dimension ref="[^"]*"', f'<dimension ref="{draw.choice(_DIMENSIONS)}"', text
            )
        case 1:
            cells = re.findall(r'r="[A-Z]+[0-9]+"', text)
            text = text.replace(
                draw.choice(cells),
                f'r="{draw.choice(("XFD1048576", "A1048576", "XFD1", "A0", "1A", ""))}"',
                1,
            )
        case 2:
            text = re.sub(r'<row r="\d+"', f'<row r="{value}"', text, count=draw.choice((1, 3)))
        case 3:
            text = re.sub(
                r' t="[a-z]+"',
                f' t="{draw.choice(("s", "str", "d", "b", "e", "n", "inlineStr", "x"))}"',
                text,
                count=draw.choice((1, 50)),
            )
        case 4:
            numbers = list(re.finditer(r"<v>[^<]*</v>", text))
            chosen = draw.choice(numbers)
            text = text[: chosen.start()] + f"<v>{value}</v>" + text[chosen.end() :]
        case 5:
            text = re.sub(r' s="\d+"', f' s="{value}"', text)
        case 6:
            text = text.replace(
                "<sheetData>", "<sheetData>" + '<row r="1"><c r="A1"/></row>' * draw.choice((2, 20_000))
            )
        case 7:
            text = re.sub(
                r"<(f|v)>([^<]*)<",
                rf"<f>{draw.choice((canaries.url, 'WEBSERVICE(A1)', 'A1'))}</f><v>\2<",
                text,
            )
        case _:
            text = text.replace(
                "</sheetData>",
                f'</sheetData><mergeCells><mergeCell ref="{draw.choice(_DIMENSIONS)}"/></mergeCells>',
            )
    members[_SHEET] = text.encode()
    _rewritten(path, members)


def _xml(path: Path, draw: Random, canaries: Canaries) -> None:
    """Put entities, deep elements, damaged markup or another encoding into a member."""
    members = _members(path)
    name = draw.choice([each for each in members if each.endswith((".xml", ".rels"))])
    text = members[name].decode()
    head, _, body = text.partition("?>") if text.startswith("<?xml") else ("", "", text)
    del head
    root = re.match(r"\s*<([\w:]+)", body)
    tag = root[1] if root else "x"
    match draw.randrange(8):
        case 0:
            entity = draw.choice((f"file://{canaries.secret}", canaries.url, "/etc/hostname"))
            new = f'<!DOCTYPE {tag} [<!ENTITY e SYSTEM "{entity}">]>' + re.sub(
                r">([^<>]+)<", ">&e;<", body, count=5
            )
        case 1:
            levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 9))
            new = f'<!DOCTYPE {tag} [<!ENTITY e0 "lol">{levels}]>' + re.sub(
                r">([^<>]+)<", ">&e8;<", body, count=1
            )
        case 2:
            new = f'<!DOCTYPE {tag} SYSTEM "{canaries.url}">' + body
        case 3:
            depth = draw.choice((100, 20_000))
            new = body.replace("><", ">" + "<a>" * depth + "</a>" * depth + "<", 1)
        case 4:
            new = (
                '<?xml version="1.0" encoding="'
                + draw.choice(("utf-7", "rot13", "x" * 50, "utf-16"))
                + '"?>'
                + body
            )
        case 5:
            attributes = re.findall(r'="[^"]*"', body) or [""]
            new = body.replace(draw.choice(attributes), f'="{canaries.text(draw)[:1000]}"', 1)
        case 6:
            elements = re.findall(r"<[a-zA-Z][^<>]*>", body)
            new = body.replace(draw.choice(elements), "", 1)
        case _:
            data = bytearray(body.encode())
            change_bytes(data, draw, canaries)
            new = data.decode("latin1")
    members[name] = new.encode("utf-8", "replace")
    _rewritten(path, members)


def _archive(path: Path, draw: Random, canaries: Canaries) -> None:
    """Remove, repeat, rename or add members, or write them uncompressed."""
    members = _members(path)
    name = draw.choice(list(members))
    method = draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2))
    match draw.randrange(5):
        case 0:
            del members[name]
        case 1:
            members[
                draw.choice(
                    (f"../../{canaries.touched.name}", str(canaries.touched), "xl/x", name.upper())
                )
            ] = members.pop(name)
        case 2:
            other = draw.choice(list(members))
            members[name], members[other] = members[other], members[name]
        case 3:
            members[name] = members[name] + b" " * 2**24
        case _:
            members[name] = b""
    _rewritten(path, members, method)


def _link(path: Path, draw: Random, canaries: Canaries) -> None:
    """Let relations of the workbook name other members, files or addresses."""
    members = _members(path)
    name = draw.choice([each for each in members if each.endswith(".rels")])
    text = members[name].decode()
    targets = re.findall(r'Target="[^"]*"', text)
    if not targets:
        return
    target = draw.choice(
        (
            canaries.url,
            f"file://{canaries.secret}",
            "../../../etc/passwd",
            "/",
            "",
            "xl/workbook.xml",
            "a" * 10_000,
        )
    )
    mode = draw.choice(("", ' TargetMode="External"'))
    members[name] = text.replace(draw.choice(targets), f'Target="{target}"{mode}').encode()
    _rewritten(path, members)


def _names(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the list of sheets and of names in the workbook."""
    members = _members(path)
    text = members["xl/workbook.xml"].decode()
    sheet = re.search(r"<sheet [^>]*/>", text)
    assert sheet is not None
    more = draw.choice(
        (
            sheet[0] * 2,
            sheet[0] * 3000,
            "",
            sheet[0].replace("rId1", "rId999"),
            sheet[0].replace("rId1", ""),
        )
    )
    names = f'<definedNames><definedName name="a">{draw.choice(("Sheet1!$A$1", "#REF!", canaries.url, "A" * 9999))}</definedName></definedNames>'
    text = text.replace(sheet[0], more)
    if draw.random() < 0.5:
        text = text.replace("</sheets>", f"</sheets>{names}")
    members["xl/workbook.xml"] = text.encode()
    _rewritten(path, members)


EXCEL: tuple[Callable[[Path, Random, Canaries], None], ...] = (
    _sheet,
    _sheet,
    _xml,
    _archive,
    _link,
    _names,
)


def damage_avro(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the schema, the codec or the lengths of blocks of an Avro file."""
    from fastavro import schemaless_reader, schemaless_writer

    header = {
        "type": "record",
        "name": "Header",
        "fields": [
            {"name": "magic", "type": {"type": "fixed", "name": "Magic", "size": 4}},
            {"name": "meta", "type": {"type": "map", "values": "bytes"}},
            {"name": "sync", "type": {"type": "fixed", "name": "Sync", "size": 16}},
        ],
    }
    with path.open("rb") as file:
        facts = schemaless_reader(file, header, None)
        rest = bytearray(file.read())
    match draw.randrange(6):
        case 0:
            facts["meta"]["avro.codec"] = draw.choice(
                (b"snappy", b"zstandard", b"xz", b"bzip2", b"lz4", b"", b"\xff", b"fuzz_canary_module")
            )
        case 1:
            facts["meta"]["avro.schema"] = draw.choice(_SCHEMAS)
        case 2:
            # Number of rows and of bytes of the first block.
            rest[: draw.randrange(1, 4)] = draw.choice(
                (b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", b"\xff\x01", b"\x00", b"\xff" * 9 + b"\x01")
            )
        case 3:
            change_bytes(rest, draw, canaries)
        case _:
            tree = change_tree(json.loads(facts["meta"]["avro.schema"]), draw, canaries)
            facts["meta"]["avro.schema"] = dumped(tree, draw).encode("utf-8", "replace")
    head = io.BytesIO()
    schemaless_writer(head, header, facts)
    path.write_bytes(head.getvalue() + rest)


_DEEP = '{"type":"array","items":' * 3000 + '"int"' + "}" * 3000

_SCHEMAS = tuple(
    text.encode()
    for text in (
        '"null"',
        "[]",
        "{}",
        "x",
        '{"type":"record","name":"r","fields":[]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":"r"}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"array","items":"null"}}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"fixed","name":"f","size":9999999999}}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":{"type":"fixed","name":"f","size":0}}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":"missing"}]}',
        '{"type":"record","name":"r","fields":[{"name":"a","type":"null"}]}',
        _DEEP,
    )
)
