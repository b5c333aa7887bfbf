"""Sizes as users write them on the command line."""

from __future__ import annotations

import click

_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class Size(click.ParamType[int]):
    """Takes a size such as 4G; gives bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        if isinstance(value, int):
            return value
        text = value.strip().upper().removesuffix("B")
        unit = _UNITS.get(text[-1:], 1)
        number = text.rstrip("KMGT")
        if not number.isdecimal():
            self.fail(f"{value!r} is no size; write it as in 512M or 4G", param, ctx)
        return int(number) * unit
