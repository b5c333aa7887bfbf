"""Formats of the JVM: all records come back, or the reason is known; damaged files are errors."""

from __future__ import annotations

from collections import defaultdict

import pytest

import data_generator
import record_stores
from adapter_core.codecs import algorithm_of
from adapter_core.records.jvm import JvmRequest, JvmStore
from adapter_core.records.maven import find_java
from format_bench.conformance.cards import differences
from format_bench.conformance.footers import told_by
from tests.helpers import ROOT, chosen

EVERY_STORE = [
    store for name in record_stores.names() if isinstance(store := record_stores.find(name), JvmStore)
]
JAVA = find_java()
USABLE = [
    each
    for each in EVERY_STORE
    if JAVA is None or each.newest_java is None or JAVA.major <= each.newest_java
]
MEASURED_TWICE = ("Avro.generic[jvm]", "Kryo[jvm]", "Parquet.group[jvm]", "Protobuf[jvm]")
PUBLISHED = {"Protobuf[jvm-seed]": 100_619, "Kryo[jvm-seed]": 73_050}
"""Bytes of 1,000 records; 10,000,000 are the 1,001,405,020 and 726,469,785 bytes of published tables."""
INTERNED = ("Avro.specific[jvm]", "Avro.specific[jvm-intern]")
"""A store whose equal texts are objects of their own, and the same one with interned texts."""
TESTED = {*chosen(record_stores, __name__), *MEASURED_TWICE, *PUBLISHED, *INTERNED}
STORES = [each for each in USABLE if each.label in TESTED]
CASES = [(each, codec) for each in STORES for codec in (None, *(codec.name for codec in each.codecs))]
IDS = [f"{store.label}-{codec or 'none'}" for store, codec in CASES]

