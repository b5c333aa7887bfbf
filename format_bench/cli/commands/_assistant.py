"""Tools of `format-bench mcp`, which read files below one folder alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, ParamSpec, TypeVar

import click

from adapter_core.errors import FormatBenchError, RefusedError, UserDataError
from adapter_core.text import printable
from format_bench.cli.commands.compare import to_json as comparison_to_json
from format_bench.cli.commands.list import SHORT
from format_bench.cli.commands.predict import answered
from format_bench.cli.options import load_source, measuring_console
from format_bench.comparison import compare
from format_bench.recommendation import Requirement, output, purposes, questions
from format_bench.recommendation.code import calls_of
from format_bench.recommendation.requirements import MEANINGS
from format_bench.results import published
from format_bench.results.candidates import Configuration
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.suites import FAMILIES
from format_bench.runner.plan import codec_choice
from format_bench.runner.user_data import Source

DEFAULT = "reports/run"

# Longer texts are no names of files, and would fill the messages that repeat them.
LONGEST = 500

Given = ParamSpec("Given")
Answer = TypeVar("Answer")

Listed = Literal[
    "formats", "datasets", "codecs", "suites", "conditions", "metrics", "presets", "requirements"
]


def in_one_line(tool: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """Return a tool whose errors are one line, without control characters."""

    @wraps(tool)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        try:
            return tool(*args, **kwargs)
        except (FormatBenchError, click.ClickException, OSError, ValueError) as error:
            message = error.message if isinstance(error, click.ClickException) else str(error)
            raise RefusedError(printable(message)[:LONGEST] or type(error).__name__) from None

    return call


@dataclass(frozen=True)
class Assistant:
    """Tools of an assistant; none writes, measures or reaches a network.

    Parameters
    ----------
    folder : Path
        The only folder whose files they read, an absolute path without links.
    """

    folder: Path

    @property
    def tools(self) -> Sequence[Callable[..., Any]]:
        """All tools; an assistant sees their names, types and docstrings."""
        every = (self.list_names, self.recommend, self.predict, self.show_code, self.compare)
        return [in_one_line(each) for each in every]

    def list_names(self, kind: Listed) -> list[dict[str, Any]]:
        """List formats, data sets, codecs, suites, metrics, presets ... with their facts."""
        if kind == "metrics":
            return [{"name": name, "unit": each.unit} for name, each in METRICS.items()]
        if kind == "presets":
            return [{"name": name, "purpose": each.purpose} for name, each in purposes.PRESETS.items()]
        if kind == "requirements":
            return [{"name": str(name), "meaning": meaning} for name, meaning in MEANINGS.items()]
        return SHORT[kind]()

    def recommend(
        self,
        results: str = DEFAULT,
        preset: str | None = None,
        weights: dict[str, float] | None = None,
        require: list[str] | None = None,
    ) -> dict[str, Any]:
        """Rank the formats in results, a folder or a bundle, by weights of metrics or a preset."""
        found, wish = load_source(self._place(results)), _wish(preset, weights, require)
        return output.to_json(questions.answered(found, wish))

    def predict(
        self,
        data: str,
        results: list[str] | None = None,
        preset: str | None = None,
        weights: dict[str, float] | None = None,
    ) -> dict[str, Any]:
        """Predict a ranking of formats for a table in a file, from results of other tables."""
        sources = [load_source(self._place(each)) for each in results or [DEFAULT]]
        wish = _wish(preset, weights, None)
        shown = measuring_console(quiet=True)
        answer, facts = answered(sources, Source(self._place(data), None), wish, shown)
        return output.to_json(answer) | {"prediction": facts}

    def show_code(self, label: str, codec: str = "none", family: str = "tables") -> dict[str, str]:
        """Return Python code that writes and reads a format, with a codec such as zstd or zstd:3."""
        _known(FAMILIES, family)
        name, level = codec_choice(codec)
        wanted = Configuration(label, name, level, family=family)
        return {"format": label, "code": calls_of(wanted).text}

    def compare(self, a: str, b: str) -> dict[str, Any]:
        """Compare two results cell by cell: ratios B / A, their significance, agreement of ranks."""
        one, other = (load_source(self._place(each)) for each in (a, b))
        return comparison_to_json(compare(one, other))

    def _place(self, text: str) -> str:
        """Return the absolute path of a file in the folder, or the name of published results.

        Raises
        ------
        UserDataError
            If it leads elsewhere.
        """
        if text in published.names():
            return text
        name, mark, part = text.partition("::")
        if len(text) > LONGEST or not name:
            raise UserDataError(f"{text[:40]!r} names no file")
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder):
            raise UserDataError(f"{name} is outside of the folder of this server")
        return f"{path}{mark}{part}"


def _wish(
    preset: str | None, weights: Mapping[str, float] | None, require: Sequence[str] | None
) -> purposes.Wish:
    if preset is not None:
        _known(purposes.PRESETS, preset)
    named = {Measure.named(name): weight for name, weight in (weights or {}).items()}
    known = {str(each): each for each in Requirement}
    return purposes.Wish(named, tuple(_known(known, each) for each in require or ()), preset)


def _known(names: Mapping[str, Answer], name: str) -> Answer:
    if name not in names:
        raise UserDataError(f"there is no {name[:40]!r}; known: {', '.join(names)}")
    return names[name]
