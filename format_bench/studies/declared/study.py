"""Studies as declarations.

A study is a TOML file in `format_bench/studies/`, or in `findings/` there if it sets us beside a paper:
a question, the cells to measure, the claims to judge, the sections to show.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import click
import msgspec

from adapter_core.errors import InvalidResultsError
from format_bench import studies
from format_bench.report.charts.figures import Chart
from format_bench.report.model import SuiteResults
from format_bench.results.display.terminal import Output
from format_bench.results.load import Results, load, published_results
from format_bench.studies.declared import kept_numbers, picture, runs
from format_bench.studies.declared.blocks import Block, Context, Page, imported
from format_bench.studies.declared.claims import Claim
from format_bench.studies.declared.rows import earlier_results
from format_bench.studies.declared.sections import Section
from format_bench.studies.declared.selection import Numbers
from format_bench.studies.declared.verdicts import Verdict, counts_of

PAPERS = "findings"
"""Folder of the studies of papers."""


class Option(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An option of a study's command, whose value replaces ``{name}`` in the declaration."""

    help: str
    default: str | int | float | bool | list[str] = ""
    type: Literal["", "integer", "number"] = ""
    """Type of the values where there is no default."""
    metavar: str = ""
    at_least: float | None = None
    choices: list[str] = []
    is_argument: bool = False
    """Whether its values, any number of them, are given without its name."""
    of_page: bool = False
    """Whether it changes the page, and not the measurement."""
    on: str = ""
    """Text that replaces the name of a switch that is on, and nothing if it is off."""

    def parameter(self, name: str) -> click.Parameter:
        """Return the parameter of the command."""
        if self.is_argument:
            return click.Argument([name], nargs=-1, metavar=self.metavar or None)
        is_flag = isinstance(self.default, bool)
        kind: Any = None
        if self.type == "integer" or (isinstance(self.default, int) and not is_flag):
            kind = click.INT if self.at_least is None else click.IntRange(int(self.at_least))
        elif self.type == "number" or isinstance(self.default, float):
            kind = click.FloatRange(self.at_least)
        elif self.choices:
            kind = click.Choice(self.choices)
        return click.Option(
            [f"--{name}"],
            default=None if self.type and self.default == "" else self.default,
            type=kind,
            is_flag=is_flag,
            multiple=isinstance(self.default, list),
            show_default=not is_flag and bool(self.default),
            metavar=self.metavar or None,
            help=self.help,
        )


