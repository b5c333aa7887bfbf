"""Study of array stores: what each writes, compresses by, refuses and loses, from its declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import groupby

import click

import array_stores
from adapter_core import ArrayStore, Trait
from adapter_core.array_store import ALL_DTYPES, COMPLEX, FLOATS, INTEGERS
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import joined

_HEAD = """\
# Array stores

A store keeps an n-d array in chunks. It refuses what it cannot keep before it writes anything; what it
keeps comes back bit for bit, NaN payloads included, unless it declares a loss or a codec is lossy.
Names of codecs are those of the algorithms; `blosc:` and `blosc2:` are their containers, and filters
follow `+`: see [adding an array store](adding_an_array_store.md). The error of a lossy codec (**bold**)
at level n is at most 2<sup>-n</sup> of each value, of the range of the chunk, or of 1.

Made by `format-bench study array-stores` from the adapters' declarations, which the contract tests
prove. Each adapter's docstring, in `array_stores/`, has the sources and the traps of its library.
"""

_GROUPS = {"complex numbers": COMPLEX, "integers": INTEGERS, "floats": FLOATS}


def page() -> str:
    """Return the page in Markdown."""
    stores = [array_stores.find(name) for name in array_stores.names()]
    rows = [[each.label, _summary(each), _append(each), _refused(each), _lost(each)] for each in stores]
    lines = [
        _HEAD,
        *table_lines(["store", "file", "appends", "refuses", "loses"], rows, alignment="lllll"),
    ]
    lines += ["\n## Codecs\n"]
    codecs = [[each.label, ", ".join(_codecs(each)) or "none"] for each in stores]
    lines += table_lines(["store", "codecs"], codecs, alignment="ll")
    return "\n".join(lines) + "\n"


def _summary(store: ArrayStore) -> str:
    text = inspect.cleandoc(type(store).__doc__ or "").partition("\n\n")[0]
    return " ".join(text.split()).replace("``", "`").replace("|", "\\|")


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


@click.command
def command() -> None:
    """Print the page docs/arrays.md.

    \b
    Example:
      format-bench study array-stores > docs/arrays.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(), nl=False)
