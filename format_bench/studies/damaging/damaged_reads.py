"""Reads of damaged files: a child process for each, forked from one with the libraries imported."""

from __future__ import annotations

import contextlib
import gc
import importlib
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from adapter_core import ArraySource, RecordSet
from adapter_core.errors import WrongValuesError
from format_bench.families.operations import Operations
from format_bench.families.records.operations import RecordOperations
from format_bench.instruments.forked import MESSAGE_LENGTH, call_in_child
from format_bench.instruments.memory_limit import limit_address_space
from format_bench.studies.damaging.kinds import Kind, contents_of, damage, damaged

# Address space of a reader: damaged lengths ask for more memory than a machine has. Libraries reserve
# addresses that they never touch, so it is more than any reader needs. Chosen, not measured.
LIMIT_BYTES = 12 * 2**30

_WHEN_USED = ", when the values were used"


ZERO = tuple(f"H{number}_isMuon" for number in (1, 2, 3))
"""Columns that are 0 in the events that the program of the published table adds up."""

ADDED = tuple(
    f"H{number}_{name}"
    for number in (1, 2, 3)
    for name in ("PX", "PY", "PZ", "ProbK", "ProbPi", "Charge")
)
"""Columns that it adds up."""

ANSWER = ("rows", "sum", "digest")
"""Columns of a table of one row, the answer of a program that adds up by itself."""


class DamageOutcome(StrEnum):
    """Class of a trial; the value is its name in results."""

    NONE = "no effect"
    ERROR = "error"
    CRASH = "crash"
    HANG = "hang"
    PRINTED = "printed only"
    UNDETECTED = "undetected"


ENDS = {DamageOutcome.CRASH, DamageOutcome.HANG}
"""Outcomes without a reader that lives on."""


@dataclass(frozen=True)
class ReadVerdict:
    """Result of a read of a damaged file."""

    outcome: DamageOutcome
    right: bool | None = None
    """True if the values equal the intact file's; None without values."""
    message: str = ""
    """Error, signal, or first line printed."""
    seconds: float = 0.0
    """Wall time of the child process."""
    same_sum: bool | None = None
    """True if the program of the published table would print the sum of the intact file; None of
    other data, or without values."""


class ValueComparison(NamedTuple):
    """Comparison of the values of a damaged file with the intact file's."""

    right: bool
    same_sum: bool | None = None
    """As in `Verdict`."""


@dataclass(frozen=True)
class DamageTrial:
    """A damage that has been tried, and its verdict."""

    kind: Kind
    number: int
    file: str
    offset: int
    verdict: ReadVerdict | None
    """None if the file is too small or too uniform for this kind of damage."""


@dataclass(frozen=True)
class TrialLimits:
    """Limits of a trial."""

    seconds: float = 10.0
    """Least wall time after which a reader counts as hanging."""
    times: float = 30.0
    """So many times as long as the intact file takes, it may take in any case."""


@dataclass(frozen=True)
class DamageTrials:
    """Trials of one process."""

    trials: tuple[DamageTrial, ...] = ()
    problem: str = ""
    """Reason why there are none: a child could not read the intact file."""


Operate = Callable[[Path], AbstractContextManager["Operations"]]
"""Provides the operations of a case on stored data, its libraries imported and nothing warmed up."""


@dataclass(frozen=True)
class IntactFile:
    """A saved file and the values that the intact file returns."""

    file: Path
    reference: Path
    """The values, as the family's operations store them."""
    size_bytes: int
    modules: tuple[str, ...]
    """Modules that reading imports."""
    usual: tuple[tuple[float, ...], str]
    """Result of the comparison of the intact file with these values: number of losses, and sentence."""


def prepare(operate: Operate, data: Path, folder: Path) -> IntactFile:
    """Save data, read and verify them once, and store the values that the intact file returns.

    Damaged files are compared with these values rather than with the original: a format that rounds
    floats, or changes pixels, would hide a small change behind its own.

    Raises
    ------
    CannotHoldError, UnavailableError, UnsupportedError
        If the format cannot keep the data, or a package is missing.
    WrongValuesError
        If the intact file returns other values than declared.
    """
    with operate(data) as operations:
        file, reference = folder / f"file{operations.adapter.suffix}", folder / "reference"
        original = operations.load(data)
        operations.check(original)
        operations.save(original, file)
        found = operations.read(file)
        operations.verify(original, found)
        store_found(operations, found, reference)
        operations.expect(reference)
        usual = operations.verify(operations.load(reference), operations.read(file))
        size_bytes = operations.adapter.size_bytes(file)
    return IntactFile(
        file, reference, size_bytes, tuple(sys.modules), (tuple(usual.repeats), usual.sentence)
    )


def store_found(operations: Operations, found: Any, reference: Path) -> None:
    """Store the data read, of an array its values, for `Operations.load`."""
    if isinstance(found, Path):
        with operations.adapter.open(found) as reader:
            operations.store(_source_of(reader), reference)
    elif isinstance(operations, RecordOperations):
        of = operations.stored.of
        objects = [of.make(each) for each in map(operations.adapter.plain(of), found)]
        operations.store(RecordSet.of_objects(of, objects), reference)
    else:
        operations.store(found, reference)


def _source_of(reader: Any) -> ArraySource:
    facts = reader.description
    return ArraySource(
        facts.shape,
        facts.dtype,
        facts.chunks,
        reader.read,
        name=facts.name,
        dims=facts.dims,
        attributes=facts.attributes,
        coordinates=dict(facts.coordinates),
    )


