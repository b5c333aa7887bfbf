//! The canonical form of record batches: JSON lines, docs/compatibility.md describes them.

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, TimeUnit};
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use serde_json::{json, Value};

type Found<T> = Result<T, ArrowError>;

const MILLISECONDS_OF_DAY: i64 = 86_400_000;

pub fn table(schema: &Schema, batches: &[RecordBatch]) -> Found<String> {
    let columns = schema
        .fields()
        .iter()
        .map(|field| Ok(json!({"name": field.name(), "type": kind(field.data_type())?})))
        .collect::<Found<Vec<_>>>()?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let mut text = format!("{}\n", json!({"columns": columns, "rows": rows}));
    for batch in batches {
        for row in 0..batch.num_rows() {
            let values = batch.columns().iter().map(|column| value(column, row));
            text += &format!("{}\n", Value::Array(values.collect::<Found<_>>()?));
        }
    }
    Ok(text)
}

/// The canonical type of a type of Arrow.
fn kind(data_type: &DataType) -> Found<String> {
    use DataType::*;
    Ok(match data_type {
        Null => "null".into(),
        Boolean => "bool".into(),
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16 | Float32 | Float64 => {
            format!("{data_type:?}").to_lowercase()
        }
        Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s) => format!("decimal({p}, {s})"),
        Utf8 | LargeUtf8 | Utf8View => "utf8".into(),
        Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => "binary".into(),
        Date32 | Date64 => "date".into(),
        Time32(each) | Time64(each) => format!("time({})", unit(each)),
        Timestamp(each, None) => format!("timestamp({})", unit(each)),
        Timestamp(each, Some(zone)) => format!("timestamp({}, {zone})", unit(each)),
        Duration(each) => format!("duration({})", unit(each)),
        Dictionary(_, of) => kind(of)?,
        RunEndEncoded(_, of) => kind(of.data_type())?,
        List(of) | LargeList(of) | ListView(of) | LargeListView(of) | FixedSizeList(of, _) => {
            format!("list<{}>", kind(of.data_type())?)
        }
        Struct(fields) => {
            let parts = fields.iter().map(|field| part(field)).collect::<Found<Vec<_>>>()?;
            format!("struct<{}>", parts.join(", "))
        }
        Map(of, _) => match of.data_type() {
            Struct(pair) => format!("map<{}, {}>", kind(pair[0].data_type())?, kind(pair[1].data_type())?),
            other => return Err(without(other)),
        },
        other => return Err(without(other)),
    })
}

fn part(field: &Field) -> Found<String> {
    Ok(format!("{}: {}", Value::from(field.name().as_str()), kind(field.data_type())?))
}

fn unit(of: &TimeUnit) -> &'static str {
    match of {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    }
}

fn without(of: &DataType) -> ArrowError {
    ArrowError::NotYetImplemented(format!("{of} has no canonical type"))
}

/// The number at a row as text.
macro_rules! number {
    ($array:expr, $row:expr, $of:ty) => {
        Value::from($array.as_primitive::<$of>().value($row).to_string())
    };
}

/// The bits of the float at a row.
macro_rules! float {
    ($array:expr, $row:expr, $of:ty, $digits:literal) => {{
        let number = $array.as_primitive::<$of>().value($row);
        let bits = format!(concat!("{:0", $digits, "x}"), number.to_bits());
        Value::from(if number.is_nan() { "nan".into() } else { bits })
    }};
}

/// The value of an array at a row.
fn value(array: &dyn Array, row: usize) -> Found<Value> {
    use DataType::*;
    if array.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match array.data_type() {
        Null => Value::Null,
        Boolean => array.as_boolean().value(row).into(),
        Int8 => number!(array, row, Int8Type),
        Int16 => number!(array, row, Int16Type),
        Int32 => number!(array, row, Int32Type),
        Int64 => number!(array, row, Int64Type),
        UInt8 => number!(array, row, UInt8Type),
        UInt16 => number!(array, row, UInt16Type),
        UInt32 => number!(array, row, UInt32Type),
        UInt64 => number!(array, row, UInt64Type),
        Float16 => float!(array, row, Float16Type, 4),
        Float32 => float!(array, row, Float32Type, 8),
        Float64 => float!(array, row, Float64Type, 16),
        Decimal32(..) => array.as_primitive::<Decimal32Type>().value_as_string(row).into(),
        Decimal64(..) => array.as_primitive::<Decimal64Type>().value_as_string(row).into(),
        Decimal128(..) => array.as_primitive::<Decimal128Type>().value_as_string(row).into(),
        Decimal256(..) => array.as_primitive::<Decimal256Type>().value_as_string(row).into(),
        Utf8 => array.as_string::<i32>().value(row).into(),
        LargeUtf8 => array.as_string::<i64>().value(row).into(),
        Utf8View => array.as_string_view().value(row).into(),
        Binary => STANDARD.encode(array.as_binary::<i32>().value(row)).into(),
        LargeBinary => STANDARD.encode(array.as_binary::<i64>().value(row)).into(),
        BinaryView => STANDARD.encode(array.as_binary_view().value(row)).into(),
        FixedSizeBinary(_) => STANDARD.encode(array.as_fixed_size_binary().value(row)).into(),
        Date32 => number!(array, row, Date32Type),
        Date64 => {
            let milliseconds = array.as_primitive::<Date64Type>().value(row);
            milliseconds.div_euclid(MILLISECONDS_OF_DAY).to_string().into()
        }
        Time32(TimeUnit::Second) => number!(array, row, Time32SecondType),
        Time32(_) => number!(array, row, Time32MillisecondType),
        Time64(TimeUnit::Microsecond) => number!(array, row, Time64MicrosecondType),
        Time64(_) => number!(array, row, Time64NanosecondType),
        Timestamp(TimeUnit::Second, _) => number!(array, row, TimestampSecondType),
        Timestamp(TimeUnit::Millisecond, _) => number!(array, row, TimestampMillisecondType),
        Timestamp(TimeUnit::Microsecond, _) => number!(array, row, TimestampMicrosecondType),
        Timestamp(TimeUnit::Nanosecond, _) => number!(array, row, TimestampNanosecondType),
        Duration(TimeUnit::Second) => number!(array, row, DurationSecondType),
        Duration(TimeUnit::Millisecond) => number!(array, row, DurationMillisecondType),
        Duration(TimeUnit::Microsecond) => number!(array, row, DurationMicrosecondType),
        Duration(TimeUnit::Nanosecond) => number!(array, row, DurationNanosecondType),
        Dictionary(..) => {
            let encoded = array.as_any_dictionary();
            value(encoded.values(), encoded.normalized_keys()[row])?
        }
        List(_) => list(&array.as_list::<i32>().value(row))?,
        LargeList(_) => list(&array.as_list::<i64>().value(row))?,
        FixedSizeList(..) => list(&array.as_fixed_size_list().value(row))?,
        Struct(_) => {
            let columns = array.as_struct().columns().iter();
            Value::Array(columns.map(|column| value(column, row)).collect::<Found<_>>()?)
        }
        Map(..) => {
            let pairs = array.as_map().value(row);
            let both = [pairs.column(0), pairs.column(1)];
            let pair = |place| both.iter().map(|column| value(column, place)).collect::<Found<_>>();
            Value::Array((0..pairs.len()).map(|place| Ok(Value::Array(pair(place)?))).collect::<Found<_>>()?)
        }
        other => return Err(without(other)),
    })
}

fn list(of: &dyn Array) -> Found<Value> {
    Ok(Value::Array((0..of.len()).map(|place| value(of, place)).collect::<Found<_>>()?))
}
