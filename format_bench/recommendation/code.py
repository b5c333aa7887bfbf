"""Code to paste for the configurations of results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.codec_choice import DEFAULTS, RECOMMENDED, CodecChoice
from adapter_core.errors import FormatBenchError
from format_bench.families.operations import registry_of
from format_bench.results.candidates import OWN_DEFAULT
from format_bench.results.suites import FAMILIES

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration


def code_of(configuration: Configuration) -> str:
    """Return the code that writes and reads a file of a configuration.

    It is empty if the adapter has none or is not known here, or if the file has parts that code does not
    show, e.g. the indexes of tuned settings.
    """
    way = configuration.settings or configuration.track
    if configuration.family not in FAMILIES or way not in {"", DEFAULTS, RECOMMENDED}:
        return ""
    try:
        adapter = registry_of(FAMILIES[configuration.family]).find(configuration.format)
        if not isinstance(adapter, CodecChoice):
            found = adapter.code()
        elif settings := DEFAULTS if configuration.codec == OWN_DEFAULT else way:
            chosen, codec, level = adapter.with_settings(settings)
            found = chosen.code(codec, level)
        else:
            found = adapter.code(configuration.codec, configuration.level)
    except FormatBenchError:  # results of another version, or of a package that is not installed here
        return ""
    return found.text if found else ""
