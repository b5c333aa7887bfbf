// The profile of a table, as format_bench/prediction/table_profile.py has it.
import { BLOCK_ROWS } from './column.mjs'

// As in data_generator/profiling/windows.py.
const WINDOW = 512
const FEWEST = 3

const mean = values => (values.length ? values.reduce((total, each) => total + each, 0) / values.length : 0)
const utf8 = new TextEncoder()

// The bytes of a value; of text on average, with its place.
function bytesOf({ bytes, values }, placeBytes) {
  if (bytes !== null) return bytes
  const lengths = values.map(each => (each === null ? 0 : (each.byteLength ?? utf8.encode(each).length)))
  return placeBytes + mean(lengths)
}

// The order of two values; of text by code points, as of their bytes in UTF-8.
export function compared(one, other) {
  if (typeof one !== 'string') return one < other ? -1 : Number(one > other)
  let place = 0
  while (place < one.length && one.charCodeAt(place) === other.charCodeAt(place)) place += 1
  if (place === one.length || place === other.length) return Math.sign(one.length - other.length)
  const [a, b] = [one, other].map(each => each.charCodeAt(place))
  // Surrogates stand for characters beyond all others.
  const isHigh = code => code >= 0xd800 && code <= 0xdfff
  return isHigh(a) === isHigh(b) ? Math.sign(a - b) : isHigh(a) ? 1 : -1
}

// The mean over windows of the score of sortedness.
function sortedness(values) {
  if (values.length < FEWEST) return 1
  const scores = []
  for (let start = 0; start < values.length; start += WINDOW) {
    const size = Math.min(WINDOW, values.length - start)
    if (size < FEWEST) continue
    let [ascending, descending] = [0, 0]
    for (let row = start + 1; row < start + size; row += 1) {
      const order = compared(values[row - 1], values[row])
      if (order < 0) ascending += 1
      if (order > 0) descending += 1
    }
    const inOrder = size - 1 - Math.min(ascending, descending)
    scores.push(Math.max(0, (inOrder - Math.floor(size / 2)) / (Math.ceil(size / 2) - 1)))
  }
  return mean(scores)
}

// The properties of a column.
function propertiesOf(column, { least_bytes: leastBytes, least_ratio: leastRatio, place_bytes: placeBytes }) {
  const found = { width: 0, nulls: 0, distinct: 0, sortedness: 0, runs: 0 }
  const { values } = column
  if (values === null) return found
  const there = values.filter(each => each !== null).map(each => (each instanceof Uint8Array ? each.join() : each))
  found.width = Math.log10(Math.max(leastBytes, bytesOf(column, placeBytes)))
  found.nulls = (values.length - there.length) / Math.max(1, values.length)
  if (!there.length) return found
  const runs = there.filter((each, row) => !row || compared(there[row - 1], each)).length
  found.distinct = Math.log10(Math.max(leastRatio, new Set(there).size / there.length))
  found.sortedness = sortedness(there)
  found.runs = Math.log10(Math.max(1, there.length / runs))
  return found
}

// The profile of {rows, columns} with the constants of the model.
export function profileOf({ rows, columns }, model) {
  const kinds = columns.map(({ kind }) => kind)
  const each = columns.map(column => propertiesOf(column, model))
  const share = number => number / Math.max(1, columns.length)
  const groups = Object.entries(model.groups).map(([name, those]) => [name, kinds.filter(kind => those.includes(kind)).length])
  const others = columns.length - groups.reduce((total, [, number]) => total + number, 0)
  const names = ['width', 'nulls', 'distinct', 'sortedness', 'runs']
  return {
    rows,
    columns: columns.length,
    value_bytes: rows * each.reduce((total, { width }) => total + 10 ** width, 0),
    kinds: [...new Set(kinds)].sort(),
    features: {
      rows: Math.log10(Math.max(1, rows)),
      columns: Math.log10(Math.max(1, columns.length)),
      ...Object.fromEntries([...groups, ['others', others]].map(([name, number]) => [name, share(number)])),
      ...Object.fromEntries(names.map(name => [name, mean(each.map(properties => properties[name]))])),
      'text width': mean(each.filter((_, place) => model.groups.texts.includes(kinds[place])).map(({ width }) => width)),
    },
    table: columns.map(({ name, kind }, place) => ({ name, kind, ...each[place] })),
    block: Math.min(rows, BLOCK_ROWS),
  }
}
