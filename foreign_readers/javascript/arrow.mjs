// Prints a file of Arrow IPC, or a Parquet file through parquet-wasm, in canonical form, as Arrow's own
// library for JavaScript gives their values.
import { readFileSync } from 'node:fs'
import { tableFromIPC, Type } from 'apache-arrow'
import { readParquet } from 'parquet-wasm'
import { binary, float32, float64, listOf, main, printed, structType } from './canonical.mjs'

const UNITS = ['s', 'ms', 'us', 'ns']
const PER_MILLISECOND = [1e-3, 1, 1e3, 1e6]
const MILLISECONDS_OF_DAY = 86_400_000

// [type, function that prints a value which is not null] by a type of Arrow.
function printerOf(type) {
  switch (type.typeId) {
    case Type.Null: return ['null', () => null]
    case Type.Bool: return ['bool', value => value]
    case Type.Int: return [`${type.isSigned ? '' : 'u'}int${type.bitWidth}`, String]
    // 16 bits come as a number of JavaScript.
    case Type.Float: return type.precision === 1 ? float32 : float64
    case Type.Utf8:
    case Type.LargeUtf8: return ['utf8', String]
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary: return binary
    case Type.Decimal: return [`decimal(${type.precision}, ${type.scale})`, value => decimal(value, type.scale)]
    case Type.Date: return ['date', value => String(Math.floor(Number(value) / MILLISECONDS_OF_DAY))]
    case Type.Time: return [`time(${UNITS[type.unit]})`, String]
    case Type.Duration: return [`duration(${UNITS[type.unit]})`, String]
    case Type.Timestamp: {
      // All units come as milliseconds, a float.
      const zone = type.timezone ? `, ${type.timezone}` : ''
      const print = value => String(BigInt(Math.round(Number(value) * PER_MILLISECOND[type.unit])))
      return [`timestamp(${UNITS[type.unit]}${zone})`, print]
    }
    case Type.Dictionary: return printerOf(type.dictionary)
    case Type.List:
    case Type.FixedSizeList: return listOf(printerOf(type.children[0].type))
    case Type.Map: {
      const [[key, printKey], [value, print]] = type.children[0].type.children.map(child => printerOf(child.type))
      return [`map<${key}, ${value}>`, map => Array.from(map, pair => [printKey(pair[0]), printed(pair[1], print)])]
    }
    case Type.Struct: {
      const parts = type.children.map(child => [child.name, ...printerOf(child.type)])
      const print = row => Array.from(row, ([, value], place) => printed(value, parts[place][2]))
      return [structType(parts), print]
    }
    default: throw new Error(`${type} has no canonical type`)
  }
}

// A decimal of words of 32 bits, the least significant first, in two's complement.
function decimal(words, scale) {
  let number = 0n
  for (const word of Array.from(words).reverse()) number = (number << 32n) | BigInt(word)
  number = BigInt.asIntN(32 * words.length, number)
  const digits = (number < 0n ? -number : number).toString().padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${number < 0n ? '-' : ''}${digits.slice(0, point)}${scale ? `.${digits.slice(point)}` : ''}`
}

await main(path => {
  const bytes = readFileSync(path)
  const table = tableFromIPC(path.endsWith('.parquet') ? readParquet(bytes).intoIPCStream() : bytes)
  const columns = table.schema.fields.map(field => [field.name, ...printerOf(field.type)])
  const rows = Array.from({ length: table.numRows }, (_, row) => (
    columns.map(([, , print], place) => printed(table.getChildAt(place).get(row), print))
  ))
  return { columns, rows }
})
