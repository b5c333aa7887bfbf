"""Places and payloads that harmful files refer to, so that harm is seen: a folder, secret files, a listener."""

from __future__ import annotations

import os
import pickle
import socket
from pathlib import Path
from random import Random

SECRET = b"FUZZSECR"
"""Eight bytes of each secret file: they are found again in text, and in numbers that were read from it."""

MODULE = "fuzz_canary_module"
"""Module that does not exist; a reader that tries to import it follows the file."""


class _Call:
    """Object whose pickle calls a function."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call


class Canaries:
    """A folder outside of the trials' and a listener on the loopback interface, both to be left alone.

    Parameters
    ----------
    outside : Path
        The folder; it is made, with the secret files in it.
    """

    def __init__(self, outside: Path) -> None:
        self.outside = outside
        outside.mkdir(parents=True)
        self.touched = outside / "touched"
        self.secret = outside / "secret.csv"
        self.secret.write_bytes(b"a,b\n" + SECRET * 64 + b",1\n")
        # An address of this process' own: others may fuzz on this machine.
        self.listener = socket.create_server((f"127.83.{os.getpid() >> 8 & 255}.{os.getpid() & 255}", 0))
        self.listener.setblocking(False)  # noqa: FBT003 (the parameter has no name)
        self.url = "http://{}:{}/canary".format(*self.listener.getsockname())
        self._before = self._listed()

    def close(self) -> None:
        """Close the listener."""
        self.listener.close()

    def harm(self) -> str:
        """Return the harm that was done since the last call; empty if there was none."""
        found = []
        try:
            self.listener.accept()[0].close()
            found.append("network: the listener was connected to")
        except BlockingIOError:
            pass
        if self._listed() != self._before:
            found.append("write outside: files beside the secret were changed")
            self.touched.unlink(missing_ok=True)
            self._before = self._listed()
        return "; ".join(found)

    def _listed(self) -> list[tuple[str, int, int]]:
        files = ((path.name, path.stat()) for path in sorted(self.outside.iterdir()))
        return [(name, stat.st_size, stat.st_mtime_ns) for name, stat in files]

    def text(self, draw: Random) -> str:
        """Return a text that is harmful where it is taken for a path, an address, code or markup."""
        touch = f"touch {self.touched}"
        return draw.choice(
            (
                self.url,
                f"s3://canary/{self.touched}",
                str(self.secret),
                f"file://{self.secret}",
                f"../{self.outside.name}/secret.csv",
                str(self.touched),
                MODULE,
                f"{MODULE}.Class",
                f"__import__('os').system('{touch}')",
                f"$({touch})",
                f"|{touch}",
                "__class__",
                "\x1b]0;title\x07\x1b[31mred",
                "nul\0inside",
                "\ud800",
                "\u202eright to left",
                "",
                "a" * 70_000,
                "%s%n{0.__class__}",
                "nan",
                "line\nbreak\r\n",
            )
        )

    def pickle(self, draw: Random) -> bytes:
        """Return a pickle with an effect that is seen, by one of several ways to call."""
        touch = f"open({str(self.touched)!r}, 'w')"
        call = draw.choice(
            (
                _Call(os.system, f"touch {self.touched}"),
                _Call(eval, touch),
                _Call(exec, touch),
                _Call(os.mkdir, str(self.touched)),
                _Call(__import__, MODULE),
                _Call(getattr, {}, "clear"),
            )
        )
        # Wrapped in data, an effect may be followed by a value that looks right.
        wrapped = draw.choice((call, [call, "text"], {"a": call}))
        data = pickle.dumps(wrapped, protocol=draw.choice((0, 1, 2, 4)))
        return draw.choice((data, data, _STATES[draw.randrange(len(_STATES))]))


# Pickles by hand: of opcodes that name things in other ways, of states that NumPy takes unchecked, and of
# numbers of elements that nothing backs.
_STATES = (
    b"cnumpy\ndtype\n(S'O8'\nI00\nI01\ntR(I3\nS'|'\nNNNI-1\nI-1\nI63\ntb.",
    b"cnumpy\ndtype\n(S'i8'\nI00\nI01\ntR(I3\nS'<'\nNNNI1073741824\nI1\nI0\ntb.",
    b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    b"\x80\x02\x82\x01.",
    b"\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7f.",
    b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    b"(" * 5000 + b"t" * 5000 + b".",
    b"]" * 1 + b"(" + b"]" * 2000 + b"e.",
    b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I1000000000000\ntS'b'\ntR.",
    b"ccodecs\ndecode\n(S'x'\nS'zip'\ntR.",
    b"c_codecs\nencode\n(S'x'\nS'" + MODULE.encode() + b"'\ntR.",
)
