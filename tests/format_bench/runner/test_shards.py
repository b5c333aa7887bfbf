"""Shards of a plan, measured by commands of their own, and `format-bench merge`."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from adapter_core.errors import InvalidRequestError
from format_bench.families.cases import Case
from format_bench.results import records
from format_bench.results.load import MAPS, RESULTS, load
from format_bench.runner import folders
from format_bench.runner.plan import RunRequest, plan
from format_bench.runner.shards import Shard, merge
from tests.commands import run
from tests.factories.records import record

QUICK = (
    *("--formats", "CSV,Feather,Pickle", "--datasets", "float", "--rows", "50"),
    *("--steps", "save", "--repeats", "2"),
)
SUITE = RunRequest(suite="compression", rows=100, conditions={"threads": ("1", "all")})


def test_shards_are_disjoint_and_complete_and_keep_what_is_compared_together():
    whole = plan(SUITE).cases
    parts = [plan(RunRequest(**vars(SUITE) | {"shard": Shard(i, 3)})).cases for i in (1, 2, 3)]
    assert Counter(case for part in parts for case in part) == Counter(whole)
    groups = [{(case.format, case.dataset, case.rows) for case in part} for part in parts]
    assert sum(map(len, groups)) == len({*groups[0], *groups[1], *groups[2]})
    assert max(map(len, groups)) - min(map(len, groups)) <= 1


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "1/x", "-1/2", ""])
def test_a_text_that_is_no_shard_is_refused(text):
    with pytest.raises(InvalidRequestError, match="write the second of three as 2/3"):
        Shard.parse(text)


def test_more_shards_than_formats_on_data_sets_are_refused():
    with pytest.raises(InvalidRequestError, match="the plan divides into 1 at most"):
        Shard(1, 2).cases([Case("CSV", "eq", 10)])


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a folder with one run as a whole, and with the same one in three shards."""
    folder = tmp_path_factory.mktemp("shards")
    for out, *shard in (("whole",), *((f"part-{i}", "--shard", f"{i}/3") for i in (1, 2, 3))):
        done = run("run", *QUICK, "--out", folder / out, *shard)
        assert done.returncode == 0, done.stderr
    return folder


def keys_of(folder: Path) -> set[records.Key]:
    return {records.key(each) for each in records.read(folder / RESULTS)}


def test_merged_shards_are_the_run(measured, tmp_path):
    parts = [measured / f"part-{i}" for i in (1, 2, 3)]
    out = tmp_path / "all"
    done = run("merge", out, *parts[:2])
    assert done.returncode == 0, done.stderr
    assert "shard 3/3 of tabular is missing" in done.stdout
    done = run("merge", out, *parts[1:])
    assert done.returncode == 0, done.stderr
    assert f"{parts[1]}: 0 records added" in done.stdout
    assert "missing" not in done.stdout
    assert keys_of(out) == keys_of(measured / "whole")
    # Of each cell all rounds, each once, with its run, whose metadata are there.
    found = records.read(out / RESULTS)
    assert Counter(map(records.line, found)) == Counter(
        records.line(each) for part in parts for each in records.read(part / RESULTS)
    )
    assert {each.run_id for each in found} == {
        each.name.partition("-threads-")[0] for each in out.glob("*-threads-*.json")
    }
    assert len(load(out).records) == len(keys_of(out))
    before = {each.name: each.read_bytes() for each in out.iterdir()}
    merge(out, [*reversed(parts), out])
    assert {each.name: each.read_bytes() for each in out.iterdir()} == before
    # What is merged can be gone on with.
    done = run("run", *QUICK, "--out", out)
    assert "measured 0 s" in done.stderr
    assert (out / RESULTS).read_bytes() == before[RESULTS]


def on_another_machine(folder: Path, out: Path) -> Path:
    shutil.copytree(folder, out)
    for path in out.glob("*-threads-*.json"):
        facts = json.loads(path.read_bytes())
        facts["cpu"]["model"] = "another one"
        path.write_text(json.dumps(facts))
    return out


def test_machines_that_differ_are_kept_apart(measured, tmp_path):
    here, out = measured / "part-1", tmp_path / "all"
    there = on_another_machine(measured / "part-2", tmp_path / "there")
    merge(out, [here])
    found = merge(out, [there])
    assert {records.key(each)[:-1] for each in records.read(out / RESULTS)} == {
        each[:-1] for part in (here, there) for each in keys_of(part)
    }
    one, other = (load(f"{out}#{machine}") for machine in found.machines)
    assert {each.format for each in one.records}.isdisjoint(each.format for each in other.records)
    assert [len({each["machine"] for each in results.metadata}) for results in (one, other)] == [1, 1]
    before = (out / RESULTS).read_bytes()
    assert merge(out, [there, here]).added == (0, 0)
    assert (out / RESULTS).read_bytes() == before


def put(folder: Path, *found: records.Record, data: str = "{}") -> Path:
    folder.mkdir()
    (folder / folders.DATA).write_text(data)
    for each in found:
        records.append(folder / RESULTS, each)
    return folder


def test_the_latest_run_of_a_cell_counts_and_a_folder_that_went_on(tmp_path):
    first, later = (record("CSV", "save time", value, run_id=f"2026-{value}") for value in (1.0, 2.0))
    resumed = record("CSV", "save time", 0.5, run_id="2026-1.0", rounds=2)
    out = tmp_path / "all"
    merge(out, [put(tmp_path / "later", later), put(tmp_path / "first", first)])
    assert [each.value for each in load(out).records] == [2.0]
    out = tmp_path / "resumed"
    merge(out, [put(tmp_path / "went on", first, resumed), tmp_path / "first"])
    assert [each.value for each in load(out).records] == [0.5]


def test_other_data_under_one_name_are_refused_and_nothing_changes(tmp_path):
    found = record("CSV", "save time", 1.0)
    one = put(tmp_path / "one", found, data='{"own": "1"}')
    other = put(tmp_path / "other", found, data='{"own": "2"}')
    done = run("merge", tmp_path / "all", one, other)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "other contains results of another own; merge it into a folder of its own" in done.stderr
    assert list((tmp_path / "all").iterdir()) == []
    for part, content in ((one, b"1"), (other, b"2")):
        (part / folders.DATA).unlink()
        (part / MAPS).mkdir()
        (part / MAPS / "a.npz").write_bytes(content)
    done = run("merge", tmp_path / "all", one, other)
    assert "other has another maps/a.npz" in done.stderr
    merge(tmp_path / "all", [one])
    assert (tmp_path / "all" / MAPS / "a.npz").read_bytes() == b"1"
    for folder, words in (
        (tmp_path / "none", "there is no such folder"),
        (tmp_path, "contains no results"),
    ):
        done = run("merge", tmp_path / "all", folder)
        assert done.returncode == 2
        assert words in done.stderr
