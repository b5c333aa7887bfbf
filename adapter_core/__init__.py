"""Contract of adapters: base classes, registry, availability, errors.

`adapter_core.arrays`, `adapter_core.images`, `adapter_core.records` and `adapter_core.tables` are the
parts that several adapters of one kind share.
Third-party packages are imported inside functions only: the facts of every adapter can be read on a
machine without the formats' libraries.
"""

from adapter_core.adapter import BaseAdapter
from adapter_core.appendable import Appendable
from adapter_core.array_description import Description
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource, Attribute, Selection
from adapter_core.array_store import ArrayStore, Property
from adapter_core.availability import Availability
from adapter_core.changeable import Changeable, TableChange
from adapter_core.codecs import Codec, ErrorScale
from adapter_core.column_batches import Batch, ColumnSums
from adapter_core.data_format import ColumnNames, DataFormat
from adapter_core.errors import (
    OLD_NAMES,
    CannotHoldError,
    FormatBenchError,
    IncompleteError,
    InvalidSelectionError,
    RemoteReadError,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
    deprecated_names,
)
from adapter_core.features import PARTIAL_READS, Feature
from adapter_core.file_facts import FileFacts
from adapter_core.image_input import CheckedImages
from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage
from adapter_core.kinds import Kind, kinds_of
from adapter_core.partial_reads import (
    BatchedReads,
    ColumnReads,
    FilteredReads,
    PartialReads,
    RowReads,
)
from adapter_core.partitioned import PartFiles, PartitionedTable, Partitions, Piece
from adapter_core.partitioned_arrays import PartitionedArray, Region
from adapter_core.predicate import Comparison, Predicate
from adapter_core.record_set import RecordSet
from adapter_core.record_store import ObjectKind, RecordStore
from adapter_core.record_type import Field, FieldKind, RecordType, Shape, SpecialFloat
from adapter_core.registry import Registry
from adapter_core.remote import OBJECT_STORES, RemoteFile
from adapter_core.remote_adapter import AS_A_WHOLE, AS_BYTES, IN_PLACE, NO_EXTENSION, Remote
from adapter_core.remote_arrays import RemoteArray
from adapter_core.remote_tables import RemoteTable
from adapter_core.snippets import Given, Snippet
from adapter_core.streams import Streams
from adapter_core.traits import Trait
from adapter_core.tunable import TableLayout, Tunable

__all__ = [
    "AS_A_WHOLE",
    "AS_BYTES",
    "IN_PLACE",
    "NO_EXTENSION",
    "OBJECT_STORES",
    "PARTIAL_READS",
    "Appendable",
    "ArrayReader",
    "ArraySource",
    "ArrayStore",
    "Attribute",
    "Availability",
    "BaseAdapter",
    "Batch",
    "BatchedReads",
    "CannotHoldError",
    "Changeable",
    "CheckedImages",
    "Codec",
    "ColumnNames",
    "ColumnReads",
    "ColumnSums",
    "Comparison",
    "DataFormat",
    "Description",
    "ErrorScale",
    "Feature",
    "Field",
    "FieldKind",
    "FileFacts",
    "FilteredReads",
    "FormatBenchError",
    "Given",
    "ImageReader",
    "ImageStorage",
    "IncompleteError",
    "InvalidSelectionError",
    "Kind",
    "ObjectKind",
    "PartFiles",
    "PartialReads",
    "PartitionedArray",
    "PartitionedTable",
    "Partitions",
    "Piece",
    "Predicate",
    "Property",
    "RecordSet",
    "RecordStore",
    "RecordType",
    "Region",
    "Registry",
    "Remote",
    "RemoteArray",
    "RemoteFile",
    "RemoteReadError",
    "RemoteTable",
    "RowReads",
    "Selection",
    "Shape",
    "Snippet",
    "SpecialFloat",
    "Streams",
    "TableChange",
    "TableLayout",
    "Trait",
    "Tunable",
    "UnavailableError",
    "UnknownLevelError",
    "UnknownNameError",
    "UnsupportedError",
    "kinds_of",
]

__getattr__ = deprecated_names(__name__, OLD_NAMES)
