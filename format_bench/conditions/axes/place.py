"""Place of the data of a step that reaches a server: a server of the benchmark's, or a user's bucket."""

from __future__ import annotations

from adapter_core.credentials import has_secret
from adapter_core.errors import InvalidRequestError
from format_bench.conditions.servers import ServerAxis
from format_bench.families.operations import Operations


class Place(ServerAxis):
    """Folder in a bucket of S3, at the endpoint that the environment names."""

    name = "place"
    help = "Save to and read from your own bucket, e.g. s3://bucket/folder. [default: local files]"
    is_place = True
    order = 20

    def parse(self, text: str) -> str:
        """Return the address."""
        bucket = text.removeprefix("s3://").strip("/")
        is_folder = text.startswith("s3://") and bucket and not {*"?#"} & {*bucket}
        if not is_folder or has_secret(text):
            raise InvalidRequestError(
                f'{self.option}: write e.g. s3://bucket/folder, without keys, "?" and "#"'
            )
        return f"s3://{bucket}"

    def set_on(self, operations: Operations, value: str) -> None:
        """Let the steps reach the bucket."""
        operations.bucket = value
