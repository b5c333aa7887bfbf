"""Settings cards of record stores beside their files, and records saved with the makers' advice."""

from __future__ import annotations

import data_generator
from adapter_core.entities import ENTITY
from format_bench.conformance.cards import differences, settings_of


def test_a_file_tells_what_the_card_says_and_keeps_all_records(record_store, path):
    records = data_generator.records("entities", 200).records
    for name, chosen in settings_of(record_store):
        chosen.adapter.save(records, path, chosen.codec, chosen.level)
        assert differences(record_store, name, path, 200) == "", name
        found = map(record_store.plain(ENTITY), record_store.read(path))
        assert list(found) == list(map(ENTITY.plain, records.objects))
