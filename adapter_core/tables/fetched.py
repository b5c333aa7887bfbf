"""Base class of table formats whose remote files are downloaded before they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.remote import RemoteFile, fetched
from adapter_core.remote_tables import RemoteTable

if TYPE_CHECKING:
    import pandas as pd


class FetchedFormat(RemoteTable):
    """A format whose library reads local files, or reads them several times to infer types."""

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        with fetched(file) as path:
            return self._read(path, columns)
