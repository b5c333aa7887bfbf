"""Write an array in canonical form to a Zarr group by zarr-python 2 or 3, with all chunks."""

import json
import sys

import zarr
from canonical import DIMS, NAMES, to_attribute, to_numbers


def main(path):
    head, row = (json.loads(line) for line in sys.stdin)
    pairs = zip(head["columns"], row, strict=True)
    facts = {column["name"]: (column["type"], value) for column, value in pairs}
    shape, chunks = ([int(each) for each in facts[name][1]] for name in ("shape", "chunks"))
    coordinates = [name.removeprefix("coordinate ") for name in facts if name.startswith("coordinate ")]
    group = zarr.open_group(path, mode="w")
    name = facts["name"][1]
    group.attrs[NAMES] = {"name": name, "coordinates": coordinates}
    values = to_numbers(*facts["values"]).reshape(shape)
    create(group, name, values, chunks, {**attributes(facts, ""), DIMS: facts["dims"][1]})
    for dim in coordinates:
        line = to_numbers(*facts[f"coordinate {dim}"])
        create(group, dim, line, [], {**attributes(facts, f" of coordinate {dim}"), DIMS: [dim]})


def create(group, name, values, chunks, attributes):
    """Write an array, in the library's own chunks if none are given."""
    if zarr.__version__.startswith("2."):
        array = group.create_dataset(name, data=values, shape=values.shape, chunks=chunks or True)
        array.attrs.update(attributes)
        return
    array = group.create_array(
        name,
        shape=values.shape,
        chunks=tuple(chunks) or "auto",
        dtype=values.dtype,
        dimension_names=attributes.pop(DIMS),
        attributes=attributes,
        config={"write_empty_chunks": True},  # as zarr-python 2 does by default
    )
    array[...] = values


def attributes(facts, after):
    """Return the attributes of the array, or of a coordinate."""
    found = {}
    for name, fact in facts.items():
        key, _, of = name.removeprefix("attribute ").partition(" of coordinate ")
        if name.startswith("attribute ") and after == (f" of coordinate {of}" if of else ""):
            found[key] = to_attribute(*fact)
    return found


try:
    main(sys.argv[1])
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
