"""Bundles: what they leave out, what verification finds, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import asdict, replace

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidBundleError
from format_bench import report
from format_bench.bundles import checks, rerun
from format_bench.bundles.checks import Verdict, check
from format_bench.bundles.data_digests import MOST_IMAGES, MOST_VALUES, data_digest
from format_bench.bundles.making import made
from format_bench.bundles.redaction import command_of, scrubbed
from format_bench.cli.main import format_bench
from format_bench.families.operations import operations_of
from format_bench.recommendation import questions
from format_bench.results import bundle
from format_bench.results.load import load
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES
from tests.commands import run
from tests.factories.records import METADATA, record, results
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "results_0_1"

SECRETS = ("jane", "corp-laptop", "salaries", "/home", "minio.corp", "secret-kernel", "my-ssd", "acme")

PERSONAL = {
    **METADATA,
    "command": "format-bench -q run --data /home/jane/a.csv --formats CSV,ORC --scratch my-ssd=/mnt",
    "system": {"os": "Some Linux 12", "kernel": "6.18.3-secret-kernel", "host": "corp-laptop"},
    "scratch": {"path": "/home/jane/tmp", "file_system": "ext4", "device": "/dev/mapper/corp-laptop"},
    "media": {"my-ssd": {"path": "/mnt/acme", "file_system": "ext4", "options": "rw,user=jane"}},
    "hostname": "corp-laptop",
}
"""Metadata with facts that identify a user, those of a later version among them."""


def own_records():
    facts = {"dataset": "salaries", "rows": 40, "columns": 3}
    yield record("CSV", "size", 4_000.0, sentence="column jane was rounded", **facts)
    yield record("XML", "size", None, sentence="column 'jane' holds 'x'", **facts)
    yield record(
        "CSV", "save time", None, rows=40, sentence="/home/jane/tmp/a b/eq.csv: No space left",
    )  # fmt: skip
    place = {"medium": "my-ssd", "place": "s3://acme/jane"}
    moved = record("CSV", "read time", 0.02, rows=40, cache="warm")
    yield replace(moved, conditions=dict(moved.conditions) | place)


def of_run(**fields):
    """Return the bundle of a run of generated data, in which all checks hold."""
    return made(load(KEPT), {}, lambda _: None, **fields)


def outcomes(found):
    return {each.name: each for each in check(found, lambda _: None)}


def failed(found):
    return {name for name, each in outcomes(found).items() if each.verdict is Verdict.FAILS}


@pytest.fixture(scope="module")
def whole():
    return of_run()


@pytest.fixture
def written(whole, tmp_path):
    path = tmp_path / "mine.bundle.gz"
    bundle.write(whole.head, whole.records, path)
    return path


def lines_of(path):
    return gzip.decompress(path.read_bytes()).splitlines(keepends=True)


def rewritten(path, lines):
    path.write_bytes(gzip.compress(b"".join(lines)))
    return path


def with_head(path, **changes):
    first, *rest = lines_of(path)
    return rewritten(path, [json.dumps(json.loads(first) | changes).encode() + b"\n", *rest])


# Making


def test_nothing_personal_is_in_a_bundle():
    found = made(results(own_records(), metadata=[PERSONAL]), {"salaries": "f"}, lambda _: None)
    text = json.dumps([found.head, *map(asdict, found.records)])
    assert [each for each in SECRETS if each in text] == []
    assert found.head["metadata"][0]["system"]["kernel"] == "6.18.3"
    assert {each.dataset for each in found.records} == {"own-1", "eq"}
    assert found.records[3].conditions["medium"] == "medium-1"
    assert found.head["commands"] == ["format-bench -q run --data X --formats CSV,ORC --scratch X"]
    assert found.head["left_out"]


def asked(*, with_names=False):
    """Return the bundle of answers to own questions, of which one is asked nine times as often."""
    times = {"Parquet": (0.001, 0.9), "CSV": (0.5, 0.01)}
    found = [
        replace(
            record(label, "query time", value, dataset="salaries", rows=40, cache="warm"),
            suite="query",
            query=query,
        )
        for label, values in times.items()
        for query, value in zip(("jane?", "Q1"), values, strict=True)
    ]
    data = {"salaries": {"rows": 40, "file": "salaries.csv", "questions": {"jane?": 9, "Q1": 1.0}}}
    given = results(found, metadata=[{**METADATA, "data": data}])
    return given, made(given, {"salaries": "f"}, lambda _: None, with_names=with_names)


def test_own_questions_and_their_weights_are_in_a_bundle_without_their_names(tmp_path):
    given, found = asked()
    (known,) = (each["data"] for each in found.head["metadata"])
    assert known == {"own-1": {"questions": {"question-1": 9, "Q1": 1.0}}}
    path = tmp_path / "mine.bundle.gz"
    bundle.write(found.head, found.records, path)
    text = gzip.decompress(path.read_bytes()).decode()
    assert [each for each in ("salaries", "jane") if each in text] == []
    # 0.9 * 0.001 s + 0.1 * 0.9 s, and not the mean of the two
    mixes = [questions.own_mix(each) for each in (given, load(path))]
    values = [
        {each.format: each.value for each in one.results.records if not each.query} for one in mixes
    ]
    assert values[0] == values[1] == pytest.approx({"Parquet": 0.0909, "CSV": 0.451})
    assert list(mixes[1].asked.values()) == [{"question-1": 9.0, "Q1": 1.0}]


def test_questions_keep_their_names_if_these_are_wanted():
    _, found = asked(with_names=True)
    assert found.head["metadata"][0]["data"] == {"salaries": {"questions": {"jane?": 9, "Q1": 1.0}}}


def test_names_stay_if_they_are_wanted():
    found = made(
        results(own_records(), metadata=[PERSONAL]), {"salaries": "f"}, lambda _: None, with_names=True
    )
    assert found.records[0].dataset == "salaries"
    assert found.records[0].sentence == "column jane was rounded"
    text = json.dumps(found.head)
    assert [each for each in ("corp-laptop", "/home", "secret-kernel") if each in text] == []


def test_own_data_of_a_generated_name_are_own():
    found = made(results([record("CSV", "size", 5.0, rows=9)]), {"eq": "f"}, lambda _: None)
    assert found.records[0].dataset == "own-1"
    assert found.head["data"][0]["digest"] is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("/tmp/x/eq.csv: disk full", "PATH: disk full"),
        ("cannot open '/srv/my data/eq.csv'", "cannot open PATH"),
        ("see ~/.cache/a and C:\\Users\\jane", "see PATH and PATH"),
        ("https://minio.corp:9000/b refused", "URL refused"),
        ("12 MB/s and/or 3 / 4", "12 MB/s and/or 3 / 4"),
        ("<class 'int'> is < 3", "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}class 'int'> is < 3"),
    ],
)
def test_sentences_are_scrubbed(sentence, expected):
    assert scrubbed(sentence) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("format-bench run --rows 10 --data=a.csv mine", "format-bench run --rows 10 --data=X X"),
        ("format-bench study damage --place s3://b", "format-bench study damage --place X"),
        ("format-bench run --out 'a", ""),
        (None, ""),
    ],
)
def test_commands_keep_options_and_own_names_go(command, expected):
    assert command_of({"command": command}) == expected


def test_a_bundle_is_results_like_others(written, whole):
    found = load(written)
    assert found.records == whole.records
    assert found.metadata[0]["cpu"]["usable"] == 2
    report.write(found, "md", written.with_name("r.md"))
    assert "CSV" in written.with_name("r.md").read_text(encoding="utf-8")


def test_equal_results_make_equal_files(written, whole, tmp_path):
    bundle.write(whole.head, whole.records, tmp_path / "again.bundle.gz")
    assert (tmp_path / "again.bundle.gz").read_bytes() == written.read_bytes()


# Digests


@pytest.mark.parametrize(
    ("family", "dataset", "rows"),
    [
        ("tables", "eq", 50),
        ("tables", "kaons", 20),
        ("images", None, 3),
        ("arrays", None, 2),
        ("records", None, 20),
    ],
)
def test_digests_are_the_same_again_and_change_with_the_data(family, dataset, rows):
    name = dataset or operations_of(FAMILIES[family]).datasets()[0]
    one = data_digest(family, name, rows, 8)
    assert one == data_digest(family, name, rows, 8)
    assert one != data_digest(family, name, rows - 1, 8)


def test_large_data_have_a_reason_instead_of_a_digest():
    found = made(results([record("CSV", "size", 5.0, rows=MOST_VALUES)]), {}, lambda _: None)
    (facts,) = found.head["data"]
    assert facts["digest"] is None
    assert "are more than" in facts["reason"]
    assert outcomes(found)["data"].verdict is Verdict.UNKNOWN


# Checks


def test_checks_of_a_real_run_hold(whole):
    assert failed(whole) == set()
    assert outcomes(whole)["data"].verdict is Verdict.HOLDS


def timed(value, **fields):
    samples = fields.pop("repeats", [value * 0.9, value, value * 1.1])
    return record("CSV", fields.pop("metric", "save time"), value, rows=40, repeats=samples, **fields)


def judged(*records, **changes):
    """Return the checks that fail in a bundle of some records, as a forger would make it."""
    found = made(results(records), {}, lambda _: None)
    return failed(replace(found, head=found.head | changes))


def test_a_value_that_is_not_the_median_is_found():
    assert judged(timed(0.5, repeats=[1.0, 1.1, 1.2])) == {"medians"}
    assert judged(timed(0.5, interval=[0.6, 0.7])) == {"medians"}


def test_other_data_are_found():
    found = made(results([timed(0.5)]), {}, lambda _: None)
    (facts,) = found.head["data"]
    assert judged(timed(0.5), data=[facts | {"digest": "0" * 32}]) == {"data"}
    assert judged(timed(0.5), data=[facts | {"digest": None, "reason": "own data"}]) == {"data"}
    assert judged(timed(0.5), data=[facts | {"columns": 3}]) == {"data"}
    assert judged(timed(0.5), data=[]) == {"data"}


def test_sizes_of_data_are_in_the_unit_of_their_family():
    large = {"suite": "image", "dataset": "cifar-like", "rows": MOST_IMAGES + 1}
    images = record("NumPy", "size", 5.0, **large)
    said = []
    list(check(made(results([timed(0.5), images]), {}, said.append), said.append))
    made_here = ["digest of eq, 40 rows", "digest of cifar-like, 5,001 images"]
    assert said == [*made_here, made_here[0]]
    alone = outcomes(made(results([images]), {}, said.append))["data"]
    assert alone.sentence.startswith("cifar-like with 5,001 images: ")


def test_values_beyond_physics_are_found():
    assert judged(timed(1e-9)) == {"physics"}
    assert judged(timed(0.5, repeats=[0.5] * 3)) == {"physics"}
    # 40 rows of 1 TB, saved in a second.
    assert judged(timed(1.0), record("CSV", "size", 1e14, rows=40)) == {"physics"}
    mapped = timed(1e-3, metric="read time", cache="warm")
    assert judged(mapped, record("CSV", "size", 1e12, rows=40)) == set()
    held = record("CSV", "held memory", 1e12, rows=40)
    assert judged(mapped, record("CSV", "size", 1e12, rows=40), held) == {"physics"}


def test_impossible_orders_are_found():
    wrong = [timed(1.0, metric="save time"), timed(0.1, metric="durable save time")]
    assert judged(*wrong) == {"order"}


def test_versions_have_to_agree():
    environment = "CPython 3.11.7, measurement 1, pandas 3.1.1, pyarrow 26.0.1"
    assert judged(timed(0.5, environment=environment)) == set()
    assert judged(timed(0.5, environment=environment.replace("3.1.1", "3.1.2"))) == {"versions"}
    assert judged(timed(0.5, environment=environment.replace("26.0.1", "next"))) == {"versions"}
    assert judged(timed(0.5, environment="CPython 3.11.7, measurement 99")) == {"versions"}


def test_stated_noise_and_order_have_to_follow_from_the_records():
    counts = {"pairs": 7, "out_of_order": 0, "beyond_noise": 0}
    assert judged(timed(0.5), self_check=counts) == {"statements"}
    noise = {"cells": 9, "median": 0.01, "quantile_95": 0.02}
    assert judged(timed(0.5), noise=noise) == {"statements"}


def test_versions_have_to_be_those_of_the_run_that_measured():
    def libraries(run_id, version):
        return METADATA | {"run_id": run_id, "libraries": {"pandas": version}}

    def of_run(run_id, version):
        environment = f"CPython 3.11.7, measurement 1, pandas {version}"
        return timed(0.5, environment=environment, run_id=run_id)

    metadata = [libraries("one", "3.1.0"), libraries("two", "3.1.1")]
    for records, expected in (
        ([of_run("one", "3.1.0"), of_run("two", "3.1.1")], set()),
        ([of_run("one", "3.1.1"), of_run("two", "3.1.1")], {"versions"}),
        # Of a run that no metadata are of, e.g. one that was killed.
        ([of_run("three", "3.1.1")], set()),
        ([of_run("three", "3.1.2")], {"versions"}),
    ):
        apart = [replace(each, rows=40 + number) for number, each in enumerate(records)]
        found = made(results(apart, metadata=metadata), {}, lambda _: None)
        assert {run["run_id"] for run in found.head["metadata"]} == {"one", "two"}
        assert failed(found) == expected


def test_a_run_has_one_version_of_each_library():
    parts = [METADATA | {"run_id": "one", "libraries": {"pandas": each}} for each in ("3.1.0", "3.1.1")]
    record = timed(0.5, environment="CPython 3.11.7, measurement 1, pandas 3.1.1", run_id="one")
    found = made(results([record], metadata=parts), {}, lambda _: None)
    assert failed(found) == {"versions"}


def test_the_version_of_python_has_to_agree():
    environment = "CPython 3.12.1, measurement 1"
    run = METADATA | {"python": {"implementation": "CPython", "version": "3.11.7 (main)"}}
    found = made(results([replace(timed(0.5), environment=environment)], metadata=[run]), {}, print)
    assert failed(found) == {"versions"}


def test_changed_records_are_found(written):
    first, *rest = lines_of(written)
    old, new = b'"value": ', b'"value": 9'
    place = next(number for number, each in enumerate(rest) if b'"repeats": []' in each or old in each)
    rewritten(written, [first, *rest[:place], rest[place].replace(old, new, 1), *rest[place + 1 :]])
    found = bundle.read(written)
    assert "content" in failed(found)
    with pytest.raises(InvalidBundleError, match="changed after"):
        load(written)


# Hostile bundles


def refused(path):
    """Return the line that refuses a bundle."""
    done = CliRunner().invoke(format_bench, ["verify", str(path)])
    assert isinstance(done.exception, InvalidBundleError)
    assert not done.output
    message = str(done.exception)
    assert "\n" not in message
    return message


def test_bombs_are_refused_before_they_take_memory(tmp_path):
    path = tmp_path / "bomb.bundle.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        for _ in range(4):
            file.write(b"\0" * 2**24)
    assert "a line has more than" in refused(path)


def test_large_files_are_refused(tmp_path, monkeypatch, written):
    path = tmp_path / "large.bundle.gz"
    path.touch()
    os.truncate(path, bundle.MOST_FILE_BYTES + 1)
    assert "more than" in refused(path)
    monkeypatch.setattr(bundle, "MOST_BYTES", 2000)
    with pytest.raises(InvalidBundleError, match="unpacks to more than"):
        bundle.read(written)
    monkeypatch.undo()
    monkeypatch.setattr(bundle, "MOST_RECORDS", 5)
    with pytest.raises(InvalidBundleError, match="more than 5 records"):
        bundle.read(written)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "the head|head|empty|truncated|is refused"),
        (b"[" * 100_000 + b"\n", "is refused"),
        (b'{"form": "formatbench-bundle", "version": 99}\n', "versions up to 1"),
        (b'{"form": "other"}\n', "missing"),
        (b"null\n", "must be an object"),
    ],
)
def test_other_content_is_refused(tmp_path, content, sentence):
    with pytest.raises(InvalidBundleError, match=sentence):
        bundle.read(rewritten(tmp_path / "a.bundle.gz", [content]))


def test_files_that_are_none_are_refused(tmp_path):
    path = tmp_path / "a.bundle.gz"
    path.write_bytes(b"PK\3\4 a zip")
    assert "is refused" in refused(path)
    path.unlink()
    os.mkfifo(path)
    assert "it is not a file" in refused(path)
    assert "it is not a file" in refused(tmp_path / "missing.bundle.gz")


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\x1b[2Jeq", "a\u202eb", "eq\u0000", "x" * 300]
)
def test_names_with_script_or_commands_are_refused(written, name):
    data = json.loads(lines_of(written)[0])["data"]
    with pytest.raises(InvalidBundleError):
        bundle.read(with_head(written, data=[data[0] | {"name": name}]))


def test_records_with_script_are_refused(written):
    first, second, *rest = lines_of(written)
    changed = second.replace(b'"format": "', b'"format": "<img src=x>', 1)
    with pytest.raises(InvalidBundleError, match="markup"):
        bundle.read(rewritten(written, [first, changed, *rest]))


def test_fields_that_the_schema_lacks_are_refused(written):
    with pytest.raises(InvalidBundleError, match="'run' is not a field"):
        bundle.read(with_head(written, run="rm -rf ."))


def test_two_records_of_a_cell_are_refused(written):
    lines = lines_of(written)
    with pytest.raises(InvalidBundleError, match="another record of one cell"):
        bundle.read(rewritten(written, [*lines, lines[-1]]))


def test_names_of_data_lead_nowhere(written):
    # A name is looked up among the generated data, and never made a path.
    data = json.loads(lines_of(written)[0])["data"]
    facts = data[0] | {"name": "../../etc/passwd", "digest": "0" * 32}
    found = bundle.read(with_head(written, data=[facts]))
    moved = [
        replace(each, dataset=facts["name"], rows=facts["rows"])
        for each in found.records
        if each.suite == "tabular"
    ]
    outcome = outcomes(replace(found, records=moved))["data"]
    assert outcome.verdict is Verdict.UNKNOWN
    assert "there is no" in outcome.sentence


# Commands


def test_the_commands(tmp_path):
    path = tmp_path / "mine.bundle.gz"
    done = run("bundle", KEPT, "--out", path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{path}\n"
    shown = done.stderr.partition("This is in the bundle:")[2]
    head = json.loads(lines_of(path)[0])
    assert json.dumps(head["data"][0]["digest"]) in shown
    done = run("verify", path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.split()[:2] == ["content", "holds"]
    done = run("verify", with_head(path, self_check={"pairs": 1, "out_of_order": 0, "beyond_noise": 0}))
    assert done.returncode == 2
    assert done.stderr.endswith("statements failed\n")


def test_bad_names_of_files_are_refused(tmp_path):
    arguments = ["bundle", str(KEPT), "--out", str(tmp_path / "mine.zip")]
    done = CliRunner().invoke(format_bench, arguments, standalone_mode=False)
    assert "a bundle is a file *.bundle.gz" in str(done.exception)


# Rerun


def test_a_rerun_takes_formats_from_all_places_of_the_order():
    labels = ("CSV", "Feather", "ORC", "Parquet", "Pickle")
    records = [replace(timed(float(place)), format=label) for place, label in enumerate(labels, 1)]
    chosen = rerun.sample_of([*records, replace(records[0], codec="zstd")], 3)
    assert [each.format for each in chosen] == ["CSV", "ORC", "Pickle"]
    assert all(each.codec is None for each in chosen)


def test_a_rerun_of_other_data_is_unknown():
    found = made(results(own_records()), {"salaries": "f"}, lambda _: None)
    outcome = rerun.rerun(found, 3, None)
    assert outcome.verdict is Verdict.UNKNOWN


@pytest.mark.slow
@pytest.mark.costly
def test_a_rerun_compares_ranks(tmp_path):
    out = tmp_path / "run"
    arguments = ("--rows", 200, "--formats", "CSV,Feather,Parquet", "--repeats", 1, "--out", out)
    assert run("run", *arguments).returncode == 0
    path = tmp_path / "mine.bundle.gz"
    assert run("bundle", out, "--out", path).returncode == 0
    done = run("verify", path, "--rerun", 3)
    line = " ".join(done.stdout.partition("rerun")[2].split())
    assert "Spearman's rho of 3 formats on" in line
    assert "size 1.00" in line


def test_failed_cells_are_part_of_a_bundle():
    found = made(results([record("CSV", "size", None)]), {}, lambda _: None)
    assert found.records[0].status is CellStatus.FAILED
    assert checks.check(found, lambda _: None)[2].verdict is Verdict.HOLDS
