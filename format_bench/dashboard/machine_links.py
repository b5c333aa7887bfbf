"""Menu of machines: links between the pages of one kind, a page for each machine."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, NamedTuple

from format_bench.dashboard.asv_page import INDEX

if TYPE_CHECKING:
    from format_bench.dashboard.site_data import LatestRun, SiteData


class MachineLink(NamedTuple):
    """Entry of the menu of machines."""

    machine: str
    point: str
    """Date of the commit that was measured."""
    address: str
    is_here: bool


def machine_links(
    site: SiteData, here: LatestRun, name: str, among: Container[str] | None = None
) -> list[MachineLink]:
    """Return the same page of each machine, or its overview; empty if there is one machine.

    Parameters
    ----------
    site : SiteData
        The results.
    here : LatestRun
        The run of the page.
    name : str
        The page's name within the folder of its run.
    among : container of str, optional
        The machines that have the page; by default all.
    """
    if not site.other_machines:
        return []
    return [
        MachineLink(
            each.run.machine,
            each.point,
            here.up + each.folder + (name if among is None or each.run.machine in among else INDEX),
            each is here,
        )
        for each in site.runs
    ]
