"""Print the arrays of Zarr groups in canonical form, as zarr-python 2 or 3 reads them."""

import json
import sys

import zarr
from canonical import DIMS, NAMES, of_attribute, of_numbers


def main(paths):
    for path in paths:
        try:
            lines = table(path)
        except Exception as error:
            lines = [{"error": f"{type(error).__name__}: {error}"}]
        for line in lines:
            print(json.dumps(line), flush=True)


def table(path):
    """Return the lines of an array: its facts, and their values."""
    group = zarr.open_group(path, mode="r")
    names = group.attrs[NAMES]
    array = group[names["name"]]
    chunks = [min(chunk, max(1, edge)) for chunk, edge in zip(array.chunks, array.shape, strict=True)]
    facts = {
        "name": ("utf8", names["name"]),
        "dims": ("list<utf8>", dims(array)),
        "shape": ("list<int64>", list(map(str, array.shape))),
        "chunks": ("list<int64>", list(map(str, chunks))),
        "values": of_numbers(array[...]),
        **attributes(array, ""),
    }
    for dim in names["coordinates"]:
        facts[f"coordinate {dim}"] = of_numbers(group[dim][...])
        facts |= attributes(group[dim], f" of coordinate {dim}")
    columns = [{"name": name, "type": kind} for name, (kind, _) in facts.items()]
    return [{"columns": columns, "rows": 1}, [value for _, value in facts.values()]]


def dims(array):
    """Return the names of dimensions, which format 2 has as an attribute."""
    metadata = getattr(array, "metadata", None)  # of zarr-python 3
    return list(getattr(metadata, "dimension_names", None) or array.attrs.get(DIMS, []))


def attributes(array, after):
    found = {name: value for name, value in array.attrs.items() if name != DIMS}
    return {f"attribute {name}{after}": of_attribute(value) for name, value in found.items()}


main(sys.argv[1:])
