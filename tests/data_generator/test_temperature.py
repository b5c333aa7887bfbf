"""Hourly temperature of air and soil: seasons, days, land and sea, depth, packing."""

from __future__ import annotations

import numpy as np
import pytest

import data_generator
from data_generator.datasets.era5_hourly import FIRST_HOUR
from data_generator.synthetic.temperature import AIR, SOIL, Temperature

DAY = 24
YEAR = 8_766
JANUARY, JULY = 0, 182 * DAY


@pytest.fixture(scope="module")
def fields():
    """Return a function: the field of a layer, 0 for air, at an hour; 181 x 360."""
    layers = [Temperature(layer, 4, 0) for layer in (AIR, *SOIL)]

    def field(layer: int, hour: int) -> np.ndarray:
        out = np.empty((181, 360), np.float32)
        layers[layer].at(FIRST_HOUR + hour, out)
        return out.astype(float)

    return field


@pytest.fixture(scope="module")
def land(fields):
    return ~np.isnan(fields(1, 0))


def average(fields, layer: int, start: int) -> np.ndarray:
    """Return the mean over ten days."""
    hours = range(0, 10 * DAY, 5)
    return sum(fields(layer, start + hour) for hour in hours) / len(hours)


def mean_day(fields, layer: int, start: int, count: int) -> np.ndarray:
    """Return the mean of days, three days apart; shape (24, 181, 360)."""
    # One field after another: together they have 500 MB.
    days = [start + 72 * day for day in range(count)]
    return np.array([sum(fields(layer, day + hour) for day in days) / count for hour in range(DAY)])


def test_values_are_those_of_the_earth(fields):
    year = np.array([fields(0, hour) for hour in range(0, YEAR, 97)])
    assert 276 < year.mean() < 284
    assert 185 < year.min() < 225
    assert 308 < year.max() < 328


def test_land_is_where_it_is_on_the_earth(land):
    assert 0.30 < land.mean() < 0.36
    places = {(52, 10): True, (40, -100): True, (-25, 134): True, (0, -30): False, (0, -150): False}
    assert {place: bool(land[90 - place[0], place[1] + 180]) for place in places} == places


def test_seasons_are_opposite_in_the_hemispheres_and_strongest_on_northern_land(fields, land):
    change = average(fields, 0, JULY) - average(fields, 0, JANUARY)
    north, south = change[25:50], change[110:150]
    assert north[land[25:50]].mean() > 20
    assert 3 < north[~land[25:50]].mean() < 14
    assert south[land[110:150]].mean() < -5
    assert abs(change[85:96].mean()) < 2


def test_days_follow_the_sun_and_are_those_of_land(fields, land):
    course = mean_day(fields, 0, JULY, 20)
    extent = np.ptp(course, axis=0)
    assert 5 < np.median(extent[30:151][land[30:151]]) < 15
    assert np.percentile(extent[~land], 95) < 1
    # Local time is 6 hours later 90 degrees to the east.
    warmest = [
        course[:, 40:60, 180 + west : 190 + west].mean(axis=(1, 2)).argmax() for west in (-80, 10, 100)
    ]
    assert [(hour - warmest[1]) % DAY for hour in warmest] == [6, 0, 18]
    assert 12 <= (warmest[1] + 1) % DAY <= 16
    polar_night = np.ptp(mean_day(fields, 0, JANUARY, 12), axis=0)[:20][land[:20]]
    assert polar_night.mean() < extent[:20][land[:20]].mean() / 2


def test_soil_follows_the_air_weaker_and_later_with_depth(fields, land):
    northern = land[30:50]
    daily = [
        np.ptp(mean_day(fields, layer, JULY, 4), axis=0)[30:50][northern].mean() for layer in range(5)
    ]
    assert daily[0] > daily[1] > 3 * daily[2] > 10 * max(daily[3:])
    year = np.array(
        [
            [fields(layer, hour)[30:50][northern].mean() for hour in range(0, YEAR, 14 * DAY)]
            for layer in range(5)
        ]
    )
    extents = np.ptp(year, axis=1)
    assert list(extents) == sorted(extents, reverse=True)
    assert extents[4] < 0.5 * extents[1]
    assert year[4].argmax() >= year[1].argmax() + 2


def test_air_exists_everywhere_and_soil_on_land(fields, land):
    assert np.isfinite(fields(0, 5)).all()
    for layer in range(1, 5):
        assert np.array_equal(np.isfinite(fields(layer, 1_000)), land)


def test_neighbouring_hours_resemble_each_other(fields):
    now, soon, late = (fields(0, hour) for hour in (100, 101, 268))
    assert 0 < abs(soon - now).mean() < 1
    assert abs(late - now).mean() > 2 * abs(soon - now).mean()


@pytest.mark.parametrize("name", ["era5-hourly", "era5-hourly-soil"])
def test_the_coarse_grid_is_every_fourth_point(name):
    fine, coarse = (data_generator.array(name + suffix, 2).array for suffix in ("", "-1deg"))
    whole, points = (
        each.read((slice(1, 2), *(slice(0, edge) for edge in each.shape[1:]))) for each in (fine, coarse)
    )
    # The ranges that are packed differ.
    np.testing.assert_allclose(points, whole[:, ::4, ::4], atol=0.004)
    for axis in ("latitude", "longitude"):
        assert np.array_equal(coarse.coordinates[axis], fine.coordinates[axis][::4])
    assert fine.coordinates["latitude"][[0, -1]].tolist() == [90, -90]
    assert fine.coordinates["longitude"][[0, -1]].tolist() == [-180, 179.75]


@pytest.mark.parametrize("layer", [0, 1, 4])
def test_fields_were_packed_in_16_bits(fields, layer):
    values = fields(layer, 77)
    distinct = np.unique(values[np.isfinite(values)])
    assert 2**12 < len(distinct) <= 2**16
    spacing = 2.0 ** np.round(np.log2(np.diff(distinct).min()))
    levels = (distinct - distinct[0]) / spacing
    assert abs(levels - np.round(levels)).max() < 0.1
    assert levels[-1] < 2**16


def test_coordinates_have_the_attributes_of_cf():
    source = data_generator.array("era5-hourly-soil-1deg", 2).array
    assert source.coordinate_attributes.keys() == set(source.dims)
    assert [source.coordinate_attributes[dim]["axis"] for dim in source.dims] == list("TYXZ")
    assert source.coordinate_attributes["time"]["units"].startswith("hours since 1900-01-01")
