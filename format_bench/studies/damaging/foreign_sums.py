"""Tables that an adapter saves, and that a program in another language adds up."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import UnsupportedError, WrongValuesError
from data_generator.confinement.kernel import die_with
from format_bench.compatibility import foreign
from format_bench.families.cases import Case
from format_bench.families.operations import Measured, registry_of
from format_bench.families.tables.operations import TableOperations
from format_bench.results.status import WRONG
from format_bench.studies.damaging.damaged_reads import ADDED, ANSWER, ZERO, printed_sum

if TYPE_CHECKING:
    import pandas as pd

    from format_bench.compatibility.foreign import ForeignSum
    from format_bench.families.operations import Operations

# Programs add up in another order than NumPy.
_TOLERANCE = 1e-9

_BIG_ENDIAN = {"f": ">f8", "i": ">i4"}


@dataclass(frozen=True)
class SummedCase(Case):
    """A case whose file a program in another language reads."""

    by: str = ""
    """The label of a `ForeignSum`, e.g. "Avro[avro-java]"."""


def program_of(case: Case) -> ForeignSum | None:
    """Return the program that reads the file of a case; None if the adapter does."""
    return foreign.sums()[case.by] if isinstance(case, SummedCase) else None


@contextmanager
def summing_on(case: Case, by: ForeignSum, data: Path) -> Iterator[Operations]:
    """Provide the operations of a case on stored data, whose file a program reads."""
    adapter = registry_of(case.family).get(case.format)
    operations = SummedTables.on(data, adapter, case.codec, case.level, is_warm=False)
    operations.by = by
    yield operations


class SummedTables(TableOperations):
    """A table format whose files a program reads; what it printed is a table of one row."""

    by: ForeignSum

    def check(self, data: pd.DataFrame) -> None:
        """Raise `UnsupportedError` for other data than decays, or if the adapter cannot keep them."""
        if printed_sum(data) is None:
            raise UnsupportedError(f"{self.by.label} adds up decays, as in --dataset kaons")
        super().check(data)

    def read(self, file: Path) -> pd.DataFrame:
        """Return the number of rows, the printed sum, and the digest of all values.

        This process ends as the program did if that was a signal.

        Raises
        ------
        RuntimeError
            If the program ends with an error; the message is its last line.
        """
        import pandas as pd

        given = {"{file}": str(file.absolute()), "{added}": ",".join(ADDED), "{zero}": ",".join(ZERO)}
        # Libraries with threads, such as Lance, warn of forks; here a program follows at once.
        with warnings.catch_warnings(action="ignore"):
            done = subprocess.run(  # noqa: S603 (of the declaration)
                [given.get(each, each) for each in self.by.command],
                cwd=self.by.implementation.place,
                capture_output=True,
                text=True,
                check=False,
                # Else a program that hangs outlives this process, which is killed when its time is over.
                preexec_fn=partial(die_with, os.getpid()),
            )
        if done.returncode < 0:
            os.kill(os.getpid(), -done.returncode)
        if done.returncode:
            raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
        sys.stderr.write(done.stderr)
        return pd.DataFrame([json.loads(done.stdout)], columns=[*ANSWER])

    def verify(self, data: pd.DataFrame, found: Any) -> Measured:
        """Compare answers; the table's own is made here.

        Raises
        ------
        WrongValuesError
            If they differ.
        """
        if tuple(data.columns) == ANSWER:
            return super().verify(data, found)
        (answer,) = found.itertuples(index=False)
        is_same = (answer.rows, answer.digest) == (len(data), digest_of(data))
        if not (
            is_same
            and math.isclose(float(answer.sum), float(printed_sum(data) or "nan"), rel_tol=_TOLERANCE)
        ):
            raise WrongValuesError(f"{WRONG}{self.by.label} printed {answer}")
        return super().verify(found, found)


def digest_of(df: pd.DataFrame) -> str:
    """Return the CRC-32 of the names and the values, row by row, as programs print it."""
    import numpy as np

    rows = np.empty(len(df), [(name, _BIG_ENDIAN[df[name].dtype.kind]) for name in df.columns])
    for name in df.columns:
        rows[name] = df[name]
    return f"{zlib.crc32(rows.tobytes(), zlib.crc32(','.join(df.columns).encode())):08x}"
