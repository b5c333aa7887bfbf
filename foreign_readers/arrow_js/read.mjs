// Prints a file of Arrow IPC in canonical form, as Arrow's own library for JavaScript reads it.
import { readFileSync } from 'node:fs'
import { tableFromIPC, Type } from 'apache-arrow'

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
    case Type.Float: return type.precision === 1 ? ['float32', value => bits(value, 4)] : ['float64', value => bits(value, 8)]
    case Type.Utf8:
    case Type.LargeUtf8: return ['utf8', String]
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary: return ['binary', value => Buffer.from(value).toString('base64')]
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
    case Type.FixedSizeList: {
      const [inner, print] = printerOf(type.children[0].type)
      return [`list<${inner}>`, values => Array.from(values, value => printed(value, print))]
    }
    case Type.Map: {
      const [[key, printKey], [value, print]] = type.children[0].type.children.map(child => printerOf(child.type))
      return [`map<${key}, ${value}>`, map => Array.from(map, pair => [printKey(pair[0]), printed(pair[1], print)])]
    }
    case Type.Struct: {
      const parts = type.children.map(child => printerOf(child.type))
      const names = type.children.map((child, place) => `${JSON.stringify(child.name)}: ${parts[place][0]}`)
      const print = row => Array.from(row, ([, value], place) => printed(value, parts[place][1]))
      return [`struct<${names.join(', ')}>`, print]
    }
    default: throw new Error(`${type} has no canonical type`)
  }
}

// The bits of a float of 4 or 8 bytes.
function bits(value, size) {
  if (Number.isNaN(value)) return 'nan'
  const buffer = Buffer.alloc(size)
  if (size === 4) buffer.writeFloatBE(value)
  else buffer.writeDoubleBE(value)
  return buffer.toString('hex')
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

const printed = (value, print) => (value === null || value === undefined ? null : print(value))

try {
  const table = tableFromIPC(readFileSync(process.argv[2]))
  const printers = table.schema.fields.map(field => printerOf(field.type))
  const columns = table.schema.fields.map((field, place) => ({ name: field.name, type: printers[place][0] }))
  const lines = [{ columns, rows: table.numRows }]
  for (let row = 0; row < table.numRows; row++) {
    lines.push(printers.map(([, print], place) => printed(table.getChildAt(place).get(row), print)))
  }
  process.stdout.write(lines.map(line => JSON.stringify(line) + '\n').join(''))
} catch (error) {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exitCode = 1
}