EDGES = {"entities-edge": 20, "entities-nested-edge": 20}
COUNTS = {
    "entities": 1000,
    "entities-seed": 1000,
    "entities-nested": 1000,
    "entities-many-texts": 1000,
    "entities-distinct-texts": 1000,
    **EDGES,
}
DIGESTS = {name: data_generator.records(name, count).records.digest for name, count in COUNTS.items()}
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of nothing, FIPS 180-4."""


def serve(requests: dict, limit_seconds=500):
    """Return the answers of one JVM to requests, by their keys."""
    store = STORES[0]
    answers = store.run_all(list(requests.values()), limit_seconds)
    assert len(answers) == len(requests), answers[-1]
    return dict(zip(requests, answers, strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not (answer := record_stores.jvm.availability()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    return tmp_path_factory.mktemp("jvm stores")


@pytest.fixture(scope="module")
def round_trips(folder):
    """Return the answers for each format, codec and data set, written and read by one JVM."""
    requests = {}
    for store, codec in CASES:
        stem = f"{store.format_name}-{codec}"
        counts = {**COUNTS, "zero": 0} if codec is None else {"entities": 1000}
        for dataset, rows in counts.items():
            name = "entities" if dataset == "zero" else dataset
            path = folder / f"{stem}-{dataset}{store.suffix}"
            measured = dataset == "entities" and codec is None
            for operation in ("write", "read" if measured else "check"):
                requests[store.label, codec, dataset, operation] = JvmRequest(
                    operation, name, rows, path, codec, 2 if operation == "read" else 1,
                    format_name=store.format_name,
                )  # fmt: skip
    return serve(requests)


@pytest.fixture(scope="module")
def truncated(request, folder):
    """Return the answers to reading files whose last byte, or half, is missing."""
    request.getfixturevalue("round_trips")
    requests = {}
    for store in STORES:
        path = folder / f"{store.format_name}-None-entities{store.suffix}"
        if path.is_dir():
            continue
        content = path.read_bytes()
        for name, size in (("byte", len(content) - 1), ("half", len(content) // 2)):
            damaged = folder / f"{store.format_name}-{name}{store.suffix}"
            damaged.write_bytes(content[:size])
            requests[store.label, name] = JvmRequest(
                "check", "entities", path=damaged, format_name=store.format_name
            )
    return serve(requests)


def events(answers):
    found = defaultdict(list)
    for each in answers:
        found[each["event"]].append(each)
    return found


def test_a_store_is_unavailable_on_a_java_that_is_too_new():
    for store in EVERY_STORE:
        if store not in USABLE:
            reason = f"it needs Java {store.newest_java} or older, {JAVA.java} is {JAVA.version}"
            assert store.availability().reason in {reason, record_stores.jvm.availability().reason}


def test_each_class_of_java_has_a_store_and_each_store_a_class():
    folder = ROOT / "record_stores/jvm/src/main/java/formatbench/formats"
    classes = {"".join(map(str.title, store.format_name.split("-"))) + "Format" for store in EVERY_STORE}
    concrete = {path.stem for path in folder.glob("*Format.java")}
    assert classes == {
        each for each in concrete if "abstract class" not in (folder / f"{each}.java").read_text()
    }


def test_a_misspelled_fact_of_an_entry_is_an_error():
    facts = {"name": "toy", "label": "Toy[jvm]", "suffix": ".toy", "traits": [], "lasy": "never"}
    with pytest.raises(TypeError, match="the record format 'toy' of the JVM has no fact 'lasy'"):
        JvmStore(facts)


@pytest.mark.parametrize(("store", "codec"), CASES, ids=IDS)
def test_entities_come_back(round_trips, store, codec):
    assert not events(round_trips[store.label, codec, "entities", "write"])["error"]
    found = events(round_trips[store.label, codec, "entities", "check" if codec else "read"])
    assert [each["rows"] for each in found["check"]] == [1000], found["error"]
    assert (found["check"][0]["digest"] == DIGESTS["entities"]) is not bool(store.loses_values)


@pytest.mark.parametrize(("store", "codec"), CASES, ids=IDS)
def test_a_file_tells_what_the_card_says(round_trips, folder, store, codec):
    assert round_trips
    path = folder / f"{store.format_name}-{codec}-entities{store.suffix}"
    if codec is None:
        assert differences(store, "", path, COUNTS["entities"]) == ""
    else:
        assert algorithm_of(str(told_by(path)["codec"])) == codec


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_calls_and_heap_are_measured(round_trips, store):
    (call,) = events(round_trips[store.label, None, "entities", "write"])["call"]
    assert min(call[f"{name}_seconds"] for name in ("wall", "cpu", "gc", "sync")) >= 0
    read = events(round_trips[store.label, None, "entities", "read"])
    assert [each["number"] for each in read["call"]] == [1, 2]
    (heap,) = read["heap"]
    # 1,000 objects of 5 numbers and 5 references at least.
    assert heap["held_bytes"] > 40_000
    assert heap["class"]


@pytest.mark.parametrize(
    "dataset", ["entities-seed", "entities-many-texts", "entities-distinct-texts", "entities-edge"]
)
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_values_come_back_unless_the_store_loses_them(round_trips, store, dataset):
    assert not events(round_trips[store.label, None, dataset, "write"])["error"]
    found = events(round_trips[store.label, None, dataset, "check"])
    if not store.loses_values:
        assert [each["digest"] for each in found["check"]] == [DIGESTS[dataset]]
    elif dataset == "entities-edge":  # others may have no value that is lost
        assert found["error"] or found["check"][0]["digest"] != DIGESTS[dataset]


@pytest.mark.parametrize("dataset", ["entities-nested", "entities-nested-edge"])
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_nested_records_come_back_or_are_refused_with_a_reason(round_trips, store, dataset):
    written = events(round_trips[store.label, None, dataset, "write"])
    found = events(round_trips[store.label, None, dataset, "check"])
    assert not written["error"]
    if store.refuses_nested:
        assert [each["sentence"] for each in written["unsupported"]] == [store.refuses_nested]
        assert found["unsupported"] == written["unsupported"]
    else:
        assert [each["digest"] for each in found["check"]] == [DIGESTS[dataset]], found["error"]


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_no_record_comes_back_as_none(round_trips, store):
    assert not events(round_trips[store.label, None, "zero", "write"])["error"]
    found = events(round_trips[store.label, None, "zero", "check"])
    assert found["check"] == [{"event": "check", "digest": EMPTY, "rows": 0}]


@pytest.mark.parametrize("cut", ["byte", "half"])
@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_a_truncated_file_is_an_error_or_found_by_its_digest(round_trips, truncated, store, cut):
    if (store.label, cut) not in truncated:
        pytest.skip("it writes a folder")
    found = events(truncated[store.label, cut])
    if found["error"]:
        return
    (check,) = found["check"]
    complete = events(round_trips[store.label, None, "entities", "read"])["check"]
    # The last byte of some files has no data.
    if cut == "half" or [check] != complete:
        assert not store.detects_truncation
        assert check["digest"] != DIGESTS["entities"]


@pytest.fixture(scope="module")
def parts(request, folder):
    """Return the answers to reading one record, and to iterating, by one JVM."""
    request.getfixturevalue("round_trips")
    requests = {}
    for store in STORES:
        path = folder / f"{store.format_name}-None-entities{store.suffix}"
        for operation, position in (("entry", 567), ("entry", 1000), ("iterate", 0), ("use", 0)):
            requests[store.label, operation, position] = JvmRequest(
                operation, "entities", path=path, position=position, format_name=store.format_name
            )
        if store.label in MEASURED_TWICE:
            requests[store.label, "layout", 0] = JvmRequest(
                "layout", "entities", path=path, format_name=store.format_name
            )
        if store.label in INTERNED:
            edges = folder / f"{store.format_name}-None-entities-edge{store.suffix}"
            requests[store.label, "layout of edges", 0] = JvmRequest(
                "layout", "entities-edge", path=edges, format_name=store.format_name
            )
    return serve(requests)


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_a_record_is_read_by_its_position_or_the_reason_is_known(parts, store):
    found = events(parts[store.label, "entry", 567])
    beyond = events(parts[store.label, "entry", 1000])
    if store.seeks:
        assert (
            found["unsupported"]
            == beyond["unsupported"]
            == [{"event": "unsupported", "sentence": store.seeks}]
        )
        return
    wanted = data_generator.records("entities", 1000).records.take([567]).digest
    if not store.loses_values:
        assert found["check"] == [{"event": "check", "digest": wanted, "rows": 1}]
    (error,) = beyond["error"]
    assert error["sentence"] == "there is no record 1000"


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_iterating_gives_all_records(parts, store):
    (call,) = events(parts[store.label, "iterate", 0])["call"]
    assert call["rows"] == 1000


@pytest.mark.parametrize("store", STORES, ids=lambda store: store.label)
def test_all_fields_are_used(parts, store):
    (call,) = events(parts[store.label, "use", 0])["call"]
    of = data_generator.records("entities", 1000).records
    values = [value for record in of.iterate() for value in of.of.plain(record)]
    if not store.loses_values:
        assert call["sum"] == sum(len(each) if isinstance(each, str) else each for each in values)


@pytest.mark.parametrize("label", MEASURED_TWICE)
def test_the_heap_held_is_the_size_of_the_objects_by_their_layout(round_trips, parts, label):
    (heap,) = events(round_trips[label, None, "entities", "read"])["heap"]
    (layout,) = events(parts[label, "layout", 0])["layout"]
    # The heap includes the list's references; JOL counts caches of the library that objects refer to.
    assert heap["held_bytes"] == pytest.approx(layout["deep_bytes"] + 4 * 1000, rel=0.02)


def test_equal_texts_are_one_object_where_they_are_interned(parts):
    copies, interned = (
        events(parts[label, "layout of edges", 0])["layout"][0]["deep_bytes"] for label in INTERNED
    )
    # Each of 20 texts is in five fields, and two are longer than all others together.
    assert interned == pytest.approx(copies / 5, rel=0.05)


@pytest.mark.usefixtures("round_trips")
def test_published_sizes_are_those_of_the_first_records(folder):
    for label, size in PUBLISHED.items():
        store = record_stores.find(label)
        name = f"{store.format_name}-None-entities-seed{store.suffix}"
        assert (folder / name).stat().st_size == size
