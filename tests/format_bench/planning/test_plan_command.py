"""The command `format-bench plan`: real stores on a small array, and unhappy paths."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from adapter_core import ArraySource
from adapter_core.array_description import Description
from format_bench.cli.main import main
from format_bench.families.arrays.boxes import Box
from format_bench.families.arrays.operations import ArrayOperations
from format_bench.planning import planner, session
from format_bench.planning.cells import Cells
from format_bench.planning.chunks import SOURCE, ChunkPlanner
from format_bench.planning.mix import ArrayMix, MixQuery
from format_bench.planning.planner import Layout
from format_bench.results import records
from format_bench.results.status import CellStatus
from format_bench.runner.executor import TimeBudget

MIX = """
[[query]]
name = "series"
weight = 3
dim_0 = "all"
dim_1 = 1
dim_2 = 1
[[query]]
name = "map"
dim_0 = 1
"""


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    """Call the command in this process, in a folder with a mix and an array."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mix.toml").write_text(MIX)
    values = np.random.default_rng(3).integers(0, 99, (64, 50, 60)).astype("f4")
    np.save(tmp_path / "mine.npy", values)
    (tmp_path / "scratch").mkdir()

    def run(*arguments):
        with pytest.raises(SystemExit) as caught:
            main(["plan", *arguments, "--scratch", str(tmp_path / "scratch")])
        assert list((tmp_path / "scratch").iterdir()) == []
        out, err = capfd.readouterr()
        return caught.value.code or 0, out, err

    return run


def test_a_plan_is_fitted_proposed_verified_and_written(call, tmp_path):
    status, out, err = call(
        "mix.toml", "--data", "mine.npy", "--stores", "HDF5,NPY.memmap", "--codec", "lz4",
        "--budget", "1s", "--json", "--out", "plan.html",
    )  # fmt: skip
    assert status == 0, err
    found = json.loads(out)
    assert found["use"]["store"] == "HDF5"
    assert found["sample_shape"] == [50, 50, 60] or np.prod(found["sample_shape"]) * 4 <= 4e6
    hdf5, memmap = found["stores"]
    assert (hdf5["codec"], hdf5["failure"]) == ("lz4", "")
    assert hdf5["model"]["reads"] > 20
    assert min(hdf5["model"]["coefficients"].values()) >= 0
    assert memmap["failure"]
    kinds = {kind for each in found["ranked"] for kind in each["kinds"]}
    assert kinds == {"proposed", "designed", "chunks of the source", "the library's own chunks"}
    for each in found["ranked"]:
        assert each["low"] <= each["measured"] <= each["high"]
        assert each["turns"] >= 1
        assert [query["name"] for query in each["queries"]] == ["series", "map"]
    seconds = [each["measured"] for each in found["ranked"]]
    assert seconds == sorted(seconds)
    assert found["gains"]
    (opening,) = [each for each in found["remarks"] if "opens the data anew" in each]
    assert "keep_open = true leaves it out" in opening
    assert "fit a model of HDF5" in err
    page = (tmp_path / "plan.html").read_text()
    assert "Use HDF5 in chunks of" in page
    assert "<script" not in page
    kept = records.read(tmp_path / "reports" / "plan-mine" / "results.jsonl")
    times = [each for each in kept if each.metric == "query time" and each.query == "map"]
    assert max(each.rounds for each in times) == found["turns"]
    assert {each.conditions["chunk shape"].count("x") for each in kept} == {2}
    (tmp_path / "mix.toml").write_text(MIX.replace("dim_1 = 1", "dim_1 = 2"))
    status, _, err = call("mix.toml", "--data", "mine.npy", "--stores", "HDF5", "--budget", "1s")
    assert status == 2
    assert "contains results of another query 'series' to mine-" in err
    assert err.rstrip().endswith("start over with --fresh, or name another --results")


def test_a_cold_plan_of_a_data_set_is_shown_as_text(call, tmp_path):
    mix = MIX.replace("dim_0", "time").replace("dim_1", "latitude").replace("dim_2", "longitude")
    (tmp_path / "mix.toml").write_text(f'mean = "geometric"\nkeep_open = true\n{mix}')
    status, out, err = call(
        "mix.toml", "--dataset", "era5-small", "--rows", "8", "--sample-size", "1", "--stores", "Blosc2",
        "--cold", "--budget", "1s", "--out", "plan.md", "--explain",
    )  # fmt: skip
    assert status == 0, err
    assert "use      Blosc2 in chunks of" in out
    assert "time x variable x latitude x longitude" in " ".join(out.split())
    assert "note: Measured on a sample of" in out
    assert "opens the data anew" not in out
    assert "cold" in out
    assert "geometric mean" in (tmp_path / "plan.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mix.toml",), "give either --data or --dataset"),
        (("mix.toml", "--data", "mine.npy", "--dataset", "faces"), "give either --data or --dataset"),
        (("mix.toml", "--data", "mine.npy", "--rows", "3"), "--rows needs --dataset"),
        (("mix.toml", "--data", "mine.npy", "--out", "plan.pdf"), "must end in .html or .md"),
        (("none.toml", "--data", "mine.npy"), "none.toml: No such file"),
        (("mix.toml", "--data", "none.npy"), "none.npy"),
        (("mix.toml", "--data", "mix.toml"), "contains no array"),
        (("mix.toml", "--dataset", "era6"), "there is no array 'era6'"),
        (("mix.toml", "--dataset", "faces"), "'series': the array has no dimension 'dim_0'"),
        (("mix.toml", "--data", "mine.npy", "--stores", "HDF6"), "there is no array store 'HDF6'"),
        (("mix.toml", "--data", "mine.npy", "--stores", "NPY.memmap"), "no store could be measured"),
        (
            ("mix.toml", "--data", "mine.npy", "--stores", "HDF5", "--codec", "zstd:99"),
            "has levels 1 to 22, not 99",
        ),
        (("mix.toml", "--data", "mine.npy", "--stores", "HDF5", "--codec", "zpaq"), "has no codec zpaq"),
        (("mix.toml", "--data", "mine.npy", "--budget", "soon"), "'soon' is not a duration"),
    ],
)
def test_what_cannot_be_planned_ends_with_one_line_and_status_2(call, arguments, message):
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert message in err.splitlines()[-1]
    assert "Traceback" not in err


