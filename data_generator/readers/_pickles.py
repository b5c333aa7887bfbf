"""Loading of pickles that contain data alone, by a machine that cannot do anything else.

Opcodes are decoded by `pickletools`, and each value is made here, from numbers, text and bytes. Python's
own unpickler never sees the bytes: no name in them is imported, and NumPy gets no inner state from them.
"""

from __future__ import annotations

import codecs
import pickle
import pickletools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from adapter_core.errors import ForeignPickleError
from data_generator.readers import _pickled_values as values

DANGER = (
    "a pickle can run any program when it is loaded; if you trust where it comes from, "
    "add --trust-pickle"
)

NEWEST_PROTOCOL = 5
"""The newest one whose opcodes are known here."""

_OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}

_MARK = object()

# Opcodes whose argument is a value, and those that use the memo.
_VALUES = frozenset(
    "INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT UNICODE SHORT_BINUNICODE BINUNICODE "
    "BINUNICODE8 BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8".split()
)
_PUT = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_GET = frozenset({"GET", "BINGET", "LONG_BINGET"})


def loads(data: bytes, *, encoding: str = "ASCII") -> Any:
    """Return the value of a pickle that consists of data.

    Parameters
    ----------
    data : bytes
        The pickle; bytes after its end are ignored.
    encoding : str
        Of text that Python 2 wrote; ``bytes`` leaves it as bytes.

    Raises
    ------
    ForeignPickleError
        If it asks for something else than data; the message names the first such thing.
    UnicodeDecodeError
        If text of Python 2 has another encoding.
    pickle.UnpicklingError
        If it is damaged, or no pickle.
    """
    try:
        return _Machine(bytes(data), encoding).run()
    except (ForeignPickleError, UnicodeDecodeError, pickle.UnpicklingError, MemoryError):
        raise
    except Exception as error:
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from error


@contextmanager
def data_alone() -> Iterator[None]:
    """Let PyTables load pickles of data, and no others.

    Raises
    ------
    ForeignPickleError
        At the end, if another one was met: PyTables ignores errors of the pickles in attributes.
    """
    import tables.atom
    import tables.attributeset  # noqa: F401 (its attribute below)

    stand_in = _StandIn()
    changed = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("tables.") and getattr(module, "pickle", None) is pickle
    ]
    for module in changed:
        module.pickle = stand_in  # type: ignore[attr-defined]
    try:
        yield
    except Exception as error:
        raise stand_in.foreign or error  # noqa: B904 (one of the two)
    finally:
        for module in changed:
            module.pickle = pickle  # type: ignore[attr-defined]
    if stand_in.foreign:
        raise stand_in.foreign


class _StandIn:
    """Takes the place of the module `pickle` where pickles are loaded; has nothing to save them."""

    def __init__(self) -> None:
        self.foreign: ForeignPickleError | None = None

    def loads(self, data: bytes, *, encoding: str = "ASCII") -> Any:
        """Return the value of a pickle as `loads` does."""
        try:
            return loads(data, encoding=encoding)
        except ForeignPickleError as error:
            self.foreign = self.foreign or error
            raise


