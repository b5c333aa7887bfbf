"""Description of distinct texts by length, information and kinds of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data_generator.profiling.width_profile import profile_widths
from data_generator.realistic.text import counting_places, letters_of
from data_generator.spec.spec import Alphabet, share, significant

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


# Information of a random character of all kinds, in bits.
MOST_BITS = 6.4

# Alphabets of increasing information; shares are in proportion to the numbers of characters.
RICHER_ALPHABETS = (
    Alphabet(0.72, 0.0, 0.28),
    Alphabet(0.42, 0.42, 0.16),
    Alphabet(0.3, 0.3, 0.12, 0.28),
)

# Default level of zstd.
ZSTD_LEVEL = 3

# Information that makes a text unlikely to coincide with another. In a twin, texts with less start with
# a tilde if they have room for it, to differ from the original's.
UNLIKELY_BITS = 48

# Share of texts that may be lengthened to contain the prefix and be distinct.
LENGTHENED_SHARE = 0.02

# Largest weight of one text in the distribution of lengths.
MOST_COUNTED = 1_000

# Number of distinct texts, in order of appearance, whose characters are counted and compressed.
SAMPLED_TEXTS = 50_000


def profile_texts(distinct: pa.Array, places: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties of distinct texts.

    Parameters
    ----------
    distinct : pyarrow.Array
        Texts as large_binary in order of first appearance, shape (distinct,).
    places : numpy.ndarray
        Indices into `distinct` that sort it by bytes, shape (distinct,).
    counts : numpy.ndarray
        Number of occurrences of each text, sorted by bytes, shape (distinct,).
    """
    import numpy as np
    import pyarrow.compute as pc

    if not len(distinct):
        return {}
    lengths = np.asarray(pc.binary_length(distinct))[places]
    first, last = (distinct[int(places[i])].as_py() for i in (0, -1))
    seen = distinct[:SAMPLED_TEXTS]
    bits = bits_per_character(seen)
    alphabet = _alphabet(bytes_of(seen))
    width = float(lengths.mean())
    shared = _common_prefix(first, last)
    if not shared and bits * width < UNLIKELY_BITS:
        shared = 1
    prefix = max(0, min(shared, _room(lengths, counts, alphabet)))
    if prefix:
        alphabet = _rich_enough(alphabet, bits * width / max(1.0, width - prefix))
    needs_quotes = pc.match_substring_regex(seen, '[,"\r\n]')
    return {
        **profile_widths(lengths, counts),
        "prefix_length": prefix,
        "bits_per_character": bits,
        "alphabet": alphabet,
        "quoted_share": share(float(np.asarray(needs_quotes).mean())),
        "quote_marks": significant(float(np.asarray(pc.count_substring(seen, '"')).mean())),
    }


def bits_per_character(distinct: pa.Array) -> float:
    """Return the bits per byte of texts after compression by zstd."""
    import pyarrow as pa

    letters = bytes_of(distinct)
    if not len(letters):
        return 0.0
    packed = pa.Codec("zstd", ZSTD_LEVEL).compress(letters.tobytes(), asbytes=True)
    # For few texts, the frame of zstd takes more bytes than their content.
    return significant(min(MOST_BITS, 8 * len(packed) / len(letters)))


def bytes_of(texts: pa.Array) -> np.ndarray:
    """Return the concatenated bytes of texts, dtype uint8."""
    import numpy as np

    _, ends, letters = texts.buffers()
    first, last = np.frombuffer(ends, np.int64)[[texts.offset, texts.offset + len(texts)]]
    return np.frombuffer(letters or b"", np.uint8)[first:last]


def _common_prefix(first: bytes, last: bytes) -> int:
    """Return the length of the common prefix of sorted texts, given the first and the last."""
    same = [a == b for a, b in zip(first, last, strict=False)]
    return same.index(False) if False in same else len(same)


def _room(lengths: np.ndarray, counts: np.ndarray, alphabet: Alphabet) -> int:
    """Return the longest prefix that leaves nearly all texts room for a counter."""
    import numpy as np

    rows = np.repeat(lengths, np.minimum(counts, MOST_COUNTED))
    return int(np.quantile(rows, LENGTHENED_SHARE)) - counting_places(letters_of(alphabet), len(lengths))


def _rich_enough(alphabet: Alphabet, bits: float) -> Alphabet:
    """Return an alphabet of at least `bits` per character: the prefix has no information."""
    enough = (each for each in (alphabet, *RICHER_ALPHABETS) if letters_of(each).information >= bits)
    return next(enough, RICHER_ALPHABETS[-1])


def _alphabet(letters: np.ndarray) -> Alphabet:
    """Return the shares of kinds of characters in a twin, to differ from the original's."""
    import numpy as np

    # Capitals and digits become small letters, small letters become capitals. The kind of characters
    # makes no difference to any format.

    kinds = np.zeros(256, np.int64)
    kinds[[*b"abcdefghijklmnopqrstuvwxyz"]] = 1
    kinds[[*b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]] = 2
    _, small, capital_or_digit = (
        np.bincount(kinds[letters], minlength=3) / max(1, len(letters))
    ).tolist()
    if not len(letters):
        return Alphabet()
    lower, upper = share(capital_or_digit), share(small)
    return Alphabet(lower, upper, 0.0, round(1 - lower - upper, 12))
