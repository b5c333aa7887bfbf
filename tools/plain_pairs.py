"""Calls of adapters beside plain calls of the same libraries, for `tools.overhead`.

The plain side is the code to paste of an adapter. Array stores with `plain_save` and `plain_read` are
compared with these, which go chunk by chunk as benchmarks do, and with their code where arrays are read
as a whole. Some query engines have plain answers here.
"""

from __future__ import annotations

import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapter_core import ArraySource, ArrayStore, CannotHoldError
from adapter_core.arrays.shards import shard_of
from adapter_core.entities import ENTITY
from adapter_core.query import COUNT, TABLE, Query
from adapter_core.snippets import Code, Given, Snippet
from format_bench.families.operations import Operations, operations_of
from format_bench.instruments.clock import time_call
from format_bench.instruments.touch import touch, touch_array
from format_bench.results.suites import FAMILIES
from format_bench.verification.tables import verify

# Relative difference of the sizes of two files of the same content, e.g. with metadata.
SAME_SIZE = 0.02

PILOT_ROWS, PILOT_IMAGES, PILOT_SECONDS = 2_000, 50, 0.3
"""Rows or images of a first save and read, and the CPU seconds that both may take of those compared.

Reads of few images take a third of a millisecond, of which looking for files is a tenth.
"""


@dataclass(frozen=True)
class Pair:
    """An adapter's call, and the plain one that does the same work."""

    data: str
    step: str
    ours: Callable[[], Any]
    plain: Callable[[], Any]
    prepare: Callable[[], object] = lambda: None
    """Called before each two calls, outside the clock."""
    differs: Callable[[Any, Any], str] = lambda _ours, _plain: ""
    """Returns the difference between the results of both, in words."""


def plain_calls(
    code: Code, given: Mapping[str, Any]
) -> tuple[Callable[..., None], Callable[[], dict[str, Any]]]:
    """Return the functions `write` and `read` of code to paste.

    Parameters
    ----------
    code : Code
        Code of an adapter.
    given : mapping
        Further variables that it uses; `write` takes those that it names.
    """
    space = dict(given)
    back = ", ".join(f"{name!r}: {name}" for name in code.given.read_back)
    lines = [
        *(code.imports, f"def write({', '.join(code.given.names)}):"),
        *(textwrap.indent(code.write, "    "), "def read():"),
        *(textwrap.indent(code.read, "    "), f"    return {{{back}}}"),
    ]
    exec("\n".join(lines), space)
    return space["write"], space["read"]


def _on(family: str, adapter: Any, data: Any, folder: Path) -> tuple[Operations, Any]:
    """Return operations and stored data as benchmarks have them, checked."""
    of_family = operations_of(FAMILIES[family])
    of_family.store(data, folder / "stored")
    operations = of_family.on(folder / "stored", adapter)
    loaded = of_family.load(folder / "stored")
    operations.check(loaded)
    return operations, loaded


def _files(adapter: Any, folder: Path) -> tuple[Path, Path, Callable[[], None]]:
    """Return the files of both sides, and a function that removes them."""
    ours, plain = (folder / f"{side}{adapter.suffix}" for side in ("ours", "plain"))

    def remove() -> None:
        adapter.remove(ours)
        adapter.remove(plain)

    return ours, plain, remove


def _sizes(adapter: Any, ours: Path, plain: Path) -> Callable[[Any, Any], str]:
    def differs(*_: Any) -> str:
        one, other = adapter.size_bytes(ours), adapter.size_bytes(plain)
        return f"{one:,} bytes, plain {other:,}" if abs(one - other) > SAME_SIZE * other else ""

    return differs


def numbers(rows: int) -> pd.DataFrame:
    """Return 8 columns of numbers and truth values."""
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "count": random.integers(0, 1_000, rows),
            "code": random.integers(-(2**40), 2**40, rows),
            "price": random.integers(1, 10_000, rows) / 100,
            "x": random.normal(size=rows),
            "y": random.normal(size=rows),
            "share": random.random(rows),
            "flag": random.random(rows) < 0.3,
        }
    )


