"""Processes commanded through pipes: a JSON object a line there, and one back."""

from __future__ import annotations

import contextlib
import json
import select
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Self

from adapter_core.errors import LinkError
from format_bench.links.environment import client_environment


class CommandedProcess:
    """A module of this package in a process of its own, which ends with the block.

    Parameters
    ----------
    module : str
        Name of the module; it reads commands from its standard input and answers each by a line.
    *arguments : str
        Arguments of the module.
    prefix : sequence of str
        Command that starts another, e.g. in a namespace; empty for none.
    environment : mapping of str to str, optional
        Environment variables besides those of `client_environment`.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name = module.rpartition(".")[2]
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            [*prefix, sys.executable, "-m", module, *arguments],
            env=client_environment(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, limit_seconds: float = 60.0, **command: Any) -> Any:
        """Send a command and return its answer.

        Raises
        ------
        LinkError
            If the process ended, or has not answered within the limit; it is killed then.
        """
        self.send(**command)
        return self.answer(limit_seconds)

    def send(self, **command: Any) -> None:
        """Send a command, whose answer `answer` returns.

        Raises
        ------
        LinkError
            If the process ended.
        """
        stdin = self._process.stdin
        if stdin is None:
            raise LinkError(f"the {self._name} has no pipes")
        try:
            stdin.write(json.dumps(command) + "\n")
            stdin.flush()
        except BrokenPipeError:
            raise LinkError(f"the {self._name} ended with status {self._process.wait()}") from None

    def kill(self) -> None:
        """End the process by SIGKILL."""
        self._process.kill()
        self._process.wait()

    def answer(self, limit_seconds: float = 60.0) -> Any:
        """Return the answer to a command that `send` sent, or the first line of the process.

        Raises
        ------
        LinkError
            If the process ended, or has not answered within the limit; it is killed then.
        """
        stdout = self._process.stdout
        if stdout is None:
            raise LinkError(f"the {self._name} has no pipes")
        if not select.select([stdout], [], [], limit_seconds)[0]:
            self._process.kill()
            raise LinkError(f"the {self._name} has not answered after {limit_seconds:.0f} seconds")
        line = stdout.readline()
        if not line:
            raise LinkError(f"the {self._name} ended with status {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        """Let the process end by closing its standard input; kill it if it does not."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
