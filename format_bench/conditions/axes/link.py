"""Link to the server that a step reaches: a round-trip time, and a bandwidth if one is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.network.trials import Setting

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.families.operations import Operations


def reaches_no_server(case: Case) -> str:
    """Return why no step of a case reaches a server; empty if one does."""
    if any(each.name == "remote" for each in case.steps):
        return ""
    return f"the suite {case.suite} saves local files, unlike remote and remote_arrays"


class Link(Axis):
    """Round-trip time and bandwidth of the suites on object stores, made by the proxy."""

    name = "link"
    help = "To the server of the suites remote, as in 5ms,50ms/100Mbit. [default: 0 and 20 ms]"
    order = 60

    def parse(self, text: str) -> str:
        """Return the link as records have it, e.g. "50 ms, 100 Mbit/s"."""
        setting = Setting.of(text)
        if setting is None:
            raise InvalidRequestError(f"{self.option} {text}: write it as in 20ms or 20ms/100Mbit")
        return str(setting)

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (any link)
        """Return why no step reaches a server."""
        return reaches_no_server(case)

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let the steps that reach a server do it over the link."""
        operations.link = value
        yield
