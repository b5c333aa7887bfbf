"""Error bounds of saved arrays and tables: kept for every value, or broken and failed with it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import array_stores
import data_formats
import data_generator
from adapter_core import ArraySource, CannotHoldError
from adapter_core.error_bounds import BoundKind, ErrorBound, exceeding
from adapter_core.errors import InvalidRequestError, UnsupportedError, WrongValuesError
from format_bench.conditions import axes, why_not
from format_bench.families.arrays.operations import ArrayOperations
from format_bench.families.bounded import resolved
from format_bench.families.cases import Case
from format_bench.families.tables.operations import TableOperations
from format_bench.results.conditions import Conditions
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import RunRequest, plan

# Smooth, photographs, random bits, and NaN, infinities, subnormals.
ARRAYS = ("era5-hourly-1deg", "faces", "noise", "plume")
BOUNDS = ("abs 1e-3", "rel 1e-3", "range 1e-4")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a function that stores an array of a few chunks, once, and returns its path."""
    folder = tmp_path_factory.mktemp("arrays")

    def path_of(name: str):
        path = folder / name
        if not path.exists():
            ArrayOperations.store(data_generator.array(name, 2).array, path)
        return path

    return path_of


def saved_within(bound: str, data, file, label: str = "NPY", codec: str | None = None):
    """Return the operations of a store that has saved an array under a bound."""
    found = ArrayOperations.on(data, array_stores.get(label), codec, is_warm=False)
    found.keep_within(ErrorBound.parse(bound))
    found.save(found.load(data), file)
    return found


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("name", ARRAYS)
def test_rounding_keeps_the_bound_of_every_value_of_four_arrays(stored, tmp_path, name, bound):
    data, file = stored(name), tmp_path / "file.npy"
    operations = saved_within(bound, data, file)
    kept = operations.error_bound
    with array_stores.get("NPY").open(data) as before, operations.adapter.open(file) as after:
        saved, read = before.read(), after.read()
    assert not exceeding(saved, read, kept).any()
    for special in (np.isnan, np.isposinf, np.isneginf):
        assert np.array_equal(special(saved), special(read))
    measured = operations.verify(operations.load(data), file)
    is_changed = not np.array_equal(saved, read, equal_nan=True)
    assert measured.repeats == [int(is_changed)]
    assert (f"within {kept}" in measured.sentence) is is_changed


def test_the_plume_has_every_kind_of_float(stored):
    with array_stores.get("NPY").open(stored("plume")) as reader:
        values = reader.read()
    size = np.abs(values)
    for has in (np.isnan, np.isposinf, np.isneginf, lambda v: (v == 0) & np.signbit(v)):
        assert has(values).any()
    assert ((size > 0) & (size < np.finfo("float32").tiny)).mean() > 0.05
    usual = size[np.isfinite(size) & (size > 0)]
    assert np.log10(usual.max() / usual.min()) > 30


LOSSY = [
    (label, codec.name)
    for label in ("Blosc2", "GRIB2", "HDF5", "NetCDF4", "TIFF", "TileDB", "Zarr.dir")
    for codec in array_stores.find(label).codecs
    if codec.bounds
]
# Arrays of which a codec changes a value by more than the bound, or a NaN or an infinity, or fails.
_HARD, _SPECIAL = {"noise", "plume"}, {"plume"}
BREAKS = {
    ("Blosc2", "zstd+truncation"): _HARD,
    ("HDF5", "sperr"): {"era5-hourly-1deg", "noise", "plume"},
    ("HDF5", "sz"): {"noise"},
    ("HDF5", "zfp+lossy"): _SPECIAL,
    ("NetCDF4", "blosc:zstd+quantize"): _HARD,
    ("NetCDF4", "zlib+quantize"): _HARD,
    ("TIFF", "lerc"): {"era5-hourly-1deg", "plume"},
    ("TileDB", "zstd+floatscale+shuffle"): _SPECIAL,
    ("Zarr.dir", "zstd+bitround"): _HARD,
    ("Zarr.dir", "zstd+bitround+shuffle"): _HARD,
    ("Zarr.dir", "zstd+fixedscaleoffset+shuffle"): _SPECIAL,
}


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@pytest.mark.parametrize(("label", "codec"), LOSSY)
def test_each_lossy_codec_keeps_the_bound_of_every_value_or_is_found_out(stored, tmp_path, label, codec):
    kind = array_stores.find(label).codec_named(codec).bounds[0]
    bound = "rel 1e-3" if kind is BoundKind.RELATIVE else "range 1e-4"
    broken = set()
    for name in ARRAYS:
        data, file = stored(name), tmp_path / name
        try:
            operations = saved_within(bound, data, file, label, codec)
        except (CannotHoldError, UnsupportedError):
            continue
        except OSError:
            broken.add(name)
            continue
        with array_stores.get("NPY").open(data) as before, operations.adapter.open(file) as after:
            saved, read = before.read().astype("float64"), after.read().astype("float64")
        with np.errstate(invalid="ignore", over="ignore"):
            share = operations.error_bound.share * (np.abs(saved) if kind is BoundKind.RELATIVE else 1)
            is_kept = np.abs(read - saved) <= share
        is_same = (read == saved) | (np.isnan(read) & np.isnan(saved))
        if np.where(np.isfinite(saved), is_kept, is_same).all():
            operations.verify(operations.load(data), file)
            continue
        broken.add(name)
        with pytest.raises(WrongValuesError, match="are not within"):
            operations.verify(operations.load(data), file)
    assert broken == BREAKS.get((label, codec), set())


