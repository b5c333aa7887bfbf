"""Sample of a table to plan a layout for: stored to be asked a mix, with facts of its values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import FormatBenchError
from adapter_core.errors import InvalidQuestionsError
from adapter_core.predicate import Comparison
from adapter_core.query import TABLE, OneOf, Query, path_of
from data_generator import DEFAULT_SEED
from data_generator.sampling import sampled_rows
from format_bench.families.queries.operations import QueryOperations, QueryTables
from format_bench.families.tables.operations import TableOperations
from format_bench.planning.layout_cost import GROUP_ROWS, TableFacts, facts_of
from format_bench.results.display.text import joined

if TYPE_CHECKING:
    import pandas as pd

    from format_bench.families.questions import Questions

# Orders of rows that are looked at, the file's included. Each is sorted, and its slices are written by
# each codec and encoding. Chosen, not measured.
MOST_ORDERS = 6

# Columns of numbers that are added up, to separate the terms of a model. Each is read from each designed
# layout. Chosen, not measured.
PROBES = 3


@dataclass(frozen=True)
class TableSample:
    """A stored sample, and known facts of it."""

    facts: TableFacts
    rows: int
    """Of the whole table."""
    probes: tuple[str, ...]
    """Names of the questions that separate terms of a model."""
    orders: list[tuple[str, ...]]
    """Sort keys that may be proposed."""
    partition: tuple[str, ...]
    """Column that may have a folder for each value; empty if none serves the queries."""


def sample_table(  # noqa: PLR0913, PLR0917 (the data, and what is asked)
    name: str,
    stored: Path | None,
    size: int | None,
    questions: Questions,
    sample_bytes: float,
    codecs: list[str],
    path: Path,
    given: Sequence[tuple[str, ...]] = (),
    *,
    is_partitioned: bool = False,
) -> tuple[TableSample, Questions] | str:
    """Store a sample of a table to be asked a mix; return its facts, or the message of an error."""
    try:
        if stored is None:
            data = QueryOperations.generate(name, size)
        else:
            data = QueryTables(name, given={TABLE: TableOperations.load(stored)}, is_own=True)
        if TABLE not in data.tables:
            return f"{name} has the tables {joined(data.tables)}, and a layout is planned for one"
        whole = data.tables[TABLE]
        if not len(whole):
            return f"{name} has no rows, and so no layout"
        _check_keys(whole, questions)
        bytes_now = max(1, int(whole.memory_usage(deep=True).sum()))
        rows = max(1, min(len(whole), int(len(whole) * sample_bytes / bytes_now)))
        places = sampled_rows(len(whole), rows, DEFAULT_SEED)
        if places is not None:
            data = QueryOperations.take(data, places.tolist())
        data, asked = _asked(data, questions)
    except InvalidQuestionsError:
        raise
    except FormatBenchError as error:
        return str(error)
    QueryOperations.store(data, path)
    keys = questions.tuned.get(TABLE, {}).get("sort_by", [])
    df = data.tables[TABLE]
    orders = [(), *_orders(df, asked, questions, tuple(keys))]
    partition = _partition(df, asked, questions) if is_partitioned else ()
    inside = [(*partition, *(each for each in order if each not in partition)) for order in orders]
    facts = facts_of(df, asked, [*orders, *inside, *given], codecs, lookups_of(asked))
    probes = tuple(each for each in asked if each not in questions.by_name)
    sample = TableSample(facts, len(whole), probes, orders, partition)
    return sample, data.questions or questions


def _check_keys(df: pd.DataFrame, questions: Questions) -> None:
    """Raise `InvalidQuestionsError` if rows cannot be sorted by a user's own key."""
    import pandas as pd

    for key in questions.tuned.get(TABLE, {}).get("sort_by", []):
        try:
            pd.factorize(df[key], sort=True)
        except (TypeError, ValueError, NotImplementedError) as error:
            reason = f"[tuned.{TABLE}]: rows cannot be sorted by {key!r}: {' '.join(str(error).split())}"
            raise InvalidQuestionsError(f"{questions.file}: {reason}") from error
        except KeyError:
            return  # as the questions will say


