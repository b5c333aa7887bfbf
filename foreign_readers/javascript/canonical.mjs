// The canonical form, for the programs of this folder.

export const float32 = ['float32', value => bits(value, 4)]
export const float64 = ['float64', value => bits(value, 8)]
export const binary = ['binary', value => Buffer.from(value).toString('base64')]

// The bits of a float of 4 or 8 bytes.
function bits(value, size) {
  if (Number.isNaN(value)) return 'nan'
  const buffer = Buffer.alloc(size)
  if (size === 4) buffer.writeFloatBE(value)
  else buffer.writeDoubleBE(value)
  return buffer.toString('hex')
}

export const printed = (value, print) => (value === null || value === undefined ? null : print(value))

// [type, function] of lists, by the same of their elements.
export const listOf = ([type, print]) => [`list<${type}>`, values => Array.from(values, value => printed(value, print))]

// The type of structs with some fields, each [name, type, ...].
export const structType = fields => `struct<${fields.map(([name, type]) => `${JSON.stringify(name)}: ${type}`).join(', ')}>`

// Prints for each file the table that a function returns, columns, each [name, type, ...], and printed rows,
// or the error.
export async function main(read) {
  for (const path of process.argv.slice(2)) {
    try {
      const { columns, rows } = await read(path)
      const head = { columns: columns.map(([name, type]) => ({ name, type })), rows: rows.length }
      process.stdout.write(linesOf([head, ...rows]))
    } catch (error) {
      process.stdout.write(linesOf([{ error: `${error.name}: ${error.message}` }]))
    }
  }
}

const linesOf = values => values.map(value => JSON.stringify(value) + '\n').join('')

// The table of values without types, each column of the type that all its values have.
export function inferredTable(names, rows) {
  const found = names.map((name, place) => [name, ...inferred(rows.map(row => row[place]))])
  return { columns: found, rows: rows.map((_, row) => found.map(([, , values]) => values[row])) }
}

// The table of one row that an array is, by facts, each [type, printed value].
export function arrayTable(facts) {
  const found = Object.entries(facts)
  return { columns: found.map(([name, [type]]) => [name, type]), rows: [found.map(([, [, value]]) => value)] }
}

const INTEGERS = {
  Int8Array: 'int8', Int16Array: 'int16', Int32Array: 'int32', BigInt64Array: 'int64',
  Uint8Array: 'uint8', Uint16Array: 'uint16', Uint32Array: 'uint32', BigUint64Array: 'uint64',
}
const FLOATS = { Float32Array: float32, Float64Array: float64 }

// [type, printed values] of numbers in an array of one type.
export function numbers(array) {
  const { name } = array.constructor
  if (!INTEGERS[name] && !FLOATS[name]) return fact(Array.from(array))
  const [type, print] = listOf(FLOATS[name] ?? [INTEGERS[name], String])
  return [type, print(array)]
}

// [type, printed value] of a value without a declared type.
export function fact(value) {
  const [type, [found]] = inferred([value])
  return [type, found]
}

const WORDS = {
  boolean: ['bool', value => value],
  number: float64,
  bigint: ['int64', String],
  string: ['utf8', String],
  date: ['timestamp(ms, UTC)', value => String(value.getTime())],
}

function kindOf(value) {
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return 'list'
  return value instanceof Date ? 'date' : typeof value
}

// [type, printed values] of values without a declared type.
function inferred(values) {
  const present = values.filter(value => value !== null && value !== undefined)
  const kinds = [...new Set(present.map(kindOf))]
  if (!kinds.length) return ['null', values.map(() => null)]
  if (kinds.length > 1) return ['other(mixed)', values.map(value => printed(value, each => JSON.stringify(each)))]
  const [type, results] = inferredOf(kinds[0], present)
  return [type, values.map(value => printed(value, () => results.shift()))]
}

// The same of values of one kind, none of them missing.
function inferredOf(kind, values) {
  if (kind === 'list') {
    const [type, elements] = inferred(values.flatMap(value => Array.from(value)))
    return [`list<${type}>`, values.map(value => elements.splice(0, value.length))]
  }
  if (kind === 'object') {
    const names = [...new Set(values.flatMap(Object.keys))]
    const { columns, rows } = inferredTable(names, values.map(value => names.map(name => value[name])))
    return [structType(columns), rows]
  }
  const [type, print] = WORDS[kind]
  return [type, values.map(print)]
}
