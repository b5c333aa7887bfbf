//! Prints the array of a Zarr group in canonical form, as the crate zarrs reads it.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use serde_json::{json, Map, Value};
use zarrs::array::{Array, ArrayBytes};
use zarrs::filesystem::FilesystemStore;
use zarrs::group::Group;

type Found<T> = Result<T, Box<dyn Error>>;
type Fact = (String, String, Value);
type Opened = Array<FilesystemStore>;

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
    let store = Arc::new(FilesystemStore::new(path)?);
    // FormatBench's groups have the names of the array and of its coordinates.
    let names = Group::open(store.clone(), "/")?.attributes()["format_bench.array"].clone();
    let name = names["name"].as_str().ok_or("the group names no array")?;
    let array = Array::open(store.clone(), &format!("/{name}"))?;
    let mut facts = vec![("name".into(), "utf8".into(), name.into()), values("values", &array)?];
    facts.push(edges("shape", array.shape()));
    facts.push(edges("chunks", &chunks(&array)?));
    let (dims, attributes) = dims(&array);
    facts.push(("dims".into(), "list<utf8>".into(), dims));
    add(&mut facts, &attributes, "")?;
    for dim in names["coordinates"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let line = Array::open(store.clone(), &format!("/{dim}"))?;
        facts.push(values(&format!("coordinate {dim}"), &line)?);
        add(&mut facts, &self::dims(&line).1, &format!(" of coordinate {dim}"))?;
    }
    let columns: Vec<_> = facts.iter().map(|(name, kind, _)| json!({"name": name, "type": kind})).collect();
    let row: Vec<_> = facts.into_iter().map(|(_, _, value)| value).collect();
    let text = format!("{}\n{}\n", json!({"columns": columns, "rows": 1}), Value::Array(row));
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

fn edges(name: &str, of: &[u64]) -> Fact {
    (name.into(), "list<int64>".into(), of.iter().map(u64::to_string).collect())
}

/// The shape of chunks, without what reaches beyond the array.
fn chunks(array: &Opened) -> Found<Vec<u64>> {
    let first = vec![0; array.shape().len()];
    let chunks = array.chunk_shape(&first)?;
    let pairs = chunks.iter().zip(array.shape());
    Ok(pairs.map(|(chunk, edge)| chunk.get().min(*edge.max(&1))).collect())
}

/// Names of dimensions, which format 2 has as an attribute, and the other attributes.
fn dims(array: &Opened) -> (Value, Map<String, Value>) {
    let mut attributes = array.attributes().clone();
    let of_format_2 = attributes.remove("_ARRAY_DIMENSIONS");
    let names = array.dimension_names().as_ref().map(|names| json!(names));
    (names.or(of_format_2).unwrap_or_else(|| json!([])), attributes)
}

fn add(facts: &mut Vec<Fact>, attributes: &Map<String, Value>, after: &str) -> Found<()> {
    for (name, value) in attributes {
        let (kind, printed) = attribute(value)?;
        facts.push((format!("attribute {name}{after}"), kind, printed));
    }
    Ok(())
}

/// The type of a value of JSON, and the value in canonical form.
fn attribute(value: &Value) -> Found<(String, Value)> {
    Ok(match value {
        Value::String(_) => ("utf8".into(), value.clone()),
        Value::Bool(_) => ("bool".into(), value.clone()),
        Value::Null => ("null".into(), Value::Null),
        Value::Number(number) if number.is_f64() => {
            let bits = number.as_f64().unwrap_or_default().to_bits();
            ("float64".into(), format!("{bits:016x}").into())
        }
        Value::Number(number) => ("int64".into(), number.to_string().into()),
        Value::Array(values) => {
            let found = values.iter().map(attribute).collect::<Found<Vec<_>>>()?;
            let kind = found.first().map_or("null", |(kind, _)| kind);
            (format!("list<{kind}>"), found.iter().map(|(_, printed)| printed.clone()).collect())
        }
        Value::Object(_) => ("other(json)".into(), value.to_string().into()),
    })
}

/// All values of an array, in C order.
fn values(name: &str, array: &Opened) -> Found<Fact> {
    let bytes = array.retrieve_array_subset::<ArrayBytes>(&array.subset_all())?.into_fixed()?;
    // Named in format 3, and then in format 2.
    let names = array.data_type().to_string();
    let kind = names.split(" / ").next().unwrap_or_default().to_string();
    let printed = print_numbers(&kind, &bytes)?;
    let kind = match kind.as_str() {
        "complex64" => r#"struct<"real": float32, "imaginary": float32>"#.into(),
        "complex128" => r#"struct<"real": float64, "imaginary": float64>"#.into(),
        _ => kind,
    };
    Ok((name.into(), format!("list<{kind}>"), printed))
}

/// The numbers in bytes of the machine's order.
macro_rules! numbers {
    ($bytes:expr, $of:ty, $print:expr) => {
        $bytes
            .chunks_exact(size_of::<$of>())
            .map(|each| $print(<$of>::from_ne_bytes(each.try_into().expect("as many bytes"))))
            .collect()
    };
}

fn print_numbers(kind: &str, bytes: &[u8]) -> Found<Value> {
    Ok(match kind {
        "bool" => bytes.iter().map(|each| *each != 0).collect(),
        "int8" => numbers!(bytes, i8, |each: i8| each.to_string()),
        "int16" => numbers!(bytes, i16, |each: i16| each.to_string()),
        "int32" => numbers!(bytes, i32, |each: i32| each.to_string()),
        "int64" => numbers!(bytes, i64, |each: i64| each.to_string()),
        "uint8" => numbers!(bytes, u8, |each: u8| each.to_string()),
        "uint16" => numbers!(bytes, u16, |each: u16| each.to_string()),
        "uint32" => numbers!(bytes, u32, |each: u32| each.to_string()),
        "uint64" => numbers!(bytes, u64, |each: u64| each.to_string()),
        "float16" => numbers!(bytes, u16, |each: u16| bits(u64::from(each), 4, each & 0x7fff > 0x7c00)),
        "float32" => numbers!(bytes, u32, |each: u32| bits(u64::from(each), 8, f32::from_bits(each).is_nan())),
        "float64" => numbers!(bytes, u64, |each: u64| bits(each, 16, f64::from_bits(each).is_nan())),
        "complex64" => pairs(print_numbers("float32", bytes)?),
        "complex128" => pairs(print_numbers("float64", bytes)?),
        other => return Err(format!("{other} has no canonical type").into()),
    })
}

fn bits(of: u64, digits: usize, is_nan: bool) -> String {
    if is_nan { "nan".into() } else { format!("{of:0digits$x}") }
}

fn pairs(of: Value) -> Value {
    of.as_array().into_iter().flat_map(|all| all.chunks(2)).map(|pair| json!(pair)).collect()
}
