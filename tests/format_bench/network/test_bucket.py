"""Answers of servers that are none of S3: one line, status 2, and nothing of a user's elsewhere."""

from __future__ import annotations

import base64
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import click
import pytest
from click.testing import CliRunner

import data_formats
from adapter_core import RemoteFile
from adapter_core.errors import ObjectStoreError, RemoteWriteError
from data_generator import catalog
from format_bench.cli.main import main
from format_bench.network.bucket import Bucket


@contextmanager
def answering(body, status=200, **headers):
    """Serve one answer to all requests, and provide its address and the requests' headers."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append(dict(self.headers))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_DELETE = do_HEAD = do_POST = answer  # noqa: N815 (names of the library)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()


def _run(*words):
    # Unlike the command itself, `main` turns errors into lines.
    return CliRunner().invoke(click.Command("main", callback=lambda: main([*words])))


@pytest.fixture
def keys(monkeypatch):
    """Give the process credentials, and no profile."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDONOTSHOWME")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secretsecret")


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    "body",
    [
        b"<!doctype html><html><body>It works! <br></body>",
        b"<html xmlns='http://www.w3.org/1999/xhtml'><body/></html>",
        b"\x1f\x8b\x00\xff garbage",
        b"",
        b"{}",
        b"<ListBucketResult><Contents><Key>a</Key><Size>many</Size></Contents></ListBucketResult>",
    ],
    ids=["html", "xhtml", "bytes", "nothing", "json", "size"],
)
@pytest.mark.parametrize("command", ["clean", "study"])
def test_a_server_of_another_kind_is_one_line(command, body):
    words = {
        "clean": ("clean", "s3://b/p"),
        "study": ("study", "object-stores", "Parquet", "--url", "s3://b/p"),
    }[command]
    with answering(body) as (endpoint, _):
        done = _run(*words, "--endpoint", endpoint)
    assert done.exit_code == 2, done.output
    assert len(done.output.strip().splitlines()) == 1
    assert "Traceback" not in done.output
    assert endpoint in done.output or "without a size" in done.output


@pytest.mark.parametrize("label", ["Parquet[polars]", "Lance", "Delta", "Zarr"])
def test_an_emulator_of_azure_that_a_variable_names_is_not_asked(label, monkeypatch):
    with answering(b"") as (elsewhere, missed), answering(b"", 403) as (origin, seen):
        for name, value in {
            "AZURE_STORAGE_ACCOUNT_NAME": "account",
            "AZURE_STORAGE_ACCOUNT_KEY": base64.b64encode(b"k" * 32).decode(),
            "AZURE_STORAGE_USE_EMULATOR": "true",
            **dict.fromkeys(("AZURITE_BLOB_STORAGE_URL", "AZURE_STORAGE_ENDPOINT"), elsewhere),
        }.items():
            monkeypatch.setenv(name, value)
        file = RemoteFile("az://bucket/table", f"{origin}/account", anonymous=False, attempts=1)
        with pytest.raises(RemoteWriteError):
            data_formats.find(label).save_remote(catalog.table("core", 5).df, file)
        assert (missed, bool(seen)) == ([], True)


@pytest.mark.usefixtures("keys")
def test_a_signed_request_follows_no_redirection():
    with answering(b"") as (elsewhere, seen):
        with answering(b"", 307, Location=f"{elsewhere}/b") as (endpoint, _):
            bucket = Bucket(RemoteFile("s3://b/p", endpoint=endpoint, anonymous=False))
            with pytest.raises(ObjectStoreError, match="GET failed: 307"):
                bucket.objects()
        assert seen == []


@pytest.mark.usefixtures("keys")
def test_the_authorities_are_those_of_the_other_clients(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "authorities.pem"))
    bucket = Bucket(RemoteFile("s3://b/p", endpoint="https://127.0.0.1:1", anonymous=False))
    # It is read before a connection is made.
    with pytest.raises(ObjectStoreError, match="authorities"):
        bucket.objects()


@pytest.mark.parametrize(
    "endpoint", ["127.0.0.1:9000", "file:///etc", "http://", "http://h/path", "ftp://h"]
)
def test_an_endpoint_that_is_no_server_is_one_line(endpoint):
    done = _run("clean", "s3://b/p", "--endpoint", endpoint)
    assert done.exit_code == 2, done.output
    assert f"{endpoint}: no address of a server" in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_refusal_without_credentials_says_that_there_are_none(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "absent"))
    with answering(b"<Error><Code>AccessDenied</Code></Error>", 403) as (endpoint, seen):
        done = _run("clean", "s3://b/p", "--endpoint", endpoint)
    assert done.exit_code == 2
    assert "403 AccessDenied; there are no credentials" in done.output
    assert not any("Authorization" in each or "authorization" in each for each in seen)


def test_keys_come_from_either_file_of_profiles_and_its_server_is_asked_for(monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    config = tmp_path / "config"
    config.write_text(
        "[default]\nregion = eu-west-1\n"
        "[profile mine]\naws_access_key_id = AKIDOFMINE\naws_secret_access_key = mysecret\n"
        "s3 =\n  addressing_style = path\n"
        "[profile there]\nendpoint_url = http://127.0.0.1:1\n"
    )
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "absent"))
    monkeypatch.setenv("AWS_PROFILE", "mine")
    found = RemoteFile("s3://b/p", anonymous=False).credentials()
    assert found is not None
    assert (found.access_key, found.secret_key) == ("AKIDOFMINE", "mysecret")
    assert RemoteFile("s3://b/p").credentials() is None
    monkeypatch.setenv("AWS_PROFILE", "there")
    done = _run("clean", "s3://b/p")
    assert done.exit_code == 2
    assert "the profile there names a server; give it by --endpoint" in done.output
