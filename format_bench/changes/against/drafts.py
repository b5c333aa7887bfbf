"""Markdown of a comparison of two versions: a table for a pull request, and a draft of an issue."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.metadata import packages_distributions

from adapter_core.text import printable
from format_bench.changes.against.cause import Culprit, Shown, cell_name
from format_bench.changes.against.turns import Comparison
from format_bench.changes.against.verdicts import JudgedPair, Verdict, half_width
from format_bench.library_sets.replacement import ReplacedSet
from format_bench.metadata import machine
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.metrics import METRICS, Noise
from format_bench.results.records import Record

# Names of imported packages, in lines such as "import pandas as pd" or "from PIL import Image".
_IMPORTS = re.compile(r"^\s*(?:import|from) (\w+(?:, *\w+)*)", re.MULTILINE)


def pull_request(comparison: Comparison, rounds: int) -> str:
    """Return a comparison as Markdown: changed cells first, all others folded below."""
    before, after = comparison.before, comparison.after
    changed = comparison.changed
    valued = [each for each in comparison.pairs if not each.is_empty]
    others = [each for each in valued if not each.changed]
    cells = plural(len(valued), "cell")
    of = f"{len(changed)} of {cells} changed" if changed else f"no change beyond noise in {cells}"
    lines = [f"### {before.package} {before.version} → {after.version}: {of}", ""]
    if changed:
        lines += [*_table(changed, before, after), ""]
    lines += [*_circumstances(comparison, rounds), ""]
    if others:
        summary = f"<summary>{plural(len(others), 'cell')} without a change</summary>"
        lines += ["<details>", summary, "", *_table(others, before, after), "", "</details>", ""]
    lines += _reasons(each for each in comparison.pairs if each.is_empty)
    return "\n".join(lines).rstrip() + "\n"


def _reasons(pairs: Iterable[JudgedPair]) -> Iterator[str]:
    """Yield a line for each reason why cells have no value with either version."""
    reasons = Counter(
        " → ".join(dict.fromkeys(map(_value, (each.before, each.after)))) for each in pairs
    )
    for reason, number in reasons.most_common():
        yield f"- {plural(number, 'cell')} without a value: {reason}"


def _table(pairs: Iterable[JudgedPair], before: ReplacedSet, after: ReplacedSet) -> Iterator[str]:
    header = ["cell", before.version, after.version, "ratio", "95 % interval", "verdict"]
    rows = [
        [
            printable(cell_name(each.after)),
            _value(each.before),
            _value(each.after),
            "-" if each.ratio is None else format_ratio(each.ratio),
            "-" if each.interval is None else " to ".join(map(format_ratio, each.interval)),
            f"**{each.word}**" if each.changed else each.word,
        ]
        for each in pairs
    ]
    return table_lines(header, rows, "lrrrrl")


def _value(record: Record) -> str:
    if record.value is not None:
        return quantity(record.value, record.unit)
    return printable(f"{record.status}: {record.sentence}")


def _circumstances(comparison: Comparison, rounds: int) -> Iterator[str]:
    """Yield how it was measured, and how small a change would have been seen."""
    width = half_width(comparison.pairs)
    yield (
        f"Measured in turn, {plural(rounds, 'round')}, on {_machine()}. Ratios are after / before, and "
        "smaller is better. A cell has changed if chance would make any cell of the table differ so in "
        "1 % of comparisons, and if times differ by 5 %, memory by 3 %, sizes by 0.5 %."
    )
    if width is not None:
        yield f"Half of the intervals are narrower than ±{width:.1%}."
    if any(METRICS[each.after.metric].noise is Noise.MEMORY for each in comparison.pairs):
        yield "Ratios of memory are those with 1 MiB added to both, below which pages come and go."
    if others := comparison.before.differences(comparison.after):
        yield f"Other packages that had to differ: {joined(others)}."
    if unclear := sum(each.verdict is Verdict.UNCLEAR for each in comparison.pairs):
        yield f"{plural(unclear, 'cell')} had too few rounds for a verdict."


def _machine() -> str:
    cpu = machine.cpu()
    load = machine.load_average()
    facts = [f"{cpu['model']}, {cpu['usable']} CPUs", f"Python {platform.python_version()}"]
    return ", ".join([*facts, *([f"load {load[0]:.1f} at the end"] if load else [])])


def issue(shown: Shown, sides: tuple[ReplacedSet, ReplacedSet], culprit: Culprit | None) -> str:
    """Return the draft of an issue for the library's tracker, as Markdown.

    Parameters
    ----------
    shown : Shown
        The script, and its values with both versions.
    sides : pair of ReplacedSet
        The sets of both versions.
    culprit : Culprit, optional
        The release, if it was looked for and found.
    """
    before, after = sides
    package, ratio = before.package, format_ratio(shown.pair.ratio or 1.0)
    first = culprit.first_after if culprit else after.version
    script = shown.path.read_text(encoding="utf-8").rstrip()
    others = "".join(f" --with {each}" for each in _needed(script, after))
    start = f"uv run --no-project --isolated --python {platform.python_version()}{others}"
    commands = [f"{start} --with {package}=={each.version} python {shown.path.name}" for each in sides]
    paragraphs = [
        f"# {package} {first}: {shown.pair.after.metric} {ratio} times the value of {before.version}",
        "<!-- A draft: read it, run the script yourself, and attach its data. Nothing was sent. -->",
        _finding(shown.pair, before, after),
        *([_releases(culprit, before.version)] if culprit else []),
        f"```python\n{script}\n```",
        "\n".join(["```sh", *commands, "```"]),
    ]
    if differing := before.differences(after):
        paragraphs.append(f"Other packages that differed: {joined(differing, most=None)}.")
    return "\n\n".join(paragraphs) + "\n"


def _finding(pair: JudgedPair, before: ReplacedSet, after: ReplacedSet) -> str:
    low, high = map(format_ratio, pair.interval or (pair.ratio or 1.0,) * 2)
    times = f"{format_ratio(pair.ratio or 1.0)} times (95 %: {low} to {high})"
    text = (
        f"The script below takes {_value(pair.before)} with {before.package} {before.version} and "
        f"{_value(pair.after)} with {after.version}: {times}, the median of "
        f"{plural(len(pair.after.repeats), 'run')} each, in turn, on {_machine()}."
    )
    if pair.verdict is Verdict.SAME:
        text += " **That is no proof: the noise of the runs may explain it.**"
    return text


def _releases(culprit: Culprit, before: str) -> str:
    tried = "; ".join(
        f"{version} {'not tried' if ratio is None else format_ratio(ratio)}"
        for version, ratio in culprit.ratios.items()
    )
    return (
        f"The last release without it is {culprit.last_before}, the first with it {culprit.first_after}."
        + (f" Releases between, by the value of {before}: {tried}." if tried else "")
    )


def _needed(script: str, of: ReplacedSet) -> list[str]:
    """Return pins of the packages that a script imports, beside the compared one."""
    modules = {name for line in _IMPORTS.findall(script) for name in re.split(r"[\s,]+", line)}
    if "read_parquet" in script:
        modules.add("pyarrow")
    names = {each.lower() for name in modules for each in packages_distributions().get(name, ())}
    return [f"{name}=={version}" for name, version in of.pins.items() if name in names - {of.package}]
