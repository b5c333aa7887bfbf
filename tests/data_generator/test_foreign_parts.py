"""Files of users that name other files, pipes, codecs or programs, none of which is opened."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import subprocess
import sys
from contextlib import closing

import duckdb
import h5py
import lance
import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from data_generator.readers._reader import ReadRequest
from data_generator.readers.duckdb import opened
from data_generator.readers.sqlite import connected
from data_generator.user.array import load_array
from data_generator.user.load import load_data
from tests.factories.bad_files import refused

SECRET = b"secret" * 10


@pytest.fixture
def secret(tmp_path):
    """Return a file outside of the folder with the data."""
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "elsewhere" / "secret.bin"
    path.write_bytes(SECRET)
    return path


@pytest.fixture
def home(tmp_path):
    """Return the folder of the data."""
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def zarr_array(folder, **fields):
    folder.mkdir(exist_ok=True)
    plain = {"zarr_format": 2, "shape": [60], "chunks": [60], "dtype": "|u1", "compressor": None}
    plain |= {"fill_value": 0, "order": "C", "filters": None}
    (folder / ".zarray").write_text(json.dumps(plain | fields))
    return folder


def test_values_of_hdf5_in_another_file_are_not_read(home, secret):
    with h5py.File(home / "a.h5", "w") as file:
        file.create_dataset("a", (60,), "u1", external=[(str(secret), 0, 60)])
    assert refused(home / "a.h5").startswith(f"has the values of /a in another file, '{secret}'; copy")


@pytest.mark.usefixtures("secret")
def test_coordinates_of_hdf5_in_another_file_are_not_read(home):
    with h5py.File(home / "a.h5", "w") as file:
        field = file.create_dataset("a", data=np.arange(60.0))
        line = file.create_dataset("x", (60,), "u1", external=[("../elsewhere/secret.bin", 0, 60)])
        line.make_scale("x")
        field.dims[0].attach_scale(line)
    assert refused(home / "a.h5").startswith("has the values of /x in another file")


def test_virtual_datasets_of_other_files_are_not_read(home, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = np.arange(60.0)
    with h5py.File(home / "a.h5", "w") as file:
        layout = h5py.VirtualLayout((60,), "f8")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "a", (60,))
        file.create_virtual_dataset("a", layout)
    assert refused(home / "a.h5").startswith("has the values of /a in another file")


def test_virtual_datasets_of_the_file_itself_are_read(home):
    with h5py.File(home / "a.h5", "w") as file:
        file["small"] = np.arange(60.0)
        layout = h5py.VirtualLayout((2, 60), "f8")
        layout[0] = layout[1] = h5py.VirtualSource(".", "small", (60,))
        file.create_virtual_dataset("large", layout)
    found = load_array(home / "a.h5").array
    assert found.read((slice(0, 2), slice(59, 60))).tolist() == [[59.0], [59.0]]


def test_external_links_of_hdf5_are_not_followed(home, tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = np.arange(600.0)
    with h5py.File(home / "a.h5", "w") as file:
        file["a"], file["link"] = np.arange(60.0), h5py.ExternalLink(str(tmp_path / "other.h5"), "/a")
    assert load_array(home / "a.h5").array.shape == (60,)
    assert refused(f"{home}/a.h5::link").startswith("contains no variable 'link'")


def test_attributes_that_claim_to_be_addresses_of_objects_are_left_out(home):
    with h5py.File(home / "a.h5", "w") as file:
        file["a"] = np.arange(60.0)
        opaque = h5py.h5t.create(h5py.h5t.OPAQUE, 8)
        opaque.set_tag(b"NUMPY:|O")
        attribute = h5py.h5a.create(file["a"].id, b"evil", opaque, h5py.h5s.create_simple((4,)))
        attribute.write(np.full(4, 0x4141414141414141, "u8").view("V8"), mtype=opaque)
    # In a process of its own, which dies when the addresses are followed.
    load = "from data_generator.user.array import load_array; print(load_array({!r}).remarks)"
    program = load.format(str(home / "a.h5"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "attributes left out: evil" in done.stdout, done.returncode


@pytest.mark.parametrize(
    "fields",
    [
        {"compressor": {"id": "pickle"}},
        {"filters": [{"id": "delta", "dtype": "|u1"}, {"id": "pickle"}]},
        {"filters": [{"id": "fill_hdf_strings"}]},
    ],
)
def test_codecs_of_zarr_that_may_run_code_are_refused_by_name(fields, home, tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    folder = zarr_array(home / "a.zarr", **fields)
    (folder / "0").write_bytes(pickle.dumps(Evil()))
    assert refused(folder).startswith("names the codec ")
    assert not (tmp_path / "made").exists()


def test_codecs_inside_a_shard_are_refused_by_name(home):
    inner = [{"name": "numcodecs.pickle", "configuration": {}}]
    shard = {"name": "sharding_indexed", "configuration": {"chunk_shape": [60], "codecs": inner}}
    folder = home / "a.zarr"
    folder.mkdir()
    (folder / "zarr.json").write_text(json.dumps({"zarr_format": 3, "codecs": [shard]}))
    assert refused(folder).startswith(
        "names the codec 'numcodecs.pickle', which is not one of the known"
    )


def test_names_in_consolidated_metadata_lead_nowhere(home, tmp_path):
    other = zarr_array(tmp_path / "elsewhere.zarr")
    folder = home / "a.zarr"
    folder.mkdir()
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    metadata = {".zgroup": {"zarr_format": 2}}
    metadata["../../elsewhere.zarr/.zarray"] = json.loads((other / ".zarray").read_text())
    content = {"zarr_consolidated_format": 1, "metadata": metadata}
    (folder / ".zmetadata").write_text(json.dumps(content))
    assert refused(folder).startswith("contains no array of numbers")


def as_zarr(folder):
    return zarr_array(folder / "a.zarr"), "0"


def as_images(folder):
    (folder / "images").mkdir()
    Image.new("L", (4, 4)).save(folder / "images" / "a.png")
    return folder / "images", "b.png"


def as_labels(folder):
    return as_images(folder)[0], "labels.csv"


def as_lance(folder):
    lance.write_dataset(pa.table({"a": range(10)}), folder / "a.lance")
    (data,) = (folder / "a.lance" / "data").iterdir()
    data.unlink()
    return folder / "a.lance", f"data/{data.name}"


@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", [as_zarr, as_images, as_labels, as_lance])
def test_folders_with_links_out_of_them_are_refused(make, home, secret):
    folder, name = make(home)
    (folder / name).symlink_to(secret)
    assert refused(folder).startswith(f"has a link that leads out of it, {name}; put a copy")
    (folder / name).unlink()
    (folder / name).symlink_to("/dev/zero")
    assert refused(folder).startswith("has a link that leads out of it")


@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", [as_zarr, as_images, as_labels, as_lance])
def test_folders_with_pipes_are_refused_at_once(make, home):
    folder, name = make(home)
    os.mkfifo(folder / name)
    assert refused(folder) == f"has a pipe, socket or device in it, {name}; remove it"


def test_links_inside_a_folder_are_followed_unless_they_lead_round(home):
    folder, name = as_images(home)
    (folder / name).symlink_to("a.png")
    assert len(load_data(folder).images) == 2
    (folder / "round").symlink_to(".")
    assert refused(folder).startswith("has a link to a folder that it is in, round")


def test_the_path_that_the_user_gives_may_be_a_link(home, tmp_path):
    (tmp_path / "link").symlink_to(as_images(home)[0])
    assert len(load_data(tmp_path / "link").images) == 1


def test_lance_with_data_in_other_places_is_refused(home, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    place = lance.DatasetBasePath(str(tmp_path / "elsewhere"), name="b")
    table = pa.table({"a": range(10)})
    lance.write_dataset(table, home / "a.lance", initial_bases=[place], target_bases=["b"])
    assert refused(home / "a.lance").startswith(f"has data in another place, '{tmp_path}/elsewhere'")


def test_no_program_is_started_for_images_of_other_kinds(home, monkeypatch):
    # Pillow starts Ghostscript to look for it.
    folder, name = as_images(home)
    (folder / name).write_text(
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
    )
    monkeypatch.setenv("PATH", str(home))
    (home / "gs").write_text(f"#!/bin/sh\n: > {home}/started\n")
    (home / "gs").chmod(0o755)
    with pytest.raises(Exception, match="cannot be read as an image: cannot identify image file"):
        load_data(folder).images[1]
    assert not (home / "started").exists()


def as_sqlite(folder):
    with closing(sqlite3.connect(folder / "a.db")) as database:
        database.executescript("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    return folder / "a.db"


def as_duckdb(folder):
    with duckdb.connect(folder / "a.duckdb") as database:
        database.sql("CREATE TABLE t AS SELECT 1 AS a")
    return folder / "a.duckdb"


LOGS = [(as_duckdb, ".wal"), (as_sqlite, "-journal"), (as_sqlite, "-wal")]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("make", "suffix"), LOGS)
def test_databases_with_a_link_or_pipe_for_a_log_are_refused(make, suffix, home, secret):
    path = make(home)
    log = path.with_name(f"{path.name}{suffix}")
    log.symlink_to(secret)
    assert refused(path).startswith(f"has beside it {log.name}, which is not a file; remove it")
    log.unlink()
    os.mkfifo(log)
    assert refused(path).startswith(f"has beside it {log.name}, which is not a file")


@pytest.mark.parametrize("log", [b"", b"log"])
def test_a_log_that_the_header_does_not_state_leaves_nothing_behind(log, home):
    path = as_sqlite(home)
    (home / "a.db-wal").write_bytes(log)
    if log:
        assert refused(path).startswith("has changes that are in a.db-wal alone")
    else:
        assert load_data(path).df.to_dict("list") == {"a": [1]}
    assert sorted(each.name for each in home.iterdir()) == ["a.db", "a.db-wal"]


def test_views_and_virtual_tables_in_sqlite_are_not_read(home):
    path = as_sqlite(home)
    with closing(sqlite3.connect(path)) as database:
        database.executescript("CREATE VIEW v AS SELECT 1 AS a; CREATE VIRTUAL TABLE w USING fts5(a)")
    assert load_data(path).df.to_dict("list") == {"a": [1]}
    assert refused(f"{path}::w").startswith("contains no table 'w'; it contains t")


def test_functions_in_the_schema_of_sqlite_must_be_harmless(home):
    # By default, a generated column may call any function that the connection has.
    path = as_sqlite(home)
    with closing(connected(f"{path.as_uri()}?mode=ro")) as database:
        assert database.execute("PRAGMA trusted_schema").fetchone() == (0,)
        with pytest.raises(sqlite3.OperationalError, match="readonly database"):
            database.execute("CREATE TABLE u (a)")


def test_views_of_duckdb_are_not_read(home, tmp_path):
    (tmp_path / "other.csv").write_text("a\n1\n")
    path = as_duckdb(home)
    with duckdb.connect(path) as database:
        database.sql(f"CREATE VIEW v AS FROM read_csv('{tmp_path}/other.csv')")
    assert refused(f"{path}::v").startswith("contains no table 'v'; it contains t")


def test_duckdb_has_no_access_to_files_and_networks(home):
    request = ReadRequest(as_duckdb(home), None, None, None, 0, trust_pickle=False)
    with opened(request) as database:
        for statement in (
            "FROM read_csv('/etc/hostname')",
            "ATTACH '/tmp/other.duckdb'",
            "INSTALL httpfs",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error, match=r"disabled|locked|Cannot"):
                database.sql(statement)
