"""Page of the study of damage, docs/damage.md, and the summary that the package ships."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidResultsError
from format_bench.instruments.intervals import share_interval
from format_bench.results import flat_csv
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.published import hep
from format_bench.results.shipped import DamageCounts
from format_bench.studies.damaging import kinds, trials
from format_bench.studies.damaging.kinds import Kind
from format_bench.studies.damaging.subjects import DATASETS, Subject
from format_bench.studies.damaging.trials import Outcome

if TYPE_CHECKING:
    from format_bench.studies.damaging.results import Found, ResultsFile

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

_HEAD = """\
# When a bit flips

Disks, memory and links change bits without a word. This page records what readers do with damaged
files: whether they notice, and whether they survive.

Each file was saved once, damaged, and read in a process of its own, which had a limit of time and of
memory. What it returned was compared bit for bit with what the intact file returns. Damages are a
function of the file's bytes, a seed and a number; of formats with several files one file is chosen in
proportion to its size. A crash or hang counts only if it comes again in a process that has not read
before.
"""

_CHECKSUMS = """\
## With and without checksums

Some formats have checksums that are off by default. Here they are written, and verified when reading;
both is needed. The ratios are the CPU time of saving and reading, and the size, each divided by that
without checksums: the least of several calls in turn.
"""

_PUBLISHED = """\
## Beside the published table

Blomer ("A quantitative review of data formats for HEP analyses", ACAT 2017) flipped a bit in files of
100,000 particle collisions, 100 times. The published "no effect" means that a printed sum was right,
which swallows small changes and events that a cut removes; here each value is compared. A published
"crash" includes programs that an exception ended. So the right figure to compare is not "no effect", but
how often there was a message or an end: the undetected share here is larger because fewer changes are
overlooked. Other differences: the table, the libraries' versions, and Python in place of C++ and Java.
"""


def page(results: ResultsFile) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If the results contain no trials.
    """
    tried = {each: results.found[each] for each in _ordered(results) if results.found[each].trials}
    if not tried:
        raise InvalidResultsError(f"{results.path} contains no trials")
    parts = [_HEAD, *_extent(tried), *_legend(), *_detectors(tried), *_survivors(tried)]
    parts += ["", *_published(tried), *_protected(tried)]
    for family, title in TITLES.items():
        parts += _family(title, {each: of for each, of in tried.items() if each.family == family})
    parts += _untried(results.found)
    return "\n".join(parts) + "\n"


def _ordered(results: ResultsFile) -> list[Subject]:
    """Return the subjects: by family, the largest data first, then by name."""
    families = list(DATASETS)
    return sorted(
        results.found,
        key=lambda each: (
            families.index(each.family),
            -each.rows,
            each.format.lower(),
            each.codec or "",
            each.checksums,
        ),
    )


def _extent(tried: dict[Subject, Found]) -> Iterator[str]:
    data = {(each.dataset, each.rows, each.family) for each in tried}
    words = [
        f"`{dataset}` of {plural(rows, ITEMS[family])}"
        for dataset, rows, family in sorted(
            data, key=lambda each: (list(DATASETS).index(each[2]), each[0], -each[1])
        )
    ]
    dates = sorted({str(found.facts["date"]) for found in tried.values() if found.facts})
    total = sum(len(found.trials) for found in tried.values())
    when = f"on {dates[0]}" if len(dates) == 1 else f"from {dates[0]} to {dates[-1]}" if dates else ""
    yield (
        f"{total:,} trials {when} of {len(tried)} formats with their options, saved from\n"
        f"{joined(words)}.\n"
        "Formats that the published table lacks were tried on fewer rows, with fewer damages. Made by\n"
        "`format-bench study damage`; `--page` prints this page.\n"
    )


def _legend() -> Iterator[str]:
    yield "| class | meaning |\n| --- | --- |"
    yield from (f"| {each} | {meaning} |" for each, meaning in trials.MEANINGS.items())
    yield ""
    yield "| damage | meaning |\n| --- | --- |"
    yield from (f"| {each} | {meaning} |" for each, meaning in kinds.MEANINGS.items())
    yield ""
    yield (
        "Intervals are Wilson's score intervals of a binomial share with 95 % confidence (Wilson 1927;\n"
        "Brown, Cai and DasGupta 2001): 0 of 100 still allows a share of 3.7 %, 0 of 40 one of 8.8 %.\n"
    )


