"""Connection to a Dask cluster that exists, or to one of local processes.

A text names the cluster:

- `tcp://host:8786`, or another address of a scheduler (`tls`, `ws`, `wss`);
- the path of a scheduler file, as `dask scheduler --scheduler-file` writes it;
- `local:4` or `local:4:1.5GiB`: so many processes on this machine, of one thread each, with a limit of
  memory for each;
- `module:attribute`: a Cluster or a Client of Dask, or a function without arguments that returns one,
  e.g. of dask-jobqueue, dask-kubernetes or dask-gateway.
"""

from __future__ import annotations

import importlib
import json
import logging
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.availability import install_hint
from adapter_core.errors import ClusterError
from adapter_core.text import printable

if TYPE_CHECKING:
    from distributed import Client

# Time within which a scheduler answers. A scheduler in reach answers in milliseconds; Dask's default, 30
# s, is long for a mistyped address.
CONNECT_SECONDS = 10.0

# Time within which a first worker joins the scheduler. A worker imports Dask first, which takes seconds.
# Chosen, not measured.
WORKERS_SECONDS = 30.0

SCHEDULER_LOST = "the scheduler was lost; start it and the workers again"

COMPARED_PACKAGES = ("python", "dask", "distributed", "cloudpickle", "msgpack")
"""Packages whose versions client, scheduler and workers must share to understand each other."""

_ADDRESS = re.compile(r"(tcp|tls|ws|wss)://.+")
_LOCAL = re.compile(r"local:(?P<workers>[1-9]\d*)(:(?P<memory>.+))?")
_ENTRY = re.compile(r"(?P<module>[A-Za-z_][\w.]*):(?P<attribute>[A-Za-z_][\w.]*)")

_FORMS = (
    "name a scheduler (tcp://host:8786), a scheduler file, local:N, local:N:MEMORY, or module:attribute"
)
_INSTALL_HINT = install_hint("cluster")
# A reason is a part of one line on the terminal, and of a record.
_REASON_LENGTH = 300


@contextmanager
def connect(
    where: str,
    *,
    connect_seconds: float = CONNECT_SECONDS,
    workers_seconds: float = WORKERS_SECONDS,
) -> Iterator[Client]:
    """Give a client of a cluster with at least one worker; close at the end its own processes.

    Parameters
    ----------
    where : str
        The cluster; the module's docstring has the forms.
    connect_seconds : float
        Time within which the scheduler must answer.
    workers_seconds : float
        Time within which a first worker must join.

    Raises
    ------
    ClusterError
        If the text names no cluster, the scheduler does not answer, no worker joins, the versions of
        Dask differ, or a worker lacks FormatBench; in one line.
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(f"--cluster needs Dask ({error}); try: {_INSTALL_HINT}") from error
    # Their messages about lost connections would come between the lines of a run. Dask's own
    # configuration gives the second one a level of its own.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as stack:
        target = _target(where, stack)
        if isinstance(target, distributed.Client):
            client = target
        else:
            client = _client(where, target, connect_seconds)
            stack.callback(client.close)
        with _refused(where, f"no worker has joined the scheduler within {workers_seconds:.0f} seconds"):
            client.wait_for_workers(1, timeout=workers_seconds)
        _check_versions(client, where)
        _check_installed(client, where)
        yield client


def _target(where: str, stack: ExitStack) -> Any:
    """Return an address, a Cluster or a Client; the stack closes those made here."""
    if _ADDRESS.fullmatch(where):
        return where
    if local := _LOCAL.fullmatch(where):
        return _local_cluster(where, int(local["workers"]), local["memory"], stack)
    path = Path(where)
    if path.is_file():
        return _address_in(path)
    if entry := _ENTRY.fullmatch(where):
        return _of_entry(where, entry["module"], entry["attribute"], stack)
    if where.partition(":")[0] == "local":
        raise ClusterError(f"--cluster {where}: write local:4, or local:4:1.5GiB with a limit of memory")
    raise ClusterError(f"--cluster {where}: there is no such file; {_FORMS}")


def _local_cluster(where: str, workers: int, memory: str | None, stack: ExitStack) -> Any:
    from dask.utils import parse_bytes
    from distributed import LocalCluster

    with _refused(where, f"{memory!r} is not a size; write e.g. 1.5GiB or 800MB"):
        limit_bytes = parse_bytes(memory) if memory else 0
    with _refused(where, "its processes do not start: {reason}"):
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            # 0 is no limit; by default Dask would divide the memory of the machine.
            memory_limit=limit_bytes,
            # Without a host, Dask's pages are served on all interfaces; 0 is any free port.
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    return stack.enter_context(cluster)


def _address_in(path: Path) -> str:
    """Return the address in a scheduler file; Dask's own reader waits for ever for a missing one."""
    with _refused(path, "not a scheduler file; `dask scheduler --scheduler-file` writes one"):
        return str(json.loads(path.read_bytes())["address"])


