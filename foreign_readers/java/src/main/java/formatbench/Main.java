package formatbench;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Command line: {@code read FILE} prints a file in canonical form, {@code write FILE} writes it from this form.
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
            if (arguments[0].equals("warm")) {
                warm(Table.parse(Files.readAllBytes(path)));
                return;
            }
            TableFile file = of(path.getFileName().toString());
            if (arguments[0].equals("read")) {
                // Whole before anything is printed, as an error may come with the last row.
                byte[] text = file.read(path).text();
                OutputStream output = System.out;
                output.write(text);
                output.flush();
            } else {
                file.write(Table.parse(System.in.readAllBytes()), path);
            }
        } catch (UnsupportedOperationException error) {
            fail(error, UNSUPPORTED);
        } catch (Exception | LinkageError error) {
            fail(error, FAILED);
        }
    }

    private static void warm(Table table) throws IOException {
        Path folder = Files.createTempDirectory("warm");
        for (String name : new String[] {"table.parquet", "table.avro"}) {
            Path path = folder.resolve(name);
            of(name).write(table, path);
            of(name).read(path).text();
            Files.delete(path);
        }
        Files.delete(folder);
    }

    private static TableFile of(String name) {
        return switch (name.substring(name.lastIndexOf('.'))) {
            case ".parquet" -> new ParquetTable();
            case ".avro" -> new AvroTable();
            case ".orc" -> new OrcTable();
            default -> new ArrowTable();
        };
    }

    private static void fail(Throwable error, int status) {
        // The first lines say most: a cause of an exception is further from the file's own fault.
        String message = String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
        String cause = error.getCause() == null ? "" : " (" + error.getCause() + ")";
        System.err.println(error.getClass().getSimpleName() + ": " + message + cause.replaceAll("\\s+", " "));
        System.exit(status);
    }
}
