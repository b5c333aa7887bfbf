"""Costs of all entries of a race on typical data, by which later races order theirs.

    python -m tools.typical_costs [FAMILY ...]

measures each entry of each family in one process, and rewrites the rows of these
families in format_bench/results/typical_costs.csv. A busy machine does little harm: only the order of
entries follows from them. It takes some minutes a data set.
"""

from __future__ import annotations

import math
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from format_bench.families.operations import operations_of
from format_bench.instruments.isolation import Outcome
from format_bench.racing import promise
from format_bench.racing.entries import entries_of
from format_bench.racing.promise import NUMBERS, PIXELS, TEXT, TypicalCost
from format_bench.racing.session import Measurer
from format_bench.results import flat_csv
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.suites import FAMILIES
from format_bench.runner.user_data import Prepared

OUT = Path("format_bench/results/typical_costs.csv")

# Data, as many as take a second or less in most formats: table by kind, rows of a table, images, chunks.
DATA = {
    "tables": {NUMBERS: ("kaons", 10_000), TEXT: ("log", 10_000)},
    "images": {PIXELS: ("imagenet-like", 50)},
    "arrays": {NUMBERS: ("era5-small", 8)},
}

# Wall time of an entry, after which it has no value.
LIMIT_SECONDS = 30.0


def costs(family_name: str, kind: str, dataset: str, rows: int) -> list[TypicalCost]:
    """Measure all entries of a family on a data set, and return their factors to the best."""
    family, found = FAMILIES[family_name], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        operations = operations_of(family)
        shape = operations.store(operations.generate(dataset, rows), folder / "own")
        stored = Outcome((folder / "own", shape[1]))
        own = Prepared(dataset, family_name, shape[0], stored, "", None, ())  # type: ignore[arg-type]
        cases = entries_of(family, dataset, shape[0]).by_configuration
        measures = {
            Measure.at(metric, step.cache).comparable: 1.0
            for step in family.steps_of(family.suites[0])
            for metric in step.metrics
            if METRICS[metric].leader and METRICS[metric].noise is not Noise.MEMORY
        }
        (folder / "out").mkdir()
        measurer = Measurer(folder / "out", folder, own, cases, measures)
        for records in measurer.measure_each(LIMIT_SECONDS):
            found += records
            label = records[0].format if records else "no time left"
            print(f"{family_name}, {dataset}: {label}", file=sys.stderr, flush=True)
    today = datetime.now(UTC).date().isoformat()
    return [
        TypicalCost(
            *(family_name, entry.format, entry.codec or "", -1 if entry.level is None else entry.level),
            *(measure.option, kind, float(f"{math.exp(log):.3g}"), dataset, shape[0], today),
        )
        for entry, logs in promise.logs_of(found).items()
        for measure, log in logs.items()
    ]


def main(families: list[str]) -> None:
    """Rewrite the rows of some families, all by default."""
    for family in families or list(DATA):
        for kind, (dataset, number) in DATA[family].items():
            known = flat_csv.read(TypicalCost, OUT) if OUT.exists() else []
            rows = [each for each in known if (each.family, each.kind) != (family, kind)]
            rows += costs(family, kind, dataset, number)
            rows.sort(key=lambda each: (each.family, each.kind, each.format, each.codec, each.level))
            OUT.write_text(flat_csv.to_csv(TypicalCost, rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
