"""Mix of queries: questions with weights to a table or an array, from a TOML file.

Its entries are questions as `format_bench.families.questions` reads them, each with a weight. An older
and shorter form of those to arrays has the dimensions of an extent among an entry's own keys.
docs/planning.md has both.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapter_core.array_description import Description
from adapter_core.errors import InvalidQuestionsError
from format_bench.families.arrays.boxes import Box, by
from format_bench.families.arrays.queries import box_to, check_own, queries_to
from format_bench.families.questions import (
    MEANS,
    WEIGHED,
    Question,
    Questions,
    asks_table,
    declared,
    read_entries,
)

FOXBENCH = "foxbench"
"""Name of all FoxBench queries that apply to the array."""
_KEYS = ("mean", "keep_open", "areas", "query", "question")
_QUERY_KEYS = frozenset({"name", "weight", "bounds", "query"})


@dataclass(frozen=True)
class Weighted:
    """A question with its weight."""

    name: str
    weight: float


@dataclass(frozen=True)
class MixQuery(Weighted):
    """A question to an array, with its weight."""

    box: Box


@dataclass(frozen=True)
class Mix:
    """The queries of a user, with weights that add up to 1."""

    queries: tuple[Weighted, ...]
    mean: str = MEANS[0]
    """Mean of the times of the queries that is to be small."""
    keep_open: bool = False
    """True if the data are opened once for many queries; else a query includes opening."""
    save_power: float = 0.0
    """Power of the time of a save that a cost is multiplied by."""
    size_power: float = 0.0
    """Power of the file's size."""

    def cost(self, seconds: Any) -> Any:
        """Return the weighted mean of the times of the queries.

        Parameters
        ----------
        seconds : array_like
            Times; the first axis is the queries.
        """
        import numpy as np

        weights = np.array([each.weight for each in self.queries])
        times = np.asarray(seconds, float)
        if self.mean == "geometric":
            # A clock may return 0 for a call shorter than its resolution.
            return np.exp(np.tensordot(weights, np.log(np.maximum(times, 1e-9)), 1))
        return np.tensordot(weights, times, 1)


@dataclass(frozen=True)
class ArrayMix(Mix):
    """A mix of queries to an array."""

    queries: tuple[MixQuery, ...]

    def scaled(self, shape: tuple[int, ...], smaller: tuple[int, ...]) -> ArrayMix:
        """Return the mix to a smaller array."""
        return replace(
            self, queries=tuple(replace(q, box=q.box.scaled(shape, smaller)) for q in self.queries)
        )


def asks_tables(path: Path) -> bool:
    """Return whether a mix asks a table.

    Raises
    ------
    InvalidQuestionsError
        If the file cannot be read, or is not TOML.
    """
    return any(asks_table(entry) for _, entry in _entries(facts_of(path), "question"))


def read_table_mix(path: Path) -> tuple[Mix, Questions]:
    """Return the mix of a file, and its questions to a table.

    Raises
    ------
    InvalidQuestionsError
        If the file cannot be read, or a question is wrong.
    """
    questions = Questions.of(path)
    asked = questions.by_name.values()
    whole = sum(each.weight for each in asked)
    powers = WEIGHED | questions.fact("weigh", {})
    queries = tuple(Weighted(each.name, each.weight / whole) for each in asked)
    mean = questions.fact("mean", MEANS[0])
    return Mix(queries, mean, questions.keep_open, powers["save"], powers["size"]), questions


def placed(queries: Iterable[MixQuery], array: Description, *key: int, keep_open: bool) -> Questions:
    """Return queries as questions at fixed places, which depend on the key where they are random."""
    lines = [f"keep_open = {json.dumps(keep_open)}"]
    for each in queries:
        box = each.box.placed(array.shape, each.name, *key)
        lines += ["[[question]]", f"name = {_quoted(each.name)}"]
        for field, values in (("extent", box.extents), ("start", box.starts)):
            pairs = zip(array.dims, values, strict=True)
            lines.append(f"{field} = {{ {', '.join(f'{_quoted(dim)} = {n}' for dim, n in pairs)} }}")
    return Questions((("the mix", "\n".join(lines)),))


def _quoted(text: str) -> str:
    # Escapes of surrogates, which JSON has for further characters, are none of TOML.
    return json.dumps(text, ensure_ascii=False)


