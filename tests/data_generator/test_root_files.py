"""A user's own ROOT files, through uproot: TTree and RNTuple."""

from __future__ import annotations

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

from data_generator.readers import _reader, root
from data_generator.sampling import sampled_rows
from data_generator.user.load import load_data
from data_generator.user.table import load_table
from tests.factories.bad_files import refused

ROWS = 500
COUNTS = np.arange(ROWS) % 4
COLUMNS = {
    "px": np.linspace(-3, 3, ROWS),
    "charge": np.where(np.arange(ROWS) % 3, 1, -1).astype("int32"),
    "is_muon": np.arange(ROWS) % 2 == 0,
    "hits": np.arange(3 * ROWS, dtype="int16").reshape(ROWS, 3),
    "jets": ak.unflatten(np.arange(COUNTS.sum(), dtype="float32"), COUNTS),
}


def ttree(folder, *trees, parts=1):
    """Write the columns to trees, in parts with a basket each."""
    path = folder / "events.root"
    types = {
        "px": "float64",
        "charge": "int32",
        "is_muon": "bool",
        "hits": np.dtype(("int16", (3,))),
        "jets": "var * float32",
    }
    with uproot.recreate(path) as file:
        for name in trees or ("events",):
            tree = file.mktree(name, types)
            for rows in np.array_split(np.arange(ROWS), parts):
                tree.extend({each: column[rows[0] : rows[-1] + 1] for each, column in COLUMNS.items()})
    return path


def rntuple(folder):
    path = folder / "events.root"
    arrays = {name: ak.Array(column) for name, column in COLUMNS.items()}
    arrays["hits"] = ak.from_numpy(COLUMNS["hits"], regulararray=True)
    arrays["name"] = ak.Array([f"event {number}" for number in range(ROWS)])
    with uproot.recreate(path) as file:
        table = file.mkrntuple("events", {name: each.type.content for name, each in arrays.items()})
        table.extend(arrays)
    return path


@pytest.mark.parametrize("make", [ttree, rntuple])
def test_a_tree_is_a_table_and_lists_are_nested_columns(make, tmp_path):
    found = load_table(make(tmp_path))
    df = found.df
    assert (found.name, found.remarks) == ("events", ())
    flat = df[["px", "charge", "is_muon"]]
    expected = pd.DataFrame({name: COLUMNS[name] for name in flat})
    pd.testing.assert_frame_equal(flat, expected, check_exact=True)
    assert [list(each) for each in df["jets"]] == COLUMNS["jets"].to_list()
    assert [list(each) for each in df["hits"]] == COLUMNS["hits"].tolist()
    if make is rntuple:
        assert df["name"].tolist()[-1] == "event 499"


def test_a_tree_and_branches_are_chosen_by_name_and_pattern(tmp_path):
    path = ttree(tmp_path, "first", "second")
    found = load_data(f"{path}::second?branches=px,is_*")
    assert list(found.df) == ["px", "is_muon"]
    assert found.name == "events_second_branches_px_is"
    assert refused(path) == (
        "contains 2 trees: first, second; name one of them, e.g. events.root::first"
    )
    assert refused(f"{path}::third") == "contains no tree 'third'; it contains first, second"
    problem = refused(f"{path}::first?branches=px,py")
    assert problem.startswith("contains no branch 'py'; the tree has px, charge, is_muon, hits")
    advice = "write events.root::TREE?branches=ONE,TWO"
    assert refused(f"{path}::first?columns=px") == f"has no part 'first?columns=px'; {advice}"


def test_branches_of_the_only_tree_are_chosen_without_its_name(tmp_path):
    assert list(load_data(f"{ttree(tmp_path)}::?branches=charge").df) == ["charge"]


def test_batches_end_where_baskets_do(tmp_path, monkeypatch):
    monkeypatch.setattr(root, "BATCH_ROWS", 100)
    df = load_table(ttree(tmp_path, parts=10)).df
    assert df["px"].tolist() == COLUMNS["px"].tolist()
    assert [list(each) for each in df["jets"]] == COLUMNS["jets"].to_list()


def test_a_sample_is_the_same_as_of_other_files(tmp_path):
    df = load_table(ttree(tmp_path, parts=3), sample_rows=20, seed=5).df
    assert df["px"].tolist() == COLUMNS["px"][sampled_rows(ROWS, 20, 5)].tolist()


def test_files_without_a_table_are_reported(tmp_path):
    path = tmp_path / "a.root"
    with uproot.recreate(path) as file:
        file["words"] = "text"
    assert refused(path) == "contains no tree"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": "int32"})
    assert refused(path) == "contains no rows, so there is nothing to measure"


def test_branches_that_uproot_cannot_interpret_are_named():
    class Branch:
        def __init__(self, interpretation):
            self.interpretation = interpretation

    class Tree:
        def iteritems(self, **_):
            unknown = uproot.interpretation.identify.UnknownInterpretation("none", "a.root", "strange")
            numbers = uproot.interpretation.numerical.AsDtype(">i4")
            return [("event/id", Branch(numbers)), ("event/strange", Branch(unknown))]

    readable, unreadable = root._branches(Tree())
    assert (list(readable), unreadable) == (["id"], ["event/strange"])


@pytest.mark.parametrize("make", [ttree, rntuple])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_is_cut_is_reported(make, share, tmp_path, capfd):
    path = make(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    assert refused(path).startswith("cannot be read as ROOT: ")
    assert capfd.readouterr() == ("", "")


def test_other_content_is_reported(tmp_path):
    (tmp_path / "a.root").write_bytes(bytes(range(256)))
    assert refused(tmp_path / "a.root").startswith("is ROOT by its name, but its content is binary")


def test_more_than_fits_in_memory_is_reported_before_it_is_read(tmp_path, monkeypatch):
    path = ttree(tmp_path)
    monkeypatch.setattr(_reader, "available_bytes", lambda: 1_000)
    assert refused(path).startswith("declares 0.0 GB, and 0.0 GB of memory are free")
