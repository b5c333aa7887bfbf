"""Contract of adapters: base classes, registry, availability, errors.

`adapter_core.arrays`, `adapter_core.images`, `adapter_core.records` and `adapter_core.tables` are the
parts that several adapters of one kind share.
Third-party packages are imported inside functions only: the facts of every adapter can be read on a
machine without the formats' libraries.
"""

from adapter_core.adapter import BaseAdapter
from adapter_core.appendable import Appendable
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource
from adapter_core.array_store import ArrayStore
from adapter_core.availability import Availability
from adapter_core.changeable import Changeable, TableChange
from adapter_core.codecs import Codec
from adapter_core.column_batches import ColumnSums
from adapter_core.data_format import ColumnNames, DataFormat
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
from adapter_core.features import PARTIAL_READS, Feature
from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage
from adapter_core.kinds import Kind
from adapter_core.partial_reads import (
    BatchedReads,
    ColumnReads,
    FilteredReads,
    PartialReads,
    RowReads,
)
from adapter_core.partitioned import PartFiles, PartitionedTable, Partitions, Piece
from adapter_core.predicate import Comparison, Predicate
from adapter_core.record_set import RecordSet
from adapter_core.record_store import RecordStore
from adapter_core.record_type import RecordType
from adapter_core.registry import Registry
from adapter_core.remote import RemoteFile
from adapter_core.remote_adapter import Remote
from adapter_core.remote_arrays import RemoteArray
from adapter_core.remote_tables import RemoteTable
from adapter_core.streams import Streams
from adapter_core.traits import Trait
from adapter_core.tunable import Tunable

__all__ = [
    "PARTIAL_READS",
    "Appendable",
    "ArrayReader",
    "ArraySource",
    "ArrayStore",
    "Availability",
    "BaseAdapter",
    "BatchedReads",
    "CannotHoldError",
    "Changeable",
    "Codec",
    "ColumnNames",
    "ColumnReads",
    "ColumnSums",
    "Comparison",
    "DataFormat",
    "Feature",
    "FilteredReads",
    "FormatBenchError",
    "ImageReader",
    "ImageStorage",
    "InvalidSelectionError",
    "Kind",
    "PartFiles",
    "PartialReads",
    "PartitionedTable",
    "Partitions",
    "Piece",
    "Predicate",
    "RecordSet",
    "RecordStore",
    "RecordType",
    "Registry",
    "Remote",
    "RemoteArray",
    "RemoteFile",
    "RemoteReadError",
    "RemoteTable",
    "RowReads",
    "Streams",
    "TableChange",
    "Trait",
    "Tunable",
    "UnavailableError",
    "UnknownLevelError",
    "UnknownNameError",
    "UnsupportedError",
]

__getattr__ = deprecated_names(__name__, OLD_NAMES)