def mixed(rows: int) -> pd.DataFrame:
    """Return 12 columns: numbers, texts and times, some with nulls."""
    random = np.random.default_rng(1)
    start = np.datetime64("2020-01-01", "us")

    def picked(choices: Sequence[str], null_share: float = 0.0) -> pd.Series:
        found = pd.Series(np.array(choices, object)[random.integers(0, len(choices), rows)], dtype="str")
        return found.where(random.random(rows) >= null_share)

    def times(unit: str, count: int) -> pd.Series:
        return pd.Series(start + random.integers(0, count, rows).astype(f"timedelta64[{unit}]"))

    words = [f"w{number:x}" for number in random.integers(0, 2**32, 2_000)]
    keys = [f"k{number:08x}" for number in random.integers(0, 2**31, rows)]
    sentences = [" ".join(random.choice(words, 12)) for _ in range(5_000)]
    ratio, last = pd.Series(random.random(rows)), times("s", 10**8)
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "quantity": random.integers(1, 50, rows),
            "price": random.integers(1, 10_000, rows) / 100,
            "ratio": ratio.where(random.random(rows) >= 0.1),
            "is_open": random.random(rows) < 0.5,
            "city": picked(["Brno", "Praha", "Ostrava", "Plze\N{LATIN SMALL LETTER N WITH CARON}"]),
            "key": pd.Series(keys, dtype="str"),
            "word": picked(words, 0.1),
            "note": picked(sentences, 0.3),
            "day": times("D", 1_500),
            "at": times("ms", 10**11),
            "last": last.where(random.random(rows) >= 0.1),
        }
    )


_TABLES = {"numbers": numbers, "mixed": mixed}


def _held(adapter: Any, df: pd.DataFrame) -> pd.DataFrame:
    """Return the columns that an adapter and its code accept, and few enough rows for its speed."""
    names = []
    for name, dtype in df.dtypes.items():
        with suppress(CannotHoldError):
            adapter.check(df[[name]])
            names += [] if str(dtype) in adapter.snippet.lacks else [name]
    first = df[names].iloc[:PILOT_ROWS]
    with tempfile.TemporaryDirectory() as folder:
        seconds = _pilot_seconds(adapter, lambda path: adapter.save(first, path), Path(folder))
    rows = int(PILOT_ROWS * PILOT_SECONDS / seconds)
    return df[names].iloc[: max(PILOT_ROWS, rows)]


def _pilot_seconds(adapter: Any, save: Callable[[Path], object], folder: Path) -> float:
    """Return the CPU seconds of a save and a read, after a first one that imports and compiles."""
    path = folder / f"pilot{adapter.suffix}"
    for _ in range(2):
        seconds = time_call(lambda: save(path)).cpu_seconds
        seconds += time_call(lambda: adapter.read(path)).cpu_seconds
    adapter.remove(path)
    return max(seconds, 1e-6)


def _arrow_of(df: pd.DataFrame) -> Any:
    import pyarrow as pa

    return pa.Table.from_pandas(df, preserve_index=False)


def _polars_of(df: pd.DataFrame) -> Any:
    import polars as pl

    return pl.from_pandas(df)


# The conversions that users of pandas make around calls for other tables.
_CONVERTED = {Given.FRAME: lambda df: df, Given.TABLE: _arrow_of, Given.POLARS: _polars_of}


def table_pairs(adapter: Any, size: int, folder: Path) -> Iterator[Pair]:
    """Yield the save and the read of both tables."""
    if not isinstance(adapter.snippet, Snippet):
        return
    for name, make in _TABLES.items():
        place = folder / name
        place.mkdir()
        yield from _table_pairs(adapter, name, _held(adapter, make(size)), place)


def _table_pairs(adapter: Any, name: str, df: pd.DataFrame, place: Path) -> Iterator[Pair]:
    ours, plain, remove = _files(adapter, place)
    write, read = plain_calls(adapter.code(path=str(plain)), {})
    given = adapter.snippet.given
    to, back = _CONVERTED[given], given is not Given.FRAME
    operations, loaded = _on("tables", adapter, df, place)

    def plain_read() -> pd.DataFrame:
        (found,) = read().values()
        found = found.to_pandas() if back else found
        return touch(found) if adapter.maps_files else found

    def differs(one: pd.DataFrame, other: pd.DataFrame) -> str:
        found = verify(one, other, *adapter.kept)
        return "; plain: ".join(("", *found.errors, *found.losses))[2:]

    data = f"{name}, {len(df):,} x {len(df.columns)}"
    sizes = _sizes(adapter, ours, plain)
    save = partial(operations.save, loaded, ours)
    yield Pair(data, "save", save, lambda: write(to(loaded)), remove, sizes)
    yield Pair(data, "read", partial(operations.read, ours), plain_read, differs=differs)


def _planes() -> ArraySource:
    """Return an array of 16 MiB whose chunks of 1 MiB are rows."""
    values = np.random.default_rng(0).normal(280, 20, (16, 512, 512)).astype("float32")
    return ArraySource.of(values, (1, 512, 512))


