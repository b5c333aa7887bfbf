package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"
)

const nan = "nan"

// Type is a canonical type: its name, precision and scale or unit and zone, and the types inside.
type Type struct {
	Name      string
	Arguments []string
	Parts     []Part
}

// Part is a named type: a column, a field of a struct, or without a name the inside of a list or map.
type Part struct {
	Name string
	Type Type
}

// Table is a table in canonical form, whose values are nil, booleans, strings and slices.
type Table struct {
	Columns []Part
	Rows    [][]any
}

// UnsupportedError says that a format or its library has no type for a column.
type UnsupportedError struct {
	Library string
	Type    Type
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("%s has no type for %s", e.Library, e.Type)
}

func flat(name string, arguments ...string) Type { return Type{Name: name, Arguments: arguments} }

func listOf(element Type) Type { return Type{Name: "list", Parts: []Part{{Type: element}}} }

func mapOf(key, value Type) Type { return Type{Name: "map", Parts: []Part{{Type: key}, {Type: value}}} }

// timestamp returns the type of an instant, in UTC or without a zone.
func timestamp(unit string, isUTC bool) Type {
	if isUTC {
		return flat("timestamp", unit, "UTC")
	}
	return flat("timestamp", unit)
}

func (t Type) String() string {
	switch t.Name {
	case "list", "map", "struct":
		parts := make([]string, len(t.Parts))
		for i, part := range t.Parts {
			parts[i] = part.Type.String()
			if t.Name == "struct" {
				parts[i] = string(marshal(part.Name)) + ": " + parts[i]
			}
		}
		return t.Name + "<" + strings.Join(parts, ", ") + ">"
	}
	if len(t.Arguments) == 0 {
		return t.Name
	}
	return t.Name + "(" + strings.Join(t.Arguments, ", ") + ")"
}

func (t Type) argument(position int) string {
	if position < len(t.Arguments) {
		return t.Arguments[position]
	}
	return ""
}

func (t Type) number(position int) int {
	number, _ := strconv.Atoi(t.argument(position))
	return number
}

// Print writes the canonical form.
func (t *Table) Print(w io.Writer) error {
	type column struct {
		Name string `json:"name"`
		Type string `json:"type"`
	}
	head := struct {
		Columns []column `json:"columns"`
		Rows    int      `json:"rows"`
	}{[]column{}, len(t.Rows)}
	for _, each := range t.Columns {
		head.Columns = append(head.Columns, column{each.Name, each.Type.String()})
	}
	lines := [][]byte{marshal(head)}
	for _, row := range t.Rows {
		lines = append(lines, marshal(row))
	}
	_, err := w.Write(append(bytes.Join(lines, []byte("\n")), '\n'))
	return err
}

// marshal returns a value as JSON; values of the canonical form always have one.
func marshal(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// ParseTable returns the table of a canonical form.
func ParseTable(text []byte) (*Table, error) {
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	var head struct {
		Columns []struct{ Name, Type string }
	}
	if err := json.Unmarshal(lines[0], &head); err != nil {
		return nil, err
	}
	table := &Table{}
	for _, column := range head.Columns {
		parser := typeParser{column.Type}
		table.Columns = append(table.Columns, Part{column.Name, parser.parse()})
	}
	for _, line := range lines[1:] {
		var row []any
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, row)
	}
	return table, nil
}

// typeParser has the text of a type that is not parsed yet.
type typeParser struct{ text string }

func (p *typeParser) parse() Type {
	end := strings.IndexAny(p.text, "(<,>")
	if end < 0 {
		end = len(p.text)
	}
	found := Type{Name: p.text[:end]}
	p.text = p.text[end:]
	if p.take("(") {
		inside, rest, _ := strings.Cut(p.text, ")")
		found.Arguments, p.text = strings.Split(inside, ", "), rest
	}
	if !p.take("<") || p.take(">") {
		return found
	}
	for {
		part := Part{}
		if found.Name == "struct" {
			part.Name = p.label()
		}
		part.Type = p.parse()
		found.Parts = append(found.Parts, part)
		if !p.take(", ") {
			p.take(">")
			return found
		}
	}
}

// label returns a string of JSON, and passes the colon after it.
func (p *typeParser) label() string {
	var name string
	decoder := json.NewDecoder(strings.NewReader(p.text))
	if err := decoder.Decode(&name); err != nil {
		panic(err)
	}
	p.text = p.text[decoder.InputOffset():]
	p.take(": ")
	return name
}

func (p *typeParser) take(wanted string) bool {
	rest, found := strings.CutPrefix(p.text, wanted)
	p.text = rest
	return found
}

func ofFloat32(value float32) any {
	if value != value {
		return nan
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint32(nil, math.Float32bits(value)))
}

func ofFloat64(value float64) any {
	if math.IsNaN(value) {
		return nan
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint64(nil, math.Float64bits(value)))
}

// ofFloat16 returns a float of 16 bits by its bits: above infinity, without the sign, are NaN.
func ofFloat16(bits uint16) any {
	if bits&0x7fff > 0x7c00 {
		return nan
	}
	return hex.EncodeToString(binary.BigEndian.AppendUint16(nil, bits))
}

func ofBytes(value []byte) any { return base64.StdEncoding.EncodeToString(value) }

func ofInt[N int8 | int16 | int32 | int64](value N) any { return strconv.FormatInt(int64(value), 10) }

func ofUint[N uint8 | uint16 | uint32 | uint64](value N) any {
	return strconv.FormatUint(uint64(value), 10)
}

// ofDecimal returns an integer with the decimal point before its last digits.
func ofDecimal(unscaled *big.Int, scale int) any {
	digits := new(big.Int).Abs(unscaled).String()
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	if point := len(digits) - scale; scale > 0 {
		digits = digits[:point] + "." + digits[point:]
	}
	if unscaled.Sign() < 0 {
		return "-" + digits
	}
	return digits
}

func toFloat64(text string) float64 {
	if text == nan {
		return math.NaN()
	}
	return math.Float64frombits(toBits(text))
}

func toFloat32(text string) float32 {
	if text == nan {
		return float32(math.NaN())
	}
	return math.Float32frombits(uint32(toBits(text)))
}

func toFloat16(text string) uint16 {
	if text == nan {
		return 0x7e00
	}
	return uint16(toBits(text))
}

func toBits(text string) uint64 {
	bits, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		panic(err)
	}
	return bits
}

func toBytes(text string) []byte {
	found, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return found
}

func toInt(text string) int64 {
	found, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return found
}

func toUint(text string) uint64 {
	found, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return found
}

// toUnscaled returns a decimal, which has as many digits after the point as its type, as an integer.
func toUnscaled(text string, scale int) *big.Int {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction += strings.Repeat("0", scale-len(fraction))
	found, isNumber := new(big.Int).SetString(whole+fraction, 10)
	if !isNumber {
		panic(text + " is no decimal")
	}
	return found
}
