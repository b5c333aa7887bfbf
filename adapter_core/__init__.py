"""What every adapter has in common: base classes, registry, availability, errors.

Nothing here imports a third-party package at import time, so that the facts of every adapter can be
read on a machine where none of the formats' libraries is installed.
"""

from adapter_core.adapter import BaseAdapter
from adapter_core.availability import Availability
from adapter_core.codecs import Codec
from adapter_core.data_format import DataFormat, Feature
from adapter_core.errors import (
    OLD_NAMES,
    CannotHoldError,
    FormatBenchError,
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
    deprecated_names,
)
from adapter_core.kinds import Kind
from adapter_core.registry import Registry

__all__ = [
    "Availability",
    "BaseAdapter",
    "CannotHoldError",
    "Codec",
    "DataFormat",
    "Feature",
    "FormatBenchError",
    "Kind",
    "Registry",
    "UnavailableError",
    "UnknownLevelError",
    "UnknownNameError",
    "UnsupportedError",
]

__getattr__ = deprecated_names(__name__, OLD_NAMES)
