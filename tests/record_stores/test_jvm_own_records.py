"""Records of given types in the stores of the JVM: values come back, or their kind is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import record_stores
from adapter_core import RecordSet, RecordType
from adapter_core.record_digest import encoded
from adapter_core.record_schema import avro_of, type_of
from adapter_core.records.jvm import JvmRequest, JvmStore
from tests.factories.record_types import objects_of, record_types
from tests.helpers import ROOT

STORES = [
    each
    for each in map(record_stores.find, record_stores.names())
    if isinstance(each, JvmStore) and not each.refuses_own
]
LABELS = [each.label for each in STORES]

PLACE = {"type": "record", "name": "Place", "fields": [{"name": "at", "type": "double"}]}
TIME = {"type": "long", "logicalType": "timestamp-micros"}
DIGITS = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 3}
KINDS = {
    "truth": "boolean",
    "small": "int",
    "large": "long",
    "single": "float",
    "fraction": "double",
    "text": "string",
    "raw": "bytes",
    "time": TIME,
    "money": DIGITS,
    "symbol": {"type": "enum", "name": "Symbol", "symbols": ["text", "RED", "GREEN"]},
    "perhaps": ["null", "long"],
    "no_text": ["null", "string"],
    "no_raw": ["null", "bytes"],
    "no_time": ["null", TIME],
    "place": PLACE,
    "no_place": ["null", "Place"],
    "places": {"type": "array", "items": "Place"},
    "symbols": {"type": "array", "items": "Symbol"},
    "counts": {"type": "map", "values": "long"},
    "symbol_of": {"type": "map", "values": "Symbol"},
    "place_of": {"type": "map", "values": "Place"},
    "grid": {"type": "array", "items": {"type": "array", "items": "double"}},
    "gaps": {"type": "array", "items": ["null", "string"]},
    "no_list": ["null", {"type": "array", "items": "long"}],
    "either": ["boolean", "long", "double", "string"],
    "neither": ["null", "long", "string"],
    "narrow": ["null", "int", "float"],
}
EVERY = type_of(
    {
        "type": "record",
        "name": "Every",
        "fields": [{"name": name, "type": kind} for name, kind in KINDS.items()],
    }
)


def objects(of: RecordType) -> list:
    """Return objects of a part of the type: extreme values, nulls, branches of unions."""
    inner = {each.name: each.inner for each in EVERY.fields}
    place, symbol = inner["place"].record.object_class, inner["symbol"].enum
    first = {
        "truth": True, "small": -(2**31), "large": 2**63 - 1, "single": 0.10000000149011612,
        "fraction": 1e-300, "text": "a\0\U0001f600", "raw": b"\0\xff",
        "time": datetime(2024, 5, 1, 12, 0, 0, 123456, UTC), "money": Decimal("-12345678901234567.890"),
        "symbol": symbol.GREEN, "perhaps": 0, "no_text": "", "no_raw": b"",
        "no_time": datetime(1, 1, 2, tzinfo=UTC), "place": place(49.5), "no_place": place(-1.0),
        "places": [place(1.0), place(2.0)], "symbols": [symbol.text, symbol.RED],
        "counts": {"\uffff": 1, "\U0001f600": -(2**63), "": 0}, "symbol_of": {"x": symbol.RED},
        "place_of": {"y": place(3.0)}, "grid": [[], [1.0, 2.5]], "gaps": ["", None, "c"], "no_list": [],
        "either": True, "neither": "text", "narrow": -(2**31),
    }  # fmt: skip
    second = {
        **first, "truth": False, "small": 1, "large": -(2**63), "fraction": 2.0, "text": "",
        "time": datetime(9999, 12, 30, 23, 59, 59, 999999, UTC), "money": Decimal("0.000"),
        "symbol": symbol.text, "perhaps": None, "no_text": None, "no_raw": None, "no_time": None,
        "no_place": None, "places": [], "symbols": [], "counts": {}, "symbol_of": {}, "place_of": {},
        "grid": [], "gaps": [], "no_list": None, "either": 2, "neither": None, "narrow": 0.5,
    }  # fmt: skip
    others = [
        {**second, "either": 2.0, "neither": 7, "narrow": None},
        {**second, "either": "2", "raw": b""},
    ]
    return [
        of.object_class(**{name: each[name] for name in of.names}) for each in (first, second, *others)
    ]


def part_of(of: RecordType, store: JvmStore) -> RecordType | None:
    """Return the type without the fields that a store refuses; None if no field is left."""
    kept = [each for each in of.fields if not store.refusal(RecordType("One", (each,)))]
    return RecordType(of.name, tuple(replace(each) for each in kept)) if kept else None


@pytest.fixture(scope="module")
def round_trips(tmp_path_factory):
    """Return a function that saves and checks sets of records, each by a store, in one JVM."""
    if not (answer := record_stores.jvm.availability()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    folder = tmp_path_factory.mktemp("own records")

    def answers(
        cases: list[tuple[JvmStore, RecordSet]],
        codec: str | None = None,
        operations: tuple[str, ...] = ("generate", "write", "check", "use"),
    ) -> list[list]:
        requests = []
        for number, (store, records) in enumerate(cases):
            given = folder / f"{number}.fields"
            given.write_bytes(b"".join(encoded(map(records.of.plain, records.objects), records.of)))
            requests += [
                JvmRequest(
                    *(operation, "", records.count, folder / f"{number}{store.suffix}", codec),
                    format_name=store.format_name,
                    schema=json.dumps(avro_of(records.of)),
                    records=given,
                )
                for operation in operations
            ]
        found = STORES[0].run_all(requests, 300, heap_gib=1)
        assert len(found) == len(requests), found[-1]
        step = len(operations)
        return [[*chain(*found[first : first + step])] for first in range(0, len(found), step)]

    return answers


def checked(found: list) -> list[str]:
    assert not [each for each in found if each["event"] in {"error", "unsupported"}], found
    return [each["digest"] for each in found if each["event"] == "check"]


@pytest.fixture(scope="module")
def every_kind(round_trips):
    """Return the records and the answers by the labels of the stores, without a codec."""
    cases = []
    for store in STORES:
        of = part_of(EVERY, store)
        cases.append((store, RecordSet.of_objects(of, objects(of))))
    return dict(zip(LABELS, zip(cases, round_trips(cases), strict=True), strict=True))


@pytest.mark.parametrize("label", LABELS)
def test_each_kind_comes_back_or_is_refused(every_kind, label):
    (_, records), found = every_kind[label]
    # What the JVM takes from the file, and what it reads back.
    assert checked(found) == [records.digest] * 2


def test_kinds_that_a_format_lacks_are_refused_with_the_field():
    fields = {"Protobuf[jvm]": {"grid", "gaps", "no_list", "either", "neither", "narrow"}}
    nested = {"place", "no_place", "places", "symbols", "counts", "symbol_of", "place_of"}
    fields["SQLite[jvm]"] = {*nested, *fields["Protobuf[jvm]"]}
    refused = {
        store.label: {each.name for each in EVERY.fields if store.refusal(RecordType("One", (each,)))}
        for store in STORES
    }
    assert {label: names for label, names in refused.items() if names} == fields
    sentence = record_stores.find("Protobuf[jvm]").refusal(EVERY)
    assert sentence == (
        "Protobuf[jvm] cannot store these records: the field grid is of the kind list of lists; a "
        "repeated field has values alone, and is never null"
    )


def test_values_of_another_class_are_lost_types(every_kind):
    lost = {
        label: next(each["fields"] for each in found if each["event"] == "losses")
        for label, (_, found) in every_kind.items()
    }
    texts = ["time: Instant comes back as String", "money: BigDecimal comes back as String"]
    texts.append("no_time: Instant comes back as String")
    raw = [
        "raw: byte[] comes back as String",
        *texts[:2],
        "no_raw: byte[] comes back as String",
        texts[2],
    ]
    numbers = [each.replace("String", "Long") if "time" in each else each for each in texts]
    expected = {"JSON.jackson[jvm]": raw, "CBOR[jvm]": texts, "Smile[jvm]": texts}
    expected["Protobuf[jvm]"] = numbers
    assert {label: fields for label, fields in lost.items() if fields} == expected


def test_codecs_are_those_of_the_store(round_trips):
    of = part_of(EVERY, record_stores.find("SQLite[jvm]"))
    records = RecordSet.of_objects(of, objects(of) * 50)
    for each in round_trips([(store, records) for store in STORES], "zstd"):
        assert checked(each) == [records.digest] * 2


@pytest.mark.parametrize(
    ("value", "kept"),
    [(-0.0, "-0.0, which SQLite keeps as 0.0"), (math.nan, "NaN, which SQLite keeps as null")],
)
def test_sqlite_refuses_floats_that_it_would_change(round_trips, value, kept):
    of = RecordType("One", tuple(each for each in EVERY.fields if each.name == "fraction"))
    records = RecordSet.of_objects(of, [of.object_class(value)])
    (found,) = round_trips([(record_stores.find("SQLite[jvm]"), records)])
    (refused,) = (each for each in found if each["event"] == "unsupported")
    assert refused["sentence"] == f"fraction is {kept}"
    # Jackson's JSON has a text for NaN, and maps of records no type that would read it as a float.
    unable = {"SQLite[jvm]", *(["JSON.jackson[jvm]"] if math.isnan(value) else [])}
    others = [each for each in STORES if each.label not in unable]
    for each in round_trips([(store, records) for store in others]):
        assert checked(each) == [records.digest] * 2


def test_a_field_may_be_called_rowid(round_trips):
    fields = [{"name": "rowid", "type": "long"}]
    of = type_of({"type": "record", "name": "Row", "fields": fields})
    first, second = of.object_class(2), of.object_class(1)
    case = record_stores.find("SQLite[jvm]"), RecordSet.of_objects(of, [first, second])
    (found,) = round_trips([case], operations=("write", "entry"))
    assert checked(found) == [RecordSet.of_objects(of, [first]).digest]


def test_each_class_for_own_records_has_a_store_that_takes_them():
    classes = {
        path.stem
        for path in (ROOT / "record_stores/jvm/src/main/java/formatbench/formats").glob("Own*.java")
    }
    assert classes == {
        "Own" + "".join(word.capitalize() for word in store.format_name.split("-")) for store in STORES
    }
    others = [record_stores.find("Kryo[jvm-seed]"), record_stores.find("Fory[jvm]")]
    assert {each.refusal(EVERY).partition(": ")[2] for each in others} == {
        "its records here are of classes, which data do not bring"
    }


@pytest.mark.nightly
@given(st.lists(record_types().flatmap(lambda of: st.tuples(st.just(of), objects_of(of))), min_size=8))
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[*HealthCheck],
)
def test_drawn_types_come_back(round_trips, drawn):
    cases = []
    for of, made in drawn:
        # As a file of a user's records is read: the names of the schema alone.
        records = RecordSet.of_objects(of, made)
        is_zero = any("-0.0" in repr(each) for each in made)
        cases += [
            (store, records)
            for store in STORES
            if not store.refusal(of) and not (is_zero and store.label == "SQLite[jvm]")
        ]
    for (_, records), found in zip(cases, round_trips(cases), strict=True):
        assert checked(found) == [records.digest] * 2
