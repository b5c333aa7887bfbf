"""Place of the data of a step that reaches a server: a server of the benchmark's, or a user's bucket."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapter_core.credentials import without_secrets
from adapter_core.errors import InvalidRequestError
from format_bench.conditions.axes.link import reaches_no_server
from format_bench.conditions.axis import Axis

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.families.operations import Operations


class Place(Axis):
    """Folder in a bucket of S3, at the endpoint that the environment names."""

    name = "place"
    help = "Of the suites remote: your own bucket, as in s3://bucket/folder. [default: a server here]"
    order = 20

    def parse(self, text: str) -> str:
        """Return the address."""
        bucket = text.removeprefix("s3://").strip("/")
        if not text.startswith("s3://") or not bucket or without_secrets(text) != text:
            raise InvalidRequestError(f"{self.option}: write it as in s3://bucket/folder, without keys")
        return f"s3://{bucket}"

    def why_not(self, value: str, case: Case) -> str:  # noqa: ARG002 (any bucket)
        """Return why no step reaches a server."""
        return reaches_no_server(case)

    @contextmanager
    def under(self, value: str, operations: Operations) -> Iterator[None]:
        """Let the steps that reach a server do it there."""
        operations.bucket = value
        yield
