"""Limit of the copies that a training loader keeps of files on a server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, operations_of, registry_of

_FORM = re.compile(r"([1-9]\d?|100) ?%?")


class LocalCache(Axis):
    """Size of a local cache in percent of the files, the same for small and large samples."""

    name = "local cache"
    help = "Limit of a training loader's copies of a server's files, e.g. 25% of them. [default: none]"
    order = 70

    def parse(self, text: str) -> str:
        """Return the share, e.g. "25%"."""
        found = _FORM.fullmatch(text)
        if not found:
            raise InvalidRequestError(f"{self.option} {text}: write a share of the files, e.g. 25%")
        return f"{found[1]}%"

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (any share)
        """Return why a case keeps no such copies."""
        if not operations_of(case.family).measures_at_servers:
            return f"no {case.family.adapter} keeps copies of files on a server"
        if not case.conditions.keys() & {"link", "place"}:
            return "local files are not copied; --link or --place has them on a server"
        loader = registry_of(case.family).find(case.format)
        return "" if loader.limits_cache else f"{case.format} has no cache with a limit"

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Limit the cache of the loader."""
        operations.cache_share = int(value.rstrip("%")) / 100
        yield
