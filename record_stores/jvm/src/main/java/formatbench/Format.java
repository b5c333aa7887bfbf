package formatbench;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * Way to keep records in a file or a folder.
 *
 * <p>A class of the package {@code formatbench.formats} for each format; the driver finds it by its
 * name, see {@link Main}. What a method does is what the clock measures: mapping records to classes of
 * the library is part of it.
 */
public interface Format {
    /**
     * Write records to a path that does not exist yet.
     *
     * @param records records of that type, or what {@link #ownObjects} made of them
     * @param type {@link Entity} or {@link Person}
     */
    void write(List<?> records, Class<?> type, Path path, Codec codec) throws Exception;

    /**
     * Return the objects to write instead of the records, made outside the clock.
     *
     * <p>The published program has some of its formats' own objects beforehand; others map in a write.
     */
    default List<?> ownObjects(List<?> records, Class<?> type) throws Exception {
        return records;
    }

    /**
     * Read all records, in order, as objects of the library or as plain ones.
     *
     * @param sink receiver of each object; the format keeps no reference to it where it reads a stream
     */
    void read(Class<?> type, Path path, Codec codec, Consumer<Object> sink) throws Exception;

    /** Return an object that {@link #read} gave as a plain record; calls of read do not include it. */
    default Object plain(Object object) {
        return object;
    }

    /**
     * Read the record at a position, from 0, without reading all before it.
     *
     * @throws UnsupportedException if the format has no way to it
     */
    default Object entry(Class<?> type, Path path, Codec codec, long position) throws Exception {
        throw new UnsupportedException("its records have no index");
    }

    /** Throw {@link UnsupportedException}, with the reason, for a type or a codec it cannot keep. */
    default void check(Class<?> type, Codec codec) throws UnsupportedException {}
}
