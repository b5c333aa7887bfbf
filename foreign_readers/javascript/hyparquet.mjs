// Prints a Parquet file in canonical form, as hyparquet reads it by default.
import { asyncBufferFromFile, parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet'
import { binary, float32, float64, listOf, main, printed, structType } from './canonical.mjs'

const MILLISECONDS_OF_DAY = 86_400_000

// [type, function that prints a value which is not null] by a node of the schema.
function printerOf(node) {
  const { element, children } = node
  if (children.length) return nestedPrinterOf(node)
  const logical = element.logical_type ?? {}
  const converted = element.converted_type ?? ''
  const integers = /^(U?)INT_(\d+)$/.exec(converted)
  if (logical.type === 'NULL') return ['null', () => null]
  if (element.type === 'BOOLEAN') return ['bool', value => value]
  if (converted === 'DECIMAL' || logical.type === 'DECIMAL' || logical.type === 'FLOAT16') return float64
  if (converted === 'DATE') return ['date', value => String(value.getTime() / MILLISECONDS_OF_DAY)]
  if (logical.type === 'TIMESTAMP' || converted.startsWith('TIMESTAMP') || element.type === 'INT96') {
    const inUtc = logical.type === 'TIMESTAMP' ? logical.isAdjustedToUTC : element.type !== 'INT96'
    return [inUtc ? 'timestamp(ms, UTC)' : 'timestamp(ms)', value => String(value.getTime())]
  }
  if (logical.type === 'TIME' || converted.startsWith('TIME_')) {
    const unit = { MILLIS: 'ms', MICROS: 'us', NANOS: 'ns' }[logical.unit ?? converted.slice(5)]
    return [`time(${unit})`, String]
  }
  if (logical.type === 'INTEGER') return [`${logical.isSigned ? '' : 'u'}int${logical.bitWidth}`, String]
  if (integers) return [`${integers[1].toLowerCase()}int${integers[2]}`, String]
  if (element.type === 'INT32') return ['int32', String]
  if (element.type === 'INT64') return ['int64', String]
  if (element.type === 'FLOAT') return float32
  if (element.type === 'DOUBLE') return float64
  if (converted === 'UTF8' || converted === 'ENUM' || logical.type === 'STRING') return ['utf8', String]
  return binary
}

function nestedPrinterOf({ element, children }) {
  if (element.converted_type === 'LIST') return listOf(printerOf(children[0].children[0]))
  if (element.converted_type === 'MAP') {
    const [[keyType, printKey], [valueType, print]] = children[0].children.map(printerOf)
    const pairs = map => Object.entries(map).map(([key, value]) => [printKey(key), printed(value, print)])
    return [`map<${keyType}, ${valueType}>`, pairs]
  }
  const parts = children.map(child => [child.element.name, ...printerOf(child)])
  const print = struct => parts.map(([name, , each]) => printed(struct[name], each))
  return [structType(parts), print]
}

await main(async path => {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const columns = parquetSchema(metadata).children.map(child => [child.element.name, ...printerOf(child)])
  let rows = []
  // Without utf8, bytes that are no text stay bytes.
  await parquetRead({ file, metadata, utf8: false, onComplete: found => { rows = found } })
  return { columns, rows: rows.map(row => columns.map(([, , print], place) => printed(row[place], print))) }
})
