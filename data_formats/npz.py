"""NPZ through NumPy."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Codec, FilteredReads, RemoteTable, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat
from adapter_core.tables.text_arrays import as_fixed_width

if TYPE_CHECKING:
    from adapter_core import RemoteFile
    from adapter_core.tables.array_format import ArrayTable, Opened


class Adapter(ArrayFormat, FilteredReads, RemoteTable):
    """One .npy file an array in a ZIP archive, through `numpy.savez` and `numpy.load`.

    Pickles, NumPy's way to store Python objects, are neither written nor read. The checksum of each
    array is compared when it is read.
    """

    label = "NPZ"
    suffix = ".npz"
    requires = ("pandas", "pyarrow", "numpy")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("deflate"),)
    save_schemes: ClassVar = OBJECT_STORES
    reserved_names: ClassVar = frozenset({"file", "allow_pickle"})  # parameters of numpy.savez
    file_facts = FileFacts(threads="one")
    snippet = Snippet(
        imports="import numpy as np\nimport pandas as pd",
        write="""
            texts = df.select_dtypes("str").columns
            arrays = {name: df[name].to_numpy() for name in df}
            arrays |= {name: df[name].fillna("").to_numpy(str) for name in texts}
            np.{call}({path}, allow_pickle=False, **arrays)
        """,
        read="""
            with np.load({path}, allow_pickle=False) as arrays:
                df = pd.DataFrame({name: arrays[name] for name in arrays.files})
        """,
        changes={"Int64": "float64"},
        lacks=("category",),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
        notes=("nulls among texts come back as empty texts",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"call": "savez_compressed" if codec else "savez"}

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        with path.open("wb") as file:
            _write(file, table, codec)

    def _write_remote(
        self, file: RemoteFile, table: ArrayTable, codec: str | None, level: int | None
    ) -> None:
        with file.arrow_stream() as stream:
            _write(stream, table, codec)

    @contextmanager
    def _opened_remote(self, file: RemoteFile) -> Iterator[Opened]:
        import numpy as np

        with (
            file.arrow_file_system().open_input_file(file.arrow_path) as opened,
            np.load(opened, allow_pickle=False) as members,
        ):
            yield str(members[DESCRIPTION]), lambda names: {name: members[name] for name in names}

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        import numpy as np

        # Given a path, numpy.load does not close a file that is not an archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as members:
            yield str(members[DESCRIPTION]), lambda names: {name: members[name] for name in names}

    def _codec_used(self, path: Path) -> str | None:
        with zipfile.ZipFile(path) as archive:
            types = {member.compress_type for member in archive.infolist()}
        return "deflate" if zipfile.ZIP_DEFLATED in types else None


def _write(file: Any, table: ArrayTable, codec: str | None) -> None:
    import numpy as np

    save = np.savez_compressed if codec else np.savez
    members = {name: as_fixed_width(array) for name, array in table.arrays.items()}
    save(file, allow_pickle=False, **{DESCRIPTION: np.array(table.description)}, **members)
