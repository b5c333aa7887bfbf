"""A user's own GRIB files, through ecCodes."""

from __future__ import annotations

import numpy as np
import pytest

from data_generator.readers import _reader
from data_generator.user.load import load_data
from tests.factories.bad_files import refused

pytest.importorskip("eccodes")

GRID = {
    "Ni": 4,
    "Nj": 3,
    "latitudeOfFirstGridPointInDegrees": 50,
    "latitudeOfLastGridPointInDegrees": 48,
    "longitudeOfFirstGridPointInDegrees": 8,
    "longitudeOfLastGridPointInDegrees": 11,
    "iDirectionIncrementInDegrees": 1,
    "jDirectionIncrementInDegrees": 1,
    "bitsPerValue": 16,
}
# Steps of 2**-12 at most: small integers and quarters are kept.
VALUES = (np.arange(2 * 2 * 12) / 4).reshape(2, 2, 3, 4).astype("float32")


def message(values, sample="regular_ll_pl_grib2", **keys):
    """Return the bytes of a message with the values of GRID."""
    import eccodes

    handle = eccodes.codes_grib_new_from_samples(sample)
    for key, value in {**GRID, **keys}.items():
        eccodes.codes_set(handle, key, value)
    eccodes.codes_set_values(handle, np.ascontiguousarray(values, "float64").reshape(-1))
    found = eccodes.codes_get_message(handle)
    eccodes.codes_release(handle)
    return found


@pytest.fixture
def weather(tmp_path):
    """Leave temperature and wind at two times and two levels, with a missing value in the wind."""
    path = tmp_path / "weather.grib"
    with path.open("wb") as file:
        for hour in (0, 1):
            for level in (1, 0):
                keys = {"dataDate": 20240131, "dataTime": 1200 * hour, "level": (500, 850)[level]}
                file.write(message(VALUES[hour, level], shortName="t", **keys))
        wind = VALUES[0, 0].copy()
        wind[1, 2] = 9999
        keys = {"bitmapPresent": 1, "missingValue": 9999, "shortName": "u"}
        file.write(message(wind, **keys, level=850))
    return path


def test_messages_of_a_variable_are_an_array(weather):
    found = load_data(f"{weather}::t")
    source = found.array
    assert (found.name, source.name) == ("weather_t", "t")
    assert source.dims == ("time", "level", "latitude", "longitude")
    assert (source.shape, source.chunks, source.dtype) == ((2, 2, 3, 4), (1, 1, 3, 4), np.float32)
    whole = source.read(tuple(slice(0, edge) for edge in source.shape))
    assert whole.tobytes() == VALUES.tobytes()
    part = source.read((slice(1, 2), slice(0, 2), slice(1, 3), slice(2, 3)))
    assert part.tolist() == VALUES[1:2, 0:2, 1:3, 2:3].tolist()
    assert source.attributes["units"] == "K"
    assert "missing_value" not in source.attributes
    coordinates = {name: values.tolist() for name, values in source.coordinates.items()}
    assert coordinates == {
        "time": [1706659200, 1706702400],
        "level": [500, 850],
        "latitude": [50, 49, 48],
        "longitude": [8, 9, 10, 11],
    }
    assert source.coordinate_attributes["time"]["units"] == "seconds since 1970-01-01T00:00:00"
    assert source.coordinate_attributes["level"]["units"] == "hPa"


def test_the_largest_variable_is_taken_and_the_others_are_named(weather):
    found = load_data(weather)
    assert found.array.name == "t"
    expected = "t is the largest variable of data; others: u; weather.grib::t,u takes several"
    assert found.remarks == (expected, "packed values are decoded to float32")


def test_missing_values_are_those_of_an_attribute(weather):
    source = load_data(f"{weather}::u").array
    assert (source.dims, source.shape) == (("latitude", "longitude"), (3, 4))
    assert source.attributes["missing_value"] == np.finfo("float32").max
    assert source.attributes["units"] == "m s**-1"
    values = source.read((slice(0, 3), slice(0, 4)))
    assert values[1, 2] == np.finfo("float32").max
    assert values[0].tolist() == VALUES[0, 0, 0].tolist()


def test_messages_that_are_no_grid_of_axes_are_in_the_order_of_the_file(tmp_path):
    with (tmp_path / "a.grib2").open("wb") as file:
        for day, level in ((20240101, 500), (20240102, 500), (20240102, 850)):
            file.write(message(VALUES[0, 0] + day % 10, shortName="t", dataDate=day, level=level))
    source = load_data(tmp_path / "a.grib2").array
    assert (source.dims, source.shape) == (("message", "latitude", "longitude"), (3, 3, 4))
    first = source.read((slice(0, 3), slice(0, 1), slice(0, 1)))
    assert first.reshape(-1).tolist() == [1, 2, 2]


def test_edition_1_and_two_types_of_level_are_read(tmp_path):
    with (tmp_path / "a.grb").open("wb") as file:
        keys = {"sample": "regular_ll_pl_grib1", "shortName": "t"}
        file.write(message(VALUES[0, 0], **keys, level=500))
        file.write(message(VALUES[1, 0], **keys, typeOfLevel="surface"))
    assert load_data(f"{tmp_path}/a.grb::t_surface").array.read((slice(0, 1), slice(0, 4))).tolist() == [
        VALUES[1, 0, 0].tolist()
    ]
    assert refused(f"{tmp_path}/a.grb::q") == (
        "contains no variable 'q'; it contains t_isobaricInhPa, t_surface"
    )


def sections(data):
    """Return the sections of a message of edition 2 by their numbers."""
    found, place = {0: data[:16]}, 16
    while data[place:] != b"7777":
        size = int.from_bytes(data[place : place + 4], "big")
        found[data[place + 4]] = data[place : place + size]
        place += size
    return found


