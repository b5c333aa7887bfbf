"""Removal of what the benchmark left in a bucket, and of nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import replace

import click
import pytest
from click.testing import CliRunner

from adapter_core.errors import ObjectStoreError
from format_bench.cli.main import main
from format_bench.network import leftovers
from format_bench.network.bucket import Bucket
from format_bench.network.leftovers import MARKER, Holder, find_leftovers, new_folder, write_lease
from format_bench.network.places import user_place
from tests.format_bench.network.test_uploads import incomplete_upload


def _run(*arguments):
    # Unlike the command itself, `main` turns errors into lines.
    return CliRunner().invoke(click.Command("main", callback=lambda: main([*arguments])))


def _clean(server, url, *options):
    endpoint = ("--endpoint", server.address(server.port).endpoint)
    return _run("clean", url, *endpoint, *options)


def abandoned_folder(below):
    """Return the folder of a measurement whose process was killed."""
    folder = new_folder(below)
    with subprocess.Popen(["true"]) as ended:
        pass
    write_lease(Bucket(folder), folder.key, replace(Holder.here(), process=ended.pid))
    return folder


def test_the_benchmarks_folders_are_removed_and_others_stay(store):
    server, _ = store
    bucket = server.bucket
    folder = abandoned_folder(server.address(server.port, "clean"))
    bucket.put(f"{folder.key}/table/part", b"12345")
    bucket.put("clean/precious", b"1")
    bucket.put("clean/format-bench-00000000/without a marker", b"1")
    upload = incomplete_upload(bucket, f"{folder.key}/big")
    other = incomplete_upload(bucket, "clean/other")
    done = _clean(server, "s3://benchmark/clean", "--dry-run")
    assert done.exit_code == 0
    assert f"object  s3://benchmark/{folder.key}/table/part  5 bytes" in done.output
    assert f"upload  s3://benchmark/{folder.key}/big  incomplete" in done.output
    assert "would be removed: 2 objects, 1 incomplete upload; 3 others stay" in done.output
    assert upload in bucket.uploads("clean/")
    done = _clean(server, "s3://benchmark/clean")
    assert "removed: 2 objects, 1 incomplete upload; 3 others stay" in done.output
    kept = {each.key for each in bucket.objects("clean/")}
    assert kept == {"clean/precious", "clean/format-bench-00000000/without a marker"}
    assert bucket.uploads("clean/") == [other]


def test_without_a_marker_nothing_is_removed(store):
    server, _ = store
    bucket = server.bucket
    bucket.put("private/table", b"1")
    # A marker elsewhere, and one with other contents, prove nothing.
    bucket.put(f"private/{MARKER}", b'{"program": "format-bench"}')
    bucket.put(f"private/format-bench-01234567/{MARKER}", b"other")
    done = _clean(server, "s3://benchmark/private")
    assert done.exit_code == 2
    assert "there is no folder format-bench-* with the marker" in done.output
    assert len(done.output.strip().splitlines()) == 1
    assert len(bucket.objects("private/")) == 3


def test_a_prefix_is_a_folder(store):
    server, _ = store
    folder = abandoned_folder(server.address(server.port, "some"))
    other = abandoned_folder(server.address(server.port, "something"))
    found = find_leftovers(server.address(server.port, "some"))
    assert found.folders == (f"{folder.key}/",)
    found = find_leftovers(other)
    assert found.folders == (f"{other.key}/",)


@pytest.mark.parametrize("url", ["gs://bucket/x", "file:///tmp", "s3://"])
def test_other_addresses_are_refused_in_a_line(store, url):
    server, _ = store
    done = _clean(server, url)
    assert done.exit_code == 2
    assert "only buckets of S3 can be listed" in done.output


def test_an_unreachable_server_is_a_line(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDONOTSHOWME")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secretsecret")
    done = _run("clean", "s3://b/p", "--endpoint", "http://127.0.0.1:1")
    assert done.exit_code == 2
    assert "GET failed" in done.output
    assert "AKIDO" not in done.output


def test_a_bucket_reports_the_servers_code(store):
    server, _ = store
    with pytest.raises(ObjectStoreError, match="404 NoSuchKey"):
        server.bucket.get("absent")


def test_the_folder_of_a_live_measurement_stays_and_what_it_writes_can_always_be_removed(store):
    server, _ = store
    bucket, below = server.bucket, server.address(server.port, "live")
    with user_place(below) as place:
        bucket.put(place.address("part 1").key, b"1")
        done = _clean(server, "s3://benchmark/live")
        assert done.exit_code == 0
        (said,) = [line for line in done.output.splitlines() if "is at work there; it stays" in line]
        assert f"{place.folder.key}/: process {os.getpid()} of " in said
        assert "removed: 0 objects, 0 incomplete uploads; 2 others stay" in done.output
        done = _clean(server, "s3://benchmark/live", "--force")
        assert "is at work there; its marker stays" in done.output
        assert "removed: 1 object, 0 incomplete uploads; 1 others stay" in done.output
        # As an earlier version would have done, and then the process would be killed.
        bucket.remove(f"{place.folder.key}/{MARKER}")
        bucket.put(place.address("part 2").key, b"1")
    assert bucket.objects("live/") == []


def test_a_marker_that_was_removed_comes_back_as_long_as_its_process_lives(store, monkeypatch):
    monkeypatch.setattr(leftovers, "REFRESH_SECONDS", 0.5)
    server, _ = store
    below = server.address(server.port, "back")
    with user_place(below) as place:
        marker = f"{place.folder.key}/{MARKER}"
        server.bucket.remove(marker)
        deadline = time.monotonic() + 20
        while marker not in {each.key for each in server.bucket.objects("back/")}:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_killed_measurement_of_another_machine_counts_as_live_for_a_while(store, monkeypatch):
    server, _ = store
    folder = new_folder(server.address(server.port, "far"))
    elsewhere = replace(Holder.here(), host="far", kernel="another", process=1)
    write_lease(server.bucket, folder.key, elsewhere)
    done = _clean(server, folder.url)
    assert re.search(r"process 1 of \S+ on far, since \S+ is at work there; it stays", done.output)
    monkeypatch.setattr(leftovers, "LIVE_SECONDS", -1.0)
    assert "removed: 1 object" in _clean(server, folder.url).output


def test_folders_of_versions_without_leases_are_removed(store):
    server, _ = store
    key = f"old/format-bench-01234567/{MARKER}"
    server.bucket.put(key, b'{"program": "format-bench", "remove with": "format-bench clean"}')
    assert "removed: 1 object" in _clean(server, "s3://benchmark/old").output
