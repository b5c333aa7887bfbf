package formatbench;

import java.io.IOException;
import java.nio.file.Path;

/** A file format of tables. */
interface TableFile {
    /** Return the table of a file. */
    Table read(Path path) throws IOException;

    /**
     * Add all rows of a file to a sum, without keeping them.
     *
     * @throws UnsupportedOperationException if the format is not added up here
     */
    default void sum(Path path, Sum sum) throws IOException {
        throw new UnsupportedOperationException("it is not added up here");
    }

    /**
     * Write a table.
     *
     * @throws UnsupportedOperationException if the format or its library has no type for a column
     */
    default void write(Table table, Path path) throws IOException {
        throw new UnsupportedOperationException("it is not written here");
    }
}
