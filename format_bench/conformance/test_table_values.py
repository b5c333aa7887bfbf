"""Values of tables after a round trip, and refusals."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import pandas as pd
import pytest

from adapter_core import CannotHoldError, Feature, UnavailableError, UnknownNameError, UnsupportedError
from adapter_core.kinds import Kind
from data_generator.synthetic.edge_case_tables import geometry_tables, uncompared_tables
from format_bench.conformance import losses
from format_bench.conformance.tables import every_table, ordinary
from format_bench.verification.tables import verify

TABLES = every_table()


def test_every_table_comes_back_right_or_is_refused(adapter, share_of, tmp_path, subtests):
    for number, (name, df) in enumerate(share_of(TABLES.items())):
        with subtests.test(name):
            folder = tmp_path / str(number)
            folder.mkdir()
            _comes_back_right_or_is_refused(adapter, name, df, folder)


@pytest.mark.parametrize("tables", [uncompared_tables, geometry_tables])
def test_columns_of_few_formats_come_back_right_or_are_refused(tables, adapter, tmp_path):
    for number, (name, df) in enumerate(tables().items()):
        found = losses.of_table(adapter, df, tmp_path / f"{number}{adapter.suffix}")
        documented = losses.documented_of(losses.TABLE_PAGE, name, adapter.label)
        assert documented in {None, losses.shown(name, found.text)}
        assert found.errors == ()


def test_generated_tables_come_back_right_or_are_refused(adapter, request, tmp_path, subtests):
    # One table suffices of an adapter that no change concerns.
    stands_for_others = request.node.callspec.params["adapter"].stands_for_others
    for name in ("flights",) if stands_for_others else losses.TABLES:
        with subtests.test(name):
            try:
                df = losses.table(name)
            except UnavailableError as error:
                pytest.skip(str(error))
            folder = tmp_path / name
            folder.mkdir()
            _comes_back_right_or_is_refused(adapter, name, df, folder)


def _comes_back_right_or_is_refused(adapter, name, df, folder):
    path = folder / f"table{adapter.suffix}"
    untouched = df.copy(deep=True)
    found = losses.of_table(adapter, df, path)
    documented = losses.documented_of(losses.TABLE_PAGE, name, adapter.label)
    assert documented in {None, losses.shown(name, found.text)}, (
        f"docs/{losses.TABLE_PAGE} is out of date"
    )
    if found.refusal:
        assert found.refusal.startswith(f"{adapter.label} cannot store this table: ")
        assert list(folder.iterdir()) == []
        return
    assert found.errors == ()
    assert type(found.read.index) is pd.RangeIndex
    pd.testing.assert_frame_equal(df, untouched)
    adapter.remove(path)


def test_an_ordinary_table_is_not_refused_and_comes_back_exact(adapter, path):
    df = ordinary()
    adapter.save(df, path)
    assert verify(df, adapter.read(path), *adapter.kept).exact


def test_rows_of_joined_tables_keep_their_order(adapter, path):
    # Arrow has their text in a chunk for each part, and libraries may write chunks side by side.
    parts = [
        pd.DataFrame({"n": range(first, first + 1_000)}).assign(s=lambda part: "word " + part.n.map(str))
        for first in range(0, 4_000, 1_000)
    ]
    df = pd.concat(parts, ignore_index=True)
    for _ in range(3):
        adapter.save(df, path)
        assert verify(df, adapter.read(path), *adapter.kept).errors == ()


DAYS = pd.date_range("2024-03-30", periods=3)
CATEGORIES = {
    "booleans": [True, False, None],
    "floats": [1.5, None, -0.5],
    "integers beyond floats": [2**60 + 1, 2, 3],
    "integers without a sign": pd.Series([1, 250], dtype="uint64"),
    "complex numbers": [1j, None, 2j],
    "nullable integers": pd.Series([1, None, 2], dtype="Int8"),
    "decimals": [Decimal("1.5"), None, Decimal("-2.25")],
    "bytes": [b"a", None, b"\0"],
    "dates": [*DAYS.date, None],
    "times of day": [datetime.time(1), None, datetime.time(2)],
    "times": [*DAYS, None],
    "times of nanoseconds": [*(DAYS.as_unit("ns") + pd.Timedelta(1, "ns")), None],
    "times with a zone": [*DAYS.tz_localize("Europe/Prague"), None],
    "time spans": [*pd.to_timedelta([1, 2], "s"), None],
    "intervals": pd.cut([1, 2, 3, 4], 2),
    "periods": [*pd.period_range("2024", periods=3, freq="D"), None],
}


def test_categories_of_any_values_come_back_right_or_are_refused(adapter, tmp_path):
    wrong, reasons = {}, set()
    for number, (name, values) in enumerate(CATEGORIES.items()):
        kinds = pd.Series(values).astype("category")
        df = pd.DataFrame({"row": range(len(kinds)), "kind": kinds})
        found = losses.of_table(adapter, df, tmp_path / f"{number}{adapter.suffix}")
        reasons.add(found.refusal.rpartition("; ")[2])
        if found.errors:
            wrong[name] = found.errors
    assert wrong == {}
    assert set(adapter.refuses_categories.values()) <= reasons


def test_every_kind_that_is_refused_is_refused_with_the_declared_reason(adapter):
    reasons = set()
    for df in (TABLES | uncompared_tables()).values():
        try:
            adapter.check(df)
        except CannotHoldError as refusal:
            reasons.add(str(refusal).rpartition("; ")[2])
    tried = {kind for kind in adapter.refuses if kind is not Kind.HALF_FLOAT}
    assert {adapter.refuses[kind] for kind in tried} <= reasons


@pytest.mark.parametrize(
    ("df", "words"),
    [
        (ordinary().set_index("word"), "the index is not kept"),
        (ordinary().iloc[[2, 0]], "the index is not kept"),
        (ordinary().rename_axis("id"), "the index is not kept"),
        (pd.DataFrame({1: [1]}), "column names must be text"),
        (pd.DataFrame({("a", "b"): [1]}), "column names must be text"),
        (pd.DataFrame(index=pd.RangeIndex(3)), "no columns"),
    ],
)
def test_an_index_and_names_that_are_not_text_are_refused(adapter, path, df, words):
    with pytest.raises(CannotHoldError, match=words):
        adapter.save(df, path)
    assert list(path.parent.iterdir()) == []


def test_columns_are_projected_or_refused(adapter, path):
    df = ordinary()
    adapter.save(df, path)
    if Feature.COLUMNS not in adapter.supports:
        with pytest.raises(
            UnsupportedError, match=re.escape(f"{adapter.label} has no column projection")
        ):
            adapter.read(path, columns=["real"])
        return
    for columns in (["real"], ["word", "whole"], list(df.columns)):
        read = adapter.read(path, columns=columns)
        assert verify(df[columns], read, *adapter.kept).errors == ()
    with pytest.raises(UnknownNameError, match="there is no column 'reel'; did you mean real"):
        adapter.read(path, columns=["word", "reel"])