class _Machine:
    """The stack and the memo of a pickle; methods `op_*` carry out the opcodes of these names."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self._data, self._encoding = data, encoding
        self._stack: list[Any] = []

    def run(self) -> Any:
        """Carry out the opcodes until the last one, and return the value."""
        file, stack = BytesIO(self._data), self._stack
        memo: dict[int, Any] = {}
        while code := file.read(1):
            opcode = _OPCODES.get(code)
            if opcode is None:
                raise pickle.UnpicklingError(f"opcode {code!r} is unknown")
            name = opcode.name
            if name == "STRING":
                # Its reader in pickletools takes ASCII alone.
                raw = pickletools.read_stringnl(file, decode=False)
                stack.append(self._text(codecs.escape_decode(raw)[0]))
                continue
            argument: Any = opcode.arg.reader(file) if opcode.arg else None
            if name in _VALUES:
                stack.append(argument)
            elif name == "MEMOIZE":
                memo[len(memo)] = stack[-1]
            elif name in _GET:
                stack.append(memo[int(argument)])
            elif name in _PUT:
                memo[int(argument)] = stack[-1]
            elif name == "STOP":
                return values.finished(stack.pop())
            else:
                self._step(name)(argument)
        raise pickle.UnpicklingError("it has no end")

    def _step(self, name: str) -> Callable[[Any], None]:
        step: Callable[[Any], None] | None = getattr(self, f"op_{name.lower()}", None)
        if step is not None:
            return step
        # Text that is no pickle at all may begin with such an opcode too.
        if self._data.startswith(pickle.PROTO):
            raise ForeignPickleError(f"opcode {name}")
        raise pickle.UnpicklingError(f"opcode {name} is none of data")

    def _text(self, raw: bytes) -> str | bytes:
        return raw if self._encoding == "bytes" else raw.decode(self._encoding)

    def _after_mark(self) -> list[Any]:
        """Take the values above the last mark from the stack, and the mark."""
        place = len(self._stack) - 1
        while self._stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise pickle.UnpicklingError("a mark is missing")
        found = self._stack[place + 1 :]
        del self._stack[place:]
        return found

    def _top(self, kind: type) -> Any:
        """Return the value on top of the stack, which must be of a type."""
        if type(self._stack[-1]) is not kind:
            raise pickle.UnpicklingError(f"there is no {kind.__name__}")
        return self._stack[-1]

    def _push_tuple(self, count: int) -> None:
        found = tuple(self._stack[-count:])
        if len(found) < count or any(each is _MARK for each in found):
            raise pickle.UnpicklingError("a tuple lacks a value")
        self._stack[-count:] = [found]

    def op_proto(self, number: int) -> None:
        if number > NEWEST_PROTOCOL:
            raise pickle.UnpicklingError(f"protocol {number} is unknown")

    def op_frame(self, size: int) -> None:
        """Do nothing: frames are hints of how much to read at a time."""

    def op_mark(self, _: None) -> None:
        self._stack.append(_MARK)

    def op_none(self, _: None) -> None:
        self._stack.append(None)

    def op_newtrue(self, _: None) -> None:
        self._stack.append(True)

    def op_newfalse(self, _: None) -> None:
        self._stack.append(False)

    def op_binstring(self, text: str) -> None:
        self._stack.append(self._text(text.encode("latin-1")))

    op_short_binstring = op_binstring

    def op_empty_tuple(self, _: None) -> None:
        self._stack.append(())

    def op_empty_list(self, _: None) -> None:
        self._stack.append([])

    def op_empty_dict(self, _: None) -> None:
        self._stack.append({})

    def op_empty_set(self, _: None) -> None:
        self._stack.append(set())

    def op_tuple(self, _: None) -> None:
        self._stack.append(tuple(self._after_mark()))

    def op_tuple1(self, _: None) -> None:
        self._push_tuple(1)

    def op_tuple2(self, _: None) -> None:
        self._push_tuple(2)

    def op_tuple3(self, _: None) -> None:
        self._push_tuple(3)

    def op_list(self, _: None) -> None:
        self._stack.append(self._after_mark())

    def op_dict(self, _: None) -> None:
        self._stack.append(dict(_pairs(self._after_mark())))

    def op_frozenset(self, _: None) -> None:
        self._stack.append(frozenset(self._after_mark()))

    def op_append(self, _: None) -> None:
        value = self._stack.pop()
        self._top(list).append(value)

    def op_appends(self, _: None) -> None:
        found = self._after_mark()
        self._top(list).extend(found)

    def op_setitem(self, _: None) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._top(dict)[key] = value

    def op_setitems(self, _: None) -> None:
        found = self._after_mark()
        self._top(dict).update(_pairs(found))

    def op_additems(self, _: None) -> None:
        found = self._after_mark()
        self._top(set).update(found)

    def op_global(self, argument: str) -> None:
        self._stack.append(values.named(*argument.split(" ", 1)))

    def op_stack_global(self, _: None) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._stack.append(values.named(module, name))

    def op_inst(self, argument: str) -> None:
        raise ForeignPickleError(".".join(argument.split(" ", 1)))

    def op_reduce(self, _: None) -> None:
        arguments, called = self._stack.pop(), self._stack.pop()
        self._stack.append(values.made(called, arguments))

    def op_build(self, _: None) -> None:
        state = self._stack.pop()
        values.complete(self._stack[-1], state)


def _pairs(found: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(found[::2], found[1::2], strict=True)
