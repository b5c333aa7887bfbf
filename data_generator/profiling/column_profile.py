"""Description of a column by a `ColumnSpec`: statistics alone, without any value of the column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.profiling import frequencies, number_profile
from data_generator.profiling.measures import Encoded, descending, encode, measure_encoded
from data_generator.profiling.text_profile import profile_texts
from data_generator.profiling.width_profile import profile_widths
from data_generator.spec.arrow import plain, type_properties
from data_generator.spec.dtypes import DTYPES, UNITS_PER_DAY, DtypeFamily
from data_generator.spec.spec import ColumnSpec, share, significant

if TYPE_CHECKING:
    import pyarrow as pa

UNREPRESENTED = "which no TableSpec represents"


def profile_column(name: str, column: pa.Array) -> ColumnSpec:
    """Return the properties of an Arrow column under a name.

    Raises
    ------
    InvalidDataError
        If a specification cannot represent the type of the column.
    """
    import pyarrow as pa

    nulls: dict[str, Any] = {
        "null_share": share(column.null_count / max(1, len(column))),
        "null_run_length": _null_run_length(column),
    }
    if pa.types.is_struct(column.type):
        there = column.drop_null()
        parts = [there.field(i) for i in range(column.type.num_fields)]
        fields = [
            profile_column(field.name, part) for field, part in zip(column.type, parts, strict=True)
        ]
        return ColumnSpec(name, "record", fields=tuple(fields), **nulls)
    if pa.types.is_fixed_size_list(column.type) and column.type.list_size:
        items = profile_column("item", column.flatten())
        return ColumnSpec(name, "vector", **nulls, items=items, length=column.type.list_size)
    if pa.types.is_map(column.type):
        keys, values = entries_of(column)
        entry = profile_column("key", keys), profile_column("value", values)
        return ColumnSpec(name, "map", **nulls, fields=entry, **_lengths(lengths_of(column)))
    if _is_list(column.type):
        return ColumnSpec(name, "list", **nulls, **_lists(column))
    kind = type_properties(column.type)
    is_huge = pa.types.is_decimal(column.type) and _beyond_64_bits(column)
    if kind is None or is_huge:
        beyond = ", beyond 64 bits" if is_huge else ""
        problem = f"is of type {column.type}{beyond}, {UNREPRESENTED}"
        raise InvalidDataError(f"column {name!r}", problem, "leave it out")
    return ColumnSpec(name, **kind, **nulls, **_flat(kind, plain(column)))


def _beyond_64_bits(decimals: pa.Array) -> bool:
    """Return True if a value has more digits than 64-bit counts of its last place hold."""
    import pyarrow.compute as pc

    largest = pc.max(pc.abs(decimals)).as_py()
    return largest is not None and largest.scaleb(max(0, decimals.type.scale)) >= 2**63


def _is_list(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_list(kind) or pa.types.is_large_list(kind)


def entries_of(maps: pa.Array) -> tuple[pa.Array, pa.Array]:
    """Return the keys and the values of all maps, one map after another."""
    there = maps.drop_null()
    first, end = (there.offsets[place].as_py() for place in (0, -1))
    return there.keys.slice(first, end - first), there.items.slice(first, end - first)


def lengths_of(maps: pa.Array) -> Any:
    """Return the numbers of entries of the maps that are not null."""
    import numpy as np

    return np.diff(maps.drop_null().offsets.to_numpy())


def _lists(column: pa.Array) -> dict[str, Any]:
    import numpy as np
    import pyarrow.compute as pc

    lengths = np.asarray(pc.list_value_length(column.drop_null()))
    return {"items": profile_column("item", column.flatten()), **_lengths(lengths)}


def _lengths(lengths: Any) -> dict[str, Any]:
    import numpy as np

    widths = profile_widths(lengths, np.ones(len(lengths), np.int64))
    widths.pop("rank_widths", None)
    return widths


def _null_run_length(column: pa.Array) -> float:
    import numpy as np

    if not column.null_count:
        return 1.0
    null = np.asarray(column.is_null())
    blocks = int(null[0]) + int((null[1:] > null[:-1]).sum())
    return significant(column.null_count / blocks)


def _flat(kind: dict[str, Any], column: pa.Array) -> dict[str, Any]:
    """Return the frequencies of values, their order and their content."""
    found = encode(column)
    statistics = measure_encoded(found, len(column), column.null_count)
    return {
        **_frequencies(found),
        "sortedness": share(statistics.sortedness),
        "mean_run_length": significant(max(1.0, statistics.mean_run_length)),
        "longest_run": significant(max(1.0, statistics.longest_run)),
        "clustering": share(statistics.clustering),
        **_content(kind, found),
    }


def _frequencies(found: Encoded) -> dict[str, Any]:
    counts = descending(found.counts)
    if len(counts) <= 1:
        return {"pattern": "constant"}
    if len(counts) == len((True, False)):
        return {"pattern": "binary", "top_share": share(int(counts[0]) / len(found.codes))}
    ratio = {"distinct_ratio": significant(len(counts) / len(found.codes), 4)}
    if counts[0] == counts[-1]:
        return {"pattern": "uniform", **ratio}
    shares = [significant(each) for each in frequencies.rank_shares(counts)]
    return {"pattern": "measured", **ratio, "rank_shares": tuple(shares)}


def _content(kind: dict[str, Any], found: Encoded) -> dict[str, Any]:
    import numpy as np

    family = DTYPES[kind["dtype"]].family
    if family is DtypeFamily.BOOLEAN or not len(found.distinct):
        return {}
    if family is DtypeFamily.TEXT:
        return profile_texts(found.distinct, found.places, found.counts)
    values = np.asarray(found.distinct)[found.places]
    match family:
        case DtypeFamily.INTEGER:
            return number_profile.integers(values.astype(np.int64), found.counts)
        case DtypeFamily.FLOAT:
            return number_profile.floats(values, found.counts)
        case DtypeFamily.DECIMAL:
            return number_profile.decimals(values, kind["decimals"], found.counts)
    return number_profile.times(values.astype(np.int64), UNITS_PER_DAY.get(kind.get("unit", ""), 1))
