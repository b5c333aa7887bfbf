"""Sockets of every server that the project starts: all at loopback, or in a network of their own."""

from __future__ import annotations

import ipaddress
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
import pytest

from format_bench.clusters.connection import connect
from format_bench.network import object_server as server
from format_bench.network.places import Link
from format_bench.network.proxy import Proxy
from tests.factories import dask_processes
from tests.helpers import ROOT

LISTEN = "0A"  # include/net/tcp_states.h

DASK_COMMAND = re.compile(r"^(?:srun )?(dask (?:scheduler|worker) -[^&\n]*)", re.MULTILINE)

# In a process of its own: Ray reads at its import where it listens.
RAY = """
from format_bench.parallel.engine import opened

with opened("ray", "local:1") as engine:
    engine.map(abs, [1])
    print(flush=True)
    input()
"""


def listening(*processes: psutil.Process) -> dict[str, bool]:
    """Return the listening sockets of processes and their children; True for private ones.

    Parameters
    ----------
    processes : psutil.Process
        Children are looked up as well.
    """
    own_network = Path("/proc/self/ns/net").readlink()
    found = {}
    for parent in processes:
        for process in [parent, *parent.children(recursive=True)]:
            # A command of a recipe may end between its listing and this line.
            with suppress(FileNotFoundError, ProcessLookupError, psutil.NoSuchProcess):
                is_apart = Path(f"/proc/{process.pid}/ns/net").readlink() != own_network
                for address, port in addresses_of(process.pid):
                    found[f"{process.pid} {process.name()} {address} {port}"] = (
                        is_apart or address.is_loopback
                    )
    return found


def addresses_of(pid: int) -> list[tuple[ipaddress.IPv4Address | ipaddress.IPv6Address, int]]:
    """Return where a process listens, of its own network; psutil sees that of the caller."""
    descriptors = Path(f"/proc/{pid}/fd").iterdir()
    own = set()
    for each in descriptors:
        with suppress(FileNotFoundError):  # closed since the listing
            own.add(str(each.readlink()))
    found = []
    for protocol in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{protocol}").read_text().splitlines()[1:]:
            local, _, state, *others = line.split()[1:]
            if state == LISTEN and f"socket:[{others[5]}]" in own:
                # Words of 32 bits in the order of this machine.
                host, _, port = local.partition(":")
                words = bytes.fromhex(host)
                ordered = b"".join(words[i : i + 4][::-1] for i in range(0, len(words), 4))
                address = ipaddress.ip_address(ordered)
                found.append((getattr(address, "ipv4_mapped", None) or address, int(port, 16)))
    return found


def assert_private(least: int, *processes: psutil.Process) -> None:
    """Check that there are so many sockets at least, so that the test sees any, all of them private."""
    found = listening(*processes)
    assert len(found) >= least, found
    assert all(found.values()), found


def test_an_open_socket_is_seen():
    code = "import socket, sys; s = socket.create_server(('', 0)); print(flush=True); input()"
    with started(sys.executable, "-c", code) as process:
        (is_private,) = listening(process).values()
        assert not is_private


class started:  # noqa: N801 (used as a function)
    """A process that has printed a line, which ends with the block."""

    def __init__(self, *command: str, folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def __enter__(self) -> psutil.Process:
        return psutil.Process(self._process.pid)

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()


def test_a_local_cluster():
    with connect("local:2", connect_seconds=300, workers_seconds=300) as client:
        client.wait_for_workers(2, timeout=300)
        # The scheduler with its pages, and a nanny and a worker for each of two.
        assert_private(6, psutil.Process())


@pytest.mark.slow
def test_local_processes_of_ray():
    pytest.importorskip("ray")
    with started(sys.executable, "-c", RAY) as process:
        assert_private(4, process)


@pytest.mark.parametrize("kind", [server.REAL, server.STAND_IN])
def test_an_object_server_and_its_proxy(kind, tmp_path):
    if kind == server.REAL and not server.availability():
        pytest.skip(server.availability().reason)
    with server.ObjectServer(tmp_path, kind) as objects, Proxy(objects.port):
        assert_private(2, psutil.Process())


@pytest.mark.parametrize("delays_only", [True, False])
def test_a_link(delays_only, tmp_path):
    with Link(tmp_path, delays_only=delays_only) as link:
        if link.kind == "delays" and not delays_only:
            pytest.skip(link.reason)
        link._proxy.open_port()
        assert_private(3, psutil.Process())


def test_the_preview_of_the_site(clone):
    bare = clone({".asv/quick/html/index.html": "the site"})
    (bare / ".venv").symlink_to(sys.prefix)
    touched = ("--assume-old=.venv/.installed", "--old-file=environment")
    with started("make", "preview", "PORT=0", *touched, folder=bare) as process:
        dask_processes.wait_for(lambda: listening(process))
        assert_private(1, process)


def test_documented_processes_of_dask(tmp_path):
    """A command of the manual has TLS, or listens at loopback, as the ones that are run here."""
    page = (ROOT / "docs/clusters.md").read_text(encoding="utf-8")
    page = page.replace("$pages", re.findall(r'^pages="(.*)"$', page, re.MULTILINE)[0])
    commands = DASK_COMMAND.findall(page)
    here = [shlex.split(each)[1:] for each in commands if "--host 127.0.0.1" in each]
    assert all("--protocol tls" in each or "--host 127.0.0.1" in each for each in commands)
    assert all("--dashboard-address 127.0.0.1:0" in each for each in commands)
    assert [command[0] for command in here] == ["scheduler", "worker"]
    with ExitStack() as stack:
        processes = [
            stack.enter_context(dask_processes.process(tmp_path, *each, "--port", "0"))
            for each in here[:1]
        ]
        dask_processes.wait_for((tmp_path / "scheduler.json").exists)
        processes.append(stack.enter_context(dask_processes.process(tmp_path, *here[1])))
        with connect(str(tmp_path / "scheduler.json"), connect_seconds=300, workers_seconds=300):
            assert_private(4, *(psutil.Process(each.pid) for each in processes))
