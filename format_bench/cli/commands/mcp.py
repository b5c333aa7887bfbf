"""Server of the Model Context Protocol, for assistants."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from adapter_core.errors import UnavailableError

if TYPE_CHECKING:
    from mcp.server import MCPServer

INSTRUCTIONS = (
    "FormatBench measures file formats for tables, images, arrays and records. recommend ranks measured "
    "formats, predict those of a table that was not measured, with its error. Times are of one machine; "
    "compare ratios, and repeat caveats to the user. Nothing is measured or written here: `format-bench "
    "recommend --data FILE` measures."
)


@click.command
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path())
def command(folder: Path) -> None:
    """Answer an assistant by the Model Context Protocol.

    Its tools list names, recommend and predict formats, show code and compare results. They read files
    below FOLDER alone, the working directory by default, and neither write nor measure. Requests and
    answers pass through the standard input and output: an assistant's program starts this command.

    \b
    Example, in the settings of an assistant:
      {"mcpServers": {"formats": {"command": "format-bench", "args": ["mcp", "/data"]}}}
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    server(folder).run(transport="stdio")


def server(folder: Path) -> MCPServer:
    """Return the server for a folder.

    Raises
    ------
    UnavailableError
        If the SDK is missing.
    """
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError as error:
        hint = "pip install 'formatbench[mcp]'"
        raise UnavailableError("format-bench mcp", f"{error.name} is not installed", hint) from error
    # Its imports take seconds, which help must not.
    from format_bench.cli.commands._assistant import Assistant

    found = MCPServer("FormatBench", instructions=INSTRUCTIONS)
    hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in Assistant(folder.resolve()).tools:
        found.tool(annotations=hints)(tool)
    return found
