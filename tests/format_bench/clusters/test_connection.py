"""Connections to clusters: each form of the text, and one clear line for each failure."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import ssl
import subprocess
from contextlib import ExitStack
from pathlib import Path

import dask
import distributed  # noqa: F401 (its configuration is read at import)
import psutil
import pytest

from adapter_core.errors import ClusterError
from format_bench.clusters.connection import connect, version_differences
from tests.factories import dask_processes, slurm
from tests.helpers import ROOT

# On a busy machine a process may take long to start.
PAGE = ROOT / "docs/clusters.md"
PATIENT = {"connect_seconds": 300.0, "workers_seconds": 300.0}


def error_of(where: str, **seconds: float) -> str:
    with pytest.raises(ClusterError) as found, connect(where, **(PATIENT | seconds)):
        pass
    assert "\n" not in str(found.value)
    return str(found.value)


def test_local_processes_have_one_thread_and_the_limit_of_memory():
    with connect("local:2:300MiB", **PATIENT) as client:
        found = client.scheduler_info(n_workers=-1)["workers"].values()
        assert [(each["nthreads"], each["memory_limit"]) for each in found] == [(1, 300 * 2**20)] * 2
        assert len(set(client.run(os.getpid).values()) - {os.getpid()}) == 2


def test_a_scheduler_is_found_by_its_file_its_address_and_an_entry(tmp_path, monkeypatch):
    with dask_processes.scheduler(tmp_path) as path:
        address = json.loads(path.read_bytes())["address"]
        assert error_of(address, workers_seconds=0.2).endswith(
            "no worker has joined the scheduler within 0 seconds"
        )
        (tmp_path / "our_cluster.py").write_text(
            "from distributed import Client\n\n"
            f"def make():\n    return Client({address!r})\n\n"
            "number = 3\n"
        )
        monkeypatch.chdir(tmp_path)
        with dask_processes.workers(tmp_path, path, [{}]):
            for where in (str(path), address, "our_cluster:make"):
                with connect(where, **PATIENT) as client:
                    assert client.submit(pow, 2, 10).result() == 1024
        assert "is of the type int, not a Cluster or a Client" in error_of("our_cluster:number")
        assert "has no attribute 'made'" in error_of("our_cluster:made")


@pytest.fixture
def certificate(tmp_path):
    """Return a folder with the certificate and the configuration of docs/clusters.md, unused yet."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    page = PAGE.read_text(encoding="utf-8")
    (command,) = re.findall(r"^openssl req .*$", page, re.MULTILINE)
    folder = tmp_path / "certificate"
    folder.mkdir()
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True)
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (folder / "distributed.yaml").write_text(text.replace("/opt/dask", str(folder)))
    return folder


def configured(folder: Path) -> dask.config.set:
    """Return a context in which this process has Dask's configuration of a folder."""
    (found,) = dask.config.collect_yaml([str(folder)])
    comm = found["distributed"]["comm"]
    tls = dask.config.merge(dask.config.get("distributed.comm.tls"), comm["tls"])
    needed = {"distributed.comm.require-encryption": comm["require-encryption"]}
    return dask.config.set({"distributed.comm.tls": tls, **needed})


@pytest.mark.slow
def test_the_documented_certificate_keeps_others_out(certificate, tmp_path):
    with ExitStack() as stack:
        for command in re.findall(
            r"^dask ((?:scheduler|worker) --protocol tls .*)$", PAGE.read_text(), re.MULTILINE
        ):
            arguments = [
                *shlex.split(command.replace("/shared", str(tmp_path))),
                *(("--port", "0") if command.startswith("scheduler") else ()),
            ]
            configuration = {"DASK_CONFIG": str(certificate)}
            stack.enter_context(dask_processes.process(tmp_path, *arguments, **configuration))
            dask_processes.wait_for((tmp_path / "scheduler.json").exists)
        with configured(certificate), connect(str(tmp_path / "scheduler.json"), **PATIENT) as client:
            assert client.submit(pow, 2, 10).result() == 1024
            facts = client.scheduler_info(n_workers=-1)
            (worker,) = facts["workers"]
        without_certificate = ssl.create_default_context()
        without_certificate.check_hostname = False
        without_certificate.verify_mode = ssl.CERT_NONE
        for address in (facts["address"], worker):
            host, port = address.removeprefix("tls://").rsplit(":", 1)
            with (
                socket.create_connection((host, int(port))) as connection,
                pytest.raises(ssl.SSLError),
                without_certificate.wrap_socket(connection) as encrypted,
            ):
                encrypted.recv(1)
        plain = facts["address"].replace("tls:", "tcp:")
        assert "the scheduler does not answer" in error_of(plain, connect_seconds=1)
        assert "has no certificates" in error_of(facts["address"])