def test_codecs_are_the_nearest_of_each_store():
    import array_stores

    def chosen(label, name, level=None):
        return array_stores.get(label).nearest_codec(name, level)

    assert chosen("HDF5", "blosc:lz4", 6) == ("blosc:lz4", 6)
    assert chosen("Blosc2", "blosc:lz4", 6) == ("lz4", 6)
    assert chosen("TileDB", "blosc:lz4", 6) == ("lz4", None)
    assert chosen("TileDB", None) == (None, None)


def test_an_answer_that_differs_from_the_sample_ends_the_turns_of_a_layout(tmp_path):
    values = np.arange(1000, dtype="f8").reshape(10, 10, 10)
    array, path = ArraySource.of(values, (5, 5, 5)), tmp_path / "sample"
    ArrayOperations.store(array, path)
    (tmp_path / "out").mkdir()
    query = MixQuery("q", 1.0, Box((3, 3, 3), (None, None, None)))
    mix = ArrayMix((query,), keep_open=True)
    planner = ChunkPlanner("mine", Description.of(array), mix, (10, 10, 10), path)
    layout = Layout("HDF5", None, None, (2, 5, 5))
    budget = TimeBudget(60)
    with Cells(tmp_path / "out", tmp_path, planner, budget, cold=False) as cells:
        cells.fit([layout], [query], 1, TimeBudget(0))
        cells.verify([layout], [query])
    fitted = cells.reads(layout, [query], is_fit=True)
    # Another session goes on with the records.
    with Cells(tmp_path / "out", tmp_path, planner, budget, cold=False) as cells:
        cells.fit([layout], [query], 1, TimeBudget(0))
        assert cells.reads(layout, [query], is_fit=True) == fitted
        assert len(fitted.turns) == len(cells.reads(layout, [query]).turns) == 1
        ArrayOperations.store(ArraySource.of(values + 1, (5, 5, 5)), path)
        cells.verify([layout], [query])
        reads = cells.reads(layout, [query])
    assert len(reads.turns) == 1
    assert reads.size_bytes > 8000
    assert "WrongValuesError: came back wrong: 27 of 27 values" in reads.failure


@pytest.mark.parametrize(
    ("sentence", "is_final"), [("No space left on device", False), ("Unexpected end of file", True)]
)
def test_a_layout_that_failed_for_want_of_space_is_measured_again(tmp_path, sentence, is_final):
    array, path = ArraySource.of(np.zeros((10, 10, 10)), (5, 5, 5)), tmp_path / "sample"
    ArrayOperations.store(array, path)
    (tmp_path / "out").mkdir()
    mix = ArrayMix((MixQuery("q", 1.0, Box((3, 3, 3), (None, None, None))),), keep_open=True)
    plan = ChunkPlanner("mine", Description.of(array), mix, (10, 10, 10), path)
    layout, kept = Layout("HDF5", None, None, (2, 5, 5)), tmp_path / "out" / "results.jsonl"
    with Cells(tmp_path / "out", tmp_path, plan, TimeBudget(60), cold=False) as cells:
        cells.fit([layout], mix.queries, 1, TimeBudget(60))
    ended = {"value": None, "status": CellStatus.FAILED, "interval": None}
    ended |= {name: [] for name in ("repeats", "round_sizes", "cpu_repeats", "loop_repeats")}
    failed = [
        replace(each, **ended, sentence=f"OSError: {sentence}", run_id="earlier")
        for each in records.read(kept)
    ]
    kept.write_bytes(b"".join(map(records.line, failed)))
    with Cells(tmp_path / "out", tmp_path, plan, TimeBudget(60), cold=False) as cells:
        cells.fit([layout], mix.queries, 1, TimeBudget(60))
        reads = cells.reads(layout, mix.queries, is_fit=True)
    assert (bool(reads.failure), len(reads.turns)) == (is_final, 0 if is_final else 1)


def test_chunks_that_the_sample_cuts_like_the_sources_are_not_called_the_sources(tmp_path):
    array = Description.of(ArraySource.of(np.zeros((10, 10, 10)), (1, 10, 10)))
    mix = ArrayMix((MixQuery("q", 1.0, Box((1, 10, 10), (None, None, None))),), keep_open=True)
    plan = ChunkPlanner("mine", array, mix, (4, 4, 4), tmp_path)
    found, store = session.PlanSession(None, plan, None, None, print), planner.StorePlan("HDF5")
    for form, kind in (
        ((1, 4, 4), planner.DESIGNED),
        ((1, 10, 10), SOURCE),
        ((1, 4, 4), planner.DESIGNED),
    ):
        found._add(store, form, kind)
    (each,) = store.verified
    assert (each.form, each.parts, each.kinds) == ((1, 10, 10), 10, [planner.DESIGNED, SOURCE])
    assert "1 x 10 x 10" in each.name


def test_a_disk_without_room_for_all_files_is_refused(call, monkeypatch):
    usage = SimpleNamespace(free=10**6)
    monkeypatch.setattr(planner.shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(session.folders, "check_scratch", lambda path: path)
    status, _, err = call("mix.toml", "--data", "mine.npy", "--stores", "HDF5,Blosc2")
    assert status == 2
    assert "2 stores with a sample of 1 MB may need" in err
