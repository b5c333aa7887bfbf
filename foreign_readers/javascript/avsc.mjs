// Prints an Avro file in canonical form, as avsc reads it by default: without logical types.
import avsc from 'avsc'
import { binary, float32, float64, listOf, main, printed, structType } from './canonical.mjs'

const FLAT = {
  null: ['null', () => null],
  boolean: ['bool', value => value],
  int: ['int32', String],
  long: ['int64', String],
  float: float32,
  double: float64,
  string: ['utf8', String],
  bytes: binary,
}

// [type, function that prints a value which is not null] by a type of avsc.
function printerOf(type) {
  const name = type.typeName
  if (FLAT[name]) return FLAT[name]
  if (name === 'enum') return FLAT.string
  if (name === 'fixed') return binary
  if (name.startsWith('union:')) {
    const others = type.types.filter(each => each.typeName !== 'null')
    if (others.length !== 1) throw new Error(`a union of ${others.length} types has no canonical type`)
    const [inner, print] = printerOf(others[0])
    // Unions whose types could be taken for each other come as objects with the type's name.
    const unwrap = value => (name === 'union:wrapped' ? Object.values(value)[0] : value)
    return [inner, value => print(unwrap(value))]
  }
  if (name === 'array') return listOf(printerOf(type.itemsType))
  if (name === 'map') {
    const [inner, print] = printerOf(type.valuesType)
    return [`map<utf8, ${inner}>`, map => Object.entries(map).map(([key, value]) => [key, printed(value, print)])]
  }
  if (name === 'record') {
    const parts = type.fields.map(field => [field.name, ...printerOf(field.type)])
    return [structType(parts), row => parts.map(([field, , print]) => printed(row[field], print))]
  }
  throw new Error(`${name} has no canonical type`)
}

await main(path => new Promise((resolve, reject) => {
  let columns = []
  const rows = []
  avsc.createFileDecoder(path)
    .on('metadata', type => {
      try {
        columns = type.fields.map(field => [field.name, ...printerOf(field.type)])
      } catch (error) {
        reject(error)
      }
    })
    .on('error', reject)
    .on('data', row => rows.push(columns.map(([name, , print]) => printed(row[name], print))))
    .on('end', () => resolve({ columns, rows }))
}))
