"""Land and sea of the Earth on a grid of 0.25 degrees: real continents with made-up coasts.

The share of land in cells of 4 degrees is real, of the public-domain elevation model GLOBE (Hastings
and Dunbar, Global Land One-kilometer Base Elevation, NOAA, 1999), counted through the package
global-land-mask 1.0.0. Noise decides between the cells, so that coasts have bays and islands of all
sizes, but not the real ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords
from data_generator.synthetic.octaves import CANVAS_DEVIATION, canvas, doubled

if TYPE_CHECKING:
    import numpy as np


ROWS = 721
COLUMNS = 1_440

# Fifteenths of land in a cell; from 90 degrees north and 180 degrees west on.
LAND_FIFTEENTHS = (
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "000000000000000000000001245431111345553100000000000000000000000000000000000000000000000000",
    "0000000000000000011327bbdea9adfffffffffd63000001465200001102110000015531000000000000000000",
    "000000000000004665335579a30377bffffffffd300000002210000000053300002678cc930000034110000000",
    "10001332100002a9aab47b5bdc730009efffffc60000000000132000008201a68beffffeeedbe666b973300001",
    "9413cffffecdeeecccc9bcc8739f8205dfffb741000000005dffeb92699aeceaeffffffffffffffffffffedded",
    "2515bffffffffffffffffe86446c8101cfb1000593000018fd8efdaffffffffffffffffffffffffffffffffffa",
    "0003adc868cffffffffff70007f85100152000000001109cf65cefffffffffffffffffffffffffffcaa9297610",
    "000014200006dffffffffeb626fffb20000000000018700793affffffffffffffffffffffffffff70001e80000",
    "0000000000013effffffffffbcffeeb0000000000045b6cffffffffffffffffffffffffffffffffe8000700000",
    "00000000000003effffffffffffea2660000000000008fffffffefdffffffffffffffffffffffffc4000000000",
    "00000000000001fffffffffffffa63000000000000168eaa8cff335efffffffffffffffffffffea27200000000",
    "00000000000000efffffffffff81000000000000004ff30354c8ceceffffffffffffffffffc8d3005000000000",
    "000000000000005ffffffffffd0000000000000000188ab8202267ffffffffffffffffffffe3544a2000000000",
    "0000000000000003cfffffeec100000000000000005ffffe93a657fffffffffffffffffffff503200000000000",
    "00000000000000006bffc220800000000000000003dffffffffffbfff6cefffffffffffffff400000000000000",
    "000000000000000003bf900042000000000000000dfffffffffffd8ffe9834dffffffffffd7300000000000000",
    "0000011000000000004fc29204341000000000002fffffffffffff6dfff8002cff70bffa500100000000000000",
    "0000000000000000000179e710000000000000002fffffffffffffd7fc400009f5003bfd200600000000000000",
    "00000000000000000000001a20451200000000001dfffffffffffffd54000003e000056e300420000000000000",
    "00000000000000000000000156fefe400000000003effefffffffffff700000045000322002260000000000000",
    "00000000000000000000000006fffffe200000000024304bffffffffc1000000000017a0188000000000000000",
    "0000000000000000000000001effffffa30000000000000afffffffb00000000000003c1af7522310000000000",
    "0000000000000000000000003fffffffffc7100000000004ffffffe100000000000000672635115cb421000000",
    "0000000000000000000000000cffffffffff300000000000bfffffd0000000000000000353222104b820110000",
    "00000000000000000000000004fffffffff9000000000000affffff20200000000000000000003814010000000",
    "000000000000000000000000007efffffff3000000000001ffffffd197000000000000000002cef6a500001001",
    "0000000000000000000000000008ffffffe0000000000000bffffc10e300000000000000016cfffffc20001000",
    "0000000000000000000000000009fffff7200000000000005ffffa01b00000000000000008ffffffffc1000000",
    "000000000000000000000000000cffffb0000000000000001effe200000000000000000007fffffffff5000000",
    "000000000000000000000000000efffe200000000000000008fe5000000000000000000002ff96beffe2000000",
    "000000000000000000000000003fffb2000000000000000001100000000000000000000000300014ff80000031",
    "000000000000000000000000006fe7100000000000000000000000000000000000000000000000001500000074",
    "000000000000000000000000007f90000000000000000000000000000000000000000000000000000300001920",
    "00000000000000000000000000cf40000000000000000000000000000000001000000000000000000000001100",
    "000000000000000000000000008b01100000000000000000000000000000000000000000000000000000000000",
    "000000000000000000000000000320000001000000000000000000000000000000000000000000000000000000",
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "000000000000000000000000000004300000000000000000000000000000000000000000000000000000000000",
    "000000000000000000000000000393000000000000000000000003169cfb993159bcddfedebbcdedc865300000",
    "000000000000011000035342135aeb0000000000049babddeddcefffffffffaffffffffffffffffffffffdb400",
    "0000023269bccddedbabfffffdb9730001002589cffffffffffffffffffffffffffffffffffffffffffffb1000",
    "0000315bffffffffffffffffdb46200179349dfffffffffffffffffffffffffffffffffffffffffffffff61000",
    "665448aefffffffffffffffffffffbbefeffffffffffffffffffffffffffffffffffffffffffffffffffffca87",
    "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
)
DOUBLINGS = 4
# Octaves from 8 to 0.25 degrees.
COAST_AMPLITUDES = (0, 0, 0, 256, 128, 64, 32)
COARSE = (23, 45)
# Of the noise that draws a coast, in fifteenths of 2**8.
COAST_DEVIATION = 2 * 2**8
# From 8 fifteenths of land on, a place is land.
LEAST_LAND = 15 * 2**7
# The coast's share in the climate of land, of 256.
COAST_SHARE = 128


def inland(seed: int) -> np.ndarray:
    """Return the share of each place in the climate of land; shape (721, 1440), dtype int64.

    0 at sea, and on land from 128 at the coast to 256 where all is land.
    """
    import numpy as np

    shares = np.array([[int(digit, 16) for digit in row] for row in LAND_FIFTEENTHS], np.int32)
    shares = np.concatenate([shares, shares[-1:] // 2]) << 8  # below the South Pole
    for _ in range(DOUBLINGS):
        shares = doubled(shares)
    noise = canvas(COARSE, ROWS, COAST_AMPLITUDES, RandomWords("coast", seed)).astype(np.int64)
    # Whole cells of land or sea remain so.
    noise = (noise * COAST_DEVIATION // CANVAS_DEVIATION).clip(-LEAST_LAND + 1, LEAST_LAND - 1)
    level = shares[:ROWS] + noise - LEAST_LAND
    on_land = COAST_SHARE + level * (256 - COAST_SHARE) // LEAST_LAND
    return np.where(level > 0, on_land.clip(COAST_SHARE, 256), 0)
