package main

import (
	"errors"
	"io"
	"math/big"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	epochJulianDay    = 2_440_588
	nanosecondsOfDay  = 86_400_000_000_000
	int32Digits       = 9
	int64Digits       = 18
	rowsOfOneReadCall = 64
)

// node is a part of a schema: its type, and the value of one instance of it.
type node struct {
	kind   Type
	leaves int
	// value takes the values of the leaf columns inside, and the levels of the node around.
	value func(columns [][]parquet.Value, repetition, definition int) any
}

func readParquet(path string) (*Table, error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	facts, err := source.Stat()
	if err != nil {
		return nil, err
	}
	opened, err := parquet.OpenFile(source, facts.Size())
	if err != nil {
		return nil, err
	}
	root := structNode(opened.Schema().Fields())
	table := &Table{Columns: root.kind.Parts}
	for _, group := range opened.RowGroups() {
		if err := table.addRows(group.Rows(), root); err != nil {
			return nil, err
		}
	}
	return table, nil
}

func (t *Table) addRows(rows parquet.Rows, root node) error {
	defer rows.Close()
	buffer := make([]parquet.Row, rowsOfOneReadCall)
	for {
		count, err := rows.ReadRows(buffer)
		for _, row := range buffer[:count] {
			columns := make([][]parquet.Value, 0, root.leaves)
			row.Range(func(_ int, values []parquet.Value) bool {
				columns = append(columns, values)
				return true
			})
			t.Rows = append(t.Rows, root.value(columns, 0, 0).([]any))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fieldNode returns a field with its repetition.
func fieldNode(field parquet.Node) node {
	inner := innerNode(field)
	if field.Repeated() {
		return repeatedNode(inner, listOf(inner.kind))
	}
	if !field.Optional() {
		return inner
	}
	return node{inner.kind, inner.leaves, func(columns [][]parquet.Value, repetition, definition int) any {
		if columns[0][0].DefinitionLevel() <= definition {
			return nil
		}
		return inner.value(columns, repetition, definition+1)
	}}
}

func repeatedNode(inner node, kind Type) node {
	return node{kind, inner.leaves, func(columns [][]parquet.Value, repetition, definition int) any {
		values := []any{}
		if columns[0][0].DefinitionLevel() <= definition {
			return values
		}
		for _, instance := range instances(columns, repetition+1) {
			values = append(values, inner.value(instance, repetition+1, definition+1))
		}
		return values
	}}
}

// instances splits columns where a repeated field begins again.
func instances(columns [][]parquet.Value, repetition int) [][][]parquet.Value {
	var found [][][]parquet.Value
	for position, column := range columns {
		instance := -1
		for i, value := range column {
			if i == 0 || value.RepetitionLevel() <= repetition {
				instance++
			}
			if instance == len(found) {
				found = append(found, make([][]parquet.Value, len(columns)))
			}
			found[instance][position] = append(found[instance][position], value)
		}
	}
	return found
}

// innerNode returns a field without its own repetition.
func innerNode(field parquet.Node) node {
	if field.Leaf() {
		kind, value := leafPrinter(field.Type())
		return node{kind, 1, func(columns [][]parquet.Value, _, _ int) any { return value(columns[0][0]) }}
	}
	var logical any
	if found := field.Type().LogicalType(); found != nil {
		logical = found.Value
	}
	switch logical.(type) {
	case *format.ListType:
		repeated := field.Fields()[0]
		if repeated.Leaf() || len(repeated.Fields()) != 1 {
			return fieldNode(repeated)
		}
		element := fieldNode(repeated.Fields()[0])
		return repeatedNode(element, listOf(element.kind))
	case *format.MapType:
		pair := structNode(field.Fields()[0].Fields())
		return repeatedNode(pair, mapOf(pair.kind.Parts[0].Type, pair.kind.Parts[1].Type))
	}
	return structNode(field.Fields())
}

func structNode(fields []parquet.Field) node {
	found := node{kind: Type{Name: "struct"}}
	parts := []node{}
	for _, field := range fields {
		part := fieldNode(field)
		parts = append(parts, part)
		found.kind.Parts = append(found.kind.Parts, Part{field.Name(), part.kind})
		found.leaves += part.leaves
	}
	found.value = func(columns [][]parquet.Value, repetition, definition int) any {
		values := make([]any, len(parts))
		for i, part := range parts {
			values[i] = part.value(columns[:part.leaves], repetition, definition)
			columns = columns[part.leaves:]
		}
		return values
	}
	return found
}

func leafPrinter(of parquet.Type) (Type, func(parquet.Value) any) {
	var logical any
	if found := of.LogicalType(); found != nil {
		logical = found.Value
	}
	switch t := logical.(type) {
	case *format.NullType:
		return flat("null"), func(parquet.Value) any { return nil }
	case *format.DecimalType:
		kind := flat("decimal", strconv.Itoa(int(t.Precision)), strconv.Itoa(int(t.Scale)))
		return kind, func(v parquet.Value) any { return ofDecimal(unscaled(v), int(t.Scale)) }
	case *format.IntType:
		if t.IsSigned {
			return flat("int" + strconv.Itoa(int(t.BitWidth))), signed
		}
		return flat("uint" + strconv.Itoa(int(t.BitWidth))), unsigned
	case *format.TimestampType:
		return timestamp(unitOf(t.Unit), t.IsAdjustedToUTC), signed
	case *format.TimeType:
		return flat("time", unitOf(t.Unit)), signed
	case *format.DateType:
		return flat("date"), signed
	case *format.StringType, *format.EnumType, *format.JsonType:
		return flat("utf8"), func(v parquet.Value) any { return string(v.ByteArray()) }
	case *format.Float16Type:
		return flat("float16"), func(v parquet.Value) any {
			return ofFloat16(uint16(v.ByteArray()[0]) | uint16(v.ByteArray()[1])<<8)
		}
	}
	switch of.Kind() {
	case parquet.Boolean:
		return flat("bool"), func(v parquet.Value) any { return v.Boolean() }
	case parquet.Int32:
		return flat("int32"), signed
	case parquet.Int64:
		return flat("int64"), signed
	case parquet.Float:
		return flat("float32"), func(v parquet.Value) any { return ofFloat32(v.Float()) }
	case parquet.Double:
		return flat("float64"), func(v parquet.Value) any { return ofFloat64(v.Double()) }
	case parquet.Int96:
		return flat("timestamp", "ns"), nanoseconds
	default:
		return flat("binary"), func(v parquet.Value) any { return ofBytes(v.ByteArray()) }
	}
}

func unitOf(unit format.TimeUnit) string {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return "ms"
	case *format.MicroSeconds:
		return "us"
	default:
		return "ns"
	}
}

func signed(v parquet.Value) any {
	if v.Kind() == parquet.Int32 {
		return ofInt(v.Int32())
	}
	return ofInt(v.Int64())
}

func unsigned(v parquet.Value) any {
	if v.Kind() == parquet.Int32 {
		return ofUint(v.Uint32())
	}
	return ofUint(v.Uint64())
}

// nanoseconds returns a time of the format's old type: nanoseconds of a day, and the Julian day.
func nanoseconds(v parquet.Value) any {
	words := v.Int96()
	days := big.NewInt(int64(words[2]) - epochJulianDay)
	total := days.Mul(days, big.NewInt(nanosecondsOfDay))
	return total.Add(total, big.NewInt(int64(words[1])<<32|int64(words[0]))).String()
}

func unscaled(v parquet.Value) *big.Int {
	switch v.Kind() {
	case parquet.Int32:
		return big.NewInt(int64(v.Int32()))
	case parquet.Int64:
		return big.NewInt(v.Int64())
	}
	digits := v.ByteArray()
	found := new(big.Int).SetBytes(digits)
	if len(digits) > 0 && digits[0] >= 0x80 {
		found.Sub(found, new(big.Int).Lsh(big.NewInt(1), uint(8*len(digits))))
	}
	return found
}

// orderedGroup is a group whose fields keep their order; those of parquet.Group are sorted by name.
type orderedGroup struct {
	parquet.Group
	order []string
}

// Fields returns the fields in their order.
func (g orderedGroup) Fields() []parquet.Field {
	byName := map[string]parquet.Field{}
	for _, field := range g.Group.Fields() {
		byName[field.Name()] = field
	}
	fields := []parquet.Field{}
	for _, name := range g.order {
		fields = append(fields, byName[name])
	}
	return fields
}

func writeParquet(table *Table, path string) error {
	row := Type{Name: "struct", Parts: table.Columns}
	root, err := parquetNode(row)
	if err != nil {
		return err
	}
	target, err := os.Create(path)
	if err != nil {
		return err
	}
	defer target.Close()
	writer := parquet.NewWriter(target, parquet.NewSchema("table", root))
	for _, values := range table.Rows {
		shredder := shredder{}
		for i, column := range table.Columns {
			shredder.add(column.Type, values[i], 0, 0, 0, true)
		}
		if _, err := writer.WriteRows([]parquet.Row{shredder.row}); err != nil {
			return err
		}
	}
	return writer.Close()
}

var parquetUnits = map[string]parquet.TimeUnit{
	"s": parquet.Millisecond, "ms": parquet.Millisecond, "us": parquet.Microsecond, "ns": parquet.Nanosecond,
}

func parquetNode(t Type) (parquet.Node, error) {
	switch t.Name {
	case "list", "map", "struct":
		return parquetGroup(t)
	case "bool":
		return parquet.Leaf(parquet.BooleanType), nil
	case "int8", "int16", "int32", "int64":
		width, _ := strconv.Atoi(t.Name[len("int"):])
		return parquet.Int(width), nil
	case "uint8", "uint16", "uint32", "uint64":
		width, _ := strconv.Atoi(t.Name[len("uint"):])
		return parquet.Uint(width), nil
	case "float32":
		return parquet.Leaf(parquet.FloatType), nil
	case "float64":
		return parquet.Leaf(parquet.DoubleType), nil
	case "utf8":
		return parquet.String(), nil
	case "binary":
		return parquet.Leaf(parquet.ByteArrayType), nil
	case "date":
		return parquet.Date(), nil
	case "time":
		return parquet.TimeAdjusted(parquetUnits[t.argument(0)], false), nil
	case "timestamp":
		return parquet.TimestampAdjusted(parquetUnits[t.argument(0)], t.argument(1) != ""), nil
	case "decimal":
		return parquet.Decimal(t.number(1), t.number(0), decimalType(t.number(0))), nil
	}
	return nil, &UnsupportedError{"parquet-go", t}
}

func parquetGroup(t Type) (parquet.Node, error) {
	found := orderedGroup{Group: parquet.Group{}}
	inner := []parquet.Node{}
	for _, part := range t.Parts {
		node, err := parquetNode(part.Type)
		if err != nil {
			return nil, err
		}
		inner = append(inner, node)
		found.Group[part.Name] = parquet.Optional(node)
		found.order = append(found.order, part.Name)
	}
	switch t.Name {
	case "list":
		return parquet.List(parquet.Optional(inner[0])), nil
	case "map":
		return parquet.Map(inner[0], parquet.Optional(inner[1])), nil
	}
	return found, nil
}

func decimalType(digits int) parquet.Type {
	switch {
	case digits <= int32Digits:
		return parquet.Int32Type
	case digits <= int64Digits:
		return parquet.Int64Type
	default:
		return parquet.FixedLenByteArrayType(decimalBytes(digits))
	}
}

// decimalBytes returns the length of the largest number of some digits, with a bit for the sign.
func decimalBytes(digits int) int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil).BitLen()/8 + 1
}

