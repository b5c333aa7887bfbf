package formatbench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Codec around the file of a database, which needs a plain file to work on beside it. */
public final class WholeFile implements AutoCloseable {
    private final Path path;
    private final Codec codec;
    private final Path plain;

    private WholeFile(Path path, Codec codec) {
        this.path = path;
        this.codec = codec;
        plain = codec == Codec.NONE ? path : path.resolveSibling(path.getFileName() + ".plain");
    }

    /** Name the plain file for a database to write; {@link #compress} is to follow. */
    public static WholeFile create(Path path, Codec codec) {
        return new WholeFile(path, codec);
    }

    /** Decompress a file for a database to read. */
    public static WholeFile open(Path path, Codec codec) throws IOException {
        WholeFile file = new WholeFile(path, codec);
        if (codec != Codec.NONE) {
            try (InputStream input = codec.open(path)) {
                Files.copy(input, file.plain);
            }
        } else if (Files.notExists(path)) {
            // Databases would make a new one.
            throw new NoSuchFileException(path.toString());
        }
        return file;
    }

    /** Return the file that the database works on. */
    public Path plain() {
        return plain;
    }

    /** Compress the file that the database has written and closed. */
    public void compress() throws IOException {
        if (codec != Codec.NONE) {
            try (OutputStream output = codec.create(path)) {
                Files.copy(plain, output);
            }
        }
    }

    /** Remove the plain file if it is not the only one. */
    @Override
    public void close() throws IOException {
        if (codec != Codec.NONE) {
            Files.deleteIfExists(plain);
        }
    }
}
