"""Arrays in regions, each written and read by a process of its own.

A region is a run of indexes of the first axis, with all indexes of the others. Regions are written
below a temporary folder beside the array, which gets its name when all of them are on disk: before that,
nothing is at its path.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from adapter_core import files
from adapter_core.array_description import Description
from adapter_core.array_source import ArraySource, Selection
from adapter_core.errors import IncompleteError, UnsupportedError
from adapter_core.partitioned import MANIFEST, manifest_of, parts_in

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_reader import ArrayReader


@dataclass(frozen=True)
class Region:
    """A run of indexes of the first axis: small, so that it travels between processes."""

    number: int
    start: int
    stop: int
    """The index after the last one."""
    name: str = ""
    """Name of the file of the region, if it has one."""
    size_bytes: int = 0
    """Size of that file."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Facts for the commit of a store; can be pickled."""
    digest: str = ""
    """Digest of the values and their positions, which the writer of the region may give; a manifest
    keeps it. Empty if there is none."""

    def selection(self, shape: Sequence[int]) -> Selection:
        """Return the selection of the region in an array of that shape."""
        return (slice(self.start, self.stop), *(slice(0, edge) for edge in shape[1:]))


def regions_of(edge: int, unit: int, count: int) -> list[Region]:
    """Return at most `count` regions of nearly equal size.

    Parameters
    ----------
    edge : int
        Length of the first axis.
    unit : int
        Regions start at multiples of it.
    count : int
        Number of regions, if there are as many units.
    """
    units = max(1, -(-edge // unit))
    count = min(count, units)
    starts = [min(edge, units * number // count * unit) for number in range(count)]
    ends = zip(starts, [*starts[1:], edge], strict=True)
    return [Region(number, start, stop) for number, (start, stop) in enumerate(ends)]


class _Store(Protocol):
    """Methods of an `ArrayStore` that regions need."""

    label: ClassVar[str]
    suffix: ClassVar[str]

    def check(self, source: ArraySource) -> None: ...
    def save(self, array: ArraySource, path: Path) -> None: ...
    def open(self, path: Path) -> ArrayReader: ...
    def read(self, path: Path) -> np.ndarray: ...
    def size_bytes(self, path: Path) -> int: ...


class PartitionedArray(ABC):
    """An array that several processes write and read.

    One process, the client, calls `create`, `commit` and `regions`; the processes of regions call
    `write` and `read`. Objects are pickled and sent to these processes, which see the same files.

    Parameters
    ----------
    path : Path
        Path of the array.
    store : ArrayStore
        Its store.
    """

    def __init__(self, path: Path, store: _Store) -> None:
        self.path, self.store = path, store
        # .gitignore has the pattern `*.partial*`.
        self.folder = path.with_name(f".{path.name}.partial")
        self.unfinished = self.folder / path.name
        """Path of the array before the commit."""

    def create(self, source: ArraySource) -> None:
        """Make the array with all its properties and without values.

        Parameters
        ----------
        source : ArraySource
            The array; no value is read.

        Raises
        ------
        FileExistsError
            If something is at the path, or a writer that has not ended has left its folder there.
        FileNotFoundError
            If the folder to write in does not exist.
        UnsupportedError
            If the array has no dimensions.
        CannotHoldError
            If the store cannot keep this array as it is. Nothing has been written then.
        """
        if not source.shape:
            raise UnsupportedError("an array without dimensions has no regions")
        self.store.check(source)
        if self.path.exists():
            raise FileExistsError(f"{self.path} exists")
        self.folder.mkdir()
        try:
            self._create(source)
        except BaseException:
            self.discard()
            raise

    def unit(self, description: Description) -> int:
        """Return the length of the shortest region that one process may write, a chunk's."""
        return description.chunks[0]

    @abstractmethod
    def write(self, region: Region, values: np.ndarray) -> Region:
        """Write a region, so that a second attempt to write it does no harm.

        Parameters
        ----------
        region : Region
            One of `regions_of` this array, with the unit of `unit`.
        values : numpy.ndarray
            C-contiguous, of the shape of the region's selection.

        Returns
        -------
        Region
            The region with the facts for the commit.
        """

    def commit(self, regions: Sequence[Region]) -> None:
        """Make the regions, in the order given, an array at the path, at once.

        Raises
        ------
        IncompleteError
            If the regions do not follow each other. Nothing is at the path then.
        """
        last = 0
        for region in regions:
            if region.start != last:
                raise IncompleteError(f"{self.path}: the region from {last} on is missing")
            last = region.stop
        self._finish(regions)
        self.unfinished.replace(self.path)
        self.folder.rmdir()

    def regions(self, count: int) -> list[Region]:
        """Return the regions to read, in order.

        Parameters
        ----------
        count : int
            Number of regions, as in `regions_of`; an array of files has one for each.

        Raises
        ------
        IncompleteError
            If the array was not committed, or lacks a file.
        """
        self._check_committed()
        with self.store.open(self.path) as reader:
            description = reader.description
        return regions_of(description.shape[0], self.unit(description), count)

    def read(self, region: Region) -> np.ndarray:
        """Read the values of a region."""
        with self.store.open(self.path) as reader:
            return reader.read((slice(region.start, region.stop),))

    def discard(self) -> None:
        """Remove the regions that writers have left without a commit."""
        files.remove(self.folder)

    def remove(self) -> None:
        """Remove the array, and regions that writers have left."""
        files.remove(self.path)
        self.discard()

    def _check_committed(self) -> None:
        if not self.path.exists():
            left = f"; {self.folder} is of a save that did not end" if self.folder.exists() else ""
            raise IncompleteError(f"{self.path} does not exist{left}")

    @abstractmethod
    def _create(self, source: ArraySource) -> None:
        """Make the array without values at `unfinished`, which does not exist."""

    def _finish(self, regions: Sequence[Region]) -> None:  # noqa: B027 (few stores have a commit)
        """Complete the array at `unfinished`, e.g. by a commit of the store; nothing by default."""


class ArrayParts(PartitionedArray):
    """A folder with a file for each region, e.g. part-00017.nc, and a manifest.

    Each file is an array of its own, with the coordinates of its region. The manifest lists the files in
    their order, with their regions, bytes and digests.
    """

    _whole: Description

    def _create(self, source: ArraySource) -> None:
        self._whole = Description.of(source)
        self.unfinished.mkdir()

    def write(self, region: Region, values: np.ndarray) -> Region:
        """Write a file under a temporary name; a second attempt replaces it."""
        name = f"part-{region.number:05}{self.store.suffix}"
        file = self.unfinished / name
        self.store.save(self._part(region, values), file)
        return replace(region, name=name, size_bytes=self.store.size_bytes(file))

    def _part(self, region: Region, values: np.ndarray) -> ArraySource:
        whole = self._whole
        coordinates = dict(whole.coordinates)
        first = whole.dims[0] if whole.dims else ""
        if first in coordinates:
            coordinates[first] = coordinates[first][region.start : region.stop]
        return ArraySource.of(
            values,
            (min(whole.chunks[0], max(1, len(values))), *whole.chunks[1:]),
            name=whole.name,
            dims=whole.dims,
            attributes=whole.attributes,
            coordinates=coordinates,
            coordinate_attributes=whole.coordinate_attributes,
        )

    def _finish(self, regions: Sequence[Region]) -> None:
        with files.write_atomically(self.unfinished / MANIFEST, durable=True) as temporary:
            temporary.write_text(manifest_of(self.store.label, regions), encoding="utf-8")

    def regions(self, count: int) -> list[Region]:  # noqa: ARG002 (each file is a region)
        """Return the regions in the manifest, whose sizes are compared with the files'."""
        self._check_committed()
        text = partial((self.path / MANIFEST).read_text, encoding="utf-8")
        return [Region(**part) for part in parts_in(self.path, self.store.label, text, self._sizes_of)]

    def _sizes_of(self, names: Sequence[str]) -> list[int]:
        paths = [self.path / name for name in names]
        return [self.store.size_bytes(path) if path.exists() else 0 for path in paths]

    def read(self, region: Region) -> np.ndarray:
        """Read a file by `ArrayStore.read`."""
        return self.store.read(self.path / region.name)
