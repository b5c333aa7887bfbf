"""Real tables from the Hugging Face hub, through `datasets`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from adapter_core.availability import probe
from adapter_core.errors import Unavailable
from data_generator.dataset import Dataset
from data_generator.flights import TooFewRows
from data_generator.hub import SECONDS_TO_WAIT


def hub_table(
    repository: str, split: str = "train", rows: int | None = None, config: str | None = None
) -> Dataset:
    """Return the first rows of a table on the Hugging Face hub, in their order.

    A copy in Hugging Face's cache is taken, or else it is downloaded; with HF_HUB_OFFLINE=1, only the
    cache is used. A folder of Parquet, CSV or JSON files that `datasets` can load is a repository too.

    Parameters
    ----------
    repository : str
        As in ``scikit-learn/iris``, or the path of a folder.
    split : str
        The part of it, as the repository names it.
    rows : int, optional
        How many rows; all if not given.
    config : str, optional
        Which table, in repositories of several.

    Raises
    ------
    Unavailable
        If `datasets` is missing, or if there is no such table in the cache and none can be reached.
    TooFewRows
        If the table has fewer rows.
    """
    hint = "python -m pip install datasets"
    available = probe(("datasets",), {}, hint)
    if not available:
        raise Unavailable(repository, available.reason, hint)
    found = _loaded(repository, config, split)
    wanted = len(found) if rows is None else rows
    if wanted > len(found):
        raise TooFewRows(repository, wanted, len(found))
    return Dataset(repository, found.with_format("arrow")[:wanted].to_pandas())


def _loaded(repository: str, config: str | None, split: str) -> Any:
    """Return the rows, memory-mapped."""
    datasets = import_module("datasets")
    try:
        cached = Path(datasets.config.HF_DATASETS_CACHE) / repository.replace("/", "___")
        if not cached.is_dir() and not Path(repository).is_dir():
            # load_dataset itself tries six times, and talks about it, before it gives up.
            hub = import_module("huggingface_hub").HfApi(endpoint=datasets.config.HF_ENDPOINT)
            hub.dataset_info(repository, timeout=SECONDS_TO_WAIT)
        return datasets.load_dataset(repository, config, split=split)
    except Exception as error:
        first_line = f"{type(error).__name__}: {error}".splitlines()[0].rstrip(" .:")
        source = repository if Path(repository).is_dir() else datasets.config.HF_ENDPOINT
        reason = f"its split {split} could not be loaded from {source}: {first_line}"
        hint = "a file of the table, which load_table reads, or once with access to the internet"
        raise Unavailable(repository, reason, hint) from error
