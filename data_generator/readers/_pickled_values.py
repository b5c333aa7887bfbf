"""Values that pickles of data make by calls: arrays, their data types, times, and few others."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ForeignPickleError

if TYPE_CHECKING:
    import numpy as np

# Data types without parts: truth values, numbers, text, objects and times.
_SPEC = re.compile(r"[?]|b1|[iu][1248]|f(2|4|8|12|16)|c(8|16|24|32)|[SU]\d{1,9}|O[48]?|[Mm]8")
_UNITS = re.compile(r"generic|Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as")

# Module of the frequencies that an index of times may have; pandas exports its classes elsewhere.
_OFFSETS = "pandas._libs.tslibs.offsets"

_TIMES = ("date", "datetime", "time", "timedelta", "timezone")


@dataclass(frozen=True)
class Name:
    """A name that stands for something callable, which is not imported."""

    module: str
    name: str


@dataclass
class _DType:
    """A data type; pickles call for it first, and then give it a byte order and a unit."""

    spec: str
    value: np.dtype[Any]


def named(module: Any, name: Any) -> Any:
    """Return the object of a name.

    Raises
    ------
    ForeignPickleError
        If data do not need it.
    """
    if type(module) is not str or type(name) is not str:
        raise ForeignPickleError("something without a name")
    found = Name("builtins" if module == "__builtin__" else module, name)
    if found in _CONSTANTS:
        return _CONSTANTS[found]()
    if found not in _MAKERS and not _is_frequency(found):
        raise ForeignPickleError(f"{found.module}.{name}")
    return found


def made(called: Any, arguments: Any) -> Any:
    """Return the value of a call.

    Raises
    ------
    ForeignPickleError
        If data do not need a call with these arguments.
    """
    if type(called) is not Name or type(arguments) is not tuple:
        raise pickle.UnpicklingError("there is nothing to call")
    if called in _MAKERS:
        return _MAKERS[called](*arguments)
    from pandas.tseries import offsets

    return getattr(offsets, called.name)(*arguments)


def complete(target: Any, state: Any) -> None:
    """Give an array its values, or a data type its byte order and unit.

    Raises
    ------
    ForeignPickleError
        If the target is something else, or the state is not one of data.
    """
    import numpy as np

    if type(target) is _DType:
        _complete_dtype(target, state)
    elif type(target) is np.ndarray and target.shape == (0,) and target.dtype == np.int8:
        _fill(target, state)
    else:
        raise ForeignPickleError(f"opcode BUILD for {type(target).__name__}")


def finished(value: Any) -> Any:
    """Return a value as others know it."""
    return value.value if type(value) is _DType else value


def _is_frequency(found: Name) -> bool:
    from pandas.tseries import offsets

    return found.module == _OFFSETS and found.name in offsets.__all__


def _dtype(spec: Any, align: Any = False, copy: Any = True) -> _DType:  # noqa: FBT002 (as NumPy's)
    import numpy as np

    if type(spec) is not str or not _SPEC.fullmatch(spec) or align not in (0, 1) or copy not in (0, 1):
        raise ForeignPickleError(f"numpy.dtype of {spec!r:.40}")
    return _DType(spec, np.dtype("O" if spec[0] == "O" else spec))


def _complete_dtype(target: _DType, state: Any) -> None:
    """Take byte order and unit from a state, and leave the sizes and flags to NumPy."""
    import numpy as np

    # https://numpy.org/doc/stable/reference/generated/numpy.dtype.__setstate__.html
    parts = state[2:5] if type(state) is tuple else ()
    if parts != (None, None, None) or state[1] not in ("<", ">", "|", "="):
        raise ForeignPickleError("numpy.dtype with parts")
    spec = target.spec
    if spec in ("M8", "m8"):
        unit, count, *_ = state[8][1]
        unit = unit.decode() if type(unit) is bytes else unit
        if not _UNITS.fullmatch(unit) or type(count) is not int:
            raise ForeignPickleError("numpy.dtype with an unknown unit")
        spec = spec if unit == "generic" else f"{spec}[{count}{unit}]"
    target.value = np.dtype("O" if spec[0] == "O" else spec)
    if state[1] != "|":
        target.value = target.value.newbyteorder(state[1])


def _empty(kind: Any, shape: Any, code: Any) -> np.ndarray:
    import numpy as np

    if kind != Name("numpy", "ndarray") or shape != (0,) or code not in (b"b", "b"):
        raise ForeignPickleError("numpy.ndarray of another kind")
    return np.empty(0, np.int8)


def _fill(target: np.ndarray, state: Any) -> None:
    """Set an empty array's shape, dtype and values."""
    version, shape, dtype, is_fortran, data = state
    found = _checked(dtype, shape)
    if found.hasobject:
        if type(data) is not list or len(data) != math.prod(shape):
            raise ForeignPickleError("numpy.ndarray of objects that are not there")
        target.__setstate__((1, shape, found, bool(is_fortran), list(data)))  # type: ignore[arg-type]
        return
    raw = data.encode("latin-1") if type(data) is str else data
    if version != 1 or type(raw) is not bytes or len(raw) != math.prod(shape) * found.itemsize:
        raise ForeignPickleError("numpy.ndarray with values of another size")
    values = _truth_values(raw, found)
    target.__setstate__((1, shape, found, bool(is_fortran), values))  # type: ignore[arg-type]


