"""Reader of trusted pickles, through pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from data_generator.readers._arrow import without_arrow_types
from data_generator.readers._pickles import DANGER
from data_generator.readers._reader import ReadRequest, TableReader

if TYPE_CHECKING:
    import pandas as pd


class PickleReader(TableReader):
    """Reader of pickled DataFrames and Series, https://docs.python.org/3/library/pickle.html."""

    kind = "Pickle"
    endings = (".pkl", ".pickle", ".p")
    signatures = tuple((0, bytes((0x80, protocol))) for protocol in range(2, 6))
    is_compressible = True

    def read(self, request: ReadRequest) -> pd.DataFrame:
        """Return the DataFrame, or the Series as a table of one column."""
        import pandas as pd

        if not request.trust_pickle:
            raise InvalidDataError(request.path, "is a pickle", DANGER)
        with self.guard(request):
            found = pd.read_pickle(request.path, compression=request.codec)  # noqa: S301 (trusted)
        if isinstance(found, pd.Series):
            found = found.to_frame()
        if not isinstance(found, pd.DataFrame):
            raise InvalidDataError(
                request.path, f"contains a {type(found).__name__}, not a pandas DataFrame"
            )
        return without_arrow_types(found)
