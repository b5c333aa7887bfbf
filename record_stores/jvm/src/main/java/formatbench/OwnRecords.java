package formatbench;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Records of a type that is given as data, from a file of the bytes that {@link Digest} takes.
 *
 * <p>Read by hand: the libraries that could do it are among those measured.
 */
final class OwnRecords {
    private final DataInputStream input;

    private OwnRecords(DataInputStream input) {
        this.input = input;
    }

    /** Return the first records of a file, each with texts of its own. */
    static List<Map<String, Object>> read(Path path, RecordType type, int rows) throws IOException {
        List<Map<String, Object>> found = new ArrayList<>(rows);
        try (DataInputStream stream =
                new DataInputStream(new BufferedInputStream(Files.newInputStream(path)))) {
            OwnRecords records = new OwnRecords(stream);
            for (int row = 0; row < rows; row++) {
                found.add(records.record(type));
            }
        }
        return found;
    }

    private Map<String, Object> record(RecordType type) throws IOException {
        Map<String, Object> found = new LinkedHashMap<>();
        for (Field each : type.fields()) {
            found.put(each.name(), value(each));
        }
        return found;
    }

    private Object value(Field of) throws IOException {
        if (Digest.hasLength(of.kind())) {
            int length = number();
            return length < 0 ? null : ofLength(of, length);
        }
        if (Digest.hasPresence(of) && input.readByte() == 0) {
            return null;
        }
        return switch (of.kind()) {
            case BOOL -> input.readBoolean();
            case INT32 -> number();
            case INT64 -> longNumber();
            case FLOAT -> (float) fraction();
            case DOUBLE -> fraction();
            case TIMESTAMP -> Instant.EPOCH.plus(longNumber(), ChronoUnit.MICROS);
            case ENUM -> of.symbols().get(number());
            case RECORD -> record(of.record());
            default -> switch (input.readByte()) {
                case 0 -> input.readBoolean();
                case 1 -> longNumber();
                case 2 -> fraction();
                default -> text(number());
            };
        };
    }

    private Object ofLength(Field of, int length) throws IOException {
        switch (of.kind()) {
            case TEXT:
                return text(length);
            case BYTES:
                return input.readNBytes(length);
            case DECIMAL:
                return new BigDecimal(text(length));
            case LIST:
                List<Object> items = new ArrayList<>(length);
                for (int i = 0; i < length; i++) {
                    items.add(value(of.element()));
                }
                return items;
            default:
                Map<String, Object> entries = new LinkedHashMap<>();
                for (int i = 0; i < length; i++) {
                    String key = text(number());
                    entries.put(key, value(of.element()));
                }
                return entries;
        }
    }

    private String text(int length) throws IOException {
        return new String(input.readNBytes(length), StandardCharsets.UTF_8);
    }

    private int number() throws IOException {
        return Integer.reverseBytes(input.readInt());
    }

    private long longNumber() throws IOException {
        return Long.reverseBytes(input.readLong());
    }

    private double fraction() throws IOException {
        return Double.longBitsToDouble(longNumber());
    }
}
