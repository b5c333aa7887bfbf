"""Settings of saves: a library's defaults, its makers' advice, or those that serve queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from adapter_core import Tunable
from adapter_core.codec_choice import DEFAULTS, RECOMMENDED, CodecChoice
from format_bench.conditions.axis import Axis
from format_bench.families.cases import Case
from format_bench.families.operations import Operations, operations_of, registry_of

TUNED = "tuned"


class Settings(Axis):
    """Settings that an adapter saves with; without any, files are not compressed."""

    name = "settings"
    help = "Settings of saves: defaults, recommended (by the format's makers), or tuned (for queries)."
    order = 25  # before checksums, which change the adapter that is left here
    changes_adapter = True

    def values(self) -> Sequence[str]:
        """Return the names of the settings."""
        return DEFAULTS, RECOMMENDED, TUNED

    def why_not(self, value: str, case: Case) -> str:
        """Return why an adapter has no such settings, or they are decided already."""
        if case.track:
            return f"the tracks of the suite {case.suite} decide how files are written (--tracks)"
        if case.codec:
            return f"settings decide the codec, and {case.codec} is asked for"
        adapter = registry_of(case.family).find(case.format)
        if value == DEFAULTS and (what := getattr(adapter, "overridden_default", "")):
            return f"{case.format} saves with another {what} than its library does by itself"
        if value == RECOMMENDED and not getattr(adapter, "recommended", None):
            return f"no advice of its makers on settings of {case.format} is known"
        if value == RECOMMENDED and not adapter.has_advice:
            return f"the makers of {case.format} advise its defaults"
        if value == TUNED and not isinstance(adapter, Tunable):
            return f"{case.format} has nothing to tune but the order of rows"
        if value == TUNED and not operations_of(case.family).tuning_keys(case.dataset)[0]:
            return f"{case.dataset} has no column that tuned files are sorted by"
        return ""

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let saves use the settings."""
        adapter = operations.adapter
        if value == TUNED:
            operations.tuned = operations.tuning_keys(operations.subject[0])
        elif isinstance(adapter, CodecChoice):
            chosen, codec, level = adapter.with_settings(value)
            operations.adapter, operations.unchecked = chosen, chosen.without_check()
            if adapter.codecs:
                operations.codec, operations.level = codec, level
        operations.warm_up()  # once more, as the codec may be another library
        yield
