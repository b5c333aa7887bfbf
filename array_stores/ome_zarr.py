"""OME-Zarr in a directory, through zarr-python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, Snippet, Trait
from adapter_core.arrays.shards import bands
from adapter_core.arrays.zarr import ZarrStore, read_rows, strict_folder

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection

# Levels end where one fits into the view of a browser, and are at most as many as ome-zarr-py writes.
_VIEW = 256
_MOST_LEVELS = 4

_TIMES = frozenset({"time", "t"})
# Axes of an image, which are halved from level to level.
_SPACE = 2
_MOST_LEADING = 3


class Adapter(ZarrStore):
    """A group of OME-Zarr 0.5, Zarr of format 3, with the array and smaller images of it for viewers.

    Each level has every second row and column of the one before, in chunks of half the edges, until
    height and width are at most 256, or there are four: up to a third more values. Reads are of the
    array itself. The last two or three axes are of space, before them is one of any kind, and first of
    all a time; a first axis named time is one. Scales are in pixels.

    Format: https://ngff.openmicroscopy.org/0.5/
    """

    label = "OME-Zarr"
    suffix = ".ome.zarr"
    requires = ("numpy", "zarr>=3.1", "pcodec")
    # https://ngff.openmicroscopy.org/0.5/#multiscale-md
    dims_range = range(2, 6)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    local_only = "the adapter writes directories only"
    snippet = Snippet(
        imports="import zarr\n{modules}",
        write="""
            group = zarr.create_group({path}, zarr_format=3)
            datasets = []
            for level in range(3):
                step = 2**level
                image = array[..., ::step, ::step]
                stored = group.create_array(
                    str(level),
                    shape=image.shape,
                    dtype=image.dtype,
                    chunks=chunks,
                    {codecs}
                )
                stored[...] = image
                scale = [1] * (array.ndim - 2) + [step] * 2
                scaling = {"type": "scale", "scale": scale}
                datasets.append({"path": str(level), "coordinateTransformations": [scaling]})
            types = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
            axes = [{"name": name, "type": types[name]} for name in "tczyx"[-array.ndim :]]
            images = [{"axes": axes, "datasets": datasets}]
            group.attrs["ome"] = {"version": "0.5", "multiscales": images}
        """,
        read="""
            array = zarr.open_group({path}, mode="r")["0"][...]
        """,
        given=Given.ARRAY,
        differs="FormatBench's own groups also contain coordinates, and as many levels as a view needs",
        notes=("the packages ome-zarr and ngff-zarr write the levels and metadata by themselves",),
    )

    @contextmanager
    def _writing(self, path: Path) -> Iterator[Any]:
        from zarr.storage import LocalStore

        yield LocalStore(path)

    def _reading(self, path: Path) -> Any:
        return strict_folder(path)

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        super()._check_further(source, codec)
        if taken := {*_names(source)} & {source.name, *source.coordinates}:
            raise self.refusal(f"{min(taken)!r} is the name of a level")

    def _save_to(self, store: Any, source: ArraySource, codec: str | None, level: int | None) -> None:
        array = self.create_empty(store, source, codec, level)
        with self._opening():
            arguments = self._codec_arguments(codec, level, source.dtype)
            levels = self._levels(store, source, arguments)
        for selection, values in bands(source):
            array.set_basic_selection(selection, values)
            part = selection, values
            for smaller in levels:
                part = _halved(*part)
                if part[1].size:
                    smaller.set_basic_selection(*part)

    def _levels(self, store: Any, source: ArraySource, codec: dict[str, Any]) -> list[Any]:
        """Write the smaller images without values, and the metadata of OME; return the images."""
        import zarr

        group = zarr.open_group(store, mode="r+")
        shape, chunks, levels = source.shape, source.chunks, []
        for name in _names(source):
            shape, chunks = _half(shape), _half(chunks)
            facts = {"shape": shape, "chunks": chunks, "dtype": source.dtype, **codec}
            levels.append(self._create_array(group, name, {}, source.dims, **facts))
        paths = [source.name, *_names(source)]
        datasets = [
            {
                "path": path,
                "coordinateTransformations": [{"type": "scale", "scale": _scale(len(shape), number)}],
            }
            for number, path in enumerate(paths)
        ]
        image = {"name": source.name, "axes": _axes(source.dims), "datasets": datasets}
        group.update_attributes({"ome": {"version": "0.5", "multiscales": [image]}})
        return levels

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each chunk to a slice of `zarr.create_array`, and of one for each level."""
        import zarr

        group = zarr.create_group(path)
        shape, chunks = source.shape, source.chunks
        arrays: list[Any] = []
        for name in (source.name, *_names(source)):
            arrays.append(
                group.create_array(
                    name, shape=shape, chunks=chunks, dtype=source.dtype, compressors=None
                )
            )
            shape, chunks = _half(shape), _half(chunks)
        datasets = [{"path": each.basename} for each in arrays]
        group.update_attributes({"ome": {"version": "0.5", "multiscales": [{"datasets": datasets}]}})
        for part in source:
            for array in arrays:
                array[part[0]] = part[1]
                part = _halved(*part)  # noqa: PLW2901 (of the next level)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of the array."""
        import zarr

        metadata: Any = zarr.open_group(path, mode="r").attrs["ome"]
        return read_rows(path / metadata["multiscales"][0]["datasets"][0]["path"])


def _names(source: ArraySource) -> list[str]:
    """Return the names of the smaller images: "1", "2" and so on, for their level."""
    shape, count = source.shape, 0
    while 0 not in shape and max(shape[-_SPACE:]) > _VIEW and count < _MOST_LEVELS:
        shape, count = _half(shape), count + 1
    return [str(number + 1) for number in range(count)]


def _half(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (*shape[:-_SPACE], *(-(-edge // 2) for edge in shape[-_SPACE:]))


def _halved(selection: Selection, values: np.ndarray) -> tuple[Selection, np.ndarray]:
    """Return every second row and column, counted from the array's first, and their place."""
    places = selection[-_SPACE:]
    rows, columns = (slice(place.start % 2, None, 2) for place in places)
    found = [slice(-(-place.start // 2), -(-place.stop // 2), 1) for place in places]
    return (*selection[:-_SPACE], *found), values[..., rows, columns]


def _scale(dims: int, level: int) -> list[float]:
    return [1.0] * (dims - _SPACE) + [2.0**level] * _SPACE


def _axes(dims: Sequence[str]) -> list[dict[str, str]]:
    """Return axes with their types: time first, then one of any kind, then two or three of space."""
    types = ["time", "", "space"][_MOST_LEADING - len(dims) + _SPACE :] + ["space"] * _SPACE
    if dims[0].lower() in _TIMES and len(dims) > _SPACE:
        types = ["time", "", "space"][: len(dims) - _SPACE] + ["space"] * _SPACE
    return [
        {"name": name, "type": kind} if kind else {"name": name}
        for name, kind in zip(dims, types, strict=True)
    ]
