"""What distinct texts are like, without a character of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data_generator.profiling import widths
from data_generator.realistic.letters import letters_of
from data_generator.realistic.text import counting_places
from data_generator.spec.rounding import share, significant
from data_generator.spec.spec import Alphabet

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


MOST_BITS = 6.4
"""Per character: those of all kinds have that much together."""

RICH = (Alphabet(0.72, 0.0, 0.28), Alphabet(0.42, 0.42, 0.16), Alphabet(0.3, 0.3, 0.12, 0.28))
"""With more and more kinds: of each as many as there are characters of it."""

LEVEL = 3
"""Of zstd, its own default."""

UNLIKELY = 48
"""Bits of a text that hardly any other has by chance. Texts of less begin with a tilde in a twin, where
there is room, so that they are none of the original's."""

SHORT = 0.02
"""Share of texts that may be made longer, to have the prefix and be distinct."""

MOST_COUNTED = 1_000
"""Of the same text, when lengths are looked at."""

LOOKED_AT = 50_000
"""Distinct texts whose characters are counted and compressed, the first to appear."""


def texts(distinct: pa.Array, places: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
    """Return the properties of distinct texts.

    Parameters
    ----------
    distinct : pyarrow.Array
        In order of first appearance, large_binary, shape (distinct,).
    places : numpy.ndarray
        By order of bytes: the place in `distinct`.
    counts : numpy.ndarray
        By order of bytes: how often each text occurs.
    """
    import numpy as np
    import pyarrow.compute as pc

    if not len(distinct):
        return {}
    lengths = np.asarray(pc.binary_length(distinct))[places]
    first, last = (distinct[int(places[i])].as_py() for i in (0, -1))
    seen = distinct[:LOOKED_AT]
    bits = bits_per_character(seen)
    alphabet = _alphabet(bytes_of(seen))
    width = float(lengths.mean())
    shared = _common_prefix(first, last)
    if not shared and bits * width < UNLIKELY:
        shared = 1
    prefix = max(0, min(shared, _room(lengths, counts, alphabet)))
    if prefix:
        alphabet = _rich_enough(alphabet, bits * width / max(1.0, width - prefix))
    needs_quotes = pc.match_substring_regex(seen, '[,"\r\n]')
    return {
        **widths.described(lengths, counts),
        "prefix_length": prefix,
        "bits_per_character": bits,
        "alphabet": alphabet,
        "quoted_share": share(float(np.asarray(needs_quotes).mean())),
        "quote_marks": significant(float(np.asarray(pc.count_substring(seen, '"')).mean())),
    }


def bits_per_character(distinct: pa.Array) -> float:
    """Return the size of texts compressed by zstd, in bits, over the number of their bytes."""
    import pyarrow as pa

    letters = bytes_of(distinct)
    if not len(letters):
        return 0.0
    packed = pa.Codec("zstd", LEVEL).compress(letters.tobytes(), asbytes=True)
    # Of few texts the compressor's own bytes are the most.
    return significant(min(MOST_BITS, 8 * len(packed) / len(letters)))


def bytes_of(texts: pa.Array) -> np.ndarray:
    """Return the bytes of texts one after another, dtype uint8."""
    import numpy as np

    _, ends, letters = texts.buffers()
    first, last = np.frombuffer(ends, np.int64)[[texts.offset, texts.offset + len(texts)]]
    return np.frombuffer(letters or b"", np.uint8)[first:last]


def _common_prefix(first: bytes, last: bytes) -> int:
    """Return how many bytes the first and the last of sorted texts share, and so all of them."""
    same = [a == b for a, b in zip(first, last, strict=False)]
    return same.index(False) if False in same else len(same)


def _room(lengths: np.ndarray, counts: np.ndarray, alphabet: Alphabet) -> int:
    """Return how long a prefix can be after which nearly all texts are long enough to be distinct."""
    import numpy as np

    rows = np.repeat(lengths, np.minimum(counts, MOST_COUNTED))
    return int(np.quantile(rows, SHORT)) - counting_places(letters_of(alphabet), len(lengths))


def _rich_enough(alphabet: Alphabet, bits: float) -> Alphabet:
    """Return an alphabet whose characters have so much information, since the prefix has none."""
    enough = (each for each in (alphabet, *RICH) if letters_of(each).information >= bits)
    return next(enough, RICH[-1])


def _alphabet(letters: np.ndarray) -> Alphabet:
    """Return the shares of kinds of characters, changed so that no text of a twin is one of these.

    Small letters stand for capitals and digits, and capitals for small letters. That costs nothing: what
    a text's kind of characters is makes no difference to any format.
    """
    import numpy as np

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
