"""Trials in a user's own bucket, and the removal of their objects."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from adapter_core.errors import ObjectStoreError
from format_bench.cli.main import main
from format_bench.network.leftovers import find_leftovers
from format_bench.network.places import user_place
from format_bench.network.trials import StepCost
from format_bench.results.load import load
from format_bench.studies import object_stores
from tests.format_bench.network.test_uploads import incomplete_upload


def _study(*arguments):
    # Unlike the command itself, `main` turns errors into lines.
    words = ["study", "object-stores", *arguments]
    return CliRunner().invoke(click.Command("main", callback=lambda: main(words)))


@pytest.mark.slow
def test_a_study_in_a_users_bucket_counts_requests_and_leaves_nothing(store, monkeypatch, tmp_path):
    server, _ = store
    server.bucket.put("mine/precious", b"1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.port}")
    options = ("--url", "s3://benchmark/mine", "--rows", "300", "--repeats", "1", "--out", str(tmp_path))
    done = _study("Parquet[polars]", *options)
    assert done.exit_code == 0, done.output
    assert "| Parquet[polars] | 0 | 1 | " in done.output
    assert "s at 20 ms" in done.output
    assert server.credentials.access_key not in done.output
    assert [each.key for each in server.bucket.objects("mine/")] == ["mine/precious"]
    found = load(tmp_path).records
    assert {each.conditions["link"] for each in found} == {"0 ms", "20 ms"}
    assert {each.conditions["place"] for each in found} == {"s3://benchmark/mine"}
    counts = {each.suite: each.value for each in found if each.metric == "remote save requests"}
    assert counts == {"remote": 1, "remote_arrays": 6}


def test_a_users_folder_is_removed_after_an_error_too(store):
    server, _ = store
    below = server.address(server.port, "broken off")

    def break_off():
        with user_place(below) as place:
            assert place.proxy is not None
            server.bucket.put(place.address("table/part").key, b"1")
            incomplete_upload(server.bucket, place.address("big").key)
            assert len(find_leftovers(below, with_live=True).objects) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert server.bucket.objects("broken off/") == []
    assert server.bucket.uploads("broken off/") == []


def test_without_a_proxy_requests_are_unknown():
    cost = StepCost("tables", "Parquet", "save", 0.0, 1.5, 0.25)
    text = object_stores.tables([cost])
    assert "| Parquet | - | - | - | - | - | 0.25 | 1.50 |" in text
    assert "20 ms" not in text


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("s3://b/p", "s3://b/p/format-bench-"),
        ("gs://b/p", "gs://b/p: only buckets of S3"),
        ("here", "here: only buckets of S3"),
    ],
)
def test_a_store_that_cannot_be_used_is_a_line(url, message):
    done = _study("Parquet", "--url", url, "--endpoint", "http://127.0.0.1:1")
    assert done.exit_code == 2
    assert message in done.output
    assert len(done.output.strip().splitlines()) == 1


def test_a_bucket_that_does_not_exist_is_refused_before_anything_is_written(store):
    server, _ = store
    below = server.address(server.port)
    with (
        pytest.raises(ObjectStoreError, match="404 NoSuchBucket"),
        user_place(type(below)("s3://absent/p", below.endpoint, anonymous=False)),
    ):
        pass
