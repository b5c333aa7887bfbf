"""Features of a map: places, roads and parcels around towns, and the countries of the world.

Geometries are Well-known Binary with longitudes and latitudes. Made ones have seven decimals, as
OpenStreetMap keeps them (https://wiki.openstreetmap.org/wiki/Node), and gather around towns of very
different sizes. Roads are walks of 2 to 40 vertices. Parcels are simple polygons of 4 to 16 vertices,
one in ten with a hole; one in a thousand is a lake with 1,024. The countries are Natural Earth's
1:110m, in the public domain (https://www.naturalearthdata.com/about/terms-of-use/), as pyogrio brings
them, with seven decimals; a file beside this one has them, since that package brings a GDAL, too.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.datasets.flights import first_rows
from data_generator.splitmix import SplitMix, below

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pandas as pd

_COUNTRIES = Path(__file__).with_name("countries.csv")

# Units of a coordinate in a degree.
_UNITS = 10**7

TOWNS = 4_096
_TOWN_DEGREES = 170, 65  # longitudes and latitudes of towns, to either side of zero
# Reach of a town in each direction, of which places are nearly normally distributed.
_REACH = _UNITS // 8

_KINDS = "bench cafe crossing hydrant kiosk pharmacy post_box restaurant school shop stop tree".split()

FEWEST_TURNS, MOST_TURNS = 2, 40
_LONGEST_STEP = 4_000  # about 40 metres

FEWEST_CORNERS, MOST_CORNERS, LAKE_CORNERS = 4, 16, 1_024
HOLE_CORNERS = 4
_RADIUS, _LAKE_RADIUS = 3_000, 300_000
# Directions of corners, as integers: cosines of different machines round to the same.
_DIRECTIONS, _DIRECTION_UNITS = 4_096, 2**20


def _first_rows(
    name: str, make_rows: Callable[[int, int, int], pd.DataFrame], rows: int, seed: int
) -> Dataset:
    return Dataset(name, make_rows(0, rows, seed))


def rows_of_places(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return points from `start` to before `stop`, with the default index."""
    import shapely

    centres = _places(start, stop, seed)
    return _features(shapely.points(centres / _UNITS), start, stop, seed)


