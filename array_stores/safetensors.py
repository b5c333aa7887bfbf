"""safetensors through its own Python library."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from adapter_core import ArrayReader, ArrayStore, Given, Snippet, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import shape_of
from adapter_core.array_store import ALL_DTYPES, Property
from adapter_core.arrays.chunk_writing import write_flat
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection

_METADATA = "__metadata__"
_KINDS = {"b": "BOOL", "u": "U", "i": "I", "f": "F", "c": "C"}
# The header is padded with blanks, so that tensors are aligned when the file is mapped.
_ALIGNMENT = 8
# MAX_HEADER_SIZE of the library, which refuses longer ones.
_MOST_HEADER_BYTES = 100_000_000


class Adapter(ArrayStore):
    """A safetensors file with one tensor in C order, whose slices the library reads.

    The library writes from arrays in memory only. Chunks are therefore written here, after a header of
    the specification: its length, JSON and padding. The library maps the file to read it, and pages that
    were read count as memory of the process until the kernel reclaims them. The description is in the
    header's metadata. The library notices a truncated file, but not flipped bits.

    Format: https://huggingface.co/docs/safetensors/index#format
    """

    label = "safetensors"
    suffix = ".safetensors"
    requires = ("numpy", "safetensors")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    dtypes: ClassVar = ALL_DTYPES - {"complex128"}
    keeps: ClassVar = frozenset(Property) - {Property.CHUNKS}
    loses: ClassVar = {Property.CHUNKS: "a tensor is not divided"}
    file_facts = FileFacts(silent="its header names shapes and types alone", threads="one", mapped=True)
    snippet = Snippet(
        imports="from safetensors.numpy import load_file, save_file",
        write='save_file({"values": array}, {path})',
        read='array = load_file({path})["values"]',
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if source.name == _METADATA:
            raise self.refusal(f"a tensor cannot have the name {_METADATA}")
        if len(_header(source)) > _MOST_HEADER_BYTES:
            # https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs
            raise self.refusal("its properties are longer than the library's limit of 100 MB")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        header = _header(source)
        path.write_bytes(len(header).to_bytes(8, "little") + header)
        write_flat(source, path, start=8 + len(header))

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Save the whole array by `safetensors.numpy.save_file`."""
        import numpy as np
        from safetensors.numpy import save_file

        array = np.empty(source.shape, source.dtype)
        for selection, values in source:
            array[selection] = values
        save_file({"x": array}, path)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row through `get_slice`."""
        from safetensors import safe_open

        file: Any
        with safe_open(path, framework="np") as file:
            rows = file.get_slice("x")
            return sum(len(rows[row : row + 1]) for row in range(rows.get_shape()[0]))


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        from safetensors import safe_open

        self._file = cast("Any", safe_open(path, framework="np"))
        description = Description.from_json(self._file.metadata()[KEY])
        super().__init__(replace(description, chunks=tuple(max(1, edge) for edge in description.shape)))
        self._slices: Any = self._file.get_slice(description.name)

    def close(self) -> None:
        """Release the mapping of the file."""
        if self._file is not None:
            self._slices = None
            self._file.__exit__(None, None, None)
            self._file = None

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        shape = shape_of(selection)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        if shape == self.shape:
            values: np.ndarray = self._file.get_tensor(self.description.name)
        else:
            values = self._slices[selection]
        return values


def _header(source: ArraySource) -> bytes:
    """Return the header, padded so that the tensor is aligned."""
    bits = 8 * source.dtype.itemsize
    kind = _KINDS[source.dtype.kind]
    tensor = {
        "dtype": kind if kind == "BOOL" else f"{kind}{bits}",
        "shape": source.shape,
        "data_offsets": [0, source.size_bytes],
    }
    metadata = {KEY: Description.of(source).to_json()}
    text = json.dumps({_METADATA: metadata, source.name: tensor}).encode()
    return text + b" " * (-len(text) % _ALIGNMENT)
