"""Formulas of a ranking, for Python and, translated, for the chooser in a page.

Each is one expression on numbers and lists of them, in the part of Python that `as_script` translates:
arithmetic, comparisons, conditions, generators, and the functions of `_SCRIPT`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from math import exp, log
from statistics import fmean as mean
from typing import Any

Band = tuple[float, float]
"""The lowest and the highest value that noise allows."""


def mean_time(times: Sequence[float], values: Sequence[float]) -> float:
    """Return the mean value of a question of a mix, which is asked so many times."""
    return sum(number * value for number, value in zip(times, values, strict=True)) / sum(times)


def transferred(value: float, size: float, speed: float | None) -> float:
    """Return a time with the transfer of so many bytes; without a speed as it is."""
    return value + size / speed if speed else value


def log_factor(values: Sequence[float], best: Sequence[float], shift: float) -> float:
    """Return the logarithm of the geometric mean of (c + x) / (c + best) over data sets."""
    return mean(
        log((shift + value) / (shift + least)) for value, least in zip(values, best, strict=True)
    )


def weighted(logs: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted geometric mean of factors, given as logarithms."""
    return exp(sum(weight * each for weight, each in zip(weights, logs, strict=True)) / sum(weights))


def times_best(values: Sequence[float], best: Sequence[float]) -> float | None:
    """Return the geometric mean of ratios to the best; None where the best is 0 and the value is not."""
    return (
        None
        if any(least == 0 and value > 0 for value, least in zip(values, best, strict=True))
        else exp(
            mean(log(value / least) if least else 0 for value, least in zip(values, best, strict=True))
        )
    )


def best_place(own: Band, bands: Sequence[Band]) -> int:
    """Return the best place that a band allows among all bands, itself included."""
    return 1 + sum(each[1] < own[0] for each in bands)


def worst_place(own: Band, bands: Sequence[Band]) -> int:
    """Return the worst place that a band allows among all bands, itself included."""
    return len(bands) - sum(each[0] > own[1] for each in bands)


def is_tie(own: Band, first: Band) -> bool:
    """Return whether a band reaches the band of the first in the order of scores."""
    return own[0] <= first[1]


FORMULAS: tuple[Callable[..., Any], ...] = (
    mean_time,
    transferred,
    log_factor,
    weighted,
    times_best,
    best_place,
    worst_place,
    is_tie,
)

# What Python has, in JavaScript; a truth value counts as 0 or 1 in both.
_SCRIPT = {
    "any": "(list) => list.some(Boolean)",
    "exp": "Math.exp",
    "len": "(list) => list.length",
    "log": "Math.log",
    "mean": "(list) => sum(list) / list.length",
    "sqrt": "Math.sqrt",
    "sum": "(list) => list.reduce((total, each) => total + each, 0)",
    "zip": "(...lists) => lists[0].map((_, place) => lists.map((list) => list[place]))",
}

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.And: "&&",
    ast.Eq: "===",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
}


def as_script(formulas: Sequence[Callable[..., Any]] = FORMULAS) -> str:
    """Return the formulas in JavaScript, as functions of the same names.

    Raises
    ------
    SyntaxError
        If a formula has more than one expression, or one without a translation.
    """
    lines = [f"const {name} = {text};" for name, text in _SCRIPT.items()]
    for each in formulas:
        (function,) = ast.parse(inspect.getsource(each)).body
        *documentation, last = function.body  # type: ignore[attr-defined]
        if len(documentation) != 1 or not isinstance(last, ast.Return) or last.value is None:
            raise SyntaxError(f"the formula {each.__name__} is not one expression")
        names = ", ".join(inspect.signature(each).parameters)
        lines.append(f"const {each.__name__} = ({names}) => {_translated(last.value)};")
    return "\n".join(lines)


def _translated(node: ast.AST) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Constant(value=None):
            return "null"
        case ast.Constant(value=int() | float() as number):
            return str(number)
        case ast.Tuple(elts=parts):
            return f"[{', '.join(map(_translated, parts))}]"
        case ast.Subscript(value=of, slice=place):
            return f"{_translated(of)}[{_translated(place)}]"
        case (
            ast.BinOp(left=left, op=operator, right=right)
            | ast.Compare(left=left, ops=[operator], comparators=[right])
            | ast.BoolOp(op=operator, values=[left, right])
        ) if type(operator) in _OPERATORS:
            return f"({_translated(left)} {_OPERATORS[type(operator)]} {_translated(right)})"
        case ast.IfExp(test=test, body=body, orelse=other):
            return f"({_translated(test)} ? {_translated(body)} : {_translated(other)})"
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _SCRIPT:
            return f"{name}({', '.join(map(_translated, arguments))})"
        case ast.GeneratorExp(elt=body, generators=[ast.comprehension(target=each, iter=of, ifs=[])]):
            return f"{_translated(of)}.map(({_translated(each)}) => {_translated(body)})"
    raise SyntaxError(f"a formula has no translation of {ast.unparse(node)!r}")
