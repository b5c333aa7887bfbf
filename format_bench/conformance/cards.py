"""Settings that a test saves with, and the comparison of a settings card with a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adapter_core.codec_choice import DEFAULTS, RECOMMENDED, Chosen, CodecChoice
from adapter_core.codecs import algorithm_of
from adapter_core.query import TABLE
from adapter_core.query_engine import EngineOnFormat
from format_bench.conformance.footers import told_by

# One row group, and a save of milliseconds: most cards count no rows.
_FEW_ROWS = 1_000
# More rows than the row groups of some libraries have.
_MANY_ROWS = 300_000

AS_ASKED = "as asked"
"""Declared shape of the chunks of a store that takes the ones that it is given."""


def table_for(adapter: Any) -> pd.DataFrame:
    """Return integers, floats, and text of a hundred values: many rows if the card counts some."""
    counts_rows = any(isinstance(each, int) for each in adapter.file_facts.parts.values())
    numbers = np.arange(_MANY_ROWS if counts_rows else _FEW_ROWS)
    words = pd.Series(numbers % 100).map("w{}".format).astype("str")
    return pd.DataFrame({"whole": numbers, "real": numbers / 8, "word": words})


def settings_of(adapter: Any) -> Iterator[tuple[str, Chosen]]:
    """Yield the settings that an adapter has: the usual ones, and others by which it differs."""
    yield "", Chosen(adapter, None, None)
    if isinstance(adapter, CodecChoice):
        if adapter.has_own_default:
            yield DEFAULTS, adapter.with_settings(DEFAULTS)
        if adapter.has_advice:
            yield RECOMMENDED, adapter.with_settings(RECOMMENDED)


def differences(adapter: Any, name: str, path: Path, rows: int, chunks: str = "") -> str:
    """Return how a file differs from the card of its adapter; empty if it does not.

    Parameters
    ----------
    adapter : BaseAdapter
        The adapter, with its usual settings; a query engine's has the card of its files.
    name : str
        The settings that the file was saved with.
    path : Path
        The file; of a query engine the directory of its tables.
    rows : int
        Its rows; a number on the card is the most rows of a part.
    chunks : str, optional
        The shape of chunks that was asked for, e.g. "1 x 24 x 32".
    """
    codec, facts = _codec_of(adapter, name), adapter.file_facts
    if isinstance(adapter, EngineOnFormat):
        path = adapter.paths(path)[TABLE]
        facts, adapter = adapter.facts_of_files, adapter.format
    told = told_by(path)
    if facts.silent or not told:
        claims = bool(facts.version or facts.parts)
        return f"the card says {facts}, the file tells {told}" if told or claims else ""
    declared = facts.told(codec)
    if name == RECOMMENDED:
        declared |= adapter.recommended.parts
    is_unknown = name and not _has_choice(adapter)  # a library's own choice, by its options
    if is_unknown or "codec" not in told:
        del declared["codec"]
    found = []
    for fact, value in declared.items():
        seen, expected = told.get(fact), min(value, rows) if isinstance(value, int) else value
        if value == AS_ASKED:
            expected = chunks
        if fact == "codec":
            seen, expected = algorithm_of(str(seen)), algorithm_of(str(expected))
        if seen != expected:
            found.append(f"{fact}: the card says {expected}, the file {seen}")
    return "; ".join(found)


def _has_choice(adapter: Any) -> bool:
    """Return whether the codec of a file is a choice of who saves it."""
    return bool(getattr(adapter, "codecs", ()))


def _codec_of(adapter: Any, name: str) -> str | None:
    """Return the codec of files with settings; None without a codec."""
    if isinstance(adapter, EngineOnFormat):
        return adapter.format.default_codec
    if _has_choice(adapter):
        return adapter.with_settings(name).codec
    return getattr(adapter, "default_codec", None)
