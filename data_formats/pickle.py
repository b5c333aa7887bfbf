"""Pickle through pandas."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import OBJECT_STORES, Snippet, Trait, whole_file
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import literal
from adapter_core.tables.fetched import FetchedFormat

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import RemoteFile


class Adapter(FetchedFormat):
    """Python's pickle, protocol 5, through `DataFrame.to_pickle` and `pandas.read_pickle`.

    Loading a pickle runs code from the file: open files from trusted sources only. Text of pandas 3 is
    Arrow's, and damaged offsets of it end the process that uses the values, seen in 12 of 56 trials with
    pandas 3.1.1 and pyarrow 26.0.1.
    """

    label = "Pickle"
    suffix = ".pkl"
    requires = ("pandas", "zstandard")
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    holds_duplicate_names = True
    codecs: ClassVar = whole_file.CODECS
    save_schemes: ClassVar = OBJECT_STORES
    crash_on_damage = (
        "damaged offsets of text end the process (SIGABRT, SIGSEGV) when the values are used"
    )
    file_facts = FileFacts(version="protocol 5", threads="one")
    snippet = Snippet(
        imports="import pandas as pd",
        write="df.to_pickle({path}, protocol=5, {compression})",
        read="df = pd.read_pickle({path}, compression={codec})",
        notes=("reading a pickle runs code in it: read no file from others",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": f"compression={literal(whole_file.pandas_options(codec, level))}",
            **super().placeholders(codec, level),
        }

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_pickle(path, protocol=5, compression=whole_file.pandas_options(codec, level))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            df.to_pickle(stream, protocol=5, compression=whole_file.pandas_options(codec, level))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        codec = whole_file.codec_of(path)
        return pd.read_pickle(path, compression=codec)  # noqa: S301 (the risk is in the docstring)

    def _codec_used(self, path: Path) -> str | None:
        return whole_file.codec_of(path)
