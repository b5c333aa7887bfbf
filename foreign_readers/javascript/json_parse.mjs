// Prints lines of JSON in canonical form, as JavaScript's own JSON.parse reads them: all numbers are floats.
import { readFileSync } from 'node:fs'
import { inferredTable, main } from './canonical.mjs'

await main(path => {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  const objects = lines.map(line => JSON.parse(line))
  const names = Object.keys(objects[0] ?? {})
  return inferredTable(names, objects.map(each => names.map(name => each[name])))
})
