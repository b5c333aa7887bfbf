"""Settings cards of table formats beside their files, and tables saved with the makers' advice."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from format_bench.conformance.cards import differences, settings_of, table_for
from format_bench.conformance.selection import BRING_HDF5
from format_bench.conformance.tables import ordinary, repetitive
from format_bench.verification.tables import verify


def test_a_file_tells_what_the_card_says(adapter, path):
    if BRING_HDF5.isdisjoint(adapter.requires):
        found = _differences(adapter, path)
    else:
        # In a process with the HDF5 libraries of three packages, PyTables once wrote superblock 2 for 0.
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            found = pool.submit(_differences, adapter, path).result()
    assert found == {}


def _differences(adapter: Any, path: Path) -> dict[str, str]:
    """Return how files differ from the card, by the settings that they were saved with."""
    df, found = table_for(adapter), {}
    for name, chosen in settings_of(adapter):
        chosen.adapter.save(df, path, chosen.codec, chosen.level)
        found[name or "usual settings"] = differences(adapter, name, path, len(df))
    return {name: each for name, each in found.items() if each}


def test_tables_come_back_from_all_settings(adapter, path):
    for df in (ordinary(), repetitive()):
        found = []
        for _, chosen in settings_of(adapter):
            chosen.adapter.save(df, path, chosen.codec, chosen.level)
            found.append(verify(df, adapter.read(path), *adapter.kept))
        assert found[0].errors == ()
        assert all(each == found[0] for each in found)
