"""Lossy codecs of array stores keep the error bounds that they take."""

from __future__ import annotations

import numpy as np
import pytest

import array_stores
from adapter_core import ArraySource, CannotHoldError, UnavailableError
from adapter_core.arrays.xarray import loaded
from adapter_core.codecs import ErrorScale
from adapter_core.error_bounds import BoundKind, ErrorBound, exceeding


def bounded() -> list[tuple[str, str]]:
    found = []
    for label in array_stores.names():
        try:
            store = array_stores.find(label)
        except UnavailableError:
            continue
        found += [(label, each.name) for each in store.codecs if each.bounds]
    return found


@pytest.mark.parametrize(("label", "codec"), bounded())
def test_a_lossy_codec_keeps_the_bounds_that_it_takes(label, codec, tmp_path):
    step, row, column = np.ogrid[:2, :24, :32]
    values = (280 + step + 9 * np.sin(row / 5) + 7 * np.cos(column / 9)).astype("float32")
    source = ArraySource.of(values, (1, 24, 32))
    store = array_stores.get(label)
    errors = []
    for kind in store.codec_named(codec).bounds:
        for share in (0.3, 3e-3):
            bound = ErrorBound(kind, share if kind is BoundKind.ABSOLUTE else share / 280)
            path = tmp_path / f"{kind}{share}{store.suffix}"
            store.with_error_bound(bound).save(source, path, codec=codec)
            found = store.read(path)
            assert not exceeding(values, found, bound).any()
            assert not np.array_equal(found, values)
            assert store.codec_used(path) == codec
            errors.append(float(np.abs(found - values).max()))
        assert errors[-1] < errors[-2] / 2, "the bound has no influence"


def test_each_scale_of_error_takes_bounds():
    for label, name in bounded():
        codec = array_stores.find(label).codec_named(name)
        wanted = BoundKind.RELATIVE if codec.error is ErrorScale.VALUE else BoundKind.ABSOLUTE
        assert wanted in codec.bounds, (label, name)


def test_sperr_keeps_nan_apart_and_takes_slices_and_volumes_alone(tmp_path):
    values = np.linspace(0, 1, 24 * 32, dtype="float32").reshape(1, 24, 32)
    values[0, 5:9, 7:20] = np.nan
    store = array_stores.get("HDF5").with_error_bound(ErrorBound(BoundKind.ABSOLUTE, 1e-3))
    store.save(values, tmp_path / "a", codec="sperr")
    assert not exceeding(values, store.read(tmp_path / "a"), store.error_bound).any()
    with pytest.raises(CannotHoldError, match="2 to 3 dimensions"):
        store.save(values.reshape(-1), tmp_path / "b", codec="sperr")


def test_packed_floats_are_those_of_the_cf_conventions(tmp_path):
    xarray = loaded()
    values = np.linspace(250, 310, 6 * 8, dtype="float32").reshape(1, 6, 8)
    values[0, 2, 3:5] = np.nan
    source = ArraySource.of(values, (1, 6, 8), attributes={"units": "K"})
    bound = ErrorBound(BoundKind.ABSOLUTE, 5e-3)
    store = array_stores.get("NetCDF4").with_error_bound(bound)
    store.save(source, tmp_path / "a.nc", codec="zlib+packed+shuffle")
    with store.open(tmp_path / "a.nc") as reader:
        assert reader.dtype == "float32"
        assert dict(reader.attributes) == {"units": "K"}
    with xarray.open_dataset(tmp_path / "a.nc", mask_and_scale=False) as raw:
        assert raw[source.name].dtype == "int16"
    with xarray.open_dataset(tmp_path / "a.nc") as unpacked:
        assert not exceeding(values, unpacked[source.name].to_numpy(), bound).any()
    store.append(source, tmp_path / "a.nc")
    assert store.read(tmp_path / "a.nc").shape == (2, 6, 8)
    for beyond in (1e9, np.inf):
        more = ArraySource.of(np.full((1, 6, 8), beyond, "float32"), (1, 6, 8))
        with pytest.raises(CannotHoldError, match="beyond the range"):
            store.append(more, tmp_path / "a.nc")
    assert np.array_equal(store.read(tmp_path / "a.nc")[1], store.read(tmp_path / "a.nc")[0], True)


@pytest.mark.parametrize(
    ("values", "why"),
    [([1, np.inf], "infinite"), ([0, 1e9], "more steps"), ([0, 3e38], "more steps"), ([1], "")],
)
def test_floats_without_a_packing_are_refused_before_anything_is_written(values, why, tmp_path):
    store = array_stores.get("NetCDF4").with_error_bound(ErrorBound(BoundKind.ABSOLUTE, 1e-2))
    data = np.array(values, "float32")
    if why:
        with pytest.raises(CannotHoldError, match=why):
            store.save(data, tmp_path / "a.nc", codec="zlib+packed+shuffle")
        assert not list(tmp_path.iterdir())
    else:
        store.save(data, tmp_path / "a.nc", codec="zlib+packed+shuffle")
        assert store.read(tmp_path / "a.nc") == data
