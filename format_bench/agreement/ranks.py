"""How far two rankings agree: rank correlations, from 1 (the same order) to -1 (the opposite).

C. Spearman: The Proof and Measurement of Association between Two Things, American Journal of
Psychology 15, 1904; M. G. Kendall: The Treatment of Ties in Ranking Problems, Biometrika 33, 1945, for
tau-b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

LEAST = 3
"""Of fewer formats a correlation says nothing."""


def ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, 1 for the smallest; ties share their mean rank.

    Returns
    -------
    numpy.ndarray
        Shape (values,), dtype float64.
    """
    import numpy as np

    _, at, counts = np.unique(np.asarray(values, float), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[at]


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Spearman's rho; None for fewer than three values, or where one side has no order."""
    import numpy as np

    one, other = ranks(a), ranks(b)
    if len(one) < LEAST or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def kendall_tau_b(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, for which ties count neither way; None as for `spearman`."""
    import numpy as np

    signs = [np.sign(np.subtract.outer(side, side)) for side in (ranks(a), ranks(b))]
    untied = np.prod([np.abs(each).sum() for each in signs])
    if len(a) < LEAST or not untied:
        return None
    return float((signs[0] * signs[1]).sum() / np.sqrt(untied))
