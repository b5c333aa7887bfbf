"""HDF5 through h5py."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import IN_PLACE, Appendable, ArrayReader, Description, Given, Snippet, Trait
from adapter_core.arrays import hdf5
from adapter_core.arrays.chunk_writing import write_chunks
from adapter_core.arrays.on_demand import OnDemand
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from adapter_core import ArraySource, Attribute, Selection

# Seen with hdf5plugin 7.1.0 and HDF5 2.0.
_OF_FINITE = {
    "gzip+scaleoffset": "HDF5 cannot read a chunk back whose scale and offset are of NaN or infinities",
    "sz3": "SZ3 does not end for a chunk with NaN",
}


class Adapter(Appendable):
    """An HDF5 file with one chunked dataset, whose coordinates are dimension scales.

    Attributes are HDF5 attributes, names of dimensions are labels. The first axis is unlimited. The
    chunk cache of a compressed array suits the file, see
    `adapter_core.arrays.hdf5.reopened_with_cache`. A 0-d array is a contiguous dataset, and HDF5 has no
    filters for it.

    The file format is https://docs.hdfgroup.org/hdf5/develop/_f_m_t3.html; the codecs beyond gzip, lzf
    and szip are filters of hdf5plugin. HDF5 notices a truncated file, but not flipped bits.
    """

    label = "HDF5"
    suffix = ".h5"
    requires = ("h5py", "hdf5plugin")
    local_only = IN_PLACE
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    codecs: ClassVar = hdf5.CODECS
    recommended = Recommended(
        "https://docs.h5py.org/en/3.14.0/high/dataset.html https://docs.h5py.org/en/3.14.0/high/file.html",
        "gzip+shuffle",
        options={"libver": "latest"},
        words="gzip for good compression, with shuffle; the latest version of the format for speed",
        seen="2026-11-25",
        parts={"version": "superblock 3", "filters": "shuffle"},
    )
    checksums = "Fletcher-32 of each chunk: fletcher32"
    file_facts = FileFacts(
        version="superblock 0",
        parts={"layout": "chunked", "chunks": "as asked"},
        threads="one",
        differs="chunks as asked; of compressed files a chunk cache that suits them",
    )
    snippet = Snippet(
        imports="import h5py\nimport hdf5plugin",
        write="""
            with h5py.File({path}, "w", rdcc_nbytes=0, {options}) as file:
                limits = (None, *array.shape[1:])
                file.create_dataset("values", data=array, chunks=chunks, maxshape=limits, {filters})
        """,
        read="""
            with h5py.File({path}) as file:
                array = file["values"][()]
        """,
        given=Given.ARRAY,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"filters": hdf5.filter_code(codec, level), "options": keywords(**self.options)}

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = (
            hdf5.refused_by(codec, source)
            or hdf5.refused_properties(source, hdf5.RESERVED)
            or hdf5.long_attribute(source)
        )
        if reason:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import h5py

        # Each chunk is written whole, so that a cache would be a copy for nothing.
        with h5py.File(path, "w", rdcc_nbytes=0, **self.options) as file:
            dataset = file.create_dataset(
                source.name,
                source.shape,
                source.dtype,
                **(_layout(source) | self._filters(codec, level) if source.shape else {}),
            )
            for name, value in source.attributes.items():
                dataset.attrs[name] = value
            _write_coordinates(file, dataset, source)
            write_chunks(dataset, self._only_finite(source, codec))

    def _only_finite(self, source: ArraySource, codec: str | None) -> ArraySource:
        """Return a source that refuses NaN and infinities where a filter hangs, or loses chunks."""
        if codec not in _OF_FINITE:
            return source

        def read(selection: Selection) -> np.ndarray:
            import numpy as np

            values = source.read(selection)
            if not np.isfinite(values).all():
                raise self.refusal(_OF_FINITE[codec])
            return values

        return replace(source, read=read)

    def _filters(self, codec: str | None, level: int | None) -> dict[str, Any]:
        checks = {"fletcher32": True} if self.uses_checksums else {}
        return hdf5.filter_options(codec, level, self.error_bound) | checks

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def library_chunks(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
        import h5py

        with h5py.File("guess", "w", driver="core", backing_store=False) as file:
            found: tuple[int, ...] = file.create_dataset("x", shape, dtype, chunks=True).chunks
            return found

    def _append(self, source: ArraySource, path: Path) -> None:
        import h5py

        with h5py.File(path, "r+", rdcc_nbytes=0) as file:
            name = _variable(file)
            dataset = hdf5.reopened_with_cache(file, name)
            first_row = dataset.shape[0]
            dataset.resize(first_row + source.shape[0], 0)
            write_chunks(dataset, source, first_row)
            label = dataset.dims[0].label
            if label in file and label in source.coordinates:
                file[label].resize(dataset.shape[0], 0)
                file[label][first_row:] = source.coordinates[label]

    def _codec_used(self, path: Path) -> str | None:
        import h5py

        with h5py.File(path) as file:
            return hdf5.codec_of(file[_variable(file)])

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign the chunks to a dataset of `h5py`."""
        import h5py

        with h5py.File(path, "w") as file:
            dataset = file.create_dataset("x", source.shape, source.dtype, chunks=source.chunks)
            for selection, values in source:
                dataset[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Index the dataset by the selection of each chunk."""
        import h5py

        with h5py.File(path) as file:
            dataset = file["x"]
            return len([dataset[each].shape for each in dataset.iter_chunks()])


class _Reader(ArrayReader):
    """An open file; its attributes and coordinates are read on demand."""

    def __init__(self, path: Path) -> None:
        import h5py

        self._file = h5py.File(path)
        name = _variable(self._file)
        self._dataset = hdf5.reopened_with_cache(self._file, name)
        axes = range(len(self._dataset.shape))
        dims = tuple(
            h5py.h5ds.get_label(self._dataset.id, axis).decode() or _scale_name(self._dataset, axis)
            for axis in axes
        )

        def scales() -> dict[str, Any]:
            return {each: self._file[each] for each in dims if each in self._file}

        super().__init__(
            Description(
                self._dataset.shape,
                self._dataset.dtype,
                self._dataset.chunks or self._dataset.shape,
                name,
                dims,
                _attributes(self._dataset),
                OnDemand(scales, lambda scale: scale[()]),
                OnDemand(scales, _attributes),
            )
        )

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.asarray(self._dataset[selection])

    def close(self) -> None:
        self._file.close()


def _scale_name(dataset: h5py.Dataset, axis: int) -> str:
    """Return the name of the scale of an axis without a label, as netCDF's files have; empty without."""
    scales = dataset.dims[axis].values()
    return scales[0].name.removeprefix("/") if scales else ""


def _attributes(dataset: h5py.Dataset) -> Mapping[str, Attribute]:
    def names() -> dict[str, str]:
        return {name: name for name in dataset.attrs if name not in hdf5.RESERVED}

    return OnDemand(names, lambda name: hdf5.attribute_of(dataset.attrs[name]))


def _layout(source: ArraySource) -> dict[str, tuple[int | None, ...]]:
    """Return the arguments for a chunked dataset whose first axis is unlimited."""
    # A chunk must not be larger than an axis of a limited length.
    edges = zip(source.chunks, source.shape, strict=True)
    limits = [None if chunk > edge else edge for chunk, edge in edges]
    return {"chunks": source.chunks, "maxshape": (None, *limits[1:])}


def _write_coordinates(file: h5py.File, dataset: h5py.Dataset, source: ArraySource) -> None:
    for axis, name in enumerate(source.dims):
        dataset.dims[axis].label = name
        if name in source.coordinates:
            if name not in file:
                # Only the coordinates of the first axis can be extended.
                limits = None if axis else (None,)
                scale = file.create_dataset(name, data=source.coordinates[name], maxshape=limits)
                scale.make_scale(name)
                scale.attrs.update(source.coordinate_attributes.get(name, {}))
            dataset.dims[axis].attach_scale(file[name])


def _variable(file: h5py.File) -> str:
    """Return the name of the dataset that is not a dimension scale."""
    import h5py

    # Opening by names alone takes a third of the time of h5py's objects.
    return next(name for name in file if not h5py.h5ds.is_scale(h5py.h5d.open(file.id, name.encode())))
