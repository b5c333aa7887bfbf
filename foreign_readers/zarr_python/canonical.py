"""Arrays of NumPy and attributes in canonical form, and back."""

import math

import numpy as np

DIMS = "_ARRAY_DIMENSIONS"
"""Attribute with the names of dimensions, as xarray has it."""

NAMES = "format_bench.array"
"""Attribute of the group with the names of the array and of its coordinates."""


def of_numbers(values):
    """Return the type and the value of all numbers of an array, in C order."""
    flat = np.ascontiguousarray(values).reshape(-1)
    kind = flat.dtype.name
    if flat.dtype.kind == "c":
        parts = [of_numbers(each.copy()) for each in (flat.real, flat.imag)]
        kind = parts[0][0].removeprefix("list<").removesuffix(">")
        pairs = [list(pair) for pair in zip(parts[0][1], parts[1][1], strict=True)]
        return f'list<struct<"real": {kind}, "imaginary": {kind}>>', pairs
    if flat.dtype.kind == "f":
        size = flat.dtype.itemsize
        bits = flat.view(f"u{size}").tolist()
        found = [
            "nan" if math.isnan(x) else f"{b:0{2 * size}x}"
            for x, b in zip(flat.tolist(), bits, strict=True)
        ]
    else:
        found = flat.tolist() if kind == "bool" else list(map(str, flat.tolist()))
    return f"list<{kind}>", found


def to_numbers(kind, values):
    """Return the numbers of a list in canonical form."""
    name = kind.removeprefix("list<").removesuffix(">")
    if name.startswith("struct<"):
        part = "float32" if "float32" in name else "float64"
        real, imaginary = (to_numbers(f"list<{part}>", [pair[i] for pair in values]) for i in (0, 1))
        return real + 1j * imaginary.astype(part)
    if name.startswith("float"):
        size = np.dtype(name).itemsize
        nan = np.array([np.nan], name).view(f"u{size}")[0]
        bits = [nan if each == "nan" else int(each, 16) for each in values]
        return np.array(bits, f"u{size}").view(name)
    return np.array(values if name == "bool" else list(map(int, values)), name)


def of_attribute(value):
    """Return the type and the value of an attribute."""
    if isinstance(value, str):
        return "utf8", value
    if isinstance(value, list):
        found = [of_attribute(each) for each in value]
        kinds = {kind for kind, _ in found}
        return f"list<{kinds.pop() if len(kinds) == 1 else 'null'}>", [each for _, each in found]
    kind, (found,) = of_numbers(np.array([value]))
    return kind.removeprefix("list<").removesuffix(">"), found


def to_attribute(kind, value):
    """Return an attribute as a value of Python."""
    if kind == "utf8":
        return value
    if kind.startswith("list<"):
        return [] if kind == "list<null>" else to_numbers(kind, value).tolist()
    return to_numbers(f"list<{kind}>", [value]).tolist()[0]
