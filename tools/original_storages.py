"""Image storages beside their first versions: ``python -m tools.original_storages [STORAGE...]``.

The first six storages of this benchmark are here as they were first written: one image at a time,
through the most obvious interfaces. Some do not return the same data: PNG returns labels as text, SQLite
as bytes, and LMDB changes the order. They support images of three axes and labels below 128.

For each storage the program saves and reads `cifar-like`, and prints the CPU seconds (user and system)
of the usual way and of ours, measured alternately, the median of three, and their ratio. Each storage
has a process of its own, since memory that one leaves changes the times of the next.
"""

from __future__ import annotations

import argparse
import base64
import csv
import multiprocessing
import pickle
import sqlite3
import statistics
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

import data_generator
import image_storages
from format_bench.instruments.clock import time_call

ROUNDS = 3

Images = list[np.ndarray]
Save = Callable[[Images, np.ndarray, Path], None]
Read = Callable[[Path], tuple[Images, list[Any]]]


def save_png(images: Images, labels: np.ndarray, path: Path) -> None:
    from PIL import Image

    path.mkdir()
    for i, image in enumerate(images):
        Image.fromarray(image).save(path / f"{i}.png")
    with (path / "labels.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        for label in labels:
            writer.writerow([label])


def read_png(path: Path) -> tuple[Images, list[str]]:
    from PIL import Image

    with (path / "labels.csv").open(newline="") as file:
        labels = [row[0] for row in csv.reader(file)]
    return [np.array(Image.open(path / f"{i}.png")) for i in range(len(labels))], labels


def save_base64(images: Images, labels: np.ndarray, path: Path) -> None:
    import pandas as pd

    pd.DataFrame(
        {
            "image": [base64.b64encode(image.tobytes()).decode() for image in images],
            **_shape_columns(images),
            "label": labels,
        }
    ).to_csv(path, index=False)


def read_base64(path: Path) -> tuple[Images, list[int]]:
    import pandas as pd

    df = pd.read_csv(path)
    columns = (df[name] for name in ("image", "shape_x", "shape_y", "shape_z"))
    images = [
        np.frombuffer(base64.b64decode(text), np.uint8).reshape(shape)
        for text, *shape in zip(*columns, strict=True)
    ]
    return images, df["label"].tolist()


def save_hdf5(images: Images, labels: np.ndarray, path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        pixels = file.create_dataset("images", (len(images),), h5py.vlen_dtype(np.uint8))
        for i, image in enumerate(images):
            pixels[i] = image.flatten()
        for name, numbers in _shape_columns(images).items():
            file.create_dataset(name, data=numbers)
        file.create_dataset("labels", data=labels)


def read_hdf5(path: Path) -> tuple[Images, list[int]]:
    import h5py

    with h5py.File(path, "r") as file:
        images = [
            file["images"][i].reshape(file["shape_x"][i], file["shape_y"][i], file["shape_z"][i])
            for i in range(len(file["images"]))
        ]
        return images, list(file["labels"][:])


def save_parquet(images: Images, labels: np.ndarray, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "image": pa.array([image.tobytes() for image in images], pa.binary()),
        **{name: pa.array(numbers, pa.int32()) for name, numbers in _shape_columns(images).items()},
        "label": pa.array(labels, pa.int8()),
    }
    pq.write_table(pa.table(columns), path)


def read_parquet(path: Path) -> tuple[Images, list[int]]:
    import pyarrow.parquet as pq

    table = pq.read_table(path).to_pandas()
    images = [
        np.frombuffer(table["image"][i], np.uint8).reshape(
            table["shape_x"][i], table["shape_y"][i], table["shape_z"][i]
        )
        for i in range(len(table))
    ]
    return images, list(table["label"])


def save_sqlite(images: Images, labels: np.ndarray, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute(
            "CREATE TABLE images (id INTEGER PRIMARY KEY, image BLOB, shape_x INTEGER, shape_y INTEGER, "
            "shape_z INTEGER, label INTEGER)"
        )
        for i, (image, label) in enumerate(zip(images, labels, strict=True)):
            database.execute(
                "INSERT INTO images VALUES (?, ?, ?, ?, ?, ?)", (i, image.tobytes(), *image.shape, label)
            )
        database.commit()


def read_sqlite(path: Path) -> tuple[Images, list[Any]]:
    images, labels = [], []
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT image, shape_x, shape_y, shape_z, label FROM images").fetchall()
    for pixels, *shape, label in rows:
        images.append(np.frombuffer(pixels, np.uint8).reshape(shape))
        labels.append(label)
    return images, labels


def save_lmdb(images: Images, labels: np.ndarray, path: Path) -> None:
    import lmdb

    size = len(images) * images[0].nbytes * 10
    with (
        lmdb.open(str(path), map_size=size) as environment,
        environment.begin(write=True) as transaction,
    ):
        for i, (image, label) in enumerate(zip(images, labels, strict=True)):
            value = pickle.dumps((image.tobytes(), image.shape, label))
            transaction.put(str(i).encode(), value)


def read_lmdb(path: Path) -> tuple[Images, list[Any]]:
    import lmdb

    images, labels = [], []
    with lmdb.open(str(path), readonly=True) as environment, environment.begin() as transaction:
        for _, value in transaction.cursor():
            pixels, shape, label = pickle.loads(value)
            images.append(np.frombuffer(pixels, np.uint8).reshape(shape))
            labels.append(label)
    return images, labels


def _shape_columns(images: Images) -> dict[str, list[int]]:
    return {f"shape_{axis}": [image.shape[i] for image in images] for i, axis in enumerate("xyz")}


USUAL: dict[str, tuple[Save, Read]] = {
    "PNG": (save_png, read_png),
    "Base64": (save_base64, read_base64),
    "HDF5": (save_hdf5, read_hdf5),
    "Parquet": (save_parquet, read_parquet),
    "SQLite": (save_sqlite, read_sqlite),
    "LMDB": (save_lmdb, read_lmdb),
}


def seconds(name: str, count: int) -> dict[str, tuple[float, float]]:
    """Return the (usual, our) CPU seconds of save and read: medians of alternate calls."""
    storage = image_storages.get(name)
    save, read = USUAL[name]
    dataset = data_generator.images("cifar-like", count)
    images, labels = list(dataset.images), np.asarray(dataset.labels).astype(np.uint8)
    samples: dict[str, tuple[list[float], list[float]]] = {"save": ([], []), "read": ([], [])}
    with tempfile.TemporaryDirectory() as folder:
        usual, ours = (Path(folder, f"{kind}{storage.suffix}") for kind in ("usual", "ours"))
        calls = {
            ("save", 0): lambda: save(images, labels, usual),
            ("save", 1): lambda: storage.save(images, labels, ours),
            ("read", 0): lambda: read(usual),
            ("read", 1): lambda: storage.read(ours),
        }
        for turn in range(ROUNDS):
            storage.remove(usual)
            storage.remove(ours)
            # The first caller pays for memory that the second one reuses, hence the alternation.
            for step in ("save", "read"):
                for caller in (turn % 2, 1 - turn % 2):
                    samples[step][caller].append(time_call(calls[step, caller]).cpu_seconds)
    return {step: tuple(map(statistics.median, both)) for step, both in samples.items()}


def main() -> None:
    """Print a line for each storage and step."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("names", nargs="*", default=list(USUAL), metavar="STORAGE")
    parser.add_argument("--images", type=int, default=10_000)
    arguments = parser.parse_args()
    print(f"{'storage':12}{'step':6}{'usual s':>12}{'our s':>12}{'ratio':>8}")
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for name in arguments.names:
            for step, (usual, ours) in pool.apply(seconds, (name, arguments.images)).items():
                print(f"{name:12}{step:6}{usual:12.3f}{ours:12.3f}{usual / ours:8.2f}", flush=True)


if __name__ == "__main__":
    main()
