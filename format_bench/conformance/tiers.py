"""Tiers of the tests: all adapters, those that a change concerns, or a few that stand for the others.

The import graph has the adapters and files of tests that depend on a changed file. It is
import-linter's graph: imports inside functions count.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import environments
from adapter_core.environments import OwnEnvironment
from adapter_core.errors import GitError, UnavailableError, UnknownNameError
from format_bench.system.git import Repository

if TYPE_CHECKING:
    import grimp

    from adapter_core import Registry

ROOT = Path(__file__).parents[2]
ENVIRONMENT = "environment"
"""Name of the tier with the adapters of the environment whose interpreter runs, and no others."""
PACKAGES = (
    "adapter_core",
    "array_stores",
    "data_formats",
    "image_storages",
    "query_engines",
    "record_stores",
    "training_loaders",
    "data_generator",
    "format_bench",
    "tools",
    "tests",
)
"""Packages of the import graph."""
FACADE = "adapter_core"
"""Package that others import names from; by its own imports, each of its files would concern all."""
LIBRARIES = {"constraints.txt", "constraints.lock"}
"""Files with the versions of the libraries, which concern everything."""
READERS = {
    ".ci/": "tests.project.test_make",
    "ARCHITECTURE.md": "tests.project.test_docs",
    "CHANGELOG.md": "tests.project.test_docs",
    "CONTRIBUTING.md": "tests.project.test_docs",
    "Makefile": "tests.project.test_make",
    "asv.conf.json": "format_bench.asv_support.run",
    "benchmarks/": "format_bench.asv_support.run",
    "cron.sh": "format_bench.automation.monthly.start",
    "docs/": "tests.project.test_docs",
    "foreign_readers/": "tests.foreign_readers.test_contract",
    "postprocessing.py": "format_bench.dashboard.postprocessing",
    "pyproject.toml": "tests.project.test_layers",
    "record_stores/jvm/": "adapter_core.records.jvm",
}
"""Module that goes with a file, or with the files of a folder, of no package; other data files concern
the modules beside them."""


@dataclass(frozen=True)
class Tier:
    """Choice of the adapters to test."""

    is_all: bool = True
    """True if nothing is left out."""
    concerned: frozenset[str] = frozenset()
    """Modules that are changed, or import a changed one; their adapters are tested."""
    reason: str = "all"
    """The choice in words."""
    environment: str = ""
    """The environment whose adapters are tested, and no others; empty if adapters of all are."""

    def to_plain(self) -> dict[str, Any]:
        """Return lists and texts, for other processes."""
        return asdict(self) | {"concerned": sorted(self.concerned)}

    @classmethod
    def of_plain(cls, plain: dict[str, Any]) -> Tier:
        """Return the tier of `to_plain`."""
        return cls(**plain | {"concerned": frozenset(plain["concerned"])})

    def labels(self, registry: Registry[Any], test_module: str) -> list[str]:
        """Return the adapters of a family that a file of tests shall test, in alphabetical order.

        A changed file of tests tests all adapters.
        """
        if self.environment:
            return self.concerned_labels(registry, test_module)
        chosen = {*self.concerned_labels(registry, test_module), *reference(registry)}
        return [name for name in registry.names() if name in chosen]

    def concerns(self, *modules: str) -> bool:
        """Return whether a change concerns one of some modules, or of the modules of some packages."""
        return (
            self.is_all
            or bool(self.environment)
            or any(
                each == module or each.startswith(f"{module}.")
                for each in self.concerned
                for module in modules
            )
        )

    def concerned_labels(self, registry: Registry[Any], test_module: str) -> list[str]:
        """Return the adapters of `labels` without those that only stand for others."""
        names = registry.names()
        if self.environment:
            return [name for name in names if _environment_of(registry, name) == self.environment]
        if self.is_all or test_module in self.concerned:
            return names
        return [name for name in names if self.concerned & _origins(registry, name).keys()]


def _environment_of(registry: Registry[Any], name: str) -> str:
    try:
        return str(registry.find(name).environment)
    except UnavailableError:
        return ""


def reference(registry: Registry[Any]) -> set[str]:
    """Return the labels of a few adapters that have each shared base class and each library.

    Adapters of other packages are among them.
    """
    having: dict[str, set[str]] = defaultdict(set)
    for name in registry.names():
        for part in {part for parts in _origins(registry, name).values() for part in parts}:
            having[part].add(name)
    chosen: set[str] = set()
    while left := [names for names in having.values() if not names & chosen]:
        candidates = sorted({name for names in left for name in names})
        chosen.add(max(candidates, key=lambda name: sum(name in names for names in left)))
    return chosen


@functools.cache
def _origins(registry: Registry[Any], name: str) -> dict[str, set[str]]:
    """Return the modules of an adapter's classes, each with the bases and libraries that it brings."""
    try:
        adapter = registry.find(name)
    except UnavailableError:
        return {"": {name}}
    found: dict[str, set[str]] = defaultdict(set)
    # A query engine works on a format.
    for part in (adapter, getattr(adapter, "engine", adapter), getattr(adapter, "format", adapter)):
        for each in type(part).__mro__:
            found[each.__module__].update(
                [each.__qualname__] if each.__module__.startswith(FACADE) else []
            )
    own = type(adapter).__module__
    found[own] |= {re.split(r"[^\w.-]", requirement)[0] for requirement in adapter.requires}
    if not own.startswith(PACKAGES):
        found[own].add(name)
    return found


