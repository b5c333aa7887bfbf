"""HDF5: base classes of formats through pandas and PyTables, and through h5py, and PyTables' codecs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product, repeat
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import IN_PLACE, Availability, Codec, DataFormat, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords
from adapter_core.tables.array_format import ArrayFormat

if TYPE_CHECKING:
    import tables


# Level 0 switches PyTables' filters off.
LEVELS = range(1, 10)
# The middle one: pandas and PyTables have no default, and do not compress without a level.
LEVEL = 5

# Whole columns would need new memory, each page of which is cleared first.
ARRAY_BATCH_ROWS = 16_384
"""Rows that are added up at a time."""

COMPRESSORS = "blosclz lz4 lz4hc zlib zstd".split()
"""Compressors of Blosc and of Blosc2."""

CODECS = tuple(
    Codec(name, LEVELS, LEVEL) for name in ["zlib", "bzip2", "lzo", *(f"blosc:{c}" for c in COMPRESSORS)]
)
CODECS_OF_BLOSC2 = tuple(Codec(f"blosc2:{c}", LEVELS, LEVEL) for c in COMPRESSORS)


class HDF5(DataFormat):
    """HDF5 through pandas and PyTables.

    All arrays of a file have the same codec. HDF5 compresses an array in chunks, and stores a chunk as
    it is if the codec would not make it smaller.
    """

    codecs: ClassVar = CODECS

    def codec_availability(self, name: str) -> Availability:
        """Report whether PyTables was built with a codec."""
        import tables

        # Without it, PyTables would silently use zlib.

        library, _, compressor = self.codec_named(name).name.partition(":")
        compressors = {"blosc": tables.blosc_compressor_list, "blosc2": tables.blosc2_compressor_list}
        has = tables.which_lib_version(library) and (
            not compressor or compressor in compressors[library]()
        )
        if has:
            return Availability(available=True)
        reason = f"PyTables was built without {name}"
        hint = "pip install --no-binary tables tables"
        return Availability(available=False, reason=reason, install_hint=hint)

    def _codec_used(self, path: Path) -> str | None:
        import tables

        with tables.open_file(path) as file:
            for leaf in file.walk_nodes("/", "Leaf"):
                # The chunks of a VLArray, which contains pickled text, are references only.
                is_text = isinstance(leaf, tables.VLArray)
                if not is_text and not _contains_labels(leaf) and _has_compressed_chunk(leaf):
                    library: str = leaf.filters.complib
                    return f"{library}:blosclz" if library in ("blosc", "blosc2") else library
        return None


class H5pyFormat(ArrayFormat):
    """HDF5 through h5py, whose description of the table is an attribute of the file."""

    local_only = IN_PLACE
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("gzip", range(1, 10), 4), Codec("lzf"))
    file_facts = FileFacts(version="superblock 0", threads="one")

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"compression": keywords(compression=codec, compression_opts=level)}

    def _codec_used(self, path: Path) -> str | None:
        import h5py

        with h5py.File(path, "r") as file:
            for dataset in file.values():
                if dataset.id.get_storage_size() < dataset.nbytes:
                    return dataset.compression
        return None


def _contains_labels(leaf: tables.Leaf) -> bool:
    """Return True for the index and the column names of the fixed layout."""
    return leaf.name.startswith("axis") or leaf.name.endswith("_items")


def _has_compressed_chunk(leaf: tables.Leaf) -> bool:
    """Return True if all filters, the codec among them, were applied to a chunk."""
    if leaf.filters.complib is None:
        return False
    corners = product(*map(range, repeat(0), leaf.shape, leaf.chunkshape))
    return any(leaf.chunk_info(corner).filter_mask == 0 for corner in corners)
