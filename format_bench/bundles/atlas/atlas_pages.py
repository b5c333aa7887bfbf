"""Pages of an atlas: an index, the machines, and a page for each data set, which need no network."""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from adapter_core.files import write_atomically
from format_bench.bundles.atlas.agreement import Ranking, Rankings, Turn
from format_bench.bundles.atlas.dependence import FEWEST_MACHINES, Dependence, version_key
from format_bench.report.writers.html import environment as report_environment
from format_bench.report.writers.html import style as report_style
from format_bench.results import bundle as bundle_file
from format_bench.results.display.text import STEPS, format_ratio, plural, quantity
from format_bench.results.metrics import LEADERS, Measure
from format_bench.results.suites import SUITES, compared_with, item_of, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from jinja2 import Environment

    from format_bench.bundles.atlas.collection import Columns, Entry, Group
    from format_bench.results.candidates import Configuration

INDEX, MACHINES = "index.html", "machines.html"

# Libraries that most formats use, whose versions the list of machines has.
LIBRARIES = ("Python", "pandas", "pyarrow", "numpy")

# Pages, and data sets whose rankings the index lists: a site of bundles from anybody stays small.
MOST_PAGES, MOST_LISTED = 1000, 40

# Measures whose turning pairs are explained, and whose rankings the index lists.
_LEADING = {each.name for each in LEADERS}

_SPREAD_WIDTH, _SPREAD_MARGIN = 120, 6


def write(columns: Columns, out: Path, say: Callable[[str], object]) -> None:
    """Write the site of an atlas; the index comes last.

    Parameters
    ----------
    columns : Columns
        The bundles.
    out : Path
        The folder, made if missing. Pages of the same names are replaced.
    say : callable
        Called with a line for each page of data.
    """
    rankings = Rankings(columns)
    groups = list(rankings.by_group)
    pages, listed = [], []
    out.mkdir(parents=True, exist_ok=True)
    for number, group in enumerate(groups[:MOST_PAGES]):
        leading = {each for each in rankings.by_group[group] if each.metric in _LEADING}
        found = list(rankings.of(group, explain=leading if number < MOST_LISTED else set()))
        address = page_name(group)
        _write(out / address, "atlas_data.html", **_data_page(group, found))
        say(address)
        holding = sum(each.holds for each in found)
        machines = max(each.machines for each in found)
        pages.append((address, title(group), machines, len(found), holding))
        if number < MOST_LISTED:
            listed += [(address, title(group), each) for each in found if each.measure in leading]
    _write(out / MACHINES, "atlas_machines.html", **_machines_page(columns.entries))
    _write(
        out / INDEX,
        "atlas_index.html",
        title="Atlas",
        lead=_lead(columns),
        rankings=listed,
        pages=pages,
        without_page=plural(len(groups) - len(pages), "data set") if len(groups) > len(pages) else "",
        versions=list(_versions(columns.entries)),
        refused=columns.refused,
        left_out=[[reason, f"{number:,}"] for reason, number in columns.left_out.most_common()],
    )


def title(group: Group) -> str:
    """Return the data and conditions of a group, e.g. "Tables: eq, 1,000 rows, on 1 thread"."""
    parts = [group.place, plural(group.rows, item_of(group.suite))]
    parts += ["on 1 thread"] if group.threads == "1" else []
    parts += [group.query] if group.query else []
    return f"{title_of(group.suite)}: {', '.join(parts)}"


def page_name(group: Group) -> str:
    """Return the name of a group's page, the same in each atlas."""
    parts = [group.suite, group.place, str(group.rows), group.query]
    parts += ["1-thread"] if group.threads == "1" else []
    plain = "-".join(filter(None, parts))
    name = re.sub(r"[^a-z0-9_-]+", "-", plain.lower())[:80]
    if name != plain:
        # Two places may become the same name.
        name += f"-{hashlib.sha256(repr(group).encode()).hexdigest()[:8]}"
    return f"{name}.html"


def _lead(columns: Columns) -> str:
    machines = len({each.machine for each in columns.entries})
    values = sum(each.values for each in columns.entries)
    months = sorted({each.month for each in columns.entries})
    when = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
    bundles = plural(len(columns.entries), "bundle")
    return f"{plural(values, 'value')} in {bundles} of {plural(machines, 'machine')}, {when}"


def _data_page(group: Group, rankings: list[Ranking]) -> dict[str, Any]:
    machines = plural(max(each.machines for each in rankings), "machine")
    bundles = plural(max(each.bundles for each in rankings), "bundle")
    place = [group.dataset, group.rows, group.threads, group.query, group.conditions]
    return {
        "title": title(group),
        "lead": f"{machines}, {bundles}",
        "rankings": [(each, _axis(each)) for each in rankings],
        "identity": {
            "place": _json(place),
            "suites": [name for name in SUITES if compared_with(name) == group.suite],
        },
    }


def _axis(ranking: Ranking) -> Callable[[float], str]:
    """Return a function from ratios to places on a logarithmic axis that all rows share."""
    low = math.log(min(each.ratio.low for each in ranking.rows))
    high = math.log(max(each.ratio.high for each in ranking.rows))
    scale = (_SPREAD_WIDTH - 2 * _SPREAD_MARGIN) / (high - low or 1)
    return lambda ratio: f"{_SPREAD_MARGIN + (math.log(ratio) - low) * scale:.1f}"