// shredder turns a row into the values of leaf columns with their levels.
type shredder struct {
	row     parquet.Row
	columns int
}

// add appends a value; depth is the number of lists and maps around it.
func (s *shredder) add(t Type, value any, repetition, definition, depth int, isOptional bool) {
	if value == nil {
		s.addNulls(t, repetition, definition)
		return
	}
	if isOptional {
		definition++
	}
	switch t.Name {
	case "struct":
		for i, each := range value.([]any) {
			s.add(t.Parts[i].Type, each, repetition, definition, depth, true)
		}
	case "list", "map":
		s.addRepeated(t, value.([]any), repetition, definition, depth+1)
	default:
		s.row = append(s.row, leafValue(t, value).Level(repetition, definition, s.columns))
		s.columns++
	}
}

func (s *shredder) addNulls(t Type, repetition, definition int) {
	if len(t.Parts) == 0 {
		s.row = append(s.row, parquet.NullValue().Level(repetition, definition, s.columns))
		s.columns++
	}
	for _, part := range t.Parts {
		s.addNulls(part.Type, repetition, definition)
	}
}

// addRepeated appends the elements of a list, or the pairs of a map. Values of one column follow each
// other in a row, so those of the elements are sorted by column afterwards.
func (s *shredder) addRepeated(t Type, elements []any, repetition, definition, depth int) {
	if len(elements) == 0 {
		s.addNulls(t, repetition, definition)
		return
	}
	first, byColumn := s.columns, map[int]parquet.Row{}
	for i, element := range elements {
		inner := shredder{columns: first}
		if i > 0 {
			repetition = depth
		}
		if t.Name == "list" {
			inner.add(t.Parts[0].Type, element, repetition, definition+1, depth, true)
		} else {
			inner.add(t.Parts[0].Type, element.([]any)[0], repetition, definition+1, depth, false)
			inner.add(t.Parts[1].Type, element.([]any)[1], repetition, definition+1, depth, true)
		}
		for _, value := range inner.row {
			byColumn[value.Column()] = append(byColumn[value.Column()], value)
		}
		s.columns = inner.columns
	}
	for column := first; column < s.columns; column++ {
		s.row = append(s.row, byColumn[column]...)
	}
}

