"""Media of folders, and emulated media."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from format_bench.cli.sizes import Size
from format_bench.display import terminal
from format_bench.media import emulated, probe, registry
from format_bench.media.facts import MediumFacts

_KINDS = "\n".join(f"  {name:6} {kind.summary}" for name, kind in emulated.KINDS.items())


@click.group("media")
def command() -> None:
    """Measure the medium of a folder; make, list and remove emulated media.

    \b
    Examples:
      format-bench media show /mnt/disk
      format-bench media make hdd --size 4G /mnt/slow
      format-bench run --scratch /mnt/slow --scratch ssd=/data --cold
      format-bench media remove /mnt/slow
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)


@command.command("show")
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
def show(folders: tuple[Path, ...]) -> None:
    """Find out the media of FOLDERS, and measure each for two seconds."""
    for folder in folders:
        facts, found = MediumFacts.of(folder), probe.measure(folder)
        click.echo(f"{folder}: {facts.label(found.random_read_seconds)}")
        click.echo(f"  {found}")
        for name, value in asdict(facts).items():
            if value is not None:
                click.echo(f"  {name.replace('_', ' ')}: {value}")


@command.command(
    "make", help=f"Make an emulated medium and mount it on FOLDER; as root.\n\n\b\n{_KINDS}"
)
@click.argument("kind", type=click.Choice(list(emulated.KINDS)))
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--size", type=Size(), default="4G", show_default=True, help="As in 512M or 4G.")
@click.option("--seek-ms", type=click.FloatRange(0.5, 1000), help="Of hdd. [default: 8]")
@click.option("--mb-per-second", type=click.FloatRange(1, 400), help="Of hdd. [default: 150]")
def make(kind: str, folder: Path, size: int, seek_ms: float | None, mb_per_second: float | None) -> None:
    """Make an emulated medium."""
    model = None
    if seek_ms is not None or mb_per_second is not None:
        if kind != "hdd":
            raise click.UsageError("--seek-ms and --mb-per-second are of hdd alone")
        model = emulated.Model(
            emulated.SEEK_SECONDS if seek_ms is None else seek_ms / 1e3,
            emulated.BYTES_PER_SECOND if mb_per_second is None else mb_per_second * 1e6,
        )
    for each in emulated.remove_unfinished():
        click.echo(f"removed {each.folder}, which was left unfinished", err=True)
    made = emulated.make(kind, folder, size, model)
    click.echo(f"{made.folder}: {made.label}")
    if made.wanted:
        click.echo(f"  wanted:   {made.wanted}")
    click.echo(f"  obtained: {made.obtained}")


@command.command("list")
def list_media() -> None:
    """List the emulated media of this machine."""
    found = registry.media()
    if not found:
        click.echo("no emulated media", err=True)
        return
    rows = [
        [
            str(each.folder),
            each.label,
            f"{each.size_bytes / 2**30:.3g} GiB",
            "unfinished" if each.is_unfinished else each.obtained,
        ]
        for each in found
    ]
    terminal.table(terminal.console(), "", ["folder", "medium", "size", "obtained"], rows)


@command.command("remove")
@click.argument("folder", type=click.Path(path_type=Path))
def remove(folder: Path) -> None:
    """Remove the emulated medium of FOLDER with all files on it; as root."""
    found = registry.medium_at(folder)
    if found is None:
        names = ", ".join(str(each.folder) for each in registry.media()) or "none"
        raise click.UsageError(f"{folder}: no emulated medium is there; the media are: {names}")
    emulated.remove(found)