def _blocks() -> ArraySource:
    """Return an array of 16 MiB with chunks of 128 KiB, coordinates and attributes."""
    shape, dims = (64, 256, 256), ("time", "latitude", "longitude")
    values = np.random.default_rng(0).normal(280, 20, shape).astype("float32")
    coordinates = {dim: np.linspace(0, 90, edge) for dim, edge in zip(dims, shape, strict=True)}
    facts: dict[str, Any] = {"dims": dims, "coordinates": coordinates}
    facts["attributes"] = {"units": "K", "long_name": "temperature", "level": 850}
    facts["coordinate_attributes"] = {dim: {"units": "degrees"} for dim in dims}
    return ArraySource.of(values, (8, 64, 64), **facts)


def array_pairs(adapter: Any, size: int, folder: Path) -> Iterator[Pair]:
    """Yield the save and the read of all chunks, and the read of a whole array."""
    del size
    of = type(adapter)
    has_code = isinstance(adapter.snippet, Snippet)
    if of.plain_read is not ArrayStore.plain_read and of.plain_save is not ArrayStore.plain_save:
        place = folder / "planes"
        place.mkdir()
        operations, loaded = _on("arrays", adapter, _planes(), place)
        ours, plain, remove = _files(adapter, place)
        save, sizes = partial(operations.save, loaded, ours), _sizes(adapter, ours, plain)
        yield Pair("rows", "save", save, lambda: adapter.plain_save(loaded, plain), remove, sizes)
        yield Pair("rows", "read", partial(operations.read, ours), lambda: adapter.plain_read(plain))
        adapter.remove(ours)
        adapter.remove(plain)
    if has_code:
        place = folder / "blocks"
        place.mkdir()
        yield from _whole_arrays(adapter, _blocks(), place)


def _whole_arrays(adapter: Any, source: ArraySource, place: Path) -> Iterator[Pair]:
    operations, loaded = _on("arrays", adapter, source, place)
    ours, plain, remove = _files(adapter, place)
    values = loaded.read(tuple(slice(0, edge) for edge in loaded.shape))
    given = {"shards": shard_of(loaded, getattr(adapter, "shard_bytes", 0) or 2**26)}
    variables: list[Any] = [values]
    if adapter.snippet.given is Given.LABELLED:
        import xarray

        facts = {"name": loaded.name, "attrs": dict(loaded.attributes), "dims": loaded.dims}
        coordinates = {
            dim: (dim, edges, loaded.coordinate_attributes.get(dim, {}))
            for dim, edges in loaded.coordinates.items()
        }
        variables = [xarray.DataArray(values, coords=coordinates, **facts)]
    if "chunks" in adapter.snippet.given.names:
        variables.append(loaded.chunks)
    write, read = plain_calls(adapter.code(path=str(plain)), given)

    def whole(found: Any) -> np.ndarray:
        array = np.asarray(found)
        touch_array(array)  # mapped files are read when they are used
        return array

    def differs(one: np.ndarray, other: np.ndarray) -> str:
        return "" if np.array_equal(one, other) else "other values"

    if type(adapter).plain_save is ArrayStore.plain_save:
        save, sizes = partial(operations.save, loaded, ours), _sizes(adapter, ours, plain)
        yield Pair("blocks", "save", save, lambda: write(*variables), remove, sizes)
    else:
        operations.save(loaded, ours)
        write(*variables)
    yield Pair(
        *("blocks", "read whole", lambda: whole(adapter.read(ours)), lambda: whole(read()["array"])),
        differs=differs,
    )


