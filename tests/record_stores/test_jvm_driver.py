"""Driver of the JVM: measures, failures and toolchain, with a format of known costs."""

from __future__ import annotations

import re
import statistics
import tempfile
from pathlib import Path

import pytest

import record_stores
from adapter_core import Trait, UnavailableError
from adapter_core.records import jvm
from adapter_core.records.jvm import JvmRequest
from adapter_core.records.maven import MavenModule, find_java
from format_bench.runner import folders


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that serves requests to the planted format in one JVM."""
    store = record_stores.find("Kryo[jvm]")
    if not (answer := record_stores.jvm.availability()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    if not (answer := record_stores.jvm.toolchain()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    classes = tmp_path_factory.mktemp("classes")
    sources = (Path(__file__).parent / "planted/formatbench/formats").glob("*.java")
    record_stores.jvm.compile(sources, classes)

    def serve(*names, operation="read", limit_seconds=60, format_name="planted", **calls):
        requests = [
            JvmRequest(operation, "entities", 10, classes / name, format_name=format_name, **calls)
            for name in names
        ]
        return store.run_all(requests, limit_seconds, heap_gib=1, class_path=[classes])

    serve.folder = classes
    return serve


@pytest.fixture(scope="module")
def answers(run):
    return dict(zip(("heap", "sleep", "noise"), run("heap", "sleep", "noise", calls=3), strict=True))


def test_planted_objects_are_found_in_the_heap(answers):
    (heap,) = (each for each in answers["heap"] if each["event"] == "heap")
    assert heap["held_bytes"] == pytest.approx(10_000_000, rel=0.001)
    assert heap["class"] == "byte[]"
    assert abs(heap["library_bytes"]) < 1_000_000
    calls = [each for each in answers["heap"] if each["event"] == "call"]
    assert all(10_000_000 < each["allocated_bytes"] < 11_000_000 for each in calls)


def test_a_planted_sleep_is_in_the_wall_clock_alone(run, answers):
    calls = [each for each in answers["sleep"] if each["event"] == "call"]
    assert [each["number"] for each in calls] == [1, 2, 3]
    assert all(each["wall_seconds"] >= 0.2 for each in calls)
    assert min(each["cpu_seconds"] for each in calls) < 0.2
    # By the format's own clock, since another process may keep a sleeper waiting.
    slept = [float(line) / 1e9 for line in (run.folder / "slept").read_text().split()[:3]]
    taken = statistics.median(each["wall_seconds"] for each in calls)
    assert taken == pytest.approx(statistics.median(slept), rel=0.05)


@pytest.fixture(scope="module")
def iterated(run):
    """Return the answers of one JVM to calls until they are steady."""
    names = ("boxes", "spin", "settling", "restless")
    found = run(*names, operation="iterate", calls=6, most_calls=90, most_seconds=20.0)
    return dict(zip(names, found, strict=True))


def calls_of(answers):
    return [each for each in answers if each["event"] == "call"]


def warm_up_of(answers):
    (found,) = (each for each in answers if each["event"] == "warm-up")
    return found


def test_objects_that_are_dropped_are_made_all_the_same(iterated):
    # The compiler takes objects apart that nothing refers to, from the second or third call on.
    assert all(each["allocated_bytes"] >= 200_000 * 16 for each in calls_of(iterated["boxes"]))
    assert all(each["rows"] == 200_000 for each in calls_of(iterated["boxes"]))


def test_processor_time_is_finer_than_the_ticks_of_the_process(iterated):
    least = min(each["cpu_seconds"] for each in calls_of(iterated["spin"]))
    assert 0.003 <= least < 0.005


def test_calls_go_on_until_they_are_steady(iterated):
    calls, warm_up = calls_of(iterated["settling"]), warm_up_of(iterated["settling"])
    assert warm_up["is_steady"], [each["cpu_seconds"] for each in calls]
    assert len(calls) == warm_up["calls"] + 5 < 90
    # Each of the first nine calls is shorter than the one before.
    assert warm_up["calls"] >= 8
    samples = [each["cpu_seconds"] for each in calls[warm_up["calls"] :]]
    assert statistics.stdev(samples) / statistics.mean(samples) == pytest.approx(warm_up["variation"])
    assert warm_up["variation"] <= 0.02
    assert max(samples) < calls[0]["cpu_seconds"] / 2  # which spins five times as long


def test_calls_that_never_agree_end_at_their_limit_and_say_so(iterated):
    calls, warm_up = calls_of(iterated["restless"]), warm_up_of(iterated["restless"])
    assert len(calls) == 90
    assert (warm_up["calls"], warm_up["is_steady"]) == (85, False)
    assert warm_up["variation"] > 0.2


def test_a_number_of_calls_without_time_for_more_is_kept(answers):
    assert len(calls_of(answers["sleep"])) == 3
    assert warm_up_of(answers["sleep"])["calls"] == 2


def test_output_of_a_library_is_not_an_answer(answers):
    assert [each["event"] for each in answers["noise"]].count("end") == 1


def test_the_circumstances_are_reported(answers):
    ready = answers["heap"][0]
    assert ready["event"] == "ready"
    assert "-XX:+UseSerialGC" in ready["flags"]
    assert ready["collector"] == ["Copy", "MarkSweepCompact"]
    assert ready["java"] == find_java().version
    assert {"kryo", "avro", "protobuf-java"} <= set(ready["versions"])
    assert ready["compressed_oops"] == "true"


def test_an_exception_is_an_answer(run):
    (found,) = run("any", operation="write")
    (error,) = (each for each in found if each["event"] == "error")
    assert error["type"] == "java.lang.IllegalStateException"
    assert error["sentence"] == 'planted "error"\n\u00e9'
    assert found[-1]["event"] == "end"


def test_reading_serialized_objects_runs_code_that_the_file_names(run):
    store = record_stores.find("Java.serialization[jvm]")
    assert store.runs_code
    assert Trait.SAFE not in store.traits
    (written,) = run("payload.ser", operation="write")
    assert [each["event"] for each in written] == ["ready", "call", "warm-up", "end"]
    (found,) = run("payload.ser", operation="check", format_name=store.format_name)
    assert found[1]["type"] == "java.lang.ClassCastException"
    assert (run.folder / "made").exists()


def test_a_crash_ends_the_answers(run):
    found = run("sleep", "crash", "sleep")
    assert len(found) == 2
    assert found[1] == [{"event": "crashed", "sentence": "the JVM ended with status 134"}]


def test_too_small_a_heap_is_reported(run):
    (found,) = run("memory")
    assert found[-1]["event"] == "out of memory"


def test_a_hanging_jvm_is_killed(run):
    (found,) = run("hang", limit_seconds=2)
    assert found[-1] == {"event": "timed out", "sentence": "the JVM was killed after 2 s"}


def test_a_missing_java_is_the_reason(monkeypatch, tmp_path):
    for name in ("FORMAT_BENCH_JAVA", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = record_stores.find("Kryo[jvm]").availability()
    assert (answer.available, answer.reason) == (False, "there is no Java")
    with pytest.raises(
        UnavailableError, match=r"Kryo.jvm. is unavailable: there is no Java; try: apt-get"
    ):
        record_stores.get("Kryo[jvm]")


@pytest.mark.parametrize(
    ("version", "programs", "reason"),
    [
        ("11.0.2", "javac mvn", "Java 17 or newer is needed, .* is 11.0.2"),
        ("17.0.1", "mvn", "has not been built, and .* has no compiler beside it"),
        ("17.0.1", "javac", "has not been built, and there is no Maven"),
        ("17.0.1", "javac mvn", "has not been built$"),
    ],
)
def test_an_incomplete_toolchain_is_the_reason(monkeypatch, tmp_path, version, programs, reason):
    for program in ("java", *programs.split()):
        path = tmp_path / program
        path.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
        path.chmod(0o755)
    monkeypatch.setenv("FORMAT_BENCH_JAVA", str(tmp_path / "java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    answer = record_stores.jvm.availability()
    assert not answer
    assert re.search(reason, answer.reason)


def test_states_of_the_sources_share_their_libraries(monkeypatch, tmp_path):
    copy = 'mkdir -p "$place/target/lib"; cp "$place/pom.xml" "$place/target/own-1.jar"'
    arguments = 'echo "$@" > "$place/target/arguments.jar"'
    library = 'echo library > "$place/target/lib/library-1.jar"'
    for program, script in (
        ("java", "echo 'openjdk version \"21.0.1\"' >&2"),
        ("javac", ""),
        ("mvn", f'PATH=/bin:/usr/bin; place=$(dirname "$4"); {copy}; {library}; {arguments}'),
    ):
        path = tmp_path / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("FORMAT_BENCH_JAVA", str(tmp_path / "java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "module/src").mkdir(parents=True)
    built = []
    for state in ("first", "second"):
        (tmp_path / "module/pom.xml").write_text(state)
        built.append(MavenModule(tmp_path / "module").build())
    assert [(folder / "own-1.jar").read_text() for folder in built] == ["first", "second"]
    assert (built[0] / "library-1.jar").samefile(built[1] / "library-1.jar")
    names = sorted(path.name for path in built[1].iterdir())
    assert names == ["arguments.jar", "library-1.jar", "own-1.jar"]

    profile = MavenModule(tmp_path / "module", "more").build()
    assert profile.name == f"{built[1].name}-more"
    assert (profile / "arguments.jar").read_text().endswith("--activate-profiles more package\n")
    assert (profile / "library-1.jar").samefile(built[1] / "library-1.jar")


def test_the_runner_leaves_the_scratch_folder_of_a_jvm_alone(monkeypatch, tmp_path):
    # DuckDB loads its library from there, and fails if another run has removed it.
    if not (answer := record_stores.jvm.availability()):
        pytest.skip(f"{answer.reason}; try: {answer.install_hint}")
    left = []

    def run_meanwhile(_command, _lines, _limit_seconds, scratch):
        with folders.make(tmp_path):
            left.append(scratch.is_dir())
        return []

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(jvm, "_run", run_meanwhile)
    record_stores.find("DuckDB[jvm]").run_all([], 1)
    assert left == [True]


def test_a_failing_build_reports_the_first_error_and_leaves_nothing(monkeypatch, tmp_path):
    for program, script in (
        ("java", "echo 'openjdk version \"21.0.1\"' >&2"),
        ("javac", ""),
        ("mvn", "echo '[ERROR] COMPILATION ERROR : planted'; echo '[ERROR] more'; exit 1"),
    ):
        path = tmp_path / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("FORMAT_BENCH_JAVA", str(tmp_path / "java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        UnavailableError, match="Maven failed: COMPILATION ERROR : planted; try: format-bench build jvm"
    ):
        record_stores.jvm.build()
    assert [path.suffix for path in (tmp_path / "cache/formatbench/jvm").iterdir()] == [".lock"]