def chosen_tier(name: str, since: str = "", root: Path = ROOT) -> Tier:
    """Return a tier by name: "reference", "changed", "environment" or "all".

    Parameters
    ----------
    name : str
        Its name.
    since : str
        Commit to which the work tree is compared; by default the point where the branch left `main`,
        on `main` itself the commit before.
    root : Path
        The checkout.

    Raises
    ------
    UnknownNameError
        If the tier is of an environment, and the interpreter is of none.
    """
    if name == "all":
        return Tier()
    if name == ENVIRONMENT:
        running = [each for each in environments.names() if OwnEnvironment(each).is_running]
        if not running:
            raise UnknownNameError("environment of the interpreter", sys.prefix, environments.names())
        reason = f"of the environment {running[0]}"
        return Tier(is_all=False, reason=reason, environment=running[0])
    if name == "reference":
        return Tier(is_all=False, reason="reference")
    repository = Repository(root)
    commit = base(repository, since)
    if not commit:
        # Nothing is known to be unchanged.
        return Tier(reason=f"all, since the commit {since or 'before'} is unknown")
    files = changed_files(repository, commit)
    if LIBRARIES & set(files):
        return Tier(reason=f"all, since libraries have changed since {commit[:10]}")
    reason = f"reference, and those that {len(files)} files changed since {commit[:10]} concern"
    return Tier(is_all=False, concerned=concerned(files), reason=reason)


def base(repository: Repository, since: str = "") -> str:
    """Return the commit that changes are counted from; empty if it is unknown, as in a shallow clone."""
    try:
        if since:
            return repository.commit_of(since)
        head = repository.commit_of("HEAD")
        for name in ("origin/main", "main"):
            if repository.commit_of(name):
                left = repository.git("merge-base", "HEAD", name)
                return left if left != head else repository.commit_of("HEAD~1")
        return repository.commit_of("HEAD~1")
    except (GitError, OSError):
        return ""


def changed_files(repository: Repository, commit: str) -> list[str]:
    """Return the paths of files that differ from a commit, new and removed ones included."""
    changed = repository.git("diff", "--name-only", "--no-renames", commit).splitlines()
    return sorted(changed + repository.git("ls-files", "--others", "--exclude-standard").splitlines())


def concerned(files: Iterable[str]) -> frozenset[str]:
    """Return the modules of changed files, and all that import them, directly or not."""
    graph = import_graph()
    changed = {module for file in files for module in _modules_of(file, graph)}
    return frozenset(changed.union(*(graph.find_downstream_modules(each) for each in changed)))


@functools.cache
def import_graph() -> grimp.ImportGraph:
    """Return the imports between the modules of the project, those through the facade resolved."""
    import grimp

    # The tests are not installed.
    with _search_path(ROOT):
        graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    origins: dict[str, str] = {}
    for node in ast.parse((ROOT / FACADE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            origins |= {alias.asname or alias.name: node.module for alias in node.names}
    for module in sorted(graph.find_modules_directly_imported_by(FACADE)):
        graph.remove_import(importer=FACADE, imported=module)
    for importer in sorted(graph.find_modules_that_directly_import(FACADE)):
        for name in _names_from_facade(importer):
            for module in {origins[name]} if name in origins else set(origins.values()) - {importer}:
                graph.add_import(importer=importer, imported=module)
    return graph


@contextmanager
def _search_path(folder: Path) -> Iterator[None]:
    """Let packages of a folder be found."""
    before = sys.path.copy()
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path[:] = before


def _names_from_facade(importer: str) -> Iterable[str]:
    """Yield the names that a module imports from the facade; "" for the facade as a whole."""
    path = ROOT.joinpath(*importer.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == FACADE:
            # A name that is itself a module has an edge of its own.
            yield from (
                each.name for each in node.names if not (ROOT / FACADE / f"{each.name}.py").exists()
            )
        elif isinstance(node, ast.Import) and any(each.name == FACADE for each in node.names):
            yield ""


def _modules_of(file: str, graph: grimp.ImportGraph) -> set[str]:
    """Return the modules that a changed file is, or that read it; none for a file of no package."""
    path = Path(file)
    if path.name == "conftest.py":
        # Its fixtures are imported by nobody.
        return {each for each in graph.modules if each.startswith(".".join(path.parent.parts) + ".")}
    for place, reader in READERS.items():
        if file.startswith(place):
            return {reader}
    if path.suffix == ".py":
        parts = path.parent.parts if path.stem == "__init__" else path.with_suffix("").parts
        return {".".join(parts)} & graph.modules
    for parent in path.parents:
        package = ".".join(parent.parts)
        if package in graph.modules:
            beside = {each for each in graph.find_children(package) if not graph.find_children(each)}
            return {package, *beside}
    return set()
