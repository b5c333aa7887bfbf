"""Memory of array stores: ``python -m tools.array_memory [STORE...] --gigabytes 20``.

Chunks come from a small bank, so the source takes no memory. A save and a chunk-wise read that stream
grow little, whatever the size of the array. Pages of a mapped file count, too, though the kernel can
reclaim them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

import array_stores
import data_generator
from adapter_core import ArraySource
from format_bench.families.arrays.access import read_in_order
from format_bench.families.arrays.operations import ArrayOperations
from format_bench.instruments import isolation
from format_bench.instruments.memory import measure

SHAPE = (3, 560, 1440)
"""Shape of a chunk, of 32-bit floats: 9.7 MB."""
CHUNKS = (1, *SHAPE)
BANK = 4


def source_of(count: int) -> ArraySource:
    """Return an array of `count` chunks, which repeat after a few."""
    bank = data_generator.array("era5-like", BANK).array
    chunks = [bank.read((slice(n, n + 1), *map(slice, SHAPE))) for n in range(BANK)]
    return ArraySource(
        (count, *SHAPE), bank.dtype, CHUNKS, lambda selection: chunks[selection[0].start % BANK]
    )


def save(label: str, count: int, path: Path) -> int:
    """Save an array; return the growth of the process in bytes."""
    store = array_stores.get(label)
    source = source_of(count)
    store.check(source)
    ArrayOperations(store).warm_up()
    return measure(lambda: store.save(source, path))[0].peak_bytes


def read(label: str, path: Path) -> int:
    """Read all chunks one by one; return the growth of the process in bytes."""
    store = array_stores.get(label)
    ArrayOperations(store).warm_up()

    def read_all() -> None:
        with store.open(path) as reader:
            read_in_order(reader, CHUNKS)

    return measure(read_all)[0].peak_bytes


@click.command()
@click.argument("labels", nargs=-1, metavar="[STORE]...")
@click.option("--gigabytes", default=20.0, show_default=True, help="Size of the array.")
@click.option("--scratch", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(labels: tuple[str, ...], gigabytes: float, scratch: Path | None) -> None:
    """Print the memory growth of a save and of a chunk-wise read of each store."""
    count = round(gigabytes * 1e9 / 4 / SHAPE[0] / SHAPE[1] / SHAPE[2])
    for label in labels or array_stores.names():
        store = array_stores.find(label)
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            path = Path(folder, f"array{store.suffix}")
            saved = isolation.run(save, label, count, path, limit_seconds=1800)
            if saved.status:
                click.echo(f"{label:26} save {saved.status}: {saved.sentence[:90]}")
                continue
            loaded = isolation.run(read, label, path, limit_seconds=1800)
            size = store.size_bytes(path)
        reading = f"{loaded.value / 1e6:.0f} MB" if not loaded.status else loaded.sentence[:60]
        click.echo(
            f"{label:26} save {saved.value / 1e6:.0f} MB, read {reading}, file {size / 1e9:.1f} GB"
        )


if __name__ == "__main__":
    main()
