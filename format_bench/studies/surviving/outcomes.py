"""Blocks of the page on survival."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from format_bench.results.display.text import joined, plural
from format_bench.results.suites import FAMILIES
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.surviving.moments import Fault
from format_bench.studies.surviving.survivors import SUITES, SurvivalRow
from format_bench.studies.surviving.trials import PROOFS, Finding
from format_bench.studies.surviving.ways import WAYS, Change, Renamed

KILLS = (Fault.KILL, Fault.KILL_IN_WRITE)
POWER_CUTS = (Fault.POWER, Fault.NAMES_FIRST, Fault.LAST_FIRST)
AT_ONCE = (*KILLS, *POWER_CUTS, Fault.FULL)

# Rows of the list of silent losses.
_WORST = 12


class SurvivedChange:
    """A change of a format's file, and its rows by fault."""

    def __init__(self, cell: SurvivalRow) -> None:
        self.cell = self.facts = cell
        self.by_fault: dict[Fault, SurvivalRow] = {}

    def add(self, row: SurvivalRow) -> None:
        """Add a row of the change."""
        if row.fault:
            self.by_fault[Fault(row.fault)] = row
        else:
            self.facts = row

    @property
    def was_tried(self) -> bool:
        """Whether there are reads."""
        return bool(self.by_fault)

    def moments(self, faults: Iterable[Fault]) -> int:
        """Return the number of moments of some faults."""
        return sum(len(self._of(each, "neither")) for each in faults)

    def count(self, faults: Iterable[Fault], name: str) -> int:
        """Return how many moments of some faults belong to a class."""
        return int(sum(sum(self._of(each, name)) for each in faults))

    def is_whole(self, faults: Iterable[Fault]) -> bool:
        """Return whether a version was there and readable after each moment of some faults."""
        return self.was_tried and not self.count(faults, "neither")

    def _of(self, fault: Fault, name: str) -> tuple[float, ...]:
        row = self.by_fault.get(fault)
        return getattr(row, name) if row else ()

    def shown(self, faults: Sequence[Fault]) -> str:
        """Return the outcome of some faults in short, for a cell of a table."""
        total = self.moments(faults)
        if not total:
            return "-"
        neither, silent = self.count(faults, "neither"), self.count(faults, "silent")
        ended = self.count(faults, "ended")
        parts = [f"**{silent} silent**"] if silent else []
        parts += [f"{ended} {'crash' if ended == 1 else 'crashes'}"] if ended else []
        return ", ".join([f"{neither} of {total}", *parts]) if neither else f"whole ({total})"


def changes_of(rows: Iterable[SurvivalRow]) -> list[SurvivedChange]:
    """Return the changes, by family and name of the format."""
    found: dict[SurvivalRow, SurvivedChange] = {}
    for row in rows:
        found.setdefault(row.cell, SurvivedChange(row.cell)).add(row)

    def place(each: SurvivedChange) -> tuple[object, ...]:
        cell = each.cell
        family, way = [*SUITES].index(cell.family), WAYS.index(cell.way)
        return family, cell.format.lower(), way, -cell.moments

    return sorted(found.values(), key=place)


def _of(context: Context, change: Change, renamed: Renamed = Renamed.NOT) -> list[SurvivedChange]:
    """Return the changes of a way that were tried."""
    return [
        each
        for each in changes_of(context.rows)
        if (each.cell.change, each.cell.renamed) == (change, renamed) and each.was_tried
    ]


def _name(cell: SurvivalRow) -> str:
    """Return the format, with its family if that is not the tables."""
    return cell.format if cell.family == "tables" else f"{cell.format} ({cell.family})"


def _names(changes: Iterable[SurvivedChange]) -> str:
    return joined(list(dict.fromkeys(_name(each.cell) for each in changes)), most=None)


def extent(context: Context) -> Iterator[Block]:
    """Yield how much was tried."""
    tried = [each for each in changes_of(context.rows) if each.was_tried]
    if not tried:
        return
    reads = sum(each.moments(Fault) for each in tried)
    kills = sum(each.moments(KILLS) for each in tried)
    formats = {(each.cell.family, each.cell.format) for each in tried}
    cells = dict.fromkeys((each.cell.family, each.cell.dataset, each.cell.rows) for each in tried)
    sizes = [f"{plural(rows, FAMILIES[family].item)} of `{dataset}`" for family, dataset, rows in cells]
    yield Block(
        text=f"{reads:,} moments of {plural(len(tried), 'change')} to files of {len(formats)} formats, "
        f"{kills:,} of them kills. Versions have {joined(sizes)}. {PROOFS * len(tried):,} writers "
        "were really killed, and left the replayed files, byte by byte. Verdicts do not depend on the "
        "load of the machine."
    )


def findings(context: Context) -> Iterator[Block]:
    """Yield the sentences that matter most."""
    own, streams = _of(context, Change.REPLACE), _of(context, Change.STREAM)
    plain = _of(context, Change.REPLACE, Renamed.PLAIN)
    synced = _of(context, Change.REPLACE, Renamed.SYNCED)
    saves, appends = _of(context, Change.SAVE), _of(context, Change.APPEND)
    deaf, replaced = (
        [each for each in changes if each.count([Fault.FULL], "claimed")]
        for changes in ([*saves, *own, *streams, *appends], plain)
    )
    missing = [each for each in synced if each.count(KILLS, "absent")]
    items = [
        _whole("Replaced by the library, writer killed", own, KILLS),
        _whole("Replaced by a rename, writer killed", plain, KILLS),
        _whole("Replaced by a rename, power cut", plain, POWER_CUTS),
        _whole("Replaced by a rename with syncs before and after it, power cut", synced, POWER_CUTS),
        _whole("Appended to, writer killed", appends, KILLS),
        _whole("Appended to, power cut", appends, POWER_CUTS),
        _durable("Power cut after the first save has returned", "first save", saves),
        _durable("Power cut after an append has returned", "append", appends),
        _named("Disk full, and no error reported", deaf, "wrote an incomplete file without an error"),
        _named(
            *("Disk full, and the earlier version replaced", replaced),
            "reported no error when a rename followed, which put an incomplete file in the place of the "
            "earlier version",
        ),
        _named(
            *("Folders replaced, writer killed", missing),
            "had neither version at their path between the two renames that replace a folder",
        ),
    ]
    yield Block(
        text="An intact version is the earlier one or the new one.",
        items=[each for each in items if each],
    )


