"""Library set: another environment of Python, in whose interpreter cells are measured."""

from __future__ import annotations

import re

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.results.environments import own_environment
from format_bench.system import library_set

# One component of a path that is no option of a command.
_NAME = re.compile(r"[A-Za-z0-9][\w.+-]*")


class LibrarySet(Axis):
    """Names of environments below `library_set.folder`."""

    name = library_set.AXIS
    help = "Installed library sets, e.g. 2024-03,2026-11. [default: this environment]"
    order = 10  # further apart in time than others, as a set takes seconds to start

    def parse(self, text: str) -> str:
        """Return the name."""
        if not _NAME.fullmatch(text):
            raise InvalidRequestError(f"{self.option} {text}: a name has letters, digits, ., - and _")
        return text

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (of any set)
        """Return that an adapter has an environment of its own, if so."""
        own = own_environment(case.format, case.suite)
        return f"{case.format} is measured in its environment {own.name}" if own else ""

    def interpreter(self, value: str) -> str:
        """Return the Python of the set."""
        return library_set.interpreter(value)
