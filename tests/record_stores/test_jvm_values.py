"""Values that no type of a field has: each store of the JVM refuses them before it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

import record_stores
from adapter_core.records.jvm import JvmRequest, JvmStore

STORES = [each for each in map(record_stores.find, record_stores.names()) if isinstance(each, JvmStore)]
SOURCES = Path(__file__).parent / "planted/odd"


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    """Return a folder with the class of records `Item`."""
    for answer in (record_stores.jvm.availability(), record_stores.jvm.toolchain()):
        if not answer:
            pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    folder = tmp_path_factory.mktemp("classes")
    record_stores.jvm.compile(SOURCES.rglob("*.java"), folder)
    return folder


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ("null", "the record 1: text is null, which its type does not have"),
        ("half", "the record 1: text has half a character, a lone surrogate, which UTF-8 cannot hold"),
    ],
)
def test_every_store_refuses_a_text_that_it_cannot_hold(classes, tmp_path, odd, words):
    stores = [each for each in STORES if each.availability()]
    requests = [
        JvmRequest("write", "items", 2, tmp_path / each.format_name, format_name=each.format_name)
        for each in stores
    ]
    flags = [f"-Dodd={odd}"]
    answers = stores[0].run_all(requests, 120, heap_gib=1, class_path=[classes], flags=flags)
    # A format that takes entities alone says so first.
    sentences = [
        next(each["sentence"] for each in found if each["event"] in {"unsupported", "error"})
        for found in answers
    ]
    assert len(sentences) == len(stores) > 20
    assert sentences.count(words) > len(stores) / 2, sentences
    assert list(tmp_path.iterdir()) == []