def _whole(title: str, changes: Sequence[SurvivedChange], faults: Sequence[Fault]) -> str:
    """Return which formats always left an intact version, and which returned other values."""
    if not changes:
        return ""
    whole = [each for each in changes if each.is_whole(faults)]
    others = [each for each in changes if each not in whole]
    silent = [each for each in changes if each.count(faults, "silent")]
    kept = _share(f"{len(whole)} of {plural(len(changes), 'format')}", whole, others)
    wrong = f" {_names(silent)} returned other values without an error." if silent else ""
    return f"**{title}.** {kept} always left an intact version.{wrong}"


def _durable(title: str, what: str, changes: Sequence[SurvivedChange]) -> str:
    """Return which formats bring a change to the device before they return."""
    kept = [each for each in changes if each.facts.undurable == 0]
    others = [each for each in changes if each not in kept]
    share = _share(f"{len(kept)} of {plural(len(changes), 'format')}", kept, others)
    return f"**{title}.** The {what} is still there with {share}." if changes else ""


def _share(count: str, those: Sequence[SurvivedChange], others: Sequence[SurvivedChange]) -> str:
    """Return a count with the names of these formats, or of the others if they are fewer."""
    if not those or not others:
        return count
    if len(others) < len(those):
        return f"{count} (all but {_names(others)})"
    return f"{count} ({_names(those)})"


def _named(title: str, changes: Sequence[SurvivedChange], what: str) -> str:
    return f"**{title}.** {_names(changes)} {what}." if changes else ""


def silent(context: Context) -> Iterator[Block]:
    """Yield the changes after which most reads were silently wrong."""
    found = [
        (each.count([fault], "silent"), each, fault)
        for each in changes_of(context.rows)
        for fault in each.by_fault
    ]
    worst = sorted((each for each in found if each[0]), key=lambda each: -each[0])
    rows = [
        [
            *(_name(each.cell), _way(each.cell), fault.value),
            *(f"{count} of {each.moments([fault])}", str(each.count([fault], "cut"))),
            each.by_fault[fault].sentence.partition("; ")[0],
        ]
        for count, each, fault in worst[:_WORST]
    ]
    header = ["format", "change", "fault", "silent", "of these first rows", "most often"]
    if rows:
        yield Block(header=header, rows=rows, alignment="lllrrl")
    else:
        yield Block(text="No reader returned neither version without an error.")


def _way(cell: SurvivalRow) -> str:
    return ", ".join(filter(None, [cell.change, cell.renamed]))


def replacements(context: Context, family: str) -> Iterator[Block]:
    """Yield replacements by the library beside replacements by a rename."""
    by_format: dict[str, dict[str, SurvivedChange]] = {}
    for each in changes_of(context.rows):
        if (each.cell.family, each.cell.change) == (family, Change.REPLACE):
            by_format.setdefault(each.cell.format, {})[each.cell.renamed] = each
    header = ["format"]
    for how in ("library", "renamed", "synced and renamed"):
        header += [f"{how}: kill", f"{how}: power cut", f"{how}: full disk"]
    rows = []
    for label, found in by_format.items():
        if any(each.was_tried for each in found.values()):
            cells = [
                found[how].shown(faults) if how in found and found[how].was_tried else "-"
                for how in Renamed
                for faults in (KILLS, POWER_CUTS, [Fault.FULL])
            ]
            rows.append([label, *cells])
    if rows:
        text = "By the library where the file is, or under a temporary name that is renamed."
        yield Block(f"Replaced {family}", text, header, rows, "l" + "r" * 9)


def changed(context: Context, change: str) -> Iterator[Block]:
    """Yield the outcomes of a change by the library, fault by fault."""
    header = ["format", "calls", "syncs", *Fault, "after the return"]
    rows = []
    for each in _of(context, Change(change)):
        after = (
            "-"
            if each.facts.undurable is None
            else ["durable", "not durable"][int(each.facts.undurable)]
        )
        cells = [each.shown([fault]) for fault in Fault]
        rows.append([_name(each.cell), str(each.facts.calls), str(each.facts.syncs), *cells, after])
    if rows:
        yield Block(header=header, rows=rows, alignment="l" + "r" * 8 + "l")


def messages(context: Context) -> Iterator[Block]:
    """Yield all verdicts of each change and fault."""
    rows = [
        [_name(each.cell), _way(each.cell), fault.value, *(str(row.verdicts[name]) for name in Finding)]
        for each in changes_of(context.rows)
        for fault, row in each.by_fault.items()
        if row.neither
    ]
    if rows:
        header = ["format", "change", "fault", *Finding]
        yield Block(header=header, rows=rows, alignment="lll" + "r" * len(Finding), fold=True)


def untried(context: Context) -> Iterator[Block]:
    """Yield the changes without reads, with the reasons."""
    items = [
        f"{_name(each.cell)}, {_way(each.cell)}: {each.facts.status}: {each.facts.sentence}"
        for each in changes_of(context.rows)
        if not each.was_tried
    ]
    if items:
        yield Block(items=items)
