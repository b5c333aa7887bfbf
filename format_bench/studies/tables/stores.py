"""Tables of declarations of array and record stores, and of their behaviour with changed types."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby

import array_stores
import record_stores
from adapter_core import ArrayStore, BaseAdapter, FieldKind, RecordStore, Trait
from adapter_core.array_store import ALL_DTYPES, COMPLEX, FLOATS, INTEGERS
from adapter_core.errors import UnavailableError
from format_bench.results.display.text import joined
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.tables import root_classes
from format_bench.studies.tables.evolution import CHANGES, outcome, outcomes
from format_bench.studies.tables.root_classes import CLASSES, WAYS
from record_stores import JvmStore

_GROUPS = {"complex numbers": COMPLEX, "integers": INTEGERS, "floats": FLOATS}


def _table(header: list[str], rows: list[list[str]]) -> Block:
    return Block(header=header, rows=rows, alignment="l" * len(header))


def _summary(store: BaseAdapter) -> str:
    """Return the first sentence of an adapter's docstring, for a cell."""
    text = inspect.cleandoc(store.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


def arrays(context: Context) -> Iterator[Block]:
    """Yield a table of array stores."""
    del context
    rows = [
        [each.label, _summary(each), _append(each), _refused(each), _lost(each)]
        for each in map(array_stores.find, array_stores.names())
    ]
    yield _table(["store", "file", "appends", "refuses", "loses"], rows)


def codecs_of_arrays(context: Context) -> Iterator[Block]:
    """Yield a table of the codecs of array stores."""
    del context
    stores = map(array_stores.find, array_stores.names())
    yield _table(
        ["store", "codecs"], [[each.label, ", ".join(_codecs(each)) or "none"] for each in stores]
    )


def _append(store: ArrayStore) -> str:
    return "yes" if Trait.APPEND in (store.traits or ()) else "no"


def _refused(store: ArrayStore) -> str:
    left = ALL_DTYPES - store.dtypes
    words = []
    for name, group in _GROUPS.items():
        if group <= left:
            words.append(name)
            left -= group
    words += sorted(left)
    if store.dims_range[0] > 0:
        words.append(f"fewer than {store.dims_range[0]} dimensions")
    if not store.holds_empty:
        words.append("arrays without values")
    return joined(words, most=None) if words else "-"


def _lost(store: ArrayStore) -> str:
    by_reason = sorted((reason, each) for each, reason in store.loses.items())
    words = [
        f"{joined([each for _, each in group], most=None)} ({reason})"
        for reason, group in groupby(by_reason, key=lambda pair: pair[0])
    ]
    if store.error:
        scale, bits = store.error
        words.append(f"precision: errors of up to 2<sup>-{bits}</sup> of the {scale}")
    if not store.keeps_nan_bits:
        words.append("sign and payload of NaNs")
    return "; ".join(words) or "-"


def _codecs(store: ArrayStore) -> Iterator[str]:
    for codec in store.codecs:
        levels = f" {codec.levels[0]}-{codec.levels[-1]}" if codec.levels else ""
        yield f"**{codec.name}**{levels} ({codec.error})" if codec.error else f"{codec.name}{levels}"


def _record_stores() -> tuple[list[RecordStore], list[JvmStore]]:
    """Return the stores of this process and of the JVM.

    Raises
    ------
    UnavailableError
        If a store cannot work here.
    """
    every = [record_stores.get(name) for name in record_stores.names()]
    of_jvm = [each for each in every if isinstance(each, JvmStore)]
    return [each for each in every if not isinstance(each, JvmStore)], of_jvm


def records(context: Context) -> Iterator[Block]:
    """Yield a table of record stores in Python."""
    del context
    header = ["store", "file", "objects", "lazy", "entry", "iterates", "nested", "safe to read"]
    yield _table(header, [_facts(each) for each in _record_stores()[0]])


def kinds_of_fields(context: Context) -> Iterator[Block]:
    """Yield a table of the kinds of fields that record stores do not keep."""
    del context
    stores, of_jvm = _record_stores()
    takers: list[RecordStore | JvmStore] = [*stores, *(each for each in of_jvm if not each.refuses_own)]
    rows = [[each.label, _refuses(each) or "-"] for each in takers]
    yield _table(["store", "does not keep"], rows)


def _refuses(store: RecordStore | JvmStore) -> str:
    by_reason: dict[str, list[str]] = {}
    for feature, reason in store.refuses.items():
        by_reason.setdefault(reason, []).append(str(feature))
    return "; ".join(f"{', '.join(features)} ({reason})" for reason, features in by_reason.items())


def records_of_jvm(context: Context) -> Iterator[Block]:
    """Yield a table of record stores of the JVM."""
    del context
    header = ["store", "file", "lazy", "entry", "nested", "values", "reading a hostile file"]
    yield _table(header, [_jvm_facts(each) for each in _record_stores()[1]])


def older_types(context: Context) -> Iterator[Block]:
    """Yield the outcomes of reads of older files by programs of newer types.

    Raises
    ------
    UnavailableError
        If a store cannot work here, or the JDK is missing: the outcomes are tried.
    """
    del context
    stores, of_jvm = _record_stores()
    rows = [[each.label, *(outcome(each, change).value for change in CHANGES)] for each in stores]
    tried = outcomes(of_jvm)
    for each in of_jvm:
        found = [tried[each.label, change] for change in CHANGES]
        rows.append([each.label, *("-" if outcome is None else outcome.value for outcome in found)])
    yield _table(["store", *CHANGES], rows)


def classes_of_root(context: Context) -> Iterator[Block]:
    """Yield the outcomes of reads of ROOT's objects by newer classes, or why there are none."""
    del context
    try:
        tried = root_classes.outcomes()
    except UnavailableError as error:
        yield Block(text=str(error))
        return
    rows = [[way, *(tried[way, change].value for change in CLASSES)] for way in WAYS]
    yield _table(["objects in", *CLASSES], rows)


def _facts(store: RecordStore) -> list[str]:
    return [
        store.label,
        _summary(store),
        f"{store.kind}{', texts shared' if store.shares_texts else ''}",
        store.lazy or "-",
        f"no: {store.seeks}" if store.seeks else "yes",
        f"no: {store.iterates}" if store.iterates else "yes",
        _nested(store),
        "yes" if Trait.SAFE in (store.traits or ()) else "**no**: it runs code that the file names",
    ]


def _nested(store: RecordStore) -> str:
    reason = store.refuses_nested or store.refuses.get(FieldKind.RECORD, "")
    return f"no: {reason}" if reason else "yes"


def _jvm_facts(store: JvmStore) -> list[str]:
    return [
        store.label,
        _summary(store),
        store.lazy or "-",
        f"no: {store.seeks}" if store.seeks else "yes",
        f"no: {store.refuses_nested}" if store.refuses_nested else "yes",
        f"**lost**: {store.loses_values}" if store.loses_values else "kept",
        store.runs_code or "runs no code",
    ]
