"""Sizes as users write them on the command line."""

from __future__ import annotations

import click

from format_bench.results.display.text import size_of


class Size(click.ParamType[int]):
    """Takes a size such as 4G; gives bytes."""

    name = "size"

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return bytes."""
        if isinstance(value, int):
            return value
        size_bytes = size_of(value)
        if size_bytes is None:
            self.fail(f"{value!r} is no size; write it as in 512M or 4G", param, ctx)
        return size_bytes
