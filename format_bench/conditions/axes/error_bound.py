"""Error bound of saved floats, which lossy codecs keep, and rounding before lossless ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from adapter_core.error_bounds import BoundKind, ErrorBound
from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, operations_of, registry_of

NONE = "none"


class MostError(Axis):
    """Most that any saved float may differ from its own value."""

    name = "error bound"
    help = "Most that floats may change by: abs 1e-3, rel 1e-3, range 1e-3, bits 99 %. [default: none]"
    order = 26  # after the settings, which decide the codec
    changes_adapter = True

    def parse(self, text: str) -> str:
        """Return the bound as records have it, e.g. "abs 0.001"; empty for none."""
        if text.strip().lower() == NONE:
            return ""
        try:
            return str(ErrorBound.parse(text))
        except ValueError as error:
            raise InvalidRequestError(f"{self.option} {text}: {error}") from error

    def why_not(self, value: str, case: Case) -> str:
        """Return why a case keeps no such bound."""
        if not operations_of(case.family).has_error_bounds:
            return f"the suite {case.suite} saves no arrays or tables, whose floats have error bounds"
        if not case.codec:
            return ""
        codec = registry_of(case.family).find(case.format).codec_named(case.codec)
        if not codec.error or BoundKind.RELATIVE in codec.bounds:
            return ""  # rounded before, or relative to the largest value
        if ErrorBound.parse(value).kind in {BoundKind.ABSOLUTE, BoundKind.RANGE}:
            return "" if codec.bounds else f"{case.format} takes no error bound for {case.codec}"
        return f"{case.codec} bounds the absolute error, and so none that is relative to each value"

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let saves keep the bound, and the comparison check it."""
        operations.keep_within(ErrorBound.parse(value))
        yield
