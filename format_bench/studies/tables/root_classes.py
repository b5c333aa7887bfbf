"""Objects in files of ROOT, read by programs whose class has changed since they were written.

Each program is a process of its own that compiles its version of the class with a dictionary, and
without a number of the version: ROOT distinguishes the classes by their members. The interpreter alone
would be faster, but has no I/O rules, and a TTree (ROOT 6.40) gives it wrong values of a widened
integer.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter_core import FieldKind, RecordType
from adapter_core.availability import import_failure
from adapter_core.errors import UnavailableError
from adapter_core.record_type import Field
from format_bench.instruments import isolation
from format_bench.studies.tables.evolution import CHANGES, EXAMPLES, OLDER, Evolution, judged

WAYS = ("ROOT.TTree", "ROOT.RNTuple")
"""Ways in which ROOT keeps objects in a file, by the names of their formats."""

# Starting ROOT takes seconds, and on a busy machine minutes.
LIMIT_SECONDS = 600.0


def _classes() -> dict[str, tuple[RecordType, Sequence[Any]]]:
    """Return newer classes by what has changed, with the sources of their members as in `CHANGES`."""
    renamed, sources = CHANGES["field renamed"]
    found: dict[str, tuple[RecordType, Sequence[Any]]] = {
        (f"{change}, with an I/O rule" if newer is renamed else change): (newer, of)
        for change, (newer, of) in CHANGES.items()
    }
    unruled = tuple(replace(each, earlier_name="") for each in renamed.fields)
    found["field renamed, without a rule"] = RecordType(renamed.name, unruled), sources
    amount, *others = OLDER.fields
    wider = RecordType(OLDER.name, (replace(amount, kind=FieldKind.INT64), *others))
    found["int32 widened to int64"] = wider, OLDER.names
    return found


CLASSES = _classes()

_TYPES = {FieldKind.INT32: "int", FieldKind.INT64: "long long", FieldKind.TEXT: "std::string"}

_WRITE = """
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>

void FormatBenchWriteItems(const char *tree_path, const char *ntuple_path)
{
   const std::vector<Item> items{%s};
   {
      TFile file(tree_path, "RECREATE");
      TTree tree("items", "items");
      Item item;
      Item *address = &item;
      tree.Branch("item", &address);
      for (const Item &each : items) {
         item = each;
         tree.Fill();
      }
      file.Write();
      tree.ResetBranchAddresses();
      tree.SetDirectory(nullptr);
   }
   auto model = ROOT::RNTupleModel::Create();
   auto field = model->MakeField<Item>("item");
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "items", ntuple_path);
   for (const Item &each : items) {
      *field = each;
      writer->Fill();
   }
}
"""

_READ = """
#include <ROOT/RNTupleReader.hxx>
#include <TFile.h>
#include <TTree.h>

std::vector<Item> FormatBenchTreeItems(const char *path)
{
   TFile file(path);
   auto tree = file.Get<TTree>("items");
   Item *item = nullptr;
   tree->SetBranchAddress("item", &item);
   std::vector<Item> items;
   for (Long64_t row = 0; row < tree->GetEntries(); ++row) {
      tree->GetEntry(row);
      items.push_back(*item);
   }
   tree->ResetBranchAddresses();
   return items;
}