def test_a_codec_that_breaks_the_bound_of_a_nan_fails_with_the_value(stored, tmp_path):
    data, file = stored("plume"), tmp_path / "file.h5"
    operations = saved_within("abs 1e-3", data, file, "HDF5", "zfp+lossy")
    with pytest.raises(WrongValuesError, match=r"values are not within abs 0.001, e\.g\. \S+ came back"):
        operations.verify(operations.load(data), file)


@pytest.mark.parametrize(
    ("codec", "why"), [("gzip+scaleoffset", "cannot read"), ("sz3", "does not end")]
)
def test_filters_that_fail_for_nan_refuse_it(stored, tmp_path, codec, why):
    with pytest.raises(CannotHoldError, match=why):
        saved_within("abs 1e-3", stored("plume"), tmp_path / "file.h5", "HDF5", codec)
    assert not list(tmp_path.iterdir())


def test_a_lossy_codec_takes_the_bound_in_place_of_its_level(stored, tmp_path):
    data = stored("era5-hourly-1deg")
    for label, codec in (("HDF5", "zfp+lossy"), ("HDF5", "sz"), ("Zarr.dir", "zstd+bitround")):
        sizes = []
        for number, bound in enumerate(("range 1e-2", "range 1e-4")):
            file = tmp_path / f"{codec}{number}{array_stores.find(label).suffix}"
            operations = saved_within(bound, data, file, label, codec)
            assert operations.error_bound.kind is BoundKind.ABSOLUTE
            assert not operations.rounds
            assert "chunks changed" in operations.verify(operations.load(data), file).sentence
            sizes.append(operations.adapter.size_bytes(file))
        assert sizes[0] < 0.8 * sizes[1]


def test_errors_are_measured_beside_the_data(stored, tmp_path):
    data, file = stored("era5-hourly-1deg"), tmp_path / "file.npy"
    operations = saved_within("abs 0.5", data, file)
    step = next(each for each in FAMILIES["arrays"].steps if each.name == "errors")
    found = {each.metric: each.repeats[0] for each in operations.measure(step, file, None)}
    assert set(found) == set(step.metrics)
    assert 0.4 < found["greatest absolute error"] <= 0.5
    assert 0.5 / 400 < found["greatest relative error"] < 0.5 / 150
    assert 0 < found["error of the mean"] < 1e-3
    assert 0 <= found["error of extremes"] <= 0.5 / 30
    assert found["error of gradients"] > 0.05
    assert found["changed special values"] == 0


def test_bounds_of_ranges_and_of_information_become_plain_ones():
    values = [np.array([np.nan, 1.0, 5.0]), np.array([-np.inf, 3.0, -5.0])]
    assert resolved(ErrorBound.parse("range 0.01"), values, []) == ErrorBound(BoundKind.ABSOLUTE, 0.1)
    assert resolved(ErrorBound.parse("rel 0.01"), [], []) == ErrorBound.parse("rel 0.01")
    wave = np.sin(np.arange(100_000) / 1000)
    noisy = wave + np.random.default_rng(1).normal(0, 1e-3, wave.size)
    found = resolved(ErrorBound.parse("bits 99 %"), [], [noisy.astype("float32")])
    assert found.kind is BoundKind.RELATIVE
    assert 1e-4 < found.share < 0.2
    for bound, data in (
        ("range 0.1", [np.ones(3)]),
        ("bits 99 %", [np.random.default_rng(2).random(9999)]),
    ):
        with pytest.raises(UnsupportedError, match=r"range|information"):
            resolved(ErrorBound.parse(bound), data, data)


def test_other_values_than_floats_have_no_error_bound(tmp_path):
    ArrayOperations.store(ArraySource.of(np.arange(6)), tmp_path / "data")
    operations = ArrayOperations.on(tmp_path / "data", array_stores.get("NPY"), is_warm=False)
    with pytest.raises(UnsupportedError, match="error bounds are of floats, and values are int64"):
        operations.keep_within(ErrorBound.parse("abs 1"))


