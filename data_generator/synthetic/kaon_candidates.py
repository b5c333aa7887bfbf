"""Candidates for the decay of a charged B meson to three kaons, block by block.

A candidate consists of three tracks of one proton collision. Their momenta give the mass of a B meson
under the hypothesis that all three are kaons: a Gaussian peak, in part through the resonance phi(1020),
on a falling background of unrelated tracks. Columns and cuts follow LHCb's open data
(https://opendata.cern.ch/record/4900); distributions are plausible shapes, not fits.

Some candidates are siblings: they share two tracks with the last candidate before them that is not a
sibling, and their third track gives a mass of the background. Values therefore repeat bit by bit, as in
candidates from one collision, and compressors find them. All other values have random mantissas.

Only +, -, x, / and square roots are used, whose rounding IEEE 754 defines: NumPy's exp, log and sin may
differ between processors in the last bit.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, NamedTuple

from data_generator.random_words import RandomWords

if TYPE_CHECKING:
    import numpy as np


# Rows of a block: its arrays fit in the processor's cache.
BLOCK_ROWS = 2**14

# Candidates made for each wanted row: 82 % pass the selection, and missing ones are made in addition.
SPARE = 1.24

TRACKS = 3
TRACK_FLOATS = ("PX", "PY", "PZ", "ProbK", "ProbPi", "IPChi2")
TRACK_INTEGERS = ("Charge", "isMuon")
CANDIDATE_FLOATS = ("B_FlightDistance", "B_VertexChi2")

# MeV.
KAON_MASS = 493.677
B_MASS = 5279.3
B_MASS_RESOLUTION = 18.0
PHI_MASS = 1019.46
PHI_HALF_WIDTH = 2.1

# Bounds of the selection, published with the data; masses and momenta in MeV.
LOWEST_MASS = 5050.0
HIGHEST_MASS = 6300.0
LEAST_MOMENTUM = 1500.0
LEAST_PT = 100.0
LEAST_SUM_OF_PT = 4500.0
LEAST_IP_CHI2 = 1.0
LEAST_SUM_OF_IP_CHI2 = 500.0
HIGHEST_VERTEX_CHI2 = 12.0

# Energy of a proton of the beam in 2011, MeV.
HIGHEST_MOMENTUM = 3.5e6

# Chosen for a plausible spectrum, not fitted.
SIGNAL_SHARE = 0.06
PHI_SHARE = 1 / 8
SIBLING_SHARE = 0.4

# Shares of the tracks of the background; the rest is neither.
KAON_SHARE = 0.25
PION_SHARE = 0.6

# A muon is among three tracks with a probability of 0.28.
MUON_SHARE = 0.1038

# The other two of three tracks have opposite charges, so that 50.8 % of all are positive.
POSITIVE_SHARE = 0.524

# Largest difference between the slopes of a sibling's third track and of the one that it replaces.
SLOPE_DIFFERENCE = 0.012

# Mean flight in mm of a B meson whose momentum is its mass.
FLIGHT = 0.455


class Vectors(NamedTuple):
    """Momenta in MeV, an array for each component."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray

    def plus(self, other: Vectors, factor: np.ndarray | float = 1.0) -> Vectors:
        """Return the sum with `factor` times the other."""
        return Vectors(self.x + factor * other.x, self.y + factor * other.y, self.z + factor * other.z)

    def dot(self, other: Vectors) -> np.ndarray:
        """Return the scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def times(self, factor: np.ndarray) -> Vectors:
        """Return the product with a number."""
        return Vectors(self.x * factor, self.y * factor, self.z * factor)


class Tracks(NamedTuple):
    """Tracks of candidates."""

    floats: np.ndarray
    """`TRACK_FLOATS` of each track, shape (3, 6, candidates), dtype float64."""
    integers: np.ndarray
    """`TRACK_INTEGERS` of each track, shape (3, 2, candidates), dtype int32."""


class Candidates(NamedTuple):
    """Rows of the table."""

    floats: np.ndarray
    """`CANDIDATE_FLOATS`, then `TRACK_FLOATS` of each track, shape (20, rows), dtype float64."""
    integers: np.ndarray
    """`TRACK_INTEGERS` of each track, shape (6, rows), dtype int32."""


class _Draws:
    """Random numbers of 32 bits."""

    def __init__(self, *key: str | int) -> None:
        self._random = RandomWords(*key)

    def bits(self, count: int) -> np.ndarray:
        """Return integers, shape (count,), dtype uint32."""
        return self._random.words(-(-count // 2)).view("<u4")[:count]

    def uniform(self, count: int) -> np.ndarray:
        """Return floats in (0, 1), without 0 and 1, shape (count,)."""
        values = self.bits(count) * 2.0**-32
        values += 2.0**-33
        return values

    def heavy_tailed(self, count: int) -> np.ndarray:
        """Return positive floats of median 1, shape (count,); their density falls with the cube."""
        values = self.uniform(count)
        return _root(values / (1.0 - values))

    def normal(self, count: int) -> np.ndarray:
        """Return floats of mean 0 and standard deviation 1, nearly normal, shape (count,)."""
        values = self.uniform(count) - 6.0
        for _ in range(11):
            values += self.uniform(count)
        return values

    def half_turns(self, count: int, limit: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Return sine and cosine of angles, uniform between -+ `limit` times a right angle."""
        angle = (self.uniform(count) - 0.5) * (limit * pi)
        square = angle * angle
        # Taylor's series up to a negative term: never above 1, and 6e-8 below at the right angle.
        series = 1 / 362880 - square / 39916800
        for term in (1 / 5040, 1 / 120, 1 / 6):
            series = term - square * series
        sine = angle * (1.0 - square * series)
        return sine, _root(1.0 - sine * sine)

    def turns(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return sine and cosine of uniform angles."""
        sine, cosine = self.half_turns(count)
        return 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine

    def directions(self, length: np.ndarray) -> Vectors:
        """Return isotropic vectors of the given lengths."""
        sine, cosine = self.turns(len(length))
        along = 2.0 * self.uniform(len(length)) - 1.0
        across = _root(1.0 - along * along) * length
        return Vectors(across * cosine, across * sine, along * length)


def block(number: int, seed: int) -> Candidates:
    """Return a block: the `BLOCK_ROWS` rows of the table from row ``number * BLOCK_ROWS`` on.

    Parameters
    ----------
    number : int
        Number of the block, from 0 on. It is made without the blocks before it.
    seed : int
        Blocks of different seeds have nothing in common.
    """
    import numpy as np

    draws = _Draws("kaons", seed, number)
    found = _candidates(draws, round(SPARE * BLOCK_ROWS))
    while found.floats.shape[-1] < BLOCK_ROWS:
        more = _candidates(draws, BLOCK_ROWS)
        found = Candidates(*(np.concatenate(parts, axis=-1) for parts in zip(found, more, strict=True)))
    return Candidates(found.floats[:, :BLOCK_ROWS], found.integers[:, :BLOCK_ROWS])


def _candidates(draws: _Draws, count: int) -> Candidates:
    """Return which of `count` candidates pass the selection."""
    import numpy as np

    is_sibling = draws.uniform(count) < SIBLING_SHARE
    is_sibling[0] = False
    primary = np.cumsum(~is_sibling) - 1
    primaries = _primaries(draws, int(primary[-1]) + 1)
    siblings = _siblings(draws, primaries, primary[is_sibling])
    floats = np.concatenate([primaries.floats, siblings.floats], axis=-1)
    integers = np.concatenate([primaries.integers, siblings.integers], axis=-1)

    # Each sibling goes from behind all primaries to its place.
    place = primary
    place[is_sibling] = np.arange(primaries.floats.shape[-1], count)
    place = place[_is_selected(floats)[place]]
    floats = np.take(floats, place, axis=-1)
    integers = np.take(integers, place, axis=-1)
    own = _flights_and_vertices(draws, floats)
    rows = len(place)
    return Candidates(np.concatenate([own, floats.reshape(-1, rows)]), integers.reshape(-1, rows))


def _is_selected(floats: np.ndarray) -> np.ndarray:
    """Return a mask of the candidates that pass the selection; shape of floats (3, 6, candidates)."""
    px, py, pz = floats[:, 0], floats[:, 1], floats[:, 2]
    pt_squared = px * px + py * py
    squared = pt_squared + pz * pz
    pt, ip_chi2 = _root(pt_squared), floats[:, 5]
    passes = (pt > LEAST_PT) & (squared > LEAST_MOMENTUM**2) & (squared < HIGHEST_MOMENTUM**2)
    passing: np.ndarray = passes[0] & passes[1] & passes[2]
    passing &= pt[0] + pt[1] + pt[2] > LEAST_SUM_OF_PT
    passing &= ip_chi2[0] + ip_chi2[1] + ip_chi2[2] > LEAST_SUM_OF_IP_CHI2
    return passing


def _flights_and_vertices(draws: _Draws, floats: np.ndarray) -> np.ndarray:
    """Return `CANDIDATE_FLOATS`, shape (2, candidates); shape of floats (3, 6, candidates)."""
    import numpy as np

    count = floats.shape[-1]
    mother = _sum(floats)
    lifetime = 0.3 + 0.7 * draws.heavy_tailed(count)
    flight = _root(mother.dot(mother)) * (FLIGHT / B_MASS) * lifetime
    return np.stack([flight, HIGHEST_VERTEX_CHI2 * draws.uniform(count) * draws.uniform(count)])


def _primaries(draws: _Draws, count: int) -> Tracks:
    """Return the tracks of candidates that are not siblings."""
    import numpy as np

    is_signal = draws.uniform(count) < SIGNAL_SHARE
    signals = np.flatnonzero(is_signal)
    mass = _background_masses(draws, count)
    mass[signals] = B_MASS + B_MASS_RESOLUTION * draws.normal(len(signals))
    charge = _signs(draws, count, 0.5)
    charges = (charge, -charge, _signs(draws, count, POSITIVE_SHARE))
    floats = np.empty((TRACKS, len(TRACK_FLOATS), count))
    integers = np.empty((TRACKS, len(TRACK_INTEGERS), count), np.int32)
    for track, momentum in enumerate(_three_body_decays(draws, mass)):
        floats[track, :3] = momentum
        integers[track, 0] = charges[track]
        floats[track, 3:], integers[track, 1] = _identities(draws, is_signal)
    return Tracks(floats, integers)


def _siblings(draws: _Draws, primaries: Tracks, primary: np.ndarray) -> Tracks:
    """Return the tracks of siblings, given the number of the primary of each.

    The third track has nearly the direction of the replaced one, and the momentum of a wanted mass.
    """
    import numpy as np

    count, rows = len(primary), np.arange(len(primary))
    floats = np.take(primaries.floats, primary, axis=-1)
    integers = np.take(primaries.integers, primary, axis=-1)
    replaced = draws.bits(count) % TRACKS
    old = Vectors(*(floats[replaced, axis, rows] for axis in range(3)))
    pair = _sum(floats).plus(old, -1.0)
    px, py, pz = floats[:, 0], floats[:, 1], floats[:, 2]
    energies = _root(px * px + py * py + pz * pz + KAON_MASS**2)
    pair_energy = energies[0] + energies[1] + energies[2] - energies[replaced, rows]

    slopes = [
        across / old.z + SLOPE_DIFFERENCE * (2.0 * draws.uniform(count) - 1.0) for across in old[:2]
    ]
    ahead = 1.0 / _root(1.0 + slopes[0] * slopes[0] + slopes[1] * slopes[1])
    direction = Vectors(slopes[0] * ahead, slopes[1] * ahead, ahead)
    momentum = _momentum(pair, pair_energy, direction, _background_masses(draws, count))

    charges = integers[:, 0]
    others = charges[0] + charges[1] + charges[2] - charges[replaced, rows]
    signs = _signs(draws, count, POSITIVE_SHARE)
    floats[replaced, :3, rows] = np.stack(direction.times(momentum), axis=-1)
    integers[replaced, 0, rows] = np.where(others == 0, signs, -(others // 2))
    values, integers[replaced, 1, rows] = _identities(draws, np.zeros(count, bool))
    floats[replaced, 3:, rows] = values.T
    return Tracks(floats, integers)


def _momentum(
    pair: Vectors, pair_energy: np.ndarray, direction: Vectors, mass: np.ndarray
) -> np.ndarray:
    """Return the momentum at which a kaon has the given mass with a pair; 0 if there is none.

    It is the larger solution p of E sqrt(p^2 + m^2) = K + a p, where a is the pair's momentum along the
    kaon's direction, and K half of what the squared masses leave for the product of the four-momenta.
    """
    import numpy as np

    along = pair.dot(direction)
    squared = pair_energy * pair_energy
    product = (mass * mass - (squared - pair.dot(pair)) - KAON_MASS**2) / 2.0
    across = squared - along * along
    discriminant = product * product - KAON_MASS**2 * across
    root = _root(np.maximum(discriminant, 0.0))
    found: np.ndarray = (along * product + pair_energy * root) / across
    return found * ((discriminant > 0.0) & (product > 0.0))


def _three_body_decays(draws: _Draws, mass: np.ndarray) -> tuple[Vectors, Vectors, Vectors]:
    """Return the momenta of three kaons in the laboratory, given the mass of each mother."""
    import numpy as np

    count = len(mass)
    # Mass of the first two: half a circle, which is close to phase space, or the resonance's.
    _, cosine = draws.turns(count)
    inside = (1.0 + _root(draws.uniform(count)) * cosine) / 2.0
    pair_mass = 2.0 * KAON_MASS + (mass - 3.0 * KAON_MASS) * inside
    resonant = np.flatnonzero(draws.uniform(count) < PHI_SHARE)
    sine, cosine = draws.half_turns(len(resonant), 0.9)  # Cauchy's distribution without its far tails
    pair_mass[resonant] = PHI_MASS + PHI_HALF_WIDTH * sine / cosine

    # In the rest frame of the mother, the pair and the third kaon go in opposite directions.
    kaon = KAON_MASS**2
    third_energy = (mass * mass + kaon - pair_mass * pair_mass) / (2.0 * mass)
    pair = draws.directions(_root(third_energy * third_energy - kaon))
    pair_energy = mass - third_energy
    half = pair_mass / 2.0
    first = draws.directions(_root(half * half - kaon))
    first, first_energy = _boosted(first, half, pair, pair_energy, pair_mass)
    second = pair.plus(first, -1.0)

    # LHCb sees tracks at slopes from about 0.01 to 0.3 to the beam; small ones are frequent.
    pt = 1500.0 + 4200.0 * draws.heavy_tailed(count)
    slope = draws.uniform(count)
    sine, cosine = draws.turns(count)
    mother = Vectors(pt * cosine, pt * sine, pt / (0.012 + 0.25 * slope * slope))
    mother_energy = _root(mass * mass + mother.dot(mother))
    first, _ = _boosted(first, first_energy, mother, mother_energy, mass)
    second, _ = _boosted(second, pair_energy - first_energy, mother, mother_energy, mass)
    return first, second, mother.plus(first, -1.0).plus(second, -1.0)


def _boosted(
    momentum: Vectors, energy: np.ndarray, frame: Vectors, frame_energy: np.ndarray, mass: np.ndarray
) -> tuple[Vectors, np.ndarray]:
    """Return momenta and energies of particles that are given in the rest frame of a system.

    The system has the momentum `frame`, the energy `frame_energy` and the mass `mass`.
    """
    product = momentum.dot(frame)
    factor = (product / (frame_energy + mass) + energy) / mass
    return momentum.plus(frame, factor), (frame_energy * energy + product) / mass


def _identities(draws: _Draws, is_kaon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ProbK, ProbPi and IPChi2, shape (3, tracks), and the flags of muons of tracks."""
    import numpy as np

    count = len(is_kaon)
    bits = draws.bits(count)
    muon, species = (bits & 0xFFFF) * 2.0**-16 < MUON_SHARE, (bits >> 16) * 2.0**-16
    kaon = (species < KAON_SHARE) | is_kaon
    pion = (species >= 1.0 - PION_SHARE) & ~kaon
    # Near 1 for the particle that it is, near 0 for others.
    high, low = _root(_root(draws.uniform(count))), draws.uniform(count)
    low *= low
    low *= low
    lower = low * (1.0 - high)
    prob_k, prob_pi = low + kaon * (high - low), lower + pion * (high - lower)
    chi2 = LEAST_IP_CHI2 + 350.0 * draws.heavy_tailed(count)
    return np.stack([prob_k, prob_pi, chi2]), muon


def _background_masses(draws: _Draws, count: int) -> np.ndarray:
    """Return masses in MeV that fall from the lowest to the highest, shape (count,)."""
    values = draws.uniform(count)
    return LOWEST_MASS + (HIGHEST_MASS - LOWEST_MASS) * values * (0.6 + 0.4 * values)


def _signs(draws: _Draws, count: int, positive: float) -> np.ndarray:
    """Return 1 with probability `positive`, else -1, shape (count,), dtype int32."""
    import numpy as np

    return 2 * (draws.uniform(count) < positive).astype(np.int32) - 1


def _sum(floats: np.ndarray) -> Vectors:
    """Return the sum of the momenta of three tracks; shape of floats (3, 6, candidates)."""
    return Vectors(*(floats[0, axis] + floats[1, axis] + floats[2, axis] for axis in range(3)))


def _root(values: np.ndarray) -> np.ndarray:
    import numpy as np

    roots: np.ndarray = np.sqrt(values)
    return roots
