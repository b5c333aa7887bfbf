"""Settings cards of table formats beside their files, and tables saved with the makers' advice."""

from __future__ import annotations

from format_bench.conformance.cards import differences, settings_of, table_for
from format_bench.conformance.tables import ordinary, repetitive
from format_bench.verification.tables import verify


def test_a_file_tells_what_the_card_says(adapter, path):
    df = table_for(adapter)
    for name, chosen in settings_of(adapter):
        chosen.adapter.save(df, path, chosen.codec, chosen.level)
        assert differences(adapter, name, path, len(df)) == "", name or "usual settings"


def test_tables_come_back_from_all_settings(adapter, path):
    for df in (ordinary(), repetitive()):
        found = []
        for _, chosen in settings_of(adapter):
            chosen.adapter.save(df, path, chosen.codec, chosen.level)
            found.append(verify(df, adapter.read(path), *adapter.kept))
        assert found[0].errors == ()
        assert all(each == found[0] for each in found)
