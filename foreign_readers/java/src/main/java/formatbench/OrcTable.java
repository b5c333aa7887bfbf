package formatbench;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hive.ql.exec.vector.BytesColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DecimalColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.DoubleColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.ListColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.LongColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.MapColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.StructColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.TimestampColumnVector;
import org.apache.hadoop.hive.ql.exec.vector.VectorizedRowBatch;
import org.apache.orc.OrcFile;
import org.apache.orc.Reader;
import org.apache.orc.RecordReader;
import org.apache.orc.TypeDescription;

/** ORC by its own library, through batches of columns. */
final class OrcTable implements TableFile {
    private static final long MILLISECONDS = 1000;
    private static final BigInteger NANOSECONDS = BigInteger.valueOf(1_000_000_000);

    /** Prints the value of a row that is not null. */
    private interface Printer {
        Object print(ColumnVector vector, int row);
    }

    /** A type with the printer of its values. */
    private record Printed(Type type, Printer printer) {
        Object print(ColumnVector vector, int row) {
            int place = vector.isRepeating ? 0 : row;
            return !vector.noNulls && vector.isNull[place] ? null : printer.print(vector, place);
        }
    }

    @Override
    public Table read(Path path) throws IOException {
        // Otherwise times without a zone would come in the zone of the machine.
        OrcFile.ReaderOptions options =
                OrcFile.readerOptions(new Configuration(false)).useUTCTimestamp(true);
        try (Reader file = OrcFile.createReader(new org.apache.hadoop.fs.Path(path.toUri()), options);
                RecordReader rows = file.rows()) {
            Printed printed = printed(file.getSchema());
            VectorizedRowBatch batch = file.getSchema().createRowBatch();
            List<List<Object>> found = new ArrayList<>();
            while (rows.nextBatch(batch)) {
                for (int row = 0; row < batch.size; row++) {
                    found.add(parts(file.getSchema(), batch.cols, row));
                }
            }
            return new Table(printed.type().parts(), found);
        }
    }

    private static List<Object> parts(TypeDescription struct, ColumnVector[] vectors, int row) {
        List<Object> values = new ArrayList<>();
        for (int field = 0; field < vectors.length; field++) {
            values.add(printed(struct.getChildren().get(field)).print(vectors[field], row));
        }
        return values;
    }

    private static Printed printed(TypeDescription type) {
        return switch (type.getCategory()) {
            case BOOLEAN -> new Printed(Type.of("bool"), (vector, row) -> longs(vector, row) != 0);
            case BYTE -> counts(Type.of("int8"));
            case SHORT -> counts(Type.of("int16"));
            case INT -> counts(Type.of("int32"));
            case LONG -> counts(Type.of("int64"));
            case DATE -> counts(Type.of("date"));
            case FLOAT -> new Printed(Type.of("float32"), (vector, row) -> Values.of((float) doubles(vector, row)));
            case DOUBLE -> new Printed(Type.of("float64"), (vector, row) -> Values.of(doubles(vector, row)));
            case STRING, CHAR, VARCHAR -> new Printed(Type.of("utf8"), (vector, row) ->
                    new String(bytes(vector, row), StandardCharsets.UTF_8));
            case BINARY -> new Printed(Type.of("binary"), (vector, row) -> Values.of(bytes(vector, row)));
            case DECIMAL -> new Printed(
                    Type.of("decimal", type.getPrecision(), type.getScale()), (vector, row) -> decimal(vector, row));
            case TIMESTAMP -> new Printed(Type.timestamp("ns", false), OrcTable::nanoseconds);
            case TIMESTAMP_INSTANT -> new Printed(Type.timestamp("ns", true), OrcTable::nanoseconds);
            case LIST -> printedList(type);
            case MAP -> printedMap(type);
            case STRUCT -> printedStruct(type);
            default -> throw new IllegalArgumentException(type + " has no canonical type");
        };
    }

    private static Printed counts(Type type) {
        return new Printed(type, (vector, row) -> Long.toString(longs(vector, row)));
    }

    private static Printed printedList(TypeDescription type) {
        Printed element = printed(type.getChildren().get(0));
        return new Printed(Type.list(element.type()), (vector, row) -> {
            ListColumnVector list = (ListColumnVector) vector;
            List<Object> values = new ArrayList<>();
            for (int i = 0; i < list.lengths[row]; i++) {
                values.add(element.print(list.child, (int) list.offsets[row] + i));
            }
            return values;
        });
    }

    private static Printed printedMap(TypeDescription type) {
        Printed key = printed(type.getChildren().get(0));
        Printed value = printed(type.getChildren().get(1));
        return new Printed(Type.map(key.type(), value.type()), (vector, row) -> {
            MapColumnVector map = (MapColumnVector) vector;
            List<Object> pairs = new ArrayList<>();
            for (int i = 0; i < map.lengths[row]; i++) {
                int place = (int) map.offsets[row] + i;
                pairs.add(Arrays.asList(key.print(map.keys, place), value.print(map.values, place)));
            }
            return pairs;
        });
    }

    private static Printed printedStruct(TypeDescription type) {
        List<Type.Part> parts = new ArrayList<>();
        for (int field = 0; field < type.getFieldNames().size(); field++) {
            Type inner = printed(type.getChildren().get(field)).type();
            parts.add(new Type.Part(type.getFieldNames().get(field), inner));
        }
        return new Printed(Type.struct(parts), (vector, row) -> parts(type, ((StructColumnVector) vector).fields, row));
    }

    private static long longs(ColumnVector vector, int row) {
        return ((LongColumnVector) vector).vector[row];
    }

    private static double doubles(ColumnVector vector, int row) {
        return ((DoubleColumnVector) vector).vector[row];
    }

    private static byte[] bytes(ColumnVector vector, int row) {
        BytesColumnVector texts = (BytesColumnVector) vector;
        return Arrays.copyOfRange(texts.vector[row], texts.start[row], texts.start[row] + texts.length[row]);
    }

    private static String decimal(ColumnVector vector, int row) {
        return ((DecimalColumnVector) vector).vector[row].getHiveDecimal().bigDecimalValue().toPlainString();
    }

    private static String nanoseconds(ColumnVector vector, int row) {
        TimestampColumnVector times = (TimestampColumnVector) vector;
        // Both have the fraction of a second, the first in milliseconds alone.
        return BigInteger.valueOf(Math.floorDiv(times.time[row], MILLISECONDS))
                .multiply(NANOSECONDS)
                .add(BigInteger.valueOf(times.nanos[row]))
                .toString();
    }
}
