"""Arrays in canonical form: printed exactly, and compared fact by fact."""

from __future__ import annotations

import numpy as np
import pytest

from adapter_core import Description, Property
from adapter_core.array_source import ArraySource
from data_generator.synthetic.edge_case_arrays import described, edge_case_arrays, values
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.canonical_arrays import compare_arrays, of_array

CASES = edge_case_arrays()


def canonical(source: ArraySource, kept=frozenset(Property)) -> CanonicalTable:
    read = source.read(tuple(slice(0, edge) for edge in source.shape))
    return CanonicalTable.parse(of_array(Description.of(source), read, kept).text)


def of(numbers, dtype="int32", **facts) -> CanonicalTable:
    array = np.array(numbers, dtype)
    return canonical(ArraySource.of(array, (2,) * array.ndim, **facts))


def facts_of(table: CanonicalTable) -> dict[str, tuple[str, object]]:
    return {
        name: (str(kind), value)
        for (name, kind), value in zip(table.columns, table.rows[0], strict=True)
    }


def test_an_array_is_a_table_of_its_facts():
    found = facts_of(of([1, -2, 3], name="t", dims=("x",), attributes={"units": "K", "level": 2}))
    assert found == {
        "name": ("utf8", "t"),
        "dims": ("list<utf8>", ["x"]),
        "shape": ("list<int64>", ["3"]),
        "chunks": ("list<int64>", ["2"]),
        "values": ("list<int32>", ["1", "-2", "3"]),
        "attribute units": ("utf8", "K"),
        "attribute level": ("int64", "2"),
    }


def test_values_are_exact_bits_in_c_order():
    assert facts_of(of([[1.5, -0.0], [np.nan, np.inf]], "float32"))["values"] == (
        "list<float32>",
        ["3fc00000", "80000000", "nan", "7f800000"],
    )
    assert facts_of(of([1 + 2j], "complex64"))["values"] == (
        'list<struct<"real": float32, "imaginary": float32>>',
        [["3f800000", "40000000"]],
    )


def test_the_byte_order_of_a_file_is_no_fact():
    assert facts_of(of([1, -2], ">i4"))["values"] == ("list<int32>", ["1", "-2"])


@pytest.mark.parametrize("name", CASES)
def test_each_edge_case_equals_itself(name):
    found = compare_arrays(canonical(CASES[name]), canonical(CASES[name]))
    assert (found.changed, found.retyped, found.sentence) == (0, 0, "")


def test_coordinates_and_their_attributes_are_facts():
    source = ArraySource.of(values((4, 24, 32), "float32"), (1, 24, 32), **described())
    found = facts_of(canonical(source))
    assert found["coordinate time"] == ("list<int64>", ["1051896", "1051902", "1051908", "1051914"])
    assert found["attribute units of coordinate latitude"] == ("utf8", "degrees_north")
    kept = facts_of(canonical(source, frozenset({Property.DIMS})))
    assert set(kept) == {"shape", "values", "dims"}


@pytest.mark.parametrize(
    ("saved", "read", "changed", "sentence"),
    [
        (of([1, 2, 3]), of([1, 2, 4]), 1, "values, value 2: 3 came back as 4"),
        (
            of([1, 2, 3]),
            of([1, 2]),
            2,
            "shape, value 0: 3 came back as 2; values: 3 values came back as 2",
        ),
        (of([1], dims=("x",)), of([1], dims=("y",)), 1, "dims, value 0: 'x' came back as 'y'"),
        (of([1], attributes={"a": "K"}), of([1]), 1, "attribute a is missing"),
        (
            of([1], attributes={"a": "K"}),
            of([1], attributes={"a": "C"}),
            1,
            "attribute a: 'K' came back as 'C'",
        ),
        (of([-0.0], "float64"), of([0.0], "float64"), 1, "values, value 0: -0.0 came back as 0.0"),
        (of([1]), of([1], attributes={"_own": "of the file"}), 0, ""),
    ],
)
def test_changes_are_counted_and_named(saved, read, changed, sentence):
    found = compare_arrays(saved, read)
    assert (found.changed, found.retyped, found.sentence) == (changed, 0, sentence)


def test_other_types_and_chunks_are_no_changes():
    found = compare_arrays(of([0, 1], "bool"), of([0, 1], "int8"))
    assert (found.changed, found.retyped) == (0, 1)
    assert found.sentence == "values: bool came back as int8"
    whole = canonical(ArraySource.of(np.array([1, 2, 3], "int32"), (3,)))
    found = compare_arrays(of([1, 2, 3]), whole)
    assert (found.changed, found.retyped) == (0, 1)
    assert found.sentence == "chunks, value 0: 2 came back as 3"


def test_a_list_of_one_value_is_another_type_of_the_value():
    found = compare_arrays(of([1], attributes={"a": 2.5}), of([1], attributes={"a": [2.5]}))
    assert (found.changed, found.retyped) == (0, 1)
    assert found.sentence == "attribute a: float64 came back as list<float64>"
    assert compare_arrays(of([1], attributes={"a": 2.5}), of([1], attributes={"a": [2.0]})).changed == 1


def test_many_changes_are_cut_to_a_line():
    found = compare_arrays(of(range(9)), of(range(1, 10)))
    assert found.changed == 9
    assert found.sentence.endswith("values, value 2: 2 came back as 3; 6 more")
