"""Subjects of the study of damage: formats with their codecs and checksums, and their data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError
from adapter_core.codec_choice import CodecChoice
from format_bench.families.operations import Operations, operations_of, registry_of
from format_bench.results.suites import FAMILIES
from format_bench.studies.damaging.kinds import Kind

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED = {
    "ROOT.TTree": ("zlib", "lz4", "lzma"),
    "ROOT.TTree[ROOT]": ("zlib", "lz4", "lzma"),
    "Protobuf": (),
    "SQLite": (),
    "HDF5[h5py]": (),
    "HDF5.table": (),
    "Avro": ("deflate",),
    "Parquet": ("gzip", "zstd"),
}
"""Formats of the published table, tried on all rows with all flips, and the codecs beside none."""

FURTHER_CODEC = "zstd"
"""Codec in which the other formats are tried too, if they offer it."""

MOST_ROWS, MOST_FLIPS = 10_000, 40
"""Of formats that are not in the published table."""

DATASETS = {"tables": "eq", "images": "cifar-like", "arrays": "era5-small"}
"""Data sets by family."""

ITEMS = {"images": 100, "arrays": 3}
"""Images and chunks of the data sets that are not tables."""


@dataclass(frozen=True)
class Subject:
    """A format with its options, on a data set."""

    family: str
    format: str
    """Label of the adapter."""
    codec: str | None
    checksums: bool
    """True if the format's optional checksums are written and verified."""
    dataset: str
    rows: int
    """Rows, images or chunks."""

    @property
    def name(self) -> str:
        """Return the label with codec and checksums, e.g. "Parquet, zstd, with checksums"."""
        parts = [self.format, self.codec, "with checksums" if self.checksums else None]
        return ", ".join(each for each in parts if each)

    @property
    def adapter(self) -> Any:
        """Return the adapter without importing its libraries; raise if its file cannot be imported."""
        adapter = registry_of(FAMILIES[self.family]).find(self.format)
        return adapter.with_checksums() if self.checksums else adapter

    def operations(self, data: Path) -> Operations:
        """Return the operations on stored data, the libraries imported and nothing warmed up.

        Raises
        ------
        UnavailableError
            If a package is missing.
        """
        adapter: Any = registry_of(FAMILIES[self.family]).get(self.format)
        if self.checksums:
            adapter = adapter.with_checksums()
        level = adapter.codec_named(self.codec).level_or_default(None) if self.codec else None
        operations = operations_of(FAMILIES[self.family])
        return operations.on(data, adapter, self.codec, level, is_warm=False)


def subjects_of(
    family: str, rows: int, labels: Collection[str], dataset: str | None = None
) -> Iterator[Subject]:
    """Yield the subjects of a family: each format without a codec, with further ones, with checksums.

    Parameters
    ----------
    family : str
        Name of a family of `DATASETS`.
    rows : int
        Rows of tables of the formats in `PUBLISHED`.
    labels : collection of str
        Formats to try; those whose files cannot be imported are left out.
    dataset : str, optional
        Data set instead of the usual one; a table in the family of tables.
    """
    registry = registry_of(FAMILIES[family])
    names = sorted(registry.names(), key=lambda each: (not _is_published(family, each), each.lower()))
    for name in names:
        if name not in labels:
            continue
        try:
            adapter = registry.find(name)
        except UnavailableError:
            continue
        count = ITEMS.get(family, rows if _is_published(family, name) else min(rows, MOST_ROWS))
        for codec in _codecs(family, adapter):
            for checksums in (False, True) if _has_checksums(adapter, codec) else (False,):
                yield Subject(family, name, codec, checksums, dataset or DATASETS[family], count)


def counts(subject: Subject, flips: int) -> dict[Kind, int]:
    """Return the number of trials of each kind: a tenth as many of other kinds as of flips."""
    if not _is_published(subject.family, subject.format):
        flips = min(flips, MOST_FLIPS)
    return {kind: flips if kind is Kind.FLIP else max(1, flips // 10) for kind in Kind}


def _has_checksums(adapter: Any, codec: str | None) -> bool:
    codecs = adapter.checksum_codecs
    return bool(adapter.checksums) and (codecs is None or codec in codecs)


def _is_published(family: str, label: str) -> bool:
    return family == "tables" and label in PUBLISHED


def _codecs(family: str, adapter: Any) -> list[str | None]:
    offered = [each.name for each in adapter.codecs] if isinstance(adapter, CodecChoice) else []
    if _is_published(family, adapter.label):
        return [None, *PUBLISHED[adapter.label]]
    # Further engines write the same codecs through the same libraries in most cases.
    has_further = FURTHER_CODEC in offered and "[" not in adapter.label
    return [None, FURTHER_CODEC] if has_further else [None]