class Argument(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Names on the command line of a study; with commas they replace ``{name}`` in the declaration."""

    name: str
    metavar: str
    default: str = ""
    """The names if none are given."""

    @property
    def parameter(self) -> click.Argument:
        """The parameter of the command; a name is required unless there is a default, or "[...]"."""
        is_required = not (self.default or self.metavar.startswith("["))
        return click.Argument([self.name], nargs=-1, required=is_required, metavar=self.metavar)


class Folder(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The option --out of a study whose cells are measured into a folder of results."""

    default: str = ""
    """The folder without the option; if it is empty, results are not kept then."""
    page: str = ""
    """File of the page in the folder, with its picture as SVG and PNG beside it."""


class Study(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A declaration; comments in the files of papers show its fields in use."""

    title: str
    summary: str
    """First line of the command's help, as a sentence."""
    details: str = ""
    """Further text of the help."""
    menu: str = ""
    """Title of its page on the site, if it has one; the page's file is named after it."""
    question: str
    """The first paragraph of the page."""
    method: str = ""
    """How the numbers were made, the last section of the page."""
    suite: str = ""
    """The suite whose results are shown; none for a page on the adapters themselves."""
    needs: str = ""
    """Requirement of results, for the message about others."""
    requires: dict[str, Any] = {}
    """Selection of numbers of which there must be one."""
    instrument: str = ""
    """Instrument of the study where no suite measures it, as "module:name"."""
    examples: list[str] = []
    """Arguments of the command in its help, for a study with an instrument."""
    cells: dict[str, str | int | bool] = {}
    """Options of ``format-bench run`` that measure the study's cells; ``rounds``, and the ``seconds`` of
    a step's repeats in each. Formats may be "PAIR by FORMAT": files by another adapter."""
    further_cells: list[dict[str, str | int | bool]] = []
    """Further runs into the same results: options in place of those in `cells`, and `media`, folders on
    media with commas."""
    argument: Argument | None = None
    """Names that the command takes in place of RESULTS: the cells are measured for the page alone."""
    folder: Folder | None = None
    """Where the measured cells are kept, for a command that takes no RESULTS."""
    earlier: str = ""
    """The form of tables (.csv) that earlier versions wrote, "module:name" of a `StudyForm`."""
    published: str = ""
    """Name of the published results that are compared."""
    own_code: str = ""
    """File of the numbers of the paper's own code on a machine of ours, beside the declaration."""
    options: dict[str, Option] = {}
    claims: list[Claim] = []
    claims_on: str = "each"
    """"each" group of results, "all" together, or for each claim the "largest" group that has values."""
    explanations: dict[str, str] = {}
    """Reasons of disagreements, by label or by label and metric, e.g. "Parquet, read time"."""
    aliases: dict[str, str] = {}
    """Common names of codecs by the names that formats give them."""
    sections: list[Section] = []
    chart: str = ""
    """A function, "module:name", that returns the picture, in place of the one of the claims."""

    def page(self, results: Results, rows: Sequence[Any] = ()) -> Page:
        """Return the page on results, and on the rows that they were made of.

        Raises
        ------
        InvalidResultsError
            If they have none of the required numbers.
        """
        if not self.suite:
            nothing = Context(results, Numbers(SuiteResults("", []), (), {}), "", {})
            blocks = [block for each in self.sections for block in each.blocks(nothing)]
            return Page(self.title, self.question, blocks, self.method)
        numbers = Numbers.of(results, self.suite, self.aliases)
        is_measured = numbers.select(self.requires) if self.requires else numbers.suite.groups
        if not rows and not is_measured:
            raise InvalidResultsError(f"{results.name} has no {self.needs or f'values of {self.suite}'}")
        context = Context(results, numbers, self.published, self.explanations, rows)
        judged = self.judged(results)
        blocks = [*self._findings(judged), *(b for each in self.sections for b in each.blocks(context))]
        return Page(
            title=self.title,
            question=self.question,
            method=self.method,
            blocks=blocks,
            metadata=results.metadata,
            chart=self._chart(context, judged),
        )

    def _chart(self, context: Context, judged: picture.Judged) -> Chart | None:
        if not self.chart:
            return picture.chart(self.title, judged, self._of_paper())
        found: Chart | None = imported(self.chart)(context)
        return found

    def judged(self, results: Results, *, beside_paper: bool = True) -> list[tuple[str, Claim, Verdict]]:
        """Return the verdicts with the extent of the numbers that they are of, claim by claim.

        Parameters
        ----------
        results : Results
            Measured results.
        beside_paper : bool
            Whether claims on a whole table are judged by the published one.
        """
        suites = {each.suite or self.suite for each in self.claims}
        numbers = {suite: Numbers.of(results, suite, self.aliases) for suite in suites}
        scopes = {suite: each.scopes(largest_first=True) for suite, each in numbers.items()}
        of_paper = published_results(self.published) if self.published and beside_paper else None
        published = {
            suite: Numbers.of(of_paper, suite, self.aliases) if of_paper else None for suite in suites
        }
        found = []
        for claim in self.claims:
            suite = claim.suite or self.suite
            together = self.claims_on == "all" and not claim.of_one_size
            if together or claim.across or claim.untestable:
                found.append(("", claim, claim.judge(numbers[suite].merged(), published[suite])))
                continue
            each_scope = [
                (_extent(each), claim, claim.judge(each, published[suite])) for each in scopes[suite]
            ]
            measured = [each for each in each_scope if each[2].is_measured]
            if not measured and claim.of_one_size and each_scope:
                measured = [("", claim, each_scope[0][2])]
            elif not measured:
                measured = [("", claim, claim.judge(numbers[suite], published[suite]))]
            found += measured[:1] if self.claims_on == "largest" or claim.of_one_size else measured
        return found

    def _of_paper(self) -> dict[str, Verdict]:
        """Return the verdicts of the same rules on the published numbers, by claim."""
        if not self.published:
            return {}
        return _measured(self.judged(published_results(self.published), beside_paper=False))

    def _by_own_code(self) -> dict[str, Verdict]:
        """Return the verdicts of the same rules on the numbers of the paper's own code, by claim."""
        if not self.own_code:
            return {}
        path = Path(*studies.__path__, PAPERS, self.own_code)
        return _measured(self.judged(kept_numbers.results(path.stem, kept_numbers.read(path))))

    def _findings(self, judged: list[tuple[str, Claim, Verdict]]) -> list[Block]:
        return [self.findings(judged)] if judged else []

    def findings(self, judged: list[tuple[str, Claim, Verdict]]) -> Block:
        """Return the counts of verdicts, where the largest size counts, and a table of the claims."""
        of_paper, by_own_code = self._of_paper(), self._by_own_code()
        has_places = any(place for place, *_ in judged)
        published = {
            claim.claim: _published_words(claim, of_paper, by_own_code) for _, claim, _ in judged
        }
        has_figures = any(published.values())
        rows = []
        for place, claim, verdict in judged:
            is_said = bool(claim.ours) or not claim.our_definition
            ours = "" if is_said else f"Our definition: {claim.our_definition}"
            evidence = ". ".join(filter(None, [verdict.evidence, ours, claim.note]))
            row = [claim.claim, f"**{verdict.verdict}**", evidence]
            row += [published[claim.claim] or "-"] if has_figures else []
            rows.append([*row, place or "-"] if has_places else row)
        first = {claim.claim: verdict for _, claim, verdict in reversed(judged)}
        header = ["published finding", "here", "numbers here"]
        header += ["numbers published"] if has_figures else []
        rule = "Each verdict follows from the numbers beside it by a fixed rule."
        header += ["results"] if has_places else []
        return Block("Findings", f"{counts_of(first.values())} {rule}", header, rows, "l" * len(header))

    def measure(self, out: Path, shown: Output) -> Results:
        """Measure the study's cells that a folder of results lacks; return all cells."""
        # Nothing is measured on a medium that is not given.
        further = [each for each in self.further_cells if each.get("media") != ""]
        parts = [self.cells | each for each in ({}, *further)]
        return runs.measure(self.suite, parts, out, shown)

    def results_at(self, *places: Path) -> Results:
        """Return the results in folders or files, which earlier versions may have written."""
        first, *others = [
            earlier_results(imported(self.earlier), each)
            if self.earlier and each.suffix == ".csv"
            else load(each)
            for each in places
        ]
        records = [record for each in (first, *others) for record in each.records]
        metadata = [facts for each in (first, *others) for facts in each.metadata]
        return replace(first, records=records, metadata=metadata)

    def measured_by(self, out: str) -> list[str]:
        """Return the arguments of ``format-bench run`` that measure the study's cells into a folder."""
        words = []
        for name, value in self.cells.items():
            if value is not False and value != "":
                words += [f"--{name}"] if value is True else [f"--{name}", str(value)]
        return ["--suite", self.suite, *words, "--out", out]


def _measured(judged: Sequence[tuple[str, Claim, Verdict]]) -> dict[str, Verdict]:
    """Return the verdicts that follow from numbers, by claim; the first of each counts."""
    return {
        claim.claim: verdict
        for _, claim, verdict in reversed(judged)
        if verdict.is_measured and not claim.tried
    }


def _published_words(
    claim: Claim, of_paper: Mapping[str, Verdict], by_own_code: Mapping[str, Verdict]
) -> str:
    """Return the published figure, the paper's definition, and its numbers by the same rule.

    The verdict of its own code on a machine of ours follows, where that was run.
    """
    theirs, own = of_paper.get(claim.claim), by_own_code.get(claim.claim)
    definition = f"its definition: {claim.definition}" if claim.definition else ""
    words = [claim.published, definition, theirs.evidence if theirs else ""]
    words.append(f"its own code, run here: {own}, {own.evidence}" if own else "")
    return "; ".join(filter(None, words))


def _extent(numbers: Numbers) -> str:
    (group,) = numbers.suite.groups
    size = f"{group.rows:,}"
    return group.name if size in group.name else f"{group.name}, {size}"


RENAMED = {"analysis": "partial-reads"}
"""Names of today by names of earlier versions, which still call the study."""


def places() -> dict[str, Path]:
    """Return the files of all declarations by the names of their studies."""
    folders = [Path(each) for each in studies.__path__]
    files = [
        file for each in folders for folder in (each, each / PAPERS) for file in folder.glob("*.toml")
    ]
    return {each.stem.replace("_", "-"): each for each in sorted(files)}


def papers() -> list[str]:
    """Return the names of the studies that set us beside a paper."""
    return [name for name, path in places().items() if path.parent.name == PAPERS]


def read(name: str, **values: Any) -> Study:
    """Return a declared study.

    Parameters
    ----------
    name : str
        One of `places`.
    **values
        Values of its options; others have their defaults.

    Raises
    ------
    ValueError
        If the declaration is invalid.
    """
    path = places()[name]
    try:
        declared = tomllib.loads(path.read_text(encoding="utf-8"))
        options = declared.get("options", {})
        given = {each: option.get("default", "") for each, option in options.items()} | values
        switches = {each: option["on"] for each, option in options.items() if "on" in option}
        given |= {each: text if given[each] else "" for each, text in switches.items()}
        if "instrument" in declared:
            given = values  # others are for measuring: a page is of what was measured
        return msgspec.convert(_filled(declared, given), Study)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error


def _filled(declared: Any, values: dict[str, Any]) -> Any:
    """Return a part of a declaration with the values of options in its texts."""
    if isinstance(declared, dict):
        return {name: _filled(each, values) for name, each in declared.items()}
    if isinstance(declared, list):
        return [_filled(each, values) for each in declared]
    if isinstance(declared, str):
        for name, value in values.items():
            text = ";".join(value) if isinstance(value, list | tuple) else str(value)
            declared = declared.replace(f"{{{name}}}", text)
            if isinstance(value, int):
                declared = declared.replace(f"{{{name}:,}}", f"{value:,}")
    return declared