func leafValue(t Type, value any) parquet.Value {
	if isTrue, isBool := value.(bool); isBool {
		return parquet.BooleanValue(isTrue)
	}
	text := value.(string)
	switch t.Name {
	case "uint64":
		return parquet.Int64Value(int64(toUint(text)))
	case "int8", "int16", "int32", "uint8", "uint16", "uint32", "date":
		return parquet.Int32Value(int32(toInt(text)))
	case "float32":
		return parquet.FloatValue(toFloat32(text))
	case "float64":
		return parquet.DoubleValue(toFloat64(text))
	case "utf8":
		return parquet.ByteArrayValue([]byte(text))
	case "binary":
		return parquet.ByteArrayValue(toBytes(text))
	case "decimal":
		return decimalValue(toUnscaled(text, t.number(1)), t.number(0))
	}
	count := toInt(text)
	if t.argument(0) == "s" {
		count *= 1000
	}
	if t.Name == "time" && parquetUnits[t.argument(0)] == parquet.Millisecond {
		return parquet.Int32Value(int32(count))
	}
	return parquet.Int64Value(count)
}

func decimalValue(unscaled *big.Int, digits int) parquet.Value {
	switch {
	case digits <= int32Digits:
		return parquet.Int32Value(int32(unscaled.Int64()))
	case digits <= int64Digits:
		return parquet.Int64Value(unscaled.Int64())
	}
	size := decimalBytes(digits)
	if unscaled.Sign() < 0 {
		unscaled = new(big.Int).Add(unscaled, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return parquet.FixedLenByteArrayValue(unscaled.FillBytes(make([]byte, size)))
}
