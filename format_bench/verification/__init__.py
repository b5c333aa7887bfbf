"""Comparison of the data read back with the data saved."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Diff:
    """The result of a comparison."""

    losses: tuple[str, ...] = ()
    """Changes that leave every value right, or that the adapter declares, as sentences."""
    errors: tuple[str, ...] = ()
    """All other changes, as sentences."""
    lost: int = 0
    """Number of columns, images, properties or fields with losses."""

    @property
    def exact(self) -> bool:
        """True without losses and errors."""
        return not self.losses and not self.errors
