"""The metadata of a run against other sources, and thread policies by the clock."""

import json
import os
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from format_bench.instruments import threads
from format_bench.metadata import run_metadata
from tests.helpers import ROOT

USABLE = len(os.sched_getaffinity(0))


def child(policy, code, **variables):
    """Return what code printed, as JSON, in a fresh process under a policy's variables."""
    env = os.environ | threads.environment(policy) | variables
    command = [
        sys.executable,
        "-c",
        f"import json\nfrom format_bench.instruments import threads\n{code}",
    ]
    output = subprocess.check_output(command, env=env, cwd=ROOT, text=True, timeout=120)
    return json.loads(output.splitlines()[-1])


def output_of(*command):
    """Return the output of a command, without the variables that `nproc` follows."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    return subprocess.check_output(command, env=env, text=True).strip()


# --- thread policies -------------------------------------------------------------------------------

PARALLEL_WORK = """
import pathlib, shutil, tempfile, time
import numpy as np
def ratio(call):
    call()
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.process_time() - cpu) / (time.perf_counter() - wall)
def ratios():
    import pandas as pd, pyarrow as pa, pyarrow.csv, pyarrow.parquet as pq
    if late: threads.apply("1")
    df = pd.DataFrame(np.random.default_rng(1).standard_normal((300_000, 6))).rename(columns=str)
    table, folder = pa.Table.from_pandas(df), pathlib.Path(tempfile.mkdtemp())
    text, parquet = folder / "a.csv", folder / "a.parquet"
    pa.csv.write_csv(table, text)
    pq.write_table(table, parquet)
    matrix = np.ones((800, 800))
    found = {
        "pandas.read_csv": ratio(lambda: pd.read_csv(text)),
        "pyarrow.csv": ratio(lambda: pa.csv.read_csv(text)),
        "pyarrow.parquet": ratio(lambda: pq.read_table(parquet)),
        "sort": ratio(lambda: table.sort_by("0")),
        "matmul": ratio(lambda: matrix @ matrix),
    }
    shutil.rmtree(folder)
    return found
"""


@pytest.mark.parametrize("late", [True, False], ids=["after imports", "before imports"])
def test_one_thread_is_one_by_the_clock(late):
    code = (
        f"late = {late}\n{PARALLEL_WORK}\nif not late: threads.apply('1')\nprint(json.dumps(ratios()))"
    )
    found = child("1", code)
    assert len(found) == 5
    assert {name: ratio for name, ratio in found.items() if ratio > 1.05} == {}


IMPORTS = "import numpy, pandas, pyarrow, numexpr, tables, blosc2\n"
ASKED = {"pandas", "pyarrow", "numexpr", "tables", "blosc2", "openblas"}


@pytest.mark.parametrize("policy", ["1", "all"])
def test_every_library_reports_the_policy(policy):
    code = f"{IMPORTS}threads.apply('{policy}')\nprint(json.dumps(threads.in_force()))"
    found = child(policy, code)
    count = 1 if policy == "1" else USABLE
    assert {name: found[name] for name in ASKED | {"cpus"}} == dict.fromkeys(ASKED | {"cpus"}, count)
    assert found["pyarrow I/O"] == threads.IO_THREADS


def test_variables_alone_are_obeyed_by_all_but_pandas():
    found = child("1", f"{IMPORTS}print(json.dumps(threads.in_force()))")
    assert {found[name] for name in ASKED - {"pandas"}} == {1}
    assert found["cpus"] == USABLE


def test_a_policy_can_be_changed():
    code = "threads.apply('1')\nthreads.apply('all')\nprint(json.dumps(threads.in_force()))"
    found = child("all", IMPORTS + code)
    assert {found[name] for name in ASKED | {"cpus"}} == {USABLE}


def test_threads_that_already_run_are_pinned_too():
    code = """
import os, threading
end = threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
threads.apply("1")
print(json.dumps([sorted(os.sched_getaffinity(i)) for i in (0, thread.native_id)]))
end.set()
"""
    main, other = child("all", code)
    assert main == other
    assert len(main) == 1


def test_a_file_that_pytables_opens_keeps_the_policy(tmp_path):
    code = f"""
import tables
threads.apply("all")
with tables.open_file({str(tmp_path / "a.h5")!r}, "w"):
    print(json.dumps([tables.set_blosc_max_threads(1), tables.set_blosc2_max_threads(1)]))
"""
    assert child("all", code) == [USABLE, USABLE]


def test_nothing_under_test_is_imported():
    code = """
