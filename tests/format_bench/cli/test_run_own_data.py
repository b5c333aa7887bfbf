"""`format-bench run --data`: several data sets of a user in one run."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from format_bench.cli.main import main


@pytest.fixture
def call(tmp_path, monkeypatch, capfd, libraries_unasked):  # noqa: ARG001 (for what it does)
    """Return a function that runs with some data; it returns status, output and the last error."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)

    def run(*data, options=("--formats", "NPY", "--steps", "save", "--repeats", "1")):
        own = [word for each in data for word in ("--data", each)]
        with pytest.raises(SystemExit) as ended:
            main(["run", *own, *options, "--out", "out", "--scratch", "scratch"])
        said = capfd.readouterr()
        return ended.value.code or 0, said.out, said.err.strip().rpartition("\n")[2]

    return run


@pytest.fixture
def ocean(tmp_path):
    """Leave a file with three variables, of which one describes the others."""
    with h5py.File(tmp_path / "ocean.nc", "w") as file:
        for name, value in (("tos", 1), ("sos", 2)):
            file[name] = np.full((4, 6, 8), value, "float32")
            file[name].attrs["cell_measures"] = "area: area"
        file["area"] = np.zeros((6, 8))


def measured(tmp_path):
    lines = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return {each["dataset"] for each in map(json.loads, lines)}


def test_several_variables_are_data_sets_of_one_run(call, ocean, tmp_path):  # noqa: ARG001
    np.save(tmp_path / "waves.npy", np.zeros((3, 5)))
    status, said, line = call("ocean.nc::tos,sos", "waves.npy")
    assert status == 0, line
    assert measured(tmp_path) == {"ocean_tos", "ocean_sos", "waves"}
    for name in ("ocean_tos", "ocean_sos", "waves"):
        assert f"\n{name}, 1 chunk" in said
        assert f"{name}:\n" in said
    before = (tmp_path / "out" / "results.jsonl").read_bytes()
    assert call("ocean.nc::tos,sos", "waves.npy")[0] == 0
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (("ocean.nc::tos,heat",), "contains no variable 'heat'; it contains area, sos, tos"),
        (("ocean.nc", "table.csv"), "ocean is an array and table is a table; measure them in two runs"),
        (("ocean.nc", "ocean.nc"), "two data sets have the name 'ocean' in results; rename a file"),
        (("table.csv::a,b",), "is CSV, which contains one table; leave out ::a,b"),
    ],
)
def test_data_that_do_not_go_together_are_one_line(call, ocean, data, reason, tmp_path):  # noqa: ARG001
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    status, _, line = call(*data)
    assert (status, reason in line) == (2, True), line
    assert not (tmp_path / "out").exists()


def test_questions_that_a_table_has_no_numbers_for_are_named_once(call, tmp_path):
    pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}).to_parquet(tmp_path / "t.parquet")
    options = ("--suite", "analysis", "--formats", "Pickle,Parquet", "--repeats", "1")
    status, said, _ = call("t.parquet", options=options)
    assert status == 0
    words = " ".join(said.split())
    assert "unsupported" not in words
    reason = "column 'b' contains text, and only numbers without nulls add up."
    assert words.count(f"full is not asked of t: analysis.toml: question 'full': {reason}") == 1
    assert words.count("sparse is not asked of t: ") == 1


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            lambda path: Image.fromarray(np.full((4, 5), 700, np.uint16)).save(path),
            "has more than 8 bits a channel",
        ),
        (lambda path: path.write_bytes(path.read_bytes()[:40]), "cannot be read as an image"),
    ],
    ids=["deep", "truncated"],
)
def test_an_image_of_a_folder_that_cannot_be_read_is_named(call, tmp_path, spoil, reason):
    (tmp_path / "mine" / "cats").mkdir(parents=True)
    for name in ("a.png", "b.png"):
        Image.fromarray(np.zeros((4, 5), np.uint8)).save(tmp_path / "mine" / "cats" / name)
    spoil(tmp_path / "mine" / "cats" / "b.png")
    status, _, line = call("mine", options=())
    assert (status, line.partition(reason)[0]) == (2, "format-bench: mine/cats/b.png: ")
    assert not (tmp_path / "out").exists()
