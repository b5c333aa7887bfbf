"""Claims of papers, judged by numbers of earlier measurements that are kept beside their declarations.

`findings/PAPER.csv` has the numbers of the manual's pages, as they were printed: of some measurements
nothing else is left. Where a page lacks numbers for the rule of a claim, the claim has the verdict that
was printed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from format_bench.results.display.text import joined
from format_bench.studies.declared import kept_numbers, study
from format_bench.studies.declared.blocks import Block, Context, Page
from format_bench.studies.declared.claims import Claim
from format_bench.studies.declared.kept_numbers import KeptNumber
from format_bench.studies.declared.verdicts import KINDS, Verdict


def numbers_of(paper: str) -> list[KeptNumber]:
    """Return the kept numbers of a paper, possibly none."""
    return kept_numbers.read(study.places()[paper].with_suffix(".csv"))


def verdicts(paper: str) -> dict[str, Verdict]:
    """Return the verdict of each claim of a paper."""
    return {claim.claim: verdict for _, claim, verdict in _judged(paper)}


def page(paper: str) -> Page:
    """Return the page of a paper's claims, with their counts."""
    return Page(study.read(paper).title, _question(paper), [_block(paper)])


def counts(context: Context) -> Iterator[Block]:
    """Yield the numbers of verdicts of each kind, a row for each paper."""
    del context
    rows = []
    for paper in study.papers():
        found = Counter(each.kind for each in verdicts(paper).values())
        numbers = (str(found[kind]) for kind in KINDS)
        rows.append([f"`{paper}`", study.read(paper).title, str(found.total()), *numbers])
    header = ["paper", "page", "claims", *KINDS.values()]
    yield Block(header=header, rows=rows, alignment="ll" + "r" * (1 + len(KINDS)))


def claims(context: Context) -> Iterator[Block]:
    """Yield the claims of each paper with their verdicts."""
    del context
    for paper in study.papers():
        found = _block(paper)
        text = f"{found.text} {_question(paper)}"
        yield replace(found, title=f"`{paper}`: {study.read(paper).title}", text=text)


def _block(paper: str) -> Block:
    return study.read(paper).findings(list(_judged(paper)))


def _question(paper: str) -> str:
    pages = joined(dict.fromkeys(each.page for each in numbers_of(paper)), most=None)
    return (
        f"The numbers are those of earlier measurements: of {pages}. Your own results are judged by "
        f"`format-bench study {paper} RESULTS`."
    )


def _judged(paper: str) -> Iterator[tuple[str, Claim, Verdict]]:
    declared = study.read(paper)
    seen = set()
    for place, claim, verdict in declared.judged(kept_numbers.results(paper, numbers_of(paper))):
        if claim.claim in seen:
            continue  # of a smaller size
        seen.add(claim.claim)
        if claim.kept:
            yield "", claim, Verdict(claim.kept["verdict"], claim.kept["evidence"])
        else:
            yield place, claim, verdict
