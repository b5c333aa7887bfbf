"""Base class of record stores: checks, saving, reading, single records, iteration."""

from __future__ import annotations

from abc import abstractmethod
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.codec_choice import CodecChoice
from adapter_core.codecs import Codec
from adapter_core.entities import ENTITY
from adapter_core.errors import CannotHoldError, UnsupportedError
from adapter_core.record_type import FieldKind, RecordType, Shape, SpecialFloat

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapter_core.record_set import RecordSet

FIRST_KINDS = {FieldKind.INT32, FieldKind.TEXT, FieldKind.ENUM, FieldKind.RECORD, FieldKind.LIST}
"""Kinds of fields in the named data sets, which a store keeps unless it refuses them."""

CODECS = (Codec("gzip", range(1, 10), 6), Codec("zstd", range(1, 23), 3, requires="zstandard"))
"""Codecs of the family: the format's own where it has them, else around the whole file."""


class ObjectKind(StrEnum):
    """Kind of the objects that a store reads; memory and time depend on it."""

    DATACLASS = "dataclass"
    STRUCT = "Struct"
    DICT = "dict"
    TUPLE = "tuple"
    LIST = "list"
    MESSAGE = "message"


_PLAIN: dict[ObjectKind, str] = {
    ObjectKind.DICT: "plain_of_mapping",
    ObjectKind.TUPLE: "plain_of_sequence",
    ObjectKind.LIST: "plain_of_sequence",
}


