"""Two versions of one library: sets, verdicts, releases, scripts, and the command."""

from __future__ import annotations

import random
import re
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from adapter_core.errors import InvalidRequestError, ResolutionError, UnsupportedError
from format_bench.changes.against import cause, drafts, scripts, turns
from format_bench.changes.against.turns import Comparison, pairs_of, with_formats
from format_bench.changes.against.verdicts import JudgedPair, Verdict, judge
from format_bench.cli.commands import against
from format_bench.cli.main import format_bench
from format_bench.library_sets import replacement
from format_bench.library_sets.replacement import ReplacedSet, Replacement, install
from format_bench.results.load import load
from format_bench.runner.executor import TimeBudget
from format_bench.runner.plan import RunRequest
from format_bench.system import library_set
from tests.factories.library_sets import make_library_set
from tests.factories.records import record

OLD = ReplacedSet("toy-1.0-aaaaaaaa", "toy", "1.0", {"toy": "1.0", "numpy": "2.0"})
NEW = ReplacedSet("toy-2.0-bbbbbbbb", "toy", "2.0", {"toy": "2.0", "numpy": "2.1"})

LABELS = ("CSV", "Parquet", "ORC", "Feather", "Pickle", "JSON")
METRICS = {"save time": 0.02, "read time": 0.01, "read CPU time": 0.01, "read memory": 9e6}


def in_rounds(label, metric, usual, chance, *, factor=1.0):
    """Return a record whose rounds vary by 3 %, and now and then by more."""
    rounds = 6
    levels = [usual * factor * chance.lognormvariate(0, 0.03) for _ in range(rounds)]
    levels = [each * (1.4 if chance.random() < 0.05 else 1) for each in levels]
    samples = [each * chance.lognormvariate(0, 0.01) for each in levels for _ in range(3)]
    return record(
        label,
        metric,
        statistics.median(samples),
        repeats=samples,
        rounds=rounds,
        round_sizes=[3] * rounds,
    )


def pairs(seed, slower=(), factor=1.5):
    chance = random.Random(seed)
    return [
        (
            in_rounds(label, metric, usual, chance),
            in_rounds(label, metric, usual, chance, factor=factor if (label, metric) in slower else 1.0),
        )
        for label in LABELS
        for metric, usual in METRICS.items()
    ]


def test_chance_is_no_change():
    false = [each for seed in range(40) for each in judge(pairs(seed)) if each.changed]
    assert not false  # of 960 cells; the level is one comparison of a hundred


def test_a_change_of_half_is_found_and_nothing_else():
    slower = {("Parquet", "read time"), ("ORC", "save time")}
    found = [
        {(each.after.format, each.after.metric) for each in judge(pairs(seed, slower)) if each.changed}
        for seed in range(20)
    ]
    assert sum(len(each & slower) for each in found) >= 36  # of 40; bursts hide some
    assert sum(len(each - slower) for each in found) <= 1  # of 440
    (first,) = (
        each for each in judge(pairs(0, slower)) if each.after.metric == "save time" and each.changed
    )
    assert first.word == "slower"
    assert first.is_worse
    assert first.interval[0] < 1.5 < first.interval[1]
    faster = [each for each in judge(pairs(0, slower, 0.7)) if each.changed]
    assert {each.word for each in faster} == {"faster"}
    assert not any(each.is_worse for each in faster)


def test_other_work_during_two_rounds_is_no_change():
    chance = random.Random(1)
    found = pairs(1)
    before, after = (in_rounds("Avro", "read time", 0.01, chance) for _ in range(2))
    disturbed = [each * (20 if number < 6 else 1) for number, each in enumerate(after.repeats)]
    (verdict,) = judge([*found, (before, replace(after, repeats=disturbed))])[-1:]
    assert verdict.verdict is Verdict.SAME


