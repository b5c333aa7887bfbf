"""Settings cards of image storages beside their files."""

from __future__ import annotations

from format_bench.conformance.cards import differences


def test_a_file_tells_what_the_card_says(storage, ordinary_set, path):
    storage.save(*ordinary_set, path)
    assert differences(storage, "", path, len(ordinary_set[0])) == ""
