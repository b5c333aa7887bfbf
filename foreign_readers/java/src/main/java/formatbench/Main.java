package formatbench;

import java.io.OutputStream;
import java.nio.file.Path;

/** Command line: {@code read FILE} prints a file in canonical form, {@code write FILE} writes it from this form. */
public final class Main {
    private static final int FAILED = 1;
    private static final int UNSUPPORTED = 3;

    private Main() {}

    public static void main(String[] arguments) {
        try {
            Path path = Path.of(arguments[1]);
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
