"""Blosc2 through python-blosc2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Codec, PartialReads, Snippet, Trait
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat, by_elements
from adapter_core.tables.text_arrays import as_fixed_width

if TYPE_CHECKING:
    import blosc2
    import numpy as np

    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


LEVELS = range(1, 10)
# The library's default; level 0 does not compress.
LEVEL = 5


class Adapter(ArrayFormat, PartialReads):
    """A directory of Blosc2 arrays (b2nd files) through python-blosc2.

    Making the library's own table, `CTable`, of an Arrow table takes more than a thousand times as long
    (in version 4.14). Files can also contain expressions with code, which the library opens only if they
    are declared as trusted. It does not notice flipped bits.
    """

    label = "Blosc2"
    suffix = ".b2d"
    requires = ("pandas", "pyarrow", "blosc2>=4.14")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE})
    codecs: ClassVar = tuple(
        Codec(name, LEVELS, LEVEL) for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
    )
    default_codec = "zstd"
    recommended = Recommended(
        "https://github.com/Blosc/python-blosc2/releases/tag/v2.2.0",
        default_codec,
        words="the defaults are its makers' balance of size and speed",
        seen="2026-11-25",
    )
    file_facts = FileFacts(parts={"filters": "shuffle"}, threads="all cores")
    snippet = Snippet(
        imports="import os\n\nimport blosc2\nimport pandas as pd",
        write="""
            texts = df.select_dtypes("str").columns
            os.mkdir({path})
            for number, name in enumerate(df):
                text = name in texts
                array = df[name].fillna("").to_numpy(str) if text else df[name].to_numpy()
                place = os.path.join({path}, f"{number:03}.{name}.b2nd")
                blosc2.asarray(array, urlpath=place, mode="w", cparams={options})
        """,
        read="""
            files = sorted(os.listdir({path}))
            arrays = [blosc2.open(os.path.join({path}, each), mode="r")[:] for each in files]
            df = pd.DataFrame({each.split(".")[1]: array for each, array in zip(files, arrays)})
        """,
        changes={"category": "str", "Int64": "float64"},
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
        notes=("nulls among texts come back as empty texts",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "options": f'{{"codec": blosc2.Codec.{codec.upper()}, "clevel": {level}}}'
            if codec
            else '{"clevel": 0}'
        }

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        import blosc2
        import numpy as np

        options = {"codec": blosc2.Codec[codec.upper()], "clevel": level} if codec else {"clevel": 0}
        path.mkdir()
        description = np.frombuffer(table.description.encode(), np.uint8)
        for name, array in {DESCRIPTION: description, **table.arrays}.items():
            blosc2.asarray(
                as_fixed_width(array), urlpath=str(path / f"{name}.b2nd"), mode="w", cparams=options
            )

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        def get(name: str) -> np.ndarray:
            return _opened_array(path / f"{name}.b2nd")[:]

        description = get(DESCRIPTION).tobytes().decode()
        yield description, lambda names: {name: get(name) for name in names}

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        with self._opened(path) as (description, _):
            yield description, by_elements(lambda name, part: _opened_array(path / f"{name}.b2nd")[part])

    def _codec_used(self, path: Path) -> str | None:
        for file in path.glob("*.b2nd"):
            options = _opened_array(file).schunk.cparams
            if options.clevel:
                return options.codec.name.lower()
        return None


def _opened_array(path: Path) -> blosc2.NDArray:
    import blosc2

    return blosc2.open(str(path), mode="r")
