package formatbench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Command line: {@code read FILE...} prints files in canonical form, {@code write FILE} writes one from this form,
 * {@code sum FILE ADDED ZERO} prints a sum of a file's columns and a digest of its values.
 *
 * <p>{@code warm FILE} writes the canonical form of a file by each library and reads it back, so that the classes
 * which are loaded can be archived: it halves the time of a later call.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int UNSUPPORTED = 3;

    private Main() {}

    public static void main(String[] arguments) {
        try {
            Path path = Path.of(arguments[1]);
            switch (arguments[0]) {
                case "warm" -> warm(Table.parse(Files.readAllBytes(path)));
                case "read" -> {
                    for (int place = 1; place < arguments.length; place++) {
                        System.out.write(answer(Path.of(arguments[place])));
                        System.out.flush();
                    }
                }
                case "sum" -> System.out.println(sum(path, arguments[2], arguments[3]).line());
                default -> of(path).write(Table.parse(System.in.readAllBytes()), path);
            }
        } catch (UnsupportedOperationException error) {
            fail(error, UNSUPPORTED);
        } catch (Exception | LinkageError error) {
            fail(error, FAILED);
        }
    }

    /** The table of a file, or the error, which may come with its last row. */
    private static byte[] answer(Path path) throws IOException {
        try {
            return of(path).read(path).text();
        } catch (Exception | LinkageError error) {
            return Table.error(message(error));
        }
    }

    /** The sum of a file's columns, whose names have commas between them. */
    private static Sum sum(Path path, String added, String zero) throws IOException {
        Sum sum = new Sum(List.of(added.split(",")), List.of(zero.split(",")));
        of(path).sum(path, sum);
        return sum;
    }

    private static void warm(Table table) throws IOException {
        Path folder = Files.createTempDirectory("warm");
        for (String name : new String[] {"table.parquet", "table.avro"}) {
            Path path = folder.resolve(name);
            of(path).write(table, path);
            of(path).read(path).text();
            Files.delete(path);
        }
        Files.delete(folder);
    }

    private static TableFile of(Path path) {
        String name = path.getFileName().toString();
        return switch (name.substring(name.lastIndexOf('.'))) {
            case ".parquet" -> new ParquetTable();
            case ".avro" -> new AvroTable();
            case ".orc" -> new OrcTable();
            default -> new ArrowTable();
        };
    }

    private static void fail(Throwable error, int status) {
        System.err.println(message(error));
        System.exit(status);
    }

    private static String message(Throwable error) {
        // The first lines say most: a cause of an exception is further from the file's own fault.
        String cause = error.getCause() == null ? "" : " (" + error.getCause() + ")";
        return (error.getClass().getSimpleName() + ": " + error.getMessage() + cause).replaceAll("\\s+", " ");
    }
}
