// Prints the first sheet of an Excel file in canonical form, as ExcelJS reads it.
import ExcelJS from 'exceljs'
import { inferredTable, main } from './canonical.mjs'

// The value of a cell: text without its fonts, the result of a formula.
function plain(value) {
  if (value === null || typeof value !== 'object' || value instanceof Date) return value
  if (value.richText) return value.richText.map(part => part.text).join('')
  return value.result ?? value.text ?? value.error
}

await main(async path => {
  const book = new ExcelJS.Workbook()
  await book.xlsx.readFile(path)
  // Rows and cells are counted from 1.
  const [, header = [], ...rows] = book.worksheets[0].getSheetValues()
  const names = header.slice(1).map(String)
  return inferredTable(names, rows.map(row => names.map((_, place) => plain(row?.[place + 1] ?? null))))
})
