"""Fixed tables of the conformance tests: ordinary ones, and edge cases."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd

from data_generator.synthetic.edge_case_tables import edge_case_tables

_REPEATED_ROWS = 400


def ordinary() -> pd.DataFrame:
    """Return one column of each of the four common types, shape (4, 4)."""
    return pd.DataFrame(
        {
            "whole": [1, -2, 3, 2**40],
            "real": [0.5, -1.25, 1e100, 3.0],
            "truth": [True, False, False, True],
            "word": ["a", "bc", "def", "Zürich"],
        }
    )


def partitions() -> list[pd.DataFrame]:
    """Return three tables of the same columns, shape (4, 4) each."""
    return [ordinary().assign(whole=[number, 2, 3, 4]) for number in range(3)]


def shapes() -> dict[str, pd.DataFrame]:
    """Return tables of unusual shapes, or with unusual column names."""
    wide = pd.DataFrame(np.arange(2 * 1_024).reshape(2, -1), columns=[f"c{i}" for i in range(1_024)])
    one = ordinary()
    twice = pd.DataFrame([[1, "x"], [2, "y"]])
    return {
        "one row": one.head(1),
        "one column": one[["word"]],
        "one column of text and nulls": pd.DataFrame({"c": ["a", None, "b"]}),
        "no rows": one.head(0),
        "an all-null row inside": pd.DataFrame({"a": [1.5, None, 2.5], "b": ["x", None, "y"]}),
        "an all-null row at the end": pd.DataFrame({"a": [1.5, None], "b": ["x", None]}),
        "1,024 columns": wide,
        "duplicate names": twice.set_axis(["a", "a"], axis=1),
        "names that pandas makes": pd.DataFrame({"a": [1, 2], "a.1": [3, 4], "index": [5, 6]}),
        "names with separators": _named("a,b", 'c"d', "e f", "g;h", "i\tj", "k.l", "m/n", "o=p"),
        "names with line breaks": _named("a\nb", "c\rd", "e\r\nf"),
        "names in many scripts": _named("größe", "名前", "🙂", "naïve"),
        "names like values": _named("1", "2.5", "True", "NA", "null", "nan", "-", "=1"),
        "names of words that formats use": _named(
            "date", "timestamp", "x_at", "values", "row", "xml", "__index_level_0__"
        ),
        "names that adapters may give": _named("column_1", "é", "_3", "ü", "c1", "ö"),
        "an empty name": _named("", "a"),
        "names that differ in case": _named("A", "a"),
        "a very long name": _named("n" * 1_000, "a"),
    }


def _named(*names: str) -> pd.DataFrame:
    return pd.DataFrame({name: [i, i + 1] for i, name in enumerate(names)})


def regressions() -> dict[str, pd.DataFrame]:
    """Return tables that some adapter once changed silently; random tables found them."""
    return {
        "a name of NUL": _named("\0", "a"),
        "names that differ after a NUL": _named("a\0b", "a"),
        "names with control characters": _named("a\x01b", "c\x1fd", "\x7f"),
        "names with characters that XML forbids": _named("a\uffff", "\ufffe"),
        "decimals with the highest bit set": pd.DataFrame({"c": [Decimal("327.68"), Decimal("0.01")]}),
        "names like integers": _named("1", "2"),
        "a name like a date": _named("2024-01-01"),
        "a single empty name": _named(""),
        "a name with a byte order mark": _named("\ufeffa", "b"),
        "a name of a byte order mark": _named("\ufeff", "b"),
        "an empty name without values at the end": pd.DataFrame({"a": [1, 2], "": [None, None]}),
        "no rows and an empty name": _named("").head(0),
        "names like those of fields by number": _named("ö", "column_0", "column_2", "é"),
        "a name in letters of XML's fifth edition": _named("\u017f", "a"),
        "whole floats beyond 64 bits": pd.DataFrame({"c": [0.0, 2.7294625707866907e19]}),
        "whole floats beyond 64 bits and a null": pd.DataFrame({"c": [np.nan, 2.5e20, 1.0]}),
        "zeros of both signs alone": pd.DataFrame({"c": [0.0, -0.0, 0.0], "d": [1, 2, 3]}),
        "32-bit floats of nine digits": pd.DataFrame(
            {"c": np.array([0.118105225, 0.110571995, 1.21329105e-32], "f4")}
        ),
        "floats whose last digits follow zeros": pd.DataFrame(
            {"c": [0.10000000000000499, 0.43716432000000827, 0.16533568470000004]}
        ),
        "categories without a value": pd.DataFrame({"c": pd.Categorical([None, None]), "d": [1, 2]}),
        "timedeltas of millennia": pd.DataFrame({"c": np.array([10**11, -(10**11)], "m8[s]")}),
        "datetimes beyond the year 9999": pd.DataFrame(
            {"c": np.array(["2020-01-01", "10000-01-01"], "M8[us]"), "d": [1, 2]}
        ),
        "datetimes with an offset of seconds": pd.DataFrame(
            {"c": pd.to_datetime(["1880-01-01", "2020-01-01"]).as_unit("s").tz_localize("Europe/Prague")}
        ),
    }


def every_table() -> dict[str, pd.DataFrame]:
    """Return all tables of this module by name."""
    return {"ordinary": ordinary(), **edge_case_tables(), **shapes(), **regressions()}


def repetitive() -> pd.DataFrame:
    """Return one column of each common type, shape (400, 5), which any codec makes smaller."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            # ORC's LZ4 finds long repetitions only.
            "letters": ["a" * 300] * _REPEATED_ROWS,
            "whole": rng.integers(0, 50, _REPEATED_ROWS),
            "real": rng.integers(0, 1_000, _REPEATED_ROWS) / 8,
            "truth": rng.integers(0, 3, _REPEATED_ROWS) == 0,
            "word": [f"word {i % 97} of {i % 13}" for i in range(_REPEATED_ROWS)],
        }
    )