def test_dask_jobqueue_submits_jobs_to_slurm_and_cancels_them(certificate, tmp_path, monkeypatch):
    pytest.importorskip("dask_jobqueue")
    commands = slurm.install(tmp_path / "slurm")
    monkeypatch.setenv("PATH", f"{commands}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    # As docs/clusters.md has it, with one job.
    page = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(from dask_jobqueue .*?)```", page, re.DOTALL)
    (tmp_path / "slurm_cluster.py").write_text(code.replace("jobs=20", "jobs=1"))
    with configured(certificate), connect("slurm_cluster:make", **PATIENT) as client:
        (job,) = commands.glob("*.job")
        assert "#SBATCH --cpus-per-task=32" in job.with_suffix(".sh").read_text()
        ((address, pid),) = client.run(os.getpid).items()
        assert address.startswith("tls://")
        assert os.getsid(pid) == int(job.read_text())
    assert list(commands.glob("*.job")) == []
    dask_processes.wait_for(lambda: not psutil.pid_exists(pid))


@pytest.mark.slow
def test_workers_of_other_versions_and_without_the_project_are_refused(tmp_path):
    other = tmp_path / "other" / "cloudpickle-1.0.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: cloudpickle\nVersion: 1.0\n")
    hidden = tmp_path / "hidden"
    (hidden / "format_bench").mkdir(parents=True)
    (hidden / "format_bench" / "__init__.py").write_text("raise ImportError('not for this host')\n")
    path_before = os.environ.get("PYTHONPATH", "")
    with dask_processes.scheduler(tmp_path) as path:
        for first, words in (
            (other.parent, "versions differ: cloudpickle "),
            (hidden, "1 of 1 workers cannot import FormatBench, e.g. tcp://"),
        ):
            environment = {"PYTHONPATH": f"{first}{os.pathsep}{path_before}"}
            with dask_processes.workers(tmp_path, path, [environment]):
                assert words in error_of(str(path))


def test_an_unreachable_scheduler_is_reported_within_seconds():
    with socket.socket() as taken:  # bound, not listening: a free port that refuses
        taken.bind(("127.0.0.1", 0))
        where = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        assert f"--cluster {where}: the scheduler does not answer" in error_of(
            where, connect_seconds=0.5
        )


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("local:0", "write local:4, or local:4:1.5GiB"),
        ("local:two", "No module named 'local'"),
        ("local:2:much", "'much' is not a size; write e.g. 1.5GiB"),
        ("missing.json", "there is no such file; name a scheduler (tcp://host:8786)"),
        ("host.example:8786", "there is no such file; name a scheduler (tcp://host:8786)"),
        ("no_such_module:make", "No module named 'no_such_module'"),
        ("tls://127.0.0.1:1", "distributed.comm.tls of Dask's configuration has no certificates"),
    ],
)
def test_a_wrong_text_is_one_line(where, words):
    assert words in error_of(where, connect_seconds=0.5)


def test_a_file_that_is_no_scheduler_file_is_refused(tmp_path):
    path = tmp_path / "scheduler.json"
    path.write_text("[1, 2]")
    assert "not a scheduler file" in error_of(str(path))


def test_versions_that_differ_are_named_with_their_processes():
    def facts(dask: str, python: str = "3.11.7.final.0") -> dict[str, dict[str, str]]:
        return {"packages": {"dask": dask, "python": python}}

    equal = {"client": facts("1"), "scheduler": facts("1"), "workers": {"a": facts("1", "3.11.9")}}
    assert version_differences(equal) == []
    workers = {name: facts("2") for name in "abc"}
    assert version_differences({**equal, "workers": workers}) == [
        "dask 1 (client, scheduler), 2 (worker a, worker b and 1 more)"
    ]
