"""Network of two namespaces, joined by a link with a round-trip time and a bandwidth.

Each namespace has a TUN device. A program in C, compiled at first use, carries packets from one to
the other, late and at a rate (relay.c). Thus TCP's handshakes, slow start and windows take the time
that they take between two machines. Where it exists, the kernel's own netem does the same.

https://docs.kernel.org/networking/tuntap.html
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from adapter_core.errors import LinkError
from format_bench.network.processes import Started

SERVER_HOST, CLIENT_HOST = "10.118.0.1", "10.118.0.2"
"""Addresses of both ends, in namespaces that nothing else is in."""

# Largest packet, as on Ethernet.
MTU_BYTES = 1500

_CLONE_NEWNET = 0x40000000  # sched.h
_TUNSETIFF = 0x400454CA  # linux/if_tun.h
_IFF_TUN, _IFF_NO_PI = 0x0001, 0x1000
_DEVICE = "link0"


class _End(NamedTuple):
    """A namespace and its device, as open descriptors."""

    namespace: int
    device: int


class LinkedNetwork(Started):
    """Two namespaces with a link between them, which exist until the block ends.

    Raises
    ------
    LinkError
        If this process may not create them, or a tool is missing; the sentence has the reason.
    """

    def __init__(self) -> None:
        for tool in ("ip", "nsenter", "cc"):
            if shutil.which(tool) is None:
                raise LinkError(f"no network with a link: {tool} is not installed")
        self._relay: subprocess.Popen[bytes] | None = None
        self._ends: list[_End] = []
        try:
            super().__init__()
        except (OSError, subprocess.CalledProcessError) as error:
            raise LinkError(f"no network with a link: {error}") from error

    def _start(self, started: ExitStack) -> None:
        self._program = _compiled(Path(started.enter_context(TemporaryDirectory())))
        for own, other in ((SERVER_HOST, CLIENT_HOST), (CLIENT_HOST, SERVER_HOST)):
            # A thread of its own enters the namespace, and ends here.
            with ThreadPoolExecutor(1) as thread:
                self._ends.append(thread.submit(_new_end, own, other).result())
            for descriptor in self._ends[-1]:
                started.callback(os.close, descriptor)
        started.callback(self._stop)

    @property
    def server_prefix(self) -> list[str]:
        """Return the command that starts another at the server's end."""
        return self._prefix(0)

    @property
    def client_prefix(self) -> list[str]:
        """Return the command that starts another at the client's end."""
        return self._prefix(1)

    def set(self, round_trip_seconds: float, bytes_per_second: float = 0.0) -> None:
        """Change the link; packets on the way are lost.

        Parameters
        ----------
        round_trip_seconds : float
            Delay of both directions together.
        bytes_per_second : float
            Bandwidth of each direction, headers of IP and TCP included; 0 if not limited.
        """
        self._stop()
        devices = [end.device for end in self._ends]
        delay_ns, bits = round(round_trip_seconds * 1e9 / 2), round(bytes_per_second * 8)
        self._relay = subprocess.Popen(  # noqa: S603 (our own program)
            [self._program, *map(str, (*devices, delay_ns, bits))], pass_fds=devices
        )

    def _prefix(self, end: int) -> list[str]:
        return ["nsenter", f"--net=/proc/{os.getpid()}/fd/{self._ends[end].namespace}"]

    def _stop(self) -> None:
        if self._relay is not None:
            self._relay.kill()
            self._relay.wait()
            self._relay = None


def _compiled(folder: Path) -> Path:
    source, program = resources.files(__package__).joinpath("relay.c"), folder / "relay"
    with resources.as_file(source) as path:
        command = ["cc", "-O2", "-pthread", "-o", str(program), str(path)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 (our own program)
    return program


def _new_end(own: str, other: str) -> _End:
    """Move the calling thread to a new namespace, and make its device."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET):
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")
    device = os.open("/dev/net/tun", os.O_RDWR)
    request = struct.pack("16sH22x", _DEVICE.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(device, _TUNSETIFF, request)
    # A process that this thread starts is in the thread's namespace.
    for command in (
        f"address add {own} peer {other} dev {_DEVICE}",
        f"link set {_DEVICE} mtu {MTU_BYTES} txqueuelen 10000 up",
    ):
        subprocess.run(["ip", *command.split()], check=True, capture_output=True)  # noqa: S603, S607
    # The proxy and the server behind it meet at loopback.
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True, capture_output=True)  # noqa: S607
    # Otherwise a connection starts at the speed at which the last one ended.
    Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1", encoding="ascii")
    return _End(os.open("/proc/thread-self/ns/net", os.O_RDONLY), device)