def facts_of(path: Path) -> dict[str, Any]:
    """Return the content of a mix; raise `InvalidQuestionsError` if it cannot be read as TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidQuestionsError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidQuestionsError(f"{path}: is not TOML: {error}") from error


def read_mix(path: Path, array: Description) -> ArrayMix:
    """Return the mix of a file as queries to an array.

    Raises
    ------
    InvalidQuestionsError
        If the file cannot be read, or is not a mix of queries to this array; the message names the
        line, or the query.
    """
    facts = facts_of(path)
    if unknown := sorted(set(facts) - {*_KEYS}):
        raise InvalidQuestionsError(f"{path}: unknown key {unknown[0]!r}; known: {', '.join(_KEYS)}")
    entries = [*_entries(facts, "query"), *_entries(facts, "question")]
    if not entries:
        raise InvalidQuestionsError(f"{path}: contains no query; write each below a line [[query]]")
    mean, keep_open = facts.get("mean", MEANS[0]), facts.get("keep_open", False)
    if mean not in MEANS:
        raise InvalidQuestionsError(f"{path}: mean is {mean!r}; write {' or '.join(map(repr, MEANS))}")
    if not isinstance(keep_open, bool):
        raise InvalidQuestionsError(f"{path}: keep_open is {keep_open!r}; write true or false")
    found = []
    for number, (kind, entry) in enumerate(entries, start=1):
        name = f"query {number}"
        weight = _weight(entry, f"{path}: {name}")
        if kind == "query" and "query" in entry:
            questions = _by_name(f"{path}: {name}", entry, array)
        else:
            question = _renewed(entry, name) if kind == "query" else entry
            alone = {"question": [question], "areas": facts.get("areas", {})}
            questions = list(read_entries(str(path), alone, number))
        for each in questions:
            check_own(each, array)
            found.append(MixQuery(each.name, weight, box_to(each, array)))
    whole = sum(each.weight for each in found)
    names = distinct([each.name for each in found])
    queries = (
        MixQuery(name, each.weight / whole, each.box) for name, each in zip(names, found, strict=True)
    )
    return ArrayMix(tuple(queries), mean, keep_open)


def _entries(facts: Mapping[str, Any], kind: str) -> list[tuple[str, Mapping[str, Any]]]:
    found = facts.get(kind, [])
    are_tables = isinstance(found, list) and all(isinstance(each, dict) for each in found)
    return [(kind, each) for each in found] if are_tables else []


def _weight(entry: Mapping[str, Any], where: str) -> float:
    weight = entry.get("weight", 1)
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not is_number or not 0 < weight <= sys.float_info.max:
        raise InvalidQuestionsError(f"{where}: weight is {weight!r}; write a number above 0")
    return float(weight)


def _renewed(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return an entry of the older form, with dimensions among its own keys, as one of a question."""
    extent = {key: value for key, value in entry.items() if key not in _QUERY_KEYS}
    bounds = {"area": entry["bounds"]} if "bounds" in entry else {}
    return {"name": entry.get("name", name), "extent": extent, **bounds}


def _by_name(where: str, entry: Mapping[str, Any], array: Description) -> list[Question]:
    """Return a query of FoxBench by its name, or all that apply."""
    if further := sorted(set(entry) - {"query", "weight"}):
        raise InvalidQuestionsError(f"{where}: a query by its name has no {further[0]!r}, only a weight")
    name = entry["query"]
    applying = queries_to(array)
    wanted = applying if name == FOXBENCH else [each for each in applying if each.name == name]
    if not wanted:
        if name != FOXBENCH and name not in declared("arrays").by_name:
            raise InvalidQuestionsError(
                f"{where}: there is no query {name!r}; known: {FOXBENCH}, Q1 to Q40"
            )
        what = "no query of FoxBench applies" if name == FOXBENCH else f"{name} does not apply"
        raise InvalidQuestionsError(f"{where}: {what} to {array.name!r} of shape {by(array.shape)}")
    return wanted


def distinct(names: list[str]) -> list[str]:
    """Return names with their numbers where one is there more than once."""
    return [
        name if names.count(name) == 1 else f"{name} ({number})"
        for number, name in enumerate(names, start=1)
    ]