def _machines_page(entries: list[Entry]) -> dict[str, Any]:
    by_machine: defaultdict[str, list[Entry]] = defaultdict(list)
    for each in sorted(entries, key=lambda each: (each.machine, each.month, each.path)):
        by_machine[each.machine].append(each)
    rows = []
    for name, found in by_machine.items():
        months = list(dict.fromkeys(each.month for each in found))
        when = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}, {len(months)} months"
        rows.append((name, when, found[-1].facts))
    lead = f"{plural(len(rows), 'machine')}, {plural(len(entries), 'bundle')}"
    return {"title": "Machines", "lead": lead, "machines": rows, "libraries": LIBRARIES}


def _versions(entries: list[Entry]) -> Iterator[list[str]]:
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for each in entries:
        for name, version in each.facts.versions.items():
            counts[name][version] += 1
    for name in sorted(counts, key=lambda name: (name != "Python", name.casefold())):
        versions = sorted(counts[name], key=version_key)
        yield [name, ", ".join(f"{each} ({counts[name][each]:,})" for each in versions)]


def _json(value: Any) -> str:
    """Return JSON as JavaScript writes it, so that equal values are equal texts."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


# Words of the templates.


def _identity(configuration: Configuration) -> str:
    of = configuration
    return _json([of.format, of.codec, of.level, of.settings, of.track])


def _anchor(configuration: Configuration, measure: Measure) -> str:
    """Return the id of a row, without facts of adapters, which later versions may state otherwise."""
    of = configuration
    level = "" if of.level is None else str(of.level)
    parts = filter(None, (of.format, of.codec, level, of.settings, of.track))
    return f"{measure.option}/{'-'.join(parts).replace(' ', '_')}"


def _summary(ranking: Ranking) -> str:
    first, machines = ranking.rows[0], plural(ranking.machines, "machine")
    pairs = plural(ranking.pairs, "pair")
    sentences = [
        f"{first.configuration} is typically first; it is, or ties, on {first.first_on:,} of {machines}."
    ]
    if not ranking.pairs:
        sentences.append("No two formats differ by more than noise.")
    elif ranking.holds:
        sentences.append(f"The ranking holds on all machines: they agree on {pairs}, but for chance.")
    else:
        sentences.append(f"{ranking.turning:,} of {pairs} turn around.")
    if rho := ranking.agreement:
        low, middle = _rho(rho.low), _rho(rho.median)
        sentences.append(f"Spearman's rho with this order is {middle}, {low} at the low end.")
    return " ".join(sentences)


def _rho(value: float) -> str:
    return f"{value:.2f}"


def _turn_rows(ranking: Ranking) -> list[list[str]]:
    def row(turn: Turn) -> list[str]:
        ahead, behind = (plural(each, "machine") for each in (turn.one_ahead, turn.other_ahead))
        return [str(turn.one), ahead, str(turn.other), behind, _dependence(turn.dependence)]

    return [row(each) for each in ranking.turns]


def _dependence(found: Dependence | None) -> str:
    """Return what a ratio depends on, with the error of left-out machines, as a sentence."""
    if found is None:
        return f"not fitted: only leading measures are, on {FEWEST_MACHINES} machines or more"
    errors = f"{format_ratio(found.error)}, by the mean of the others {format_ratio(found.baseline)}"
    error = f"typical error of a left-out machine {errors}"
    if not found.is_better:
        return f"no recorded fact explains it: {error}"
    orders = f"order right on {found.right:.0%}, {found.baseline_right:.0%} by the mean"
    effects = "; ".join(f"{each.fact}: {format_ratio(each.factor)} times" for each in found.effects)
    return f"{effects or 'no single fact stands out'} ({error}; {orders})"


@functools.cache
def _environment() -> Environment:
    """Return the report's templates and filters, and before them the atlas'."""
    from jinja2 import ChoiceLoader, PackageLoader

    report = report_environment()
    own = PackageLoader("format_bench.bundles.atlas")
    found = report.overlay(loader=ChoiceLoader([own, report.loader] if report.loader else [own]))
    # An overlay shares the dictionary of filters with its original, which must not get these.
    found.filters = {
        **found.filters,
        "anchor": _anchor,
        "dependence": _dependence,
        "identity": _identity,
        "quantity": quantity,
        "rho": _rho,
        "summary": _summary,
        "turns": _turn_rows,
    }
    return found


@functools.cache
def _shared() -> dict[str, Any]:
    templates = _environment()
    script = "".join(
        templates.get_template(each).render(
            most_bytes=bundle_file.MOST_BYTES, form=bundle_file.FORM, steps=STEPS
        )
        for each in ("report.js", "atlas.js")
    )
    return {
        "menu": [(INDEX, "Atlas"), (MACHINES, "Machines")],
        "script": script,
        "style": report_style() + templates.get_template("atlas.css").render(),
    }


def _write(path: Path, template: str, **values: Any) -> None:
    page = _environment().get_template(template).render(**_shared(), **values)
    with write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
