"""Contract of adapters: base classes, registry, availability, errors.

`adapter_core.arrays`, `adapter_core.images`, `adapter_core.records` and `adapter_core.tables` are the
parts that several adapters of one kind share.
Third-party packages are imported inside functions only: the facts of every adapter can be read on a
machine without the formats' libraries.
"""

from adapter_core.adapter import BaseAdapter
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource
from adapter_core.array_store import ArrayStore
from adapter_core.availability import Availability
from adapter_core.codecs import Codec
from adapter_core.column_batches import ColumnSums
from adapter_core.data_format import PARTIAL_READS, DataFormat, Feature
from adapter_core.errors import (
    OLD_NAMES,
    CannotHoldError,
    FormatBenchError,
    InvalidSelectionError,
    RemoteReadError,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
    deprecated_names,
)
from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage
from adapter_core.kinds import Kind
from adapter_core.partitioned import PartFiles, PartitionedTable, Piece
from adapter_core.predicate import Comparison, Predicate
from adapter_core.record_set import RecordSet
from adapter_core.record_store import RecordStore
from adapter_core.record_type import RecordType
from adapter_core.registry import Registry
from adapter_core.remote import RemoteFile
from adapter_core.traits import Trait

__all__ = [
    "PARTIAL_READS",
    "ArrayReader",
    "ArraySource",
    "ArrayStore",
    "Availability",
    "BaseAdapter",
    "CannotHoldError",
    "Codec",
    "ColumnSums",
    "Comparison",
    "DataFormat",
    "Feature",
    "FormatBenchError",
    "ImageReader",
    "ImageStorage",
    "InvalidSelectionError",
    "Kind",
    "PartFiles",
    "PartitionedTable",
    "Piece",
    "Predicate",
    "RecordSet",
    "RecordStore",
    "RecordType",
    "Registry",
    "RemoteFile",
    "RemoteReadError",
    "Trait",
    "UnavailableError",
    "UnknownLevelError",
    "UnknownNameError",
    "UnsupportedError",
]

__getattr__ = deprecated_names(__name__, OLD_NAMES)
