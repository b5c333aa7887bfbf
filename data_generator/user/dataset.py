"""What a user brings: a data set like the generated ones, and what was done to it."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass

from data_generator.dataset import Dataset

NAME_CHARACTERS = 60


@dataclass(frozen=True)
class UserData(Dataset):
    """A user's table or images."""

    remarks: tuple[str, ...] = ()
    """What was changed or left out so that it can be measured, as clauses."""


def safe_name(text: str, taken: Container[str]) -> str:
    """Return a name that can be part of a file's, and is none of those that are taken."""
    name = re.sub(r"\W+", "_", text).strip("_")[:NAME_CHARACTERS] or "data"
    return f"own_{name}" if name in taken else name