def test_a_burst_in_one_round_does_not_turn_the_direction_around():
    before = [1.0, 1.0, 1.0, 1.3, 1.3, 1.3, 1.3]
    after = [1.08, 1.081, 1.079, 1.082, 1.404, 1.4053, 1.4027]
    one, other = (
        record("CSV", "read time", statistics.median(each), repeats=each, rounds=7, round_sizes=[1] * 7)
        for each in (before, after)
    )
    (found,) = judge([(one, other)])
    assert (found.word, found.is_worse) == ("slower", True)


def test_sizes_are_exact_and_values_are_lost_and_gained():
    sizes = [
        (record("CSV", "size", 1000.0), record("CSV", "size", each)) for each in (1000.0, 1004, 1006)
    ]
    valued, empty = record("ORC", "size", 10.0), record("ORC", "size", None)
    few = record("CSV", "read time", 0.1), record("CSV", "read time", 0.2)
    found = judge([*sizes, (valued, empty), (empty, valued), (empty, empty), few])
    words = [each.word for each in found]
    assert words == ["same", "same", "larger", "lost", "gained", "same", "unclear"]
    assert [each.is_worse for each in found] == [False, False, True, True, False, False, False]


def test_sizes_that_vary_from_round_to_round_have_changed_if_all_differ():
    pages = record("DuckDB", "size", 199.0, repeats=[197.0, 199.0, 201.0])
    fewer = record("DuckDB", "size", 197.0, repeats=[197.0, 197.0, 197.0])
    least = record("DuckDB", "size", 195.0, repeats=[195.0, 195.0, 196.0])
    found = judge([(pages, fewer), (fewer, pages), (pages, least), (least, pages)])
    assert [each.word for each in found] == ["same", "same", "smaller", "larger"]


def test_cells_of_two_sets_are_paired_without_their_condition():
    def of(name, label):
        return record(label, "size", 1.0, conditions={"threads": "all", "library set": name})

    records = [
        of("a", "CSV"),
        of("b", "CSV"),
        of("a", "ORC"),
        of("c", "ORC"),
        record("CSV", "size", 5.0),
    ]
    ((before, after),) = pairs_of(records, "a", "b")
    assert before.conditions == after.conditions == {"threads": "all"}
    assert before.value == 1.0


def test_formats_are_those_of_the_library():
    assert with_formats(RunRequest(), "fastparquet").formats == ("Parquet[fastparquet]",)
    assert set(with_formats(RunRequest(), "pyarrow").formats) >= {"Parquet", "Feather", "ORC"}
    with pytest.raises(
        InvalidRequestError, match=r"^no format of tabular declares asv; name formats by"
    ):
        with_formats(RunRequest(suite="tabular"), "asv")


def test_requirements_and_wheels_name_a_package(tmp_path):
    assert Replacement.parse("PyArrow==25.0.0").package == "pyarrow"
    wheel = tmp_path / "my_toy-1.5-py3-none-any.whl"
    wheel.touch()
    assert Replacement.parse(str(wheel)).requirement == f"my-toy @ {wheel.as_uri()}"
    for text, reason in {
        "pyarrow=25": "is no requirement",
        "toy @ https://example.org/toy.zip": "name a version",
        "no-wheel.whl": "Invalid wheel filename",
        str(tmp_path / "absent-1.0-py3-none-any.whl"): "there is no such wheel",
    }.items():
        with pytest.raises(InvalidRequestError, match=reason):
            Replacement.parse(text)
    with pytest.raises(InvalidRequestError, match="absent-toy is not installed here"):
        Replacement.installed("absent-toy")