std::vector<Item> FormatBenchNTupleItems(const char *path)
{
   auto reader = ROOT::RNTupleReader::Open("items", path);
   auto item = reader->GetModel().GetDefaultEntry().GetPtr<Item>("item");
   std::vector<Item> items;
   for (auto row : *reader) {
      reader->LoadEntry(row);
      items.push_back(*item);
   }
   return items;
}
"""


def outcomes(changes: Iterable[str] = CLASSES) -> dict[tuple[str, str], Evolution]:
    """Return the outcome for each of `WAYS` and each change, one of `CLASSES`.

    Raises
    ------
    UnavailableError
        If ROOT or g++ is missing, or the objects cannot be written.
    """
    with tempfile.TemporaryDirectory() as name:
        files = {way: Path(name, f"{way}.root") for way in WAYS}
        written = isolation.run(write, files, limit_seconds=LIMIT_SECONDS)
        if written.status:
            raise UnavailableError("ROOT", written.reason, "pip install root")
        return {(way, change): _outcome(files[way], way, change) for change in changes for way in WAYS}


def _outcome(path: Path, way: str, change: str) -> Evolution:
    # ROOT 6.40 crashes where a process reads the TTree and then the RNTuple by a rule.
    found = isolation.run(values, path, way, change, limit_seconds=LIMIT_SECONDS)
    return Evolution.ERROR if found.status else judged(found.value, CLASSES[change][1])


def write(files: Mapping[str, Path]) -> None:
    """Write the examples as objects of the older class, a file for each of `WAYS`."""
    root = _root_with(OLDER, files[WAYS[0]].parent / "older")
    items = ", ".join(f"{{{', '.join(map(json.dumps, OLDER.plain(each)))}}}" for each in EXAMPLES)
    if not root.gInterpreter.Declare(_WRITE % items):
        raise RuntimeError("ROOT cannot interpret the program that writes")
    root.FormatBenchWriteItems(*(str(files[way]) for way in WAYS))


def values(path: Path, way: str, change: str) -> list[tuple[Any, ...]]:
    """Return the members of all objects of a file, read by the newer class of a change."""
    newer, _ = CLASSES[change]
    # The compiler takes no path with blanks, as the change has.
    root = _root_with(newer, path.parent / f"newer{list(CLASSES).index(change)}")
    if not root.gInterpreter.Declare(_READ):
        raise RuntimeError("ROOT cannot interpret the program that reads")
    read = root.FormatBenchTreeItems if way == "ROOT.TTree" else root.FormatBenchNTupleItems
    return [tuple(_value(item, each) for each in newer.fields) for item in read(str(path))]


def _value(item: Any, of: Field) -> Any:
    value = getattr(item, of.name)
    if of.kind is not FieldKind.TEXT:
        return value
    # A member that nothing was read into is empty. So is a text of the examples, but no renamed one.
    return str(value) or ("" if of.name in OLDER.names else None)


def _root_with(of: RecordType, build: Path) -> Any:
    """Return ROOT with the class of a type and the rules of its members, compiled in a folder once."""
    if reason := import_failure("ROOT"):
        raise UnavailableError("ROOT", reason, "pip install root")
    import ROOT

    # On a crash ROOT's handlers would start a debugger.
    ROOT.gSystem.ResetSignals()
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    members = " ".join(f"{_TYPES[each.kind]} {each.name}{_default(each)};" for each in of.fields)
    rules = [_rule(of, each) for each in of.fields if each.earlier_name]
    pragmas = "\n".join([f"#pragma link C++ class {of.name}+;", *rules])
    source = build / f"{of.name}.C"
    if not source.exists():  # ROOT compiles what is newer than its library
        build.mkdir()
        source.write_text(
            f"#include <string>\nstruct {of.name} {{ {members} }};\n"
            f"#ifdef __CLING__\n{pragmas}\n#endif\n",
            encoding="utf-8",
        )
    if ROOT.gROOT.LoadMacro(f"{source}+") != 0:
        reason = f"g++ cannot compile the class {of.name}"
        raise UnavailableError("ROOT", reason, f"g++ on {source.name}, for its messages")
    return ROOT


def _rule(of: RecordType, renamed: Field) -> str:
    """Return the I/O rule that fills a renamed member from its earlier name."""
    classes = f'sourceClass="{of.name}" targetClass="{of.name}" version="[1-]"'
    members = f'source="{_TYPES[renamed.kind]} {renamed.earlier_name}" target="{renamed.name}"'
    code = f"{{ {renamed.name} = onfile.{renamed.earlier_name}; }}"
    return f'#pragma read {classes} {members} code="{code}"'


def _default(of: Field) -> str:
    return "" if of.default is None else f" = {json.dumps(of.default)}"
