"""Declared features of formats: each can be written, and has what its name says."""

from __future__ import annotations

import ast
import base64
import json
import pkgutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import data_formats
from adapter_core.errors import UnknownNameError
from data_generator.synthetic.edge_case_tables import edge_case_tables
from format_bench.compatibility import feature_writers, features, library_readers
from format_bench.results import shipped
from format_bench.verification import sameness
from format_bench.verification.canonical import CanonicalTable

ALL = [(each, feature) for each in features.formats().values() for feature in each.features]
NAMES = [f"{each.format}, {feature.name}" for each, feature in ALL]


def written(format_, name, path):
    feature = format_.feature(name)
    df = edge_case_tables()[feature.table]
    df = df.assign(c=feature.value) if feature.value else df
    return feature_writers.write(df, feature.types, *format_.call_of(feature), str(path))


@pytest.mark.parametrize("found", features.formats().values(), ids=features.formats())
def test_a_declaration_is_complete(found):
    names = [each.name for each in found.features]
    assert names[0] == features.BASE
    assert len(names) == len(set(names))
    known = edge_case_tables()
    assert {each.table for each in found.features} <= set(known)
    for each in found.features:
        assert set(each.types) <= set(known[each.table].columns)
        assert all(
            isinstance(feature_writers.arrow_type(text), pa.DataType) for text in each.types.values()
        )
    codecs = [each.codec for each in found.features if each.codec]
    assert len(codecs) == len(set(codecs))
    if found.format in data_formats.names():
        assert set(codecs) <= {each.name for each in data_formats.find(found.format).codecs}
    functions = [found.write, *(each.write for each in found.features if each.write)]
    functions += [steps[0] for steps in found.readers.values()]
    own = [each for each in functions if each.startswith("format_bench.")]
    assert all(callable(pkgutil.resolve_name(each)) for each in own)


@pytest.mark.parametrize("name", ["zstd", "lz4_raw", "delta, integers", "decimals, int32", "page index"])
def test_a_file_of_parquet_has_its_feature_and_comes_back(tmp_path, name):
    parquet = features.find("Parquet[polars]")
    path = tmp_path / "t.parquet"
    saved = written(parquet, name, path)
    column = pq.read_metadata(path).row_group(0).column(0)
    seen = {
        "zstd": column.compression,
        "lz4_raw": column.compression,
        "delta, integers": column.encodings[-1],
        "decimals, int32": column.physical_type,
        "page index": column.has_column_index,
    }
    wanted = {"zstd": "ZSTD", "lz4_raw": "LZ4", "delta, integers": "DELTA_BINARY_PACKED"}
    wanted |= {"decimals, int32": "INT32", "page index": True}
    assert seen[name] == wanted[name]
    found = sameness.compare(saved, library_readers.read(parquet.readers["pyarrow"], str(path)))
    assert (found.changed, found.retyped) == (0, 0)


@pytest.mark.parametrize(
    "name", ["dictionary deltas", "run ends", "views of text", "decimals, 256 bits"]
)
def test_a_file_of_arrow_has_its_feature_and_comes_back(tmp_path, name):
    arrow = features.find("Feather")
    path = tmp_path / "t.feather"
    saved = written(arrow, name, path)
    with pa.ipc.open_file(path) as file:
        kinds = {
            "dictionary deltas": "dictionary<values=string, indices=int32, ordered=0>",
            "run ends": "run_end_encoded<run_ends: int32, values: string>",
            "views of text": "string_view",
            "decimals, 256 bits": "decimal256(76, 2)",
        }
        assert str(file.schema.field("c").type) == kinds[name]
        if name == "dictionary deltas":
            sizes = [len(file.get_batch(at).column("c").dictionary) for at in range(2)]
            assert (file.num_record_batches, sizes[-1]) == (2, 4)
            assert file.stats.num_dictionary_deltas == 1
    found = sameness.compare(saved, library_readers.read(arrow.readers["pyarrow"], str(path)))
    assert found.changed == 0


def test_a_function_that_writes_another_table_returns_it(tmp_path):
    saved = written(features.find("Parquet"), "geometry", tmp_path / "t.parquet")
    (point,) = {value for value, _ in saved.rows}
    assert len(base64.b64decode(point)) == 21  # well-known binary
    delta = features.find("Delta")
    saved = written(delta, "deleted rows", tmp_path / "t.delta")
    assert {row for _, row in saved.rows} == {"0", "2", "3"}
    read = library_readers.read(delta.readers["deltalake"], str(tmp_path / "t.delta"))
    assert sameness.compare(saved, read).changed == 0


@pytest.mark.parametrize("text", ["int64", "int64(", "print('x')", "field('a', int64())", "1"])
def test_other_texts_are_no_types_of_arrow(text):
    with pytest.raises((AttributeError, SyntaxError, TypeError, ValueError)):
        feature_writers.arrow_type(text)


def test_an_unknown_feature_is_refused_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="did you mean zstd"):
        features.find("Parquet").feature("zstdd")
    with pytest.raises(UnknownNameError, match="no format with features 'Parket'"):
        features.find("Parket")


def test_a_wrong_declaration_names_its_file(tmp_path, monkeypatch):
    (tmp_path / "bad.toml").write_text('format = "X"\nsuffix = 1\n', encoding="utf-8")
    monkeypatch.setattr(features, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=r"bad\.toml: .*suffix"):
        features.formats.__wrapped__()


def test_shipped_verdicts_of_parquet_java_tell_its_codecs_apart():
    found = {
        each.feature: each.verdict
        for each in shipped.feature_readings()
        if (each.format, each.reader) == ("Parquet", "parquet-java")
    }
    assert (found["zstd"], found["brotli"]) == ("same", "refused")


def test_shipped_verdicts_are_of_declared_features_and_of_all():
    found = shipped.feature_readings()
    readers = {}
    for each in found:
        readers.setdefault(each.format, set()).add(each.reader)
    tried = {(each.format, each.feature, each.reader) for each in found}
    # A new feature, or a renamed one, needs `study compatibility --features` and its --facts again.
    wanted = {
        (each.format, feature.name, reader)
        for each, feature in ALL
        for reader in readers.get(each.format, ())
    }
    assert tried == wanted
    assert set(readers) == set(features.formats())


def test_reads_need_no_library_but_the_one_that_reads():
    tree = ast.parse(Path(library_readers.__file__).read_text(encoding="utf-8"))
    modules = {name.name for node in tree.body if isinstance(node, ast.Import) for name in node.names}
    modules |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    own = {each for each in modules if each.startswith("format_bench")}
    assert modules - own <= {
        "__future__",
        "ast",
        "pkgutil",
        "uuid",
        "warnings",
        "collections.abc",
        "pathlib",
        "typing",
    }


def test_tables_of_arrow_are_printed_with_their_own_types():
    plain = pa.array([1, None, 1, 1])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 4], pa.int32()), pa.array([1, None, 1]))
    uuids = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0" * 16] * 4, pa.binary(16)))
    table = pa.table({"plain": plain, "runs": runs, "uuids": uuids})
    found = CanonicalTable.of_arrow(table)
    assert [str(kind) for _, kind in found.columns] == ["int64", "int64", "binary"]
    assert found.values(0) == found.values(1) == ["1", None, "1", "1"]
    assert json.loads(found.text.splitlines()[0])["rows"] == len(table)
    assert CanonicalTable.parse(found.text).columns == found.columns
    empty = CanonicalTable.of_arrow(table.slice(0, 0))
    assert (len(empty.rows), empty.columns) == (0, found.columns)
