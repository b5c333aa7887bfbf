"""Records are those that docs/records_data.md specifies, in any order of blocks."""

from __future__ import annotations

import hashlib
import re
import struct

import pytest

import data_generator
from adapter_core.entities import ENTITY, PERSON, Address, Entity, Person, Status
from adapter_core.record_digest import digest
from adapter_core.record_set import BLOCK_ROWS, RecordSet
from data_generator.datasets.entities import PublishedRows, pool
from data_generator.java_random import JavaRandom
from data_generator.splitmix import SplitMix
from tests.helpers import ROOT

DOCUMENTED = re.findall(
    r"^\| `(entities[\w-]*)` \| ([\d,]+) \| `([0-9a-f]{64})` \|$",
    (ROOT / "docs" / "records_data.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


def records(name, count) -> RecordSet:
    return data_generator.records(name, count).records


@pytest.mark.parametrize(("name", "count", "expected"), DOCUMENTED)
def test_digests_are_those_documented(name, count, expected):
    assert records(name, int(count.replace(",", ""))).digest == expected


def test_every_data_set_is_documented():
    assert {name for name, _, _ in DOCUMENTED} == set(data_generator.record_names())


@pytest.mark.parametrize("name", data_generator.record_names())
def test_blocks_are_parts_of_the_whole(name):
    few, more = records(name, 40), records(name, 100)
    assert list(more.iterate())[:40] == few.objects
    assert more.take([7, 99]).objects == [more.objects[7], more.objects[99]]
    assert len(few) == 40


def test_no_text_of_distinct_texts_occurs_twice():
    data = records("entities-distinct-texts", 20_000)
    texts = [text for each in data.iterate() for text in data.of.plain(each)[5:]]
    assert len({*texts}) == len(texts) == 100_000
    assert {len(each) for each in texts} == {*range(11, 20)}
    # The numbers are those of the other data sets.
    assert data.of.plain(data.objects[9])[:5] == ENTITY.plain(records("entities", 10).objects[9])[:5]


def test_the_second_block_follows_the_first():
    data = records("entities-seed", BLOCK_ROWS + 2)
    assert list(data.iterate())[BLOCK_ROWS:] == PublishedRows()(BLOCK_ROWS, BLOCK_ROWS + 2)
    assert list(data.iterate()) == data.objects


def test_words_are_those_of_splittable_random():
    # new java.util.SplittableRandom(0) starts with these; the state of a stream is its key.
    stream = SplitMix(0, 0)
    stream._key = 0
    assert stream.words(0, 3).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert stream.words(2, 1).tolist() == [0x06C45D188009454F]


def test_numbers_are_those_of_java():
    # new java.util.Random(42): nextInt(10) five times, as its users know them.
    random = JavaRandom(42)
    assert [random.next_int(10) for _ in range(5)] == [0, 3, 8, 4, 0]


def test_rejected_draws_move_the_rows_after_them():
    limit = 3 * 2**29  # a quarter of all draws is rejected
    blocks, one_by_one = JavaRandom(7), JavaRandom(7)
    found = []
    while len(found) < 50:
        found += blocks.rows(1, 2, limit, 50).tolist()
    for integer, *indices in found[:50]:
        assert integer == one_by_one.rows(1, 0, limit, 1)[0, 0]
        assert indices == [one_by_one.next_int(limit), one_by_one.next_int(limit)]


def test_texts_of_the_pools():
    texts = pool(20240501)
    assert len(set(texts)) == len(texts) == 10_000
    assert {len(each) for each in texts} == set(range(20))
    published = PublishedRows()._pool
    assert (len(set(published)), published.count("")) == (8_999, 513)


def test_equal_texts_are_copies_or_shared_as_declared():
    def objects_and_texts(name):
        texts = [each.text1 for each in records(name, 3_000).objects if len(each.text1) > 1]
        return len({id(each) for each in texts}), len(set(texts)), len(texts)

    copies, distinct, total = objects_and_texts("entities")
    assert distinct < copies == total
    for name in ("entities-shared", "entities-seed"):
        objects, distinct, total = objects_and_texts(name)
        # Few texts are twice in the published pool.
        assert distinct <= objects < 1.01 * distinct < total


def test_nested_records_have_all_their_cases():
    found = records("entities-nested", 200).objects
    assert {each.nickname is None for each in found} == {True, False}
    assert {each.age is None for each in found} == {True, False}
    assert {each.status for each in found} == set(Status)
    assert {len(each.tags) for each in found} == set(range(5))
    assert {len(each.scores) for each in found} == set(range(8))
    assert {each.address is None for each in found} == {True, False}
    assert {each.address.postcode is None for each in found if each.address} == {True, False}


def test_the_bytes_of_a_digest():
    entity = Entity(1, -2, 3, 4, 2**31 - 1, "", "é", "a", "b", "c")
    texts = [b"", "é".encode(), b"a", b"b", b"c"]
    expected = struct.pack("<5i", 1, -2, 3, 4, 2**31 - 1)
    expected += b"".join(struct.pack("<i", len(each)) + each for each in texts)
    assert digest([ENTITY.plain(entity)], ENTITY) == hashlib.sha256(expected).hexdigest()

    person = Person(1, "n", None, 5, Status.CLOSED, ["t"], [6, 7], Address("s", 8, "c", None))
    expected = struct.pack("<ii", 1, 1) + b"n" + struct.pack("<i", -1) + struct.pack("<bi", 1, 5)
    expected += struct.pack("<iii", 3, 1, 1) + b"t" + struct.pack("<iii", 2, 6, 7)
    expected += struct.pack("<bi", 1, 1) + b"s" + struct.pack("<ii", 8, 1) + b"c" + struct.pack("<i", -1)
    without = Person(1, "n", "", None, Status.UNKNOWN, [], [], None)
    expected += struct.pack("<ii", 1, 1) + b"n" + struct.pack("<i", 0) + b"\0"
    expected += struct.pack("<iii", 0, 0, 0) + b"\0"
    rows = [PERSON.plain(person), PERSON.plain(without)]
    assert digest(rows, PERSON) == hashlib.sha256(expected).hexdigest()
    assert list(map(PERSON.make, rows)) == [person, without]
