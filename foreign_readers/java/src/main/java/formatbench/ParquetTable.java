package formatbench;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.NanoTime;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetReader;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.api.ReadSupport;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.example.GroupReadSupport;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.ConversionPatterns;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UnknownLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type.Repetition;
import org.apache.parquet.schema.Types;

/** Parquet by parquet-java, through the groups of its examples. */
final class ParquetTable implements TableFile {
    private static final Map<TimeUnit, String> UNITS =
            Map.of(TimeUnit.MILLIS, "ms", TimeUnit.MICROS, "us", TimeUnit.NANOS, "ns");
    private static final Map<String, TimeUnit> UNITS_BY_NAME =
            Map.of("s", TimeUnit.MILLIS, "ms", TimeUnit.MILLIS, "us", TimeUnit.MICROS, "ns", TimeUnit.NANOS);
    private static final int INT32_DIGITS = 9;
    private static final int INT64_DIGITS = 18;
    private static final long EPOCH_JULIAN_DAY = 2_440_588;
    private static final long NANOSECONDS_OF_DAY = 86_400_000_000_000L;

    /** Prints a value of a field in a group. */
    private interface Printer {
        Object print(Group group, int field, int position);
    }

    /** A type with the printer of its values. */
    private record Printed(Type type, Printer printer) {}

    @Override
    public Table read(Path path) throws IOException {
        InputFile input = new LocalInputFile(path);
        MessageType schema;
        try (ParquetFileReader file = ParquetFileReader.open(input)) {
            schema = file.getFileMetaData().getSchema();
        }
        List<Printed> printers = new ArrayList<>();
        List<Type.Part> columns = new ArrayList<>();
        for (org.apache.parquet.schema.Type field : schema.getFields()) {
            Printed found = printed(field);
            printers.add(found);
            columns.add(new Type.Part(field.getName(), found.type()));
        }
        List<List<Object>> rows = new ArrayList<>();
        try (ParquetReader<Group> file = new Reader(input).build()) {
            for (Group group; (group = file.read()) != null; ) {
                rows.add(row(group, printers));
            }
        }
        return new Table(columns, rows);
    }

    private static List<Object> row(Group group, List<Printed> printers) {
        List<Object> row = new ArrayList<>();
        for (int field = 0; field < printers.size(); field++) {
            row.add(value(group, field, printers.get(field)));
        }
        return row;
    }

    /** Return the value of a field that is there once or not at all, or the list of a repeated one. */
    private static Object value(Group group, int field, Printed printed) {
        if (group.getType().getType(field).isRepetition(Repetition.REPEATED)) {
            return printed.printer().print(group, field, 0);
        }
        return group.getFieldRepetitionCount(field) == 0 ? null : printed.printer().print(group, field, 0);
    }

    private static Printed printed(org.apache.parquet.schema.Type field) {
        if (!field.isRepetition(Repetition.REPEATED)) {
            return field.isPrimitive() ? printedPrimitive(field.asPrimitiveType()) : printedGroup(field.asGroupType());
        }
        Printed element =
                field.isPrimitive() ? printedPrimitive(field.asPrimitiveType()) : printedGroup(field.asGroupType());
        return new Printed(Type.list(element.type()), (group, position, none) -> {
            List<Object> values = new ArrayList<>();
            for (int i = 0; i < group.getFieldRepetitionCount(position); i++) {
                values.add(element.printer().print(group, position, i));
            }
            return values;
        });
    }

