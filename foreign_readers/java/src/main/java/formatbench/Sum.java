package formatbench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32;

/** The sum of some columns over the rows in which others are zero, and a digest of all names and values. */
final class Sum {
    private final List<String> added;
    private final List<String> zero;
    private final CRC32 digest = new CRC32();
    private int[] addedPlaces;
    private int[] zeroPlaces;
    private ByteBuffer row;
    private long rows;
    private double sum;

    Sum(List<String> added, List<String> zero) {
        this.added = added;
        this.zero = zero;
    }

    /** Take the names of all columns, in the order of the values of each row. */
    void begin(List<String> names) {
        digest.update(String.join(",", names).getBytes(StandardCharsets.UTF_8));
        addedPlaces = places(added, names);
        zeroPlaces = places(zero, names);
        row = ByteBuffer.allocate(names.size() * Double.BYTES);
    }

    private static int[] places(List<String> wanted, List<String> names) {
        return wanted.stream().mapToInt(each -> place(each, names)).toArray();
    }

    private static int place(String name, List<String> names) {
        int place = names.indexOf(name);
        if (place < 0) {
            throw new IllegalArgumentException("there is no column " + name);
        }
        return place;
    }

    void add(Object[] values) {
        row.clear();
        for (Object each : values) {
            put(each);
        }
        digest.update(row.array(), 0, row.position());
        rows++;
        for (int place : zeroPlaces) {
            if (((Number) values[place]).doubleValue() != 0) {
                return;
            }
        }
        for (int place : addedPlaces) {
            sum += ((Number) values[place]).doubleValue();
        }
    }

    private void put(Object value) {
        if (value instanceof Double number) {
            row.putLong(Double.doubleToRawLongBits(number));
        } else if (value instanceof Long number) {
            row.putLong(number);
        } else if (value instanceof Integer number) {
            row.putInt(number);
        } else {
            throw new UnsupportedOperationException("digests are of integers and doubles, not of " + value);
        }
    }

    String line() {
        String format = "{\"rows\": %d, \"sum\": \"%f\", \"digest\": \"%08x\"}";
        return String.format(Locale.ROOT, format, rows, sum, digest.getValue());
    }
}
