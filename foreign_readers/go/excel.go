package main

import "github.com/xuri/excelize/v2"

// readExcel returns the first sheet as the library gives it: the text of each cell.
func readExcel(path string) (*Table, error) {
	book, err := excelize.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer book.Close()
	rows, err := book.GetRows(book.GetSheetName(0))
	if err != nil {
		return nil, err
	}
	table := &Table{}
	for number, cells := range rows {
		if number == 0 {
			for _, name := range cells {
				table.Columns = append(table.Columns, Part{name, flat("utf8")})
			}
			continue
		}
		// Cells after the last that is not empty are missing.
		values := make([]any, len(table.Columns))
		for i, text := range cells {
			values[i] = text
		}
		table.Rows = append(table.Rows, values)
	}
	return table, nil
}
