"""Plans of tables beside a brute force over 24 layouts: ``python -m tools.check_table_plans``.

Three tables are asked two mixes of queries each. Each plan is measured with 24 layouts on a grid (orders
of rows, row groups, codecs, pages) in the same turns. Prints Markdown: the layouts, predicted and
measured times of a query of the mix, the gain over the defaults, and the ratio to the best of the 24.
Ends with status 1 if fewer than five of six plans are within 10 % of it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import TableLayout
from format_bench.instruments import threads
from format_bench.metadata import machine
from format_bench.planning.planner import GIVEN, QUERY_TIME, PlanRequest, Verified
from format_bench.planning.session import plan
from format_bench.results.display.text import format_ratio, quantity
from format_bench.runner.user_data import Source

if TYPE_CHECKING:
    import pandas as pd

    from format_bench.planning.plans import Plan

ENOUGH, NEAR = 5, 1.1
"""Plans of all six that must be within this ratio of the best layout of the brute force."""

GROUPS, CODECS, PAGES = (65_536, None), ("none", "zstd:1"), (None, 4_096)


def sensors(rows: int) -> pd.DataFrame:
    """Return readings of devices, in the order of time."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "time": pd.date_range("2024-01-01", periods=rows, freq="s"),
            "device": random.integers(0, 2_000, rows),
            "temperature": np.round(random.normal(20, 5, rows), 2),
            "load": random.random(rows),
            "status": random.choice(["ok", "warning", "failure"], rows, p=[0.9, 0.08, 0.02]),
        }
    )


def sales(rows: int) -> pd.DataFrame:
    """Return sales without order, with texts of few values."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "customer": random.zipf(1.3, rows) % 50_000,
            "day": random.integers(0, 1_500, rows),
            "country": random.choice([f"country {number}" for number in range(60)], rows),
            "product": random.choice([f"product number {number}" for number in range(3_000)], rows),
            "pieces": random.integers(1, 20, rows),
            "price": np.round(random.lognormal(3, 1, rows), 2),
            "discount": np.round(random.random(rows) * 0.3, 2),
        }
    )


def log(rows: int) -> pd.DataFrame:
    """Return requests to servers, roughly in the order of time, with texts of many values."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(3)
    paths = np.array([f"/items/{number}/view?page={number % 17}" for number in range(20_000)])
    return pd.DataFrame(
        {
            "at": np.arange(rows) * 10 + random.integers(0, 500, rows),
            "user": random.integers(0, 100_000, rows),
            "path": paths[random.zipf(1.2, rows) % len(paths)],
            "status": random.choice([200, 304, 404, 500], rows, p=[0.85, 0.1, 0.04, 0.01]),
            "bytes": random.lognormal(8, 2, rows).astype("int64"),
            "took": random.exponential(0.2, rows),
        }
    )


TABLES = {
    sensors: (
        ("lookups", "device", """
            [[question]]
            name = "a device"
            weight = 5
            columns = ["time", "temperature", "load"]
            where = [{ column = "device", operator = "==", value = 77 }]
            [[question]]
            name = "heat"
            columns = ["device", "temperature"]
            where = [{ column = "temperature", operator = ">", value = 38.0 }]
        """),
        ("summaries", "temperature", """
            [[question]]
            name = "by status"
            weight = 3
            group = "status"
            aggregates = ["count", "sum(temperature)", "max(load)"]
            [[question]]
            name = "cold ones"
            aggregates = ["count", "sum(load)"]
            where = [{ column = "temperature", operator = "<", value = 12.0 }]
        """),
    ),
    sales: (
        ("customers", "customer", """
            [[question]]
            name = "a customer"
            weight = 4
            columns = ["day", "product", "price"]
            where = [{ column = "customer", operator = "==", value = 1234 }]
            [[question]]
            name = "a product"
            columns = ["customer", "day", "pieces"]
            where = [{ column = "product", operator = "==", value = "product number 42" }]
        """),
        ("days", "day", """
            [[question]]
            name = "a month"
            weight = 3
            columns = ["country", "price", "discount"]
            where = [{ column = "day", between = [700, 730] }]
            [[question]]
            name = "by country"
            group = "country"
            aggregates = ["count", "sum(price)"]
        """),
    ),
    log: (
        ("errors", "status", """
            [[question]]
            name = "errors"
            weight = 2
            columns = ["at", "user", "path"]
            where = [{ column = "status", operator = "==", value = 500 }]
            [[question]]
            name = "an hour"
            columns = ["user", "bytes", "took"]
            where = [{ column = "at", between = [1000000, 1036000] }]
        """),
        ("users", "user", """
            [[question]]
            name = "a user"
            weight = 4
            columns = ["at", "path"]
            where = [{ column = "user", operator = "==", value = 4321 }]
            [[question]]
            name = "traffic"
            group = "status"
            aggregates = ["count", "sum(bytes)"]
        """),
    ),
}  # fmt: skip
"""Makers of tables; of each mix the name, a column to sort by in the brute force, and the questions."""


