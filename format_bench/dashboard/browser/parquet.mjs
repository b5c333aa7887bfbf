// Reader of the first rows of a Parquet file, with the kinds that pandas gives its columns.
import { decompress } from 'fzstd'
import { parquetMetadataAsync, parquetRead, parquetSchema } from 'hyparquet'
// Not the package as a whole: it compiles WebAssembly, which the page's policy does not allow.
import { decompressBrotli } from 'hyparquet-compressors/src/brotli.js'
import { gunzip } from 'hyparquet-compressors/src/gzip.js'
import { decompressLz4, decompressLz4Raw } from 'hyparquet-compressors/src/lz4.js'
import { BLOCK_ROWS, BOOLEAN_BYTES, KIND, Refusal } from './column.mjs'

const compressors = {
  BROTLI: decompressBrotli,
  GZIP: (input, length) => gunzip(input, new Uint8Array(length)),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
  ZSTD: input => decompress(input),
}

// Times stay the numbers that they are.
const same = value => value
const parsers = {
  timestampFromMilliseconds: same,
  timestampFromMicroseconds: same,
  timestampFromNanoseconds: same,
  dateFromDays: same,
  jsonFromBytes: bytes => bytes && new TextDecoder().decode(bytes),
}

export async function readParquet(file) {
  const buffer = { byteLength: file.size, slice: (start, end) => file.slice(start, end).arrayBuffer() }
  const metadata = await parquetMetadataAsync(buffer, { geoparquet: false })
  const fields = parquetSchema(metadata).children
  const nested = fields.find(({ children, element }) => children.length || element.repetition_type === 'REPEATED')
  if (nested) throw new Refusal(`has nested values in the column ${nested.element.name}`)
  const rows = Number(metadata.num_rows)
  let block = []
  const onComplete = found => { block = found }
  const range = { rowStart: 0, rowEnd: Math.min(rows, BLOCK_ROWS) }
  if (rows) await parquetRead({ file: buffer, metadata, compressors, parsers, utf8: false, geoparquet: false, ...range, onComplete })
  const pandas = pandasFacts(metadata)
  const columns = fields.flatMap(({ element }, place) => {
    const values = block.map(row => (row[place] === undefined || Number.isNaN(row[place]) ? null : row[place]))
    const chunks = metadata.row_groups.map(({ columns: those }) => Number(those[place].meta_data.statistics?.null_count ?? 0))
    const hasNulls = chunks.some(Boolean) || values.includes(null)
    const { name } = element
    const [kind, bytes] = kindOf(element, hasNulls, pandas.columns.get(name))
    // An index that counts rows is none of the data.
    const isCount = pandas.index.length === 1 && pandas.index[0] === name && name.startsWith('__index_level_')
    return isCount && kind === KIND.integer ? [] : [{ name, kind, bytes, values }]
  })
  return { rows, columns }
}

// What pandas notes of its columns, by the names in the file, and the names of its index.
function pandasFacts(metadata) {
  const text = metadata.key_value_metadata?.find(({ key }) => key === 'pandas')?.value
  const { columns = [], index_columns: index = [] } = text ? JSON.parse(text) : {}
  return {
    columns: new Map(columns.map(each => [each.field_name ?? each.name, each])),
    index: index.filter(each => typeof each === 'string'),
  }
}

// The kind of a column, and the bytes of a value; null where they vary.
function kindOf({ type, converted_type: converted = '', logical_type: logical = {} }, hasNulls, pandas) {
  if (pandas?.pandas_type === 'categorical') {
    const { num_categories: number } = pandas.metadata
    return [KIND.category, number <= 127 ? 1 : number <= 32_767 ? 2 : 4]
  }
  if (pandas?.numpy_type?.startsWith('timedelta64')) return [KIND.timedelta, 8]
  // pandas' own types with nulls are named with a capital.
  const [, masked, bits] = /^(U?Int|Float)(\d+)$/.exec(pandas?.numpy_type) ?? []
  if (masked) {
    const kinds = { Int: KIND.nullableInteger, UInt: KIND.nullableUnsigned, Float: KIND.nullableFloat }
    return [kinds[masked], Number(bits) / 8]
  }
  if (pandas?.numpy_type === 'boolean') return [KIND.nullableBoolean, BOOLEAN_BYTES]
  if (type === 'BOOLEAN') return [hasNulls ? KIND.nullableBoolean : KIND.boolean, BOOLEAN_BYTES]
  const is = name => logical.type === name || converted.startsWith(name)
  if (is('NULL')) return [KIND.null, 0]
  if (is('FLOAT16')) return [KIND.halfFloat, 2]
  if (is('DECIMAL')) return [KIND.decimal, 16]
  if (is('DATE')) return [KIND.date, 4]
  if (is('TIMESTAMP')) return [(logical.isAdjustedToUTC ?? true) ? KIND.zoned : KIND.datetime, 8]
  if (type === 'INT96') return [KIND.datetime, 8]
  if (is('TIME')) return [KIND.time, 8]
  if (type === 'INT32' || type === 'INT64') {
    const width = logical.bitWidth ?? Number(/\d+$/.exec(converted)?.[0] ?? type.slice(3))
    const isSigned = logical.isSigned ?? !converted.startsWith('UINT')
    const kinds = hasNulls ? [KIND.nullableInteger, KIND.nullableUnsigned] : [KIND.integer, KIND.unsigned]
    return [kinds[isSigned ? 0 : 1], width / 8]
  }
  if (type === 'FLOAT') return [KIND.float, 4]
  if (type === 'DOUBLE') return [KIND.float, 8]
  const isText = ['STRING', 'UTF8', 'ENUM', 'JSON'].some(is)
  return [isText ? KIND.text : KIND.bytes, null]
}
