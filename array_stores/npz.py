"""NPZ archives, a member for each chunk, through NumPy."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayStore, Codec, Description, Given, Snippet, Trait
from adapter_core.arrays.encoded import chunk_index, chunk_name
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource

DESCRIPTION_MEMBER = "array.json"

_METHODS = {
    "zlib": zipfile.ZIP_DEFLATED,
    "bz2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}


class Adapter(ArrayStore):
    """A ZIP archive of NPY files, as of `numpy.savez`, one for each chunk, and a description.

    `numpy.savez` takes whole arrays only; members are written one by one here, and `numpy.load` opens
    the archive. Reading checks the CRC-32 of each member. The method deflate of ZIP is zlib without its
    header.
    """

    label = "NPZ"
    suffix = ".npz"
    requires = ("numpy",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("bz2", range(1, 10), 9), Codec("lzma"), Codec("zlib", range(1, 10), 6))
    file_facts = FileFacts(threads="one")
    snippet = Snippet(
        imports="import zipfile\n\nimport numpy as np",
        write="""
            method = zipfile.{method}
            with zipfile.ZipFile({path}, "w", method, {level}) as archive:
                with archive.open("values.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)
        """,
        read="""
            with np.load({path}) as arrays:
                array = arrays["values"]
        """,
        given=Given.WHOLE_ARRAY,
        differs="FormatBench's own archives have a member for each chunk",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "method": {"zlib": "ZIP_DEFLATED", "bz2": "ZIP_BZIP2", "lzma": "ZIP_LZMA"}.get(
                codec or "", "ZIP_STORED"
            ),
            "level": keywords(compresslevel=level),
        }

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from numpy.lib import format as npy

        method = _METHODS[codec] if codec else zipfile.ZIP_STORED
        with zipfile.ZipFile(path, "w", method, compresslevel=level) as archive:
            for selection, values in source:
                name = chunk_name(chunk_index(selection, source.chunks))
                # Members need the longer header only if they can exceed 2 GiB.
                large = values.nbytes > zipfile.ZIP64_LIMIT // 2
                with archive.open(name, "w", force_zip64=large) as file:
                    npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(values))
                    file.write(values.reshape(-1).view("u1").data)
            archive.writestr(
                DESCRIPTION_MEMBER, Description.of(source).to_json(), compress_type=zipfile.ZIP_STORED
            )

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        names = {method: name for name, method in _METHODS.items()}
        with zipfile.ZipFile(path) as archive:
            return names.get(archive.infolist()[0].compress_type)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        import numpy as np

        np.savez(path, *(values for _, values in source))

    @staticmethod
    def plain_read(path: Path) -> int:
        import numpy as np

        with np.load(path) as archive:
            return len([archive[name].size for name in archive.files if name.startswith("arr_")])


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        import numpy as np

        self._archive = np.load(path)
        super().__init__(Description.from_json(self._archive[DESCRIPTION_MEMBER]))

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        chunk: np.ndarray = self._archive[chunk_name(index)]
        return chunk

    def close(self) -> None:
        self._archive.close()
