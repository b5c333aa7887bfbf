"""Contract tests of adapters in their environments: ``python -m tools.check_environments [NAME...]``.

Builds each environment that is missing, and runs the conformance kit, and the tests of all formats and
query engines, in its interpreter, with its adapters and no others. Without names, these are all
environments that have a lock. Exits with 1 if a test fails, or an environment cannot be built.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import query_engines
from adapter_core import FormatBenchError
from adapter_core import environments as own_environments
from format_bench.conformance.tiers import ENVIRONMENT
from format_bench.library_sets import environments

ROOT = Path(__file__).parents[1]
OF_FORMATS = (
    "format_bench/conformance",
    "tests/adapter_core/test_snippets.py",
    "tests/data_formats/test_column_sums.py",
    "tests/data_formats/test_features.py",
)
OF_ENGINES = "tests/query_engines"


def command(name: str, python: str) -> list[str]:
    """Return the command that tests the adapters of an environment in its interpreter."""
    has_engines = any(each.environment == name for each in query_engines.engines())
    tests = [*OF_FORMATS, *([OF_ENGINES] if has_engines else [])]
    return [python, "-m", "pytest", "-q", "--adapters", ENVIRONMENT, *tests]


def main(names: list[str]) -> int:
    """Test the adapters of environments, all others if one fails; return the exit status."""
    failed = []
    for name in names or own_environments.names():
        print(f"environment {name}", flush=True)
        try:
            place = environments.build(name)
        except FormatBenchError as error:
            print(error, file=sys.stderr)
            failed.append(name)
            continue
        done = subprocess.run(command(name, str(place / "bin" / "python")), cwd=ROOT, check=False)
        failed += [name] if done.returncode else []
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
