"""Classes of msgspec for record types."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from types import GenericAlias
from typing import Annotated, Any

from adapter_core.record_type import Field, FieldKind, RecordType

_HINTS: dict[FieldKind, Any] = {
    FieldKind.BOOL: bool,
    FieldKind.INT64: int,
    FieldKind.FLOAT: float,
    FieldKind.DOUBLE: float,
    FieldKind.TEXT: str,
    FieldKind.BYTES: bytes,
    FieldKind.TIMESTAMP: datetime,
    FieldKind.DECIMAL: Decimal,
}
# Arrays have plain values.
_PLAIN_HINTS: dict[FieldKind, Any] = {FieldKind.TIMESTAMP: int, FieldKind.DECIMAL: str}


@cache
def struct_of(of: RecordType, *, array_like: bool = False) -> Any:
    """Return the class of a record type, a subclass of `msgspec.Struct`.

    Parameters
    ----------
    of : RecordType
        The type; fields with a default follow the others in no particular order in JSON, and are last
        in arrays.
    array_like : bool
        Whether records are encoded as arrays of plain values in order of the fields instead of mappings.
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
    elif of.element is not None:
        element = _hint(of.element, array_like=array_like)
        # As values: to type checkers, variables are no types.
        is_map = of.kind is FieldKind.MAP
        hint = GenericAlias(dict, (str, element)) if is_map else GenericAlias(list, (element,))
    elif of.branches:
        hint = reduce(or_, (_hint(each, array_like=array_like) for each in of.branches))
    elif of.kind is FieldKind.INT32:
        hint = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
    else:
        hint = (_PLAIN_HINTS if array_like else {}).get(of.kind) or _HINTS[of.kind]
    return hint | None if of.optional else hint
