"""Measurement of record stores of the JVM: a new JVM takes the samples of each step.

A JVM makes the records itself, then calls until the calls are steady, by the rule of the Java class
`Calls`, or the time for its warm-up is over. The samples are the last few calls. The first call in a
new JVM, a metric of its own, shows a program that has just started.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from adapter_core import CannotHoldError, UnsupportedError
from adapter_core.errors import JvmError, WrongValuesError
from adapter_core.record_schema import avro_of
from data_generator.random_words import RandomWords
from format_bench.families.operations import Measured
from format_bench.families.records.stored import Stored, encode
from format_bench.instruments.clock import Effort
from format_bench.results.display.text import plural
from format_bench.results.status import WRONG, CellStatus
from format_bench.results.suites import Step
from record_stores import HEAP_GIB, JvmRequest, JvmStore

# Longest warm-up by the budget of the repeats: 8 s in a run, of some 40 calls with 100,000 records.
WARM_UP_BUDGETS = 4
# Number of calls after which the compiler has seen enough of records that take milliseconds.
MOST_CALLS = 200
# Number of JVMs whose first calls are samples. A median needs three.
FIRST_CALLS = 3
# The largest objects, groups of parquet-java, take 1,050 bytes; a third of the heap is for new ones.
HEAP_BYTES_PER_RECORD = 1_900
# The largest values of own records beside their bytes are booleans and numbers in lists and maps.
HEAP_BYTES_PER_BYTE = 60
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
    """A store of the JVM on stored records.

    Those of a named data set a JVM makes itself; it gets the schema and the values of others.
    """

    store: JvmStore
    codec: str | None
    stored: Stored
    data: Path
    """The stored records."""

    @property
    def _heap_gib(self) -> int:
        wanted_bytes = self.stored.count * HEAP_BYTES_PER_RECORD
        if not self.stored.name:
            wanted_bytes = max(wanted_bytes, self.data.stat().st_size * HEAP_BYTES_PER_BYTE)
        wanted = math.ceil(wanted_bytes / 2**30)
        largest = int(HEAP_SHARE * psutil.virtual_memory().total / 2**30)
        return max(HEAP_GIB, min(wanted, largest))

    def check(self) -> None:
        """Raise `CannotHoldError` if the store cannot keep the records."""
        if not self.stored.name:
            if refusal := self.store.refusal(self.stored.of):
                raise CannotHoldError(refusal)
            return
        reason = self.store.refuses_nested
        if reason and not self.stored.of.is_flat:
            raise CannotHoldError(f"{self.store.label} cannot store these records: {reason}")

    def save(self, file: Path) -> None:
        """Save the records by one call."""
        self.check()
        self._run("write", file)

    def measure(self, step: Step, file: Path, effort: Effort) -> list[Measured]:
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
        found = self._MEASURED[step.name](self, file, effort)
        return [
            found.get(metric)
            or Measured(metric, [], _REASONS.get(metric, _COLD), status=CellStatus.UNSUPPORTED)
            for metric in step.metrics
        ]

    def _save(self, file: Path, effort: Effort) -> dict[str, Measured]:
        self.check()
        answers = self._run_until_steady("write", file, effort)
        durable = [each["wall_seconds"] + each["sync_seconds"] for each in steady_calls(answers)]
        return _by_metric(
            _time("save time", answers, _circumstances(answers)),
            _cpu_time("save CPU time", answers),
            Measured("durable save time", durable),
            Measured("size", [self.store.size_bytes(file)]),
        )

    def _read(self, file: Path, effort: Effort) -> dict[str, Measured]:
        answers = self._run_until_steady("read", file, effort)
        (check,) = (each for each in answers if each["event"] == "check")
        if check["digest"] != self.stored.digest:
            raise WrongValuesError(
                f"{WRONG}the digest of {check['rows']:,} records differs from that of the "
                f"{self.stored.count:,} saved ones"
            )
        (heap,) = (each for each in answers if each["event"] == "heap")
        losses = [field for each in answers if each["event"] == "losses" for field in each["fields"]]
        kind = f"heap of objects of the class {heap['class']}; {_circumstances(answers)}"
        return _by_metric(
            _time("read time", answers, _circumstances(answers)),
            _cpu_time("read CPU time", answers),
            Measured("held memory", [heap["held_bytes"]], kind),
            Measured("lost fields", [len(losses)], "; ".join(losses)),
        )

    def _first_calls(self, file: Path, _effort: Effort) -> dict[str, Measured]:
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

    def _single_records(self, file: Path, effort: Effort) -> dict[str, Measured]:
        (place,) = RandomWords("entries", self.stored.count).integers(max(1, self.stored.count), 1)
        found = []
        for metric, operation in _SINGLE:
            if operation == "entry" and self.store.seeks:
                reason = f"{self.store.label} cannot read a single record: {self.store.seeks}"
                found.append(Measured(metric, [], reason, status=CellStatus.UNSUPPORTED))
                continue
            try:
                answers = self._run_until_steady(operation, file, effort, int(place))
                found.append(_time(metric, answers))
            except UnsupportedError as error:
                found.append(Measured(metric, [], str(error), status=CellStatus.UNSUPPORTED))
        return _by_metric(*found)

    def _cold_read(self, _file: Path, _effort: Effort) -> dict[str, Measured]:
        return {}

    _MEASURED = {  # noqa: RUF012 (a table of the class, not a field)
        "save": _save,
        "read": _read,
        "cold read": _cold_read,
        "first calls": _first_calls,
        "single records": _single_records,
    }

    def _run_until_steady(
        self, operation: str, file: Path, effort: Effort, position: int = 0
    ) -> list[dict[str, Any]]:
        # At most half of the calls are samples if they do not become steady.
        calls, most_seconds = 2 * effort.min_repeats, WARM_UP_BUDGETS * effort.budget_seconds
        return self._run(operation, file, calls=calls, most_seconds=most_seconds, position=position)

    def _run(
        self,
        operation: str,
        file: Path,
        *,
        calls: int = 1,
        most_seconds: float = 0.0,
        position: int = 0,
    ) -> list[dict[str, Any]]:
        is_own = not self.stored.name
        request = JvmRequest(
            operation,
            self.stored.name,
            self.stored.count,
            file,
            self.codec,
            calls,
            MOST_CALLS,
            most_seconds,
            position,
            schema=json.dumps(avro_of(self.stored.of)) if is_own else "",
            records=encode(self.data) if is_own and operation == "write" else Path(),
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


def steady_calls(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the answers to the calls after the warm-up."""
    return _calls(answers)[_warm_up(answers)["calls"] :]


