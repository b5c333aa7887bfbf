"""Bucket's lists: pages of many objects, and incomplete uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.network.bucket import Bucket, IncompleteUpload


def incomplete_upload(bucket: Bucket, key: str) -> IncompleteUpload:
    """Start a multipart upload and leave it."""
    bucket._request("POST", key, {"uploads": ""})
    return next(each for each in bucket.uploads(key) if each.key == key)


def test_incomplete_uploads_are_listed_and_aborted(store):
    server, _ = store
    bucket = server.bucket
    upload = incomplete_upload(bucket, "uploads/a b+c")
    assert bucket.uploads("uploads/") == [upload]
    assert bucket.objects("uploads/") == []
    bucket.abort(upload)
    bucket.abort(upload)
    assert bucket.uploads("uploads/") == []


def test_objects_of_several_pages_are_listed(store, monkeypatch):
    server, _ = store
    bucket = server.bucket
    keys = [f"pages/{number}" for number in range(5)]
    for key in keys:
        bucket.put(key, b"123")
    request = bucket._request
    monkeypatch.setattr(
        bucket, "_request", lambda *a, query, **k: request(*a, query=query | {"max-keys": "2"}, **k)
    )
    assert [each.key for each in bucket.objects("pages/")] == keys
    assert {each.size_bytes for each in bucket.objects("pages/")} == {3}
