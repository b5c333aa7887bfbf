"""Settings cards: how the files of a configuration are stored, and the advice of a format's makers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapter_core import BaseAdapter, Tunable
from adapter_core.codec_choice import DEFAULTS, RECOMMENDED, CodecChoice
from adapter_core.errors import FormatBenchError
from adapter_core.query_engine import EngineOnFormat
from adapter_core.snippets import keywords
from adapter_core.training_loader import TrainingLoader
from format_bench.families.operations import registry_of
from format_bench.results.candidates import OWN_DEFAULT, Configuration
from format_bench.results.suites import FAMILIES

NO_ADVICE = "no recommendation found"

_WHY = "so that formats are compared rather than codecs"


def card(
    adapter: BaseAdapter, settings: str = "", codec: str | None = None, level: int | None = None
) -> dict[str, str]:
    """Return the settings of an adapter's files in words, by name.

    Parameters
    ----------
    adapter : BaseAdapter
        Any adapter.
    settings : str
        "defaults", "recommended", or empty for the usual ones.
    codec : str, optional
        Codec of the usual settings; by default none.
    level : int, optional
        Its level.

    Raises
    ------
    UnsupportedError
        If the adapter has no such settings.
    """
    facts = adapter.file_facts
    if isinstance(adapter, EngineOnFormat):  # its files are saved by the format's adapter
        facts, adapter = adapter.facts_of_files, adapter.format
        settings, codec, level = "", adapter.default_codec if adapter.codecs else None, None
    parts = dict(facts.parts)
    if isinstance(adapter, CodecChoice):
        chosen, own_codec, own_level = adapter.with_settings(settings)
        codec, level = (own_codec, own_level) if settings else (codec, level)
        if settings == RECOMMENDED and adapter.recommended:
            parts |= adapter.recommended.parts
        saved = _saved(adapter, codec, level, chosen.options)
    else:
        saved = "the format's only settings"
    version = parts.pop("version", facts.version)
    found = {
        "saves with": saved,
        "the library's default": default_of(adapter),
        "files tell": "; ".join(filter(None, [f"version {version}" if version else "", _listed(parts)])),
        "files tell nothing": facts.silent,
        "threads": facts.threads,
        "reads": "map the file" if facts.mapped or getattr(adapter, "maps_files", False) else "",
        "why not the default": "" if settings else _why(adapter, codec),
        "its makers advise": advice_of(adapter),
        "tuned": adapter.tuning() if isinstance(adapter, Tunable) else "",
    }
    return {name: text for name, text in found.items() if text}


def default_of(adapter: BaseAdapter) -> str:
    """Return the library's own default: its codec, or that it has settings of its own."""
    if not isinstance(adapter, CodecChoice):
        return "no codec to choose"
    if adapter.default_codec:
        return adapter.default_codec
    if adapter.options or adapter.overridden_default:
        return "a codec of its own choice"
    return "no codec"


def advice_of(adapter: BaseAdapter) -> str:
    """Return the advice of a format's makers, with its options, date and address."""
    if isinstance(adapter, TrainingLoader) and adapter.advice:
        return "; ".join(f"{setting} ({page})" for setting, page in adapter.advice.items())
    advice = getattr(adapter, "recommended", None)
    if advice is None:
        return NO_ADVICE
    chosen = [_with_level(advice.codec, advice.level), keywords(**advice.options)]
    options = ", ".join(filter(None, chosen)) if getattr(adapter, "has_advice", False) else ""
    said = ": ".join(filter(None, [advice.words, options]))
    return f"{said} ({', '.join(filter(None, [*advice.source.split(), advice.seen]))})"


def text_of(configuration: Configuration) -> str:
    """Return the card of a configuration as lines.

    It is empty if its adapter is not known here, or if its settings are for queries.
    """
    way = configuration.error_bound or configuration.settings or configuration.track
    if configuration.family not in FAMILIES or way not in {"", DEFAULTS, RECOMMENDED}:
        return ""
    settings = DEFAULTS if configuration.codec == OWN_DEFAULT else way
    try:
        adapter: Any = registry_of(FAMILIES[configuration.family]).find(configuration.format)
        found = card(adapter, settings, configuration.codec, configuration.level)
    except FormatBenchError:  # results of another version, or of a package that is not installed here
        return ""
    return "\n".join(f"{name}: {text}" for name, text in found.items())


def _saved(
    adapter: CodecChoice, codec: str | None, level: int | None, options: Mapping[str, Any]
) -> str:
    words = [_with_level(codec, level), keywords(**options)]
    if codec is None and adapter.codecs:
        words.insert(0, "no codec")
    return ", ".join(filter(None, words)) or "nothing set"


def _with_level(codec: str | None, level: int | None) -> str:
    return f"{codec or ''}{'' if level is None else f' {level}'}"


def _listed(parts: Mapping[str, str | int]) -> str:
    counts = {
        name: f"up to {each:,} rows" if isinstance(each, int) else each for name, each in parts.items()
    }
    return "; ".join(f"{name}: {each}" for name, each in counts.items())


def _why(adapter: BaseAdapter, codec: str | None) -> str:
    """Return the usual settings, with the reason why they are not the library's default."""
    found = [adapter.file_facts.differs]
    if isinstance(adapter, CodecChoice) and codec is None:
        compresses = adapter.has_own_default or adapter.overridden_default == "codec"
        found.insert(0, f"no codec, {_WHY}" if compresses else "")
    return "; ".join(filter(None, found))
