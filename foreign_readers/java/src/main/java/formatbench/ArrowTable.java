package formatbench;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.DurationVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.FixedSizeListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;

/** Files of Arrow IPC (Feather) by Arrow's own library. */
final class ArrowTable implements TableFile {
    private static final Map<TimeUnit, String> UNITS = Map.of(
            TimeUnit.SECOND, "s", TimeUnit.MILLISECOND, "ms", TimeUnit.MICROSECOND, "us", TimeUnit.NANOSECOND, "ns");
    private static final long MILLISECONDS_OF_DAY = 86_400_000;
    private static final int LONG_BITS = 64;

    private Map<Long, Dictionary> dictionaries;

    /** A type with the printer of the values of a vector that are not null, by row. */
    private record Printed(Type type, FieldVector vector, IntFunction<Object> printer) {
        Object print(int row) {
            return vector.isNull(row) ? null : printer.apply(row);
        }

        List<Object> printAll(int first, int end) {
            List<Object> values = new ArrayList<>();
            for (int row = first; row < end; row++) {
                values.add(print(row));
            }
            return values;
        }
    }

    @Override
    public Table read(Path path) throws IOException {
        try (BufferAllocator allocator = new RootAllocator();
                FileChannel channel = FileChannel.open(path);
                ArrowFileReader file = new ArrowFileReader(channel, allocator, CommonsCompressionFactory.INSTANCE)) {
            VectorSchemaRoot root = file.getVectorSchemaRoot();
            List<List<Object>> rows = new ArrayList<>();
            List<Type.Part> columns = new ArrayList<>();
            while (file.loadNextBatch()) {
                dictionaries = file.getDictionaryVectors();
                List<Printed> printers = printed(root.getFieldVectors());
                columns = parts(root.getFieldVectors(), printers);
                for (int row = 0; row < root.getRowCount(); row++) {
                    rows.add(row(printers, row));
                }
            }
            return new Table(columns, rows);
        }
    }

    private static List<Object> row(List<Printed> printers, int row) {
        List<Object> values = new ArrayList<>();
        printers.forEach(each -> values.add(each.print(row)));
        return values;
    }

    private List<Printed> printed(List<FieldVector> vectors) {
        return vectors.stream().map(this::printed).toList();
    }

    private static List<Type.Part> parts(List<FieldVector> vectors, List<Printed> printers) {
        List<Type.Part> parts = new ArrayList<>();
        for (int place = 0; place < vectors.size(); place++) {
            parts.add(new Type.Part(vectors.get(place).getName(), printers.get(place).type()));
        }
        return parts;
    }

    private Printed printed(FieldVector vector) {
        Field field = vector.getField();
        if (field.getDictionary() != null) {
            FieldVector words = dictionaries.get(field.getDictionary().getId()).getVector();
            Printed word = printed(words);
            BaseIntVector indices = (BaseIntVector) vector;
            return new Printed(word.type(), vector, row -> word.print((int) indices.getValueAsLong(row)));
        }
        ArrowType type = field.getType();
        return switch (type.getTypeID()) {
            case Null -> new Printed(Type.of("null"), vector, row -> null);
            case Bool -> new Printed(Type.of("bool"), vector, row -> ((BitVector) vector).get(row) != 0);
            case Int -> printedInteger(vector, (ArrowType.Int) type);
            case FloatingPoint -> printedFloat(vector);
            case Utf8, LargeUtf8, Utf8View -> new Printed(
                    Type.of("utf8"), vector, row -> vector.getObject(row).toString());
            case Binary, LargeBinary, BinaryView, FixedSizeBinary -> new Printed(
                    Type.of("binary"), vector, row -> Values.of((byte[]) vector.getObject(row)));
            case Decimal -> {
                ArrowType.Decimal decimal = (ArrowType.Decimal) type;
                yield new Printed(
                        Type.of("decimal", decimal.getPrecision(), decimal.getScale()),
                        vector,
                        row -> ((BigDecimal) vector.getObject(row)).toPlainString());
            }
            case Date, Time, Timestamp, Duration -> new Printed(
                    countType(type), vector, row -> Long.toString(count(vector, row)));
            case Struct -> {
                List<FieldVector> inner = ((StructVector) vector).getChildrenFromFields();
                List<Printed> printers = printed(inner);
                yield new Printed(Type.struct(parts(inner, printers)), vector, row -> row(printers, row));
            }
            case List, LargeList, FixedSizeList -> printedList(vector);
            case Map -> printedMap((ListVector) vector);
            default -> throw new IllegalArgumentException(type + " has no canonical type");
        };
    }

