"""Text from libraries, made fit for records."""

from __future__ import annotations

import pytest

from adapter_core.text import without_addresses
from format_bench.results.shipped import feature_readings


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("in org.example.LocalFile@71423665 (no codec)", "in org.example.LocalFile (no codec)"),
        ("org.example.Page$Head@1a: [B@6d06d69c", "org.example.Page$Head: [B"),
        ("<pages.Page object at 0x7f3c5a1b2d90> is closed", "<pages.Page object> is closed"),
        ("Zarr.dir@2025 of a.b@decade.org, crc at 0x12", "Zarr.dir@2025 of a.b@decade.org, crc at 0x12"),
    ],
)
def test_addresses_of_objects_are_left_out(message, kept):
    assert without_addresses(message) == kept


def test_shipped_messages_are_the_same_in_each_process():
    told = [each.sentence for each in feature_readings()]
    assert told
    assert [each for each in told if without_addresses(each) != each] == []