import sys
threads.apply("1")
imported = {"numpy", "pandas", "pyarrow", "tables", "numexpr"} & set(sys.modules)
print(json.dumps([threads.in_force(), sorted(imported)]))
"""
    assert child("1", code) == [{"cpus": 1}, []]


# --- metadata of runs ------------------------------------------------------------------------------


def collect(folder, policy="1", earlier=None):
    return run_metadata.collect(folder, seed=7, scale="small", threads=policy, earlier=earlier)


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scratch")
    return folder, collect(folder)


def test_system_agrees_with_other_programs(collected):
    _, found = collected
    assert found["system"]["kernel"] == output_of("uname", "-r")
    assert found["cpu"]["usable"] == int(output_of("nproc"))
    assert found["cpu"]["logical"] == int(output_of("getconf", "_NPROCESSORS_ONLN"))
    assert found["memory"]["total_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < found["memory"]["available_bytes"] <= found["memory"]["total_bytes"]
    assert found["python"]["version"] == output_of(
        sys.executable, "-c", "import sys; print(sys.version)"
    )


def test_scratch_agrees_with_df(collected):
    folder, found = collected
    kind, device, point = (
        output_of("df", "--output=fstype,source,target", folder).splitlines()[1].split()
    )
    scratch = found["scratch"]
    assert [scratch["file_system"], scratch["mount_point"]] == [kind, point]
    assert scratch["device"] == device
    assert {"rw", "ro"} & set(scratch["options"].split(","))
    assert 0 < scratch["free_bytes"] < shutil.disk_usage(folder).total


@pytest.mark.usefixtures("libraries_unasked")
def test_another_file_system_is_recognized():
    found = collect(Path("/proc"))["scratch"]
    assert found["file_system"] == output_of("stat", "-f", "-c", "%T", "/proc") == "proc"
    assert found["rotational"] is None


def test_libraries_are_those_of_the_adapters(collected):
    _, found = collected
    libraries = found["libraries"]
    assert {"numpy", "pandas", "pyarrow", "pylance", "fastavro"} <= set(libraries)
    listed = json.loads(output_of(sys.executable, "-m", "pip", "list", "--format=json"))
    installed = {each["name"].lower().replace("_", "-"): each["version"] for each in listed}
    assert libraries == {name: installed.get(name.lower().replace("_", "-")) for name in libraries}


def test_libraries_are_asked_under_the_policy(collected):
    _, found = collected
    in_force = found["threads"]["in_force"]
    assert found["threads"]["policy"] == "1"
    assert set(in_force) >= ASKED | {"cpus", "pyarrow I/O"}
    assert {count for name, count in in_force.items() if name != "pyarrow I/O"} == {1}
    assert [name for name, version in found["c_libraries"].items() if not version] == []


@pytest.mark.usefixtures("libraries_unasked")
def test_libraries_are_not_asked_again_where_all_is_the_same(collected, tmp_path):
    _, found = collected
    earlier = json.loads(json.dumps(found))
    again = collect(tmp_path, earlier=earlier)
    assert [again[name] for name in ("threads", "c_libraries")] == [
        found[name] for name in ("threads", "c_libraries")
    ]
    others = [
        {"libraries": found["libraries"] | {"pyarrow": "1.0"}},
        {"python": found["python"] | {"version": "3.99"}},
        {"cpu": found["cpu"] | {"usable": 99}},
        {"threads": found["threads"] | {"in_force": None}},
        {"threads": found["threads"] | {"policy": "all"}},
    ]
    for other in others:
        assert collect(tmp_path, earlier=earlier | other)["threads"]["in_force"] is None, other


def stub(folder, name, code):
    (folder / name).mkdir()
    (folder / name / "__init__.py").write_text(code)


def test_broken_libraries_are_null_and_the_others_are_not(tmp_path, monkeypatch):
    stub(tmp_path, "tables", "raise OSError('libhdf5.so: cannot open shared object file')")
    stub(tmp_path, "lxml", "raise SystemExit(3)")
    stub(tmp_path, "polars", "print('loaded')")
    monkeypatch.syspath_prepend(tmp_path)
    found = collect(tmp_path, "all")
    assert found["c_libraries"]["HDF5"] is None
    assert found["c_libraries"]["libxml2"] is None
    assert found["c_libraries"]["Arrow C++"]
    assert found["threads"]["in_force"]["pyarrow"] == USABLE


def test_a_library_that_ends_the_process_costs_the_answers_only(tmp_path, monkeypatch):
    stub(tmp_path, "tables", "import os; os.abort()")
    monkeypatch.syspath_prepend(tmp_path)
    found = collect(tmp_path)
    assert set(found["c_libraries"].values()) == {None}
    assert found["threads"] == {"policy": "1", "in_force": None}
    assert found["libraries"]["pandas"]


def test_written_and_read_again(collected, tmp_path):
    _, found = collected
    assert found["ended"] is None
    ended = run_metadata.finish(found)
    run_metadata.write(ended, tmp_path / "run.json")
    assert json.loads((tmp_path / "run.json").read_text()) == ended
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]
    assert datetime.fromisoformat(ended["started"]) <= datetime.fromisoformat(ended["ended"])
    assert len(ended["load_average"]["end"]) == 3
    assert (ended["seed"], ended["scale"]) == (7, "small")


@pytest.mark.usefixtures("libraries_unasked")
def test_commit_is_that_of_the_checkout_that_tracks_the_code(tmp_path, monkeypatch):
    monkeypatch.delenv("ASV_COMMIT", raising=False)
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    monkeypatch.setattr(run_metadata, "__file__", str(package / "run_metadata.py"))
    assert collect(tmp_path)["commit"] == {"hash": None, "clean": None}

    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    output_of(*git, "init", "-q")
    assert collect(tmp_path)["commit"] == {"hash": None, "clean": None}

    output_of(*git, "add", ".")
    output_of(*git, "commit", "-q", "-m", "a")
    head = output_of(*git, "rev-parse", "HEAD")
    assert collect(tmp_path)["commit"] == {"hash": head, "clean": True}

    (package / "more.py").touch()
    assert collect(tmp_path)["commit"] == {"hash": head, "clean": False}

    monkeypatch.setenv("ASV_COMMIT", "abc")
    assert collect(tmp_path)["commit"] == {"hash": "abc", "clean": None}


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (
            ["/usr/bin/format-bench", "run", "--data", "my file.csv"],
            "format-bench run --data 'my file.csv'",
        ),
        (["/x/format_bench/__main__.py", "run"], "format-bench run"),
        (["/x/tools/fuzz/__main__.py", "run"], None),
        (["pytest", "-q"], None),
    ],
)
def test_the_command_is_that_of_format_bench_alone(monkeypatch, words, command):
    monkeypatch.setattr(sys, "argv", words)
    assert run_metadata._command() == command
