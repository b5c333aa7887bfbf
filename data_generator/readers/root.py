"""Reader of ROOT files, through uproot: a TTree or an RNTuple is a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from adapter_core.text import listed
from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest

TREES = ("TTree", "TNtuple", "TNtupleD", "TChain")
NTUPLE = "ROOT::RNTuple"

CHOICE = "?branches="
"""Between the name of a tree and its branches, which are separated by commas."""

BATCH_ROWS = 2**16
"""Rows that are read at once, at least; more, if baskets or clusters do not end there."""


class ROOTReader(ArrowReader):
    """Reader of one tree, or of some of its branches: ``events.root::tree?branches=px,Muon_*``.

    Branches with several values for an entry become columns of lists. Sub-branches of split objects are
    columns of their own, as far as their names differ without those of the objects; fields of an RNTuple
    with parts are columns of structs. Branches that uproot cannot interpret are left out.
    """

    kind = "ROOT"
    endings = (".root",)
    signatures = ((0, b"root"),)
    requires = ("uproot", "awkward")
    has_several_tables = True

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        with _opened(request) as tree:
            if tree.unreadable:
                left_out = listed(tree.unreadable)
                request.remarks.append(f"branches left out, which uproot cannot read: {left_out}")
            first = tree.batch(0, min(1, tree.entries))
            return FileMetadata(first.schema, tree.entries, tree.size_bytes)

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        with _opened(request) as tree:
            yield from tree.batches()


@dataclass(frozen=True)
class _Tree:
    """Chosen branches of an open TTree or RNTuple."""

    tree: Any
    branches: Mapping[str, Any]
    unreadable: list[str]

    @property
    def entries(self) -> int:
        """The number of rows."""
        return int(self.tree.num_entries)

    @property
    def size_bytes(self) -> int:
        """Size of the chosen branches without compression; of an RNTuple, a byte for each value."""
        sizes = (getattr(each, "uncompressed_bytes", 0) for each in self.branches.values())
        return max(sum(map(int, sizes)), self.entries * len(self.branches))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows in their order, in ranges that no basket or cluster crosses."""
        start = 0
        for stop in self._ends():
            if stop - start >= BATCH_ROWS or stop == self.entries:
                yield self.batch(start, stop)
                start = stop

    def _ends(self) -> Iterator[int]:
        if hasattr(self.tree, "cluster_summaries"):
            first = [int(each.num_first_entry) for each in self.tree.cluster_summaries]
            yield from (each for each in sorted(first) if 0 < each < self.entries)
        else:
            ends = (set(map(int, each.entry_offsets)) for each in self.branches.values())
            common = set.intersection(*ends)
            yield from (each for each in sorted(common) if 0 < each < self.entries)
        if self.entries:
            yield self.entries

    def batch(self, start: int, stop: int) -> pa.RecordBatch:
        """Return the rows of a range."""
        import awkward as ak
        import pyarrow as pa

        columns = [
            ak.to_arrow(
                branch.array(entry_start=start, entry_stop=stop, library="ak"),
                list_to32=True,
                string_to32=True,
                bytestring_to32=True,
                extensionarray=False,
            )
            for branch in self.branches.values()
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(self.branches))


@contextmanager
def _opened(request: ReadRequest) -> Iterator[_Tree]:
    """Open the tree of a request.

    Raises
    ------
    InvalidDataError
        If the file has no such tree, the tree no such branch, or none that can be read.
    """
    import uproot

    name, _, choice = (request.table or "").partition(CHOICE)
    if "?" in name:
        advice = f"write {request.path.name}::TREE{CHOICE}ONE,TWO"
        raise InvalidDataError(request.path, f"has no part {request.table!r}", advice)
    # uproot's default reads through an event loop in another thread, made for remote files.
    with uproot.open(request.path, handler=uproot.MultithreadedFileSource) as file:
        kinds = file.classnames(recursive=True, cycle=False)
        trees = [each for each, kind in kinds.items() if kind in TREES or kind.startswith(NTUPLE)]
        tree = file[replace(request, table=name or None).only(trees, "tree")]
        readable, unreadable = _branches(tree)
        chosen = _chosen(request, readable, choice) if choice else readable
        if not chosen:
            few = f": {listed(unreadable)}" if unreadable else ""
            raise InvalidDataError(request.path, f"contains no branch that uproot can read{few}")
        yield _Tree(tree, chosen, [] if choice else unreadable)


def _branches(tree: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the branches with values by name, and the names of those that uproot cannot interpret."""
    import uproot

    if hasattr(tree, "cluster_summaries"):
        return dict(tree.iteritems(recursive=False)), []
    readable, unreadable = [], []
    for path, branch in tree.iteritems(recursive=True, full_paths=True):
        interpretation = branch.interpretation
        if isinstance(interpretation, uproot.interpretation.grouped.AsGrouped):
            continue  # its sub-branches have the values
        if isinstance(interpretation, uproot.interpretation.identify.UnknownInterpretation):
            unreadable.append(path)
        else:
            readable.append((path, branch))
    short = [path.rpartition("/")[2] for path, _ in readable]
    names = short if len(set(short)) == len(short) else [path for path, _ in readable]
    return {name: branch for name, (_, branch) in zip(names, readable, strict=True)}, unreadable


def _chosen(request: ReadRequest, branches: Mapping[str, Any], choice: str) -> dict[str, Any]:
    """Return the branches of some names or patterns, in the order of the patterns.

    Raises
    ------
    InvalidDataError
        If one matches none.
    """
    found: dict[str, Any] = {}
    for pattern in filter(None, choice.split(",")):
        matching = [name for name in branches if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            advice = f"the tree has {listed(list(branches))}"
            raise InvalidDataError(request.path, f"contains no branch {pattern!r}", advice)
        found |= {name: branches[name] for name in matching}
    return found