@pytest.fixture
def uv(monkeypatch, tmp_path):
    """Stand in for uv: the resolver answers with the replaced package and its preferred set."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    calls = []

    def resolved(asked, preferred, options):
        calls.append(("resolve", list(asked), list(options)))
        kept = [each for each in preferred.splitlines() if each.startswith(("numpy==", "pandas=="))]
        return "\n".join([*kept, asked[-1] if isinstance(asked, list) else [*asked][-1]]) + "\n"

    def run_uv(*arguments, text=""):
        calls.append(arguments)
        if arguments[0] == "venv":
            Path(arguments[-1]).mkdir(parents=True)
        return text

    monkeypatch.setattr(replacement, "resolve_near", resolved)
    monkeypatch.setattr(replacement, "run_uv", run_uv)
    return calls


def test_a_set_is_this_environment_with_one_package_replaced(uv, tmp_path):
    found = install(Replacement.parse("pyarrow==24.0.0"), ["pyarrow>=15", "fastavro"])
    assert (found.package, found.version) == ("pyarrow", "24.0.0")
    assert {"numpy", "pandas", "pyarrow"} == set(found.pins)
    asked = uv[0][1]
    assert "fastavro" in asked
    assert not [each for each in asked if each.startswith("pyarrow>")]
    assert (library_set.folder() / found.name / "pins.txt").read_text().endswith("pyarrow==24.0.0\n")
    before = len(uv)
    assert install(Replacement.parse("pyarrow==24.0.0"), ["fastavro"]).name == found.name
    assert [call[0] for call in uv[before:]] == ["resolve"]  # installed already
    wheel = tmp_path / "pyarrow-24.0.0+g1-py3-none-any.whl"
    wheel.write_bytes(b"one")
    one = install(Replacement.parse(str(wheel)), [])
    wheel.write_bytes(b"other")
    assert one.version == "24.0.0+g1"
    assert install(Replacement.parse(str(wheel)), []).name != one.name
    install(Replacement.parse("pyarrow==25"), [], "https://example.org/nightly")
    assert "https://example.org/nightly" in uv[-1]
    assert OLD.differences(NEW)[0].name == "numpy"


def test_one_version_is_no_comparison(uv):
    same = Replacement.parse("pyarrow==24.0.0")
    with pytest.raises(InvalidRequestError, match=r"^both sides are pyarrow 24\.0\.0; name another"):
        turns.install_both(same, same, (), None)
    with pytest.raises(InvalidRequestError, match="are two packages"):
        turns.install_both(same, Replacement.parse("zarr==3.1"), (), None)
    assert uv


def test_releases_between_two_are_ordered():
    versions = ["1.0", "1.1", "1.2", "1.10", "2.0"]
    assert cause.between(versions, "1.0", "2.0") == ["1.1", "1.2", "1.10"]
    assert cause.between(versions, "2.0", "1.1") == ["1.10", "1.2"]


@pytest.mark.parametrize("count", range(2, 12))
def test_bisection_finds_the_first_release_with_a_change(count):
    versions = [str(each) for each in range(count)]
    for first in range(1, count):
        tried = []

        def shows(version, first=first, tried=tried):
            tried.append(version)
            return int(version) >= first

        assert cause.bisect(versions, shows) == (first - 1, first)
        assert len(tried) <= count.bit_length()
        assert not {"0", versions[-1]} & set(tried)


def test_bisection_goes_around_releases_that_do_not_install():
    missing = {"3", "4", "5"}
    found = cause.bisect(
        [str(each) for each in range(8)], lambda each: None if each in missing else int(each) >= 4
    )
    assert found == (2, 6)


def compared(records):
    return Comparison(OLD, NEW, judge(records))


def test_the_table_of_a_pull_request_has_changes_first():
    text = drafts.pull_request(compared(pairs(3, {("Parquet", "read time")})), 6)
    title, rest = text.split("\n", 1)
    assert title == "### toy 1.0 → 2.0: 1 of 24 cells changed"
    changed, others = rest.split("<details>")
    assert re.search(r"\| Parquet.*, read time of eq .*\| \*\*slower\*\* \|", changed)
    assert "slower" not in others
    assert "Other packages that had to differ: numpy 2.0 -> 2.1." in changed
    assert "no change beyond noise in 24 cells" in drafts.pull_request(compared(pairs(3)), 6)


def test_a_reason_that_many_cells_share_is_printed_once():
    refused = record("ORC", "size", None, status="unsupported", sentence="no lists")
    failed = replace(refused, status="failed", sentence="a crash")
    judged = compared([*pairs(3), *[(refused, refused)] * 9, (failed, refused)])
    text = drafts.pull_request(judged, 6)
    assert text.startswith("### toy 1.0 → 2.0: no change beyond noise in 24 cells")
    assert text.endswith(
        "</details>\n\n- 9 cells without a value: unsupported: no lists\n"
        "- 1 cell without a value: failed: a crash → unsupported: no lists\n"
    )


@pytest.fixture
def sets(tmp_path, monkeypatch):
    """Install two library sets, of which the scripts below find one to be slower."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for each in (OLD, NEW):
        make_library_set(library_set.folder() / each.name, tmp_path / f"ran-{each.name}")
    return OLD, NEW


