"""Optional checksums of formats: written by saves, and verified by reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, registry_of

ON, OFF = "on", "off"


class Checksums(Axis):
    """Checksums that a format has, and that are off by default."""

    name = "checksums"
    help = "Optional checksums of the formats: on, off, or off,on. [default: off]"
    order = 30
    changes_adapter = True

    def values(self) -> Sequence[str]:
        """Return both."""
        return ON, OFF

    def parse(self, text: str) -> str:
        """Return the value; empty if off, which is the format as it is without the option."""
        return super().parse(text).replace(OFF, "")

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (there is one value)
        """Return why a format has no checksums to switch on, at all or with the codec."""
        adapter = registry_of(case.family).find(case.format)
        if not getattr(adapter, "checksums", ""):
            return f"{case.format} has no checksums that are off by default"
        codecs = adapter.checksum_codecs
        if codecs is not None and case.codec not in codecs:
            return f"{case.format} has checksums only with {', '.join(sorted(codecs))}"
        return ""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:  # noqa: ARG002 (likewise)
        """Switch the adapter's checksums on."""
        operations.adapter = operations.adapter.with_checksums()
        operations.unchecked = operations.adapter.without_check()
        yield
