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


NULL = "is null, which its type does not have"
HALF = "has half a character, a lone surrogate, which UTF-8 cannot hold"


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        ("null", f"the record 1: text3 {NULL}"),
        ("half", f"the record 1: text3 {HALF}"),
        ("null name", f"the record 1: name {NULL}"),
        ("null tag", f"the record 1: tags[1] {NULL}"),
        ("half city", f"the record 1: address.city {HALF}"),
    ],
)
def test_every_store_refuses_a_value_that_it_cannot_hold(classes, tmp_path, odd, words):
    stores = [each for each in STORES if each.availability()]
    requests = [
        JvmRequest("write", "items", 2, tmp_path / each.format_name, format_name=each.format_name)
        for each in stores
    ]
    answers = stores[0].run_all(
        requests,
        120,
        heap_gib=1,
        class_path=[classes],
        flags=[f"-Dodd={odd}"],
    )
    sentences = {
        store.label: next(each["sentence"] for each in found if "sentence" in each)
        for store, found in zip(stores, answers, strict=True)
    }
    is_nested = " " in odd
    assert sentences == {
        each.label: each.refuses_nested if is_nested and each.refuses_nested else words
        for each in stores
    }
    assert len(stores) > 20
    assert list(tmp_path.iterdir()) == []
