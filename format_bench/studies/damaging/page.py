"""Blocks of the page on damage, and the summary that the package ships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidResultsError
from format_bench.instruments.intervals import share_interval
from format_bench.results import flat_csv
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.published import hep
from format_bench.results.shipped import DamageCounts
from format_bench.studies.damaging.evidence import ENDS, Found
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import DATASETS
from format_bench.studies.damaging.trials import Outcome
from format_bench.studies.declared.blocks import Block

if TYPE_CHECKING:
    from format_bench.studies.declared.section import Context

ITEMS = {"tables": "row", "images": "image", "arrays": "chunk"}

TITLES = {"tables": "Tables", "images": "Sets of images", "arrays": "Arrays"}

# Labels and codecs of the published names.
_HERE = {
    "ROOT": ("ROOT.TTree[ROOT]", "ROOT.TTree"),
    "Protobuf": ("Protobuf",),
    "SQLite": ("SQLite",),
    "HDF5 (row-wise)": ("HDF5.table",),
    "HDF5 (column-wise)": ("HDF5[h5py]",),
    "Parquet": ("Parquet",),
    "Avro (Java)": ("Avro",),
}
_CODECS = {"none": None, ("Parquet", "zlib"): "gzip", ("Avro (Java)", "zlib"): "deflate"}


def _tried(subjects: Sequence[Found]) -> list[Found]:
    """Return the subjects with trials: by family, the largest data first, then by name."""
    families = list(DATASETS)

    def place(each: Found) -> tuple[object, ...]:
        subject = each.subject
        name = (subject.format.lower(), subject.codec or "", subject.checksums)
        return (families.index(subject.family), -subject.rows, *name)

    return sorted((each for each in subjects if each.trials), key=place)


def extent(context: Context) -> Iterator[Block]:
    """Yield how much was tried."""
    tried = _tried(context.rows)
    data = {(each.subject.dataset, each.subject.rows, each.subject.family) for each in tried}
    words = [
        f"`{dataset}` of {plural(rows, ITEMS[family])}"
        for dataset, rows, family in sorted(
            data, key=lambda each: (list(DATASETS).index(each[2]), each[0], -each[1])
        )
    ]
    dates = sorted({str(each.facts["date"]) for each in tried if each.facts})
    total = sum(len(each.trials) for each in tried)
    when = f"on {dates[0]}" if len(dates) == 1 else f"from {dates[0]} to {dates[-1]}" if dates else ""
    yield Block(
        text=f"{total:,} trials {when} of {len(tried)} formats with their options, saved from "
        f"{joined(words)}. Formats that the published table lacks were tried on fewer rows, with fewer "
        "damages."
    )


def detectors(context: Context) -> Iterator[Block]:
    """Yield the formats that noticed every damage."""
    items = []
    for family, title in TITLES.items():
        of_family = [each for each in _tried(context.rows) if each.subject.family == family]
        names = [_phrase(each) for each in of_family if not each.wrong() and not _ends(each)]
        if of_family:
            noticed = joined(names, most=None) if names else "none"
            items.append(f"**{title}**: {noticed}; {len(names)} of {len(of_family)}.")
    yield Block(items=items)


def _phrase(found: Found) -> str:
    """Return the name of a subject without commas, e.g. "Parquet with zstd and checksums"."""
    subject = found.subject
    options = [each for each in (subject.codec, "checksums" if subject.checksums else None) if each]
    return f"{subject.format} with {joined(options)}" if options else subject.format


def survivors(context: Context) -> Iterator[Block]:
    """Yield the readers that crash or hang."""
    items = [line for each in _tried(context.rows) if (line := _ends(each))]
    yield Block(items=items, text="" if items else "None did in these trials.")


def _ends(found: Found) -> str:
    """Return the crashes and hangs of a subject as a sentence; empty if it has none."""
    bad = [each for each in found.trials.values() if each.verdict and each.verdict.outcome in ENDS]
    if not bad:
        return ""
    kinds = Counter(str(each.kind) for each in bad)
    ways = Counter(
        f"{each.outcome}, {' '.join(each.message.split())}".rstrip(".")
        for each in (trial.verdict for trial in bad)
        if each
    )
    after = joined([f"{each} {number}" for each, number in kinds.items()], most=None)
    words = "; ".join(f"{number} x {way}" for way, number in ways.items())
    share = f"{len(bad)} of {plural(len(found.trials), 'trial')}"
    return f"**{found.subject.name}** ({found.subject.family}), {share} ({after}): {words}."


def published(context: Context) -> Iterator[Block]:
    """Yield the published counts of flips beside those here; nothing if no counterpart was tried."""
    tried = _tried(context.rows)
    rows = []
    for each in hep.flips():
        counts = [f"{each.no_effect} / {each.crash + each.error_message} / {each.undetected}"]
        here = list(_counterparts(tried, each))
        rows += [[each.name, *counts, *cells] for cells in here or [["not tried", "", ""]]]
    header = [
        *("published as", "no effect / noticed / undetected, of 100"),
        *("here", "no effect / noticed / undetected", "undetected share"),
    ]
    if any(row[2] != "not tried" for row in rows):
        yield Block(header=header, rows=rows, alignment="lrlrr")


def _counterparts(tried: Sequence[Found], row: hep.PublishedFlips) -> Iterator[list[str]]:
    codec = _CODECS.get((row.format, row.codec), _CODECS.get(row.codec, row.codec))
    for label in _HERE[row.format]:
        for found in tried:
            subject = found.subject
            cell = subject.family, subject.format, subject.codec, subject.checksums
            if cell == ("tables", label, codec, False):
                counts = found.outcomes(Kind.FLIP)
                none, undetected = counts[Outcome.NONE], counts[Outcome.UNDETECTED]
                numbers = f"{none} / {counts.total() - none - undetected} / {undetected}"
                yield [subject.name, numbers, _share(found.wrong(Kind.FLIP), counts.total())]


def protected(context: Context) -> Iterator[Block]:
    """Yield what checksums find and cost; nothing if none were tried."""
    tried = {each.subject: each for each in _tried(context.rows)}
    rows = []
    for subject, found in tried.items():
        plain = tried.get(replace(subject, checksums=False))
        if not subject.checksums or plain is None:
            continue
        cells = [f"{each.wrong()} of {each.outcomes().total()}" for each in (plain, found)]
        cost = found.cost
        ratios = (
            [format_ratio(each) for each in (cost.save, cost.read, cost.size)] if cost else ["-"] * 3
        )
        rows.append([subject.family, plain.subject.name, *cells, *ratios, subject.adapter.checksums])
    header = ["family", "format", "wrong without", "wrong with", "save", "read", "size", "checksums"]
    if rows:
        yield Block(header=header, rows=rows, alignment="llrrrrrl")


def family(context: Context, name: str) -> Iterator[Block]:
    """Yield the classes of flipped bits, and the wrong values of other damage; nothing if not tried."""
    tried = [each for each in _tried(context.rows) if each.subject.family == name]
    if not tried:
        return
    header = ["format", "items", "size", "flips", *map(str, Outcome), "wrong share"]
    text = "Flipped bits: numbers of reads, and the share that returned wrong values."
    yield Block(TITLES[name], text, header, [_flips(each) for each in tried], "l" + "r" * 10)
    others = [kind for kind in Kind if kind is not Kind.FLIP]
    rows = [[each.subject.name, *(_of_kind(each, kind) for kind in others)] for each in tried]
    text = "Other damage: reads that returned wrong values, of those tried."
    yield Block("", text, ["format", *map(str, others)], rows, "l" + "r" * len(others))


def _flips(found: Found) -> list[str]:
    counts, wrong = found.outcomes(Kind.FLIP), found.wrong(Kind.FLIP)
    size = quantity(found.facts["size"], "bytes") if "size" in found.facts else "-"
    cells = {each: str(counts[each]) for each in Outcome}
    if counts[Outcome.PRINTED]:
        cells[Outcome.PRINTED] += f" ({wrong - counts[Outcome.UNDETECTED]} wrong)"
    subject = found.subject
    firsts = [subject.name, f"{subject.rows:,}", size, str(counts.total())]
    return [*firsts, *cells.values(), _share(wrong, counts.total())]


def _of_kind(found: Found, kind: Kind) -> str:
    total = found.outcomes(kind).total()
    return f"{found.wrong(kind)} of {total}" if total else "-"


def _share(count: int, total: int) -> str:
    if not total:
        return "-"
    low, high = share_interval(count, total)
    return f"{count / total:.0%} ({low:.1%} to {high:.1%})"


def untried(context: Context) -> Iterator[Block]:
    """Yield the subjects without trials, with the reasons."""
    items = [
        f"{each.subject.name} ({each.subject.family}): {each.facts['sentence']}"
        for each in context.rows
        if each.facts.get("sentence") and not each.trials
    ]
    if items:
        yield Block(items=items)


def facts(subjects: Sequence[Found]) -> str:
    """Return the summary of all subjects with trials as CSV, for `results.shipped`.

    Raises
    ------
    InvalidResultsError
        If there are no trials.
    """
    counts = [_summary(each) for each in _tried(subjects)]
    if not counts:
        raise InvalidResultsError("the results contain no trials")
    return flat_csv.to_csv(DamageCounts, counts)


def _summary(found: Found) -> DamageCounts:
    subject, outcomes = found.subject, found.outcomes()
    flips, wrong = found.outcomes(Kind.FLIP).total(), found.wrong(Kind.FLIP)
    libraries = found.facts.get("libraries", {})
    return DamageCounts(
        subject.family,
        subject.format,
        subject.codec or "",
        subject.checksums,
        subject.dataset,
        subject.rows,
        flips,
        wrong,
        outcomes.total() - flips,
        found.wrong() - wrong,
        outcomes[Outcome.CRASH],
        outcomes[Outcome.HANG],
        found.facts.get("date", ""),
        " ".join(f"{name} {version}" for name, version in libraries.items()),
    )
