"""Decays of B mesons to three kaons: reproducible, made in blocks, like LHCb's open data."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
from data_generator import datasets
from data_generator.datasets.kaons import FLOATS, INTEGERS, KAON_FIELDS
from data_generator.synthetic import kaon_candidates
from data_generator.synthetic.kaon_candidates import BLOCK_ROWS, KAON_MASS, TRACK_FLOATS

# Of the first 1,000 rows with the default seed. A change of this is a change of the data, after which
# old and new measurements cannot be compared.
DIGEST = "0a1d0651e7db71e0"

ROWS = 200_000

TRACKS = ("H1", "H2", "H3")

# Names and types of the tree in the open data.
COLUMNS = {"B_FlightDistance": "float64", "B_VertexChi2": "float64"} | {
    f"{track}_{field}": "int32" if field in ("Charge", "isMuon") else "float64"
    for track in TRACKS
    for field in "PX PY PZ ProbK ProbPi Charge isMuon IPChi2".split()
}

# Savings of ROOT's LZ4, zlib and zstd on the open data, and those of blocks of 32 kB here.
SAVED = {"lz4_raw": 0.25, "zlib": 0.29, "zstd": 0.32}


@pytest.fixture(scope="module")
def df() -> pd.DataFrame:
    return data_generator.table("kaons", rows=ROWS).df


def muons(df: pd.DataFrame) -> pd.Series:
    return (df[[f"{track}_isMuon" for track in TRACKS]] == 1).any(axis=1)


def momenta(df: pd.DataFrame) -> np.ndarray:
    """Return PX, PY and PZ of the tracks, shape (3 tracks, 3, rows)."""
    return np.array([[df[f"{track}_P{axis}"] for axis in "XYZ"] for track in TRACKS])


def masses(df: pd.DataFrame) -> np.ndarray:
    """Return masses in MeV under the hypothesis of three kaons, shape (rows,)."""
    p = momenta(df)
    energy = np.sqrt((p**2).sum(axis=1) + KAON_MASS**2).sum(axis=0)
    return np.sqrt(energy**2 - (p.sum(axis=0) ** 2).sum(axis=0))


def digest(df: pd.DataFrame) -> str:
    return hashlib.sha256(df.to_csv(index=False).encode()).hexdigest()[:16]


# --- The same everywhere ---


def test_the_table_is_the_same_as_ever():
    assert digest(data_generator.table("kaons", rows=1_000).df) == DIGEST


def test_rows_and_seed_decide(df):
    few = data_generator.table("kaons", rows=BLOCK_ROWS + 7).df
    pd.testing.assert_frame_equal(few, df.head(len(few)))
    other = data_generator.table("kaons", rows=1_000, seed=1).df
    assert all(not other[name].isin(few[name]).any() for name in FLOATS)


@pytest.mark.parametrize("rows", [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS + 1])
@pytest.mark.parametrize("name", ["kaons", "kaons-deep"])
def test_any_number_of_rows_is_made(name, rows):
    made = data_generator.table(name, rows=rows).df
    assert list(made.index) == list(range(rows))
    assert list(made.dtypes) == list(data_generator.table(name, rows=3).df.dtypes)
    assert made.notna().all(axis=None)


def test_there_are_as_many_rows_as_in_the_open_data():
    for name in ("kaons", "kaons-deep"):
        definition = datasets.find(name)
        assert definition.default_count == 8_556_118
        assert definition.count_for_run(100_000) == 100_000


# --- Properties of the open data ---


def test_columns_have_the_names_and_types_of_the_open_data(df):
    assert df.dtypes.astype(str).to_dict() == COLUMNS
    assert list(df.columns) == list(COLUMNS)
    assert (len(FLOATS), len(INTEGERS)) == (20, 6)


@pytest.mark.parametrize("rows", [1_000, 10_000, ROWS])
def test_28_percent_have_a_muon(df, rows):
    # Siblings share two tracks, so that some five standard deviations are wider than binomial ones.
    share = muons(df.head(rows)).mean()
    assert share == pytest.approx(2_396_092 / 8_556_118, abs=5 * (0.2 * 1.6 / rows) ** 0.5)


def test_flags_and_charges_are_those_of_tracks(df):
    charges = df[[f"{track}_Charge" for track in TRACKS]]
    assert set(np.unique(charges)) == {-1, 1}
    assert set(charges.sum(axis=1)) == {-1, 1}
    assert (charges > 0).mean(axis=None) == pytest.approx(0.508, abs=0.004)
    assert set(np.unique(df[[f"{track}_isMuon" for track in TRACKS]])) == {0, 1}


def test_rows_pass_the_published_selection(df):
    p = momenta(df)
    pt, momentum = np.hypot(p[:, 0], p[:, 1]), np.sqrt((p**2).sum(axis=1))
    ip_chi2 = df[[f"{track}_IPChi2" for track in TRACKS]]
    assert pt.min() > 100
    assert pt.sum(axis=0).min() > 4_500
    assert momentum.min() > 1_500 * (1 - 1e-12)
    assert momentum.max() < 3.5e6
    assert masses(df).min() > 5_050 - 1e-3
    assert masses(df).max() < 6_300 + 1e-3
    assert ip_chi2.min(axis=None) > 1
    assert ip_chi2.sum(axis=1).min() > 500 * (1 - 1e-12)
    assert df["B_VertexChi2"].between(0, 12).all()
    assert (df["B_FlightDistance"] > 0).all()


def test_probabilities_separate_kaons_from_pions(df):
    for track in TRACKS:
        kaon, pion = df[f"{track}_ProbK"], df[f"{track}_ProbPi"]
        assert kaon.between(0, 1).all()
        assert pion.between(0, 1).all()
        assert 0.15 < (kaon > 0.5).mean() < 0.5
        assert np.corrcoef(kaon, pion)[0, 1] < -0.4


def test_the_mass_of_the_b_meson_is_a_peak(df):
    likely = np.all(
        [(df[f"{track}_ProbK"] > 0.5) & (df[f"{track}_ProbPi"] < 0.5) for track in TRACKS], 0
    )
    mass = masses(df[likely])
    peak = mass[np.abs(mass - 5_279.3) < 40]
    beside = (np.abs(mass - 5_279.3) < 80).sum() - len(peak)
    assert len(peak) > 5 * beside
    assert np.median(peak) == pytest.approx(5_279.3, abs=1.5)
    assert peak.std() == pytest.approx(17, abs=1.5)


def test_without_the_peak_masses_fall(df):
    kaons = df[[f"{track}_ProbK" for track in TRACKS]]
    counts = np.histogram(masses(df[(kaons < 0.5).any(axis=1)]), np.arange(5_050, 6_301, 125))[0]
    beside = np.delete(counts, 1)
    assert (np.diff(beside) < 0).all()


def test_candidates_of_a_collision_share_tracks(df):
    for field in TRACK_FLOATS:
        again = [(df[f"{track}_{field}"].diff() == 0).mean() for track in TRACKS]
        assert again == pytest.approx([0.22] * 3, abs=0.02)
    shared = sum((df[f"{track}_PX"].diff() == 0).astype(int) for track in TRACKS)
    assert set(shared) <= {0, 1, 2}
    assert (shared == 2).mean() > 0.2


@pytest.mark.parametrize("codec", SAVED)
def test_values_compress_as_those_of_the_open_data(df, codec):
    raw = compressed = 0
    for name in df:
        values = df[name].to_numpy()[:100_000]
        # Baskets of ROOT: 32 kB of one column, big-endian.
        rows = 32_000 // values.itemsize
        for start in range(0, len(values), rows):
            basket = values[start : start + rows].astype(values.dtype.newbyteorder(">")).tobytes()
            packed = zlib.compress(basket, 1) if codec == "zlib" else pa.compress(basket, codec)
            raw, compressed = raw + len(basket), compressed + len(packed)
    saved = 1 - compressed / raw
    assert 0.2 < saved < 0.35
    assert saved == pytest.approx(SAVED[codec], abs=0.03)


# --- Blocks ---


def test_a_block_with_too_few_candidates_is_filled(monkeypatch):
    monkeypatch.setattr(kaon_candidates, "SPARE", 0.4)
    made = kaon_candidates.block(0, 0)
    assert made.floats.shape == (20, BLOCK_ROWS)
    assert made.integers.shape == (6, BLOCK_ROWS)
    assert len(np.unique(made.floats[0])) == BLOCK_ROWS


@pytest.mark.parametrize("block_rows", [999, BLOCK_ROWS, 30_000, 10**6])
@pytest.mark.parametrize("name", ["kaons", "kaons-deep"])
def test_blocks_are_the_table(name, block_rows):
    whole = data_generator.table(name, rows=40_000, seed=3).df
    start = 0
    for each in data_generator.blocks(name, 40_000, seed=3, block_rows=block_rows):
        part = whole.iloc[start : start + block_rows].reset_index(drop=True)
        pd.testing.assert_frame_equal(each, part)
        start += len(each)
    assert start == 40_000


def test_rows_are_made_without_those_before(monkeypatch):
    made = []
    block = kaon_candidates.block
    monkeypatch.setattr(kaon_candidates, "block", lambda *key: made.append(key) or block(*key))
    seed = 12
    rows = datasets.find("kaons").make_rows(9 * BLOCK_ROWS - 5, 9 * BLOCK_ROWS + 5, seed)
    assert made == [(8, seed), (9, seed)]
    assert len(rows) == 10
    blocks = data_generator.blocks("kaons", seed=seed + 1, block_rows=10)
    assert len(next(blocks)) == 10
    assert made[2:] == [(0, seed + 1)]


@pytest.mark.parametrize("name", ["eq", "weather"])
def test_other_tables_are_cut_into_blocks(name):
    blocks = list(data_generator.blocks(name, 1_000, block_rows=300))
    assert [len(each) for each in blocks] == [300, 300, 300, 100]
    whole = data_generator.table(name, rows=1_000).df
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), whole)


@pytest.mark.parametrize("name", ["kaons", "kaons-deep", "eq"])
def test_a_table_without_rows_is_one_block_with_its_columns(name):
    (block,) = data_generator.blocks(name, 0)
    pd.testing.assert_frame_equal(block, data_generator.table(name, rows=0).df)


def test_bad_blocks_are_reported_before_any_is_made():
    with pytest.raises(ValueError, match="a block cannot have 0 rows"):
        data_generator.blocks("kaons", block_rows=0)
    with pytest.raises(ValueError, match="a table cannot have -1 rows"):
        data_generator.blocks("kaons", -1)


# --- Lists of kaons ---


def test_the_deep_table_has_the_values_of_the_flat_one():
    flat = data_generator.table("kaons", rows=BLOCK_ROWS + 100).df
    deep = pa.Table.from_pandas(data_generator.table("kaons-deep", rows=len(flat)).df)
    assert deep.column_names == ["B_FlightDistance", "B_VertexChi2", "kaons"]
    for name in deep.column_names[:2]:
        assert deep[name].to_numpy().tobytes() == flat[name].to_numpy().tobytes()
    lists = deep["kaons"].combine_chunks()
    assert [field.name for field in lists.type.value_type] == list(KAON_FIELDS)
    assert set(np.diff(lists.offsets)) == {3}
    for field, values in zip(KAON_FIELDS, lists.flatten().flatten(), strict=True):
        for place, track in enumerate(TRACKS):
            column = flat[f"{track}_{field}"]
            assert values.type == pa.from_numpy_dtype(column.dtype)
            assert values.to_numpy()[place::3].tobytes() == column.to_numpy().tobytes()


def test_a_list_of_kaons_reads_as_records():
    flat = data_generator.table("kaons", rows=2).df
    kaons = data_generator.table("kaons-deep", rows=2).df["kaons"][1]
    assert kaons == [{field: flat[f"{track}_{field}"][1] for field in KAON_FIELDS} for track in TRACKS]