    private static Printed printedInteger(FieldVector vector, ArrowType.Int type) {
        BaseIntVector integers = (BaseIntVector) vector;
        Type found = Type.of((type.getIsSigned() ? "int" : "uint") + type.getBitWidth());
        boolean isWhole = !type.getIsSigned() && type.getBitWidth() == LONG_BITS;
        return new Printed(found, vector, row -> {
            long value = integers.getValueAsLong(row);
            return isWhole ? Long.toUnsignedString(value) : Long.toString(value);
        });
    }

    private static Printed printedFloat(FieldVector vector) {
        if (vector instanceof Float2Vector half) {
            return new Printed(Type.of("float16"), vector, row -> Values.ofFloat16(half.get(row)));
        }
        if (vector instanceof Float4Vector single) {
            return new Printed(Type.of("float32"), vector, row -> Values.of(single.get(row)));
        }
        return new Printed(Type.of("float64"), vector, row -> Values.of(((Float8Vector) vector).get(row)));
    }

    private static Type countType(ArrowType type) {
        if (type instanceof ArrowType.Date) {
            return Type.of("date");
        }
        if (type instanceof ArrowType.Time time) {
            return Type.of("time", UNITS.get(time.getUnit()));
        }
        if (type instanceof ArrowType.Duration duration) {
            return Type.of("duration", UNITS.get(duration.getUnit()));
        }
        ArrowType.Timestamp timestamp = (ArrowType.Timestamp) type;
        String unit = UNITS.get(timestamp.getUnit());
        String zone = timestamp.getTimezone();
        return zone == null ? Type.of("timestamp", unit) : Type.of("timestamp", unit, zone);
    }

    private static long count(FieldVector vector, int row) {
        if (vector instanceof TimeStampVector times) {
            return times.get(row);
        }
        if (vector instanceof DurationVector) {
            return DurationVector.get(vector.getDataBuffer(), row);
        }
        if (vector instanceof DateDayVector days) {
            return days.get(row);
        }
        if (vector instanceof DateMilliVector days) {
            return Math.floorDiv(days.get(row), MILLISECONDS_OF_DAY);
        }
        if (vector instanceof TimeSecVector times) {
            return times.get(row);
        }
        if (vector instanceof TimeMilliVector times) {
            return times.get(row);
        }
        return vector instanceof TimeMicroVector times ? times.get(row) : ((TimeNanoVector) vector).get(row);
    }

    private Printed printedList(FieldVector vector) {
        Printed element = printed(vector.getChildrenFromFields().get(0));
        Type type = Type.list(element.type());
        if (vector instanceof FixedSizeListVector list) {
            int size = list.getListSize();
            return new Printed(type, vector, row -> element.printAll(row * size, (row + 1) * size));
        }
        if (vector instanceof LargeListVector list) {
            return new Printed(type, vector, row -> element.printAll(
                    (int) list.getElementStartIndex(row), (int) list.getElementEndIndex(row)));
        }
        ListVector list = (ListVector) vector;
        return new Printed(
                type, vector, row -> element.printAll(list.getElementStartIndex(row), list.getElementEndIndex(row)));
    }

    private Printed printedMap(ListVector map) {
        List<FieldVector> inner = map.getDataVector().getChildrenFromFields();
        Printed key = printed(inner.get(0));
        Printed value = printed(inner.get(1));
        return new Printed(Type.map(key.type(), value.type()), map, row -> {
            List<Object> pairs = new ArrayList<>();
            for (int place = map.getElementStartIndex(row); place < map.getElementEndIndex(row); place++) {
                pairs.add(Arrays.asList(key.print(place), value.print(place)));
            }
            return pairs;
        });
    }
}