def _checked(dtype: Any, shape: Any) -> np.dtype[Any]:
    if type(dtype) is not _DType or type(shape) is not tuple:
        raise ForeignPickleError("numpy.ndarray without a data type or shape")
    if not all(type(edge) is int and edge >= 0 for edge in shape):
        raise ForeignPickleError("numpy.ndarray of another shape")
    return dtype.value


def _truth_values(raw: bytes, dtype: np.dtype[Any]) -> bytes:
    """Return bytes that are 0 or 1 if they are truth values: NumPy counts them by adding them."""
    import numpy as np

    return (np.frombuffer(raw, np.uint8) != 0).tobytes() if dtype.kind == "b" else raw


def _from_buffer(data: Any, dtype: Any, shape: Any, order: Any = "C") -> np.ndarray:
    import numpy as np

    found = _checked(dtype, shape)
    if type(data) not in (bytes, bytearray) or found.hasobject:
        raise ForeignPickleError("numpy.frombuffer of other than bytes")
    values = np.frombuffer(bytearray(_truth_values(bytes(data), found)), found)
    return values.reshape(shape, order="F" if order == "F" else "C")


def _scalar(dtype: Any, data: Any) -> Any:
    found = _checked(dtype, ())
    return data if found.hasobject else _from_buffer(_bytes(data), dtype, (1,))[0]


def _bytes(text: Any, encoding: Any = "latin1") -> bytes:
    """Return the bytes that older protocols write as text."""
    if type(text) is bytes:
        return text
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise ForeignPickleError("_codecs.encode of something else")
    return text.encode("latin-1")


def _attribute(owner: Any, name: Any) -> Name:
    """Return the one method that data get by its name: the maker of a time zone."""
    found = Name(owner.module, f"{owner.name}.{name}") if type(owner) is Name else None
    if found != Name("zoneinfo", "ZoneInfo._unpickle"):
        raise ForeignPickleError("builtins.getattr")
    return Name("zoneinfo", "ZoneInfo._unpickle")


def _zone(key: Any, from_cache: Any = True) -> Any:  # noqa: ARG001, FBT002 (as zoneinfo's)
    from zoneinfo import ZoneInfo

    return ZoneInfo(key)


def _time(name: str) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        import datetime

        return getattr(datetime, name)(*arguments)

    return make


def _decimal(text: Any) -> Any:
    from decimal import Decimal

    return Decimal(text)


def _uuid(text: Any) -> Any:
    from uuid import UUID

    return UUID(text)


def _pandas(module: str, name: str) -> Callable[..., Any]:
    def make(*arguments: Any) -> Any:
        from importlib import import_module

        return getattr(import_module(module), name)(*arguments)

    return make


def _not_available() -> Any:
    import pandas as pd

    return pd.NA


def _never(*_: Any) -> Any:
    raise ForeignPickleError("a class that data only mention")


_CONSTANTS: dict[Name, Callable[[], Any]] = {
    Name("pandas", "NA"): _not_available,
    Name("pandas._libs.missing", "NA"): _not_available,
}

_MAKERS: dict[Name, Callable[..., Any]] = {
    **{
        Name(f"numpy.{core}.{module}", name): make
        for core in ("core", "_core")
        for module, name, make in (
            ("multiarray", "_reconstruct", _empty),
            ("multiarray", "scalar", _scalar),
            ("numeric", "_frombuffer", _from_buffer),
        )
    },
    Name("numpy", "ndarray"): _never,
    Name("numpy", "dtype"): _dtype,
    Name("_codecs", "encode"): _bytes,
    Name("builtins", "bytes"): lambda data=b"": _bytes(data),
    Name("builtins", "complex"): complex,
    Name("builtins", "getattr"): _attribute,
    Name("builtins", "bytearray"): lambda data=b"", _="latin-1": bytearray(_bytes(data)),
    Name("builtins", "set"): lambda items=(): set(items),
    Name("builtins", "frozenset"): lambda items=(): frozenset(items),
    Name("zoneinfo", "ZoneInfo"): _never,
    Name("zoneinfo", "ZoneInfo._unpickle"): _zone,
    Name("decimal", "Decimal"): _decimal,
    Name("uuid", "UUID"): _uuid,
    **{Name("datetime", name): _time(name) for name in _TIMES},
    **{
        Name(f"pandas._libs.tslibs.{module}", name): _pandas(f"pandas._libs.tslibs.{module}", name)
        for module, name in (
            ("timestamps", "_unpickle_timestamp"),
            ("timedeltas", "_timedelta_unpickle"),
            ("nattype", "_nat_unpickle"),
        )
    },
}
