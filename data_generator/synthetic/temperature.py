"""Temperature of air and soil over the globe, hour by hour.

A field is the sum of a mean by latitude, a season, a daily cycle that follows the sun, relief, and
weather that drifts along the parallels. Land and sea differ in all of them. Soil follows the air with
amplitudes that decrease and delays that increase with depth, as heat conduction has it: by a factor of
e for each 0.11 m of a daily wave and for each 2.1 m of a yearly one, at a diffusivity of 0.45 mm2/s
(Hillel, Introduction to Environmental Soil Physics, 2003, chapter 12). Any hour is computed alone,
with integers but for the last multiplication and addition of float32, so that all machines agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords
from data_generator.synthetic.coast import COLUMNS, ROWS, inland
from data_generator.synthetic.octaves import CANVAS_DEVIATION, canvas, interpolated
from data_generator.synthetic.weather import BLOCK_ROWS, FULL_WEIGHT, PHASES, pack, wave

if TYPE_CHECKING:
    import numpy as np


# Of values in the last sum, whose offset is the melting point of ice.
UNIT_BITS = 20
OFFSET_KELVIN = 273.15
# Of profiles; the land's share, an integer of 8 bits, makes up the difference.
ROW_BITS = 12

# Profiles from 90 degrees north to 90 degrees south.
ROWS_BETWEEN = 40  # 10 degrees
# Degrees Celsius.
SEA_MEAN = (-17, -14, -3, 5, 9, 15, 21, 25, 27, 27, 26, 24, 19, 13, 6, -1, -10, -18, -23)
LAND_MEAN = (-19, -15, -9, 0, 7, 13, 22, 27, 28, 27, 26, 25, 18, 11, 6, -5, -20, -33, -37)
# Half of the warmest day's difference from the coldest, in kelvin; negative in the south.
SEA_SEASON = (15, 13, 8, 5, 5, 5, 4, 2, 1, 0, -1, -2, -3, -3, -3, -4, -8, -11, -13)
LAND_SEASON = (17, 18, 20, 18, 14, 12, 10, 5, 2, 1, -1, -4, -6, -6, -5, -8, -11, -14, -15)
# Half of the daily difference, when the sun is in the zenith at noon, in tenths of a kelvin.
LAND_DAY = (25, 30, 40, 50, 55, 60, 65, 60, 45, 40, 45, 60, 65, 60, 50, 40, 30, 20, 15)
# Standard deviation of weather at sea, likewise.
SEA_WEATHER = (30, 32, 30, 24, 20, 16, 10, 7, 5, 4, 5, 7, 10, 15, 19, 23, 25, 25, 20)

# Day of the year that is the warmest in the north.
LAND_WARMEST = 201
SEA_WARMEST = 232
SOLSTICE = 172
HOURS_A_CENTURY = 876_582
# In units of 1/65536 of a turn.
OBLIQUITY = 4_267
WARMEST_HOUR = 14
# At sea, of 256: days are 0.05 of those on land.
SEA_SHARE = 12

# Of planetary waves, then of octaves from 8 to 0.25 degrees.
AMPLITUDES = {
    "air": (300, 256, 128, 64, 28, 10, 3),
    "deep": (300, 256, 120, 50, 18, 5, 1),
}
RELIEF_AMPLITUDES = (128, 256, 180, 120, 80, 50, 25)
SEA_AMPLITUDES = (200, 256, 128, 56, 20, 6, 1)
COARSE = (23, 45)


@dataclass(frozen=True)
class Layer:
    """Response of a layer of air or soil, in percent of air's amplitudes and hours of delay."""

    name: str
    season: int
    season_delay: int
    day: int
    day_delay: int
    weather: int
    weather_delay: int
    is_soil: bool = True
    """Values at sea are missing."""
    is_deep: bool = False
    """Weather of weeks, which does not drift."""


AIR = Layer("air", 100, 0, 100, 0, 100, 0, is_soil=False)
SOIL = (
    # Middles of the layers of the model at 3.5, 17.5, 64 and 194.5 cm.
    Layer("soil 1", 97, 24, 75, 2, 65, 3),
    Layer("soil 2", 92, 120, 20, 7, 35, 18),
    Layer("soil 3", 74, 420, 0, 0, 20, 0, is_deep=True),
    Layer("soil 4", 40, 1_340, 0, 0, 10, 0, is_deep=True),
)
"""The four layers of soil of the Integrated Forecasting System."""