def grid(sort_by: str, other: str) -> tuple[TableLayout, ...]:
    """Return the 24 layouts of the brute force."""
    orders = ((), (sort_by,), (other,))
    return tuple(
        TableLayout(sort_by=order, group_rows=group, codec=codec, page_rows=page)
        for order, group, codec, page in itertools.product(orders, GROUPS, CODECS, PAGES)
    )


def row(name: str, found: Plan) -> tuple[list[str], bool]:
    """Return a row of the table on a plan, and whether it is near the best layout of the brute force."""
    own = [each for each in found.ranked if each.kinds != [GIVEN]]
    tried = [each for each in found.ranked if GIVEN in each.kinds]
    usual = next(each for each in found.ranked if found.planner.defaults[0] in each.kinds)
    chosen, best = own[0], min(tried, key=lambda each: each.seconds)
    ratio = chosen.seconds / best.seconds
    cells = [
        name,
        found.planner.brief(chosen.form),
        *_times(chosen),
        *_times(usual),
        format_ratio(usual.seconds / chosen.seconds),
        found.planner.brief(best.form),
        quantity(best.seconds, "seconds"),
        format_ratio(ratio),
        _error(found),
    ]
    return cells, ratio <= NEAR


def _times(each: Verified) -> tuple[str, str]:
    predicted = "-" if each.predicted is None else quantity(each.predicted, "seconds")
    return predicted, quantity(each.seconds, "seconds")


def _error(found: Plan) -> str:
    return "-" if found.prediction_error is None else f"{found.prediction_error:.0%}"


HEADER = [
    "table, mix", "plan", "predicted", "measured", "defaults predicted", "defaults measured", "gain",
    "best of 24", "measured", "plan / best", "median error of predictions",
]  # fmt: skip


def main() -> int:
    """Print the comparison; return 1 if too few plans are near the best of the brute force."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--budget", type=float, default=240.0, help="seconds for each plan")
    parser.add_argument("--store", default="Parquet[duckdb]")
    parser.add_argument("--cpu", action="store_true", help="compare CPU time, for busy machines")
    parser.add_argument("--only", default="", help="names of tables or mixes, with commas")
    options = parser.parse_args()
    load = os.getloadavg()
    cpu = machine.cpu()
    print(f"{cpu.get('model')}, {threads.cpus('all')} CPUs, {platform.platform()};", end=" ")
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; load {load[0]:.1f} before;", end=" ")
    print(f"{options.store}, {options.rows:,} rows, {'CPU' if options.cpu else 'wall'} time\n")
    print(f"| {' | '.join(HEADER)} |\n| {' | '.join(['---'] * len(HEADER))} |", flush=True)
    near = total = 0
    with tempfile.TemporaryDirectory() as folder:
        for make, mixes in TABLES.items():
            file = Path(folder, f"{make.__name__}.parquet")
            others = [column for _, column, _ in mixes][::-1]
            for (name, sort_by, questions), other in zip(mixes, others, strict=True):
                if options.only and not {make.__name__, name} & {*options.only.split(",")}:
                    continue
                if not file.exists():
                    make(options.rows).to_parquet(file)
                mix = Path(folder, f"{name}.toml")
                mix.write_text(questions, encoding="utf-8")
                found = plan(
                    PlanRequest(
                        mix,
                        Source(str(file)),
                        stores=(options.store,),
                        budget_seconds=options.budget,
                        scratch=Path(folder),
                        out=Path(folder, "results", name),
                        metric="query CPU time" if options.cpu else QUERY_TIME,
                        given=grid(sort_by, other),
                    ),
                    lambda line: print(line, file=sys.stderr),
                )
                cells, is_near = row(f"{make.__name__}, {name}", found)
                print(f"| {' | '.join(cells)} |", flush=True)
                near, total = near + is_near, total + 1
    print(f"\nWithin 10 % of the best of 24: {near} of {total}; load {os.getloadavg()[0]:.1f} after")
    return 0 if near >= min(ENOUGH, total) else 1


if __name__ == "__main__":
    sys.exit(main())
