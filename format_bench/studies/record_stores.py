"""Study of record stores: objects, limits, codecs, and files of older types."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import click

import record_stores
from adapter_core import Trait
from format_bench.results.display.markdown import table_lines
from format_bench.studies.evolution import jvm
from format_bench.studies.evolution.changes import CHANGES, outcome
from record_stores import JvmStore

if TYPE_CHECKING:
    from adapter_core import RecordStore

_HEAD = """\
# Record stores

A record is an object of a program. A store writes a list of dataclasses to a file, with the conversion
to the library's own objects inside the clock, and reads a list of objects of the library's own kind.
Time and memory depend on that kind, a column below. Each cell compares all fields of all records by
their digest with those saved; see [the data](records_data.md).

- **First calls** are those of a new interpreter that has imported none of the store's libraries.
- **Field access** is the time to use each field of all records once. Lazy libraries decode a field then.
- **An entry** is one record at a random position, read without those before it.
- **Iteration** reads all records one after another and keeps none.

`format-bench run --suite records` measures them, and `make bench SUITES=records` in asv.

Made by `format-bench study record-stores` from the adapters' declarations, which the contract tests
prove.
"""

_JVM = """
## Stores of the JVM

`make jvm` builds them where there are a JDK and Maven. For each measurement a new JVM makes the
records, the same as Python's, and six calls. **First save** and **first read** are its first call;
other times are the median of calls 4 to 6. **Held memory** is the heap that is free after dropping the
records, after full collections. **Allocation** is the JVM's own count, in the second call. A label with
`seed` is the published program's own way.
"""

_EVOLUTION = r"""
## Files of older types

A program with a newer type reads a file that was written with an older one of the fields `amount`,
`gone` and `word`. On the JVM the types are two releases of one class.

- *right*: all values; a new field has its default.
- *zero*: all values; a new field is 0, since the format has no other default, or no constructor runs.
- *absent*: objects without the new or renamed field, or with null in its place.
- *error*: the read fails.
- **wrong**: values of other fields, without an error: fields have places only, no names or numbers.
- \-: the store's code here is that of the class `Entity` alone.
"""


def page() -> str:
    """Return the page in Markdown.

    Raises
    ------
    UnavailableError
        If a store cannot work here, or the JDK is missing: the outcomes of changed types are tried.
    """
    every = [record_stores.find(name) for name in record_stores.names()]
    of_jvm = [record_stores.get(each.label) for each in every if isinstance(each, JvmStore)]
    stores = [record_stores.get(each.label) for each in every if not isinstance(each, JvmStore)]
    heads = ["store", "file", "objects", "lazy", "entry", "iterates", "nested", "safe to read"]
    lines = [_HEAD, *table_lines(heads, [_facts(each) for each in stores], alignment="l" * len(heads))]
    lines.append(_JVM)
    heads = ["store", "file", "lazy", "entry", "nested", "values", "reading a hostile file"]
    lines += table_lines(heads, [_jvm_facts(each) for each in of_jvm], alignment="l" * len(heads))
    lines.append(_EVOLUTION)
    rows = [[each.label, *(outcome(each, change).value for change in CHANGES)] for each in stores]
    tried = jvm.outcomes(of_jvm)
    for each in of_jvm:
        found = [tried[each.label, change] for change in CHANGES]
        rows.append([each.label, *("-" if outcome is None else outcome.value for outcome in found)])
    lines += table_lines(["store", *CHANGES], rows, alignment="l" * (1 + len(CHANGES)))
    return "\n".join(lines) + "\n"


def _facts(store: RecordStore) -> list[str]:
    return [
        store.label,
        _summary(store),
        f"{store.kind}{', texts shared' if store.shares_texts else ''}",
        store.lazy or "-",
        f"no: {store.seeks}" if store.seeks else "yes",
        f"no: {store.iterates}" if store.iterates else "yes",
        f"no: {store.refuses_nested}" if store.refuses_nested else "yes",
        "yes" if Trait.SAFE in (store.traits or ()) else "**no**: it runs code that the file names",
    ]


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


def _summary(store: RecordStore | JvmStore) -> str:
    text = inspect.cleandoc(store.__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


@click.command
def command() -> None:
    """Print the page docs/records.md.

    \b
    Example:
      format-bench study record-stores > docs/records.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(), nl=False)
