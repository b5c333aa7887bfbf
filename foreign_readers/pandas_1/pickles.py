"""Tables of pandas 1.3 in canonical form, read from pickles and written to them."""

import base64
import datetime as dt
import decimal
import json
import re
import sys

import numpy as np
import pandas as pd

EPOCH = dt.date(1970, 1, 1)

MIDNIGHT = dt.datetime(1970, 1, 1)  # noqa: DTZ001 (times of day have no zone)

UNIT_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def read_all(*paths):
    for path in paths:
        try:
            lines = table_of(path)
        except Exception as error:
            lines = [{"error": f"{type(error).__name__}: {error}"}]
        print(*map(json.dumps, lines), sep="\n", flush=True)


def table_of(path):
    """Return the lines of a table."""
    df = pd.read_pickle(path)  # noqa: S301 (files of the study)
    found = [column(df.iloc[:, position]) for position in range(df.shape[1])]
    names = [
        {"name": str(name), "type": kind} for name, (kind, _) in zip(df.columns, found, strict=True)
    ]
    return [
        {"columns": names, "rows": len(df)},
        *zip(*(values for _, values in found), strict=True),
    ]


def column(series):
    """Return the type and the values of a column."""
    if series.dtype.name == "category":
        series = pd.Series(series.tolist())
    kind, given = series.dtype.name.lower(), series.tolist()
    show = str
    if kind.startswith("float"):
        code = {"float16": "e", "float32": "f", "float64": "d"}[kind]
        given = series.to_numpy(kind, na_value=np.nan)
        show = lambda value: np.array(value).astype(f">{code}").tobytes().hex()  # noqa: E731
    elif kind in {"bool", "boolean"}:
        kind, show = "bool", bool
    elif kind.startswith(("datetime64", "timedelta64")):
        zone = f", {series.dt.tz}" if kind.startswith("datetime64[ns, ") else ""
        kind = f"timestamp(ns{zone})" if kind.startswith("datetime") else "duration(ns)"
        show = lambda value: str(value.value)  # noqa: E731
    elif not kind.startswith(("int", "uint")):
        kind, show = objects([each for each in given if not is_null(each)])
    return kind, [None if is_null(each) else show(each) for each in given]


def objects(present):
    """Return the type of values of Python, and the function that prints one."""
    kinds = {type(each) for each in present}
    if not kinds:
        return "null", str
    if kinds == {str}:
        return "utf8", str
    if kinds == {bool}:
        return "bool", bool
    if kinds == {int}:
        return "int64", str
    if kinds == {bytes}:
        return "binary", lambda value: base64.b64encode(value).decode()
    if kinds == {dt.date}:
        return "date", lambda value: str((value - EPOCH).days)
    if kinds == {dt.time}:
        return "time(us)", lambda value: str(microseconds(value))
    if kinds == {decimal.Decimal}:
        scale = max(-each.as_tuple().exponent for each in present)
        return f"decimal(38, {scale})", lambda value: format(value, "f")
    return "other(object)", repr


def is_null(value):
    return value is None or value is pd.NaT or value is pd.NA or value != value  # noqa: PLR0124 (NaN)


def microseconds(time):
    return ((time.hour * 60 + time.minute) * 60 + time.second) * 10**6 + time.microsecond


def write(path):
    head, *rows = (json.loads(line) for line in sys.stdin)
    columns = list(zip(*rows, strict=True)) or [()] * len(head["columns"])
    pairs = zip(head["columns"], columns, strict=True)
    found = {each["name"]: to_series(each["type"], values) for each, values in pairs}
    pd.DataFrame(found).to_pickle(path, protocol=5)


def to_series(kind, values):
    """Return a column of a type and values."""
    name, first, zone = re.fullmatch(r"(\w+)(?:\((\w+)(?:, ([^)]+))?\))?", kind).groups()
    has_nulls = None in values
    if name.startswith("float"):
        bits = bytes.fromhex("".join(bits_of(each, int(name[5:])) for each in values))
        return pd.Series(np.frombuffer(bits, f">f{int(name[5:]) // 8}").astype(name))
    if "int" in name:
        dtype = name.capitalize().replace("Ui", "UI") if has_nulls else name
        return pd.Series([None if each is None else int(each) for each in values], dtype=dtype)
    if name == "bool":
        return pd.Series(list(values), dtype="boolean" if has_nulls else "bool")
    if name in {"timestamp", "duration"}:
        counts = [pd.NaT.value if each is None else int(each) * UNIT_NS[first] for each in values]
        dtype = "timedelta64[ns]" if name == "duration" else "datetime64[ns]"
        found = pd.Series(np.array(counts, "int64").view(dtype))
        return found.dt.tz_localize("UTC").dt.tz_convert(zone) if zone else found
    make = {
        "utf8": str,
        "binary": base64.b64decode,
        "decimal": decimal.Decimal,
        "date": lambda value: EPOCH + dt.timedelta(days=int(value)),
        "time": lambda value: (MIDNIGHT + dt.timedelta(microseconds=to_us(value, first))).time(),
        "null": str,
    }[name]
    return pd.Series([None if each is None else make(each) for each in values], dtype=object)


def bits_of(value, size):
    """Return the bits of a float in hexadecimal; a null is NaN."""
    nan = {16: "7e00", 32: "7fc00000", 64: "7ff8000000000000"}[size]
    return nan if value in {None, "nan"} else value


def to_us(count, unit):
    return int(count) * UNIT_NS[unit] // 1000


try:
    {"read": read_all, "write": write}[sys.argv[1]](*sys.argv[2:])
except (AttributeError, KeyError, OverflowError) as error:
    # Types that pandas 1.3 lacks, as nested ones, and times before 1677 or after 2262.
    print(f"{type(error).__name__}: {error}", file=sys.stderr)
    sys.exit(3)
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
