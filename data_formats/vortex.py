"""Vortex through its own Python library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, Kind, PartialReads, RemoteTable, Snippet, Streams, TableLayout, Trait
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.predicate import OPERATORS
from adapter_core.tables import arrow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import vortex

    from adapter_core import Batch, Predicate, RemoteFile
    from adapter_core.predicate import Value


class Adapter(PartialReads, Streams, RemoteTable):
    """Vortex through `vortex.io.write` and `vortex.open`, to and from Arrow.

    Vortex chooses encodings by samples of the values: dictionaries, runs, bit-packing, FSST, ALP and
    more, none of them a codec. Its option ``compact``, which adds Zstandard and Pcodec, is a setting.
    Files have no checksums: flipped bits mostly come back as other values, and zeroed or swapped pages
    ended the process in 4 of 8 trials with vortex-data 0.91.0. pandas' own dtypes come back as similar
    ones, categories as their values.
    """

    label = "Vortex"
    suffix = ".vortex"
    requires = ("pandas", "vortex-data", "pyarrow>=15")
    modules: ClassVar = {"vortex-data": "vortex"}
    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    recommended = Recommended(
        "https://github.com/vortex-data/vortex/blob/bcf8cb2e94668c1e2485e45d42f99a4a0a01e86f/"
        "vortex-python/src/io.rs",
        None,
        options={"compact": True},
        words="compact where a small size counts more than fast reads",
        seen="2026-11-25",
    )
    tuned_indexes = "nothing else: statistics of zones are in each file"
    remote_schemes: ClassVar = ("http", "s3")
    save_schemes: ClassVar = ("s3",)
    crash_on_damage = "damaged files end the process during a read (SIGABRT)"
    refuses: ClassVar = arrow.REFUSES_WITHOUT_METADATA | {Kind.TIMEDELTA: "Vortex takes none from Arrow"}
    file_facts = FileFacts(version="1", threads="all cores")
    snippet = Snippet(
        imports="import vortex",
        write="{write}(table, {path})",
        read="table = vortex.open({path}).to_arrow().read_all()",
        given=Given.TABLE,
        changes={"category": "str"},
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the function that writes."""
        options = (
            "vortex.io.VortexWriteOptions.compact()" if self.options.get("compact") else "vortex.io"
        )
        return {"write": f"{options}.write"}

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import vortex

        table = arrow.arrow_of(df)
        if self.options.get("compact"):
            vortex.io.VortexWriteOptions.compact().write(table, str(path))
        else:
            vortex.io.write(table, str(path))

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        table = "pa.Table.from_pandas(df, preserve_index=False)"
        return f"import pyarrow as pa\nimport vortex\n\nvortex.io.write({table}, str(target))\n"

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import vortex

        vortex.io.write(arrow.reader_of(batches), str(path))

    def _count_rows(self, path: Path) -> int:
        import vortex

        return _rows(vortex.open(str(path)))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import vortex

        return arrow.frame_of(vortex.open(str(path)).to_arrow(columns).read_all())

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import vortex

        opened = vortex.open(file.key, store=_store_of(file))
        return arrow.frame_of(opened.to_arrow(columns).read_all())

    def _count_rows_remote(self, file: RemoteFile) -> int:
        import vortex

        return _rows(vortex.open(file.key, store=_store_of(file)))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import vortex

        vortex.io.write(arrow.arrow_of(df), file.key, store=_store_of(file))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import vortex

        yield from arrow.array_batches(vortex.open(str(path)).to_arrow(columns))

    def _column_names(self, path: Path) -> list[str]:
        import vortex

        # The names of its own dtype have escapes before quotation marks.
        return list(vortex.open(str(path)).to_arrow().schema.names)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        import vortex

        file = vortex.open(str(path))
        rows = _rows(file)
        range_of_rows = min(start, rows), rows if stop is None else min(stop, rows)
        part = file.to_repeated_scan(columns).execute(row_range=range_of_rows).to_arrow().read_all()
        return arrow.frame_of(part, nullable=_nullable_columns(file, columns))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        import vortex

        file = vortex.open(str(path))
        part = file.to_arrow(columns, expr=_expression(predicate, file.to_arrow().schema)).read_all()
        return arrow.frame_of(part, nullable=_nullable_columns(file, columns))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import vortex

        file = vortex.open(str(path))
        nullable = _nullable_columns(file, columns)
        rows = _rows(file)
        # One scan of the whole file would read far ahead.
        scan = file.to_repeated_scan(columns)
        for start in range(0, rows, batch_rows):
            part = scan.execute(row_range=(start, min(start + batch_rows, rows)))
            yield arrow.frame_of(part.to_arrow().read_all(), nullable=nullable)


def _store_of(file: RemoteFile) -> Any:
    """Return an object store in which the file's key is its path."""
    from vortex.store import HTTPStore, S3Store

    retries: Any = {"max_retries": file.attempts - 1}
    clients: Any = {"allow_http": True}
    if file.scheme == "http":
        origin = file.url.removesuffix(file.key)
        return HTTPStore(origin, client_options=clients, retry_config=retries)
    found = file.credentials()
    options: Any = {
        "region": file.region,
        "skip_signature": found is None,
        "virtual_hosted_style_request": False,
        # Both, since the variable of the second is taken before the first.
        "endpoint": file.origin,
        "aws_endpoint_url_s3": file.origin,
    }
    if found:
        options["access_key_id"] = found.access_key
        options["secret_access_key"] = found.secret_key
        options |= {"session_token": found.session_token} if found.session_token else {}
    return S3Store(file.bucket, config=options, client_options=clients, retry_config=retries)


def _rows(file: vortex.VortexFile) -> int:
    return max((last for _, last in file.splits()), default=0)


def _nullable_columns(file: vortex.VortexFile, columns: list[str] | None) -> list[str]:
    """Return the columns with nulls, of those whose dtype in pandas depends on them."""
    from vortex import expr

    names = arrow.may_be_nullable(file.to_arrow(columns).schema)
    return [
        name
        for name in names
        if file.to_arrow([name], expr=expr.is_null(expr.column(name)), limit=1).read_all().num_rows
    ]


def _expression(predicate: Predicate, schema: pa.Schema) -> vortex.Expr:
    """Return a predicate as an expression of Vortex, whose literals have the types of the columns."""
    from vortex import expr

    comparisons = arrow.fitted_to_schema(predicate, schema).by_total_order().comparisons
    return reduce(
        expr.and_,
        (
            OPERATORS[each.operator](
                expr.column(each.column), literal_of(each.value, schema.field(each.column).type)
            )
            for each in comparisons
        ),
    )


def literal_of(value: Value, kind: pa.DataType) -> vortex.Expr:
    """Return a constant of the type of a column: Vortex compares values of one type."""
    import pyarrow as pa
    import vortex

    if isinstance(value, str):
        dtype = vortex.utf8()
    elif isinstance(value, bool):
        dtype = vortex.bool_()
    elif pa.types.is_timestamp(kind):
        dtype = vortex.timestamp(kind.unit, tz=kind.tz)
    elif pa.types.is_date(kind):
        dtype = vortex.date("days")
    elif pa.types.is_decimal(kind):
        dtype = vortex.decimal(precision=kind.precision, scale=kind.scale)
    elif pa.types.is_floating(kind):
        dtype = vortex.float_(kind.bit_width)
    else:
        integer = vortex.uint if pa.types.is_unsigned_integer(kind) else vortex.int_
        dtype = integer(kind.bit_width)
    return vortex.expr.literal(dtype, value)