def rows_of_roads(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return lines from `start` to before `stop`, with the default index."""
    import numpy as np
    import shapely

    count = stop - start
    turns = _between(FEWEST_TURNS, MOST_TURNS, SplitMix(seed, 20).words(start, count))
    first = _starts(turns)
    steps = np.empty((first[-1], 2), np.int64)
    # Each road has as many words as the longest one, so that it does not depend on others.
    places = np.repeat((start + np.arange(count)) * MOST_TURNS - first[:-1], turns)
    for axis in range(2):
        words = SplitMix(seed, 21 + axis).words(start * MOST_TURNS, count * MOST_TURNS)
        drawn = words[places - start * MOST_TURNS + np.arange(first[-1])]
        steps[:, axis] = below(2 * _LONGEST_STEP + 1, drawn).astype(np.int64) - _LONGEST_STEP
    steps[first[:-1]] = _places(start, stop, seed)
    walked = steps.cumsum(axis=0)
    before = np.zeros((count, 2), np.int64)
    before[1:] = walked[first[1:-1] - 1]
    coordinates = (walked - np.repeat(before, turns, axis=0)) / _UNITS
    lines = shapely.from_ragged_array(shapely.GeometryType.LINESTRING, coordinates, (first,))
    return _features(lines, start, stop, seed)


def rows_of_parcels(start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return polygons from `start` to before `stop`, with the default index."""
    import numpy as np
    import shapely

    count = stop - start
    draw = below(1_000, SplitMix(seed, 30).words(start, count)).astype(np.int64)
    is_lake, has_hole = draw == 0, draw >= 900  # noqa: PLR2004 (one in ten)
    corners = _between(FEWEST_CORNERS, MOST_CORNERS, SplitMix(seed, 31).words(start, count))
    corners[is_lake] = LAKE_CORNERS
    radius = np.where(is_lake, _LAKE_RADIUS, _RADIUS)
    # Rings in the order of polygons: an outer one, and perhaps a hole.
    rings = np.repeat(np.arange(count), 1 + has_hole)
    is_hole = np.zeros(len(rings), bool)
    is_hole[1:] = rings[1:] == rings[:-1]
    sides = np.where(is_hole, HOLE_CORNERS, corners[rings])
    first = _starts(sides + 1)
    number = np.arange(first[-1]) - np.repeat(first[:-1], sides + 1)
    side, hole, polygon = (np.repeat(each, sides + 1) for each in (sides, is_hole, rings))
    number %= side  # the last corner is the first one
    # Outer rings turn left, and holes right, as the standard has it.
    number = np.where(hole, -number % side, number)
    directions = _unit_circle()[number * _DIRECTIONS // side]
    words = _words_of_corners(start + polygon, number, seed)
    half = np.where(hole, radius[polygon] // 8, radius[polygon] // 2)
    length = np.where(hole, half, half + below(_RADIUS, words).astype(np.int64) * half // _RADIUS)
    offsets = directions * length[:, None] // _DIRECTION_UNITS
    coordinates = (_places(start, stop, seed)[polygon] + offsets) / _UNITS
    polygons = shapely.from_ragged_array(
        shapely.GeometryType.POLYGON, coordinates, (first, _starts(1 + has_hole.astype(np.int64)))
    )
    return _features(polygons, start, stop, seed)


def _words_of_corners(row: np.ndarray, number: np.ndarray, seed: int) -> np.ndarray:
    """Return a word for each corner of each row, whatever other rows there are."""
    import numpy as np

    lowest = int(row.min(initial=0))
    by_row = SplitMix(seed, 32).words(lowest, int(row.max(initial=0)) - lowest + 1)
    by_number = SplitMix(seed, 33).words(0, LAKE_CORNERS)
    # An odd factor mixes the halves of both.
    words: np.ndarray = (by_row[row - lowest] ^ by_number[number]) * np.uint64(0x9E3779B97F4A7C15)
    return words


def _unit_circle() -> np.ndarray:
    import numpy as np

    angles = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=1) * _DIRECTION_UNITS
    return np.rint(directions).astype(np.int64)


def _places(start: int, stop: int, seed: int) -> np.ndarray:
    """Return places around towns in units of coordinates, shape (rows, 2), dtype int64."""
    import numpy as np

    count = stop - start
    # The square of a uniform number: large and small towns.
    sizes = ((SplitMix(seed, 1).words(start, count) >> 11) * 2.0**-53) ** 2
    towns = (sizes * TOWNS).astype(np.int64)
    found = np.empty((count, 2), np.int64)
    for axis, degrees in enumerate(_TOWN_DEGREES):
        half = degrees * _UNITS
        centres = below(2 * half, SplitMix(seed, 2 + axis).words(0, TOWNS)).astype(np.int64) - half
        # Sums of four random bytes, whose mean is 510, are nearly normal, and need no logarithm.
        pieces = SplitMix(seed, 4 + axis).words(start, count).astype("<u8").view(np.uint8)
        normal = pieces.reshape(count, 8)[:, :4].sum(axis=1, dtype=np.int64) - 510
        fine = below(_REACH // 510, SplitMix(seed, 6 + axis).words(start, count)).astype(np.int64)
        found[:, axis] = centres[towns] + normal * (_REACH // 510) + fine
    return found


def _features(geometries: np.ndarray, start: int, stop: int, seed: int) -> pd.DataFrame:
    """Return geometries, shape (rows,), with the other columns of a map."""
    import numpy as np
    import pandas as pd
    import shapely

    count = stop - start
    kinds = np.array(_KINDS, object)
    names = below(10_000, SplitMix(seed, 10).words(start, count)).tolist()
    return pd.DataFrame(
        {
            "id": np.arange(start, stop, dtype=np.int64),
            "kind": kinds[below(len(kinds), SplitMix(seed, 11).words(start, count)).astype(np.int64)],
            "name": [f"No. {name}" for name in names],
            "height": below(100_000, SplitMix(seed, 12).words(start, count)) / 100,
            "geometry": pd.Series(shapely.to_wkb(geometries, byte_order=1), dtype=object),
        }
    ).astype({"kind": "str", "name": "str"})


def _between(least: int, largest: int, words: np.ndarray) -> np.ndarray:
    import numpy as np

    return least + below(largest - least + 1, words).astype(np.int64)


def _starts(lengths: np.ndarray) -> np.ndarray:
    """Return where pieces of some lengths begin one after another, and where the last one ends."""
    import numpy as np

    return np.concatenate([np.zeros(1, np.int64), lengths.cumsum()])


def countries(rows: int, _seed: int) -> Dataset:
    """Return the countries of the world with their borders."""
    return Dataset("countries", _countries("countries", rows))


def _countries(name: str, rows: int) -> pd.DataFrame:
    """Return the first countries.

    Raises
    ------
    TooFewRowsError
        If there are fewer countries.
    """
    import pandas as pd
    import shapely

    df = pd.read_csv(_COUNTRIES, keep_default_na=False)
    geometries = shapely.from_wkt(df["geometry"].to_numpy(object))
    df["geometry"] = pd.Series(shapely.to_wkb(geometries, byte_order=1), dtype=object)
    return first_rows(name, df, rows)


def borders(rows: int, _seed: int) -> Dataset:
    """Return names and borders of countries, by columns that places do not have."""
    import pandas as pd

    df = _countries("places-countries", rows)
    return Dataset("places-countries", pd.DataFrame({"country": df["name"], "geometry": df["geometry"]}))


_MADE = (
    ("places", "points around towns, with a kind, a name and a height", rows_of_places),
    ("roads", "lines of 2 to 40 vertices around towns, with a kind, a name and a height", rows_of_roads),
    ("parcels", "polygons, some with a hole, some of 1,024 vertices, around towns", rows_of_parcels),
)

DATASETS = (
    *(
        DatasetDefinition(
            name=name,
            family="tables",
            description=f"features: {words}",
            make=partial(_first_rows, name, make_rows),
            default_count=1_000_000,
            requires=("shapely",),
            make_rows=make_rows,
        )
        for name, words, make_rows in _MADE
    ),
    DatasetDefinition(
        name="countries",
        family="tables",
        description="real: countries of the world with their borders (Natural Earth), 6 columns",
        make=countries,
        default_count=177,
        is_real=True,
        requires=("shapely",),
    ),
    DatasetDefinition(
        name="places-countries",
        family="tables",
        description="real: names and borders of countries, the second table of a join with places",
        make=borders,
        default_count=177,
        is_real=True,
        requires=("shapely",),
    ),
)
