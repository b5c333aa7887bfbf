"""Samples as records of bytes, for containers of such records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from adapter_core.sample_set import Sample
from adapter_core.training.fields import PlainFields


@dataclass(frozen=True)
class Packing:
    """Stored samples as MessagePack; called with a record, it returns the decoded sample."""

    fields: PlainFields
    decode: Callable[[Sample], Sample]

    @staticmethod
    def pack(sample: Sample, fields: PlainFields) -> bytes:
        """Return the record of a stored sample."""
        import msgspec

        return msgspec.msgpack.encode(fields.plain(sample))

    def __call__(self, record: bytes) -> Sample:
        """Return the decoded sample of a record."""
        import msgspec

        return self.decode(self.fields.restored(msgspec.msgpack.decode(record)))
