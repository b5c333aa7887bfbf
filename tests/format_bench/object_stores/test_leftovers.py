"""Removal of what the benchmark left in a bucket, and of nothing else."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from adapter_core.errors import ObjectStoreError
from format_bench.cli.main import main
from format_bench.object_stores.leftovers import MARKER, find_leftovers, new_folder
from tests.format_bench.object_stores.test_uploads import incomplete_upload


def _run(*arguments):
    # Unlike the command itself, `main` turns errors into lines.
    return CliRunner().invoke(click.Command("main", callback=lambda: main([*arguments])))


def _clean(server, url, *options):
    endpoint = ("--endpoint", server.address(server.port).endpoint)
    return _run("clean", url, *endpoint, *options)


def test_the_benchmarks_folders_are_removed_and_others_stay(store):
    server, _ = store
    bucket = server.bucket
    folder = new_folder(server.address(server.port, "clean"))
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
    folder = new_folder(server.address(server.port, "some"))
    other = new_folder(server.address(server.port, "something"))
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
