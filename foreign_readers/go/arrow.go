package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

const millisecondsOfDay = 86_400_000

// decimal128Digits is the precision of the longest decimal of 128 bits.
const decimal128Digits = 38

// column is an array with its canonical type and the value of each row that is not null.
type column struct {
	array arrow.Array
	kind  Type
	value func(row int) any
}

func (c column) print(row int) any {
	if c.array.IsNull(row) {
		return nil
	}
	return c.value(row)
}

func (c column) printAll(first, end int64) []any {
	values := []any{}
	for row := first; row < end; row++ {
		values = append(values, c.print(int(row)))
	}
	return values
}

func readArrow(path string) (*Table, error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if strings.HasSuffix(path, ".parquet") {
		return readArrowParquet(source)
	}
	reader, err := ipc.NewFileReader(source)
	if err != nil {
		return nil, err
	}
	table := &Table{}
	for i := range reader.NumRecords() {
		batch, err := reader.RecordBatchAt(i)
		if err != nil {
			return nil, err
		}
		table.add(batch)
	}
	return table, nil
}

func readArrowParquet(source *os.File) (*Table, error) {
	opened, err := file.NewParquetReader(source)
	if err != nil {
		return nil, err
	}
	reader, err := pqarrow.NewFileReader(opened, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	found, err := reader.ReadTable(context.Background())
	if err != nil {
		return nil, err
	}
	table := &Table{}
	batches := array.NewTableReader(found, -1)
	for batches.Next() {
		table.add(batches.RecordBatch())
	}
	return table, batches.Err()
}

func (t *Table) add(batch arrow.RecordBatch) {
	columns := make([]column, batch.NumCols())
	t.Columns = make([]Part, batch.NumCols())
	for i := range columns {
		columns[i] = columnOf(batch.Column(i))
		t.Columns[i] = Part{batch.ColumnName(i), columns[i].kind}
	}
	for row := range int(batch.NumRows()) {
		t.Rows = append(t.Rows, rowOf(columns, row))
	}
}

func rowOf(columns []column, row int) []any {
	values := make([]any, len(columns))
	for i, each := range columns {
		values[i] = each.print(row)
	}
	return values
}

func columnOf(of arrow.Array) column {
	kind, value := printerOf(of)
	return column{of, kind, value}
}

func printerOf(of arrow.Array) (Type, func(int) any) {
	switch a := of.(type) {
	case *array.Null:
		return flat("null"), func(int) any { return nil }
	case *array.Boolean:
		return flat("bool"), func(row int) any { return a.Value(row) }
	case *array.Int8:
		return flat("int8"), func(row int) any { return ofInt(a.Value(row)) }
	case *array.Int16:
		return flat("int16"), func(row int) any { return ofInt(a.Value(row)) }
	case *array.Int32:
		return flat("int32"), func(row int) any { return ofInt(a.Value(row)) }
	case *array.Int64:
		return flat("int64"), func(row int) any { return ofInt(a.Value(row)) }
	case *array.Uint8:
		return flat("uint8"), func(row int) any { return ofUint(a.Value(row)) }
	case *array.Uint16:
		return flat("uint16"), func(row int) any { return ofUint(a.Value(row)) }
	case *array.Uint32:
		return flat("uint32"), func(row int) any { return ofUint(a.Value(row)) }
	case *array.Uint64:
		return flat("uint64"), func(row int) any { return ofUint(a.Value(row)) }
	case *array.Float16:
		return flat("float16"), func(row int) any { return ofFloat16(a.Value(row).Uint16()) }
	case *array.Float32:
		return flat("float32"), func(row int) any { return ofFloat32(a.Value(row)) }
	case *array.Float64:
		return flat("float64"), func(row int) any { return ofFloat64(a.Value(row)) }
	case array.StringLike:
		return flat("utf8"), func(row int) any { return a.Value(row) }
	case interface{ Value(int) []byte }:
		return flat("binary"), func(row int) any { return ofBytes(a.Value(row)) }
	case *array.Dictionary:
		words := columnOf(a.Dictionary())
		return words.kind, func(row int) any { return words.print(a.GetValueIndex(row)) }
	case array.ExtensionArray:
		return printerOf(a.Storage())
	}
	if kind, value := countPrinterOf(of); value != nil {
		return kind, value
	}
	return nestedPrinterOf(of)
}

// countPrinterOf returns the printer of decimals, dates, times and spans of time; nil of others.
func countPrinterOf(of arrow.Array) (Type, func(int) any) {
	if decimal, isDecimal := of.DataType().(arrow.DecimalType); isDecimal {
		precision, scale := int(decimal.GetPrecision()), int(decimal.GetScale())
		kind := flat("decimal", strconv.Itoa(precision), strconv.Itoa(scale))
		switch a := of.(type) {
		case *array.Decimal128:
			return kind, func(row int) any { return ofDecimal(a.Value(row).BigInt(), scale) }
		case *array.Decimal256:
			return kind, func(row int) any { return ofDecimal(a.Value(row).BigInt(), scale) }
		default:
			return kind, func(row int) any { return of.ValueStr(row) }
		}
	}
	switch a := of.(type) {
	case *array.Date32:
		return flat("date"), func(row int) any { return ofInt(int32(a.Value(row))) }
	case *array.Date64:
		return flat("date"), func(row int) any { return ofInt(int64(a.Value(row)) / millisecondsOfDay) }
	case *array.Time32:
		unit := of.DataType().(*arrow.Time32Type).Unit.String()
		return flat("time", unit), func(row int) any { return ofInt(int32(a.Value(row))) }
	case *array.Time64:
		unit := of.DataType().(*arrow.Time64Type).Unit.String()
		return flat("time", unit), func(row int) any { return ofInt(int64(a.Value(row))) }
	case *array.Duration:
		unit := of.DataType().(*arrow.DurationType).Unit.String()
		return flat("duration", unit), func(row int) any { return ofInt(int64(a.Value(row))) }
	case *array.Timestamp:
		kind := of.DataType().(*arrow.TimestampType)
		arguments := []string{kind.Unit.String()}
		if kind.TimeZone != "" {
			arguments = append(arguments, kind.TimeZone)
		}
		return flat("timestamp", arguments...), func(row int) any { return ofInt(int64(a.Value(row))) }
	}
	return Type{}, nil
}

func nestedPrinterOf(of arrow.Array) (Type, func(int) any) {
	switch a := of.(type) {
	case *array.Map:
		keys, items := columnOf(a.Keys()), columnOf(a.Items())
		return mapOf(keys.kind, items.kind), func(row int) any {
			pairs := []any{}
			for first, end := a.ValueOffsets(row); first < end; first++ {
				pairs = append(pairs, []any{keys.print(int(first)), items.print(int(first))})
			}
			return pairs
		}
	case array.ListLike:
		elements := columnOf(a.ListValues())
		return listOf(elements.kind), func(row int) any { return elements.printAll(a.ValueOffsets(row)) }
	case *array.Struct:
		kind, columns := Type{Name: "struct"}, []column{}
		for i, field := range a.DataType().(*arrow.StructType).Fields() {
			columns = append(columns, columnOf(a.Field(i)))
			kind.Parts = append(kind.Parts, Part{field.Name, columns[i].kind})
		}
		return kind, func(row int) any { return rowOf(columns, row) }
	}
	panic(fmt.Sprintf("%s has no canonical type", of.DataType()))
}

func writeArrow(table *Table, path string) error {
	fields := []arrow.Field{}
	for _, each := range table.Columns {
		kind, err := arrowType(each.Type)
		if err != nil {
			return err
		}
		fields = append(fields, arrow.Field{Name: each.Name, Type: kind, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, row := range table.Rows {
		for i, value := range row {
			appendValue(builder.Field(i), table.Columns[i].Type, value)
		}
	}
	batch := builder.NewRecordBatch()
	target, err := os.Create(path)
	if err != nil {
		return err
	}
	defer target.Close()
	if strings.HasSuffix(path, ".parquet") {
		whole := array.NewTableFromRecords(schema, []arrow.RecordBatch{batch})
		rows := max(batch.NumRows(), 1)
		return pqarrow.WriteTable(whole, target, rows, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	}
	writer, err := ipc.NewFileWriter(target, ipc.WithSchema(schema))
	if err != nil {
		return err
	}
	if err := writer.Write(batch); err != nil {
		return err
	}
	return writer.Close()
}

var units = map[string]arrow.TimeUnit{
	"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond,
}

var flatTypes = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "int16": arrow.PrimitiveTypes.Int16,
	"int32": arrow.PrimitiveTypes.Int32, "int64": arrow.PrimitiveTypes.Int64,
	"uint8": arrow.PrimitiveTypes.Uint8, "uint16": arrow.PrimitiveTypes.Uint16,
	"uint32": arrow.PrimitiveTypes.Uint32, "uint64": arrow.PrimitiveTypes.Uint64,
	"float16": arrow.FixedWidthTypes.Float16,
	"float32": arrow.PrimitiveTypes.Float32, "float64": arrow.PrimitiveTypes.Float64,
	"utf8": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary,
	"date": arrow.FixedWidthTypes.Date32,
}

func arrowType(t Type) (arrow.DataType, error) {
	if found, isFlat := flatTypes[t.Name]; isFlat {
		return found, nil
	}
	unit := units[t.argument(0)]
	switch t.Name {
	case "decimal":
		if t.number(0) > decimal128Digits {
			return &arrow.Decimal256Type{Precision: int32(t.number(0)), Scale: int32(t.number(1))}, nil
		}
		return &arrow.Decimal128Type{Precision: int32(t.number(0)), Scale: int32(t.number(1))}, nil
	case "time":
		if unit == arrow.Second || unit == arrow.Millisecond {
			return &arrow.Time32Type{Unit: unit}, nil
		}
		return &arrow.Time64Type{Unit: unit}, nil
	case "timestamp":
		return &arrow.TimestampType{Unit: unit, TimeZone: t.argument(1)}, nil
	case "duration":
		return &arrow.DurationType{Unit: unit}, nil
	case "other":
		return nil, &UnsupportedError{"Arrow", t}
	}
	inner := []arrow.Field{}
	for _, part := range t.Parts {
		kind, err := arrowType(part.Type)
		if err != nil {
			return nil, err
		}
		inner = append(inner, arrow.Field{Name: part.Name, Type: kind, Nullable: true})
	}
	switch t.Name {
	case "list":
		return arrow.ListOf(inner[0].Type), nil
	case "map":
		return arrow.MapOf(inner[0].Type, inner[1].Type), nil
	default:
		return arrow.StructOf(inner...), nil
	}
}

func appendValue(to array.Builder, t Type, value any) {
	if value == nil {
		to.AppendNull()
		return
	}
	switch b := to.(type) {
	case *array.BooleanBuilder:
		b.Append(value.(bool))
	case *array.MapBuilder:
		b.Append(true)
		for _, pair := range value.([]any) {
			appendValue(b.KeyBuilder(), t.Parts[0].Type, pair.([]any)[0])
			appendValue(b.ItemBuilder(), t.Parts[1].Type, pair.([]any)[1])
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, each := range value.([]any) {
			appendValue(b.ValueBuilder(), t.Parts[0].Type, each)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, each := range value.([]any) {
			appendValue(b.FieldBuilder(i), t.Parts[i].Type, each)
		}
	default:
		appendText(to, t, value.(string))
	}
}

func appendText(to array.Builder, t Type, text string) {
	switch b := to.(type) {
	case *array.Int8Builder:
		b.Append(int8(toInt(text)))
	case *array.Int16Builder:
		b.Append(int16(toInt(text)))
	case *array.Int32Builder:
		b.Append(int32(toInt(text)))
	case *array.Int64Builder:
		b.Append(toInt(text))
	case *array.Uint8Builder:
		b.Append(uint8(toUint(text)))
	case *array.Uint16Builder:
		b.Append(uint16(toUint(text)))
	case *array.Uint32Builder:
		b.Append(uint32(toUint(text)))
	case *array.Uint64Builder:
		b.Append(toUint(text))
	case *array.Float16Builder:
		b.Append(float16.FromBits(toFloat16(text)))
	case *array.Float32Builder:
		b.Append(toFloat32(text))
	case *array.Float64Builder:
		b.Append(toFloat64(text))
	case *array.StringBuilder:
		b.Append(text)
	case *array.BinaryBuilder:
		b.Append(toBytes(text))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(toUnscaled(text, t.number(1))))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromBigInt(toUnscaled(text, t.number(1))))
	case *array.Date32Builder:
		b.Append(arrow.Date32(toInt(text)))
	case *array.Time32Builder:
		b.Append(arrow.Time32(toInt(text)))
	case *array.Time64Builder:
		b.Append(arrow.Time64(toInt(text)))
	case *array.DurationBuilder:
		b.Append(arrow.Duration(toInt(text)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(toInt(text)))
	default:
		panic(fmt.Sprintf("no value of %s is appended", t))
	}
}