def _warm_up(answers: list[dict[str, Any]]) -> dict[str, Any]:
    return next(each for each in answers if each["event"] == "warm-up")


def warm_up_words(answers: list[dict[str, Any]]) -> str:
    """Return the number of calls of the warm-up, and how far the others are from steady, in words."""
    warm_up, samples = _warm_up(answers), len(steady_calls(answers))
    words = f"{plural(warm_up['calls'], 'call')} of warm-up"
    if warm_up["is_steady"]:
        return words
    if samples == 1:
        return f"{words}, and one measured: not known to be steady"
    return f"{words}, and not steady: the {samples} measured ones vary by {warm_up['variation']:.1%}"


def _time(metric: str, answers: list[dict[str, Any]], circumstances: str = "") -> Measured:
    calls = steady_calls(answers)
    sentence = "; ".join(filter(None, [warm_up_words(answers), circumstances]))
    wall, cpu = ([each[name] for each in calls] for name in ("wall_seconds", "cpu_seconds"))
    return Measured(metric, wall, sentence, cpu=cpu)


def _cpu_time(metric: str, answers: list[dict[str, Any]]) -> Measured:
    return Measured(metric, [each["cpu_seconds"] for each in steady_calls(answers)])


def _circumstances(answers: list[dict[str, Any]]) -> str:
    """Return the JVM, its collector and its heap in words."""
    ready = answers[0]
    heap_gib = ready["heap_bytes"] / 2**30
    oops = "" if str(ready["compressed_oops"]).lower() == "true" else ", without compressed oops"
    return f"{ready['vm']}, {' and '.join(ready['collector'])}, heap of {heap_gib:.1f} GiB{oops}"
