"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked."""

from __future__ import annotations


def human(value: float, unit: str) -> str:
    """Return a value with three digits and a unit of handy size, e.g. "1.25 ms" or "43 MB".

    Values of other units than seconds and bytes are counts or ratios, and come without a unit.
    """
    steps = _STEPS.get(unit, ((1, ""),))
    # 999.5 and more is rounded to the next unit's 1.
    fitting = [step for step in steps if value >= 0.9995 * step[0]]
    size, name = (fitting or steps[-1:])[0]
    return f"{float(f'{value / size:.3g}'):g} {name}".strip()


# From the largest to the smallest; the prefixes are those of the SI.
_STEPS = {
    "seconds": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
}
