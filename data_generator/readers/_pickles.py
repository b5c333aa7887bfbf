"""Search of pickles for names that data do not need, without executing them."""

from __future__ import annotations

import pickle
from io import BytesIO
from typing import Any

from adapter_core.errors import ForeignPickleError

DANGER = (
    "a pickle can run any program when it is loaded; if you trust where it comes from, "
    "add --trust-pickle"
)

# Callables in pickles of arrays with text, times and Python's own data types.
_DATA = frozenset(
    {
        *(
            (f"numpy.{core}.{module}", name)
            for core in ("core", "_core")
            for module, name in (
                ("multiarray", "_reconstruct"),
                ("multiarray", "scalar"),
                ("numeric", "_frombuffer"),
            )
        ),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("_codecs", "encode"),
        *(("datetime", name) for name in ("date", "datetime", "time", "timedelta", "timezone")),
        ("decimal", "Decimal"),
        ("pandas._libs.tslibs.timestamps", "_unpickle_timestamp"),
        ("pandas._libs.tslibs.timedeltas", "_timedelta_unpickle"),
        ("pandas._libs.tslibs.nattype", "_nat_unpickle"),
    }
)

# Module of the frequencies that an index of times may have; pandas exports its classes elsewhere.
_OFFSETS = "pandas._libs.tslibs.offsets"


class _DataUnpickler(pickle.Unpickler):
    """Unpickler of plain data, after https://docs.python.org/3/library/pickle.html#restricting-globals."""

    def find_class(self, module: str, name: str) -> Any:
        from pandas.tseries import offsets

        is_frequency = module == _OFFSETS and name in offsets.__all__
        if (module, name) not in _DATA and not is_frequency:
            raise ForeignPickleError(f"{module}.{name}")
        return super().find_class(module, name)


def foreign_name(data: bytes) -> str | None:
    """Return the first name in a pickle that data do not need; None if all names are harmless.

    Bytes that are damaged or not a pickle are harmless: loading them fails at the same place.
    """
    # PyTables tries these encodings in turn, so that a pickle may do harm with the last one only.
    for encoding in ("ASCII", "latin1", "bytes"):
        try:
            _DataUnpickler(BytesIO(data), encoding=encoding).load()
        except ForeignPickleError as error:
            return str(error)
        except Exception:  # noqa: S112 (see above)
            continue
    return None
