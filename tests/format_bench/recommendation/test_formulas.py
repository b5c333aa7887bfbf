"""Formulas in JavaScript: the part of Python that is translated; a browser compares the rankings."""

from __future__ import annotations

import pytest

from format_bench.recommendation import formulas


def doubled(value, pairs):
    """Return an expression."""
    return None if value == 0 else sum(each[0] * 2 for each in pairs)


def logged(value):
    """Return two statements."""
    print(value)
    return value


def power(value):
    """Return an operation without a translation."""
    return value**2


def filtered(values):
    """Return a generator without a translation."""
    return sum(each for each in values if each)


def test_a_formula_is_a_function_of_the_same_name():
    *_, line = formulas.as_script([doubled]).splitlines()
    assert line == (
        "const doubled = (value, pairs) => "
        "((value === 0) ? null : sum(pairs.map((each) => (each[0] * 2))));"
    )


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        (logged, "the formula logged is not one expression"),
        (power, r"no translation of 'value \*\* 2'"),
        (filtered, r"no translation of '\(each for each in values if each\)'"),
    ],
)
def test_a_formula_without_a_translation_is_an_error(formula, reason):
    with pytest.raises(SyntaxError, match=reason):
        formulas.as_script([formula])


def test_every_formula_of_the_module_is_in_the_script():
    own = {
        name
        for name, each in vars(formulas).items()
        if getattr(each, "__module__", "") == formulas.__name__ and not name.startswith("_")
    }
    assert {each.__name__ for each in formulas.FORMULAS} == own - {"as_script"}