def _of_entry(where: str, module: str, attribute: str, stack: ExitStack) -> Any:
    """Return the Cluster or the Client of an entry; close at the end one that a function made."""
    from distributed import Client
    from distributed.deploy.cluster import Cluster

    here = str(Path.cwd())
    if here not in sys.path:
        # The console script's path lacks the current folder, where a user's module is, as a rule.
        sys.path.insert(0, here)
    with _refused(where, f"{{reason}}; {_FORMS}"):
        found: Any = importlib.import_module(module)
        for name in attribute.split("."):
            found = getattr(found, name)
        is_made = callable(found) and not isinstance(found, (Client, Cluster))
        if is_made:
            found = found()
    if not isinstance(found, (Client, Cluster)):
        kind = type(found).__name__
        raise ClusterError(
            f"--cluster {where}: it is of the type {kind}, not a Cluster or a Client of Dask"
        )
    return stack.enter_context(found) if is_made else found


def _client(where: str, target: Any, connect_seconds: float) -> Client:
    from distributed import Client
    from distributed.security import Security

    is_encrypted = isinstance(target, str) and target.startswith(("tls:", "wss:"))
    if is_encrypted and Security().get_connection_args("client")["ssl_context"] is None:
        # Dask's client would raise, and wait for seconds when it is deleted.
        setting = "distributed.comm.tls of Dask's configuration"
        raise ClusterError(f"--cluster {where}: {setting} has no certificates; see docs/clusters.md")
    with _refused(where, "the scheduler does not answer: {reason}"), warnings.catch_warnings():
        # Differences of versions are an error of one line below.
        warnings.simplefilter("ignore")
        return Client(target, timeout=connect_seconds, set_as_default=False)


def _check_versions(client: Client, where: str) -> None:
    with _refused(where, "its versions are unknown: {reason}"):
        versions = client.get_versions()
    if different := version_differences(versions):
        raise ClusterError(f"--cluster {where}: versions differ: {'; '.join(different)}")


def version_differences(versions: Mapping[str, Any]) -> list[str]:
    """Return the differences between client, scheduler and workers, one phrase for each package.

    Parameters
    ----------
    versions : mapping
        As `distributed.Client.get_versions` returns them.
    """
    found = {"client": versions["client"], "scheduler": versions["scheduler"]}
    found |= {f"worker {address}": facts for address, facts in versions["workers"].items() if facts}
    phrases = []
    for package in COMPARED_PACKAGES:
        by_version: dict[str, list[str]] = {}
        for who, facts in found.items():
            by_version.setdefault(_comparable(package, facts["packages"].get(package)), []).append(who)
        if len(by_version) > 1:
            texts = (f"{version} ({_few(who)})" for version, who in by_version.items())
            phrases.append(f"{package} {', '.join(texts)}")
    return phrases


def _comparable(package: str, version: object) -> str:
    """Return a version; of Python's, only the parts that pickles depend on."""
    text = str(version)
    return ".".join(text.split(".")[:2]) if package == "python" else text


def _few(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")  # noqa: PLR2004


def _check_installed(client: Client, where: str) -> None:
    found: dict[str, Any] = client.run(_is_installed, on_error="return")
    errors = {address: error for address, error in found.items() if error is not True}
    if errors:
        address, error = next(iter(errors.items()))
        raise ClusterError(
            f"--cluster {where}: {len(errors)} of {len(found)} workers cannot import FormatBench, e.g. "
            f"{address}: {_reason(error)}; install it in their environment"
        )


def _is_installed() -> bool:
    """Return True; a worker that lacks this module cannot."""
    return True


@contextmanager
def _refused(where: str | Path, words: str) -> Iterator[None]:
    """Raise in place of an error one of a line: why a cluster cannot be used, with the `{reason}`."""
    try:
        yield
    except Exception as error:
        sentence = words.replace("{reason}", _reason(error))
        raise ClusterError(f"--cluster {where}: {sentence}") from error


def _reason(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return printable(text)[:_REASON_LENGTH]
