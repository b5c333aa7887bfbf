"""All questions, found by listing the folder `questions`, and their queries to a data set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnsupportedError
from format_bench.families.queries.subject import Subject

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core.query import Query
    from format_bench.families.queries.question import Question

FOLDER = Path(__file__).with_name("questions")


@cache
def queries() -> dict[str, Question]:
    """Return all questions by name, file by file in order of `ORDER`, then by file name."""
    modules = [import_module(f"{__package__}.questions.{path.stem}") for path in FOLDER.glob("[!_]*.py")]
    ordered = sorted(modules, key=lambda module: (module.PLACE, module.__name__))
    return {each.name: each for module in ordered for each in module.QUESTIONS}


def asked(dataset: str, tables: Mapping[str, pd.DataFrame]) -> dict[str, Query | str]:
    """Return the query of each question to a data set, or the reason why it is not asked, by name."""
    subject = Subject(dataset, tables)
    found: dict[str, Query | str] = {}
    for name, question in queries().items():
        try:
            found[name] = question.ask(subject)
        except UnsupportedError as error:
            found[name] = str(error)
    return found