def _detectors(tried: dict[Subject, Found]) -> Iterator[str]:
    yield "## Formats that noticed every damage\n"
    yield (
        "None of these returned wrong values from any damaged file, of whatever kind, or ended the\n"
        "process. `format-bench recommend --require detects-damage` uses the same trials.\n"
    )
    for family, title in TITLES.items():
        of_family = {each: found for each, found in tried.items() if each.family == family}
        names = [
            _phrase(subject)
            for subject, found in of_family.items()
            if not any(_wrong(found, kind) for kind in Kind) and not list(_ends({subject: found}))
        ]
        if of_family:
            noticed = joined(names, most=None) if names else "none"
            yield f"- **{title}**: {noticed}; {len(names)} of {len(of_family)}."
    yield ""


def _phrase(subject: Subject) -> str:
    """Return the name of a subject without commas, e.g. "Parquet with zstd and checksums"."""
    options = [each for each in (subject.codec, "checksums" if subject.checksums else None) if each]
    return f"{subject.format} with {joined(options)}" if options else subject.format


def _survivors(tried: dict[Subject, Found]) -> Iterator[str]:
    yield "## Readers that crash or hang\n"
    lines = list(_ends(tried))
    yield from lines or ["None did in these trials."]


def _ends(tried: dict[Subject, Found]) -> Iterator[str]:
    for subject, found in tried.items():
        bad = [
            (each.kind, each.verdict)
            for each in found.trials.values()
            if each.verdict and each.verdict.outcome in (Outcome.CRASH, Outcome.HANG)
        ]
        if not bad:
            continue
        kinds_of = Counter(str(kind) for kind, _ in bad)
        ways = Counter(
            f"{each.outcome}, {' '.join(each.message.split())}".rstrip(".") for _, each in bad
        )
        after = joined([f"{each} {number}" for each, number in kinds_of.items()], most=None)
        words = "; ".join(f"{number} x {way}" for way, number in ways.items())
        share = f"{len(bad)} of {plural(len(found.trials), 'trial')}"
        yield f"- **{subject.name}** ({subject.family}), {share} ({after}): {words}."


def _published(tried: dict[Subject, Found]) -> Iterator[str]:
    rows = []
    for each in hep.flips():
        published = [f"{each.no_effect} / {each.crash + each.error_message} / {each.undetected}"]
        here = list(_counterparts(tried, each))
        rows += [[each.name, *published, *cells] for cells in here or [["not tried", "", ""]]]
    if not any(row[2] != "not tried" for row in rows):
        return
    yield _PUBLISHED
    header = [
        "published as",
        "no effect / noticed / undetected, of 100",
        "here",
        "no effect / noticed / undetected",
        "undetected share",
    ]
    yield from table_lines(header, rows, "lrlrr")
    yield ""


def _counterparts(tried: dict[Subject, Found], row: hep.PublishedFlips) -> Iterator[list[str]]:
    codec = _CODECS.get((row.format, row.codec), _CODECS.get(row.codec, row.codec))
    for label in _HERE[row.format]:
        for subject, found in tried.items():
            if (subject.family, subject.format, subject.codec) == ("tables", label, codec) and not (
                subject.checksums
            ):
                counts = found.outcomes(Kind.FLIP)
                wrong, none = _wrong(found, Kind.FLIP), counts[Outcome.NONE]
                noticed = counts.total() - none - counts[Outcome.UNDETECTED]
                numbers = f"{none} / {noticed} / {counts[Outcome.UNDETECTED]}"
                yield [subject.name, numbers, _share(wrong, counts.total())]


