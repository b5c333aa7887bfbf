package main

import (
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/hamba/avro/v2"
	"github.com/hamba/avro/v2/ocf"
)

const secondsOfDay = 86_400

func readAvro(path string) (*Table, error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	decoder, err := ocf.NewDecoder(source)
	if err != nil {
		return nil, err
	}
	kind, print := avroPrinter(decoder.Schema())
	table := &Table{Columns: kind.Parts}
	for decoder.HasNext() {
		var row any
		if err := decoder.Decode(&row); err != nil {
			return nil, err
		}
		table.Rows = append(table.Rows, print(row).([]any))
	}
	return table, decoder.Error()
}

var avroUnits = map[avro.LogicalType]Type{
	avro.Date:                 flat("date"),
	avro.TimeMillis:           flat("time", "ms"),
	avro.TimeMicros:           flat("time", "us"),
	avro.TimestampMillis:      timestamp("ms", true),
	avro.TimestampMicros:      timestamp("us", true),
	avro.LocalTimestampMillis: timestamp("ms", false),
	avro.LocalTimestampMicros: timestamp("us", false),
}

// avroPrinter returns the type of a schema, and the printer of its values, also of null.
func avroPrinter(schema avro.Schema) (Type, func(any) any) {
	switch s := schema.(type) {
	case *avro.RecordSchema:
		return avroRecordPrinter(s)
	case *avro.ArraySchema:
		kind, print := avroPrinter(s.Items())
		return listOf(kind), orNull(func(value any) any {
			values := []any{}
			for _, each := range value.([]any) {
				values = append(values, print(each))
			}
			return values
		})
	case *avro.MapSchema:
		kind, print := avroPrinter(s.Values())
		return mapOf(flat("utf8"), kind), orNull(func(value any) any {
			found := value.(map[string]any)
			pairs := []any{}
			// Maps of Go have no order.
			for _, key := range slices.Sorted(maps.Keys(found)) {
				pairs = append(pairs, []any{key, print(found[key])})
			}
			return pairs
		})
	case *avro.UnionSchema:
		return avroUnionPrinter(s)
	case *avro.RefSchema:
		return avroPrinter(s.Schema())
	}
	return avroFlatPrinter(schema)
}

func orNull(print func(any) any) func(any) any {
	return func(value any) any {
		if value == nil {
			return nil
		}
		return print(value)
	}
}

func avroRecordPrinter(schema *avro.RecordSchema) (Type, func(any) any) {
	kind, printers := Type{Name: "struct"}, []func(any) any{}
	for _, field := range schema.Fields() {
		inner, print := avroPrinter(field.Type())
		kind.Parts = append(kind.Parts, Part{field.Name(), inner})
		printers = append(printers, print)
	}
	return kind, orNull(func(value any) any {
		row := make([]any, len(printers))
		for i, print := range printers {
			row[i] = print(value.(map[string]any)[kind.Parts[i].Name])
		}
		return row
	})
}

func avroUnionPrinter(schema *avro.UnionSchema) (Type, func(any) any) {
	others := avro.Schemas{}
	for _, each := range schema.Types() {
		if each.Type() != avro.Null {
			others = append(others, each)
		}
	}
	if len(others) != 1 {
		panic(fmt.Sprintf("a union of %d types has no canonical type", len(others)))
	}
	kind, print := avroPrinter(others[0])
	name := unionName(others[0])
	return kind, func(value any) any {
		// Some values come as they are, others with the name of their type.
		if wrapped, isMap := value.(map[string]any); isMap && len(wrapped) == 1 {
			if inner, isWrapped := wrapped[name]; isWrapped {
				value = inner
			}
		}
		return print(value)
	}
}

// unionName returns the name by which the library calls a type of a union.
func unionName(schema avro.Schema) string {
	if named, isNamed := schema.(avro.NamedSchema); isNamed {
		return named.FullName()
	}
	if logical, hasLogical := schema.(avro.LogicalTypeSchema); hasLogical && logical.Logical() != nil {
		return string(schema.Type()) + "." + string(logical.Logical().Type())
	}
	return string(schema.Type())
}

func avroFlatPrinter(schema avro.Schema) (Type, func(any) any) {
	if logical, hasLogical := schema.(avro.LogicalTypeSchema); hasLogical && logical.Logical() != nil {
		found := logical.Logical()
		if decimal, isDecimal := found.(*avro.DecimalLogicalSchema); isDecimal {
			kind := flat("decimal", strconv.Itoa(decimal.Precision()), strconv.Itoa(decimal.Scale()))
			return kind, orNull(func(value any) any { return value.(*big.Rat).FloatString(decimal.Scale()) })
		}
		if kind, isCount := avroUnits[found.Type()]; isCount {
			return kind, orNull(func(value any) any { return avroCount(kind, value) })
		}
	}
	switch schema.Type() {
	case avro.Null:
		return flat("null"), func(any) any { return nil }
	case avro.Boolean:
		return flat("bool"), func(value any) any { return value }
	case avro.Int:
		return flat("int32"), orNull(func(value any) any { return fmt.Sprint(value) })
	case avro.Long:
		return flat("int64"), orNull(func(value any) any { return fmt.Sprint(value) })
	case avro.Float:
		return flat("float32"), orNull(func(value any) any { return ofFloat32(value.(float32)) })
	case avro.Double:
		return flat("float64"), orNull(func(value any) any { return ofFloat64(value.(float64)) })
	case avro.String, avro.Enum:
		return flat("utf8"), func(value any) any { return value }
	case avro.Bytes:
		return flat("binary"), orNull(func(value any) any { return ofBytes(value.([]byte)) })
	}
	panic(fmt.Sprintf("%s has no canonical type", schema.Type()))
}

// avroCount returns a time or a span of time, as the library gives it, as a count of units.
func avroCount(kind Type, value any) any {
	switch found := value.(type) {
	case time.Duration:
		if kind.argument(0) == "ms" {
			return ofInt(found.Milliseconds())
		}
		return ofInt(found.Microseconds())
	case time.Time:
		switch kind.argument(0) {
		case "ms":
			return ofInt(found.UnixMilli())
		case "us":
			return ofInt(found.UnixMicro())
		default:
			return ofInt(floorDivide(found.Unix(), secondsOfDay))
		}
	default:
		return fmt.Sprint(value)
	}
}

func floorDivide(number, by int64) int64 {
	quotient := number / by
	if number%by < 0 {
		quotient--
	}
	return quotient
}
