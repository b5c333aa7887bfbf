"""Classes of msgspec for record types."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from adapter_core.record_type import Field, FieldKind, RecordType


@cache
def struct_of(of: RecordType, *, array_like: bool = False) -> Any:
    """Return the class of a record type, a subclass of `msgspec.Struct`.

    Parameters
    ----------
    of : RecordType
        The type; fields with a default follow the others in no particular order in JSON, and are last
        in arrays.
    array_like : bool
        Whether records are encoded as arrays in order of the fields instead of mappings.
    """
    import msgspec

    fields: list[Any] = []
    for each in of.fields:
        hint = _hint(each, array_like=array_like)
        if each.default is not None or (each.optional and not array_like):
            fields.append((each.name, hint, each.default))
        else:
            fields.append((each.name, hint))
    return msgspec.defstruct(of.name, fields, array_like=array_like, kw_only=not array_like)


def _hint(of: Field, *, array_like: bool) -> Any:
    import msgspec

    hint: Any
    if of.record is not None:
        hint = struct_of(of.record, array_like=array_like)
    elif of.enum is not None:
        hint = of.enum
    elif of.kind is FieldKind.INT32:
        hint = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
    else:
        hint = str
    if of.repeated:
        hint = list[hint]
    return hint | None if of.optional else hint