def _protected(tried: dict[Subject, Found]) -> Iterator[str]:
    rows = []
    for subject, found in tried.items():
        plain = Subject(**{**vars(subject), "checksums": False})
        if not subject.checksums or plain not in tried:
            continue
        cells = [
            f"{sum(_wrong(each, kind) for kind in Kind)} of {_total(each)}"
            for each in (tried[plain], found)
        ]
        cost = found.cost
        ratios = [cost.save, cost.read, cost.size] if cost else []
        rows.append(
            [
                subject.family,
                plain.name,
                *cells,
                *([format_ratio(each) for each in ratios] or ["-", "-", "-"]),
                subject.adapter.checksums,
            ]
        )
    if rows:
        yield _CHECKSUMS
        header = ["family", "format", "wrong without", "wrong with", "save", "read", "size", "checksums"]
        yield from table_lines(header, rows, "llrrrrrl")
        yield ""


def _family(title: str, tried: dict[Subject, Found]) -> Iterator[str]:
    if not tried:
        return
    yield f"## {title}\n"
    yield "Flipped bits: numbers of reads, and the share that returned wrong values.\n"
    rows = [_flips(subject, found) for subject, found in tried.items()]
    header = ["format", "items", "size", "flips", *map(str, Outcome), "wrong share"]
    yield from table_lines(header, rows, "l" + "r" * (len(header) - 1))
    yield "\nOther damage: reads that returned wrong values, of those tried.\n"
    others = [kind for kind in Kind if kind is not Kind.FLIP]
    rows = [
        [subject.name, *(_of_kind(found, kind) for kind in others)] for subject, found in tried.items()
    ]
    yield from table_lines(["format", *map(str, others)], rows, "l" + "r" * len(others))
    yield ""


def _flips(subject: Subject, found: Found) -> list[str]:
    counts = found.outcomes(Kind.FLIP)
    size = quantity(found.facts["size"], "bytes") if "size" in found.facts else "-"
    cells = [str(counts[each]) for each in Outcome]
    if counts[Outcome.PRINTED]:
        wrong = _wrong(found, Kind.FLIP) - counts[Outcome.UNDETECTED]
        cells[list(Outcome).index(Outcome.PRINTED)] += f" ({wrong} wrong)"
    share = _share(_wrong(found, Kind.FLIP), counts.total())
    return [subject.name, f"{subject.rows:,}", size, str(counts.total()), *cells, share]


def _of_kind(found: Found, kind: Kind) -> str:
    total = found.outcomes(kind).total()
    return f"{_wrong(found, kind)} of {total}" if total else "-"


def _wrong(found: Found, kind: Kind) -> int:
    """Return the number of trials that returned wrong values, with or without a message."""
    verdicts = [each.verdict for each in found.trials.values() if each.kind is kind]
    return sum(each is not None and each.right is False for each in verdicts)


def _total(found: Found) -> int:
    return sum(found.outcomes(kind).total() for kind in Kind)


def _share(count: int, total: int) -> str:
    if not total:
        return "-"
    low, high = share_interval(count, total)
    return f"{count / total:.0%} ({low:.1%} to {high:.1%})"


def _untried(found: dict[Subject, Found]) -> Iterator[str]:
    reasons = {
        f"{subject.name} ({subject.family})": str(of.facts["sentence"])
        for subject, of in found.items()
        if of.facts.get("sentence") and not of.trials
    }
    if reasons:
        yield "## Not tried\n"
        yield from (f"- {name}: {reason}" for name, reason in reasons.items())


def facts(results: ResultsFile) -> str:
    """Return the summary of all subjects with trials as CSV, for `results.shipped`.

    Raises
    ------
    InvalidResultsError
        If the results contain no trials.
    """
    tried = [each for each in _ordered(results) if results.found[each].trials]
    counts = [_summary(each, results.found[each]) for each in tried]
    if not counts:
        raise InvalidResultsError(f"{results.path} contains no trials")
    return flat_csv.to_csv(DamageCounts, counts)


def _summary(subject: Subject, found: Found) -> DamageCounts:
    outcomes = sum((found.outcomes(kind) for kind in Kind), Counter[Outcome]())
    flips, wrong = found.outcomes(Kind.FLIP).total(), _wrong(found, Kind.FLIP)
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
        _total(found) - flips,
        sum(_wrong(found, kind) for kind in Kind) - wrong,
        outcomes[Outcome.CRASH],
        outcomes[Outcome.HANG],
        found.facts.get("date", ""),
        " ".join(f"{name} {version}" for name, version in libraries.items()),
    )
