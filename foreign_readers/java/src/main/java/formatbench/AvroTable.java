package formatbench;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.generic.IndexedRecord;

/** Avro by its own library, through generic records. */
final class AvroTable implements TableFile {
    private static final Map<String, Type> COUNTS = Map.of(
            "date", Type.of("date"),
            "time-millis", Type.of("time", "ms"),
            "time-micros", Type.of("time", "us"),
            "timestamp-millis", Type.timestamp("ms", true),
            "timestamp-micros", Type.timestamp("us", true),
            "timestamp-nanos", Type.timestamp("ns", true),
            "local-timestamp-millis", Type.timestamp("ms", false),
            "local-timestamp-micros", Type.timestamp("us", false),
            "local-timestamp-nanos", Type.timestamp("ns", false));
    private static final Map<String, String> UNITS = Map.of("s", "millis", "ms", "millis", "us", "micros", "ns", "nanos");

    /** A type with the printer of its values. */
    private record Printed(Type type, Function<Object, Object> printer) {
        Object print(Object value) {
            return value == null ? null : printer.apply(value);
        }
    }

    @Override
    public Table read(Path path) throws IOException {
        try (DataFileReader<GenericRecord> file = new DataFileReader<>(path.toFile(), new GenericDatumReader<>())) {
            Printed printed = printedRecord(file.getSchema());
            List<List<Object>> rows = new ArrayList<>();
            for (GenericRecord each : file) {
                rows.add(list(printed.print(each)));
            }
            return new Table(printed.type().parts(), rows);
        }
    }