def image_pairs(adapter: Any, size: int, folder: Path) -> Iterator[Pair]:
    """Yield the save and the read of a set of small images."""
    if not isinstance(adapter.snippet, Snippet):
        return
    of_family = operations_of(FAMILIES["images"])
    first = of_family.generate("cifar-like", PILOT_IMAGES)
    seconds = _pilot_seconds(adapter, lambda path: adapter.save(*first, path), folder)
    count = min(size // 20, int(PILOT_IMAGES * PILOT_SECONDS / seconds))
    data_set = of_family.generate("cifar-like", max(PILOT_IMAGES, count))
    operations, loaded = _on("images", adapter, data_set, folder)
    ours, plain, remove = _files(adapter, folder)
    write, read = plain_calls(adapter.code(path=str(plain)), {})
    images, labels = list(loaded[0]), loaded[1]

    def differs(one: Any, other: dict[str, Any]) -> str:
        pairs = zip(one[0], other["images"], strict=True)
        return "" if all(np.array_equal(*pair) for pair in pairs) else "other pixels"

    data, sizes = f"{len(images):,} images", _sizes(adapter, ours, plain)
    save = partial(operations.save, (images, labels), ours)
    yield Pair(data, "save", save, lambda: write(images, labels), remove, sizes)
    yield Pair(data, "read", partial(operations.read, ours), read, differs=differs)


def record_pairs(adapter: Any, size: int, folder: Path) -> Iterator[Pair]:
    """Yield the save and the read of records."""
    if not isinstance(adapter.snippet, Snippet):
        return
    of_family = operations_of(FAMILIES["records"])
    dataset = next(each for each in of_family.datasets() if of_family.generate(each, 1).of == ENTITY)
    count = max(10, size // 5)
    operations, loaded = _on("records", adapter, of_family.generate(dataset, count), folder)
    ours, plain, remove = _files(adapter, folder)
    names = list(ENTITY.names)
    write, read = plain_calls(adapter.code(path=str(plain)), {"names": names})

    def plain_save() -> None:
        # A program has objects, and its records are made of these.
        records = [dict(zip(names, ENTITY.plain(each), strict=True)) for each in loaded.objects]
        write(*[{"records": records, "names": names}[name] for name in adapter.snippet.given.names])

    def differs(one: list[Any], other: dict[str, Any]) -> str:
        rows, plainly = map(adapter.plain(ENTITY), one), adapter.plain(ENTITY)
        found = other["records"]
        if type(found[0]) is type(one[0]):
            return "" if list(rows) == list(map(plainly, found)) else "other values"
        kinds = type(found[0]).__name__, type(one[0]).__name__
        return f"plain has objects of {kinds[0]}, not {kinds[1]}"

    data, sizes = f"{count:,} records", _sizes(adapter, ours, plain)
    save = partial(operations.save, loaded, ours)
    yield Pair(data, "save", save, plain_save, remove, sizes)
    yield Pair(data, "read", partial(operations.read, ours), read, differs=differs)


def query_pairs(adapter: Any, size: int, folder: Path) -> Iterator[Pair]:
    """Yield questions that have plain answers: groups of many values, and of a join."""
    plain = PLAIN_ANSWERS.get(adapter.label)
    if plain is None:
        return
    of_family = operations_of(FAMILIES["queries"])
    operations, loaded = _on("queries", adapter, of_family.generate("query", 10 * size), folder)
    file = folder / f"ours{adapter.suffix}"
    operations.save(loaded, file)
    paths = adapter.paths(file, ("data", "keys"))
    for name in ("group-many", "join"):
        query = operations.facts.query(name)  # type: ignore[attr-defined]
        with closing(operations.open_query(name, file)) as opened:
            yield Pair(f"{10 * size:,} rows", name, opened.read, partial(plain, query, paths))


def _grouped(df: Any, query: Query) -> Any:
    functions = {COUNT: "size"}
    values = next(each.column for each in query.aggregates if each.column)
    wanted = {
        each.name: (each.column or values, functions.get(each.function, each.function))
        for each in query.aggregates
    }
    return df.groupby(query.groups[0], dropna=False).agg(**wanted)


def _answer_of_pandas(query: Query, paths: Mapping[str, Path]) -> Any:
    df = pd.read_parquet(paths[TABLE], columns=query.read)
    if query.join:
        other = pd.read_parquet(paths[query.join.table])
        df = df.merge(other, left_on=query.join.column, right_on=query.join.key)
    return _arrow_of(_grouped(df, query).reset_index())


def _answer_of_dask(query: Query, paths: Mapping[str, Path]) -> Any:
    import dask.dataframe as dd

    df = dd.read_parquet(paths[TABLE], columns=query.read)
    if query.join:
        other = dd.read_parquet(paths[query.join.table])
        df = df.merge(other, left_on=query.join.column, right_on=query.join.key)
    return _arrow_of(_grouped(df, query).compute().reset_index())


PLAIN_ANSWERS: dict[str, Callable[[Query, Mapping[str, Path]], Any]] = {
    "Parquet[dask]": _answer_of_dask,
    "Parquet[pandas]": _answer_of_pandas,
}

PAIRS_OF: dict[str, Callable[[Any, int, Path], Iterator[Pair]]] = {
    "tables": table_pairs,
    "images": image_pairs,
    "arrays": array_pairs,
    "records": record_pairs,
    "queries": query_pairs,
}
