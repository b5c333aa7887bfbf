// Reader of a sheet of an Excel workbook (ECMA-376), with the names of the columns in its first row.
import { unzipSync } from 'fflate'
import { Column, Refusal } from './column.mjs'

const PARTS = /^xl\/(?:workbook\.xml|sharedStrings\.xml|styles\.xml|_rels\/workbook\.xml\.rels|worksheets\/[^/]+\.xml)$/
const MOST_BYTES = 1e9

// Built-in formats of dates and times, 18.8.30 of the standard.
const isBuiltInDate = number => (number >= 14 && number <= 22) || (number >= 45 && number <= 47)
const DAY_MS = 86_400_000
// Days of serial numbers before 1970.
const EPOCH_DAYS = 25_569

export async function readWorkbook(file) {
  const filter = ({ name, originalSize }) => {
    if (originalSize > MOST_BYTES) throw new Refusal('is too large when unpacked')
    return PARTS.test(name)
  }
  const parts = unzipSync(new Uint8Array(await file.arrayBuffer()), { filter })
  const xml = name => new DOMParser().parseFromString(new TextDecoder().decode(parts[name] ?? new Uint8Array()), 'application/xml')
  const targets = new Map(all(xml('xl/_rels/workbook.xml.rels'), 'Relationship').map(each => [each.getAttribute('Id'), each.getAttribute('Target')]))
  const strings = all(xml('xl/sharedStrings.xml'), 'si').map(textIn)
  const dateStyles = dateStylesOf(xml('xl/styles.xml'))
  const sheets = all(xml('xl/workbook.xml'), 'sheet').flatMap(sheet => {
    const target = targets.get([...sheet.attributes].find(each => each.localName === 'id')?.value) ?? ''
    const name = target.startsWith('/') ? target.slice(1) : `xl/${target}`
    const rows = parts[name] ? rowsOf(xml(name), strings, dateStyles) : []
    return rows[0]?.some(each => each !== null) ? [rows] : []
  })
  if (!sheets.length) throw new Refusal('contains no sheet with names in its first row')
  if (sheets.length > 1) throw new Refusal(`contains ${sheets.length} sheets, of which one is wanted`)
  return tableOf(sheets[0])
}

function tableOf([names, ...found]) {
  const width = Math.max(names.length, ...found.map(row => row.length))
  while (found.length && !found.at(-1).some(each => each !== null)) found.pop()
  const columns = Array.from({ length: width }, (_, place) => new Column(String(names[place] ?? `Unnamed: ${place}`), { converts: false, areFloats: true }))
  for (const row of found) columns.forEach((column, place) => column.add(row[place] ?? null))
  return { rows: found.length, columns: columns.map(each => each.finished()) }
}

const all = (node, name) => [...node.getElementsByTagNameNS('*', name)]

// The text of a cell, without the pronunciation that Japanese programs add.
const textIn = node => all(node, 't').filter(each => each.parentNode.localName !== 'rPh').map(each => each.textContent).join('')

// Whether a number of a style is a date.
function dateStylesOf(styles) {
  const formats = new Map(all(styles, 'numFmt').map(each => [each.getAttribute('numFmtId'), each.getAttribute('formatCode')]))
  const cells = all(styles, 'cellXfs')[0]
  return (cells ? all(cells, 'xf') : []).map(each => {
    const number = each.getAttribute('numFmtId')
    const plain = (formats.get(number) ?? '').replace(/\[[^\]]*\]|"[^"]*"|\\./g, '')
    return isBuiltInDate(Number(number)) || /[dmhys]/i.test(plain)
  })
}

// Rows of values; null for an empty cell, and for an error.
function rowsOf(sheet, strings, dateStyles) {
  const rows = []
  for (const row of all(sheet, 'row')) {
    const place = Number(row.getAttribute('r') ?? rows.length + 1) - 1
    while (rows.length < place) rows.push([])
    const values = []
    for (const cell of all(row, 'c')) {
      const letters = /^[A-Z]+/.exec(cell.getAttribute('r') ?? '')?.[0]
      const at = letters ? [...letters].reduce((number, each) => number * 26 + each.charCodeAt(0) - 64, 0) - 1 : values.length
      while (values.length < at) values.push(null)
      values.push(valueOf(cell, strings, dateStyles))
    }
    rows.push(values)
  }
  return rows
}

function valueOf(cell, strings, dateStyles) {
  const kind = cell.getAttribute('t') ?? 'n'
  const text = all(cell, 'v')[0]?.textContent
  // A text without a letter is an empty cell to pandas.
  if (kind === 'inlineStr') return textIn(cell) || null
  if (text === undefined || text === '' || kind === 'e') return null
  if (kind === 's') return strings[Number(text)] || null
  if (kind === 'str') return text
  if (kind === 'b') return text === '1'
  if (kind === 'd') return new Date(text)
  const number = Number(text)
  return dateStyles[Number(cell.getAttribute('s'))] ? new Date(Math.round((number - EPOCH_DAYS) * DAY_MS)) : number
}
