"""Code to paste for the configurations of results."""

from __future__ import annotations

from adapter_core.codec_choice import DEFAULTS, RECOMMENDED, CodecChoice
from adapter_core.errors import FormatBenchError, UnsupportedError
from adapter_core.snippets import Code
from format_bench.families.operations import registry_of
from format_bench.results.candidates import OWN_DEFAULT, Configuration
from format_bench.results.suites import FAMILIES

SILENT = "its adapter declares none"


def code_of(configuration: Configuration) -> str:
    """Return the code that writes and reads a file of a configuration.

    It is empty if the adapter has none or is not known here, or if the file has parts that code does not
    show, e.g. the indexes of tuned settings.
    """
    try:
        return calls_of(configuration).text
    except FormatBenchError:  # results of another version, or of a package that is not installed here
        return ""


def calls_of(configuration: Configuration, path: str = "") -> Code:
    """Return the calls that write and read a file of a configuration, by default one of a usual name.

    Raises
    ------
    UnsupportedError
        If it has no code to paste; the message is the reason.
    FormatBenchError
        If the adapter, or its codec, is not known here.
    """
    way = configuration.error_bound or configuration.settings or configuration.track
    if configuration.family not in FAMILIES:
        raise UnsupportedError(f"{configuration.format} is of no family of data that is known here")
    if way not in {"", DEFAULTS, RECOMMENDED}:
        raise UnsupportedError(f"code to paste does not show how {way} files are written")
    adapter = registry_of(FAMILIES[configuration.family]).find(configuration.format)
    if not isinstance(adapter, CodecChoice):
        found = adapter.code(path=path)
    elif settings := DEFAULTS if configuration.codec == OWN_DEFAULT else way:
        chosen, codec, level = adapter.with_settings(settings)
        found = chosen.code(codec, level, path)
    else:
        found = adapter.code(configuration.codec, configuration.level, path)
    if found is None:
        reason = adapter.snippet or SILENT
        raise UnsupportedError(f"{configuration.format} has no code to paste: {reason}")
    return found
