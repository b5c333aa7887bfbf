// Prints a CSV file in canonical form, as Papa Parse reads it with a header: all fields are text.
import { readFileSync } from 'node:fs'
import Papa from 'papaparse'
import { inferredTable, main } from './canonical.mjs'

await main(path => {
  const { data, meta } = Papa.parse(readFileSync(path, 'utf8'), { header: true, skipEmptyLines: true })
  return inferredTable(meta.fields, data.map(row => meta.fields.map(name => row[name])))
})
