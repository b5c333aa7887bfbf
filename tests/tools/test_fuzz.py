"""Fuzzing in short: changed files of each reader, files of earlier findings, and the oracle itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.fuzz.oracle import GOOD, Oracle, trials
from tools.fuzz.readers import READERS, TARGETS

TRIALS = 12
"""Changed files of each reader, the same ones each time; `make fuzz` takes as many as time allows."""

CORPUS = Path(__file__).parents[1] / "data" / "fuzz_corpus"
KEPT = sorted(CORPUS.glob("*/*"))


@pytest.fixture(scope="module")
def oracle():
    with Oracle("harmful", *READERS) as oracle:
        yield oracle


@pytest.mark.parametrize("name", READERS)
def test_valid_files_are_read(name, oracle):
    for path in oracle.seeds(name):
        found = oracle.result(name, oracle.put(path))
        assert found.outcome == ("refused" if name == "pickle" else "read"), (path.name, found)


@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_read_or_refused(name, oracle):
    for number, found, _ in trials(oracle, name, range(TRIALS)):
        assert found.outcome in GOOD, f"python -m tools.fuzz --reader {name} --seed {number}: {found}"


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.relative_to(CORPUS).as_posix())
def test_findings_stay_mended(folder, oracle):
    name = folder.parent.name
    # Beside the file there may be what belongs to it.
    path = next(each for each in sorted(folder.iterdir()) if each.name in TARGETS[name].seeds)
    found = oracle.result(name, oracle.put(path))
    assert found.outcome in GOOD, found


@pytest.mark.parametrize(
    ("harm", "outcome", "phrase"),
    [
        ("nothing", "read", ""),
        ("refuse", "refused", "file: "),
        ("run", "event", "code: os.system"),
        ("unpickle", "event", "code: a pickle names builtins.eval"),
        ("write", "event", "write outside: {touched}"),
        ("write natively", "event", "write outside: files beside the secret were changed"),
        ("connect", "event", "network: socket."),
        ("connect natively", "event", "network: the listener was connected to"),
        ("leak", "leak", "content of another file"),
        ("crash", "crash", "SIGSEGV"),
        ("exit", "crash", "exit status 3"),
        ("hang", "hang", "not ended after"),
        ("allocate", "memory", ""),
        ("fail", "error", "KeyError: 'missing'"),
        ("print", "prints", "warning"),
        ("control characters", "refused", "file: "),
        ("change", "changed", "file"),
    ],
)
def test_the_oracle_sees_all_harm(harm, outcome, phrase, oracle):
    argument = {"connect": oracle.canaries.url, "leak": str(oracle.canaries.secret)}
    path = oracle.put(oracle.seeds("harmful")[0])
    text = argument.get(harm.partition(" ")[0], str(oracle.canaries.touched))
    path.write_text(f"{harm}\n{text}", encoding="utf-8")
    found = oracle.result("harmful", path)
    assert found.outcome == outcome, found
    assert found.phrase.startswith(phrase.format(touched=oracle.canaries.touched))


def test_what_a_library_printed_before_is_not_in_the_next_finding(oracle):
    path = oracle.put(oracle.seeds("harmful")[0])
    path.write_text("print\nunread", encoding="utf-8")
    first, second = (oracle.result("harmful", path) for _ in range(2))
    assert first == second


def test_a_seed_number_makes_the_same_file_again(oracle):
    for number in range(5):
        first = oracle.changed("parquet", number).read_bytes()
        assert oracle.changed("parquet", number).read_bytes() == first
