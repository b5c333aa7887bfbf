"""Uniform tables: reproducible, of the documented schema and distribution, generated in bulk."""

from __future__ import annotations

import ast
import hashlib
import sys

import numpy as np
import pandas as pd
import pytest

import data_generator
from adapter_core import UnknownNameError
from data_generator.datasets import webface
from data_generator.random_words import RandomWords
from data_generator.synthetic import uniform_columns as columns
from data_generator.synthetic.uniform_columns import ENGLISH_NOUNS
from tests.helpers import output_of

ROWS = 20_000
TYPES = {"int": "int64", "float": "float64", "bool": "bool", "str": "str"}

# Of the first 1,000 rows with the default seed. A change of these numbers is a change of the data, after
# which old and new measurements cannot be compared.
DIGESTS = {
    "eq": "3b97e89c5082de10",
    "int": "69e70d54b0397859",
    "float": "a997896bf336528c",
    "bool": "c2eb843124d7722c",
    "str": "3d6644c4384d5583",
    "webface": "b06a4c772d780647",
}


def digest(df: pd.DataFrame) -> str:
    return hashlib.sha256(df.to_csv(index=False).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", DIGESTS)
def test_a_table_is_the_same_as_ever(name):
    assert digest(data_generator.table(name, rows=1_000).df) == DIGESTS[name]


def digests_of_many_rows():
    rows = {"str": 500, "core": 20_000, "kaons": 40_000}
    tables = {name: data_generator.table(name, rows=rows[name], seed=7).df for name in rows}
    # Text of so many rows takes seconds.
    return {name: int(pd.util.hash_pandas_object(df).sum()) for name, df in tables.items()}


def test_tables_are_the_same_in_another_process_on_a_processor_with_fewer_instructions():
    umath = np._core._multiarray_umath
    features = [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name)]
    code = "from tests.data_generator import test_data_generator as d; print(d.digests_of_many_rows())"
    fewer = {"NPY_DISABLE_CPU_FEATURES": " ".join(features)} if features else {}
    text = output_of(code, PYTHONHASHSEED="123", OMP_NUM_THREADS="1", **fewer)
    assert ast.literal_eval(text) == digests_of_many_rows()


def test_name_rows_and_seed_decide():
    one = data_generator.table("eq", rows=100, seed=1).df
    pd.testing.assert_frame_equal(one, data_generator.table("eq", rows=100, seed=1).df)
    assert digest(one) != digest(data_generator.table("eq", rows=100, seed=2).df)
    more = data_generator.table("eq", rows=1_000, seed=1).df
    pd.testing.assert_frame_equal(one, more.head(100))


@pytest.mark.parametrize("name", ["eq", *TYPES])
def test_synthetic_tables_have_eight_columns_in_shuffled_order(name):
    df = data_generator.table(name, rows=10).df
    kinds = [str(dtype) for dtype in df.dtypes]
    for kind, dtype in TYPES.items():
        assert kinds.count(dtype) == (2 if name == "eq" else 5 if name == kind else 1)
    assert list(df.columns) != sorted(df.columns)
    assert isinstance(df.index, pd.RangeIndex)


def test_the_order_of_columns_depends_on_the_seed():
    orders = {tuple(data_generator.table("eq", rows=0, seed=seed).df.columns) for seed in range(20)}
    assert len(orders) > 10


@pytest.mark.parametrize("name", DIGESTS)
@pytest.mark.parametrize("rows", [0, 1, 63, 65])
def test_any_number_of_rows_is_made(name, rows):
    df = data_generator.table(name, rows=rows).df
    assert len(df) == rows
    assert df.notna().all(axis=None)
    assert [str(d) for d in df.dtypes] == [str(d) for d in data_generator.table(name, rows=3).df.dtypes]


def test_webface_has_the_schema_of_the_thesis():
    df = data_generator.table("webface", rows=1_000).df
    counts = df.dtypes.astype(str).value_counts()
    assert (counts["int64"], counts["float64"], counts["str"]) == (6, 21, 6)
    expected = "bbox db_id image_container_path image_id ipt_str subject_id".split()
    assert [name for name in df.columns if df[name].dtype == "str"] == expected
    assert {"age_iface", "brightness_iface", "contrast_iface"} <= set(df.columns)
    assert df["image_id"].is_unique
    assert df["bbox"].str.fullmatch(r"\[\d+, \d+, \d+, \d+\]").all()


