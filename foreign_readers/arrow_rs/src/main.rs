//! Prints a file of Parquet, Arrow IPC, ORC or Avro in canonical form, as crates read it to record batches.

mod canonical;

use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Write};
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

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
    let (schema, batches) = read(path)?;
    let text = canonical::table(&schema, &batches)?;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

fn read(path: &str) -> Found<(SchemaRef, Vec<RecordBatch>)> {
    let file = File::open(path)?;
    match Path::new(path).extension().and_then(|each| each.to_str()) {
        Some("parquet") => {
            let builder = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)?;
            let schema = builder.schema().clone();
            Ok((schema, builder.build()?.collect::<Result<_, _>>()?))
        }
        Some("feather") => {
            let reader = arrow_ipc::reader::FileReader::try_new(file, None)?;
            Ok((reader.schema(), reader.collect::<Result<_, _>>()?))
        }
        Some("orc") => {
            let builder = orc_rust::ArrowReaderBuilder::try_new(file)?;
            Ok((builder.schema(), builder.build().collect::<Result<_, _>>()?))
        }
        _ => {
            let reader = arrow_avro::reader::ReaderBuilder::new().build(BufReader::new(file))?;
            Ok((reader.schema(), reader.collect::<Result<_, _>>()?))
        }
    }
}