@dataclass(frozen=True)
class _Maps:
    """Maps that do not change over time; shape (rows, columns)."""

    pattern: np.ndarray
    """Relief on land and currents at sea, int32 in units of 2**-UNIT_BITS kelvin."""
    share: np.ndarray
    """Share of the land's climate, of 256, int16."""
    spread: np.ndarray
    """Standard deviation of weather, int16 in units of 2**-7 kelvin."""
    is_sea: np.ndarray
    land: tuple[int, int]
    """Indexes of a place on land."""


class Temperature:
    """Temperature of a layer, an hour a field.

    Parameters
    ----------
    layer : Layer
        Air or a layer of soil.
    stride : int
        Every how many rows and columns of the grid of 0.25 degrees are computed.
    seed : int
        Weather, relief and the details of coasts of different seeds have nothing in common.
    """

    def __init__(self, layer: Layer, stride: int, seed: int) -> None:
        import numpy as np

        self._layer, self._stride = layer, stride
        self._maps = _maps(stride, seed)
        kind = "deep" if layer.is_deep else "air"
        self._canvases = _canvases(kind, seed)
        random = RandomWords("temperature in time", kind, seed)
        self._phase, *self._places = random.integers(2**16, 4).tolist()
        # A turn of the weights takes 9 days, or 60.
        self._turn = PHASES // (1_440 if layer.is_deep else 216)
        self._drifts = (0, 0, 0) if layer.is_deep else (20, -6, 9)
        self._columns = np.arange(0, COLUMNS, stride) - COLUMNS // 2

    def at(self, hour: int, out: np.ndarray) -> None:
        """Write the field of an hour to `out`, in kelvin.

        Parameters
        ----------
        hour : int
            Since 1900-01-01 00:00 UTC.
        out : numpy.ndarray
            Shape (721, 1440) for a stride of 1, dtype float32, C-contiguous.
        """
        import numpy as np

        maps = self._maps
        field = np.empty(out.shape, np.int32)
        sea, difference = self._climate(hour)
        height, shape = self._day(hour)
        windows = self._windows(hour)
        for top in range(0, len(field), BLOCK_ROWS):
            rows = slice(top, top + BLOCK_ROWS)
            block = self._weather(windows, rows)
            block *= maps.spread[rows]
            local = height[rows] * shape
            local >>= 11
            local += difference[rows]
            local *= maps.share[rows]
            block += local
            block += maps.pattern[rows]
            np.add(block, sea[rows], out=field[rows])
        if self._layer.is_soil:
            # GRIB packs the range of the values that exist.
            np.copyto(field, field[maps.land], where=maps.is_sea)
        pack(field, OFFSET_KELVIN, UNIT_BITS, out)
        if self._layer.is_soil:
            np.copyto(out, np.float32(np.nan), where=maps.is_sea)

    def _climate(self, hour: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the sea's daily mean in each row, and the land's difference from it."""
        profiles = _profiles(self._stride)
        late = hour - self._layer.season_delay
        percent = self._layer.season
        sea, land = (
            mean + ((season * wave(_season_phase(when, warmest))) >> 13) * share // 100
            for mean, season, when, warmest, share in (
                (profiles[0], profiles[1], hour, SEA_WARMEST, 100),
                (profiles[2], profiles[3], late, LAND_WARMEST, percent),
            )
        )
        return sea << (UNIT_BITS - ROW_BITS), land - sea

    def _day(self, hour: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the day's amplitude in each row, of 10 bits, and its course by longitude."""
        import numpy as np

        day = _profiles(self._stride)[4] >> 2
        north = np.arange(ROWS // 2, -ROWS // 2, -self._stride)[:, None]
        declination = OBLIQUITY * wave(_season_phase(hour, SOLSTICE)) >> 13
        noon = wave(north * (PHASES // 4) // (ROWS // 2) - declination + PHASES // 4).clip(0)
        amplitude = (day * noon >> 13) * self._layer.day // 100
        since = hour % 24 - WARMEST_HOUR - self._layer.day_delay
        course = wave(since * PHASES // 24 + self._columns * PHASES // COLUMNS + PHASES // 4)
        return amplitude.astype(np.int32), course.astype(np.int32)

    def _windows(self, hour: int) -> list[tuple[np.ndarray, np.int32]]:
        """Return the parts of the canvases that weather consists of, with their weights."""
        import numpy as np

        when = hour - self._layer.weather_delay
        phase = self._phase + when * self._turn
        waves = (wave(phase), wave(phase + PHASES // 4), FULL_WEIGHT // 2)
        found = []
        for made, place, drift, weight in zip(
            self._canvases, self._places, self._drifts, waves, strict=True
        ):
            left = (place + (when * drift >> 4)) % COLUMNS
            window = made[:: self._stride, left : left + COLUMNS : self._stride]
            found.append((window, np.int32(weight * self._layer.weather // 100)))
        return found

    @staticmethod
    def _weather(windows: list[tuple[np.ndarray, np.int32]], rows: slice) -> np.ndarray:
        """Return weather in units of 2**-13 of a standard deviation, dtype int32."""
        import numpy as np

        # Without the dtype, NumPy 1 would multiply int16 by small weights in int16.
        made = [np.multiply(window[rows], weight, dtype=np.int32) for window, weight in windows]
        total = made[0]
        total += made[1]
        total += made[2]
        total >>= 12
        return total


def _season_phase(hour: int, warmest_day: int) -> int:
    """Return the phase of a wave that is the highest on a day of the year."""
    return (100 * (hour - 24 * warmest_day) * PHASES) // HOURS_A_CENTURY + PHASES // 4


@lru_cache(maxsize=2)
def _profiles(stride: int) -> list[np.ndarray]:
    """Return the profiles of climate, in units of 2**-ROW_BITS kelvin; shape (rows, 1), int32."""
    import numpy as np

    return [
        ((interpolated(nodes, ROWS_BETWEEN, ROWS) << ROW_BITS - 8) // parts)[::stride].astype(np.int32)
        for nodes, parts in (
            (SEA_MEAN, 1),
            (SEA_SEASON, 1),
            (LAND_MEAN, 1),
            (LAND_SEASON, 1),
            (LAND_DAY, 10),
        )
    ]


@lru_cache(maxsize=4)
def _canvases(kind: str, seed: int) -> list[np.ndarray]:
    """Return three canvases, each twice beside itself; shape (rows, 2 * COLUMNS), int16, read-only."""
    import numpy as np

    made = []
    for number in range(3):
        random = RandomWords("temperature", kind, number, seed)
        one = canvas(COARSE, ROWS, AMPLITUDES[kind], random)
        twice = np.concatenate([one, one], axis=1)
        twice.flags.writeable = False
        made.append(twice)
    return made


@lru_cache(maxsize=2)
def _maps(stride: int, seed: int) -> _Maps:
    import numpy as np

    share = inland(seed)
    hills = canvas(COARSE, ROWS, RELIEF_AMPLITUDES, RandomWords("hills", seed)).astype(np.int64)
    currents = canvas(COARSE, ROWS, SEA_AMPLITUDES, RandomWords("currents", seed)).astype(np.int64)
    kelvin = 2**UNIT_BITS // CANVAS_DEVIATION
    # Land is 7 K colder at a height of one standard deviation, where it is far from the coast.
    relief = -7 * kelvin * (hills + CANVAS_DEVIATION // 4).clip(0) * share >> 8
    pattern = np.where(share > 0, relief, currents * kelvin)
    weather = interpolated(SEA_WEATHER, ROWS_BETWEEN, ROWS) * 128 // 2_560
    spread = weather * (256 + share * 154 // 256) >> 8
    every = (slice(None, None, stride),) * 2
    maps = _Maps(
        np.ascontiguousarray(pattern[every], np.int32),
        np.ascontiguousarray(share.clip(SEA_SHARE)[every], np.int16),
        np.ascontiguousarray(spread[every], np.int16),
        np.ascontiguousarray(share[every] == 0),
        ((ROWS - 1) // stride, 0),  # the South Pole
    )
    for each in (maps.pattern, maps.share, maps.spread, maps.is_sea):
        each.flags.writeable = False
    return maps
