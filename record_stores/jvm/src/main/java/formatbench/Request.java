package formatbench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Request to the driver.
 *
 * @param operation {@code generate}, {@code write}, {@code read}, {@code check}, {@code iterate},
 *     {@code use}, {@code entry}, {@code layout} or {@code values}
 * @param format name of the format, lower case with hyphens
 * @param codec codec around the file, or the format's own of that name
 * @param dataset name of the data set; its class of records too, where no data are made
 * @param own type of records that are given as data; null for those of a data set
 * @param records file of such records, to write from
 * @param rows number of records to make, or to take from the file
 * @param path file or folder to write or read
 * @param calls number of calls in this JVM, before it may go on until they are steady
 * @param mostCalls number of calls after which none follows, steady or not
 * @param mostSeconds seconds after which none follows
 * @param position position of the record to read, from 0
 */
record Request(
        String operation,
        String format,
        Codec codec,
        String dataset,
        RecordType own,
        Path records,
        int rows,
        Path path,
        int calls,
        int mostCalls,
        double mostSeconds,
        long position) {
    /** Exit status of a JVM with -XX:+ExitOnOutOfMemoryError. */
    static final int OUT_OF_MEMORY_STATUS = 3;

    private static final String PACKAGE = "formatbench.formats.";

    static Request parse(String line) {
        Map<String, String> given = new HashMap<>();
        ((Map<?, ?>) Json.parse(line)).forEach((name, value) -> given.put((String) name, (String) value));
        String schema = given.getOrDefault("schema", "");
        return new Request(
                given.get("operation"),
                given.get("format"),
                Codec.valueOf(given.getOrDefault("codec", "none").toUpperCase(Locale.ROOT)),
                given.get("dataset"),
                schema.isEmpty() ? null : RecordType.parse(schema),
                Path.of(given.getOrDefault("records", "")),
                Integer.parseInt(given.getOrDefault("rows", "0")),
                Path.of(given.getOrDefault("path", "")),
                Integer.parseInt(given.getOrDefault("calls", "1")),
                Integer.parseInt(given.getOrDefault("most_calls", "0")),
                Double.parseDouble(given.getOrDefault("most_seconds", "0")),
                Long.parseLong(given.getOrDefault("position", "0")));
    }

    /** Return the format, if it can keep the records of the data set with the codec. */
    Format checkedFormat() throws UnsupportedException, ReflectiveOperationException {
        String name = Arrays.stream(format.split("-"))
                .map(word -> word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .collect(Collectors.joining());
        Format found = own == null
                ? (Format) Class.forName(PACKAGE + name + "Format").getDeclaredConstructor().newInstance()
                : ownFormat(PACKAGE + "Own" + name);
        found.check(type(), codec);
        return found;
    }

    private Format ownFormat(String name) throws UnsupportedException, ReflectiveOperationException {
        try {
            return (Format) Class.forName(name).getDeclaredConstructor(RecordType.class).newInstance(own);
        } catch (ClassNotFoundException error) {
            throw new UnsupportedException("its records here are of classes, which data do not bring");
        }
    }

    /** Return the class of the records. */
    Class<?> type() {
        return own == null ? Data.type(dataset) : OwnFormat.MAPS;
    }

    /** Return the calls to make, none made yet. */
    Calls newCalls() {
        return new Calls(calls, mostCalls, mostSeconds);
    }

    /** Return a digest of no records yet. */
    Digest newDigest() {
        return new Digest(own);
    }

    /** Make the records of the data set, or read those that are given. */
    List<?> givenRecords() throws IOException {
        return own == null ? Data.records(dataset, rows) : OwnRecords.read(records, own, rows);
    }
}
