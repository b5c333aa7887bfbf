"""Credentials of the remote: they are in no log, line, process list, published file or open file."""

from __future__ import annotations

import stat
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.factories.cron_sandbox import World
from tests.factories.git_server import serving
from tests.helpers import git

SECRET = "s3cret/T0ken?of+push"
TOKEN = quote(SECRET, safe="")
HEADER = "aGVhZGVyLW9mLXNvbWVib2R5"
MENTIONED = f"""
echo "fatal: unable to access 'https://bench:{TOKEN}@example.org/r.git/': no route, https://{TOKEN}@b.example"
echo "pip: https://example.org/simple?key={TOKEN}&more=1 has nothing"
echo "> Authorization: Basic {HEADER}"
echo "the password {SECRET} alone, and the header {HEADER}" >&2
"""


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path).make()
    made.next_set("2.0")
    git(made.remote, "config", "http.receivepack", "true")
    return made


@pytest.fixture
def server(world):
    """Serve the remote, with a token in the address that the checkout has for it."""
    with serving(world.folder, f"bench:{TOKEN}") as found:
        git(world.server, "remote", "set-url", "origin", f"{found.address}/remote.git")
        git(world.server, "config", "http.extraHeader", f"X-Token: {HEADER}")
        yield found


def has_secret(text: str) -> bool:
    return any(each in text for each in (TOKEN, SECRET, HEADER))


def files_of(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


def assert_hidden(world: World, server, done) -> None:
    """Look for the secrets wherever anybody else may read."""
    assert not has_secret(done.stdout + done.stderr)
    assert not has_secret("".join(world.notified()))
    assert [each for each in server.commands if has_secret(each)] == []
    assert any("git-remote-http" in each for each in server.commands)
    with_secret = [
        path for path in files_of(world.server) if has_secret(path.read_text(errors="replace"))
    ]
    # The user's own settings, and what git asks.
    assert {path.relative_to(world.server).as_posix() for path in with_secret} == {
        ".git/config",
        ".asv/credentials",
    }
    for path in ("credentials", "cron.log", "cron.lock", "monthly"):
        assert stat.S_IMODE((world.server / ".asv" / path).stat().st_mode) & 0o077 == 0, path
    for commit in git(world.remote, "rev-list", "--all").split():
        found = git(world.remote, "log", "-1", "--format=%B%an%ae", commit)
        names = git(world.remote, "ls-tree", "-r", "--name-only", commit).splitlines()
        contents = [git(world.remote, "show", f"{commit}:{name}") for name in names]
        assert not has_secret(found + "".join(contents))


def test_a_month_keeps_the_token_of_the_remote(world, server):
    world.at("run alpha", MENTIONED)
    (world.server / ".asv").mkdir()
    log = world.server / ".asv/cron.log"
    log.touch(0o644)
    done = world.run("2026-02-01")
    assert done.returncode == 0, done.stdout + done.stderr
    assert world.results() == {"2026-02": {"alpha": (2, 2), "beta": (2, 2)}}
    assert_hidden(world, server, done)
    lines = [line.partition("Z ")[2] for line in log.read_text().splitlines()]
    hidden = "<hidden>"
    for line in (
        f"fatal: unable to access 'https://{hidden}@example.org/r.git/': no route, https://{hidden}@b.example",
        f"pip: https://example.org/simple?{hidden} has nothing",
        f"> Authorization: {hidden}",
        f"the password {hidden} alone, and the header {hidden}",
    ):
        assert line in lines


def test_a_push_that_is_refused_is_reported_without_the_token(world, server):
    server.takes_pushes = False
    done = world.run("2026-02-01")
    assert done.returncode == 7
    assert "kept for the next run: git push failed" in world.notified()[-1]
    assert not has_secret(done.stdout + done.stderr + "".join(world.notified()))
    server.takes_pushes = True
    done = world.run("2026-02-02")
    assert done.returncode == 0
    assert_hidden(world, server, done)


def test_a_wrong_token_is_reported_without_it(world, server):
    server.expected = "another one"
    done = world.run("2026-02-01")
    assert done.returncode == 9
    assert "cannot be cloned" in world.notified()[-1]
    assert not has_secret(done.stdout + done.stderr + "".join(world.notified()))


def test_a_clone_of_before_forgets_the_token(world, server):
    git(world.folder, "clone", "--quiet", f"{server.address}/remote.git", str(world.clone))
    world.clone.chmod(0o755)
    server.commands.clear()
    done = world.run("2026-02-01")
    assert done.returncode == 0
    assert_hidden(world, server, done)


def test_the_dry_run_prints_no_token(world, server):
    done = world.run("2026-02-01", "--dry-run", CRON_NOTIFY=f"curl https://h.example/x?token={TOKEN}")
    assert done.returncode == 0
    address = server.address.partition("@")[2]
    assert f"remote: http://<hidden>@{address}/remote.git" in done.stdout
    assert not has_secret(done.stdout + done.stderr)


def test_a_name_without_a_password_is_kept_for_a_helper_that_has_one(world, server):
    path = world.folder / "helper"
    path.write_text(f"#!/bin/sh\nsed 's/^/asked /' >> {path}.log\necho 'password={SECRET}'\n")
    path.chmod(0o700)
    git(
        world.folder,
        "config",
        "--file",
        str(world.folder / ".gitconfig"),
        "credential.helper",
        str(path),
    )
    address = server.address.replace(f"bench:{TOKEN}", "bench")
    git(world.server, "remote", "set-url", "origin", f"{address}/remote.git")
    done = world.run("2026-02-01")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "asked username=bench" in Path(f"{path}.log").read_text()
