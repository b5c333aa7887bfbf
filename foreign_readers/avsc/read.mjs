// Prints an Avro file in canonical form, as avsc reads it by default: without logical types.
import avsc from 'avsc'

const FLAT = {
  null: ['null', () => null],
  boolean: ['bool', value => value],
  int: ['int32', String],
  long: ['int64', String],
  float: ['float32', value => bits(value, 4)],
  double: ['float64', value => bits(value, 8)],
  string: ['utf8', String],
  bytes: binary(),
}

function binary() {
  return ['binary', value => Buffer.from(value).toString('base64')]
}

// [type, function that prints a value which is not null] by a type of avsc.
function printerOf(type) {
  const name = type.typeName
  if (FLAT[name]) return FLAT[name]
  if (name === 'enum') return FLAT.string
  if (name === 'fixed') return binary()
  if (name.startsWith('union:')) {
    const others = type.types.filter(each => each.typeName !== 'null')
    if (others.length !== 1) throw new Error(`a union of ${others.length} types has no canonical type`)
    const [inner, print] = printerOf(others[0])
    // Unions whose types could be taken for each other come as objects with the type's name.
    const unwrap = value => (name === 'union:wrapped' ? Object.values(value)[0] : value)
    return [inner, value => print(unwrap(value))]
  }
  if (name === 'array') {
    const [inner, print] = printerOf(type.itemsType)
    return [`list<${inner}>`, values => values.map(value => printed(value, print))]
  }
  if (name === 'map') {
    const [inner, print] = printerOf(type.valuesType)
    return [`map<utf8, ${inner}>`, map => Object.entries(map).map(([key, value]) => [key, printed(value, print)])]
  }
  if (name === 'record') {
    const parts = type.fields.map(field => [field.name, ...printerOf(field.type)])
    const names = parts.map(([field, inner]) => `${JSON.stringify(field)}: ${inner}`)
    return [`struct<${names.join(', ')}>`, row => parts.map(([field, , print]) => printed(row[field], print))]
  }
  throw new Error(`${name} has no canonical type`)
}

// The bits of a float of 4 or 8 bytes.
function bits(value, size) {
  if (Number.isNaN(value)) return 'nan'
  const buffer = Buffer.alloc(size)
  if (size === 4) buffer.writeFloatBE(value)
  else buffer.writeDoubleBE(value)
  return buffer.toString('hex')
}

const printed = (value, print) => (value === null || value === undefined ? null : print(value))

function fail(error) {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(1)
}

let printers = []
const rows = []
avsc.createFileDecoder(process.argv[2])
  .on('metadata', type => {
    try {
      printers = type.fields.map(field => [field.name, ...printerOf(field.type)])
    } catch (error) {
      fail(error)
    }
  })
  .on('error', fail)
  .on('data', row => rows.push(printers.map(([name, , print]) => printed(row[name], print))))
  .on('end', () => {
    const columns = printers.map(([name, type]) => ({ name, type }))
    const lines = [{ columns, rows: rows.length }, ...rows]
    process.stdout.write(lines.map(line => JSON.stringify(line) + '\n').join(''))
  })
