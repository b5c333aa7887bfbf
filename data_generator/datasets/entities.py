"""Records: the published entity with copied and with shared texts, nested records, hard values.

N. Ommer (QAware, 2021) compared formats of the JVM with 10,000,000 entities whose texts come from a
pool of 10,000. docs/records_data.md specifies all data sets, for generators in other languages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapter_core.entities import ENTITY, PERSON, Address, Entity, Person, Status
from adapter_core.record_set import BLOCK_ROWS, RecordSet
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.java_random import JavaRandom
from data_generator.splitmix import SplitMix, below, int32

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.record_type import RecordType

# Of the published measurements; the pool and the lengths are its program's.
PUBLISHED_COUNT = 10_000_000
POOL_TEXTS = 10_000
# Beyond the dictionary of a column in Parquet, 1 MiB by parquet-java's default: some 78,000 such texts.
MANY_TEXTS = 300_000
MAX_LETTERS = 19
LETTERS = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_POOL_STREAM, _ENTITY_STREAM, _PERSON_STREAM, _TEXT_STREAM = range(4)

# Words of the stream for each candidate of the pool, each entity and each person.
_POOL_WORDS, _ENTITY_WORDS, _PERSON_WORDS = 20, 10, 32

# Digits of a word with LETTERS for digits, and words of each distinct text.
_WORD_DIGITS, _TEXT_WORDS = 11, 2
_MORE_LETTERS = 9

NUMBERS = (0, 1, -1, 127, 128, -128, -129, 32_767, -32_768, 65_536, 2**31 - 1, -(2**31), 1_000_000_007)

TEXTS = (
    "",
    " ",
    "a",
    "057",
    "null",
    "\0",
    "a\0b",
    "\u0301",
    "e\u0301",
    "\u00e9",
    "\u65e5\u672c\u8a9e",
    "\U0001f600",
    "\U0010fffd",
    "\ufeffx",
    "line\nbreak\r\n\ttab",
    "\"quoted\" \\ and 'single'",
    "</a>&amp;",
    "\x7f\x80\x85\u2028",
    "x" * 70_000,
    "\U0001f600\u0301" * 35_000,
)


@lru_cache(maxsize=2)
def shared_pool(seed: int) -> tuple[str, ...]:
    """Return the texts of `pool`, one object each."""
    return tuple(each.decode() for each in pool(seed))


@lru_cache(maxsize=2)
def pool(seed: int, size: int = POOL_TEXTS) -> tuple[bytes, ...]:
    """Return distinct texts of 0 to 19 letters and digits, in ASCII."""
    import numpy as np

    stream = SplitMix(seed, _POOL_STREAM)
    letters = np.frombuffer(LETTERS, np.uint8)
    found: dict[bytes, None] = {}
    start, block = 0, 2**14
    while len(found) < size:
        words = stream.words(start * _POOL_WORDS, block * _POOL_WORDS).reshape(block, _POOL_WORDS)
        lengths = below(MAX_LETTERS + 1, words[:, 0]).tolist()
        texts = letters[below(len(LETTERS), words[:, 1:])]
        found.update(dict.fromkeys(row.tobytes()[:n] for row, n in zip(texts, lengths, strict=True)))
        start += block
    return tuple(found)[:size]


class PublishedRows:
    """Entities of the published program: `java.util.Random(42)` draws the pool, then row by row.

    The texts of the pool are not distinct: 8,999 of 10,000 are, and 513 are empty.
    """

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._random = JavaRandom(42)
        self._row = 0
        self._pool = [self._text() for _ in range(POOL_TEXTS)]

    def _text(self) -> str:
        length, text = self._random.next_int(MAX_LETTERS + 1), ""
        while len(text) < length:
            letter = ord("0") + self._random.next_int(ord("z") - ord("0") + 1)
            text += chr(letter) if letter in LETTERS else ""
        return text

    def __call__(self, start: int, stop: int) -> list[Any]:
        """Return entities that share the texts of the pool; rows in order cost nothing twice."""
        if start < self._row:
            self._restart()
        found: list[Any] = []
        while self._row < stop:
            wanted = min(BLOCK_ROWS, stop - self._row)
            if self._row < start:
                wanted = min(wanted, start - self._row)
            drawn = self._random.rows(5, 5, POOL_TEXTS, wanted)
            if self._row >= start:
                found += _shared(drawn[:, :5], drawn[:, 5:], self._pool)
            self._row += len(drawn)
        return found


def _entities(
    start: int, stop: int, seed: int, *, shares: bool = False, size: int = POOL_TEXTS
) -> list[Any]:
    words = SplitMix(seed, _ENTITY_STREAM).words(start * _ENTITY_WORDS, (stop - start) * _ENTITY_WORDS)
    words = words.reshape(-1, _ENTITY_WORDS)
    numbers, indices = int32(words[:, :5]), below(size, words[:, 5:])
    if shares:
        return _shared(numbers, indices, shared_pool(seed))
    get = pool(seed, size).__getitem__
    # Each call of `decode` makes a new object.
    texts = [[each.decode() for each in map(get, column)] for column in indices.T.tolist()]
    return list(map(Entity, *numbers.T.tolist(), *texts))


def _distinct_entities(start: int, stop: int, seed: int) -> list[Any]:
    words = SplitMix(seed, _ENTITY_STREAM).words(start * _ENTITY_WORDS, (stop - start) * _ENTITY_WORDS)
    numbers = int32(words.reshape(-1, _ENTITY_WORDS)[:, :5])
    texts = iter(_distinct_texts(5 * start, 5 * stop, seed))
    return [Entity(*row, *islice(texts, 5)) for row in numbers.tolist()]


def _distinct_texts(start: int, stop: int, seed: int) -> list[str]:
    """Return texts of 11 to 19 letters, which begin with all digits of words: no word occurs twice."""
    import numpy as np

    words = SplitMix(seed, _TEXT_STREAM).words(start * _TEXT_WORDS, (stop - start) * _TEXT_WORDS)
    words = words.reshape(-1, _TEXT_WORDS)
    lengths = _WORD_DIGITS + below(_MORE_LETTERS, words[:, 1])
    digits = np.empty((*words.shape, _WORD_DIGITS), np.uint8)
    left = words.copy()
    for place in range(_WORD_DIGITS):
        left, digits[:, :, place] = np.divmod(left, np.uint64(len(LETTERS)))
    letters = np.frombuffer(LETTERS, np.uint8)[digits.reshape(len(words), -1)]
    return [row.tobytes()[:n].decode() for row, n in zip(letters, lengths.tolist(), strict=True)]


def _shared(numbers: np.ndarray, indices: np.ndarray, texts: Sequence[str]) -> list[Any]:
    columns = [list(map(texts.__getitem__, column)) for column in indices.T.tolist()]
    return list(map(Entity, *numbers.T.tolist(), *columns))


def _persons(start: int, stop: int, seed: int) -> list[Any]:
    words = SplitMix(seed, _PERSON_STREAM).words(start * _PERSON_WORDS, (stop - start) * _PERSON_WORDS)
    words = words.reshape(-1, _PERSON_WORDS)
    # All words as each kind of value: simpler than by column, and a row has few.
    rows = zip(
        range(start, stop),
        below(4, words).tolist(),
        below(POOL_TEXTS, words).tolist(),
        int32(words).tolist(),
        strict=True,
    )
    texts = pool(seed)
    ages, tags = below(120, words[:, 4]).tolist(), below(5, words[:, 6]).tolist()
    scores, houses = below(8, words[:, 11]).tolist(), below(1000, words[:, 21]).tolist()
    return [
        Person(
            row,
            texts[index[0]].decode(),
            texts[index[2]].decode() if quarter[1] else None,
            ages[row - start] if quarter[3] else None,
            Status(quarter[5]),
            [texts[each].decode() for each in index[7 : 7 + tags[row - start]]],
            number[12 : 12 + scores[row - start]],
            _address(index, quarter, houses[row - start], texts) if quarter[19] else None,
        )
        for row, quarter, index, number in rows
    ]


def _address(index: list[int], quarter: list[int], house: int, texts: tuple[bytes, ...]) -> Address:
    postcode = texts[index[24]].decode() if quarter[23] else None
    return Address(texts[index[20]].decode(), house, texts[index[22]].decode(), postcode)


def _hard_entities(start: int, stop: int, _seed: int) -> list[Any]:
    return [
        ENTITY.make(
            [
                *(_hard_number(row + place) for place in range(5)),
                *(_hard_text(row + place) for place in range(5)),
            ]
        )
        for row in range(start, stop)
    ]


def _hard_persons(start: int, stop: int, _seed: int) -> list[Any]:
    return [
        Person(
            _hard_number(row),
            _hard_text(row),
            _hard_text(row + 1) if row % 3 else None,
            _hard_number(row + 1) if row % 3 != 1 else None,
            Status(row % 4),
            [_hard_text(row + 2 + place) for place in range(row % 4)],
            [_hard_number(row + 2 + place) for place in range(row % 5)],
            _hard_address(row) if row % 4 != 2 else None,  # noqa: PLR2004
        )
        for row in range(start, stop)
    ]


def _hard_address(row: int) -> Address:
    postcode = _hard_text(row + 7) if row % 3 != 2 else None  # noqa: PLR2004
    return Address(_hard_text(row + 5), _hard_number(row + 7), _hard_text(row + 6), postcode)


def _hard_number(place: int) -> int:
    return NUMBERS[place % len(NUMBERS)]


def _hard_text(place: int) -> str:
    return TEXTS[place % len(TEXTS)]


def _maker(
    name: str, of: RecordType, rows: Callable[[int, int, int], list[Any]]
) -> Callable[[int, int], Dataset]:
    def make(count: int, seed: int) -> Dataset:
        return Dataset(
            name, records=RecordSet(of, count, lambda start, stop: rows(start, stop, seed), name)
        )

    return make


def _published(count: int, _seed: int) -> Dataset:
    return Dataset("entities-seed", records=RecordSet(ENTITY, count, PublishedRows(), "entities-seed"))


DATASETS = (
    DatasetDefinition(
        name="entities",
        family="records",
        description="5 numbers, 5 of 10,000 texts of 0 to 19 letters; equal texts are copies",
        make=_maker("entities", ENTITY, _entities),
        default_count=PUBLISHED_COUNT,
    ),
    DatasetDefinition(
        name="entities-shared",
        family="records",
        description="the same values; equal texts are one object",
        make=_maker("entities-shared", ENTITY, partial(_entities, shares=True)),
        default_count=PUBLISHED_COUNT,
    ),
    DatasetDefinition(
        name="entities-many-texts",
        family="records",
        description="5 numbers, 5 of 300,000 texts, more than dictionaries take; equal texts are copies",
        make=_maker("entities-many-texts", ENTITY, partial(_entities, size=MANY_TEXTS)),
        default_count=1_000_000,
    ),
    DatasetDefinition(
        name="entities-distinct-texts",
        family="records",
        description="5 numbers, 5 texts of 11 to 19 letters, of which none occurs twice",
        make=_maker("entities-distinct-texts", ENTITY, _distinct_entities),
        default_count=1_000_000,
    ),
    DatasetDefinition(
        name="entities-seed",
        family="records",
        description="the published program's own sequence: its pool has 8,999 texts, one object each",
        make=_published,
        default_count=PUBLISHED_COUNT,
    ),
    DatasetDefinition(
        name="entities-nested",
        family="records",
        description="persons: optional fields, lists of texts and numbers, an enum, a nested address",
        make=_maker("entities-nested", PERSON, _persons),
        default_count=1_000_000,
    ),
    DatasetDefinition(
        name="entities-edge",
        family="records",
        description="extreme numbers; empty, long and unusual texts",
        make=_maker("entities-edge", ENTITY, _hard_entities),
        default_count=len(TEXTS),
        quick_count=len(TEXTS),
    ),
    DatasetDefinition(
        name="entities-nested-edge",
        family="records",
        description="persons with extreme numbers and unusual texts; null beside 0 and empty texts",
        make=_maker("entities-nested-edge", PERSON, _hard_persons),
        default_count=len(TEXTS),
        quick_count=len(TEXTS),
    ),
)
