"""Link to the server that a step reaches: a round-trip time, and a bandwidth if one is given."""

from __future__ import annotations

from adapter_core.errors import InvalidRequestError
from format_bench.conditions.servers import ServerAxis
from format_bench.families.operations import Operations
from format_bench.network.trials import Setting


class Link(ServerAxis):
    """Round-trip time and bandwidth between saves and reads and their server, made by the proxy."""

    name = "link"
    help = "Save to and read from an object server over a slow link, e.g. 5ms,50ms/100Mbit."
    is_place = True
    order = 60

    def parse(self, text: str) -> str:
        """Return the link as records have it, e.g. "50 ms, 100 Mbit/s"."""
        setting = Setting.of(text)
        if setting is None:
            raise InvalidRequestError(f"{self.option} {text}: write e.g. 20ms or 20ms/100Mbit")
        return str(setting)

    def set_on(self, operations: Operations, value: str) -> None:
        """Let the steps reach the server over the link."""
        operations.link = value