class RecordStore(CodecChoice):
    """A way to store objects of a program in a file.

    The objects to save are dataclasses of a `RecordType`; those read are of the library's own kind. A
    subclass implements `_save` and `_read`, and declares its limits.
    """

    kind: ClassVar[ObjectKind] = ObjectKind.DATACLASS
    """Kind of the objects read."""
    lazy: ClassVar[str] = ""
    """Work that is left until a field is used, as a clause; empty if there is none."""
    shares_texts: ClassVar[bool] = False
    """True if equal texts are one object after a read, although they were copies."""
    refuses_nested: ClassVar[str] = ""
    """Reason why optional, repeated and nested fields are not supported; empty if they are."""
    refuses: ClassVar[Mapping[FieldKind | Shape, str]] = dict.fromkeys(
        (*sorted({*FieldKind} - FIRST_KINDS), *Shape), "the store has no code for it"
    )
    """Kinds and shapes of fields that are not supported, each with the reason."""
    changes_floats: ClassVar[Mapping[SpecialFloat, str]] = {}
    """Floats that the format does not keep, each with what becomes of it; they are refused."""
    iterates: ClassVar[str] = ""
    """Reason why records cannot be read one after another; empty if they can."""
    seeks: ClassVar[str] = "its records have no index"
    """Reason why a record cannot be read by position without those before it; empty if it can."""
    detects_truncation: ClassVar[bool] = False
    """True if reading a truncated file always raises; otherwise a part may look like a whole file."""
    codecs: ClassVar[tuple[Codec, ...]] = CODECS

    def save(
        self,
        records: RecordSet,
        path: str | os.PathLike[str],
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write records, and replace an earlier file at `path`.

        They are written under a temporary name beside `path`, which is renamed when complete.

        Parameters
        ----------
        records : RecordSet
            The objects; the store may keep none of them.
        path : path-like
            The file.
        codec : str, optional
            The name of one of `codecs`; by default the file is not compressed.
        level : int, optional
            Compression level; by default the codec's own.

        Raises
        ------
        CannotHoldError
            If the format cannot keep records of this type, or a value is not of the type of its field.
            Nothing has been written then.
        UnknownNameError, UnknownLevelError, UnsupportedError
            If the store lacks that codec, the codec lacks that level, or the store has no codecs.
        UnavailableError
            If the codec cannot work here.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        chosen = self._chosen(codec, level)
        path = self._in_folder(path)
        if self.checks_saves:
            self.check(records)
        with self.replacing(path) as temporary:
            self._save(records.objects, records.of, temporary, **chosen)

    def read(self, path: str | os.PathLike[str], of: RecordType = ENTITY) -> list[Any]:
        """Read all records as objects of the library's own kind.

        Parameters
        ----------
        path : path-like
            The file.
        of : RecordType
            Type of the records that the program expects. The file may have been written with an
            earlier one.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        return self._read(self._existing(path), of)

    def iterate(self, path: str | os.PathLike[str], of: RecordType = ENTITY) -> Iterator[Any]:
        """Return an iterator over the records, which keeps no more than a block of them.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        UnsupportedError
            If the library reads all records only.
        """
        if self.iterates:
            raise UnsupportedError(f"{self.label} cannot iterate: {self.iterates}")
        return self._iterate(self._existing(path), of)

    def entry(self, path: str | os.PathLike[str], position: int, of: RecordType = ENTITY) -> Any:
        """Read the record at a position, counted from 0, without reading those before it.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        IndexError
            If there are not as many records.
        UnsupportedError
            If the format has no way to find it.
        """
        if self.seeks:
            raise UnsupportedError(f"{self.label} cannot read a single record: {self.seeks}")
        if position < 0:
            raise IndexError(f"{self.label}: {position} is not a position")
        return self._entry(self._existing(path), position, of)

    def check(self, records: RecordSet) -> None:
        """Raise `CannotHoldError`, with the reason, if the store cannot keep these records.

        Libraries take some values that are not of the declared type, and write others: 1 for 1.5, an
        empty text for null, "?" for half a character.
        """
        if reason := self.refusal(records.of):
            raise CannotHoldError(reason)
        # Those of a named data set are of their type by construction.
        is_typed = bool(records.name)
        may_change = bool(self.changes_floats) and records.of.has_floats
        for row, each in enumerate(records.iterate() if may_change or not is_typed else ()):
            problem = "" if is_typed else records.of.problem(each)
            if not problem and may_change:
                problem = self._changed_float(records.of, each)
            if problem:
                raise CannotHoldError(f"{self.label} cannot store the record {row}: {problem}")

    def _changed_float(self, of: RecordType, each: Any) -> str:
        """Return which float of an object the format would change; empty if none."""
        for name, value in of.floats(each):
            kind = SpecialFloat.of(value)
            if kind is not None and kind in self.changes_floats:
                return f"{name} is {value}, which would be {self.changes_floats[kind]}"
        return ""

    def refusal(self, of: RecordType) -> str:
        """Return why the store cannot keep records of a type, by its declarations; empty if it may."""
        reason = "" if of.is_flat else self.refuses_nested
        reason = reason or of.refused(self.refuses)
        return f"{self.label} cannot store these records: {reason}" if reason else ""

    def plain(self, of: RecordType) -> Callable[[Any], tuple[Any, ...]]:
        """Return the function from an object read to its plain values, see `RecordType.plain`.

        It uses all fields, also those that the library decodes at their first use.
        """
        found: Callable[[Any], tuple[Any, ...]] = getattr(of, _PLAIN.get(self.kind, "plain"))
        return found

    @abstractmethod
    def _save(
        self,
        objects: Sequence[Any],
        of: RecordType,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write the objects to a path that does not exist yet.

        Stores without codecs are called without the last two parameters.
        """

    @abstractmethod
    def _read(self, path: Path, of: RecordType) -> list[Any]:
        """Read all records."""

    def _iterate(self, path: Path, of: RecordType) -> Iterator[Any]:
        """Iterate over the records; required unless `iterates` has a reason."""
        raise NotImplementedError(f"{type(self).__module__}: iterates, so it must override this")

    def _entry(self, path: Path, position: int, of: RecordType) -> Any:
        """Read one record; required unless `seeks` has a reason."""
        raise NotImplementedError(f"{type(self).__module__}: seeks, so it must override this")
