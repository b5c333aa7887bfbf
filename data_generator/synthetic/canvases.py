"""Canvases for synthetic images: overlapping textured leaves, which compress like photographs.

Ellipses of all sizes that occlude each other ("dead leaves"; Lee, Mumford and Huang, Occlusion Models
for Natural Images, 2001) have the edges and the statistics of photographs over all scales. They are
filled with textures of equal power in each octave. All arithmetic is on integers, so a canvas has
the same pixels on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

from data_generator.random_words import RandomWords
from data_generator.synthetic.octaves import doubled, signed_noise

if TYPE_CHECKING:
    import numpy as np


# Height and width of a canvas in pixels.
SIDE = 512

# Chosen, not measured.
CANVASES = 12


@dataclass(frozen=True)
class CanvasStyle:
    """Parameters of the canvases of one set of images."""

    name: str
    leaves: int
    """Number of leaves on one canvas."""
    smallest: int
    """Smallest radius in pixels; the number of leaves decreases with the cube of their radius."""
    largest: int
    """Largest radius in pixels."""
    roughness: int
    """Largest amplitude of textures, in units of 1/256."""
    persistence: int
    """Amplitude of an octave relative to the next coarser one, in units of 1/16; 16 gives the 1/f
    spectrum of photographs."""


@lru_cache(maxsize=2)
def canvases(style: CanvasStyle, seed: int) -> np.ndarray:
    """Return the canvases of a style, shape (12, 512, 512, 3), dtype uint8, read-only."""
    import numpy as np

    pool = np.stack(
        [_canvas(style, RandomWords("canvas", style.name, number, seed)) for number in range(CANVASES)]
    )
    pool.flags.writeable = False
    return pool


def _canvas(style: CanvasStyle, random: RandomWords) -> np.ndarray:
    """Return one canvas, shape (512, 512, 3), dtype uint8."""
    import numpy as np

    places = _leaves(style, random)
    texture = _texture(style.persistence, random)
    rough = random.integers(style.roughness, style.leaves).astype(np.int32)
    bright = random.integers(256, style.leaves).astype(np.int32)
    # Differences of two draws are mostly near 0: most things are nearly grey.
    red, blue = (signed_noise(random, 2, style.leaves) >> 3 for _ in range(2))
    grey = bright[places] + (texture * rough[places] >> 8)
    green = -(red + blue) >> 2
    canvas = np.empty((SIDE, SIDE, 3), np.uint8)
    for channel, tint in enumerate((red, green, blue)):
        canvas[..., channel] = _softened((grey + tint[places]).clip(0, 255))
    return canvas


def _leaves(style: CanvasStyle, random: RandomWords) -> np.ndarray:
    """Return the number of the visible leaf at each pixel, shape (512, 512), dtype uint16."""
    import numpy as np

    count = style.leaves
    middles = random.integers(SIDE, 2 * count).reshape(2, count).tolist()
    shares, widths = random.integers(2**32, count).tolist(), random.integers(192, count).tolist()
    ways = (random.integers(33, 2 * count).astype(np.int64).reshape(2, count) - 16).tolist()
    places = np.zeros((SIDE, SIDE), np.uint16)
    for leaf, (x, y, share, width, along, across) in enumerate(
        zip(*middles, shares, widths, *ways, strict=True)
    ):
        radius = min(style.largest, isqrt(style.smallest**2 * 2**32 // (share + 1)))
        _paint(places, leaf, (x, y), (radius, radius * (width + 64) // 256 + 1), (along, across))
    return places


def _paint(
    places: np.ndarray,
    leaf: int,
    middle: tuple[int, int],
    radii: tuple[int, int],
    way: tuple[int, int],
) -> None:
    """Write the number of a leaf to its ellipse, whose long axis has the direction `way`."""
    import numpy as np

    (x, y), (long, short), (p, q) = middle, radii, way
    if p == q == 0:
        p = 1
    reach = max(radii)
    top, left = max(0, y - reach), max(0, x - reach)
    box = places[top : y + reach + 1, left : x + reach + 1]
    down = np.arange(top - y, top - y + box.shape[0], dtype=np.int64)[:, None]
    right = np.arange(left - x, left - x + box.shape[1], dtype=np.int64)
    # (p dx + q dy)^2 / long^2 + (p dy - q dx)^2 / short^2 <= p^2 + q^2, without the divisions.
    a, b = short * short, long * long
    inside = right * down
    inside *= 2 * p * q * (a - b)
    inside += (a * p * p + b * q * q) * right * right
    inside += (a * q * q + b * p * p) * down * down
    box[inside <= a * b * (p * p + q * q)] = leaf


def _texture(persistence: int, random: RandomWords) -> np.ndarray:
    """Return noise of all scales around 0, shape (512, 512), dtype int32."""
    # From coarse to fine: each octave doubles the resolution and adds noise of a smaller amplitude.
    side, amplitude = 4, 256
    texture = signed_noise(random, 4, side * side).reshape(side, side)
    while side < SIDE:
        side *= 2
        amplitude = amplitude * persistence // 16
        texture = doubled(texture)
        texture += signed_noise(random, 4, side * side).reshape(side, side) * amplitude >> 8
    return texture


def _softened(pixels: np.ndarray) -> np.ndarray:
    """Return the means of 2 x 2 pixels, computed in place."""
    # The edges of ellipses would be staircases, unlike those in photographs.
    pixels[:-1] += pixels[1:]
    pixels[-1] *= 2
    pixels[:, :-1] += pixels[:, 1:]
    pixels[:, -1] *= 2
    pixels >>= 2
    return pixels
