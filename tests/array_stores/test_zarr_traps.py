"""Traps of Zarr's libraries, and of others that store chunks."""

import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import array_stores
from adapter_core import ArraySource, CannotHoldError, UnknownNameError

ZARR = [
    "Zarr.dir",
    "Zarr.zip",
    "Zarr.v2",
    "Zarr.sharded",
    "Zarr[zarrs]",
    "Zarr[tensorstore]",
    "Zarr.sharded[tensorstore]",
    "N5[tensorstore]",
    "Icechunk",
    "Zarr.kerchunk",
]
DIRECTORIES = ["Zarr.dir", "Zarr.v2", "Zarr[zarrs]", "Zarr[tensorstore]", "N5[tensorstore]"]


@pytest.fixture
def weather() -> NDArray[np.float32]:
    """Smooth float32 values with 16-bit origins, as in GRIB files."""
    walk = np.random.default_rng(0).standard_normal((4, 64, 128)).cumsum(-1).cumsum(-2)
    scaled = (walk - walk.min()) / np.ptp(walk)
    return (np.round(scaled * 65535) * 0.001 + 200).astype(np.float32)


def _path(tmp_path: Path, label: str) -> Path:
    return tmp_path / f"saved{array_stores.get(label).suffix}"


@pytest.mark.parametrize("label", ZARR)
def test_chunks_of_zeros_are_written(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    zeros = np.zeros((8, 32, 32), np.float32)
    store.save(zeros, path, chunks=(1, 32, 32))
    assert store.size_bytes(path) >= zeros.nbytes
    assert np.array_equal(store.read(path), zeros)


@pytest.mark.parametrize("label", ZARR)
def test_a_chunk_of_zeros_among_others_is_written(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    values = np.zeros((4, 6), np.int16)
    values[3, 5] = 7
    store.save(values, path, chunks=(2, 3))
    assert np.array_equal(store.read(path), values)


@pytest.mark.parametrize(
    "label", ["Zarr.dir", "Zarr.v2", "Zarr[zarrs]", "Zarr[tensorstore]", "Icechunk"]
)
def test_appended_coordinates_of_zero_are_written(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    for count in (-1, 0):
        values = np.ones((1, 4), "float32")
        source = ArraySource.of(
            values, dims=("t", "x"), coordinates={"t": np.array([count]), "x": np.arange(4)}
        )
        (store.append if count == 0 else store.save)(source, path)
    with store.open(path) as reader:
        assert reader.coordinates["t"].tolist() == [-1, 0]


@pytest.mark.parametrize("label", DIRECTORIES)
def test_appended_chunks_of_zeros_are_written(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    zeros = np.zeros((8, 32, 32), np.float32)
    store.save(zeros, path, chunks=(1, 32, 32))
    store.append(zeros, path)
    assert store.size_bytes(path) >= 2 * zeros.nbytes
    assert store.read(path).shape == (16, 32, 32)


@pytest.mark.parametrize("label", DIRECTORIES)
def test_a_missing_chunk_is_an_error(label: str, tmp_path: Path, weather: NDArray[np.float32]) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    store.save(weather, path, chunks=(1, 64, 128))
    max(path.rglob("*"), key=lambda file: file.is_file() and file.stat().st_size).unlink()
    with pytest.raises((OSError, ValueError), match="missing"):
        store.read(path)


# HDF5 omits a filter that makes a chunk no smaller, which Blosc without shuffling does not here.
@pytest.mark.parametrize("label", [each for each in ZARR if each != "Zarr.kerchunk"])
def test_shuffling_of_blosc_knows_the_size_of_values(
    label: str, tmp_path: Path, weather: NDArray[np.float32]
) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    sizes = {}
    for codec in ("blosc:lz4", "blosc:lz4+noshuffle"):
        store.save(weather, path, chunks=(1, 64, 128), codec=codec)
        assert store.codec_used(path) == codec
        sizes[codec] = store.size_bytes(path)
    assert sizes["blosc:lz4"] < 0.8 * sizes["blosc:lz4+noshuffle"]


@pytest.mark.parametrize("label", ["Zarr.dir", "Zarr.v2", "Zarr.zip"])
def test_a_blosc_chunk_without_its_last_bytes_is_an_error(
    label: str, tmp_path: Path, weather: NDArray[np.float32]
) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    store.save(weather, path, chunks=(1, 64, 128), codec="blosc:lz4")
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    largest = max(files, key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-4])
    with pytest.raises(Exception, match=r"ends after|zip"):
        store.read(path)


@pytest.mark.parametrize("label", ["Zarr.sharded", "Zarr.sharded[tensorstore]"])
def test_shards_are_whole_before_they_are_written(
    label: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from adapter_core.arrays import shards

    size = 4 * 16 * 16 * 4
    monkeypatch.setattr(shards.shard_of, "__defaults__", (size,))
    store = array_stores.get(label)
    monkeypatch.setattr(type(store), "shard_bytes", size, raising=False)
    path = _path(tmp_path, label)
    array = np.arange(10 * 32 * 16, dtype=np.float32).reshape(10, 32, 16)
    states: list[dict[str, tuple[int, int]]] = []

    def read(selection: tuple[slice, ...]) -> NDArray[np.float32]:
        states.append(
            {
                str(file): (file.stat().st_ino, file.stat().st_mtime_ns)
                for file in tmp_path.rglob("*")
                if file.is_file() and "/c/" in str(file)
            }
        )
        return np.ascontiguousarray(array[selection])

    store.save(ArraySource(array.shape, array.dtype, (1, 16, 16), read), path)
    shards_written = [len(state) for state in states]
    # The chunk after a shard is read before the shard is written.
    assert shards_written == [max(0, number - 1) // 4 for number in range(20)]
    for earlier, later in itertools.pairwise(states):
        assert earlier.items() <= later.items()
    assert np.array_equal(store.read(path), array)


@pytest.mark.filterwarnings("error")
def test_zarrs_reads_and_writes_and_other_arrays_keep_their_pipeline(
    tmp_path: Path, weather: NDArray[np.float32], monkeypatch: pytest.MonkeyPatch
) -> None:
    import zarr
    from zarr.core.codec_pipeline import BatchedCodecPipeline

    async def refuse(*_: object, **__: object) -> None:
        raise AssertionError("Python's pipeline was used")

    store, path = array_stores.get("Zarr[zarrs]"), _path(tmp_path, "Zarr[zarrs]")
    with monkeypatch.context() as patched:
        patched.setattr(BatchedCodecPipeline, "read", refuse)
        patched.setattr(BatchedCodecPipeline, "write", refuse)
        store.save(weather, path, chunks=(1, 64, 128), codec="zstd")
        assert np.array_equal(store.read(path), weather)
        with pytest.raises(AssertionError, match="Python's pipeline"):
            array_stores.get("Zarr.dir").read(path)
    assert zarr.config.get("codec_pipeline.path").endswith("BatchedCodecPipeline")


@pytest.mark.parametrize(
    ("label", "codecs"),
    [
        ("Zarr[tensorstore]", ["lz4", "lzma", "bz2", "zstd+shuffle", "pcodec"]),
        ("N5[tensorstore]", ["lz4", "zstd+shuffle", "pcodec"]),
        ("Zarr[zarrs]", ["lz4", "lzma", "zstd+bitround"]),
        ("Zarr.kerchunk", ["lzf", "szip", "lz4"]),
    ],
)
def test_codecs_that_a_library_lacks_are_not_offered(
    label: str, codecs: list[str], tmp_path: Path, weather: NDArray[np.float32]
) -> None:
    for codec in codecs:
        with pytest.raises(UnknownNameError):
            array_stores.get(label).save(weather, _path(tmp_path, label), codec=codec)


def test_n5_blocks_contain_bytes_in_the_order_of_numpy(tmp_path: Path) -> None:
    path = tmp_path / "saved.n5"
    array = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    array_stores.get("N5[tensorstore]").save(array, path)
    metadata = json.loads((path / "values" / "attributes.json").read_text())
    assert metadata["dimensions"] == [4, 3, 2]
    block = (path / "values" / "0" / "0" / "0").read_bytes()
    assert block.endswith(array.astype(">i4").tobytes())


def test_kerchunk_references_survive_a_move(tmp_path: Path, weather: NDArray[np.float32]) -> None:
    store = array_stores.get("Zarr.kerchunk")
    store.save(weather, tmp_path / "saved.kerchunk", chunks=(1, 64, 128))
    moved = (tmp_path / "saved.kerchunk").rename(tmp_path / "moved.kerchunk")
    assert np.array_equal(store.read(moved), weather)


def test_kerchunk_refuses_chunks_of_which_only_some_are_compressed(tmp_path: Path) -> None:
    path = tmp_path / "saved.kerchunk"
    noise = np.random.default_rng(0).integers(0, 2**32, (1, 256, 256), np.uint32)
    mixed = np.concatenate([np.zeros_like(noise), noise])
    with pytest.raises(CannotHoldError, match="only some chunks"):
        array_stores.get("Zarr.kerchunk").save(mixed, path, chunks=(1, 256, 256), codec="blosc:lz4")
    assert list(tmp_path.iterdir()) == []