    private static Printed printedGroup(GroupType group) {
        if (group.getLogicalTypeAnnotation() instanceof ListLogicalTypeAnnotation) {
            org.apache.parquet.schema.Type repeated = group.getType(0);
            if (repeated.isPrimitive() || repeated.asGroupType().getFieldCount() != 1) {
                Printed list = printed(repeated);
                return new Printed(list.type(), (in, field, i) -> list.printer().print(in.getGroup(field, i), 0, 0));
            }
            Printed element = printed(repeated.asGroupType().getType(0));
            return new Printed(Type.list(element.type()), (in, field, i) -> {
                List<Object> values = new ArrayList<>();
                Group list = in.getGroup(field, i);
                for (int each = 0; each < list.getFieldRepetitionCount(0); each++) {
                    values.add(value(list.getGroup(0, each), 0, element));
                }
                return values;
            });
        }
        List<Printed> printers = new ArrayList<>();
        boolean isMap = group.getLogicalTypeAnnotation() instanceof MapLogicalTypeAnnotation;
        GroupType inner = isMap ? group.getType(0).asGroupType() : group;
        List<Type.Part> parts = new ArrayList<>();
        for (org.apache.parquet.schema.Type each : inner.getFields()) {
            Printed found = printed(each);
            printers.add(found);
            parts.add(new Type.Part(each.getName(), found.type()));
        }
        if (!isMap) {
            return new Printed(Type.struct(parts), (in, field, i) -> row(in.getGroup(field, i), printers));
        }
        return new Printed(Type.map(parts.get(0).type(), parts.get(1).type()), (in, field, i) -> {
            List<Object> pairs = new ArrayList<>();
            Group map = in.getGroup(field, i);
            for (int each = 0; each < map.getFieldRepetitionCount(0); each++) {
                pairs.add(row(map.getGroup(0, each), printers));
            }
            return pairs;
        });
    }

