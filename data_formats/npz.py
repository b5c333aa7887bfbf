"""NPZ through NumPy."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.codecs import Codec
from adapter_core.tables.array_format import NOTE, ArrayFormat
from adapter_core.tables.text_arrays import as_fixed_width
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.tables.array_format import Opened


class Adapter(ArrayFormat):
    """One .npy file an array in a ZIP archive, through `numpy.savez` and `numpy.load`.

    Python objects, of which NumPy makes pickles, are never written, nor are pickles read. The checksum
    of each array is compared when it is read.
    """

    label = "NPZ"
    suffix = ".npz"
    requires = ("pandas", "pyarrow", "numpy")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("deflate"),)
    reserved_names: ClassVar = frozenset({"file", "allow_pickle"})  # parameters of numpy.savez

    def _write(
        self,
        path: Path,
        arrays: Mapping[str, np.ndarray],
        note: str,
        codec: str | None,
        level: int | None,
    ) -> None:
        import numpy as np

        save = np.savez_compressed if codec else np.savez
        members = {name: as_fixed_width(array) for name, array in arrays.items()}
        with path.open("wb") as file:
            save(file, allow_pickle=False, **{NOTE: np.array(note)}, **members)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        import numpy as np

        # Given a path, numpy.load leaves a file open that is no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as members:
            yield str(members[NOTE]), lambda names: {name: members[name] for name in names}

    def _codec_used(self, path: Path) -> str | None:
        with zipfile.ZipFile(path) as archive:
            types = {member.compress_type for member in archive.infolist()}
        return "deflate" if zipfile.ZIP_DEFLATED in types else None
