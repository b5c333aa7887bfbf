// Columns as the Python reader has them: kind, width of a value in bytes, and the values of the first rows.

// Names of kinds, as in adapter_core/kinds.py.
export const KIND = {
  boolean: 'booleans',
  category: 'categories',
  date: 'calendar dates',
  datetime: 'datetimes',
  decimal: 'decimals',
  float: 'floats',
  halfFloat: '16-bit floats',
  integer: 'integers',
  mixed: 'Python objects of mixed or unknown type',
  bytes: 'bytes',
  null: 'nothing but nulls',
  nullableBoolean: 'booleans with nulls',
  nullableFloat: 'nullable floats',
  nullableInteger: 'integers with nulls',
  nullableUnsigned: 'unsigned integers with nulls',
  text: 'text',
  time: 'times of day',
  timedelta: 'timedeltas',
  unsigned: 'unsigned integers',
  zoned: 'datetimes with a time zone',
}

// Rows whose values are kept, as in format_bench/prediction/table_profile.py.
export const BLOCK_ROWS = 10_000

export const BOOLEAN_BYTES = 1 / 8

// Why a file has no answer here, where the command line may have one.
export class Refusal extends Error {}

const NULLS = new Set(
  ['', '#N/A', '#N/A N/A', '#NA', '-1.#IND', '-1.#QNAN', '-NaN', '-nan', '1.#IND', '1.#QNAN', '<NA>', 'N/A',
    'NA', 'NULL', 'NaN', 'None', 'n/a', 'nan', 'null'],
)
const NUMBER = /^\s*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?)\s*$/i
const INTEGER = /^\s*[+-]?\d+\s*$/
const TRUTHS = new Map([['True', true], ['TRUE', true], ['true', true], ['False', false], ['FALSE', false], ['false', false]])
const SAFE_DIGITS = 15
const [LEAST, GREATEST, GREATEST_UNSIGNED] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n]

const TIMESTAMP = /^\d{4}-\d{2}-\d{2}(?:([T ])\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|\+00:00)?)?$/
// Decimals of a second that are written back as they are read.
const DECIMALS = new Set([0, 3, 6, 9])
const NANOSECOND_YEARS = [1678, 2261]

// The form of a date or time in ISO 8601, as one text; null of other text, and of days that no month has.
function formOf(text) {
  const found = TIMESTAMP.exec(text)
  if (!found) return null
  const [, between, seconds, part, utc] = found
  const decimals = part ? part.length - 1 : 0
  const year = Number(text.slice(0, 4))
  if (!DECIMALS.has(decimals) || (decimals === 9 && (year < NANOSECOND_YEARS[0] || year > NANOSECOND_YEARS[1]))) return null
  const whole = `${text.slice(0, 10)}T${between ? text.slice(11, 16) : '00:00'}:${seconds ? text.slice(17, 19) : '00'}`
  const date = new Date(`${whole}Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 19) !== whole) return null
  return [between, Boolean(seconds), decimals, utc].join()
}

// A column that is told value by value: text, numbers, booleans, dates, and null.
//
// Of text files, text may stand for numbers and booleans, by the rules of pandas. Of workbooks, all numbers are floats,
// and those without a fraction are integers as far as 64 bits have them.
export class Column {
  constructor(name, { converts, dates = false, areFloats = false }) {
    Object.assign(this, { name, converts, dates, areFloats, values: [], nulls: 0 })
    this.found = { text: 0, number: 0, boolean: 0, time: 0 }
    this.areAll = { numeric: true, integer: true, signed: true, unsigned: true, truth: true }
    this.form = undefined
  }

  add(value) {
    const isNull = value === null || value === undefined || (this.converts && NULLS.has(value))
    if (this.values.length < BLOCK_ROWS) this.values.push(isNull ? null : value)
    if (isNull) this.nulls += 1
    else if (typeof value === 'string') this.addText(value)
    else if (typeof value === 'boolean') this.found.boolean += 1
    else if (value instanceof Date) this.found.time += 1
    else this.addNumber(value)
  }

  addNumber(value) {
    this.found.number += 1
    if (!Number.isInteger(value)) this.areAll.integer = false
    if (value < -(2 ** 63) || value >= 2 ** 63) this.areAll.signed = false
    if (value < 0 || value >= 2 ** 64) this.areAll.unsigned = false
  }

  addText(text) {
    const { areAll } = this
    this.found.text += 1
    if (this.converts) {
      if (areAll.numeric && !NUMBER.test(text)) areAll.numeric = false
      if (areAll.integer && !INTEGER.test(text)) areAll.integer = false
      if (areAll.integer && text.length > SAFE_DIGITS) this.addLong(BigInt(text.trim().replace('+', '')))
      if (areAll.unsigned && text.trimStart().startsWith('-')) areAll.unsigned = false
      if (areAll.truth && !TRUTHS.has(text)) areAll.truth = false
    }
    if (!this.dates || this.form === null) return
    const form = formOf(text)
    this.form = this.form === undefined || this.form === form ? form : null
  }

  addLong(number) {
    if (number < LEAST || number > GREATEST) this.areAll.signed = false
    if (number < 0n || number > GREATEST_UNSIGNED) this.areAll.unsigned = false
  }

  // The column as {name, kind, bytes, values}: bytes of a value, null where they vary.
  finished() {
    const { name, found, areAll, nulls, values, converts, areFloats } = this
    const as = (kind, bytes, convert = each => each) =>
      ({ name, kind, bytes, values: values.map(each => (each === null ? null : convert(each))) })
    const areNumbers = found.text && converts && areAll.numeric && !found.boolean && !found.time
    const areTruths = found.text && converts && areAll.truth && !found.number && !found.time
    const kinds = Object.values(found).filter(Boolean).length
    if (!kinds) return converts || areFloats ? as(KIND.float, 8) : as(KIND.null, 0)
    if (areTruths) return as(nulls ? KIND.nullableBoolean : KIND.boolean, BOOLEAN_BYTES, each => TRUTHS.get(each) ?? each)
    if (areNumbers || (found.number && kinds === 1)) {
      const isWhole = areAll.integer && (areAll.signed || areAll.unsigned || !areFloats)
      if (!isWhole) return as(KIND.float, 8, each => Number(String(each).replace(/inf(inity)?/i, 'Infinity')))
      const exactly = each => (String(each).length > SAFE_DIGITS ? BigInt(String(each).trim().replace('+', '')) : Number(each))
      if (areAll.signed) return as(nulls ? KIND.nullableInteger : KIND.integer, 8, exactly)
      // pandas keeps text of large unsigned integers with nulls.
      if (areAll.unsigned && !(nulls && found.text)) return as(nulls ? KIND.nullableUnsigned : KIND.unsigned, 8, exactly)
      if (found.number) throw new Refusal(`has integers beyond 64 bits in the column ${name}`)
    }
    if (kinds > 1) return { name, kind: KIND.mixed, bytes: null, values: null }
    if (found.boolean) return as(nulls ? KIND.nullableBoolean : KIND.boolean, BOOLEAN_BYTES)
    if (found.time) return as(KIND.datetime, 8, each => each.getTime())
    if (this.form) return as(/Z|00:00$/.test(this.form) ? KIND.zoned : KIND.datetime, 8)
    return as(KIND.text, null)
  }
}
