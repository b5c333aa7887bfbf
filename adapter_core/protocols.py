"""Composition of adapters of protocols, one for each concern beside saving and reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from adapter_core.codec_choice import CodecChoice


class Composed(CodecChoice):
    """An adapter that derives from the base class of its family and from protocols, e.g. `Streams`.

    A base class declares `_of_hook`.
    """

    _of_hook: ClassVar[dict[str, type]]
    """The protocol of each attribute that only the adapters of one protocol have."""

    def __init_subclass__(cls, hooks: Sequence[str] = (), **kwargs: Any) -> None:
        """Register a protocol of a family, or derive an adapter from the protocols of its hooks.

        Parameters
        ----------
        hooks : sequence of str, optional
            Attributes that only adapters of this protocol have.
        """
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "_of_hook") and "_of_hook" not in vars(cls):
            cls._of_hook.update(dict.fromkeys(hooks, cls))
            cls._derive_from(protocol for hook, protocol in cls._of_hook.items() if hook in vars(cls))

    @classmethod
    def _derive_from(cls, protocols: Iterable[type]) -> None:
        """Derive the class from protocols that it implements, if it does not name them as its bases.

        Adapters of other packages may override hooks without it, as all did until version 0.1.
        """
        # Not by issubclass, whose answers abstract classes keep.
        missing = [each for each in dict.fromkeys(protocols) if each not in cls.__mro__]
        if missing:
            family = next(each for each in cls.__mro__ if "_of_hook" in vars(each))
            own = [each for each in cls.__bases__ if each is not family]
            cls.__bases__ = (*own, *missing, family)
