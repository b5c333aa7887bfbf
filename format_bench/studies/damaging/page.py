"""Blocks of the page on damage, and the summary that the package ships."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from adapter_core.errors import InvalidResultsError
from format_bench.families.operations import registry_of
from format_bench.instruments.intervals import share_interval
from format_bench.results import flat_csv
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.published import hep
from format_bench.results.shipped import DamageCounts
from format_bench.results.suites import FAMILIES
from format_bench.studies.damaging.counts import NO_CODEC, SUITES, DamageRow
from format_bench.studies.damaging.damaged_reads import DamageOutcome
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.declared.blocks import Block, Context

TITLES = {"tables": "Tables", "images": "Sets of images", "arrays": "Arrays"}

# Labels and codecs of the published names.
_HERE = {
    "ROOT": ("ROOT.TTree[ROOT]", "ROOT.TTree"),
    "Protobuf": ("Protobuf",),
    "SQLite": ("SQLite",),
    "HDF5 (row-wise)": ("HDF5.rows[h5py]", "HDF5.table"),
    "HDF5 (column-wise)": ("HDF5[h5py]",),
    "Parquet": ("Parquet",),
    "Avro (Java)": ("Avro[avro-java]", "Avro[avro_c]", "Avro"),
}
_CODECS = {("Parquet", "zlib"): "gzip", ("Avro (Java)", "zlib"): "deflate"}


@dataclass
class FileDamage:
    """A file and its rows by kind of damage; the last of a kind counts."""

    file: DamageRow
    """With the facts of the intact file, if they are known."""
    by_kind: dict[str, DamageRow] = field(default_factory=dict)

    def outcomes(self, *kinds: Kind) -> Counter[DamageOutcome]:
        """Return the number of reads of each class, after some kinds of damage or all."""
        found = Counter[DamageOutcome]()
        for kind in kinds or Kind:
            found.update(self.by_kind[kind].outcomes if kind in self.by_kind else {})
        return found

    def wrong(self, *kinds: Kind) -> int:
        """Return the number of reads of wrong values, with or without a message."""
        return sum(int(sum(self.by_kind[each].wrong)) for each in kinds or Kind if each in self.by_kind)

    @property
    def total(self) -> int:
        """The number of all reads."""
        return self.outcomes().total()

    @property
    def facts(self) -> tuple[str, str]:
        """The date and the libraries."""
        date, _, libraries = self.file.sentence.partition("; ")
        return date, libraries


def _tried(rows: Iterable[DamageRow]) -> list[FileDamage]:
    """Return the files that were tried: by family, the largest data first, then by name."""
    found: dict[DamageRow, FileDamage] = {}
    for row in rows:
        of = found.setdefault(row.file, FileDamage(row.file))
        if row.damage:
            of.by_kind[row.damage] = row
        else:
            of.file = row

    def place(each: FileDamage) -> tuple[object, ...]:
        file = each.file
        codec = "" if file.codec == NO_CODEC else file.codec
        return [*SUITES].index(file.family), -file.rows, file.format.lower(), codec, file.checksums

    return sorted((each for each in found.values() if each.total), key=place)


def extent(context: Context) -> Iterator[Block]:
    """Yield how much was tried."""
    tried = _tried(context.rows)
    if not tried:
        return
    files = sorted(
        {(each.file.family, each.file.dataset, -each.file.rows) for each in tried},
        key=lambda each: ([*SUITES].index(each[0]), *each[1:]),
    )
    words = [f"`{dataset}` of {plural(-rows, FAMILIES[family].item)}" for family, dataset, rows in files]
    dates = sorted({each.facts[0] for each in tried} - {""})
    total = sum(each.total for each in tried)
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
        noticed: dict[str, bool] = {}  # of all sizes
        for each in _tried(context.rows):
            if each.file.family == family:
                name, has_none = _phrase(each.file), not each.wrong() and not _ends(each)
                noticed[name] = has_none and noticed.get(name, True)
        names = [each for each, has_none in noticed.items() if has_none]
        if noticed:
            words = joined(names, most=None) if names else "none"
            items.append(f"**{title}**: {words}; {len(names)} of {len(noticed)}.")
    yield Block(items=items)


def _phrase(file: DamageRow) -> str:
    """Return the name of a file without commas, e.g. "Parquet with zstd and checksums"."""
    options = file.name.removeprefix(file.format).replace("with ", "").split(", ")[1:]
    return f"{file.format} with {joined(options)}" if options else file.format


def survivors(context: Context) -> Iterator[Block]:
    """Yield the readers that crash or hang."""
    items = [line for each in _tried(context.rows) if (line := _ends(each))]
    yield Block(items=items, text="" if items else "None did in these trials.")


def _ends(tried: FileDamage) -> str:
    """Return the crashes and hangs of a file as a sentence; empty if it has none."""
    kinds = {kind: int(sum(row.ended)) for kind in Kind if (row := tried.by_kind.get(kind))}
    ways = Counter[str]()
    for row in tried.by_kind.values():
        for count, way in re.findall(r"(?:^|; )(\d+) x ([^;]*)", row.sentence):
            ways[way] += int(count)
    if not any(kinds.values()):
        return ""
    after = joined([f"{kind} {number}" for kind, number in kinds.items() if number], most=None)
    words = "; ".join(f"{number} x {way}" for way, number in ways.items())
    share = f"{sum(kinds.values())} of {plural(tried.total, 'trial')}"
    return f"**{tried.file.name}** ({tried.file.family}), {share} ({after}): {words}."


def published(context: Context) -> Iterator[Block]:
    """Yield the published counts of flips beside those here; nothing if no counterpart was tried."""
    tried = _tried(context.rows)
    sizes = _sizes(tried)
    rows = []
    for each in hep.flips():
        counts = [f"{each.no_effect} / {each.crash + each.error_message} / {each.undetected}"]
        here = list(_counterparts(tried, sizes, each))
        rows += [[each.name, *counts, *cells] for cells in here or [["not tried", "", "", ""]]]
    header = [
        *("published as", "no effect / noticed / undetected, of 100"),
        *("here", "by the printed sum", "no effect / noticed / undetected", "undetected share"),
    ]
    sums = header.index("by the printed sum")
    if all(row[sums] in {"", "-"} for row in rows):  # of earlier results, or of other data
        header, *rows = ([*row[:sums], *row[sums + 1 :]] for row in (header, *rows))
    if any(row[2] != "not tried" for row in rows):
        yield Block(header=header, rows=rows, alignment="lrl" + "r" * (len(header) - 3))


def _sizes(tried: Iterable[FileDamage]) -> dict[tuple[str, str], set[int]]:
    """Return the numbers of rows that files of a family and a name have."""
    found: dict[tuple[str, str], set[int]] = {}
    for each in tried:
        found.setdefault((each.file.family, each.file.name), set()).add(each.file.rows)
    return found


def _counterparts(
    tried: Sequence[FileDamage], sizes: Mapping[tuple[str, str], set[int]], row: hep.PublishedFlips
) -> Iterator[list[str]]:
    codec = _CODECS.get((row.format, row.codec), row.codec)
    for label in _HERE[row.format]:
        for each in tried:
            file = each.file
            if (file.family, file.format, file.codec, file.checksums) == ("tables", label, codec, ""):
                counts = each.outcomes(Kind.FLIP)
                none, undetected = counts[DamageOutcome.NONE], counts[DamageOutcome.UNDETECTED]
                numbers = f"{none} / {counts.total() - none - undetected} / {undetected}"
                flips = each.by_kind.get(Kind.FLIP)
                is_summed = flips is not None and flips.summed
                sums = " / ".join(map(str, flips.published_outcomes)) if flips and is_summed else "-"
                is_single = len(sizes[file.family, file.name]) == 1
                name = file.name if is_single else f"{file.name} ({file.rows:,} rows)"
                yield [name, sums, numbers, _share(each.wrong(Kind.FLIP), counts.total())]


def protected(context: Context) -> Iterator[Block]:
    """Yield findings and costs of checksums; nothing if none were tried."""
    tried = {each.file.file: each for each in _tried(context.rows)}
    rows = []
    for file, found in tried.items():
        plain = tried.get(replace(file, checksums=""))
        if not file.checksums or plain is None:
            continue
        cells = [f"{each.wrong()} of {each.total}" for each in (plain, found)]
        costs = found.file.save_cost, found.file.read_cost, found.file.size_cost
        ratios = ["-" if each is None else format_ratio(each) for each in costs]
        means = registry_of(FAMILIES[file.family]).find(file.format).checksums
        rows.append([file.family, plain.file.name, *cells, *ratios, means])
    header = ["family", "format", "wrong without", "wrong with", "save", "read", "size", "checksums"]
    if rows:
        yield Block(header=header, rows=rows, alignment="llrrrrrl")


def family(context: Context, name: str) -> Iterator[Block]:
    """Yield the classes of flipped bits, and the wrong values of other damage; nothing if not tried."""
    tried = [each for each in _tried(context.rows) if each.file.family == name]
    if not tried:
        return
    header = ["format", "items", "size", "flips", *map(str, DamageOutcome), "wrong share"]
    text = "Flipped bits: numbers of reads, and the share that returned wrong values."
    yield Block(TITLES[name], text, header, [_flips(each) for each in tried], "l" + "r" * 10)
    others = [kind for kind in Kind if kind is not Kind.FLIP]
    rows = [[each.file.name, *(_of_kind(each, kind) for kind in others)] for each in tried]
    text = "Other damage: reads that returned wrong values, of those tried."
    yield Block("", text, ["format", *map(str, others)], rows, "l" + "r" * len(others))


def _flips(tried: FileDamage) -> list[str]:
    counts, wrong, file = tried.outcomes(Kind.FLIP), tried.wrong(Kind.FLIP), tried.file
    size = "-" if file.size is None else quantity(file.size, "bytes")
    cells = {each: str(counts[each]) for each in DamageOutcome}
    if counts[DamageOutcome.PRINTED]:
        cells[DamageOutcome.PRINTED] += f" ({wrong - counts[DamageOutcome.UNDETECTED]} wrong)"
    firsts = [file.name, f"{file.rows:,}", size, str(counts.total())]
    return [*firsts, *cells.values(), _share(wrong, counts.total())]


def _of_kind(tried: FileDamage, kind: Kind) -> str:
    total = tried.outcomes(kind).total()
    return f"{tried.wrong(kind)} of {total}" if total else "-"


def _share(count: int, total: int) -> str:
    if not total:
        return "-"
    low, high = share_interval(count, total)
    return f"{count / total:.0%} ({low:.1%} to {high:.1%})"


def untried(context: Context) -> Iterator[Block]:
    """Yield the files without trials, with the reasons."""
    tried = {each.file.file for each in _tried(context.rows)}
    items = [
        f"{each.name} ({each.family}): {each.status}: {each.sentence}"
        for each in context.rows
        if each.status and not each.damage and each.file not in tried
    ]
    if items:
        yield Block(items=items)


def facts(rows: Sequence[DamageRow]) -> str:
    """Return the summary of all files with trials as CSV, for `results.shipped`.

    Raises
    ------
    InvalidResultsError
        If there are no trials.
    """
    counts = [_summary(each) for each in _tried(rows)]
    if not counts:
        raise InvalidResultsError("the results contain no trials")
    return flat_csv.to_csv(DamageCounts, counts)


def _summary(tried: FileDamage) -> DamageCounts:
    file, outcomes = tried.file, tried.outcomes()
    flips, wrong = tried.outcomes(Kind.FLIP).total(), tried.wrong(Kind.FLIP)
    return DamageCounts(
        file.family,
        file.format,
        "" if file.codec == NO_CODEC else file.codec,
        bool(file.checksums),
        file.dataset,
        file.rows,
        flips,
        wrong,
        outcomes.total() - flips,
        tried.wrong() - wrong,
        outcomes[DamageOutcome.CRASH],
        outcomes[DamageOutcome.HANG],
        *tried.facts,
    )
