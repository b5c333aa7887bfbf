"""Print the array of a Zarr group in canonical form, as zarr-python 2 reads it."""

import json
import sys

import zarr
from canonical import DIMS, NAMES, of_attribute, of_numbers


def main(path):
    group = zarr.open_group(path, mode="r")
    names = group.attrs[NAMES]
    array = group[names["name"]]
    chunks = [min(chunk, max(1, edge)) for chunk, edge in zip(array.chunks, array.shape, strict=True)]
    facts = {
        "name": ("utf8", names["name"]),
        "dims": ("list<utf8>", array.attrs[DIMS]),
        "shape": ("list<int64>", list(map(str, array.shape))),
        "chunks": ("list<int64>", list(map(str, chunks))),
        "values": of_numbers(array[...]),
        **attributes(array, ""),
    }
    for dim in names["coordinates"]:
        facts[f"coordinate {dim}"] = of_numbers(group[dim][...])
        facts |= attributes(group[dim], f" of coordinate {dim}")
    columns = [{"name": name, "type": kind} for name, (kind, _) in facts.items()]
    print(json.dumps({"columns": columns, "rows": 1}))
    print(json.dumps([value for _, value in facts.values()]))


def attributes(array, after):
    found = {name: value for name, value in array.attrs.items() if name != DIMS}
    return {f"attribute {name}{after}": of_attribute(value) for name, value in found.items()}


try:
    main(sys.argv[1])
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
