"""Sizes and errors of arrays within error bounds: the smallest, all, and errors beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from adapter_core.error_bounds import ErrorBound
from format_bench.studies.declared.blocks import MISSING, Block, Context
from format_bench.studies.declared.selection import NONE, Number, Wanted

_AXIS, _COMPARED = "error bound", "lost properties"
_ERRORS = {
    "absolute": "greatest absolute error",
    "relative": "greatest relative error",
    "mean": "error of the mean",
    "extremes": "error of extremes",
    "gradients": "error of gradients",
}

# Codecs that are lossless where values are not rounded before.
_LOSSLESS = {"pcodec", "zstd+shuffle", NONE}


def smallest(context: Context) -> Iterator[Block]:
    """Yield a table of the smallest size of each kind of codec, by array and bound."""
    header = ["array", "bound", "kept", "lossy codec", "size", "rounded", "size", "lossless", "size"]
    rows = []
    for data, sizes in _by_data(context).items():
        whole = _uncompressed(sizes)
        unchanged = _least([each for each in sizes if not each.field(_AXIS)], whole)
        for bound in _bounds(sizes):
            own = [each for each in sizes if each.field(_AXIS) == bound]
            tried = len(own) + len(_broken(context, data, bound))
            kinds = [[each for each in own if (each.codec in _LOSSLESS) is way] for way in (False, True)]
            found = [text for each in kinds for text in _least(each, whole)]
            rows.append([data, bound, f"{len(own)} of {tried}", *found, *unchanged])
    yield Block("", "", header, rows, "lll" + 3 * "lr")


def sizes(context: Context) -> Iterator[Block]:
    """Yield a table of all sizes for each array, with the status of a codec that broke a bound."""
    for data, found in _by_data(context).items():
        whole, bounds = _uncompressed(found), _bounds(found)
        gaps = context.numbers.gaps({"metric": _COMPARED, "data": data})
        cells = {_file(each): each.status for each in gaps}
        cells |= {_file(each): _share(each, whole) for each in found}
        ways = sorted({_file(each)[:2] for each in found if each.field(_AXIS)})
        rows = [[" ".join(way), *(cells.get((*way, each), MISSING) for each in bounds)] for way in ways]
        yield Block(data, "", ["codec", *bounds], rows, "l" + "r" * len(bounds))


def errors(context: Context) -> Iterator[Block]:
    """Yield a table of the errors of each file, for each array, the smallest first."""
    for data, found in _by_data(context).items():
        whole = _uncompressed(found)
        wanted: Wanted = {"data": data, "metric": list(_ERRORS.values())}
        by_file: dict[tuple[str, str, str], dict[str, float]] = {}
        for each in context.numbers.select(wanted):
            by_file.setdefault(_file(each), {})[each.metric] = each.value
        rows = [
            [each.field(_AXIS), f"{each.format} {each.codec}", _share(each, whole)]
            + [f"{by_file[_file(each)].get(metric, float('nan')):.2g}" for metric in _ERRORS.values()]
            for bound in _bounds(found)
            for each in sorted(found, key=lambda each: each.value)
            if each.field(_AXIS) == bound and _file(each) in by_file
        ]
        header = ["bound", "codec", "size", *_ERRORS]
        yield Block(f"Errors of {data}", "", header, rows, "ll" + "r" * 6, fold=True, level=3)


def _by_data(context: Context) -> dict[str, list[Number]]:
    """Return the sizes of files by array, of those whose values were read and compared."""
    compared = {(each.data, *_file(each)) for each in context.numbers.select({"metric": _COMPARED})}
    found: dict[str, list[Number]] = {}
    for each in context.numbers.select({"metric": "size"}):
        if (each.data, *_file(each)) in compared:
            found.setdefault(each.data, []).append(each)
    return found


def _bounds(sizes: Sequence[Number]) -> list[str]:
    return sorted({each.field(_AXIS) for each in sizes} - {""}, key=_order)


def _order(bound: str) -> tuple[str, float]:
    """Return a sort key of bounds: by kind, the loosest first."""
    found = ErrorBound.parse(bound)
    return found.kind, -found.share


def _file(number: Number) -> tuple[str, str, str]:
    return number.format, number.codec, number.field(_AXIS)


def _uncompressed(sizes: Sequence[Number]) -> float:
    """Return the least size without a codec: the values, and some hundreds of bytes."""
    plain = [each.value for each in sizes if each.codec == NONE and not each.field(_AXIS)]
    return min(plain, default=float("nan"))


def _share(number: Number, whole: float) -> str:
    return f"{number.value / whole:.3f}"


def _least(sizes: Sequence[Number], whole: float) -> list[str]:
    """Return the codec of the smallest size, and the size."""
    compressed = [each for each in sizes if each.codec != NONE or each.field(_AXIS)]
    if not compressed:
        return [MISSING, MISSING]
    least = min(compressed, key=lambda each: each.value)
    return [f"{least.format} {least.codec}", _share(least, whole)]


def _broken(context: Context, data: str, bound: str) -> list[Number]:
    """Return the files that could not be read, or had a value that was not within the bound."""
    found = context.numbers.gaps({"metric": _COMPARED, "data": data, _AXIS: bound})
    return [each for each in found if each.status == "failed"]