def script_at(folder, line):
    path = folder / "mine.py"
    path.write_text(f"import sys\nslow = 'toy-2.0' in sys.prefix\n{line}\n", encoding="utf-8")
    return path


def test_a_script_is_run_in_both_sets_in_turn(sets, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))  # which a script must not see
    path = script_at(tmp_path, "print(f'read time: {0.02 if slow else 0.01} seconds, the median of 5')")
    (found,) = scripts.compare(path, sets, 3)
    assert (found.before.value, found.after.value) == (0.01, 0.02)
    assert found.word == "slower"
    for line, reason in {
        "raise ValueError('no such codec')": "fails with toy-1.0-aaaaaaaa: ValueError: no such codec",
        "print('all is well')": "prints no value",
    }.items():
        with pytest.raises(InvalidRequestError, match=reason):
            scripts.run(script_at(tmp_path, line), OLD.name)


@pytest.mark.usefixtures("sets")
def test_a_number_with_commas_is_read_whole(tmp_path):
    path = script_at(tmp_path, "print(f'size: {12_345_678 + slow:,} bytes\\nread time: 1.2.3 seconds')")
    assert scripts.run(path, NEW.name) == {"size": 12_345_679}


def test_the_release_of_a_change_is_found_and_an_issue_drafted(sets, tmp_path, monkeypatch):
    def installed(wanted, *_):
        version = wanted.requirement.partition("==")[2]
        if version == "1.3":
            raise ResolutionError("there is no wheel")
        name = f"toy-{'2.0' if version >= '1.4' else version}-cccccccc"
        if not (library_set.folder() / name).exists():
            make_library_set(library_set.folder() / name, tmp_path / "ran")
        return ReplacedSet(name, "toy", version, {})

    monkeypatch.setattr(cause, "install", installed)
    monkeypatch.setattr(cause, "releases", lambda *_: ["0.9", "1.0", "1.1", "1.2", "1.3", "1.4", "2.0"])
    path = script_at(tmp_path, "print(f'read time: {0.02 if slow else 0.01} seconds')")
    (pair,) = scripts.compare(path, sets, 3)
    shown = cause.Shown(path, pair.after, pair)
    said = []
    culprit = cause.find_release(shown, sets, [], None, said.append)
    assert (culprit.last_before, culprit.first_after) == ("1.2", "1.4")
    assert any("1.3 is left out: there is no wheel" in each for each in said)
    text = drafts.issue(shown, sets, culprit)
    assert text.startswith("# toy 1.4: read time 2.00 times the value of 1.0\n")
    assert "The last release without it is 1.2, the first with it 1.4." in text
    assert "--with toy==1.0 python mine.py" in text
    assert "Nothing was sent" in text


@pytest.fixture
def slow_column(monkeypatch):
    """Let scripts be twice as slow with the later version if their data have one column and 300 rows."""
    wrote = []

    def write(out, shown, data, of):
        del of
        wrote.append((shown, data))
        return out / cause.SCRIPT

    def by_round(script, names, rounds, limit_seconds=None):
        del script
        if limit_seconds:
            assert 1 <= limit_seconds() <= cause.REDUCTION_SECONDS
        shown, data = wrote[-1]
        shows = "float_3" in data.columns and len(data) >= 300
        for _ in range(rounds):
            yield [{shown.metric: 0.01 * (1 + shows * number)} for number in range(len(names))]

    monkeypatch.setattr(cause, "_write", write)
    monkeypatch.setattr(scripts, "by_round", by_round)
    return wrote


