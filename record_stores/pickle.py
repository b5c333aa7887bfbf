"""Pickle, protocol 5."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import Given, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.record_type import MADE_MODULE
from adapter_core.records.stream import StreamStore

if TYPE_CHECKING:
    from collections.abc import Sequence
    from io import BufferedReader

    from adapter_core.record_type import RecordType


class Adapter(StreamStore):
    """The list of objects as one pickle, which keeps shared texts shared.

    Loading runs code that the file names: open files from trusted sources only.
    """

    label = "Pickle"
    suffix = ".pickle"
    refuses: ClassVar = {}
    requires = ("zstandard",)
    traits: ClassVar = frozenset({Trait.SINGLE_FILE})
    iterates = "the list is one pickle"
    detects_truncation = True
    file_facts = FileFacts(version="protocol 5")
    snippet = Snippet(
        imports="import pickle\n{module}",
        write="""
            with {writer} as file:
                pickle.dump(records, file, protocol=5)
        """,
        read="""
            with {reader} as file:
                records = pickle.load(file)
        """,
        given=Given.RECORDS,
        differs="FormatBench's own files contain objects of a class, which a pickle names",
        notes=("reading a pickle runs code in it: read no file from others",),
    )

    def _write(self, objects: Sequence[Any], of: RecordType, file: BinaryIO) -> None:
        with _found_by_name(of):
            pickle.dump(list(objects), file, protocol=5)

    def _read_stream(self, file: BufferedReader, of: RecordType) -> list[Any]:
        return _Unpickler(file, of).load()


@contextmanager
def _found_by_name(of: RecordType) -> Iterator[None]:
    """Let pickle find classes that were made from a type in a module, as it finds a program's own."""
    module = ModuleType(MADE_MODULE)
    made = (each for each in _classes_of(of) if each.__module__ == MADE_MODULE)
    vars(module).update({each.__qualname__: each for each in made})
    sys.modules[MADE_MODULE] = module
    try:
        yield
    finally:
        del sys.modules[MADE_MODULE]


def _classes_of(of: RecordType) -> list[type]:
    """Return the classes of a type's objects and enums, nested ones included."""
    return [*(each.object_class for each in of.types()), *of.enums()]


class _Unpickler(pickle.Unpickler):
    """Unpickler that finds the program's present class under the name of a record type."""

    def __init__(self, file: BinaryIO, of: RecordType) -> None:
        super().__init__(file)
        self._classes = {each.__qualname__: each for each in _classes_of(of)}

    def find_class(self, module: str, name: str) -> Any:
        return self._classes.get(name) or super().find_class(module, name)
