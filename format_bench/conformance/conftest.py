"""Fixtures and parameters of the conformance tests."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from adapter_core import ArrayStore, Codec, DataFormat, ImageStorage, RecordStore
from adapter_core.training_loader import TrainingLoader
from data_generator.synthetic.edge_case_images import equal, unequal
from format_bench.conformance.native_libraries import load_in_order
from format_bench.conformance.selection import HDF5, SelectedAdapter, group_of, ready, selected
from format_bench.instruments.memory import release_free_memory

FIXTURES = {
    "adapter": "table",
    "storage": "image",
    "store": "array",
    "record_store": "record",
    "loader": "loader",
}
"""Family of each fixture that is an adapter."""

load_in_order()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore the files of a family without a selected adapter."""
    family = collection_path.stem.removeprefix("test_").partition("_")[0]
    is_foreign = config.getoption("--adapter") is not None and family in FIXTURES.values()
    return True if is_foreign and not selected(config, family) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of array stores on HDF5 first, then of other array stores."""
    # netCDF loads filters when they are needed; after ROOT, these call another HDF5 library.
    groups = {item: group_of(item.nodeid) for item in items}
    items.sort(key=lambda item: not item.path.name.startswith("test_array_"))
    items.sort(key=lambda item: groups[item] != f"array-{HDF5}")
    items.sort(key=lambda item: not groups[item].startswith("array-"))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Keep the collected tests, which stay to the end, out of each later search for garbage."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let Python's end clear all: some libraries complain of objects that are left."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the adapters of a library, and other files of tests, in one process."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from format_bench.conformance.scheduling import LibraryScheduling

    return LibraryScheduling(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests with each adapter, each of its codecs, and levels of these, by their fixtures."""
    wanted = set(metafunc.fixturenames)
    for fixture, family in FIXTURES.items():
        if fixture in wanted:
            candidates = selected(metafunc.config, family, metafunc.module.__name__)
            if "codec" not in wanted:
                metafunc.parametrize(fixture, candidates, ids=str, indirect=True)
                continue
            cases = _with_codecs(candidates)
            if "level" not in wanted:
                _parametrize(metafunc, [fixture, "codec"], cases)
            else:
                _parametrize(
                    metafunc,
                    [fixture, "codec", "level"],
                    [(*case, level) for case in cases for level in _levels(*case)],
                )


def _with_codecs(candidates: Sequence[SelectedAdapter]) -> list[tuple[SelectedAdapter, Codec]]:
    """Return adapters with their codecs: all of those that a change concerns.

    Others stand for more: each has a codec, and each codec is there once at least.
    """
    found, seen = [], set[str]()
    for each in sorted(candidates, key=lambda each: each.stands_for_others):
        own = each.codecs()
        unseen = [codec for codec in own if codec.name not in seen] or own[:1]
        chosen = unseen if each.stands_for_others else own
        found += [(each, codec) for codec in chosen]
        seen |= {codec.name for codec in chosen}
    return found


def _parametrize(metafunc: pytest.Metafunc, names: list[str], cases: list[tuple[Any, ...]]) -> None:
    ids = ["-".join(str(getattr(each, "name", each)) for each in case) for case in cases]
    metafunc.parametrize(names, cases, ids=ids, indirect=names[:1])


def _levels(candidate: SelectedAdapter, codec: Codec) -> Sequence[int | None]:
    """Return the lowest, the default and the highest level of a codec."""
    if not codec.levels:
        return [None]
    default = codec.default_level or codec.levels[0]
    if candidate.stands_for_others:
        return [default]
    return sorted({codec.levels[0], default, codec.levels[-1]})


@pytest.fixture(autouse=True, scope="module")
def memory_given_back() -> Iterator[None]:
    """Return freed memory to the kernel after each file of tests: a process of xdist runs dozens."""
    yield
    release_free_memory()


@pytest.fixture
def adapter(request: pytest.FixtureRequest) -> DataFormat:
    """Return an available table format, also for the codec of the test if it has one."""
    return _ready(request)


@pytest.fixture
def storage(request: pytest.FixtureRequest) -> ImageStorage:
    """Return an available image storage."""
    return _ready(request)


@pytest.fixture
def store(request: pytest.FixtureRequest) -> ArrayStore:
    """Return an available array store, also for the codec of the test if it has one."""
    return _ready(request)


@pytest.fixture
def record_store(request: pytest.FixtureRequest) -> RecordStore:
    """Return an available record store, also for the codec of the test if it has one."""
    return _ready(request)


@pytest.fixture
def loader(request: pytest.FixtureRequest) -> TrainingLoader:
    """Return an available training loader."""
    return _ready(request)


@pytest.fixture
def share_of(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """Return a function that chooses among cases, as `SelectedAdapter.share_of`."""
    (fixture,) = FIXTURES.keys() & set(request.fixturenames)
    chosen: SelectedAdapter = request.node.callspec.params[fixture]
    return chosen.share_of


def _ready(request: pytest.FixtureRequest) -> Any:
    with_codec = "codec" in request.fixturenames
    return ready(request.param, request.getfixturevalue("codec") if with_codec else None)


@pytest.fixture
def ordinary_set(storage: ImageStorage) -> Any:
    """Return images, of unequal shapes if the storage supports them, and their labels."""
    return equal() if storage.equal_shapes_only else unequal()


@pytest.fixture
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a path that does not exist, with the adapter's suffix."""
    (fixture,) = FIXTURES.keys() & set(request.fixturenames)
    return tmp_path / f"saved{request.getfixturevalue(fixture).suffix}"
