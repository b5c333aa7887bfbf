"""Losses of table formats and of image storages, by round trips with each available adapter."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import data_formats
import image_storages
from adapter_core import DataFormat
from adapter_core.environments import OwnEnvironment
from adapter_core.registry import Registry
from format_bench.conformance import image_losses, losses
from format_bench.conformance.losses import TABLES, Outcomes
from format_bench.instruments import isolation
from format_bench.studies.declared.blocks import Block, Context

# For each possible loss, a set in which nothing else can be lost.
_SHOWN_BY = {
    "unequal shapes": "wide and high",
    "greyscale": "greyscale",
    "order": "constant",
    "labels to 2**31": "large labels",
}

_CHANNELS = {
    1: "one channel",
    2: "two channels",
    3: "one image",
    4: "four channels",
    5: "five channels",
}


def of_tables(names: Sequence[str]) -> Outcomes:
    """Return the outcomes of tables in each available format, in its own environment if it has one."""
    found: Outcomes = {name: {} for name in names}
    for adapter in map(data_formats.find, data_formats.names()):
        for name, text in _of_format(adapter, names).items():
            found[name][adapter.label] = text
    return found


def _of_format(adapter: DataFormat, names: Sequence[str]) -> dict[str, str]:
    """Return the outcomes of tables in a format by name; none if it is not available."""
    if not adapter.environment:
        return losses.of_format(adapter.label, names) if adapter.availability() else {}
    if not adapter.installed():
        return {}
    made = isolation.run(
        *(losses.of_format, adapter.label, names),
        limit_seconds=_LIMIT_SECONDS,
        interpreter=OwnEnvironment(adapter.environment).interpreter(adapter.label),
    )
    return made.value or dict.fromkeys(names, f"{made.status}: {made.sentence}")


# Round trips of all tables of a format take seconds.
_LIMIT_SECONDS = 600.0


def of_images() -> Outcomes:
    """Return the outcomes of all sets of images in each available storage."""
    storages = [each for each in map(image_storages.find, image_storages.names()) if each.availability()]
    found: Outcomes = {}
    for name, images in image_losses.image_sets().items():
        for each in storages:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, f"set{each.suffix}")
                found.setdefault(name, {})[each.label] = image_losses.of_images(each, images, path).text
    return found


def datasets(context: Context) -> Iterator[Block]:
    """Yield a table of the losses of the generated tables and flights."""
    del context
    found = of_tables(TABLES)
    rows = [[label, *(found[name][label] for name in TABLES)] for label in found[TABLES[0]]]
    absent = _absent(data_formats.registry, found)
    yield Block(header=["format", *TABLES], rows=rows, alignment="l" * (1 + len(TABLES)), items=absent)


# Edge cases of the table of nested columns, by heading: each with nulls at every level.
_NESTED = {
    "lists": "lists of integers",
    "lists of lists": "lists of lists",
    "lists of structs": "lists of structs",
    "vectors of float32": "vectors",
    "of float16": "vectors of float16",
    "of int8": "vectors of int8",
    "structs": "structs",
    "maps": "maps",
    "lists of maps": "lists of maps",
    "decimals": "decimals",
    "intervals": "intervals",
    "of a calendar": "calendar intervals",
    "unions": "unions",
    "geometries": "geometries",
}


def columns(context: Context) -> Iterator[Block]:
    """Yield a table of nested columns, and a list for each column that is easily lost.

    Formats with the same losses share a line of a list.
    """
    del context
    found = of_tables([*losses.column_tables()])
    rows = [
        [label, *(_in_short(found[name][label]) for name in _NESTED.values())]
        for label in found["unions"]
    ]
    text = """
Columns with null rows, and nulls inside them: **exact**, refused, *type* if all values are right and of
another type, such as lists of 64-bit floats for vectors of 32-bit ones, or what else is lost. Vectors of
float32 have nulls and NaN inside, which arrays refuse; those of float16 have NaN, and those of int8
neither. Geometries are points, lines and polygons in WKB, without null rows, which FlatGeobuf refuses.
The lists below have the words, and further columns."""
    header = ["format", *_NESTED]
    yield Block("Nested columns in short", text.strip(), header, rows, "l" * len(header))
    yield Block("Columns that are easily lost")
    for name, by_label in found.items():
        by_text: dict[str, list[str]] = {}
        for label, text in by_label.items():
            by_text.setdefault(text, []).append(label)
        in_order = sorted(by_text.items(), key=lambda item: item[0] != "exact")
        items = [f"{', '.join(labels)}: {text}" for text, labels in in_order]
        yield Block(name, items=items, level=3)


def _in_short(outcome: str) -> str:
    """Return an outcome in a word, or as it is."""
    if outcome == "exact":
        return "**exact**"
    if outcome.startswith("refused"):
        return "refused"
    return "*type*" if _ANOTHER_TYPE.fullmatch(outcome) else outcome


_ANOTHER_TYPE = re.compile(r"[^;]* came back as [^;]*")


def _absent(registry: Registry[Any], found: Outcomes) -> list[str]:
    """Return sentences on the adapters that have no outcomes."""
    return [
        f"{each.label} is not available here: {(each.installed() and each.availability()).reason}"
        for each in map(registry.find, registry.names())
        if each.label not in next(iter(found.values()))
    ]


def images(context: Context) -> Iterator[Block]:
    """Yield a summary, in which storages with equal results share a row, and a list for each set."""
    del context
    found = of_images()
    rows: dict[tuple[str, ...], list[str]] = {}
    for label in next(iter(found.values())):
        kinds = {name: _kind(by_label[label]) for name, by_label in found.items()}
        kept = {name: kind in {"exact", "changed"} for name, kind in kinds.items()}
        channels = ", ".join(str(count) for count, name in _CHANNELS.items() if kept[name])
        cells = ["kept" if kept[name] else kinds[name] for name in _SHOWN_BY.values()]
        row = ("changed" if "changed" in kinds.values() else "kept", channels, *cells)
        rows.setdefault(row, []).append(label)
    header = ["storages", "pixels", "channels", *_SHOWN_BY]
    lines = [[", ".join(alike), *row] for row, alike in rows.items()]
    absent = _absent(image_storages.registry, found)
    yield Block("Summary", header=header, rows=lines, alignment="l" * len(header), items=absent)
    yield Block("Results by set")
    for name, by_label in found.items():
        by_text: dict[str, list[str]] = {}
        for label, text in by_label.items():
            if _kind(text) != "exact":
                by_text.setdefault(text, []).append(label)
        items = [f"{', '.join(labels)}: {text}" for text, labels in by_text.items()]
        items.append(f"{'all others' if by_text else 'all'}: **exact**")
        yield Block(name, items=items, level=3)


def _kind(text: str) -> str:
    """Return the first word of an outcome: exact, refused, wrong, or changed for losses."""
    first = text.partition(":")[0].strip("*")
    return first if first in {"exact", "refused", "wrong"} else "changed"