    @Override
    public void sum(Path path, Sum sum) throws IOException {
        try (DataFileReader<GenericRecord> file = new DataFileReader<>(path.toFile(), new GenericDatumReader<>())) {
            List<String> names = new ArrayList<>();
            file.getSchema().getFields().forEach(each -> names.add(each.name()));
            sum.begin(names);
            Object[] values = new Object[names.size()];
            GenericRecord row = null;
            while (file.hasNext()) {
                row = file.next(row);
                for (int place = 0; place < values.length; place++) {
                    values[place] = row.get(place);
                }
                sum.add(values);
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static List<Object> list(Object value) {
        return (List<Object>) value;
    }

    private static Printed printed(Schema schema) {
        LogicalType logical = schema.getLogicalType();
        if (logical instanceof LogicalTypes.Decimal decimal) {
            Type type = Type.of("decimal", decimal.getPrecision(), decimal.getScale());
            return new Printed(type, value -> Values.of(new BigInteger(bytes(value)), decimal.getScale()));
        }
        if (logical != null && COUNTS.containsKey(logical.getName())) {
            return new Printed(COUNTS.get(logical.getName()), Object::toString);
        }
        return switch (schema.getType()) {
            case NULL -> new Printed(Type.of("null"), value -> null);
            case BOOLEAN -> new Printed(Type.of("bool"), value -> value);
            case INT -> new Printed(Type.of("int32"), Object::toString);
            case LONG -> new Printed(Type.of("int64"), Object::toString);
            case FLOAT -> new Printed(Type.of("float32"), value -> Values.of((float) value));
            case DOUBLE -> new Printed(Type.of("float64"), value -> Values.of((double) value));
            case STRING, ENUM -> new Printed(Type.of("utf8"), Object::toString);
            case BYTES, FIXED -> new Printed(Type.of("binary"), value -> Values.of(bytes(value)));
            case UNION -> printedUnion(schema);
            case RECORD -> printedRecord(schema);
            case ARRAY -> {
                Printed element = printed(schema.getElementType());
                yield new Printed(Type.list(element.type()), values -> printedAll((Iterable<?>) values, element));
            }
            case MAP -> {
                Printed inner = printed(schema.getValueType());
                yield new Printed(
                        Type.map(Type.of("utf8"), inner.type()), map -> pairs((Map<?, ?>) map, inner));
            }
        };
    }

    private static Printed printedUnion(Schema schema) {
        List<Schema> others = schema.getTypes().stream()
                .filter(each -> each.getType() != Schema.Type.NULL)
                .toList();
        if (others.size() != 1) {
            throw new IllegalArgumentException("a union of " + others.size() + " types has no canonical type");
        }
        return printed(others.get(0));
    }

    private static Printed printedRecord(Schema schema) {
        List<Printed> printers = new ArrayList<>();
        List<Type.Part> parts = new ArrayList<>();
        for (Schema.Field field : schema.getFields()) {
            Printed found = printed(field.schema());
            printers.add(found);
            parts.add(new Type.Part(field.name(), found.type()));
        }
        return new Printed(Type.struct(parts), value -> {
            List<Object> row = new ArrayList<>();
            for (int field = 0; field < printers.size(); field++) {
                row.add(printers.get(field).print(((IndexedRecord) value).get(field)));
            }
            return row;
        });
    }

    private static List<Object> printedAll(Iterable<?> values, Printed element) {
        List<Object> found = new ArrayList<>();
        values.forEach(each -> found.add(element.print(each)));
        return found;
    }

    private static List<Object> pairs(Map<?, ?> map, Printed inner) {
        List<Object> found = new ArrayList<>();
        map.forEach((key, value) -> {
            List<Object> pair = new ArrayList<>();
            pair.add(key.toString());
            pair.add(inner.print(value));
            found.add(pair);
        });
        return found;
    }

    private static byte[] bytes(Object value) {
        if (value instanceof GenericFixed fixed) {
            return fixed.bytes();
        }
        ByteBuffer buffer = ((ByteBuffer) value).duplicate();
        byte[] found = new byte[buffer.remaining()];
        buffer.get(found);
        return found;
    }

    @Override
    public void write(Table table, Path path) throws IOException {
        Type row = Type.struct(table.columns());
        Schema schema = schema(row, "row");
        try (DataFileWriter<Object> file = new DataFileWriter<>(new GenericDatumWriter<>(schema))) {
            file.create(schema, path.toFile());
            for (List<Object> each : table.rows()) {
                file.append(stored(row, schema, each));
            }
        }
    }

    /** Return the schema of a type; records are named by their place. */
    private static Schema schema(Type type, String place) {
        return switch (type.name()) {
            case "bool" -> Schema.create(Schema.Type.BOOLEAN);
            case "int8", "int16", "int32", "uint8", "uint16" -> Schema.create(Schema.Type.INT);
            case "int64", "uint32" -> Schema.create(Schema.Type.LONG);
            case "float16", "float32" -> Schema.create(Schema.Type.FLOAT);
            case "float64" -> Schema.create(Schema.Type.DOUBLE);
            case "utf8" -> Schema.create(Schema.Type.STRING);
            case "binary" -> Schema.create(Schema.Type.BYTES);
            case "decimal" -> LogicalTypes.decimal(type.number(0), type.number(1))
                    .addToSchema(Schema.create(Schema.Type.BYTES));
            case "date" -> logical("date", Schema.Type.INT);
            case "time" -> time(type);
            case "timestamp" -> logical(
                    (type.argument(1).isEmpty() ? "local-" : "") + "timestamp-" + UNITS.get(type.argument(0)),
                    Schema.Type.LONG);
            case "list" -> Schema.createArray(nullable(type.part(0), place + "_item"));
            case "map" -> {
                if (!type.part(0).name().equals("utf8")) {
                    throw Values.unsupported("Avro", type);
                }
                yield Schema.createMap(nullable(type.part(1), place + "_value"));
            }
            case "struct" -> {
                List<Schema.Field> fields = new ArrayList<>();
                for (Type.Part part : type.parts()) {
                    Schema field = nullable(part.type(), place + "_" + fields.size());
                    fields.add(new Schema.Field(part.name(), field));
                }
                yield Schema.createRecord(place, null, null, false, fields);
            }
            default -> throw Values.unsupported("Avro", type);
        };
    }

    private static Schema time(Type type) {
        return switch (type.argument(0)) {
            case "s", "ms" -> logical("time-millis", Schema.Type.INT);
            case "us" -> logical("time-micros", Schema.Type.LONG);
            default -> throw Values.unsupported("Avro", type);
        };
    }

    private static Schema logical(String name, Schema.Type stored) {
        return new LogicalType(name).addToSchema(Schema.create(stored));
    }

    private static Schema nullable(Type type, String place) {
        return Schema.createUnion(Schema.create(Schema.Type.NULL), schema(type, place));
    }

    /** Return a value as a writer of generic records takes it. */
    private static Object stored(Type type, Schema schema, Object value) {
        if (value == null) {
            return null;
        }
        if (schema.getType() == Schema.Type.UNION) {
            return stored(type, schema.getTypes().get(1), value);
        }
        return switch (type.name()) {
            case "bool", "utf8" -> value;
            case "float16" -> Values.float16ToFloat(value);
            case "float32" -> Values.toFloat(value);
            case "float64" -> Values.toDouble(value);
            case "binary" -> ByteBuffer.wrap(Values.toBytes(value));
            case "decimal" -> ByteBuffer.wrap(Values.toUnscaled(value, type).toByteArray());
            case "list" -> list(value).stream()
                    .map(each -> stored(type.part(0), schema.getElementType(), each))
                    .toList();
            case "map" -> {
                Map<String, Object> map = new LinkedHashMap<>();
                for (Object pair : list(value)) {
                    Object inner = list(pair).get(1);
                    map.put((String) list(pair).get(0), stored(type.part(1), schema.getValueType(), inner));
                }
                yield map;
            }
            case "struct" -> {
                GenericRecord record = new GenericData.Record(schema);
                for (int part = 0; part < type.parts().size(); part++) {
                    Schema field = schema.getFields().get(part).schema();
                    record.put(part, stored(type.part(part), field, list(value).get(part)));
                }
                yield record;
            }
            default -> {
                long count = Values.toCount(value, type.argument(0));
                yield schema.getType() == Schema.Type.INT ? (Object) Math.toIntExact(count) : (Object) count;
            }
        };
    }
}
