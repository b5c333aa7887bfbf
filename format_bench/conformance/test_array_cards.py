"""Settings cards of array stores beside their files, and arrays saved with the makers' advice."""

from __future__ import annotations

from format_bench.conformance.arrays import a_dtype_of, difference, smooth
from format_bench.conformance.cards import differences, settings_of


def test_a_file_tells_what_the_card_says(store, path):
    source = smooth(a_dtype_of(store))
    chunks = " x ".join(map(str, source.chunks))
    for name, chosen in settings_of(store):
        chosen.adapter.save(source, path, codec=chosen.codec, level=chosen.level)
        found = differences(store, name, path, source.shape[0], chunks)
        assert found == "", name or "usual settings"


def test_arrays_come_back_from_all_settings(store, path):
    source = smooth(a_dtype_of(store))
    saved = source.read(tuple(slice(0, each) for each in source.shape))
    for name, chosen in settings_of(store):
        chosen.adapter.save(source, path, codec=chosen.codec, level=chosen.level)
        assert difference(store, saved, store.read(path)) == "", name or "usual settings"
