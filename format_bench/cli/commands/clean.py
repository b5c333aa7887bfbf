"""Removal of the benchmark's leftovers in an object store."""

from __future__ import annotations

import click

from format_bench.network.leftovers import find_leftovers, remove_leftovers
from format_bench.network.places import users_address
from format_bench.results.display.text import plural
from format_bench.studies.object_stores import address_options


@click.command
@click.argument("url")
@address_options
@click.option("--dry-run", is_flag=True, help="List the leftovers, but remove nothing.")
@click.option(
    "--force", is_flag=True, help="Also remove files of running measurements, which then fail."
)
@click.pass_obj
def command(  # noqa: PLR0913, PLR0917 (an address and its options)
    obj: dict[str, bool],
    url: str,
    endpoint: str,
    region: str,
    dry_run: bool,  # noqa: FBT001 (a switch)
    force: bool,  # noqa: FBT001 (a switch)
) -> None:
    """Remove leftovers of interrupted runs from a bucket.

    URL is s3://bucket/prefix. Only objects and incomplete uploads in folders format-bench-* with the
    benchmark's marker are removed; if there is no such folder, the command fails. Folders of
    measurements that are still running are kept, and a line names their owner. A measurement killed
    on another machine counts as running for 15 minutes.

    Credentials come from the environment (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
    AWS_SESSION_TOKEN) or from the profile AWS_PROFILE.

    \b
    Example:
      format-bench clean s3://my-bucket/tmp --endpoint http://127.0.0.1:9000 --dry-run
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    address = users_address(url, endpoint, region)
    found = find_leftovers(address, with_live=force)
    if not obj["quiet"]:
        for each in found.objects:
            click.echo(f"object  s3://{address.bucket}/{each.key}  {each.size_bytes:,} bytes")
        for upload in found.uploads:
            click.echo(f"upload  s3://{address.bucket}/{upload.key}  incomplete")
    for folder in found.live:
        place = f"s3://{address.bucket}/{folder.prefix}"
        what = "its marker stays" if force else "it stays"
        click.echo(f"{place}: {folder.lease.holder} is at work there; {what}", err=True)
    if not dry_run:
        remove_leftovers(address, found)
    counts = f"{plural(len(found.objects), 'object')}, {plural(len(found.uploads), 'incomplete upload')}"
    verb = "would be removed" if dry_run else "removed"
    kept = f"; {found.others:,} others stay" if found.others else ""
    click.echo(f"{verb}: {counts}{kept}")
