//! Prints an Avro file in canonical form, as the crate apache-avro reads it.

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Write};

use apache_avro::schema::{DecimalSchema, Schema};
use apache_avro::types::Value;
use apache_avro::Reader;
use base64::engine::general_purpose::STANDARD;
use base64::Engine;
use serde_json::{json, Value as Json};

type Found<T> = Result<T, Box<dyn Error>>;

fn main() {
    // One line, without advice on traces.
    std::panic::set_hook(Box::new(|panic| eprintln!("{}", panic.to_string().replace('\n', " "))));
    let path = std::env::args().nth(1).unwrap_or_default();
    if let Err(error) = print(&path) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

fn print(path: &str) -> Found<()> {
    let reader = Reader::new(BufReader::new(File::open(path)?))?;
    let Schema::Record(record) = reader.writer_schema().clone() else {
        return Err("the file has no records".into());
    };
    let columns = record
        .fields
        .iter()
        .map(|field| Ok(json!({"name": field.name, "type": kind(&field.schema)?})))
        .collect::<Found<Vec<_>>>()?;
    let schema = reader.writer_schema().clone();
    let rows = reader.map(|row| value(&row?, &schema)).collect::<Found<Vec<_>>>()?;
    let mut text = format!("{}\n", json!({"columns": columns, "rows": rows.len()}));
    for row in rows {
        text += &format!("{row}\n");
    }
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// The canonical type of a schema.
fn kind(schema: &Schema) -> Found<String> {
    Ok(match schema {
        Schema::Null => "null".into(),
        Schema::Boolean => "bool".into(),
        Schema::Int => "int32".into(),
        Schema::Long => "int64".into(),
        Schema::Float => "float32".into(),
        Schema::Double => "float64".into(),
        Schema::Bytes | Schema::Fixed(_) => "binary".into(),
        Schema::String | Schema::Enum(_) => "utf8".into(),
        Schema::Decimal(DecimalSchema { precision, scale, .. }) => format!("decimal({precision}, {scale})"),
        Schema::Date => "date".into(),
        Schema::TimeMillis => "time(ms)".into(),
        Schema::TimeMicros => "time(us)".into(),
        Schema::TimestampMillis => "timestamp(ms, UTC)".into(),
        Schema::TimestampMicros => "timestamp(us, UTC)".into(),
        Schema::TimestampNanos => "timestamp(ns, UTC)".into(),
        Schema::LocalTimestampMillis => "timestamp(ms)".into(),
        Schema::LocalTimestampMicros => "timestamp(us)".into(),
        Schema::LocalTimestampNanos => "timestamp(ns)".into(),
        Schema::Array(array) => format!("list<{}>", kind(&array.items)?),
        Schema::Map(map) => format!("map<utf8, {}>", kind(&map.types)?),
        Schema::Record(record) => {
            let parts = record.fields.iter().map(|field| {
                Ok(format!("{}: {}", Json::from(field.name.as_str()), kind(&field.schema)?))
            });
            format!("struct<{}>", parts.collect::<Found<Vec<_>>>()?.join(", "))
        }
        Schema::Union(union) => {
            let others: Vec<_> = union.variants().iter().filter(|each| **each != Schema::Null).collect();
            match others[..] {
                [one] => kind(one)?,
                _ => return Err(format!("a union of {} types has no canonical type", others.len()).into()),
            }
        }
        other => return Err(format!("{other:?} has no canonical type").into()),
    })
}

/// A value of a schema in canonical form.
fn value(of: &Value, schema: &Schema) -> Found<Json> {
    Ok(match (of, schema) {
        (Value::Union(place, each), Schema::Union(union)) => value(each, &union.variants()[*place as usize])?,
        (Value::Array(values), Schema::Array(array)) => {
            Json::Array(values.iter().map(|each| value(each, &array.items)).collect::<Found<_>>()?)
        }
        (Value::Record(values), Schema::Record(record)) => {
            let pairs = values.iter().zip(&record.fields);
            Json::Array(pairs.map(|((_, each), field)| value(each, &field.schema)).collect::<Found<_>>()?)
        }
        (Value::Map(values), Schema::Map(map)) => {
            // The crate keeps no order.
            let mut pairs: Vec<_> = values.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            let printed = pairs.into_iter().map(|(key, each)| Ok(json!([key, value(each, &map.types)?])));
            Json::Array(printed.collect::<Found<_>>()?)
        }
        (Value::Decimal(each), Schema::Decimal(DecimalSchema { scale, .. })) => {
            decimal(&Vec::<u8>::try_from(each)?, *scale)?.into()
        }
        _ => flat(of)?,
    })
}

/// The text of a decimal of bytes in two's complement, the most significant first.
fn decimal(bytes: &[u8], scale: usize) -> Found<String> {
    if bytes.len() > 16 {
        return Err(format!("a decimal of {} bytes", bytes.len()).into());
    }
    let sign = if bytes.first().is_some_and(|each| each & 0x80 != 0) { -1 } else { 0 };
    let number = bytes.iter().fold(sign, |number: i128, each| number << 8 | i128::from(*each));
    let digits = format!("{:0>1$}", number.unsigned_abs(), scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let point = if scale == 0 { "" } else { "." };
    Ok(format!("{}{whole}{point}{fraction}", if number < 0 { "-" } else { "" }))
}

fn flat(of: &Value) -> Found<Json> {
    Ok(match of {
        Value::Null => Json::Null,
        Value::Boolean(each) => (*each).into(),
        Value::Int(each) | Value::Date(each) | Value::TimeMillis(each) => each.to_string().into(),
        Value::Long(each)
        | Value::TimeMicros(each)
        | Value::TimestampMillis(each)
        | Value::TimestampMicros(each)
        | Value::TimestampNanos(each)
        | Value::LocalTimestampMillis(each)
        | Value::LocalTimestampMicros(each)
        | Value::LocalTimestampNanos(each) => each.to_string().into(),
        Value::Float(each) if each.is_nan() => "nan".into(),
        Value::Float(each) => format!("{:08x}", each.to_bits()).into(),
        Value::Double(each) if each.is_nan() => "nan".into(),
        Value::Double(each) => format!("{:016x}", each.to_bits()).into(),
        Value::Bytes(each) | Value::Fixed(_, each) => STANDARD.encode(each).into(),
        Value::String(each) | Value::Enum(_, each) => each.as_str().into(),
        other => return Err(format!("{other:?} has no canonical form").into()),
    })
}
