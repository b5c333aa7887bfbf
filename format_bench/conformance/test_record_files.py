"""Files of record stores: replaced as a whole, damaged, missing, compressed."""

from __future__ import annotations

import pytest

import data_generator
from adapter_core import Trait, UnknownLevelError, UnknownNameError, UnsupportedError
from adapter_core.entities import ENTITY
from adapter_core.record_digest import digest
from adapter_core.record_set import RecordSet
from format_bench.conformance.code_events import code_events


def records(count) -> RecordSet:
    return data_generator.records("entities", count).records


def rows(store, found):
    return list(map(store.plain(ENTITY), found))


def saved_rows(expected):
    return list(map(ENTITY.plain, expected.objects))


def test_a_save_replaces_an_earlier_file(record_store, path):
    record_store.save(records(50), path)
    record_store.save(records(7), path)
    assert rows(record_store, record_store.read(path)) == saved_rows(records(7))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_safe_reader_runs_no_code(record_store, path):
    if Trait.SAFE not in (record_store.traits or ()):
        pytest.skip(f"{record_store.label} does not claim to be safe")
    record_store.save(records(7), path)
    record_store.read(path)
    with code_events() as events:
        record_store.read(path)
    assert events == []


def test_a_failed_save_leaves_the_earlier_file(record_store, path):
    record_store.save(records(7), path)
    # No format keeps a function.
    broken = RecordSet.of_objects(ENTITY, [*records(600).objects, lambda: None])
    with pytest.raises(Exception, match=r"."):
        record_store.save(broken, path)
    assert rows(record_store, record_store.read(path)) == saved_rows(records(7))
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_missing_file_or_folder_is_named(record_store, path):
    with pytest.raises(FileNotFoundError, match=path.name):
        record_store.read(path)
    with pytest.raises(FileNotFoundError, match=path.name):
        record_store.codec_used(path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        record_store.save(records(2), path / "deeper" / path.name)


@pytest.mark.parametrize("name", [None, "gzip", "zstd"])
def test_a_truncated_file_never_gives_other_values(record_store, name, path):
    if name not in {None, *(each.name for each in record_store.codecs)}:
        pytest.skip(f"{record_store.label} has no codec {name}")
    expected = records(1_200)
    record_store.save(expected, path, name)
    data = path.read_bytes()
    for kept in (0, 1, len(data) // 3, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:kept])
        try:
            found = rows(record_store, record_store.read(path))
        except Exception:
            continue
        assert not record_store.detects_truncation, f"{kept} of {len(data)} bytes"
        assert found == saved_rows(expected)[: len(found)]


def test_uncompressed_by_default(record_store, path):
    record_store.save(records(100), path)
    assert record_store.codec_used(path) is None


def test_unknown_codecs_and_levels(record_store, path):
    with pytest.raises(UnknownLevelError):
        record_store.save(records(3), path, level=3)
    if not record_store.codecs:
        with pytest.raises(UnsupportedError, match="no choice of a codec"):
            record_store.save(records(3), path, codec="zstd")
        return
    with pytest.raises(UnknownNameError):
        record_store.save(records(3), path, codec="no such codec")
    assert not path.exists()


def test_each_codec_is_in_the_file_and_makes_it_smaller(record_store, codec, level, path):
    expected = records(2_000)
    record_store.save(expected, path)
    plain_bytes = record_store.size_bytes(path)
    record_store.save(expected, path, codec.name, level)
    assert record_store.codec_used(path) == codec.name
    assert record_store.size_bytes(path) < plain_bytes
    found = map(record_store.plain(ENTITY), record_store.read(path))
    assert digest(found, ENTITY) == expected.digest
