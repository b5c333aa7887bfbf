"""The adapters that are tested: the one that the command names, or all that are installed."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

import data_formats
import image_storages
from adapter_core import BaseAdapter, DataFormat, UnavailableError
from adapter_core.image_storage import ImageStorage

if TYPE_CHECKING:
    from adapter_core.codecs import Codec

FAMILIES: dict[str, tuple[type[BaseAdapter], Any]] = {
    "table": (DataFormat, data_formats),
    "image": (ImageStorage, image_storages),
}
"""What tests are about, with the base class of its adapters and the package that lists them."""


@dataclass(frozen=True)
class Choice:
    """One adapter to test."""

    label: str
    make: Callable[[], Any]

    def __str__(self) -> str:
        return self.label

    def codecs(self) -> tuple[Codec, ...]:
        """Return the codecs that it declares; none if the package that has it fails to load."""
        try:
            return tuple(getattr(self.make(), "codecs", ()))
        except UnavailableError:
            return ()


def chosen(config: pytest.Config, family: str) -> list[Choice]:
    """Return the adapters of a family to test, "table" or "image"."""
    base, package = FAMILIES[family]
    name = config.getoption("--adapter")
    if name is None:
        return [Choice(label, partial(package.find, label)) for label in package.names()]
    adapter = load(name)
    return [Choice(adapter.label, adapter)] if issubclass(adapter, base) else []


def load(name: str) -> type[BaseAdapter]:
    """Return the class that the command names.

    Raises
    ------
    pytest.UsageError
        If it is no adapter.
    """
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(
            f"--adapter {name}: give MODULE:CLASS, importable here: {error}"
        ) from error
    if not (isinstance(found, type) and issubclass(found, (DataFormat, ImageStorage))):
        raise pytest.UsageError(
            f"--adapter {name}: it is no adapter_core.data_format.DataFormat "
            "or adapter_core.image_storage.ImageStorage"
        )
    return found


def ready(choice: Choice, codec: Codec | None = None) -> Any:
    """Return an adapter that can work, with a codec if one is given; else the test is skipped."""
    try:
        adapter = choice.make()
    except UnavailableError as error:
        pytest.skip(str(error))
    answer = adapter.availability()
    if answer and codec:
        answer = adapter.codec_availability(codec.name)
    if not answer:
        pytest.skip(f"{choice}: {answer.reason}")
    return adapter
