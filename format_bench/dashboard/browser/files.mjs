// Readers of files, by the rules of the Python readers in data_generator/readers.
import Papa from 'papaparse'
import { Column, Refusal } from './column.mjs'
import { readParquet } from './parquet.mjs'
import { readWorkbook } from './workbook.mjs'

// Texts are read as a whole, and browsers have none of more than 512 MB.
const MOST_TEXT_BYTES = 400_000_000
const SEPARATORS = [',', ';', '\t', '|']
const LINES = /\.(?:jsonl|ndjson)$/

const READERS = [
  [/\.(?:csv|tsv)$/, readDelimited],
  [/\.(?:json|jsonl|ndjson)$/, readRecords],
  [/\.(?:parquet|pq|parq)$/, readParquet],
  [/\.(?:xlsx|xlsm)$/, readWorkbook],
]

// The table in a file as {rows, columns}: each column has name, kind, bytes of a value, and first values.
export async function readTable(file) {
  const name = file.name.toLowerCase()
  const reader = READERS.find(([ending]) => ending.test(name))
  if (!reader) throw new Refusal('is of a kind that this page does not read: CSV, JSON, Parquet or Excel is wanted')
  const table = await reader[1](file)
  if (!table.columns.length) throw new Refusal('contains no columns')
  if (!table.rows) throw new Refusal('contains no rows, so there is nothing to measure')
  const names = table.columns.map(each => each.name)
  const twice = names.find((each, place) => names.indexOf(each) < place)
  if (twice !== undefined) throw new Refusal(`has several columns of the same name: ${twice}`)
  return table
}

async function textOf(file) {
  if (file.size > MOST_TEXT_BYTES) throw new Refusal(`has more than ${MOST_TEXT_BYTES / 1e6} MB of text`)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new Refusal('is not UTF-8')
  }
}

async function readDelimited(file) {
  const text = await textOf(file)
  const first = /[^\r\n]+/.exec(text)?.[0] ?? ''
  const count = separator => first.split(separator).length
  const isTabbed = file.name.toLowerCase().endsWith('.tsv')
  const delimiter = isTabbed ? '\t' : SEPARATORS.reduce((best, each) => (count(each) > count(best) ? each : best))
  let columns = null
  let rows = 0
  Papa.parse(text, {
    delimiter,
    skipEmptyLines: true,
    step({ data: fields }) {
      if (!columns) {
        columns = fields.map((name, place) => new Column(name || `Unnamed: ${place}`, { converts: true, dates: true }))
        return
      }
      rows += 1
      if (fields.length > columns.length) throw new Refusal(`has ${fields.length} fields in row ${rows} below ${columns.length} names`)
      columns.forEach((column, place) => column.add(fields[place]))
    },
  })
  return { rows, columns: (columns ?? []).map(each => each.finished()) }
}

// An array of records, or one record a line.
async function readRecords(file) {
  const text = await textOf(file)
  const lines = text.split('\n').filter(line => line.trim())
  const [first = '', second = ''] = lines.map(line => line.trim())
  const isByLine = first.startsWith('{') && (LINES.test(file.name.toLowerCase()) || (second.startsWith('{') && isRecord(first)))
  // 1.0 is a float, which is 1 once it is parsed.
  const floats = new Set()
  function noteFloat(key, value, context) {
    if (typeof value === 'number' && /[.eE]/.test(context?.source ?? '')) floats.add(key)
    return value
  }
  let records
  try {
    records = isByLine ? lines.map(line => JSON.parse(line, noteFloat)) : JSON.parse(text, noteFloat)
  } catch {
    throw new Refusal('is no JSON that can be read')
  }
  if (!Array.isArray(records) || records.some(each => Object.prototype.toString.call(each) !== '[object Object]')) {
    throw new Refusal('is no array of objects, and no object a line')
  }
  const columns = new Map()
  records.forEach((record, row) => {
    for (const [name, value] of Object.entries(record)) {
      if (value !== null && typeof value === 'object') throw new Refusal(`has nested values in the column ${name}`)
      if (!columns.has(name)) columns.set(name, filled(new Column(name, { converts: false }), row))
    }
    for (const [name, column] of columns) column.add(record[name])
  })
  for (const name of floats) if (columns.has(name)) columns.get(name).areAll.integer = false
  return { rows: records.length, columns: [...columns.values()].map(each => each.finished()) }
}

function isRecord(line) {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch {
    return false
  }
}

// A column that the first records have not.
function filled(column, rows) {
  for (let row = 0; row < rows; row += 1) column.add(null)
  return column
}