def test_floats_of_a_table_are_rounded_within_the_bound_and_compared_with_it(tmp_path):
    random = np.random.default_rng(1)
    df = pd.DataFrame(
        {
            "price": random.random(3000),
            "half": random.random(3000).astype("float32"),
            "count": range(3000),
        }
    )
    df.loc[5, "price"] = np.nan
    TableOperations.store(df, tmp_path / "data")
    make = partial(TableOperations.on, tmp_path / "data", data_formats.get("Parquet"), "zstd", 3)
    plain, rounded = make(is_warm=False), make(is_warm=False)
    rounded.keep_within(ErrorBound.parse("abs 1e-3"))
    sizes = []
    for operations in (plain, rounded):
        operations.save(df, tmp_path / "file.parquet")
        found = operations.read(tmp_path / "file.parquet")
        sizes.append(operations.adapter.size_bytes(tmp_path / "file.parquet"))
    assert sizes[1] < sizes[0] / 2
    assert found["count"].equals(df["count"])
    assert 4e-4 < (found["price"] - df["price"]).abs().max() <= 1e-3
    assert "floats of 2 columns rounded within error bounds" in rounded.verify(df, found).sentence
    found.loc[7, "price"] = np.float64(found.loc[7, "price"]) + 0.01
    with pytest.raises(WrongValuesError, match="column price"):
        rounded.verify(df, found)


def test_a_table_without_floats_has_no_error_bound(tmp_path):
    TableOperations.store(pd.DataFrame({"count": range(3)}), tmp_path / "data")
    operations = TableOperations.on(tmp_path / "data", data_formats.get("CSV"), is_warm=False)
    with pytest.raises(UnsupportedError, match="no column has NumPy's"):
        operations.keep_within(ErrorBound.parse("abs 1"))


def test_a_bounded_case_has_no_level_and_steps_of_errors():
    request = RunRequest(
        suite="chunks",
        formats=("HDF5",),
        codecs=("zfp+lossy:3", "zfp+lossy:7", "zstd:3"),
        conditions={"error bound": ("none", "abs 1e-3")},
    )
    found = plan(request).cases
    bounds = [(each.conditions.get("error bound"), each.codec, each.level) for each in found]
    assert bounds == [
        (None, "zfp+lossy", 3),
        ("abs 0.001", "zfp+lossy", None),
        (None, "zfp+lossy", 7),
        (None, "zstd", 3),
        ("abs 0.001", "zstd", 3),
    ]
    assert [("errors" in {step.name for step in each.steps}) for each in found] == [
        "error bound" in each.conditions for each in found
    ]


def test_a_level_that_a_bound_would_replace_is_refused_rather_than_dropped():
    def planned(*codecs: str, bounds: tuple[str, ...] = ("abs 1e-3",)) -> list[int | None]:
        request = RunRequest(
            suite="chunks", formats=("HDF5",), codecs=codecs, conditions={"error bound": bounds}
        )
        return [each.level for each in plan(request).cases]

    with pytest.raises(
        InvalidRequestError, match=r"--codecs zfp\+lossy:3: an error bound takes the place"
    ):
        planned("zfp+lossy:3")
    assert planned("zfp+lossy") == [None]
    assert planned("zstd:5") == [5]
    assert planned("zfp+lossy:3", bounds=("none", "abs 1e-3")) == [3, None]


@pytest.mark.parametrize(
    ("suite", "label", "codec", "bound", "reason"),
    [
        ("chunks", "HDF5", "sz3", "rel 0.01", "bounds the absolute error"),
        ("chunks", "HDF5", "sz", "rel 0.01", ""),
        ("chunks", "Zarr.dir", "zstd+bitround", "range 0.01", ""),
        ("chunks", "Zarr.dir", "zstd", "bits 99 %", ""),
        ("tabular", "Parquet", None, "abs 1", ""),
        ("image", "PNG", None, "abs 1", "saves no arrays or tables"),
    ],
)
def test_bounds_that_a_case_cannot_keep_are_declared(suite, label, codec, bound, reason):
    found = why_not(Case(label, "x", 1, Conditions({"error bound": bound}), codec, suite=suite))
    assert (reason in found) if reason else not found


def test_an_unknown_bound_is_refused_in_one_line():
    axis = axes()["error bound"]
    assert [axis.parse(each) for each in ("1e-3", "none", "BITS 99%")] == ["abs 0.001", "", "bits 99 %"]
    with pytest.raises(InvalidRequestError, match=r"^--error-bound much: write e.g. abs 1e-3"):
        axis.parse("much")
