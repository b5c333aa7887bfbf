// Command foreign reads and writes table files by libraries for Go, in canonical form.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// statusUnsupported is the exit status if a format or its library has no type for a column.
const statusUnsupported = 3

type library struct {
	read  func(path string) (*Table, error)
	write func(table *Table, path string) error
}

var libraries = map[string]library{
	"arrow":      {readArrow, writeArrow},
	"parquet-go": {readParquet, writeParquet},
	"hamba":      {readAvro, nil},
	"excelize":   {readExcel, nil},
}

func main() {
	// Libraries panic at files that they do not expect.
	defer func() {
		if found := recover(); found != nil {
			fail(fmt.Errorf("panic: %v", found))
		}
	}()
	name, action, path := os.Args[1], os.Args[2], os.Args[3]
	if err := run(libraries[name], action, path); err != nil {
		fail(err)
	}
}

func run(by library, action, path string) error {
	if action == "read" {
		table, err := by.read(path)
		if err != nil {
			return err
		}
		return table.Print(os.Stdout)
	}
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	table, err := ParseTable(text)
	if err != nil {
		return err
	}
	return by.write(table, path)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, strings.Join(strings.Fields(err.Error()), " "))
	var unsupported *UnsupportedError
	if errors.As(err, &unsupported) {
		os.Exit(statusUnsupported)
	}
	os.Exit(1)
}