def test_the_real_webface_is_loaded_from_a_file(tmp_path):
    path = tmp_path / "real.h5"
    real = data_generator.table("webface", rows=50, seed=3).df
    real.to_hdf(path, key="anything", format="table", index=False)
    pd.testing.assert_frame_equal(data_generator.table("webface", path=path).df, real)
    assert len(data_generator.table("webface", rows=20, path=path).df) == 20


def test_a_wrong_webface_file_is_reported(tmp_path):
    path = tmp_path / "real.h5"
    with pytest.raises(FileNotFoundError, match=r"webface: there is no file .*real.h5"):
        data_generator.table("webface", path=path)
    path.write_text("no HDF5")
    with pytest.raises(ValueError, match=r"real.h5 is not an HDF5 file with one table"):
        data_generator.table("webface", path=path)
    path.unlink()
    pd.DataFrame({"a": [1]}).to_hdf(path, key="t")
    with pytest.raises(ValueError, match=r"has no column 'age_iface'"):
        data_generator.table("webface", path=path)


def test_bad_arguments_are_reported():
    with pytest.raises(UnknownNameError, match="no table 'floats'; did you mean float"):
        data_generator.table("floats")
    with pytest.raises(ValueError, match="a table cannot have -1 rows"):
        data_generator.table("eq", rows=-1)
    with pytest.raises(ValueError, match="only webface takes a path"):
        data_generator.table("eq", path="x.h5")
    with pytest.raises(ValueError, match=r"null_share is a share from 0 to 1, not 1.5"):
        columns.integers(10, RandomWords(1), null_share=1.5)


MAKERS = {
    "integers": columns.integers,
    "floats": columns.floats,
    "booleans": columns.booleans,
    "fixed strings": columns.fixed_strings,
    "words": columns.english_nouns,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_share_of_nulls_is_as_asked(make):
    for share in (0.0, 0.1, 0.5, 1.0):
        array = make(ROWS, RandomWords("nulls", str(share)), null_share=share)
        array.validate(full=True)
        assert len(array) == ROWS
        # Four standard deviations of a binomial share.
        assert abs(array.null_count / ROWS - share) <= 4 * (share * (1 - share) / ROWS) ** 0.5


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_nulls_do_not_change_the_values_beside_them(make):
    whole = make(ROWS, RandomWords("same")).to_pandas()
    holed = make(ROWS, RandomWords("same"), null_share=0.3).to_pandas()
    kept = holed.notna()
    assert (whole[kept] == holed[kept]).all()


def uniform(counts: np.ndarray) -> bool:
    """Return True for equal shares: Pearson's chi-squared below its mean plus five sigma."""
    expected = counts.sum() / len(counts)
    free = len(counts) - 1
    return ((counts - expected) ** 2 / expected).sum() < free + 5 * (2 * free) ** 0.5


def test_values_are_uniform():
    whole = columns.integers(ROWS, RandomWords("whole")).to_numpy()
    assert (whole.min(), whole.max()) == (0, 100)
    assert uniform(np.bincount(whole))
    real = columns.floats(ROWS, RandomWords("real")).to_numpy()
    assert real.min() >= 0
    assert real.max() < 100
    assert uniform(np.histogram(real, 50)[0])
    truth = columns.booleans(ROWS, RandomWords("truth")).to_numpy(zero_copy_only=False)
    assert uniform(np.bincount(truth))


def test_strings_are_uniform_letters():
    text = columns.fixed_strings(ROWS, RandomWords("text")).to_pandas()
    assert (text.str.len() == 10).all()
    assert text.str.fullmatch("[A-Za-z]{10}").all()
    letters = np.frombuffer("".join(text).encode(), np.uint8)
    assert uniform(np.unique(letters, return_counts=True)[1])


def test_words_are_uniform():
    assert len(set(ENGLISH_NOUNS)) == 100
    assert all(word.isalpha() and word.islower() for word in ENGLISH_NOUNS)
    assert uniform(columns.english_nouns(ROWS, RandomWords("w")).to_pandas().value_counts().to_numpy())


@pytest.mark.parametrize("name", DIGESTS)
def test_tables_are_made_without_a_python_step_per_row(name):
    calls = 0

    def count(*_):
        nonlocal calls
        calls += 1

    data_generator.table(name, rows=10)
    seen = []
    for rows in (1_000, 100_000):
        calls = 0
        sys.setprofile(count)
        try:
            data_generator.table(name, rows=rows)
        finally:
            sys.setprofile(None)
        seen.append(calls)
    assert seen[1] < seen[0] + 2_000


def test_webface_columns_are_of_three_kinds():
    assert len(webface.PIXEL_COLUMNS + webface.SCORE_COLUMNS + webface.TEXT_COLUMNS) == 33