def run_trials(  # noqa: PLR0913, PLR0917 (positional, as of all isolated steps)
    operate: Operate,
    prepared: IntactFile,
    wanted: Sequence[tuple[Kind, int]],
    seed: int,
    limits: TrialLimits,
    warm: bool,  # noqa: FBT001
) -> DamageTrials:
    """Try damages to a saved file, each in a child of this process.

    Parameters
    ----------
    operate : callable
        Provides the format's operations.
    prepared : IntactFile
        The saved file, and its result.
    wanted : sequence of tuple of (Kind, int)
        Kinds and numbers of the damages.
    seed : int
        Seed of the damages.
    limits : TrialLimits
        Limits of time and memory.
    warm : bool
        Read the intact file once before the first fork, which spares each child the work of a first
        read. Libraries with threads of their own then may not work in the children. Otherwise the
        modules that reading needs are imported, and no more.
    """
    limit_address_space(LIMIT_BYTES)
    with operate(prepared.reference) as operations:
        intact = operations.load(prepared.reference)
        allowed_seconds = limits.seconds
        if warm:
            start = time.perf_counter()
            operations.read(prepared.file)
            # For the control alone, so that threads that do not live on in a fork cost no minutes.
            allowed_seconds = max(3.0, 10 * (time.perf_counter() - start))
        else:
            for name in prepared.modules:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        read = partial(compare, operations, intact, prepared)
        gc.collect()
        # The collector of a child would copy each page of memory that it marks.
        gc.freeze()
        control, usual_lines = in_child(read, allowed_seconds, frozenset())
        if control.right is not True:
            reason = f"a forked process could not read the intact file: {control.outcome}"
            return DamageTrials(problem=f"{reason} {control.message}".strip())
        allowed_seconds = max(limits.seconds, limits.times * control.seconds)
        contents = contents_of(prepared.file)
        trials = []
        for kind, number in wanted:
            change = damage(contents, kind, seed, number)
            if change is None:
                trials.append(DamageTrial(kind, number, "", 0, None))
                continue
            with damaged(prepared.file, contents, change):
                verdict, _ = in_child(read, allowed_seconds, usual_lines)
            trials.append(DamageTrial(kind, number, change.file, change.offset, verdict))
    return DamageTrials(tuple(trials))


def compare(
    operations: Operations, intact: Any, prepared: IntactFile, loaded: Callable[[], object]
) -> ValueComparison:
    """Compare the values of a file that may be damaged with the intact one's.

    Calls `loaded` when the values have been read, before they are used.

    Raises
    ------
    Exception
        Any that the reader raises.
    """
    found = operations.read(prepared.file)
    loaded()
    usual_sum = printed_sum(intact)
    same_sum = None if usual_sum is None else printed_sum(found) == usual_sum
    try:
        measured = operations.verify(intact, found)
    except WrongValuesError:
        return ValueComparison(right=False, same_sum=same_sum)
    except Exception:
        # Arrays are read while they are compared; other values are in memory, and not comparable.
        if isinstance(found, Path):
            raise
        return ValueComparison(right=False, same_sum=same_sum)
    usual = (tuple(measured.repeats), measured.sentence) == prepared.usual
    return ValueComparison(usual, same_sum)


def printed_sum(values: Any) -> str | None:
    """Return the sum that the program of the published table prints of decays; None of other data.

    It adds up 18 columns of the events without a muon, and prints six decimals: a change in an event
    that is left out, or in the last bits of a number, is not seen.
    """
    import numpy as np

    columns = tuple(getattr(values, "columns", ()))
    if columns == ANSWER:
        return str(values["sum"].iloc[0])
    if not {*ZERO, *ADDED} <= set(columns):
        return None
    try:
        with np.errstate(all="ignore"):
            chosen = (values[[*ZERO]] == 0).all(axis=1)
            return f"{float(values.loc[chosen, [*ADDED]].to_numpy('float64').sum()):f}"
    except Exception as error:  # damaged columns need not be numbers
        return f"{type(error).__name__}: {error}"


def in_child(
    read: Callable[[Callable[[], object]], ValueComparison],
    limit_seconds: float,
    usual_lines: frozenset[str],
) -> tuple[ReadVerdict, frozenset[str]]:
    """Call a reader in a forked child; return the verdict, and the lines that the child printed.

    Parameters
    ----------
    read : callable
        Compares the values; calls its argument when it has read them.
    limit_seconds : float
        Wall time after which the child is killed.
    usual_lines : frozenset of str
        Lines that the reader prints for an intact file too.
    """
    ended = call_in_child(read, limit_seconds)
    new = [line for line in ended.lines if line not in usual_lines]
    where = _WHEN_USED if ended.is_marked else ""
    if ended.is_late:
        message = f"not finished after {limit_seconds:.0f} seconds{where}"
        verdict = ReadVerdict(DamageOutcome.HANG, None, message, ended.seconds)
    elif ended.death:
        last = f": {new[-1]}" if new else ""
        message = f"{ended.death}{where}{last}"[:MESSAGE_LENGTH]
        verdict = ReadVerdict(DamageOutcome.CRASH, None, message, ended.seconds)
    else:
        verdict = _judged(ended.value, ended.error, new, ended.seconds)
    return verdict, frozenset(ended.lines)


def _judged(compared: ValueComparison | None, error: str, new: list[str], seconds: float) -> ReadVerdict:
    if compared is None:
        return ReadVerdict(DamageOutcome.ERROR, None, error, seconds)
    right, same_sum = compared
    if new:
        return ReadVerdict(DamageOutcome.PRINTED, right, new[0][:MESSAGE_LENGTH], seconds, same_sum)
    return ReadVerdict(
        DamageOutcome.NONE if right else DamageOutcome.UNDETECTED, right, "", seconds, same_sum
    )