    private static Printed printedPrimitive(PrimitiveType primitive) {
        PrimitiveTypeName name = primitive.getPrimitiveTypeName();
        LogicalTypeAnnotation logical = primitive.getLogicalTypeAnnotation();
        if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
            Type type = Type.of("decimal", decimal.getPrecision(), decimal.getScale());
            return new Printed(
                    type, (group, field, i) -> Values.of(unscaled(group, field, i, name), decimal.getScale()));
        }
        if (logical instanceof IntLogicalTypeAnnotation integer) {
            boolean isLong = name == PrimitiveTypeName.INT64;
            Type type = Type.of((integer.isSigned() ? "int" : "uint") + integer.getBitWidth());
            if (integer.isSigned()) {
                return counts(type, name);
            }
            return new Printed(type, (group, field, i) ->
                    isLong
                            ? Long.toUnsignedString(group.getLong(field, i))
                            : Integer.toUnsignedString(group.getInteger(field, i)));
        }
        if (logical instanceof TimestampLogicalTypeAnnotation timestamp) {
            return counts(Type.timestamp(UNITS.get(timestamp.getUnit()), timestamp.isAdjustedToUTC()), name);
        }
        if (logical instanceof TimeLogicalTypeAnnotation time) {
            return counts(Type.of("time", UNITS.get(time.getUnit())), name);
        }
        if (logical instanceof DateLogicalTypeAnnotation) {
            return counts(Type.of("date"), name);
        }
        if (logical instanceof StringLogicalTypeAnnotation
                || logical instanceof EnumLogicalTypeAnnotation
                || logical instanceof JsonLogicalTypeAnnotation) {
            return new Printed(Type.of("utf8"), Group::getString);
        }
        if (logical instanceof UnknownLogicalTypeAnnotation) {
            return new Printed(Type.of("null"), (group, field, i) -> null);
        }
        if (logical instanceof Float16LogicalTypeAnnotation) {
            return new Printed(Type.of("float16"), (group, field, i) -> Values.ofFloat16(
                    ByteBuffer.wrap(group.getBinary(field, i).getBytes())
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .getShort()));
        }
        return switch (name) {
            case BOOLEAN -> new Printed(Type.of("bool"), Group::getBoolean);
            case INT32 -> counts(Type.of("int32"), name);
            case INT64 -> counts(Type.of("int64"), name);
            case FLOAT -> new Printed(Type.of("float32"), (group, field, i) -> Values.of(group.getFloat(field, i)));
            case DOUBLE -> new Printed(Type.of("float64"), (group, field, i) -> Values.of(group.getDouble(field, i)));
            case INT96 -> new Printed(Type.of("timestamp", "ns"), (group, field, i) ->
                    nanoseconds(group.getInt96(field, i)));
            default -> new Printed(Type.of("binary"), (group, field, i) ->
                    Values.of(group.getBinary(field, i).getBytes()));
        };
    }

    private static Printed counts(Type type, PrimitiveTypeName name) {
        return new Printed(type, name == PrimitiveTypeName.INT64
                ? (group, field, i) -> Long.toString(group.getLong(field, i))
                : (group, field, i) -> Integer.toString(group.getInteger(field, i)));
    }

    private static BigInteger unscaled(Group group, int field, int position, PrimitiveTypeName name) {
        return switch (name) {
            case INT32 -> BigInteger.valueOf(group.getInteger(field, position));
            case INT64 -> BigInteger.valueOf(group.getLong(field, position));
            default -> new BigInteger(group.getBinary(field, position).getBytes());
        };
    }

    private static String nanoseconds(Binary value) {
        NanoTime time = NanoTime.fromBinary(value);
        return BigInteger.valueOf(time.getJulianDay() - EPOCH_JULIAN_DAY)
                .multiply(BigInteger.valueOf(NANOSECONDS_OF_DAY))
                .add(BigInteger.valueOf(time.getTimeOfDayNanos()))
                .toString();
    }

    @Override
    public void write(Table table, Path path) throws IOException {
        Types.MessageTypeBuilder builder = Types.buildMessage();
        for (Type.Part column : table.columns()) {
            builder.addField(field(column.name(), column.type(), Repetition.OPTIONAL));
        }
        MessageType schema = builder.named("schema");
        try (ParquetWriter<Group> file = ExampleParquetWriter.builder(new LocalOutputFile(path))
                .withType(schema)
                .withConf(new PlainParquetConfiguration())
                .build()) {
            for (List<Object> row : table.rows()) {
                Group group = new SimpleGroup(schema);
                for (int field = 0; field < row.size(); field++) {
                    add(group, field, table.columns().get(field).type(), row.get(field));
                }
                file.write(group);
            }
        }
    }

    private static org.apache.parquet.schema.Type field(String name, Type type, Repetition repetition) {
        return switch (type.name()) {
            case "list" -> ConversionPatterns.listOfElements(
                    repetition, name, field("element", type.part(0), Repetition.OPTIONAL));
            case "map" -> ConversionPatterns.mapType(
                    repetition,
                    name,
                    "key_value",
                    field("key", type.part(0), Repetition.REQUIRED),
                    field("value", type.part(1), Repetition.OPTIONAL));
            case "struct" -> new GroupType(
                    repetition,
                    name,
                    type.parts().stream()
                            .map(each -> field(each.name(), each.type(), Repetition.OPTIONAL))
                            .toList());
            default -> primitive(name, type, repetition);
        };
    }

    private static PrimitiveType primitive(String name, Type type, Repetition repetition) {
        LogicalTypeAnnotation logical =
                switch (type.name()) {
                    case "int8", "int16", "uint8", "uint16", "uint32", "uint64" -> LogicalTypeAnnotation.intType(
                            Integer.parseInt(type.name().replaceAll("\\D", "")), type.name().startsWith("i"));
                    case "utf8" -> LogicalTypeAnnotation.stringType();
                    case "date" -> LogicalTypeAnnotation.dateType();
                    case "float16" -> LogicalTypeAnnotation.float16Type();
                    case "decimal" -> LogicalTypeAnnotation.decimalType(type.number(1), type.number(0));
                    case "time" -> LogicalTypeAnnotation.timeType(false, UNITS_BY_NAME.get(type.argument(0)));
                    case "timestamp" -> LogicalTypeAnnotation.timestampType(
                            !type.argument(1).isEmpty(), UNITS_BY_NAME.get(type.argument(0)));
                    default -> null;
                };
        PrimitiveTypeName stored = stored(type);
        Types.PrimitiveBuilder<PrimitiveType> builder =
                Types.primitive(stored, repetition).as(logical);
        return (stored == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY ? builder.length(length(type)) : builder).named(name);
    }

    private static PrimitiveTypeName stored(Type type) {
        return switch (type.name()) {
            case "bool" -> PrimitiveTypeName.BOOLEAN;
            case "int8", "int16", "int32", "uint8", "uint16", "uint32", "date" -> PrimitiveTypeName.INT32;
            case "int64", "uint64", "timestamp" -> PrimitiveTypeName.INT64;
            case "time" -> type.argument(0).matches("s|ms") ? PrimitiveTypeName.INT32 : PrimitiveTypeName.INT64;
            case "float32" -> PrimitiveTypeName.FLOAT;
            case "float64" -> PrimitiveTypeName.DOUBLE;
            case "utf8", "binary" -> PrimitiveTypeName.BINARY;
            case "float16" -> PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY;
            case "decimal" -> type.number(0) <= INT32_DIGITS
                    ? PrimitiveTypeName.INT32
                    : type.number(0) <= INT64_DIGITS ? PrimitiveTypeName.INT64 : PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY;
            default -> throw Values.unsupported("Parquet", type);
        };
    }

    private static int length(Type type) {
        if (type.name().equals("float16")) {
            return Short.BYTES;
        }
        return BigInteger.TEN.pow(type.number(0)).bitLength() / Byte.SIZE + 1;
    }

    private static void add(Group group, int field, Type type, Object value) {
        if (value == null) {
            return;
        }
        switch (type.name()) {
            case "list" -> {
                Group list = group.addGroup(field);
                for (Object each : (List<?>) value) {
                    add(list.addGroup(0), 0, type.part(0), each);
                }
            }
            case "map" -> {
                Group map = group.addGroup(field);
                for (Object each : (List<?>) value) {
                    addParts(map.addGroup(0), type, (List<?>) each);
                }
            }
            case "struct" -> addParts(group.addGroup(field), type, (List<?>) value);
            default -> addPrimitive(group, field, type, value);
        }
    }

    private static void addParts(Group group, Type type, List<?> values) {
        for (int part = 0; part < values.size(); part++) {
            add(group, part, type.part(part), values.get(part));
        }
    }

    private static void addPrimitive(Group group, int field, Type type, Object value) {
        switch (type.name()) {
            case "bool" -> group.add(field, (boolean) value);
            case "float32" -> group.add(field, Values.toFloat(value));
            case "float64" -> group.add(field, Values.toDouble(value));
            case "utf8" -> group.add(field, (String) value);
            case "binary" -> group.add(field, Binary.fromConstantByteArray(Values.toBytes(value)));
            case "float16" -> {
                ByteBuffer bytes = ByteBuffer.allocate(Short.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                group.add(field, Binary.fromConstantByteArray(
                        bytes.putShort(Values.toFloat16(value)).array()));
            }
            case "decimal" -> addDecimal(group, field, type, Values.toUnscaled(value, type));
            case "uint64" -> group.add(field, Long.parseUnsignedLong((String) value));
            default -> {
                long count = Values.toCount(value, type.argument(0));
                if (stored(type) == PrimitiveTypeName.INT64) {
                    group.add(field, count);
                } else {
                    group.add(field, (int) count);
                }
            }
        }
    }

    private static void addDecimal(Group group, int field, Type type, BigInteger unscaled) {
        switch (stored(type)) {
            case INT32 -> group.add(field, unscaled.intValueExact());
            case INT64 -> group.add(field, unscaled.longValueExact());
            default -> {
                byte[] bytes = new byte[length(type)];
                Arrays.fill(bytes, (byte) (unscaled.signum() < 0 ? -1 : 0));
                byte[] digits = unscaled.toByteArray();
                System.arraycopy(digits, 0, bytes, bytes.length - digits.length, digits.length);
                group.add(field, Binary.fromConstantByteArray(bytes));
            }
        }
    }

    private static final class Reader extends ParquetReader.Builder<Group> {
        Reader(InputFile file) {
            super(file, new PlainParquetConfiguration());
        }

        @Override
        protected ReadSupport<Group> getReadSupport() {
            return new GroupReadSupport();
        }
    }
}
