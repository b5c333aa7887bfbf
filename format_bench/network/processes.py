"""Processes commanded through pipes: a JSON object a line there, and one back."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

from adapter_core.errors import LinkError
from format_bench.network.environment import client_environment


class Started:
    """Owner of processes and other resources until its block ends, or until its start fails."""

    def __init__(self) -> None:
        with ExitStack() as started:
            self._start(started)
            self._ending = started.pop_all()

    def _start(self, started: ExitStack) -> None:
        """Start everything, and have it ended by a stack."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything, the last first."""
        self._ending.close()


def end(process: subprocess.Popen[Any], limit_seconds: float = 5.0) -> None:
    """Ask a process to end, and kill it if it does not."""
    process.terminate()
    try:
        process.wait(limit_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class CommandedProcess(Started):
    """A module of this package in a process of its own, which ends with the block.

    Parameters
    ----------
    module : str
        Name of the module; it calls `answer_commands` or `serve_commands`.
    *arguments : str
        Arguments of the module.
    prefix : sequence of str
        Command that starts another, e.g. in a namespace; empty for none.
    environment : mapping of str to str, optional
        Environment variables besides `client_environment`.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        prefix: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._name = module.rpartition(".")[2]
        self._command = [*prefix, sys.executable, "-m", module, *arguments]
        self._environment = client_environment(environment)
        super().__init__()

    def _start(self, started: ExitStack) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own module)
            self._command,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if self._process.stdin is None or self._process.stdout is None:
            raise LinkError(f"the {self._name} has no pipes")
        self._commands, self._answers = self._process.stdin, self._process.stdout
        started.callback(self._end)

    def ask(self, limit_seconds: float = 60.0, **command: Any) -> Any:
        """Send a command and return its answer; for errors see `send` and `answer`."""
        self.send(**command)
        return self.answer(limit_seconds)

    def send(self, **command: Any) -> None:
        """Send a command, whose answer `answer` returns.

        Raises
        ------
        LinkError
            If the process ended.
        """
        try:
            self._commands.write(json.dumps(command) + "\n")
            self._commands.flush()
        except BrokenPipeError:
            raise LinkError(f"the {self._name} ended with status {self._process.wait()}") from None

    def answer(self, limit_seconds: float = 60.0) -> Any:
        """Return the answer to a command that `send` sent, or the first line of the process.

        Raises
        ------
        LinkError
            If the process ended, or has not answered within the limit; it is killed then.
        """
        if not select.select([self._answers], [], [], limit_seconds)[0]:
            self._process.kill()
            raise LinkError(f"the {self._name} has not answered after {limit_seconds:.0f} seconds")
        line = self._answers.readline()
        if not line:
            raise LinkError(f"the {self._name} ended with status {self._process.wait()}")
        return json.loads(line)

    def kill(self) -> None:
        """End the process by SIGKILL."""
        self._process.kill()
        self._process.wait()

    def _end(self) -> None:
        """Let the process end by closing its standard input; kill it if it does not."""
        for pipe in (self._commands, self._answers):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self.kill()


def answer_commands(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer each command of the standard input, until it ends."""
    # Libraries may print to the standard output, which belongs to the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)


async def serve_commands(first: Any, answer: Callable[[dict[str, Any]], Any]) -> None:
    """Print a first line, and answer commands beside the other tasks of a server.

    `answer` may be a coroutine function.
    """
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(commands), sys.stdin
    )
    print(json.dumps(first), flush=True)  # noqa: T201 (protocol)
    while line := await commands.readline():
        found = answer(json.loads(line))
        found = await found if asyncio.iscoroutine(found) else found
        print(json.dumps(found), flush=True)  # noqa: T201 (protocol)