def of_several(first, *others, start=4):
    """Return one message with the fields of several, whose sections before the start are shared."""
    parts = sections(first)
    content = b"".join(parts[each] for each in sorted(parts) if each)
    content += b"".join(each[number] for each in others for number in sorted(each) if number >= start)
    size = (16 + len(content) + 4).to_bytes(8, "big")
    return parts[0][:8] + size + content + b"7777"


def whole(source):
    return source.read(tuple(slice(0, edge) for edge in source.shape))


@pytest.mark.parametrize("start", [2, 4])
def test_each_field_of_a_message_is_read(start, tmp_path):
    """As weather services keep both components of the wind."""
    winds = [message(VALUES[0, i], shortName=name) for i, name in enumerate("uv")]
    both = of_several(winds[0], sections(winds[1]), start=start)
    path = tmp_path / "wind.grib2"
    path.write_bytes(message(VALUES[1, 1], shortName="t") + both + both)
    for name, values in (("u", VALUES[0, 0]), ("v", VALUES[0, 1])):
        source = load_data(f"{path}::{name}").array
        assert source.dims == ("message", "latitude", "longitude")
        assert whole(source).tolist() == [values.tolist()] * 2
    assert source.attributes["standard_name"] == "northward_wind"
    assert whole(load_data(f"{path}::t").array).tolist() == VALUES[1, 1].tolist()


def test_a_field_has_the_bitmap_of_the_one_before_it(tmp_path):
    values = VALUES[0, 0].copy()
    values[1, 2] = 9999
    keys = {"bitmapPresent": 1, "missingValue": 9999}
    first, second = (message(values, **keys, shortName=name) for name in "uv")
    parts = sections(second)
    parts[6] = (6).to_bytes(4, "big") + bytes([6, 254])
    (tmp_path / "wind.grib2").write_bytes(of_several(first, parts))
    found = whole(load_data(f"{tmp_path / 'wind.grib2'}::v").array)
    assert found[1, 2] == np.finfo("float32").max
    assert np.delete(found, 6).tolist() == np.delete(values, 6).tolist()


def test_a_section_that_is_longer_than_its_message_is_reported(tmp_path):
    data = message(VALUES[0, 0])
    (tmp_path / "a.grib2").write_bytes(data[:16] + b"\0\1\0\0" + data[20:])
    assert refused(tmp_path / "a.grib2").startswith("cannot be read as GRIB: ")


@pytest.mark.parametrize(
    ("unit", "steps", "expected", "units"),
    [
        (1, (0, 6, 12), [0, 6, 12], "hours"),
        (0, (0, 15, 60, 45), [0, 15, 45, 60], "minutes"),
        (13, (30, 90), [30, 90], "seconds"),
    ],
)
def test_steps_have_the_unit_that_divides_them(unit, steps, expected, units, tmp_path):
    """A unit is a code of table 4.4 of edition 2."""
    with (tmp_path / "a.grib2").open("wb") as file:
        for step in steps:
            keys = {"indicatorOfUnitOfTimeRange": unit, "forecastTime": step}
            file.write(message(VALUES[0, 0] + step, shortName="t", **keys))
    source = load_data(tmp_path / "a.grib2").array
    assert source.dims == ("step", "latitude", "longitude")
    assert source.coordinates["step"].tolist() == expected
    assert source.coordinate_attributes["step"]["units"] == units
    assert whole(source)[:, 0, 0].tolist() == expected


def test_reference_times_have_seconds(tmp_path):
    with (tmp_path / "a.grib2").open("wb") as file:
        for second in (0, 30):
            keys = {"dataDate": 20240131, "dataTime": 0, "second": second}
            file.write(message(VALUES[0, 0] + second, shortName="t", **keys))
    source = load_data(tmp_path / "a.grib2").array
    assert source.coordinates["time"].tolist() == [1706659200, 1706659230]
    assert whole(source)[:, 0, 0].tolist() == [0, 30]


@pytest.mark.parametrize(
    "keys", [{"packingType": "grid_ieee", "precision": 2}, {"packingType": "grid_simple"}]
)
def test_values_of_64_bits_and_constant_ones_are_decoded(keys, tmp_path):
    values = np.full((3, 4), 2.5)
    (tmp_path / "a.grib2").write_bytes(message(values, shortName="t", **keys))
    found = whole(load_data(tmp_path / "a.grib2").array)
    assert found.dtype == np.float32
    assert found.tolist() == values.tolist()


@pytest.mark.parametrize("share", [0, 0.5, 0.95])
def test_a_file_that_is_cut_is_reported(share, weather, capfd):
    data = weather.read_bytes()
    weather.write_bytes(data[: int(share * len(data))])
    problem = refused(weather)
    assert problem.startswith("cannot be read as GRIB: " if share else "is empty")
    assert capfd.readouterr() == ("", "")


def test_damaged_messages_are_reported(weather, capfd):
    data = bytearray(weather.read_bytes())
    data[16:60] = bytes(44)
    weather.write_bytes(data)
    assert refused(weather).startswith("cannot be read as GRIB: ")
    assert capfd.readouterr() == ("", "")


def test_other_content_is_reported(tmp_path):
    (tmp_path / "a.grib").write_text("1,2")
    assert refused(tmp_path / "a.grib").startswith("is GRIB by its name, but not by its content")


def test_more_than_fits_in_memory_is_reported_before_it_is_read(weather, monkeypatch):
    monkeypatch.setattr(_reader, "available_bytes", lambda: 100)
    assert refused(weather).startswith("declares 0.0 GB, and 0.0 GB of memory are free")
