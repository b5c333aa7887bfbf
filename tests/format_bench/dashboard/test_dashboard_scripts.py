"""asv's scripts from a registry of packages, which here is a server of the test itself."""

from __future__ import annotations

import base64
import hashlib
import http.server
import io
import json
import shutil
import tarfile
import threading
from pathlib import Path

import pytest

from adapter_core import UnavailableError, errors
from adapter_core.errors import FetchError
from format_bench.dashboard import vendored
from format_bench.dashboard.vendored import File

needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on PATH")

SCRIPT = b"console.log('hello');\n"
FILE = File("toy", "1.2.3", "dist/toy.js")
ADDRESS = "https://cdn.example.org/toy.js"


def digest(content: bytes) -> str:
    return f"sha512-{base64.b64encode(hashlib.sha512(content).digest()).decode()}"


def page(address: str = ADDRESS, integrity: str = digest(SCRIPT)) -> str:
    return f'<script src="{address}" integrity="{integrity}" crossorigin="anonymous"></script>'


def archive() -> bytes:
    packed = io.BytesIO()
    files = {
        "package.json": json.dumps({"name": FILE.package, "version": FILE.version}).encode(),
        FILE.path: SCRIPT,
    }
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for name, content in files.items():
            member = tarfile.TarInfo(f"package/{name}")
            member.size = len(content)
            opened.addfile(member, io.BytesIO(content))
    return packed.getvalue()


@pytest.fixture
def registry(tmp_path, monkeypatch):
    """Return a function that starts a registry with one package, which npm then takes packages from."""
    servers = []

    def start(*, promised: bytes | None = None):
        content = archive()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                if self.path.endswith(".tgz"):
                    self.wfile.write(content)
                    return
                address = f"http://{self.headers['Host']}/toy.tgz"
                dist = {"tarball": address, "integrity": digest(promised or content)}
                version = {"name": FILE.package, "version": FILE.version, "dist": dist}
                facts = {
                    "name": FILE.package,
                    "dist-tags": {"latest": FILE.version},
                    "versions": {FILE.version: version},
                }
                self.wfile.write(json.dumps(facts).encode())

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        monkeypatch.setenv("npm_config_registry", f"http://127.0.0.1:{server.server_port}/")
        return server

    monkeypatch.setenv("npm_config_cache", str(tmp_path / "cache"))
    monkeypatch.setenv("npm_config_update_notifier", "false")
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.setattr(vendored, "SCRIPTS", {ADDRESS: (FILE, "")})


@needs_npm
@pytest.mark.usefixtures("toy")
def test_scripts_come_beside_the_page(registry):
    registry()
    text, files = vendored.vendored(page())
    assert files == {"vendor/toy-1.2.3-toy.js": SCRIPT}
    assert text == page("vendor/toy-1.2.3-toy.js")


@needs_npm
@pytest.mark.usefixtures("toy")
def test_what_was_fetched_before_needs_no_registry(registry):
    server = registry()
    before = vendored.vendored(page())
    server.shutdown()
    server.server_close()
    assert vendored.vendored(page()) == before


@needs_npm
@pytest.mark.usefixtures("toy")
def test_an_archive_that_is_not_the_promised_one_is_refused(registry):
    registry(promised=b"something else")
    with pytest.raises(FetchError, match="EINTEGRITY"):
        vendored.vendored(page())


@needs_npm
@pytest.mark.usefixtures("toy")
def test_a_file_that_is_not_the_known_one_is_refused(registry):
    registry()
    with pytest.raises(errors.VendoringError, match=r"dist/toy.js of toy 1\.2\.3 is not what it was"):
        vendored.vendored(page(integrity=digest(b"something else")))


@needs_npm
def test_a_file_that_is_not_in_the_package_is_told(registry):
    registry()
    with pytest.raises(
        FetchError, match=r"toy-1\.2\.3\.tgz from the npm registry holds no file other\.js"
    ):
        vendored.fetch([FILE._replace(path="other.js")])


@needs_npm
def test_a_registry_that_does_not_answer_is_told_in_one_line(registry, monkeypatch):
    registry()
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retry_mintimeout", "10")
    with pytest.raises(FetchError, match=r"npm cannot fetch toy@1\.2\.3: ") as told:
        vendored.fetch([FILE])
    assert "\n" not in str(told.value)


def test_without_npm_the_hint_names_it(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UnavailableError, match="npm"):
        vendored.fetch([FILE])


def test_a_script_that_is_not_known_is_told():
    with pytest.raises(errors.VendoringError, match=r"not known: https://cdn\.example\.org/toy\.js"):
        vendored.vendored(page())


def test_every_script_of_asvs_page_is_known():
    import asv

    text = Path(asv.__file__).with_name("www").joinpath("index.html").read_text(encoding="utf-8")
    links = list(vendored._LINK.finditer(text))
    assert {link["address"] for link in links} == set(vendored.SCRIPTS)
    assert text.count("https://") == len(links) + 1, "one more, to asv's own site"


@pytest.mark.parametrize(("value", "asked"), [("1", True), ("0", False), ("", False), (None, False)])
def test_the_switch(monkeypatch, value, asked):
    monkeypatch.delenv(vendored.SWITCH, raising=False)
    if value is not None:
        monkeypatch.setenv(vendored.SWITCH, value)
    assert vendored.is_asked_for() is asked
