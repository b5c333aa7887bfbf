"""Program that reads a file as a user does: ``python -m tools.fuzz.contained TARGET PATH``.

It prints the outcome, and a phrase, as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from adapter_core.errors import FormatBenchError
from tools.fuzz.readers import TARGETS


def main(name: str, path: Path) -> None:
    """Read a file, and print the outcome."""
    read = TARGETS[name].contained
    assert read is not None
    try:
        read(path)
    except FormatBenchError as error:
        outcome = "refused" if str(error).isprintable() else "not one line", str(error)
    except Exception as error:
        outcome = "error", f"{type(error).__name__}: {error}"
    else:
        outcome = "read", ""
    print(json.dumps(outcome))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