def _asked(data: QueryTables, questions: Questions) -> tuple[QueryTables, dict[str, Query]]:
    """Return data made ready for a mix and its probes, and the queries.

    Raises
    ------
    InvalidQuestionsError
        If a question of the mix does not fit the data, or has no single answer.
    """
    data = QueryOperations.asking(data, questions)
    found = data.facts.asked
    for name, each in found.items():
        if isinstance(each, str):
            raise questions.by_name[name].refused(each)
    queries = {name: each for name, each in found.items() if not isinstance(each, str)}
    texts = [_probe(name) for name in _numbers_read(data.tables[TABLE], queries)]
    with_probes = replace(questions, sources=(*questions.sources, ("probes", "\n".join(texts))))
    data = QueryOperations.asking(replace(data), with_probes)
    return data, {n: each for n, each in data.facts.asked.items() if not isinstance(each, str)}


def _numbers_read(df: pd.DataFrame, queries: Mapping[str, Query]) -> list[str]:
    """Return columns of numbers that queries read, the ones read most often first."""
    counts: dict[str, int] = {}
    for query in queries.values():
        for name in query.read:
            if name in df.columns and df[name].dtype.kind in "iuf":
                counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda each: -counts[each])[:PROBES]


def _probe(column: str) -> str:
    name, aggregate = json.dumps(f"probe: sum of {column}"), json.dumps(f"sum({column})")
    return f'[[question]]\nname = {name}\naggregates = ["count", {aggregate}]'


def _orders(
    df: pd.DataFrame, asked: Mapping[str, Query], questions: Questions, keys: tuple[str, ...]
) -> list[tuple[str, ...]]:
    """Return sort keys that may serve queries: by the weights of the conditions on their columns."""
    weights = _compared(asked, questions)
    others: dict[str, float] = {}
    for name, query in asked.items():
        for column in (*query.groups, *([query.order.column] if query.order else ())):
            owner = path_of(column)[0]
            others[owner] = others.get(owner, 0.0) + _weight(name, questions)
    first = sorted(weights, key=lambda each: -weights[each])
    found = [keys] if keys else []
    found += [(each,) for each in first[:3]]
    if len(first) > 1:
        # The column of fewer values first: within each of them the other one is in order.
        pair = sorted(first[:2], key=lambda each: _distinct(df, each))
        found.append(tuple(pair))
    found += [(each,) for each in sorted(others, key=lambda each: -others[each])]
    return list(dict.fromkeys(each for each in found if {*each} <= {*df.columns}))[: MOST_ORDERS - 1]


def _compared(asked: Mapping[str, Query], questions: Questions) -> dict[str, float]:
    """Return the columns that queries select by, with the weights of these queries."""
    weights: dict[str, float] = {}
    for name, query in asked.items():
        for column in query.compared:
            weights[column] = weights.get(column, 0.0) + _weight(name, questions)
    return weights


def _weight(name: str, questions: Questions) -> float:
    return questions.by_name[name].weight if name in questions.by_name else 0.0


def _partition(df: pd.DataFrame, asked: Mapping[str, Query], questions: Questions) -> tuple[str, ...]:
    """Return the column selected by most whose values may have a folder each; empty if there is none."""
    weights = _compared(asked, questions)
    # Each folder has files of its own: less than the smallest row group costs more than it saves.
    most = len(df) // GROUP_ROWS[0]
    for column in sorted(weights, key=lambda each: -weights[each]):
        if column in df.columns and 2 <= _distinct(df, column) <= most:  # noqa: PLR2004 (folders)
            return (column,)
    return ()


def _distinct(df: pd.DataFrame, column: str) -> int:
    try:
        return int(df[column].nunique())
    except TypeError:
        return len(df)


def lookups_of(asked: Mapping[str, Query]) -> list[str]:
    """Return the columns of which queries look up single values, other than booleans."""
    found: dict[str, None] = {}
    for each in (condition for query in asked.values() for condition in query.where):
        if isinstance(each, OneOf):
            value: Any = next(iter(each.values))
        elif isinstance(each, Comparison) and each.operator == "==":
            value = each.value
        else:
            continue
        if type(value).__name__ not in {"bool", "bool_"}:
            found[each.column] = None
    return list(found)
