"""Measurement of record stores of the JVM: a new JVM takes the samples of each step.

A JVM makes the records itself, and makes six calls. The first one shows a program that has just
started; the median of the later half is its steady state, after the compiler's work.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil

from adapter_core import CannotHoldError, UnsupportedError
from adapter_core.errors import JvmError, WrongValuesError
from data_generator.random_words import RandomWords
from format_bench.families.operations import Measured
from format_bench.results.status import WRONG, CellStatus
from record_stores import HEAP_GIB, JvmRequest, JvmStore

if TYPE_CHECKING:
    from pathlib import Path

    from format_bench.families.records.stored import Stored
    from format_bench.results.suites import Step

# Calls 4 to 6 are the steady state (docs/records_jvm.md); the compiler works during the ones before.
CALLS = 6
# Calls for more than `MANY_RECORDS`: the first one takes seconds, and the compiler ends within it.
LONG_CALLS = 2
MANY_RECORDS = 2_000_000
# Number of JVMs whose first calls are samples. A median needs three.
FIRST_CALLS = 3
# The largest objects, groups of parquet-java, take 1,050 bytes; a third of the heap is for new ones.
HEAP_BYTES_PER_RECORD = 1_900
# Largest share of the machine's memory that a heap takes; larger data run out of memory.
HEAP_SHARE = 0.8

# Processes of a run end at a limit of their own, which is lower unless it is chosen.
LIMIT_SECONDS = 3600.0

_REASONS = {
    "save memory": "the heap of the JVM has its full size from the start on",
    "read memory": "the heap of the JVM has its full size from the start on",
}
_SINGLE = (("entry read time", "entry"), ("iteration time", "iterate"), ("field access time", "use"))
_COLD = "a JVM has no steady state before it has read the file"


@dataclass(frozen=True)
class JvmCell:
    """A store of the JVM on stored records of a named data set."""

    store: JvmStore
    codec: str | None
    stored: Stored

    @property
    def _call_count(self) -> int:
        return CALLS if self.stored.count <= MANY_RECORDS else LONG_CALLS

    @property
    def _heap_gib(self) -> int:
        wanted = math.ceil(self.stored.count * HEAP_BYTES_PER_RECORD / 2**30)
        largest = int(HEAP_SHARE * psutil.virtual_memory().total / 2**30)
        return max(HEAP_GIB, min(wanted, largest))

    def check(self) -> None:
        """Raise `CannotHoldError` if the store cannot keep the records, or the JVM cannot make them."""
        if not self.stored.name:
            raise CannotHoldError(self.store.refusal(self.stored.of))
        reason = self.store.refuses_nested
        if reason and not self.stored.of.is_flat:
            raise CannotHoldError(f"{self.store.label} cannot store these records: {reason}")

    def save(self, file: Path) -> None:
        """Save the records by one call."""
        self.check()
        self._run("write", file, calls=1)

    def measure(self, step: Step, file: Path) -> list[Measured]:
        """Measure all metrics of a step.

        Raises
        ------
        CannotHoldError
            If the store cannot keep the records.
        WrongValuesError
            If the digest of the records read differs.
        JvmError
            If the JVM fails, crashes or runs out of memory.
        """
        found = self._MEASURED[step.name](self, file)
        return [
            found.get(metric)
            or Measured(metric, [], _REASONS.get(metric, _COLD), status=CellStatus.UNSUPPORTED)
            for metric in step.metrics
        ]

    def _save(self, file: Path) -> dict[str, Measured]:
        self.check()
        answers = self._run("write", file, self._call_count)
        steady = _steady(answers)
        size = Measured("size", [self.store.size_bytes(file)])
        durable = [each["wall_seconds"] + each["sync_seconds"] for each in steady]
        return _by_metric(*self._times("save", answers), Measured("durable save time", durable), size)

    def _read(self, file: Path) -> dict[str, Measured]:
        answers = self._run("read", file, self._call_count)
        (check,) = (each for each in answers if each["event"] == "check")
        if check["digest"] != self.stored.digest:
            raise WrongValuesError(
                f"{WRONG}the digest of {check['rows']:,} records differs from that of the "
                f"{self.stored.count:,} saved ones"
            )
        (heap,) = (each for each in answers if each["event"] == "heap")
        kind = f"heap of objects of the class {heap['class']}; {_circumstances(answers)}"
        return _by_metric(
            *self._times("read", answers),
            Measured("held memory", [heap["held_bytes"]], kind),
            Measured("lost fields", [0]),
        )

    def _first_calls(self, file: Path) -> dict[str, Measured]:
        target = file.with_name(f"{file.stem}-first{file.suffix}")
        found = []
        for step, operation, path in (("save", "write", target), ("read", "read", file)):
            runs = [_calls(self._run(operation, path, calls=2)) for _ in range(FIRST_CALLS)]
            first = [calls[0]["wall_seconds"] for calls in runs]
            # A first call loads classes, which takes memory, too.
            allocated = [calls[1]["allocated_bytes"] for calls in runs]
            found += [Measured(f"first {step} time", first), Measured(f"{step} allocation", allocated)]
        self.store.remove(target)
        return _by_metric(*found)

    def _single_records(self, file: Path) -> dict[str, Measured]:
        (place,) = RandomWords("entries", self.stored.count).integers(max(1, self.stored.count), 1)
        found = []
        for metric, operation in _SINGLE:
            if operation == "entry" and self.store.seeks:
                reason = f"{self.store.label} cannot read a single record: {self.store.seeks}"
                found.append(Measured(metric, [], reason, status=CellStatus.UNSUPPORTED))
                continue
            try:
                calls = _steady(self._run(operation, file, self._call_count, int(place)))
                found.append(Measured(metric, [each["wall_seconds"] for each in calls]))
            except UnsupportedError as error:
                found.append(Measured(metric, [], str(error), status=CellStatus.UNSUPPORTED))
        return _by_metric(*found)

    def _cold_read(self, _file: Path) -> dict[str, Measured]:
        return {}

    _MEASURED = {  # noqa: RUF012 (a table of the class, not a field)
        "save": _save,
        "read": _read,
        "cold read": _cold_read,
        "first calls": _first_calls,
        "single records": _single_records,
    }

    def _times(self, step: str, answers: list[dict[str, Any]]) -> list[Measured]:
        calls = _steady(answers)
        wall, cpu = ([each[name] for each in calls] for name in ("wall_seconds", "cpu_seconds"))
        return [
            Measured(f"{step} time", wall, _circumstances(answers), cpu=cpu),
            Measured(f"{step} CPU time", cpu),
        ]

    def _run(self, operation: str, file: Path, calls: int, position: int = 0) -> list[dict[str, Any]]:
        request = JvmRequest(
            operation, self.stored.name, self.stored.count, file, self.codec, calls, position
        )
        answers = self.store.run(request, LIMIT_SECONDS, self._heap_gib)
        for each in answers:
            if each["event"] == "unsupported":
                kind = CannotHoldError if operation == "write" else UnsupportedError
                raise kind(f"{self.store.label}: {each['sentence']}")
            if each["event"] == "error":
                raise JvmError(f"{each['type']}: {each['sentence']}")
        if answers[-1]["event"] != "end":
            raise JvmError(f"{answers[-1]['event']}: {answers[-1]['sentence']}")
        return answers


def _by_metric(*measured: Measured) -> dict[str, Measured]:
    return {each.metric: each for each in measured}


def _calls(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in answers if each["event"] == "call"]


def _steady(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    calls = _calls(answers)
    return calls[len(calls) // 2 :]


def _circumstances(answers: list[dict[str, Any]]) -> str:
    """Return the JVM, its collector and its heap in words."""
    ready = answers[0]
    heap_gib = ready["heap_bytes"] / 2**30
    oops = "" if str(ready["compressed_oops"]).lower() == "true" else ", without compressed oops"
    return f"{ready['vm']}, {' and '.join(ready['collector'])}, heap of {heap_gib:.1f} GiB{oops}"
