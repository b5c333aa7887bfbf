"""Random nested types and values: the verifier beside the canonical form, and round trips."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import data_formats
from adapter_core import CannotHoldError
from adapter_core.kinds import Kind
from format_bench.conformance.strategies import TEXT, around
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.columns import differing
from format_bench.verification.tables import verify

ROWS = 4
FLOATS = st.sampled_from([0.0, -0.0, float("nan"), float("inf"), 0.1]) | st.floats(width=16)
LEAVES = st.sampled_from(
    [
        (pa.int8(), st.integers(-128, 127)),
        (pa.uint64(), st.integers(0, 2**64 - 1)),
        (pa.float16(), FLOATS.map(np.float16)),
        (pa.float64(), FLOATS),
        (pa.bool_(), st.booleans()),
        (pa.string(), TEXT),
        (pa.binary(), st.binary(max_size=3)),
        (pa.decimal128(12, 2), st.integers(-(10**9), 10**9).map(lambda each: Decimal(each).scaleb(-2))),
        (pa.timestamp("us"), st.datetimes()),
        (pa.date32(), st.dates()),
    ]
)
KINDS = st.sampled_from([Kind.LIST, Kind.VECTOR, Kind.STRUCT, Kind.MAP])


def nested(inside):
    return st.tuples(KINDS, inside).map(lambda each: around(each[0], *each[1]))


# Each has a nested type at the top, around at most three others.
TYPES = nested(st.recursive(LEAVES, nested, max_leaves=3))


@st.composite
def columns(draw):
    """Return two columns of one type, whose values differ in some rows at most."""
    dtype, values = draw(TYPES)
    some = st.none() | values
    saved = draw(st.lists(some, min_size=ROWS, max_size=ROWS))
    read = [draw(some) if draw(st.booleans()) else each for each in saved]
    return [pd.Series(pd.arrays.ArrowExtensionArray(pa.array(each, dtype))) for each in (saved, read)]


few = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))


@few
@given(columns())
def test_values_differ_where_their_canonical_forms_do(pair):
    saved, read = pair
    texts = [CanonicalTable.of_frame(each.to_frame("c")) for each in pair]
    expected = [one != other for one, other in zip(*(each.rows for each in texts), strict=True)]
    assert differing(saved, read).tolist() == expected
    assert bool(verify(saved.to_frame("c"), read.to_frame("c")).errors) == any(expected)
    assert CanonicalTable.parse(texts[0].text) == texts[0]


@pytest.mark.parametrize("label", ["Feather", "IPC.stream", "Parquet", "Pickle"])
@settings(few, max_examples=15)
@given(pair=columns())
def test_files_of_nested_types_are_exact(label, pair, tmp_path_factory):
    adapter = data_formats.get(label)
    df = pair[0].to_frame("c")
    path = tmp_path_factory.getbasetemp() / f"nested{adapter.suffix}"
    try:
        adapter.save(df, path)
    except CannotHoldError:
        # An empty vector is not drawn, and each of the types has a place in these files.
        pytest.fail(f"{label} refuses {pair[0].dtype}")
    assert verify(df, adapter.read(path), *adapter.kept).exact
