"""Records of the data sets: a flat entity, and a person with optional, repeated and nested fields."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from adapter_core.record_type import Field, FieldKind, RecordType


@dataclass(slots=True)
class Entity:
    """Five numbers of 32 bits and five texts, as published by N. Ommer (QAware, 2021)."""

    number1: int
    number2: int
    number3: int
    number4: int
    number5: int
    text1: str
    text2: str
    text3: str
    text4: str
    text5: str


class Status(IntEnum):
    """Status of a person."""

    UNKNOWN = 0
    ACTIVE = 1
    SUSPENDED = 2
    CLOSED = 3


@dataclass(slots=True)
class Address:
    """Address of a person."""

    street: str
    number: int
    city: str
    postcode: str | None


@dataclass(slots=True)
class Person:
    """A person with optional fields, lists, an enum and a nested record."""

    id: int
    name: str
    nickname: str | None
    age: int | None
    status: Status
    tags: list[str]
    scores: list[int]
    address: Address | None


ENTITY = RecordType(
    "Entity",
    (
        *(Field(f"number{place}", FieldKind.INT32, place) for place in range(1, 6)),
        *(Field(f"text{place}", FieldKind.TEXT, place + 5) for place in range(1, 6)),
    ),
    Entity,
)

ADDRESS = RecordType(
    "Address",
    (
        Field("street", FieldKind.TEXT, 1),
        Field("number", FieldKind.INT32, 2),
        Field("city", FieldKind.TEXT, 3),
        Field("postcode", FieldKind.TEXT, 4, optional=True),
    ),
    Address,
)

PERSON = RecordType(
    "Person",
    (
        Field("id", FieldKind.INT32, 1),
        Field("name", FieldKind.TEXT, 2),
        Field("nickname", FieldKind.TEXT, 3, optional=True),
        Field("age", FieldKind.INT32, 4, optional=True),
        Field("status", FieldKind.ENUM, 5, enum=Status),
        Field("tags", FieldKind.LIST, 6, element=Field("tag", FieldKind.TEXT)),
        Field("scores", FieldKind.LIST, 7, element=Field("score", FieldKind.INT32)),
        Field("address", FieldKind.RECORD, 8, optional=True, record=ADDRESS),
    ),
    Person,
)