def changed(metric="read time", value=0.02):
    before, after = (
        record("CSV", metric, each, dataset="float", rows=1000, columns=8) for each in (0.01, value)
    )
    return JudgedPair(before, after, Verdict.CHANGED, value / 0.01, None)


def test_data_are_cut_as_long_as_they_show_the_change(slow_column, tmp_path):
    found = cause.reduce([changed("read memory"), changed()], (OLD, NEW), tmp_path, 3, print)
    assert found.record.metric == "read time"
    assert (found.record.rows, found.record.columns) == (500, 1)
    assert [*slow_column[-1][1].columns] == ["float_3"]
    assert found.pair.ratio == pytest.approx(2.0)
    # Seven trials to three halves of the columns and one of the rows, and four that show nothing.
    assert len(slow_column) < 20


@pytest.mark.usefixtures("slow_column")
def test_a_reduction_ends_in_time(tmp_path, monkeypatch):
    class Budget(TimeBudget):
        def __init__(self, seconds):
            ticks = iter(range(10**6))
            super().__init__(seconds, clock=lambda: float(next(ticks)))

    monkeypatch.setattr(cause, "TimeBudget", Budget)
    monkeypatch.setattr(cause, "REDUCTION_SECONDS", 8)
    found = cause.reduce([changed()], (OLD, NEW), tmp_path, 3, print)
    assert found.record.rows == 1000
    assert found.record.columns > 1
    with pytest.raises(UnsupportedError, match=r"not show the change; .*the 8 seconds were over$"):
        cause.reduce([changed(value=0.08)] * 9, (OLD, NEW), tmp_path, 3, print)


def test_a_run_of_a_script_that_takes_too_long_is_killed(sets, tmp_path):
    path = script_at(tmp_path, "import time; time.sleep(30)")
    with pytest.raises(InvalidRequestError, match="was not finished after 1 seconds with toy-1"):
        next(scripts.by_round(path, [each.name for each in sets], 1, lambda: 1.0))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "name the later version by either --wheel or --requirement"),
        (("--wheel", "a.whl", "--requirement", "a"), "name the later version by either"),
        (("--wheel", "a.zip"), "the name of a wheel ends with .whl"),
        (("--requirement", "pyarrow==1", "--rounds", "2"), "--rounds"),
    ],
)
def test_a_wrong_call_is_refused(arguments, reason):
    done = CliRunner().invoke(format_bench, ["against", *arguments])
    assert done.exit_code == 2
    assert reason in done.output


SLOW = """
import sys
if "toy-2.0" in sys.prefix:
    import pickle, time
    load = pickle.load
    def slower(*arguments, **options):
        time.sleep(0.05)
        return load(*arguments, **options)
    pickle.load = slower
"""


@pytest.mark.nightly
def test_cells_of_two_sets_are_measured_in_turn(sets, tmp_path, monkeypatch, libraries_unasked):
    del libraries_unasked
    for each in sets:
        (site,) = library_set.find(each.name).place.glob("lib/python*/site-packages")
        with (site / "sitecustomize.py").open("a") as file:
            file.write(SLOW)
    monkeypatch.setattr(turns, "install_both", lambda *_: sets)
    out = tmp_path / "out"
    what = ["--requirement", "pandas==3", "--formats", "Pickle", "--rows", "50", "--steps", "save,read"]
    call = ["--quiet", "against", *what, "--rounds", "3", "--out", str(out), "--fail-on-change"]
    done = CliRunner().invoke(format_bench, call)
    assert done.exit_code == against.CHANGED, done.output
    changed = done.output.partition("<details>")[0]
    assert re.search(r"\| Pickle.*, read time of .*\*\*slower\*\*", changed), done.output
    assert "save time" not in changed
    assert (out / "against.md").read_text(encoding="utf-8") in done.output
    ran = {each.conditions["library set"] for each in load(out).records}
    assert ran == {each.name for each in sets}
