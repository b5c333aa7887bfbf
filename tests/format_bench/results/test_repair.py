"""Repair of results: every good record stays, and all that is dropped is told and kept."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from format_bench.cli.main import main
from format_bench.results import records
from format_bench.results.load import RESULTS, load
from format_bench.results.record_form import SCHEMA
from format_bench.results.repair import DAMAGED, DROPPED, repair
from format_bench.runner import folders
from tests.factories.records import record

GOOD = [record("CSV", "size", value, rows=value) for value in (1, 2, 3)]
LINES = [records.line(each) for each in GOOD]
TORN = LINES[0][:26]


@pytest.fixture
def folder(tmp_path):
    """Return a folder of three records."""
    (tmp_path / RESULTS).write_bytes(b"".join(LINES))
    return tmp_path


def format_bench(capsys, *arguments):
    """Call the command; return its exit status, output and error."""
    with pytest.raises(SystemExit) as caught:
        main([*map(str, arguments)])
    found = capsys.readouterr()
    return caught.value.code or 0, found.out, found.err


DAMAGES = {
    "a tail of NULs": (b"".join(LINES) + b"\0" * 4096, 3, ["4,096 NUL bytes"]),
    "a tail of NULs and a line": (b"".join(LINES[:2]) + b"\0" * 7 + LINES[2], 3, ["7 NUL bytes"]),
    "garbage": (LINES[0] + b"\xff\xfe\x00garbage\n" + LINES[1], 2, ["can't decode"]),
    "a line of text": (LINES[0] + b"rows,value\n" + LINES[1], 2, ["Expecting value"]),
    "a missing field": (b'{"suite": "tabular"}\n' + LINES[1], 1, ["the field format is missing"]),
    "a torn last line": (LINES[0] + TORN, 1, ["Unterminated string"]),
    "a record behind a torn one": (TORN + LINES[1] + LINES[2], 2, ["Unterminated string"]),
    "two records on a line": (LINES[0][:-1] + LINES[1], 2, []),
    "no newline at the end": (LINES[0] + LINES[1][:-1], 2, []),
    "empty lines": (LINES[0] + b"\n\n" + LINES[1], 2, ["nothing in it", "nothing in it"]),
    "lines of Windows": (LINES[0].replace(b"\n", b"\r\n") + LINES[1], 2, []),
    "deep nesting": (LINES[0] + b"[" * 100_000 + b"\n", 1, ["recursion"]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "kept", "reasons"), DAMAGES.values(), ids=DAMAGES)
def test_good_records_stay_and_the_rest_is_kept_beside_them(folder, content, kept, reasons):
    path = folder / RESULTS
    path.write_bytes(content)
    expected = [each for each, line in zip(GOOD, LINES, strict=True) if line[:-1] in content]
    seen = repair(path, dry_run=True)
    assert path.read_bytes() == content
    assert [each.name for each in folder.iterdir()] == [RESULTS]
    found = repair(path)
    assert found == seen
    assert records.read(path) == expected
    assert found.kept == len(expected) == kept
    assert len(found.dropped) == len(reasons)
    assert all(part in each.reason for part, each in zip(reasons, found.dropped, strict=True))
    dropped = path.with_name(path.name + DROPPED)
    kept_lines = dropped.read_bytes().splitlines() if reasons else []
    assert dropped.exists() is bool(reasons)
    entries = [json.loads(line) for line in kept_lines]
    assert [(each["line"], each["reason"]) for each in entries] == [
        (each.line, each.reason) for each in found.dropped
    ]
    again = path.stat().st_ino
    assert not repair(path).is_needed
    assert path.stat().st_ino == again
    assert dropped.exists() is bool(reasons)
    assert (dropped.read_bytes().splitlines() if reasons else []) == kept_lines
    records.append(path, replace(GOOD[0], rows=99))


def test_dropped_content_can_be_had_back(folder):
    pieces = [b'{"suite": "caf\xc3\xa9', b"\xff\xfe\x00\xe9"]
    (folder / RESULTS).write_bytes(LINES[0] + b"\n".join(pieces) + b"\n")
    repair(folder / RESULTS)
    text, binary = map(json.loads, (folder / (RESULTS + DROPPED)).read_bytes().splitlines())
    assert text["text"].encode() == pieces[0]
    assert base64.b64decode(binary["base64"]) == pieces[1]


def test_reports_name_the_command_which_makes_them_possible(folder, capsys):
    with (folder / RESULTS).open("ab") as file:
        file.write(b"\0" * 5)
    (folder / "run-threads-all.json").write_bytes(b'{"started": "2026')
    status, _, told = format_bench(capsys, "report", folder, "--out", folder / "report.md")
    assert status == 2
    assert (
        f"line 4: the last line is not the beginning of a record; `format-bench repair {folder}" in told
    )
    status, out, _ = format_bench(capsys, "repair", folder, "--dry-run")
    assert "1 piece would be dropped\n  line 4: 5 NUL bytes\n" in out
    assert (folder / "run-threads-all.json").exists()
    status, out, told = format_bench(capsys, "repair", folder)
    assert (status, told) == (0, "")
    assert out.splitlines() == [
        f"{folder / RESULTS}: 3 records kept, 1 piece dropped",
        "  line 4: 5 NUL bytes",
        f"they are in {RESULTS}{DROPPED}",
        f"{folder / 'run-threads-all.json'}: damaged, set aside as run-threads-all.json{DAMAGED}",
    ]
    assert load(folder).records == GOOD
    status, out, _ = format_bench(capsys, "repair", folder / RESULTS)
    assert (status, out) == (0, f"{folder / RESULTS}: 3 records, nothing to repair\n")


NEWER = json.dumps({**json.loads(LINES[1]), "schema": SCHEMA + 1, "humidity": 0.4}).encode() + b"\n"
REFUSED = {
    "newer records": (LINES[0] + b"garbage\n" + NEWER, f"line 3: its form of records is {SCHEMA + 1}"),
    "no record": (b"a,b\n1,2\n", "has no record to keep, and stays as it is"),
}


@pytest.mark.parametrize(("content", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_damage_stays_as_it_is(folder, capsys, content, sentence):
    (folder / RESULTS).write_bytes(content)
    status, _, told = format_bench(capsys, "repair", folder)
    assert status == 2
    assert sentence in told
    assert (folder / RESULTS).read_bytes() == content
    assert [each.name for each in folder.iterdir()] == [RESULTS]


def test_a_folder_that_a_run_writes_to_is_refused(folder, capsys):
    with folders.only_run(folder):
        status, _, told = format_bench(capsys, "repair", folder)
    assert status == 2
    assert "another run is writing" in told


def test_a_folder_without_records_is_refused(tmp_path, capsys):
    status, _, told = format_bench(capsys, "repair", tmp_path)
    assert status == 2
    assert "there is neither results.jsonl nor records.jsonl in it" in told


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(["report", "{}"], "results.jsonl"), (["compare", "{}", "thesis"], "results.jsonl")],
)
def test_every_reader_refuses_a_newer_form_in_one_line(folder, capsys, arguments, name):
    (folder / name).write_bytes(LINES[0] + NEWER)
    status, out, told = format_bench(capsys, *(each.format(folder) for each in arguments))
    assert (status, out) == (2, "")
    assert told == (
        f"format-bench: {folder / name}, line 2: its form of records is {SCHEMA + 1}, and this "
        f"FormatBench reads forms up to {SCHEMA}; upgrade it: pip install --upgrade formatbench\n"
    )


@pytest.mark.parametrize("content", [b'{"mine": "ab', b"[]", b"\0\0"])
def test_damaged_facts_on_the_data_are_an_error_that_names_the_command(folder, capsys, content):
    path = folder / folders.DATA
    path.write_bytes(content)
    with pytest.raises(folders.InvalidFolderError, match=r"is damaged; `format-bench repair "):
        folders.check_same_data(folder, {"mine": "abc"})
    if content != b"[]":
        _, out, _ = format_bench(capsys, "repair", folder)
        assert "whether the next run is of the same data can no longer be checked" in out
    else:
        path.unlink()
    folders.check_same_data(folder, {"mine": "abc"})
