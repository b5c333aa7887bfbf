"""MATLAB files of version 5 through SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, ArrayStore, Codec, Description, Given, Snippet, Trait
from adapter_core.array_store import INTEGERS, Property
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection

_VARIABLE = "values"
_DESCRIPTION = "description"
# Of version 5 files 2**31, of which SciPy's writer and reader need a multiple in memory.
_MOST_BYTES = 2**30


class Adapter(ArrayStore):
    """A MAT-file of version 5 with the array and, as text, a description.

    SciPy writes and reads a variable as a whole, in Fortran order. Therefore arrays have at most 1 GiB;
    version 7.3, which has no such limit, is HDF5. MATLAB's arrays have at least two dimensions: the
    description has the shape. Readers load the array at the first selection, and keep it. The codec
    zlib is `scipy.io.savemat`'s ``do_compression``, whose level is fixed.

    The format is https://www.mathworks.com/help/pdf_doc/matlab/matfile_format.pdf.
    """

    label = "MATLAB"
    suffix = ".mat"
    requires = ("scipy",)
    dtypes: ClassVar = INTEGERS | {"float32", "float64", "complex64", "complex128"}
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("zlib"),)
    keeps: ClassVar = frozenset(Property) - {Property.CHUNKS}
    loses: ClassVar = {Property.CHUNKS: "a variable is not divided"}
    file_facts = FileFacts(version="5.0", threads="one")
    snippet = Snippet(
        imports="from scipy import io",
        write='io.savemat({path}, {"values": array}, do_compression={compressed})',
        read='array = io.loadmat({path})["values"]',
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own files also contain names, attributes and chunks of the array",
        notes=("MATLAB has at least two dimensions: a vector comes back as one row",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"compressed": str(codec is not None)}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        if source.size_bytes > _MOST_BYTES:
            raise self.refusal(
                f"SciPy needs it whole in memory, and {source.size_bytes} bytes are over 1 GiB"
            )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import numpy as np
        from scipy import io  # type: ignore[import-untyped]

        # In C order: filling an array in MATLAB's order takes longer than SciPy's copy.
        values = np.empty(source.shape, source.dtype)
        for selection, chunk in source:
            values[selection] = chunk
        text = replace(Description.of(source), chunks=tuple(max(1, e) for e in source.shape)).to_json()
        variables = {_DESCRIPTION: text, _VARIABLE: values}
        with path.open("wb") as file:
            io.savemat(file, variables, do_compression=codec is not None)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        # After the header of 128 bytes each element starts with its type, of which 15 is miCOMPRESSED.
        with path.open("rb") as file:
            file.seek(128)
            return "zlib" if int.from_bytes(file.read(4), "little") == 15 else None  # noqa: PLR2004

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Save the array by `scipy.io.savemat`."""
        import numpy as np
        from scipy import io

        values = np.empty(source.shape, source.dtype)
        for selection, chunk in source:
            values[selection] = chunk
        with path.open("wb") as file:
            io.savemat(file, {_VARIABLE: values})

    @staticmethod
    def plain_read(path: Path) -> int:
        """Load the array by `scipy.io.loadmat`, and copy each index of its first axis."""
        from scipy import io

        with path.open("rb") as file:
            return len([row.copy() for row in io.loadmat(file)[_VARIABLE]])


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        from scipy import io

        self._path = path
        with path.open("rb") as file:
            text = io.loadmat(file, variable_names=[_DESCRIPTION])[_DESCRIPTION]
        self._values: np.ndarray | None = None
        super().__init__(Description.from_json(str(text[0])))

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np
        from scipy import io

        if self._values is None:
            with self._path.open("rb") as file:
                values = io.loadmat(file, variable_names=[_VARIABLE])[_VARIABLE]
            # MATLAB has no dimensions of length 1 at the end, and at least two.
            self._values = values.reshape(self.shape, order="F")
        return np.array(self._values[selection], self.dtype, order="C")

    def close(self) -> None:
        self._values = None
