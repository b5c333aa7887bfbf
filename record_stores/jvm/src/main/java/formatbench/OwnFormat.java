package formatbench;

import formatbench.Field.Kind;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Format for records of a type that is given as data.
 *
 * <p>The class of the format {@code avro-generic} is {@code OwnAvroGeneric}, with the type as parameter of
 * its constructor. The records to write are maps; those read are of any class.
 */
public interface OwnFormat extends Format {
    /** Class of the records to write. */
    Class<?> MAPS = LinkedHashMap.class;

    /** Units of times. */
    long MICROS_PER_SECOND = 1_000_000;

    int NANOS_PER_MICRO = 1_000;

    /** Return the type of the records. */
    RecordType type();

    /** Return the value of a field of a record, or nested record, that was read. */
    default Object field(Object record, Field field) {
        return ((Map<?, ?>) record).get(field.name());
    }

    /**
     * Return an object that was read as a map, with values of the classes of their kinds.
     *
     * @throws ClassCastException for a value that is of another type, as 1 is for a float
     */
    @Override
    default Object plain(Object object) {
        return plain(object, type());
    }

    /** Return which fields of an object that was read have values of another class than those written. */
    default List<String> losses(Object object) {
        List<String> found = new ArrayList<>();
        for (Field each : type().fields()) {
            Object value = field(object, each);
            Kind kind = each.kind();
            boolean isOwn = switch (kind) {
                case BOOL, TIMESTAMP, DECIMAL -> kind.made().isInstance(value);
                case BYTES -> value instanceof byte[] || value instanceof ByteBuffer;
                default -> true;
            };
            if (value != null && !isOwn) {
                String read = value.getClass().getSimpleName();
                String words = kind.made().getSimpleName() + " comes back as " + read;
                found.add(each.name() + ": " + words);
            }
        }
        return found;
    }

    /** Return the microseconds since 1970, also of years of which a long cannot count the nanoseconds. */
    static long micros(Instant time) {
        return time.getEpochSecond() * MICROS_PER_SECOND + time.getNano() / NANOS_PER_MICRO;
    }

    private Map<String, Object> plain(Object object, RecordType of) {
        Map<String, Object> found = new LinkedHashMap<>();
        for (Field each : of.fields()) {
            found.put(each.name(), plain(field(object, each), each));
        }
        return found;
    }

    private Object plain(Object value, Field of) {
        if (value == null) {
            return null;
        }
        return switch (of.kind()) {
            case INT64 -> value instanceof Integer number ? number.longValue() : (Long) value;
            case FLOAT -> value instanceof Double number ? number.floatValue() : (Float) value;
            case TEXT -> ((CharSequence) value).toString();
            // Avro's symbols are objects of a class of its own.
            case ENUM -> value.toString();
            case BYTES -> bytes(value);
            case TIMESTAMP -> time(value);
            case DECIMAL -> value instanceof CharSequence text ? new BigDecimal(text.toString()) : value;
            case RECORD -> plain(value, of.record());
            case LIST -> {
                List<Object> items = new ArrayList<>();
                for (Object each : (List<?>) value) {
                    items.add(plain(each, of.element()));
                }
                yield items;
            }
            case MAP -> {
                Map<String, Object> entries = new LinkedHashMap<>();
                ((Map<?, ?>) value).forEach((key, each) ->
                        entries.put(key.toString(), plain(each, of.element())));
                yield entries;
            }
            case UNION -> branch(value);
            default -> value;
        };
    }

    private static Object branch(Object value) {
        if (value instanceof Integer number) {
            return number.longValue();
        }
        if (value instanceof Float number) {
            return number.doubleValue();
        }
        return value instanceof CharSequence text ? text.toString() : value;
    }

    private static byte[] bytes(Object value) {
        if (value instanceof ByteBuffer buffer) {
            byte[] found = new byte[buffer.remaining()];
            buffer.duplicate().get(found);
            return found;
        }
        return value instanceof String text ? Base64.getDecoder().decode(text) : (byte[]) value;
    }

    private static Instant time(Object value) {
        if (value instanceof Long micros) {
            return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
        }
        return value instanceof String text ? Instant.parse(text) : (Instant) value;
    }
}
